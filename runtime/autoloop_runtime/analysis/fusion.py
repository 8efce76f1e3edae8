"""Which element by element operations of a graph can be computed together, in one pass over their elements.

A *group* is nodes whose results have one shape, computed where the last of them stands. So nothing between two of them
may read what is made in it, nor change what is read in it. Groups of several shapes are open side by side: one pass
over each is made of nodes that stand in any order.

Whoever computes them says which nodes it can take, and what nothing may be moved across, by how it keeps values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ..base.dataclass import Protocol, dataclass
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.tensor import Tensor
from .failure import can_fail
from .uses import Readers

#: arrays with fewer elements are not worth a division into blocks
DIVIDED = 1 << 18


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that are computed together.

    Attributes
    ----------
    nodes : list of Node
        In order.
    reads : list of Tensor
        What they read from outside.
    results : list of Tensor
        What others read of them.
    """

    nodes: list[Node]
    reads: list[Tensor]
    results: list[Tensor]


class Fused(Protocol):
    """Element by element operations that are computed together, where the last of them stands."""

    @property
    def nodes(self) -> Sequence[Node]:
        """In order."""

    @property
    def results(self) -> Sequence[Tensor]:
        """What others read of them."""


class Groups(dict[Node, Fused]):
    """What nodes are computed with, and who reads what in graphs with such nodes."""

    def __init__(self, groups: Mapping[Node, Fused] = MappingProxyType({})) -> None:
        super().__init__(groups)
        self._ends = {node: group.nodes[-1] for node, group in groups.items()}
        self._found: dict[Graph, Readers] = {}

    def reading(self, graph: Graph) -> Readers:
        """Return who reads what in ``graph``, which nobody changes in the meantime, where that is computed."""
        if graph not in self._found:
            self._found[graph] = Readers(graph.nodes, graph.outputs, computed_at=self._ends)
        return self._found[graph]


def fused(
    nodes: Iterable[Node], reading: Readers, form: Callable[[Node], Hashable], stops: Callable[[Node, bool], bool]
) -> list[Group]:  # fmt: skip
    """Return the groups of ``nodes``.

    Parameters
    ----------
    reading : Readers
        Of the graph.
    form : callable
        Gives what a node is computed over, its shape, if that can be done together with others; ``None`` otherwise.
    stops : callable
        ``stops(node, reads)``: whether no node of any group may be moved across ``node``, which is in none; ``reads``:
        it reads what is made in one.
    """
    return [_group(members, reading) for members in _members(nodes, form, stops)]


def _members(
    nodes: Iterable[Node], form: Callable[[Node], Hashable], stops: Callable[[Node, bool], bool]
) -> Iterator[list[Node]]:  # fmt: skip
    going: dict[Hashable, list[Node]] = {}
    for node in nodes:
        if node.op in (CONST, PARAMETER):
            continue
        key = form(node)
        if key is not None:
            going.setdefault(key, []).append(node)
            continue
        if not going:
            continue
        sources = {t.op for t in (*node.inputs, *node.control_inputs)}
        read = [key for key, members in going.items() if not sources.isdisjoint(members)]
        for key in list(going) if stops(node, bool(read)) else read:
            yield going.pop(key)
    yield from going.values()


def _group(members: list[Node], reading: Readers) -> Group:
    inside = set(members)
    reads = list(dict.fromkeys(t for node in members for t in node.inputs if t.op not in inside))
    results = [t for node in members for t in node.outputs if not inside.issuperset(reading.nodes(t))]
    return Group(members, reads, results)


def is_divisible(node: Node, least: int = DIVIDED) -> bool:
    """Return whether the result, an array of at least so many elements, can be computed block by block."""
    if node.op.into is None or not node.op.traits.elementwise or node.declared or node.control_inputs:
        return False
    if can_fail(node):  # in one block, when others are written
        return False
    shape = node.outputs[0].shape
    if shape.rank == 0 or (shape.num_elements() or 0) < least:
        return False
    return all(t.shape.rank == 0 or t.shape == shape for t in node.inputs)
