"""Graphs of the user's kind, traced and not optimised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from api import Graph, TensorShape, set_outputs


def traced(build: Callable[..., Any], *inputs: tuple[str, Any, Any]) -> Graph:
    """The function graph of ``build``, whose parameters are given as ``(name, dtype, shape)``."""
    graph = Graph(ordered=True)
    with graph.as_default():
        parameters = [graph.parameter(dtype, TensorShape(shape), name) for name, dtype, shape in inputs]
        out = build(*parameters)
        set_outputs(graph, list(out) if isinstance(out, (list, tuple)) else [out])
    return graph
