"""From the structured graph to the flat dataflow graph that the scheduler runs.

``while_loop`` and ``cond`` leave one node with sub-graphs; here they become Enter, Merge, LoopCond, Switch,
NextIteration and Exit around the nodes of those sub-graphs, and only what the fetches need.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.needed import Needed
from ..ir.graph import Graph
from ..ir.tensor import Tensor
from .flat_graph import FlatNode, FrameInfo, Kind, Lowered, Port
from .lower import Emitter

__all__ = ["FlatNode", "FrameInfo", "Kind", "Lowered", "Port", "lower"]


def lower(
    graph: Graph, fetches: Sequence[Tensor], feeds: Sequence[Tensor] = (), *, keep_variables: bool = False
) -> Lowered:
    """Return the flat graph that computes ``fetches``.

    Parameters
    ----------
    graph : Graph
        The graph that the fetches belong to.
    fetches : sequence of Tensor
        What to compute; a concrete tensor is its own value.
    feeds : sequence of Tensor
        Tensors whose values the caller supplies; what only they would have needed is not computed.
    keep_variables : bool
        Keep the Merge, Switch, NextIteration and Exit of loop variables that never change. The result is the
        same, the picture is the one in the books, and every iteration moves one token more.

    Raises
    ------
    ValueError
        If a placeholder is needed and not fed, or a tensor belongs to another graph.
    """
    for tensor in (*fetches, *feeds):
        if tensor.node is not None and tensor.node.graph is not graph:
            raise ValueError(f"tensor {tensor.name!r} does not belong to this graph and cannot be fetched or fed")
    return Emitter(Needed(fetches, feeds), feeds, keep_variables).run(graph, fetches)
