"""What is in a graph together with the graphs inside it."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.locations import Line, users_line
from ..ir.graph import Graph, Node, current_graph
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


def first_line(*graphs: Graph) -> Line | None:
    """Return the user's line of the first loop of ``graphs``, or of the first result where there is none."""
    nodes = loops_inside(*graphs) or [t.op for graph in graphs for t in graph.outputs]
    return users_line(nodes[0].location) if nodes else None


def count_nodes(graph: Graph) -> int:
    """Return the number of nodes of ``graph`` and of the graphs inside it."""
    return sum(1 for _ in nodes_inside(graph))


class Made:
    """The nodes that are added to the present graph from now on."""

    def __init__(self) -> None:
        self._graph = current_graph()
        self._count = 0 if self._graph is None else len(self._graph.nodes)

    def may_raise(self) -> bool:
        """Return whether one of them is a ``raise`` or an ``assert``."""
        return any(node.op.ends_run for node in self.nodes())

    def nodes(self) -> Iterator[Node]:
        """Yield them, with those in the graphs inside them."""
        if self._graph is not None and current_graph() is self._graph:
            for node in self._graph.nodes[self._count :]:
                yield node
                yield from nodes_inside(*node.subgraphs)
