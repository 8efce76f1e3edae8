"""Graphs of the user's kind, traced and not optimised, and run as generated Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from api import Graph, TensorShape, compile_graph, set_outputs


def traced(build: Callable[..., Any], *inputs: tuple[str, Any, Any]) -> Graph:
    """The function graph of ``build``, whose parameters are given as ``(name, dtype, shape)``."""
    graph = Graph(ordered=True)
    with graph.as_default():
        parameters = [graph.parameter(dtype, TensorShape(shape), name) for name, dtype, shape in inputs]
        out = build(*parameters)
        set_outputs(graph, list(out) if isinstance(out, (list, tuple)) else [out])
    return graph


def run(graph: Graph, *values: Any) -> list[Any]:
    """The outputs of ``graph``, by generated Python."""
    return compile_graph(graph)(list(values))
