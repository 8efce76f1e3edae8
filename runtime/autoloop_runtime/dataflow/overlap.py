"""Whether any two heavy kernels of a graph can ever run at the same time.

A graph that is one chain gains nothing from threads: it then runs on the calling thread, without locks, and BLAS
keeps its own threads. Two heavy kernels are *ordered* if one needs the other or they stand in opposite branches.
In a loop every heavy kernel must also be ordered with all those of the iteration before: it must reach them
through a NextIteration. Anything else may overlap.

A node *needs* a kernel if, whenever both run, the kernel has ended before the node runs. Where ways meet, only what
holds on both ways is needed: at the Merge of two branches that is what both need, and of each branch the
kernels inside it, since they run only if it is the one taken; at the Merge of a loop what was needed to enter and is
needed again by what comes back.
"""

from __future__ import annotations

from collections.abc import Collection

from ..base.bits import members
from ..base.dataclass import dataclass, field
from .flat_graph import FlatNode, Kind, Lowered, Port

#: overlap is assumed, rather than proved, for a kernel that is not ordered with more than this many others by need
MANY = 200
#: and in graphs with more heavy kernels than this
VERY_MANY = 4000

#: the branch conditions that must hold for a node to run: (predicate, side)
Guards = frozenset[tuple[Port, int]]


@dataclass(slots=True)
class _Facts:
    """What is known of each node, by index; sets of heavy kernels (by rank) and of nodes are bit sets."""

    heavy: list[int] = field(default_factory=list)  # heavy kernels that it needs, itself included
    merges: list[int] = field(default_factory=list)  # Merges of loops that it needs
    guards: list[Guards] = field(default_factory=list)


def overlapping(lowered: Lowered, heavy: Collection[int]) -> set[int]:
    """Return those of the nodes ``heavy`` (indices) that can run while another of them, or another iteration's,
    runs."""
    order = sorted(heavy)
    if len(order) > VERY_MANY:
        return set(order)
    facts = _Analysis(lowered, order).facts
    found: set[int] = set()
    for rank, index in enumerate(order):
        unordered = ~facts.heavy[index] & ((1 << rank) - 1)
        if unordered.bit_count() > MANY:
            return set(order)
        for other in [order[r] for r in members(unordered)]:
            if not any((predicate, 1 - side) in facts.guards[other] for predicate, side in facts.guards[index]):
                found |= {index, other}
    for frame in range(1, len(lowered.frames)):
        found |= _overlapping_iterations(lowered, frame, order, facts)
    return found


class _Analysis:
    """Walks the nodes in order, which is topological but for what NextIteration brings back to a Merge."""

    def __init__(self, lowered: Lowered, order: list[int]) -> None:
        self.nodes = lowered.nodes
        self.order = order
        self.rank = {index: rank for rank, index in enumerate(order)}
        #: for each frame the heavy kernels inside it
        self.inside = [
            sum(1 << r for r, i in enumerate(order) if _is_inside(lowered, self.nodes[i].frame, f.index))
            for f in lowered.frames
        ]
        #: what Merges of loops are taken to need: too much at first, then less until it is consistent
        self.heavy_at: dict[int, int] = {}
        self.merges_at: dict[int, int] = {}
        self.facts = self._walk()
        while self._shrink():
            self.facts = self._walk()

    def _shrink(self) -> bool:
        """Take away from Merges what comes back does not need; True if there was anything."""
        facts, shrunk = self.facts, False
        for node in self.nodes:
            if _is_loop_merge(node):
                (enter, _), (back, _) = node.inputs[0], node.inputs[-1]
                heavy = facts.heavy[enter] & facts.heavy[back]
                merges = facts.merges[enter] & facts.merges[back] | 1 << node.index
                shrunk |= heavy != facts.heavy[node.index] or merges != facts.merges[node.index]
                self.heavy_at[node.index], self.merges_at[node.index] = heavy, merges
        return shrunk

    def _walk(self) -> _Facts:
        facts = _Facts()
        for node in self.nodes:
            arms = [p for p in (*node.inputs, *node.controls) if p[0] < node.index]
            guards = [self._guards_of(port, facts) for port in arms]
            heavy = merges = 0
            if node.kind is Kind.MERGE and not _is_loop_merge(node):
                heavy, merges = self._where_branches_meet(arms, guards, facts)
            else:
                for index, _ in arms:
                    heavy |= facts.heavy[index]
                    merges |= facts.merges[index]
            if _is_loop_merge(node):
                heavy = self.heavy_at.get(node.index, heavy)
                merges = self.merges_at.get(node.index, merges) | 1 << node.index
            elif node.kind is Kind.EXIT:
                heavy |= self._of_last_iteration(node, merges, facts)
            elif node.index in self.rank:
                heavy |= 1 << self.rank[node.index]
            facts.heavy.append(heavy)
            facts.merges.append(merges)
            meet = frozenset.intersection if node.kind is Kind.MERGE else frozenset.union
            facts.guards.append(meet(*guards) if guards else frozenset())
        return facts

    def _guards_of(self, port: Port, facts: _Facts) -> Guards:
        index, side = port
        source = self.nodes[index]
        if source.kind is Kind.SWITCH and self.nodes[source.inputs[1][0]].kind is not Kind.LOOP_COND:
            return facts.guards[index] | {(source.inputs[1], side)}
        return facts.guards[index]

    def _where_branches_meet(self, arms: list[Port], guards: list[Guards], facts: _Facts) -> tuple[int, int]:
        heavy, merges = facts.heavy[arms[0][0]], facts.merges[arms[0][0]]
        for index, _ in arms:
            heavy &= facts.heavy[index]
            merges &= facts.merges[index]
        common = frozenset.intersection(*guards)
        for (index, _), guard in zip(arms, guards):
            for r in members(facts.heavy[index] & ~heavy):
                if facts.guards[self.order[r]] & (guard - common):
                    heavy |= 1 << r
        return heavy, merges

    def _of_last_iteration(self, node: FlatNode, merges: int, facts: _Facts) -> int:
        """Return what leaves a loop needs what the last iteration brought,
        of the kernels that ran only if there was one."""
        heavy = 0
        for index in members(merges):
            merge = self.nodes[index]
            if merge.frame == node.frame:
                heavy |= facts.heavy[merge.inputs[-1][0]]
        return heavy & self.inside[node.frame]


def _overlapping_iterations(lowered: Lowered, frame: int, order: list[int], facts: _Facts) -> set[int]:
    """Return the heavy kernels inside ``frame`` that do not wait for all those of the iteration before."""
    nodes = lowered.nodes
    inside = [rank for rank, index in enumerate(order) if _is_inside(lowered, nodes[index].frame, frame)]
    everything = sum(1 << rank for rank in inside)
    brought = {n.index: facts.heavy[n.inputs[-1][0]] for n in nodes if n.frame == frame and _is_loop_merge(n)}
    found: set[int] = set()
    for rank in inside:
        waited = 0
        for merge, heavy in brought.items():
            if facts.merges[order[rank]] >> merge & 1:
                waited |= heavy
        missing = everything & ~waited
        if missing:
            found |= {order[rank], *(order[r] for r in members(missing))}
    return found


def _is_loop_merge(node: FlatNode) -> bool:
    return node.kind is Kind.MERGE and node.inputs[-1][0] > node.index


def _is_inside(lowered: Lowered, frame: int, outer: int) -> bool:
    while frame > outer:  # parents come before children
        frame = lowered.frames[frame].parent
    return frame == outer
