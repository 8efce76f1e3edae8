"""What nodes cost, and which executor that speaks for."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph import Graph, Node


@dataclass(frozen=True)
class Choice:
    """An executor, why, and the node that decided it."""

    executor: str
    reason: str
    node: Node | None = None


def choose(graph: Graph) -> Choice:
    """The executor for ``graph``."""
    return Choice("sequential", "nothing in it is heavy enough to gain from running in parallel")
