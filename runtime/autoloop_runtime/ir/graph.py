"""Graphs of nodes, how they grow, and which one is growing.

A ``Graph`` owns nodes in the order they were made, which is a topological order. A graph may have a *parent*:
it is then the condition, body or branch of a structured node, and tensors of its ancestors (*captures*) enter it as
parameters. One thread builds a graph, and no lock guards what it changes; a finished graph is only read. But sessions
on other threads may add what reads a variable (``add`` with ``waits=False``): ``nodes`` then grows by single appends,
names have a lock of their own (``naming``), and nothing else is touched. The default graph is the one piece of ambient
state: a context variable, so each thread has its own.

Effects are data. In an *ordered* graph (a function's) each op with an effect takes the graph's current token
and leaves a new one; a sub-graph that has an effect gets the token as a parameter, and whoever builds the
structured node threads it through. In an unordered graph (1.x) the token is a constant and orders nothing.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from ..base import dtypes
from ..base.contexts import Entered, Setting
from ..base.dataclass import Protocol, not_pickled
from ..base.dtypes import DType
from ..base.locations import Location, Places
from ..base.shapes import SCALAR, TensorShape
from .array_kinds import LATER
from .naming import Collecting, NamedLookup, Names
from .node import Node as Node
from .op import CONST as CONST
from .op import PARAMETER as PARAMETER
from .op import Op, ShownInNotebooks, call, inferred
from .tensor import Tensor


class Record(Protocol):
    """What somebody above notes with a graph; its class makes an empty one."""

    def copy(self) -> Any:
        """Return the same, which later changes of this one do not reach."""


R = TypeVar("R", bound=Record)


class _Seldom:
    """What most graphs never set: of the class, as passes make many graphs."""

    #: the effect token after the last effect so far; None before the first
    token: Tensor | None = None
    token_input: Tensor | None = None  # through which a sub-graph got its first token
    frozen = False
    #: the trace this graph was made for is over: only who makes it the default again may add to it
    ended = False
    #: of a root that others may find: the thread that traces it, and what tells others the value of a tensor
    traced_by: tuple[int, Callable[[Tensor], Tensor]] | None = None
    awaits = False  # of a root: something in it was made with control dependencies in force
    declarations = 0  # of a root: how many promises ``set_shape`` has made about what is in it
    no_new_variables = False  # of a root: no variable may be created while it is traced
    strict = False  # of a root: what may raise is computed although no output needs it
    is_silenced = False  # of a root: floating-point errors of parts of it are nobody's business
    says_more = False  # of a root: NumPy may warn in a function that is part of it, of what no operation tells
    heeds_errors = False  # who runs it looks whether it had floating-point errors, see ``running.heeding``
    shows_progress = False  # of a root: who runs it shows how far its loops are
    keeps_checkpoints = False  # of a root: who runs it keeps its loops in a folder, if that is asked for
    written_out: Sequence[Any] = ()  # of such a one: the records of loops that Python has run
    theirs: Any = None  # of a root: which values are arrays of another library, see ``foreign_values``; None if none is
    errors_while_traced = 0  # of a root: the kinds of them that what was computed at once has had, see ``noting``
    #: of a root: values that were put into arrays of the caller's as soon as they were made -> the input
    put_at_once: dict[Tensor, int] | None = None
    seed: int | None = None  # of a root: what its random numbers are made of (1.x)
    gradient_memory: str | int | None = None  # of a root: how its loops keep what their gradients need
    #: the user's lines of what is made without any named; by default those that are running
    location: Location | None = None
    otherwise: Location = ()  # the lines of what no line of the user's makes
    _entered: Entered[Graph] | None = None


class _NeverSent:
    """What ``copy`` and ``pickle`` do with a graph."""

    __reduce__ = not_pickled("a graph is not pickled; send the decorated function, or one that builds it [AL706]")

    def __copy__(self) -> Any:
        made = object.__new__(type(self))  # shares the nodes
        vars(made).update(vars(self))
        return made


class Graph(_Seldom, _NeverSent, NamedLookup, Collecting, ShownInNotebooks):
    """A dataflow graph under construction, or finished.

    Parameters
    ----------
    name : str
        Prefix of the nodes' names.
    parent : Graph, optional
        The graph whose structured node this one will be part of.
    ordered : bool
        Effects happen in program order (functions); inherited from the parent.

    Examples
    --------
    >>> with al.Graph() as graph:
    ...     x = al.constant(1) + 2
    >>> x.op.graph is graph
    True
    """

    def __init__(self, name: str = "", parent: Graph | None = None, ordered: bool = False) -> None:
        self.prefix = name
        self.parent = parent
        if parent is None:
            self.root: Graph = self
            self.ordered: bool = ordered
            self._names, self._places = Names(), Places()
        else:
            self.root, self.ordered = parent.root, parent.ordered
            self._names, self._places = parent._names, parent._places
        #: the same object in all the graphs that passes make of one another
        self.lineage = object()
        self.nodes: list[Node] = []
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        #: captured outer tensor -> the parameter that stands for it here
        self.captures: dict[Tensor, Tensor] = {}
        #: the parameter -> the tensor of the parent
        self.captured_from: dict[Tensor, Tensor] = {}
        self.donated: dict[int, int] = {}  # inputs that a run may overwrite -> the output that is wanted there
        self.collections: dict[str, list[Any]] = {}  # 1.x: what is collected under a name, e.g. ``"variables"``
        #: what must live as long as the graph does, see ``record``
        self.records: dict[type[Record], Any] = {}
        #: concrete tensor -> the constant that stands for it here
        self.constants: dict[Tensor, Tensor] = {}
        #: what is made waits for, one group for each ``control_dependencies`` in force
        self.control: list[tuple[Tensor, ...]] = []
        self.given_up: set[Node | None] = set()  # what was made and then forgotten, see ``rollback``
        #: of a root: constants whose value is part of the graph, and as what
        self.settled: dict[Tensor, str] = {}

    # -- building -----------------------------------------------------------------------------------------

    def unique_name(self, name: str) -> str:
        """Return ``name`` below this graph's prefix, made unique: ``add``, ``add_1``, ..."""
        return self._names.unique(f"{self.prefix}/{name}" if self.prefix else name)

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Nodes made inside get the prefix ``name``, as it is if it ends with a slash; with None they get none."""
        outer, self.prefix = self.prefix, self.inner_scope(name)
        try:
            yield self.prefix
        finally:
            self.prefix = outer

    @contextmanager
    def control_dependencies(self, tensors: Sequence[Tensor | Node] | None) -> Iterator[None]:
        """Nodes made inside run only after ``tensors`` (or operations) have been computed; ``None``: after nothing."""
        outer = self.control
        made = () if tensors is None else tuple([t.outputs[-1] if isinstance(t, Node) else t for t in tensors])
        self.control = [] if tensors is None else [*outer, made]
        self.root.awaits = True
        try:
            yield
        finally:
            self.control = outer

    def add(
        self,
        op: Op,
        inputs: Sequence[Tensor],
        attrs: Mapping[str, Any] | None = None,
        name: str | None = None,
        location: Location | None = None,
        scope: str | None = None,
        waits: bool = True,
    ) -> Node:
        """Add a node: capture the inputs, infer the outputs, thread the effect token.

        ``scope``: the name, which ``unique_name`` has given out. ``waits=False``: no control dependency holds for it.

        Raises
        ------
        RuntimeError
            If the graph is frozen.
        """
        if self.root.frozen:
            raise RuntimeError("the graph is finished and cannot be changed (Graph.finalize was called) [AL506]")
        attrs = attrs or {}
        here = self.here() if location is None and self.location is None else None  # also of what is captured
        location = location if location is not None else self.location if here is None else here
        # most inputs were made here, and need no call to say so
        captured = tuple([t if type(t) is Tensor and (made := t.node) is not None and made.graph is self
                          else self.capture(t, here) for t in inputs])  # fmt: skip
        specs = inferred(op, captured, attrs, self.root.strict)
        if op.effect:
            captured += (self.effect_token(),)
            specs.append((dtypes.bool_, SCALAR))
        node = Node(
            self, op, captured, attrs, specs, scope or self.unique_name(name or op.name.lower()),
            location or self.otherwise, self._control_inputs() if waits else (),
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
            found.update(t.source for group in graph.control for t in group)
            graph = graph.parent
        return frozenset(found)

    def _control_inputs(self) -> tuple[Tensor, ...]:
        if not self.root.awaits:
            return ()
        graph: Graph | None = self
        groups: list[tuple[Tensor, ...]] = []
        while graph is not None:
            if graph.control:
                groups += graph.control
            graph = graph.parent
        if not groups:
            return ()
        return tuple(dict.fromkeys(self.capture(t) for group in groups for t in group if t.node is not None))

    def exchange(self, node: Node, made: Node) -> Node:
        """Put ``made``, which is ``node.instead(...)``, where ``node`` stands; gives it."""
        self.nodes[self.nodes.index(node)] = made
        return made

    def here(self) -> Location:
        """Return the user's lines of what is made now."""
        return self._places.capture() if self.location is None else self.location

    def parameter(
        self, dtype: DType, shape: TensorShape, name: str = "arg", here: Location | None = None, **attrs: Any
    ) -> Tensor:
        """Return a new input of this graph; ``here``: the lines that are running, where the caller knows them."""
        location = self.here() if here is None or self.location is not None else here
        node = Node(
            self, PARAMETER, (), {"dtype": dtype, "shape": shape, **attrs}, [(dtype, shape)],
            self.unique_name(name), location or self.otherwise,
        )  # fmt: skip
        self.nodes.append(node)
        self.inputs.append(node.outputs[0])
        return node.outputs[0]

    def constant(self, value: Any, name: str = "Const", *, waits: bool = False) -> Tensor:
        """Return a node that gives ``value`` (an ndarray or NumPy scalar, not copied).

        ``waits``: it is the value of something the user asked for, which control dependencies hold back as they do
        any operation. Where effects are ordered they happen anyway, so that there is nothing to wait for.
        """
        controls = self._control_inputs() if waits and not self.ordered else ()
        node = Node(
            self, CONST, (), {"value": value}, [(value.dtype, TensorShape(value.shape) if value.shape else SCALAR)],
            self.unique_name(name), self.location or self.otherwise, controls,
        )  # fmt: skip
        self.nodes.append(node)
        return node.outputs[0]

    def capture(self, tensor: Tensor, here: Location | None = None) -> Tensor:
        """Return ``tensor`` as seen from inside this graph; ``here`` as for ``parameter``.

        Raises
        ------
        ValueError
            If it belongs to a graph that does not enclose this one.
        """
        tensor = tensor.plain
        node = tensor.node
        if node is None:
            known = self.constants.get(tensor)
            if known is None:
                known = self.constants[tensor] = _of_concrete(self, tensor)
            return known
        if node.graph is self:
            return tensor
        inner = self.captures.get(tensor)
        if inner is not None:
            return inner
        if self.parent is None:
            raise ForeignTensorError(_foreign_message(tensor, self))
        if node.op is CONST and self.ordered:
            inner = self.constant(node.attrs["value"])
        else:  # in a graph that a session runs a constant may be fed, or wait for something
            outer = self.parent.capture(tensor, here)
            inner = self.captures.get(outer)
            if inner is None:
                inner = self.parameter(outer.dtype, outer.shape, "capture", here)
                self.captures[outer] = inner
                self.captured_from[inner] = outer
        return self.captures.setdefault(tensor, inner)

    def outside(self, parameter: Tensor) -> Tensor | None:
        """Return the tensor of the parent that ``parameter`` stands for here, if it was captured."""
        return self.captured_from.get(parameter)

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

    def captured_inputs(self) -> list[tuple[Tensor, Tensor]]:
        """Return ``(tensor of the parent, parameter here)`` for everything captured."""
        return [(outer, inner) for outer, inner in self.captures.items()
                if outer.graph is self.parent and inner.op.op is PARAMETER]  # fmt: skip

    def record(self, kind: type[R]) -> R:
        """Return what is kept with this graph as a ``kind``, made when it is first asked for."""
        found: R = self.records[kind] if kind in self.records else self.records.setdefault(kind, kind())
        return found

    def finalize(self) -> None:
        """Allow no further change."""
        self.frozen = True

    # -- the default graph --------------------------------------------------------------------------------

    def as_default(self) -> Setting[Graph]:
        """Make this the graph that ops are added to."""
        return Setting(self, (_stack, (*_stack.get(), self)))

    def __enter__(self) -> Graph:
        if self._entered is None:
            self._entered = Entered()
        return self._entered.enter(self.as_default())

    def __exit__(self, *exc: Any) -> None:
        assert self._entered is not None
        self._entered.leave(*exc)

    def __repr__(self) -> str:
        return f"<Graph {self.prefix!r} of {len(self.nodes)} nodes>"


