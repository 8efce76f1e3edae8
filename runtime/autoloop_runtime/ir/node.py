"""One operation of a graph, which nothing changes once it is made.

Who needs another one makes it: ``Node.instead`` gives a node that does something else, or more, for those who hold the
results of this one. They keep their tensors, and these say who computes them now: ``tensor.op`` is the new node, and
the old one remains what it was, out of every graph. So gradients extend a loop whose results the user holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from ..base.dataclass import not_pickled
from ..base.locations import Location
from ..base.shapes import TensorShape
from .op import Op, Spec, call
from .tensor import Tensor

if TYPE_CHECKING:
    from .graph import Graph

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
    graph : Graph
        Where it was made.

    Parameters
    ----------
    specs : sequence of Spec
        Of the outputs that it is the first to give.
    declared : mapping
        Output -> shape that it was promised to have.
    over : tuple of Tensor
        Outputs that it takes over, see ``instead``.
    """

    __slots__ = ("attrs", "control_inputs", "graph", "inputs", "location", "name", "op", "outputs")
    __reduce__ = not_pickled(
        "an operation of a graph is not pickled; send the value of its tensor, or what builds it [AL706]"
    )

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
        declared: Mapping[int, TensorShape] | None = None,
        over: tuple[Tensor, ...] = (),
    ) -> None:
        self.graph = graph
        self.op = op
        self.inputs = inputs
        self.attrs: Mapping[str, Any] = attrs if type(attrs) is MappingProxyType else MappingProxyType(attrs)
        self.name = name
        self.location = location
        self.control_inputs = control_inputs
        if len(specs) == 1 and not over:  # what nearly all have, and fast
            dtype, shape = specs[0]
            self.outputs: tuple[Tensor, ...] = (Tensor(None, dtype, shape, self, 0),)
        else:
            fresh = [Tensor(None, d, s, self, i) for i, (d, s) in enumerate(specs, len(over))]
            self.outputs = (*over, *fresh)
        if declared:
            for i, shape in declared.items():
                self.outputs[i].declared = shape
        self.__class__ = _Frozen  # noqa: PLE0237

    # -- one in place of another ----------------------------------------------------------------------------

    def instead(
        self,
        op: Op | None = None,
        inputs: Sequence[Tensor] | None = None,
        attrs: Mapping[str, Any] | None = None,
        more: Sequence[Spec] = (),
        after: Sequence[Tensor] = (),
    ) -> Node:
        """Return a node that computes the results of this one from now on, and maybe ``more`` after them; it also
        runs only after the tensors ``after``.

        Whoever calls it puts that into the graph in place of this one (``Graph.exchange``).
        """
        made = Node(
            self.graph, self.op if op is None else op, self.inputs if inputs is None else tuple(inputs),
            self.attrs if attrs is None else attrs, more, self.name, self.location,
            (*self.control_inputs, *after), over=self.outputs,
        )  # fmt: skip
        made.reclaim()
        return made

    def reclaim(self) -> None:
        """Compute the results again that a node made by ``instead`` took over, which is given up."""
        for tensor in self.outputs:
            tensor.node = self

    @property
    def now(self) -> Node:
        """The node that computes the results of this one now: itself, or what was made instead."""
        node = self.outputs[0].node if self.outputs else self
        assert node is not None
        return node

    # -- reading ------------------------------------------------------------------------------------------

    @property
    def declared(self) -> Mapping[int, TensorShape]:
        """Which outputs have a shape promised by ``set_shape``, to be checked when the value exists."""
        for tensor in self.outputs:
            if tensor.declared is not None:
                return {t.index: t.declared for t in self.outputs if t.declared is not None}
        return _NOTHING

    @property
    def operands(self) -> tuple[Tensor, ...]:
        """What the kernel takes: the inputs without the token of an effect."""
        return self.inputs[:-1] if self.op.effect else self.inputs

    @property
    def results(self) -> tuple[Tensor, ...]:
        """What the kernel gives: the outputs without the token of an effect."""
        return self.outputs[:-1] if self.op.effect else self.outputs

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


class _Frozen(Node):
    """A node that is made; a class of its own, as a ban that ``__init__`` had to go round would make that slow."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(
            f"{self!r} is immutable: its {name} cannot be set; make another, with Node.instead [AL506]"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r} is immutable: its {name} cannot be deleted [AL506]")
