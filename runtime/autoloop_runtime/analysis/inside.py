"""What is in a graph together with the graphs inside it."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.graph import Graph, Node
from ..ir.structured import WHILE


def nodes_inside(*graphs: Graph) -> Iterator[Node]:
    """Yield the nodes of ``graphs`` and of the graphs inside them, each before those inside it."""
    going = [iter(graph.nodes) for graph in reversed(graphs)]
    while going:
        node = next(going[-1], None)
        if node is None:
            going.pop()
        else:
            yield node
            if node.op.graphs:
                going += [iter(sub.nodes) for sub in reversed(node.subgraphs)]


def graphs_inside(*graphs: Graph) -> Iterator[Graph]:
    """Yield ``graphs`` and the graphs inside them, each before those inside it."""
    left = [*reversed(graphs)]
    while left:
        graph = left.pop()
        yield graph
        left += [sub for node in reversed(graph.nodes) if node.op.graphs for sub in reversed(node.subgraphs)]


def loops_inside(*graphs: Graph) -> list[Node]:
    """Return the loops of ``graphs`` and of the graphs inside them, each before those inside it."""
    return [node for node in nodes_inside(*graphs) if node.op is WHILE]


def count_nodes(graph: Graph) -> int:
    """Return the number of nodes of ``graph`` and of the graphs inside it."""
    return sum(1 for _ in nodes_inside(graph))
