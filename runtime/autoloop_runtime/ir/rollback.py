"""Giving up what was added to a graph at its end: a trace that was tried and is to be made in another way."""

from __future__ import annotations

from ..base.dataclass import dataclass
from .graph import Graph
from .node import Node
from .tensor import Tensor


@dataclass(frozen=True)
class Mark:
    """How far a graph had grown."""

    last: Node | None
    inputs: int
    token: Tensor | None
    token_input: Tensor | None


def mark(graph: Graph) -> Mark:
    """Return how far ``graph`` has grown, to come back to with ``rollback``."""
    return Mark(graph.nodes[-1] if graph.nodes else None, len(graph.inputs), graph.token, graph.token_input)


def rollback(graph: Graph, mark: Mark) -> None:
    """Forget what was added to ``graph`` at the end since ``mark``; nothing may use it any more.

    A view that has noted such a tensor as its value reads again, see ``is_at_hand``.

    What a gradient has put before an older node stays, for that node takes it now.
    """
    first = 0 if mark.last is None else graph.nodes.index(mark.last.now) + 1
    removed = set(graph.nodes[first:])
    graph.given_up |= removed
    del graph.nodes[first:], graph.inputs[mark.inputs :]
    graph.token, graph.token_input = mark.token, mark.token_input
    graph.captures = {outer: inner for outer, inner in graph.captures.items() if inner.node not in removed}
    graph.captured_from = {inner: outer for inner, outer in graph.captured_from.items() if inner.node not in removed}
    graph.constants = {concrete: inner for concrete, inner in graph.constants.items() if inner.node not in removed}
