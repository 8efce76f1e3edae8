"""Graphs of nodes, how they grow, and which one is growing.

A ``Graph`` owns nodes in the order they were made, which is a topological order. A graph may have a *parent*:
it is then the condition, body or branch of a structured node, and tensors of its ancestors (*captures*) enter it as
parameters. Building is single-threaded per graph; a finished graph is only read. The default graph is the one
piece of ambient state: a context variable, so each thread has its own.

Effects are data. In an *ordered* graph (a function's) each op with an effect takes the graph's current token
and leaves a new one; a sub-graph that has an effect gets the token as a parameter, and whoever builds the
structured node threads it through. In an unordered graph (1.x) the token is a constant and orders nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes
from ..base.contexts import Entered, Setting
from ..base.dtypes import DType
from ..base.locations import Location, Places
from ..base.shapes import SCALAR, TensorShape
from .op import CONST as CONST
from .op import PARAMETER as PARAMETER
from .op import Op, Spec, call
from .tensor import Tensor

_NOTHING: Mapping[int, TensorShape] = MappingProxyType({})


class Node:
    """One operation of a graph; immutable once made.

    Attributes
    ----------
    op : Op
        What it does.
    inputs, outputs : tuple of Tensor
        Its edges; an op with an effect has its token last in both.
    control_inputs : tuple of Tensor
        Tensors that must be computed before, whose values are not used.
    attrs : mapping
        Static arguments; sub-graphs of structured nodes are here.
    name : str
        Unique in the root graph, e.g. ``"while/body/add"``.
    location : tuple of Line
        The user's lines that made it, innermost last.
    """

    __slots__ = (
        "attrs", "control_inputs", "declared", "graph", "inputs", "location", "name", "op", "outputs",
    )  # fmt: skip

    def __init__(
        self,
        graph: Graph,
        op: Op,
        inputs: tuple[Tensor, ...],
        attrs: Mapping[str, Any],
        specs: Sequence[Spec],
        name: str,
        location: Location,
        control_inputs: tuple[Tensor, ...] = (),
    ) -> None:
        self.graph = graph
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.name = name
        self.location = location
        self.control_inputs = control_inputs
        self.outputs = tuple([Tensor(None, d, s, self, i) for i, (d, s) in enumerate(specs)])
        #: output index -> shape promised by ``set_shape``, to be checked when the value exists
        self.declared: Mapping[int, TensorShape] = _NOTHING

    @property
    def type(self) -> str:
        """The name of the op."""
        return self.op.name

    @property
    def subgraphs(self) -> tuple[Graph, ...]:
        """The graphs inside a structured node."""
        names = self.op.graphs
        return tuple([self.attrs[name] for name in names]) if names else ()

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run this operation in ``session`` or the default session (1.x)."""
        call("run_operation", self, feed_dict, session)

    def __repr__(self) -> str:
        return f"<Node {self.name!r} type={self.op.name}>"


class Mark(NamedTuple):
    """How far a graph had grown."""

    last: Node | None
    inputs: int
    token: Tensor | None
    token_input: Tensor | None


