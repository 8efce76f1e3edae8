"""Whether any two heavy kernels of a graph can ever run at the same time.

A graph that is one chain gains nothing from threads: it then runs on the calling thread, without locks, and BLAS
keeps its own threads. Two heavy kernels are *ordered* if one needs the other or they stand in opposite branches.
In a loop every heavy kernel must also be ordered with every one of the next iteration: it must reach it
through a NextIteration. Anything else may overlap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ..lowering import FlatNode, Kind, Lowered, Port

#: overlap is assumed, rather than proved, for a kernel that is not ordered with more than this many others by need
MANY = 200
#: and in graphs with more heavy kernels than this
VERY_MANY = 4000

#: the branch conditions that must hold for a node to run: (predicate, side)
Guards = frozenset[tuple[Port, int]]
_ALWAYS: Guards = frozenset()


@dataclass(slots=True)
class _Facts:
    """What is known of each node, by index; sets of heavy kernels and of Merges are bit sets."""

    heavy: list[int]  # heavy kernels that it needs, itself included
    merges: list[int]  # Merges of loops that it needs
    guards: list[Guards]


def overlapping(lowered: Lowered, heavy: Collection[int]) -> set[int]:
    """Those of the nodes ``heavy`` (indices) that can run while another of them, or another iteration's, runs."""
    nodes, order = lowered.nodes, sorted(heavy)
    if len(order) > VERY_MANY:
        return set(order)
    facts = _gather(nodes, {index: bit for bit, index in enumerate(order)})
    found: set[int] = set()
    for bit, index in enumerate(order):
        unordered = ~facts.heavy[index] & ((1 << bit) - 1)
        if unordered.bit_count() > MANY:
            return set(order)
        for other in [order[b] for b in _bits(unordered)]:
            if not _exclusive(facts.guards[index], facts.guards[other]):
                found |= {index, other}
    for frame in range(1, len(lowered.frames)):
        found |= _overlapping_iterations(lowered, frame, order, facts)
    return found


def _gather(nodes: tuple[FlatNode, ...], bit_of: dict[int, int]) -> _Facts:
    """One pass in the order of the nodes, which is topological but for what NextIteration brings to a Merge."""
    facts = _Facts([], [], [])
    for node in nodes:
        before = [port for port in (*node.inputs, *node.controls) if port[0] < node.index]
        needed = merges = 0
        for index, _ in before:
            needed |= facts.heavy[index]
            merges |= facts.merges[index]
        if node.index in bit_of:
            needed |= 1 << bit_of[node.index]
        if node.kind is Kind.MERGE and len(before) < len(node.inputs):
            merges |= 1 << node.index
        if node.kind is Kind.EXIT:
            needed, merges = _after_all_iterations(nodes, node.frame, facts, needed, merges)
        facts.heavy.append(needed)
        facts.merges.append(merges)
        facts.guards.append(_guards(node, [(nodes[i], side, facts.guards[i]) for i, side in before], nodes))
    return facts


def _after_all_iterations(
    nodes: tuple[FlatNode, ...], frame: int, facts: _Facts, needed: int, merges: int
) -> tuple[int, int]:
    """What leaves a loop needs what was brought from each iteration to the next, as often as it goes round."""
    todo = merges
    while todo:
        more = 0
        for merge in _bits(todo):
            if nodes[merge].frame == frame:
                back, _ = nodes[merge].inputs[-1]
                needed |= facts.heavy[back]
                more |= facts.merges[back]
        todo = more & ~merges
        merges |= more
    return needed, merges


def _guards(node: FlatNode, before: list[tuple[FlatNode, int, Guards]], nodes: tuple[FlatNode, ...]) -> Guards:
    arms = []
    for source, side, guards in before:
        if source.kind is Kind.SWITCH and nodes[source.inputs[1][0]].kind is not Kind.LOOP_COND:
            guards = guards | {(source.inputs[1], side)}
        arms.append(guards)
    if not arms:
        return _ALWAYS
    # where branches meet, only what holds in both still holds
    return frozenset.intersection(*arms) if node.kind is Kind.MERGE else frozenset.union(*arms)


def _exclusive(a: Guards, b: Guards) -> bool:
    return any((predicate, 1 - side) in b for predicate, side in a)


def _overlapping_iterations(lowered: Lowered, frame: int, order: list[int], facts: _Facts) -> set[int]:
    """The heavy kernels inside ``frame`` that do not wait for all those of the iteration before."""
    nodes = lowered.nodes
    inside = [bit for bit, index in enumerate(order) if _is_inside(lowered, nodes[index].frame, frame)]
    everything = sum(1 << bit for bit in inside)
    brought = {
        node.index: facts.heavy[node.inputs[-1][0]]
        for node in nodes
        if node.kind is Kind.MERGE and node.frame == frame and node.inputs[-1][0] > node.index
    }
    found: set[int] = set()
    for bit in inside:
        waited = 0
        for merge, heavy in brought.items():
            if facts.merges[order[bit]] >> merge & 1:
                waited |= heavy
        missing = everything & ~waited
        if missing:
            found |= {order[bit], *(order[b] for b in _bits(missing))}
    return found


def _is_inside(lowered: Lowered, frame: int, outer: int) -> bool:
    while frame > outer:  # parents come before children
        frame = lowered.frames[frame].parent
    return frame == outer


def _bits(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
