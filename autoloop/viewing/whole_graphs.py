"""What a graph that is looked at as a whole is given, and what it gives: one of the 1.x API says neither."""

from __future__ import annotations

from autoloop_runtime.ir.graph import PARAMETER, Graph
from autoloop_runtime.ir.tensor import Tensor


def feeds_of(graph: Graph) -> list[Tensor]:
    """Return its inputs; its placeholders where it has none."""
    return list(graph.inputs) or [tensor for node in graph.nodes if node.op is PARAMETER for tensor in node.outputs]


def fetches_of(graph: Graph) -> list[Tensor]:
    """Return its outputs; where it has none, whatever no node uses."""
    if graph.outputs:
        return list(graph.outputs)
    used = {id(tensor) for node in graph.nodes for tensor in node.inputs} | set(map(id, feeds_of(graph)))
    return [tensor for node in graph.nodes for tensor in node.outputs if id(tensor) not in used]