def _of_concrete(graph: Graph, tensor: Tensor) -> Tensor:
    """Return what stands in a graph for a concrete tensor: an input for what is elsewhere, if there are such, else a
    constant."""
    taken = call("taken_elsewhere", tensor.held, graph, True) if type(tensor) in LATER else None  # type: ignore[attr-defined]
    return graph.constant(tensor.value) if taken is None else graph.capture(taken)


class ForeignTensorError(ValueError):
    """A tensor of one graph is used in another."""


def is_foreign(error: BaseException) -> bool:
    """Return whether an exception says that a tensor of one graph is used in another."""
    return isinstance(error, ForeignTensorError)


def _foreign_message(tensor: Tensor, graph: Graph | None) -> str:
    where = f" (made at {tensor.op.location[-1]})" if tensor.op.location else ""
    if graph is not None and tensor.op.graph.root is graph.root:
        inside = tensor.op.graph.prefix or "another sub-graph"
        return (
            f"tensor {tensor.name!r}{where} lives inside {inside!r} and cannot be used outside it; make it a "
            f"loop variable (or a result of the branch) and use what the loop returns [AL501]"
        )
    return (
        f"tensor {tensor.name!r}{where} belongs to another graph; a symbolic tensor kept from an earlier "
        f"trace or built under another Graph cannot be used here: pass its value as an argument [AL501]"
    )


