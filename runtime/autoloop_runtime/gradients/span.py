"""What of a graph was built while a tape was recording."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.graph import Graph, Node
from .enclosing import enclosing


class Span:
    """The nodes of ``graph`` from now until ``end``."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._last = graph.nodes[-1] if graph.nodes else None
        self._ended: list[Node] | None = None

    def end(self) -> None:
        """Let what is built from now on not count."""
        self._ended = self._nodes()

    def around(self, current: Graph | None) -> dict[Graph, Sequence[Node]]:
        """Return the graphs that a gradient goes through, the innermost first, and what counts of each.

        ``current`` is the default graph: the one of the span, or one inside it that is being built.
        """
        around = [] if self._ended is not None or current is None else enclosing(current)
        around = around if self._graph in around else enclosing(self._graph)
        nodes = self._nodes() if self._ended is None else self._ended
        # what is inside the graph was all made since, what is around it was all made before
        place = around.index(self._graph)
        return {g: g.nodes if k < place else nodes if k == place else () for k, g in enumerate(around)}

    def _nodes(self) -> list[Node]:
        nodes = self._graph.nodes
        return nodes[nodes.index(self._last.now) + 1 :] if self._last is not None else list(nodes)