class Graph:
    """A dataflow graph under construction, or finished.

    Parameters
    ----------
    name : str
        Prefix of the nodes' names.
    parent : Graph, optional
        The graph whose structured node this one will be part of.
    ordered : bool
        Effects happen in program order (functions); inherited from the parent.
    """

    def __init__(self, name: str = "", parent: Graph | None = None, ordered: bool = False) -> None:
        self.prefix = name
        self.parent = parent
        self.root: Graph = self if parent is None else parent.root
        self.ordered: bool = ordered if parent is None else parent.ordered
        self.nodes: list[Node] = []
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        #: captured outer tensor -> the parameter that stands for it here
        self.captures: dict[Tensor, Tensor] = {}
        #: the effect token after the last effect so far; None before the first
        self.token: Tensor | None = None
        #: the parameter through which a sub-graph got its first token
        self.token_input: Tensor | None = None
        self.frozen = False
        #: the trace this graph was made for is over: only who makes it the default again may add to it
        self.ended = False
        #: of a root: how many promises ``set_shape`` has made about what is in it
        self.declarations = 0
        #: 1.x: variables of this graph, and anything else that must live as long as it does
        self.collections: dict[str, list[Any]] = {}
        self._names: dict[str, int] = {}
        self._places: Places = Places() if parent is None else parent._places
        #: of a root: constants whose value is part of the graph, and as what
        self.settled: dict[Tensor, str] = {}
        self._captured: dict[Tensor, Tensor] = {}
        self._constants: dict[int, tuple[Tensor, Tensor]] = {}
        self._control: list[tuple[Tensor, ...]] = []
        self._entered: Entered[Graph] = Entered()

    # -- building -----------------------------------------------------------------------------------------

    def unique_name(self, name: str) -> str:
        """Return ``name`` below this graph's prefix, made unique: ``add``, ``add_1``, ..."""
        full = f"{self.prefix}/{name}" if self.prefix else name
        names = self.root._names
        count = names.get(full, 0)
        names[full] = count + 1
        if count == 0:
            return full
        candidate = f"{full}_{count}"
        while candidate in names:
            count += 1
            candidate = f"{full}_{count}"
        names[full] = count + 1
        names[candidate] = 1
        return candidate

    @contextmanager
    def name_scope(self, name: str) -> Iterator[str]:
        """Nodes made inside get the prefix ``name``."""
        outer, self.prefix = self.prefix, self.unique_name(name)
        try:
            yield self.prefix
        finally:
            self.prefix = outer

    @contextmanager
    def control_dependencies(self, tensors: Sequence[Tensor | Node] | None) -> Iterator[None]:
        """Nodes made inside run only after ``tensors`` (or operations) have been computed; ``None``: after nothing."""
        outer = self._control
        made = () if tensors is None else tuple([t.outputs[-1] if isinstance(t, Node) else t for t in tensors])
        self._control = [] if tensors is None else [*outer, made]
        try:
            yield
        finally:
            self._control = outer

    def add(
        self,
        op: Op,
        inputs: Sequence[Tensor],
        attrs: Mapping[str, Any] | None = None,
        name: str | None = None,
        location: Location | None = None,
        scope: str | None = None,
    ) -> Node:
        """Add a node: capture the inputs, infer the outputs, thread the effect token.

        Its name is made of ``name``, or is ``scope`` if that is given: a name that ``unique_name`` has given out.

        Raises
        ------
        RuntimeError
            If the graph is frozen.
        """
        if self.root.frozen:
            raise RuntimeError("the graph is finished and cannot be changed (Graph.finalize was called)")
        attrs = attrs or {}
        captured = tuple([self.capture(t) for t in inputs])
        specs = list(op.specs(*captured, **attrs))
        if op.effect:
            captured += (self.effect_token(),)
            specs.append((dtypes.bool_, SCALAR))
        node = Node(
            self, op, captured, attrs, specs, scope or self.unique_name(name or op.name.lower()),
            self._places.capture() if location is None else location, self._control_inputs(),
        )  # fmt: skip
        self.nodes.append(node)
        if op.effect and self.ordered:
            self.token = node.outputs[-1]
        return node

    @property
    def awaited(self) -> frozenset[Tensor]:
        """What an operation that is made now waits for (control dependencies), where that was made."""
        graph: Graph | None = self
        found: set[Tensor] = set()
        while graph is not None:
            found.update(t._source() for group in graph._control for t in group)
            graph = graph.parent
        return frozenset(found)

    def _control_inputs(self) -> tuple[Tensor, ...]:
        graph: Graph | None = self
        found: dict[Tensor, None] = {}
        while graph is not None:
            for group in graph._control:
                found.update(dict.fromkeys(self.capture(t) for t in group if t.node is not None))
            graph = graph.parent
        return tuple(found)

    def parameter(self, dtype: DType, shape: TensorShape, name: str = "arg", **attrs: Any) -> Tensor:
        """Return a new input of this graph."""
        node = Node(
            self, PARAMETER, (), {"dtype": dtype, "shape": shape, **attrs}, [(dtype, shape)],
            self.unique_name(name), self._places.capture(),
        )  # fmt: skip
        self.nodes.append(node)
        self.inputs.append(node.outputs[0])
        return node.outputs[0]

    def constant(self, value: Any, name: str = "Const", *, waits: bool = False) -> Tensor:
        """Return a node that gives ``value`` (an ndarray or NumPy scalar, not copied).

        ``waits``: it is the value of something the user asked for, which control dependencies hold back as they do
        any operation. Where effects are ordered they happen anyway, so that there is nothing to wait for.
        """
        node = Node(
            self, CONST, (), {"value": value}, [(value.dtype, TensorShape(value.shape) if value.shape else SCALAR)],
            self.unique_name(name), (), self._control_inputs() if waits and not self.ordered else (),
        )  # fmt: skip
        self.nodes.append(node)
        return node.outputs[0]

    def capture(self, tensor: Tensor) -> Tensor:
        """Return ``tensor`` as seen from inside this graph.

        Raises
        ------
        ValueError
            If it belongs to a graph that does not enclose this one.
        """
        node = tensor.node
        if node is None:
            known = self._constants.get(id(tensor))
            if known is None:
                known = self._constants[id(tensor)] = (tensor, self.constant(tensor.value))
            return known[1]
        if node.graph is self:
            return tensor
        inner = self.captures.get(tensor)
        if inner is not None:
            return inner
        if self.parent is None:
            raise ValueError(_foreign_message(tensor, self))
        if node.op is CONST and self.ordered:
            inner = self.constant(node.attrs["value"])
        else:  # in a graph that a session runs a constant may be fed, or wait for something
            outer = self.parent.capture(tensor)
            inner = self.captures.get(outer)
            if inner is None:
                inner = self.parameter(outer.dtype, outer.shape, "capture")
                self.captures[outer] = inner
                self._captured[inner] = outer
        self.captures[tensor] = inner
        return inner

    def outside(self, parameter: Tensor) -> Tensor | None:
        """Return the tensor of the parent that ``parameter`` stands for here, if it was captured."""
        return self._captured.get(parameter)

    def effect_token(self) -> Tensor:
        """Return the token that the next effect must take."""
        if self.token is None:
            if self.parent is None or not self.ordered:
                constant = self.constant(np.True_, "token")
                if not self.ordered:
                    return constant
                self.token = constant
            else:
                self.token = self.token_input = self.parameter(dtypes.bool_, SCALAR, "token")
        return self.token

    def mark(self) -> Mark:
        """Return the present state, to come back to with ``rollback``."""
        return Mark(self.nodes[-1] if self.nodes else None, len(self.inputs), self.token, self.token_input)

    def rollback(self, mark: Mark) -> None:
        """Forget what was added at the end since ``mark``; nothing may refer to it any more.

        What a gradient has put before an older node stays, for that node takes it now.
        """
        first = 0 if mark.last is None else self.nodes.index(mark.last) + 1
        removed = set(self.nodes[first:])
        del self.nodes[first:], self.inputs[mark.inputs :]
        self.token, self.token_input = mark.token, mark.token_input
        self.captures = {outer: inner for outer, inner in self.captures.items() if inner.node not in removed}
        self._captured = {inner: outer for inner, outer in self._captured.items() if inner.node not in removed}
        self._constants = {k: known for k, known in self._constants.items() if known[1].node not in removed}

    def captured_inputs(self) -> list[tuple[Tensor, Tensor]]:
        """Return ``(tensor of the parent, parameter here)`` for everything captured."""
        return [(outer, inner) for outer, inner in self.captures.items()
                if outer.graph is self.parent and inner.op.op is PARAMETER]  # fmt: skip

    def declare_shape(self, tensor: Tensor, shape: TensorShape) -> None:
        """Remember a promise of ``set_shape``, to be checked at run time."""
        tensor.op.declared = {**tensor.op.declared, tensor.index: shape}
        self.root.declarations += 1

    # -- reading ------------------------------------------------------------------------------------------

    def get_operations(self) -> list[Node]:
        """Return the nodes in the order they were made."""
        return list(self.nodes)

    def get_operation_by_name(self, name: str) -> Node:
        """Return the node called ``name`` (``KeyError`` if there is none)."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(f"the graph has no operation named {name!r}")

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Return the tensor called ``"operation:output"`` (``KeyError``/``ValueError`` if there is none)."""
        operation, colon, index = name.rpartition(":")
        if not colon or not index.isdigit():
            raise ValueError(f"a tensor's name is 'operation:output', e.g. 'add:0', not {name!r}")
        node = self.get_operation_by_name(operation)
        if int(index) >= len(node.outputs):
            raise KeyError(f"operation {operation!r} has {len(node.outputs)} outputs, not {int(index) + 1}")
        return node.outputs[int(index)]

    def finalize(self) -> None:
        """Allow no further change."""
        self.frozen = True

    # -- the default graph --------------------------------------------------------------------------------

    def as_default(self) -> Setting[Graph]:
        """Make this the graph that ops are added to."""
        return Setting(self, (_stack, (*_stack.get(), self)))

    def __enter__(self) -> Graph:
        return self._entered.enter(self.as_default())

    def __exit__(self, *exc: Any) -> None:
        self._entered.leave(*exc)

    def __repr__(self) -> str:
        return f"<Graph {self.prefix!r} of {len(self.nodes)} nodes>"