_stack: ContextVar[tuple[Graph, ...]] = ContextVar("autoloop_default_graph", default=())


#: ``default_graphs()``: those of this thread, innermost last; none when computing eagerly
default_graphs: Callable[[], tuple[Graph, ...]] = _stack.get


def current_graph() -> Graph | None:
    """Return the innermost default graph of this thread, ``None`` when computing eagerly."""
    stack = _stack.get()
    return stack[-1] if stack else None


def theirs_here() -> Any:
    """Return which values of what is traced are arrays of another library, see ``Theirs``; None if none is."""
    graph = current_graph()
    return None if graph is None else graph.root.theirs


def leave_default(graph: Graph) -> None:
    """Take the innermost entry of ``graph`` from the default graphs of this thread, wherever it stands."""
    stack = _stack.get()
    if graph in stack:
        at = len(stack) - 1 - stack[::-1].index(graph)
        _stack.set(stack[:at] + stack[at + 1 :])


def is_around(graph: Graph | None) -> bool:
    """Return whether a graph is the one being built, or one around it: what was made in it can be used now."""
    inner = current_graph()
    while inner is not None and inner is not graph:
        inner = inner.parent
    return inner is graph


def is_at_hand(tensor: Tensor, graph: Graph | None) -> bool:
    """Return whether a tensor that was made in ``graph`` can be used now: it may have been given up there."""
    return is_around(graph) and (graph is None or tensor.node not in graph.given_up)


@contextmanager
def eager() -> Iterator[None]:
    """Compute instead of build, whatever the default graph (for values that a trace must know now)."""
    token = _stack.set(())
    try:
        yield
    finally:
        _stack.reset(token)


class OtherThread(Exception):
    """A thread has found what stands for a value while another one traces."""

    def __init__(self, value_of: Callable[[Tensor], Tensor]) -> None:
        self._value_of = value_of

    def values(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Return what tensors stand for."""
        return [t if t.node is None else self._value_of(t) for t in inputs]


def graph_of(inputs: Sequence[Tensor]) -> Graph | None:
    """Return the graph an op on ``inputs`` belongs to: the default one, else that of a symbolic input."""
    stack = _stack.get()
    if stack:
        return stack[-1]
    for t in inputs:
        if t.node is not None:
            root = t.node.graph.root
            if root.ended:
                raise ForeignTensorError(_foreign_message(t, None))
            if root.traced_by is not None and root.traced_by[0] != get_ident():
                raise OtherThread(root.traced_by[1])
            return t.node.graph
    return None
