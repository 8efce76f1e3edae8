"""Parts of a flat graph as graphs of their own: what a source of faster kernels is asked for.

A piece is one node, or a batch of light nodes that are run together. What it is called with are the values of ports;
numbers that are known stand in it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from ..analysis.aliasing import is_fresh
from ..analysis.cost import estimate
from ..analysis.observable import is_pure
from ..analysis.ownership import overwritten
from ..analysis.sizes import bytes_of
from ..analysis.weight import is_bulky
from ..base.dataclass import dataclass
from ..ir.graph import CONST, Graph, Node
from ..ir.prices import Price
from ..ir.tensor import Tensor
from .batch_step import Batch
from .execution_plan import kernel_of
from .flat_graph import FlatNode, Kind, Lowered, Port

Kernel = Callable[..., Any]

#: bytes from which on a result rather takes over the memory of an argument
IN_PLACE = 1 << 22
#: bytes of a constant that stands in a piece: of one node, and of a batch, to which it cannot be given
KNOWN, KNOWN_TO_BATCH = 64, 1 << 16


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a flat graph.

    Attributes
    ----------
    key : tuple of int
        The node, or the nodes of the batch.
    graph : Graph
        Of exact shapes; its inputs are the values of ``inputs``.
    inputs : tuple of Port
    nodes : tuple of Node
        What it does.
    kind : Hashable
        Equal for pieces that do the same.
    plain : callable or None
        What does it now; None for a batch.
    """

    key: tuple[int, ...]
    graph: Graph
    inputs: tuple[Port, ...]
    nodes: tuple[Node, ...]
    kind: Hashable
    plain: Kernel | None

    @property
    def nanoseconds(self) -> float:
        """How long it takes, roughly."""
        return sum(map(estimate, self.nodes))


def pieces_of(lowered: Lowered, joined: Sequence[FlatNode]) -> Iterator[Piece]:
    """Yield the parts of a graph for which other kernels may stand: batches among ``joined``, and nodes beside them.

    Each node gives arrays that are its own, of shapes that are known, and does more than go through memory. What writes
    to its inputs stays as it is, and so does what may be given the memory of one, unless it gains more by another
    kernel.
    """
    inside = set[int]()
    for one in joined:
        if one.kind is Kind.BATCH and (piece := _of_batch(lowered, one.value)) is not None:
            inside.update(piece.key)
            yield piece
    for flat in lowered.nodes:
        if flat.kind is Kind.KERNEL and flat.index not in inside and _is_replaceable(flat):
            yield _of_node(lowered, flat)


def _is_replaceable(flat: FlatNode) -> bool:
    node = flat.source
    if node is None or not _only_gives(flat, node) or is_bulky(node) or not all(map(is_fresh, node.outputs)):
        return False
    size = bytes_of(node.outputs[0])
    return not overwritten(node) or (node.op.traits.price is Price.FUNCTION and size is not None and size < IN_PLACE)


def _only_gives(flat: FlatNode, node: Node) -> bool:
    """Return whether a kernel only gives one array of a known shape."""
    if node.op is not flat.op or not is_pure(node) or node.op.several or node.op.taking is not None:
        return False
    return all(t.shape.is_fully_defined() for t in (*node.inputs, *node.outputs))


def _of_node(lowered: Lowered, flat: FlatNode) -> Piece:
    made = _Maker(lowered, KNOWN)
    made.add(flat)
    kernel = kernel_of(flat)
    assert kernel is not None
    roots = [made.root(port) for port in flat.inputs]
    if roots != made.inputs:
        places = [made.inputs.index(root) if root in made.inputs else -1 for root in roots]
        kernel = _expanded(kernel, places, [lowered.nodes[root[0]].value for root in roots])
    return made.piece((flat.index,), [(flat.index, 0)], kernel)


def _expanded(kernel: Kernel, places: Sequence[int], known: Sequence[Any]) -> Kernel:
    """Return a kernel that is given each value once, and no constants."""

    def called(*values: Any) -> Any:
        return kernel(*[known[k] if place < 0 else values[place] for k, place in enumerate(places)])

    return called


