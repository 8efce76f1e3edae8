"""Element by element operations on large arrays that generated code computes together, block by block.

One operation after the other goes through memory once for each, on one thread. A *chain* is computed block by block:
what lies between its operations stays in the cache, and several threads take blocks (``block_loop.in_blocks``).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from ..analysis.aliasing import is_fresh
from ..analysis.cost import estimate
from ..analysis.fusion import DIVIDED, Group, fused, is_divisible
from ..analysis.inside import graphs_inside
from ..analysis.observable import is_barrier
from ..analysis.ownership import may_overwrite
from ..analysis.sizes import is_large
from ..analysis.uses import Readers, readers
from ..base.dataclass import dataclass
from ..base.forks import undivided
from ..ir.graph import Graph, Node
from ..ir.prices import Price
from ..ir.tensor import Tensor

#: arrays with fewer elements are not divided
MIN_ELEMENTS = DIVIDED
#: nor is work that takes fewer nanoseconds
MIN_COST = 300_000.0
#: of arithmetic alone, so many arrays are made for it: an operation after the other has as many
MOST_MADE = 2


@dataclass(frozen=True, eq=False)
class Chain:
    """Nodes of one graph whose results all have one shape, in order.

    Attributes
    ----------
    nodes : list of Node
        They are computed where the last of them stands.
    arrays, scalars : list of Tensor
        What they read from outside.
    results : list of Tensor
        What others read of them.
    """

    nodes: list[Node]
    arrays: list[Tensor]
    scalars: list[Tensor]
    results: list[Tensor]


def find_chains(graph: Graph) -> dict[Node, Chain]:
    """Return the chain of each node that is in one, in ``graph`` and the graphs inside it."""
    found: dict[Node, Chain] = {}
    for current in graphs_inside(graph):
        for group in _groups(current):
            arrays = [t for t in group.reads if t.shape.rank != 0]
            scalars = [t for t in group.reads if t.shape.rank == 0]
            chain = Chain(group.nodes, arrays, scalars, group.results)
            found.update(dict.fromkeys(chain.nodes, chain))
    return found


def _groups(graph: Graph) -> list[Group]:
    """Return the groups that are worth it; the nodes of others are computed where they stand, maybe in place."""
    if not any(is_divisible(node, MIN_ELEMENTS) for node in graph.nodes):
        return []
    with undivided():
        from ..analysis.part_updates import updated_part

    reading = readers(graph)
    #: arithmetic in the place of its operand waits for memory, and needs none besides
    updated = [updated_part(reading, node) for node in graph.nodes]
    alone = {one[0] for one in updated if one is not None and one[0].op.traits.price is Price.ARITHMETIC}
    cheap: set[Node] = set()

    def form(node: Node) -> Hashable:
        return node.outputs[0].shape.as_tuple() if node not in cheap and is_divisible(node, MIN_ELEMENTS) else None

    while True:
        found = fused(graph.nodes, reading, form, _stops)
        left = [
            node for group in found if _is_cheap(group, alone) or _waits(group, reading) for node in group.nodes
        ]  # fmt: skip
        if not left:
            return found
        cheap.update(left)


def _is_cheap(group: Group, alone: Collection[Node]) -> bool:
    if len(group.nodes) == 1 and group.nodes[0] in alone:
        return True
    return sum(map(estimate, group.nodes)) < MIN_COST


def _waits(group: Group, reading: Readers) -> bool:
    """Return whether arithmetic together would have several arrays wait for the last of them, where one operation after
    the other lets go of each in time: memory is what it takes longest for."""
    if any(node.op.traits.price is not Price.ARITHMETIC for node in group.nodes):
        return False
    members = {*group.nodes}
    made = [t for t in group.reads if is_large(t) and is_fresh(t) and all(n in members for n, _ in reading.of(t))]
    return len(made) > MOST_MADE


def _stops(node: Node, reads: bool) -> bool:
    return is_barrier(node) or may_overwrite(node)
