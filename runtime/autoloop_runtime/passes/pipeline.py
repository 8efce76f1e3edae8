"""The passes in their order."""

from __future__ import annotations

from collections.abc import Callable

from ..graph import Graph

Pass = Callable[[Graph], Graph]

#: what ``optimize`` does, first to last
PASSES: tuple[Pass, ...] = ()


def optimize(graph: Graph) -> Graph:
    """``graph`` after all passes; the given graph is not changed."""
    for transform in PASSES:
        graph = transform(graph)
    return graph