def _of_batch(lowered: Lowered, batch: Batch) -> Piece | None:
    """Return the piece of a batch of kernels that only give arrays; None if there is anything else in it."""
    made = _Maker(lowered, KNOWN_TO_BATCH)
    for index in batch.members:
        flat = lowered.nodes[index]
        if flat.kind is not Kind.KERNEL or flat.source is None or not _only_gives(flat, flat.source):
            return None
        made.add(flat)
    given = set(batch.inputs)
    if not batch.outputs or not all(port in given for port in made.inputs):
        return None  # a constant is too large to stand in it
    if not all(is_fresh(lowered.nodes[k].source.outputs[j]) for k, j in batch.outputs):  # type: ignore[union-attr]
        return None
    return made.piece(tuple(batch.members), batch.outputs, None)


class _Maker:
    """Makes the graph of a piece; ``known``: bytes of a constant that stands in it, at most."""

    def __init__(self, lowered: Lowered, known: int) -> None:
        self._nodes = lowered.nodes
        self._known = known
        self._graph = Graph()
        self._of: dict[Port, Tensor] = {}
        #: what is said of each value where kinds are compared
        self._told: dict[Port, Hashable] = {}
        self._kinds: list[Hashable] = []
        self._made: list[Node] = []
        self.inputs: list[Port] = []

    def add(self, flat: FlatNode) -> None:
        """Add a kernel."""
        node = flat.source
        assert node is not None
        inputs = [self._value(port, tensor) for port, tensor in zip(flat.inputs, node.inputs)]
        specs = [(t.dtype, t.shape) for t in node.outputs]
        made = Node(self._graph, node.op, tuple(inputs), node.attrs, specs, node.name, node.location)
        self._graph.nodes.append(made)
        self._made.append(node)
        told = tuple([self._told[self.root(port)] for port in flat.inputs])
        self._kinds.append((node.op, tuple(sorted(node.attrs.items())), told, *map(_form, node.outputs)))
        self._of[flat.index, 0], self._told[flat.index, 0] = made.outputs[0], len(self._kinds)

    def root(self, port: Port) -> Port:
        """Return the constant that a port brings and that stands in the piece; itself if it brings none."""
        here = self._nodes[port[0]]
        while here.kind is Kind.ENTER and here.constant:
            here = self._nodes[here.inputs[0][0]]
        return (here.index, 0) if self._is_known(here) else port

    def _is_known(self, flat: FlatNode) -> bool:
        return flat.kind is Kind.CONST and getattr(flat.value, "nbytes", self._known + 1) <= self._known

    def _value(self, port: Port, tensor: Tensor) -> Tensor:
        root = self.root(port)
        if root in self._of:
            return self._of[root]
        flat, form = self._nodes[root[0]], _form(tensor)
        if self._is_known(flat):
            made = Node(self._graph, CONST, (), {"value": flat.value}, [(tensor.dtype, tensor.shape)], flat.name, ())
            self._graph.nodes.append(made)
            self._of[root], self._told[root] = made.outputs[0], (form, flat.value.tobytes())
        else:
            self._of[root] = self._graph.parameter(tensor.dtype, tensor.shape, f"x{len(self.inputs)}")
            self._told[root] = (form, -1 - len(self.inputs))
            self.inputs.append(root)
        return self._of[root]

    def piece(self, key: tuple[int, ...], outputs: Sequence[Port], plain: Kernel | None) -> Piece:
        """Return it."""
        self._graph.outputs = [self._of[port] for port in outputs]
        kind: Hashable = (tuple(self._kinds), tuple([self._told[port] for port in outputs]))
        try:
            hash(kind)
        except TypeError:
            kind = key
        return Piece(key, self._graph, tuple(self.inputs), tuple(self._made), kind, plain)


def _form(tensor: Tensor) -> Hashable:
    return tensor.dtype, tensor.shape.as_tuple()