def _foreign_message(tensor: Tensor, graph: Graph | None) -> str:
    where = f" (made at {tensor.op.location[-1]})" if tensor.op.location else ""
    if graph is not None and tensor.op.graph.root is graph.root:
        inside = tensor.op.graph.prefix or "another sub-graph"
        return (
            f"tensor {tensor.name!r}{where} lives inside {inside!r} and cannot be used outside it; make it a "
            f"loop variable (or a result of the branch) and use what the loop returns"
        )
    return (
        f"tensor {tensor.name!r}{where} belongs to another graph; a symbolic tensor kept from an earlier "
        f"trace or built under another Graph cannot be used here: pass its value as an argument"
    )


_stack: ContextVar[tuple[Graph, ...]] = ContextVar("autoloop_default_graph", default=())


def current_graph() -> Graph | None:
    """Return the innermost default graph of this thread, ``None`` when computing eagerly."""
    stack = _stack.get()
    return stack[-1] if stack else None


@contextmanager
def eager() -> Iterator[None]:
    """Compute instead of build, whatever the default graph (for values that a trace must know now)."""
    token = _stack.set(())
    try:
        yield
    finally:
        _stack.reset(token)


def graph_of(inputs: Sequence[Tensor]) -> Graph | None:
    """Return the graph an op on ``inputs`` belongs to: the default one, else that of a symbolic input."""
    stack = _stack.get()
    if stack:
        return stack[-1]
    for t in inputs:
        if t.node is not None:
            if t.node.graph.root.ended:
                raise ValueError(_foreign_message(t, None))
            return t.node.graph
    return None
