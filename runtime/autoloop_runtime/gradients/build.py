"""Gradients of tensors of one graph, built into that graph."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Graph, Node
from ..structured import COND, WHILE
from ..tensor import Tensor
from . import branches, loops
from .reach import Key, Marks, reached
from .walk import STRUCTURED, Adjoints, Walk

# the walk descends into loops and branches, whose rules walk in turn
STRUCTURED.update({WHILE: loops.backward, COND: branches.backward})


def build(
    graph: Graph, ys: Sequence[Tensor], seeds: Sequence[Tensor], xs: Sequence[Key],
    stops: frozenset[Tensor] = frozenset(), nodes: Sequence[Node] | None = None,
) -> list[Tensor | None]:  # fmt: skip
    """The gradients of ``ys`` with regard to ``xs``.

    Parameters
    ----------
    graph : Graph
        The graph of ``ys``; the current default graph is this one or its backward counterpart.
    ys : sequence of Tensor
    seeds : sequence of Tensor
        The gradient of each of ``ys``.
    xs : sequence of Tensor or Variable
        Tensors of ``graph``, concrete tensors that became constants of it, or variables read in it.
    stops : frozenset of Tensor
        Tensors that count as constants.
    nodes : sequence of Node, optional
        The nodes to go through, by default all.

    Returns
    -------
    list of Tensor or None
        ``None`` where no differentiable path leads from ``ys`` to an element of ``xs``.
    """
    marks = Marks(graph, xs)
    tensors = [x for x in xs if isinstance(x, Tensor) and x.graph is graph]
    path = graph.nodes if nodes is None else nodes
    found = reached(path, tensors, marks, stops)
    walk = Walk(graph, found, marks, Adjoints())
    for y, seed in zip(ys, seeds):
        walk.add(y, seed)
    walk.run(path, stops)
    return [walk.adjoints.total(x) for x in xs]
