"""A loop of a graph as a graph of its own, whose feeds are what it is given and whose fetches are what leaves it.

Its nodes keep their places, which tell what stands first in the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from ..base.dataclass import replace
from .dependence import is_loop_merge
from .flat_graph import GONE, FlatNode, Kind, Lowered, Port, nanoseconds


def enters(members: Sequence[FlatNode]) -> list[list[FlatNode]]:
    """Return the Enters of each value that a loop is given, whose own nodes are ``members``, in the order of
    ``loop_items.doors``; of what is no loop in the order of its nodes."""
    of = {node.index: node for node in members if node.kind is Kind.ENTER}
    variables = [[of[node.inputs[0][0]]] for node in members if is_loop_merge(node)]
    if not variables:
        return [[node] for node in of.values() if not node.constant]
    captured = dict[Port, list[FlatNode]]()
    for node in members:
        if node.constant:
            captured.setdefault(node.inputs[0], []).append(node)
    return [*variables, *captured.values()]


def own_nodes(members: Sequence[FlatNode]) -> list[FlatNode]:
    """Return those of the nodes of a loop, and of loops in it, that stand in no other."""
    frame = min([node.frame for node in members])
    return [node for node in members if node.frame == frame]


def alone(lowered: Lowered, members: Sequence[FlatNode]) -> Lowered:
    """Return the graph of a loop whose nodes, with those of the loops in it, are ``members``."""
    own, outermost = {node.index: node for node in members}, own_nodes(members)
    nodes = [own.get(k, node if node.kind is Kind.CONST else GONE) for k, node in enumerate(lowered.nodes)]
    free = iter([k for k, node in enumerate(nodes) if node is GONE])  # what is given stands before the loop
    feeds = list[int]()
    for those in enters(outermost):
        place = next(free, len(nodes))
        if place == len(nodes):
            nodes.append(GONE)
        feeds.append(place)
        nodes[place] = FlatNode(place, Kind.FEED, f"given/{place}", (), (), 0, None, None, {}, 1, False, None)
        for node in those:
            nodes[node.index] = replace(node, inputs=((place, 0),))
    exits = [(node.index, 0) for node in outermost if node.kind is Kind.EXIT]
    return replace(lowered, nodes=tuple(nodes), feeds=tuple(feeds), fetches=tuple(exits))


def nanoseconds_of_iterations(lowered: Lowered, steps: Sequence[FlatNode]) -> Iterator[float]:
    """Yield how long an iteration takes, roughly, of each loop that is one of ``steps`` and runs on one thread, or
    whose stages do;    ``lowered``: the graph with a node for each kernel."""
    for step in steps:
        if step.kind is Kind.WHOLE and not step.value.is_native:
            inside = {step.value.frame}
            for info in lowered.frames:  # parents come before children
                if info.parent in inside:
                    inside.add(info.index)
            yield sum([_nanoseconds(node) for node in lowered.nodes if node.frame in inside])


def _nanoseconds(node: FlatNode) -> float:
    """Return how long a node takes; of arrays of unknown extents it may be any time."""
    source = node.source
    if source is None or source.op is not node.op:
        return 0.0
    is_known = all(t.shape.is_fully_defined() for t in (*source.inputs, *source.outputs))
    return nanoseconds(node) if is_known else inf
