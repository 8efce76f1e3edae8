"""Graphs as text and as data, in the form of 1.x: nodes with names, operations, inputs and attributes."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from autoloop_runtime.ir.graph import Graph

from ..viewing.tensorboard_graph import described, serialized


class NodeDef(NamedTuple):
    """A node of a graph, lowered as TensorFlow's are: loops are Enter, Merge, Switch, NextIteration and Exit."""

    name: str
    op: str
    input: list[str]
    device: str
    attr: dict[str, Any]


class GraphDef:
    """The nodes of a graph.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        self.node = [NodeDef(name, op, list(inputs), "", dict(attrs)) for name, op, inputs, attrs in described(graph)]
        self._graph = graph

    def SerializeToString(self) -> bytes:
        """Return the bytes of a ``GraphDef``, which TensorBoard's library writes.

        Raises
        ------
        ImportError
            If it is not installed (of the extra ``viewer``).
        """
        return serialized(self._graph)

    def __str__(self) -> str:
        lines = []
        for node in self.node:
            lines += ["node {", f"  name: {json.dumps(node.name)}", f"  op: {json.dumps(node.op)}"]
            lines += [f"  input: {json.dumps(one)}" for one in node.input]
            for key in sorted(node.attr):
                kind, value = node.attr[key]
                lines += ["  attr {", f"    key: {json.dumps(key)}", f"    value {{ {kind}: {value} }}", "  }"]
            lines.append("}")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"<GraphDef of {len(self.node)} nodes>"


def graph_definition(graph: Graph) -> GraphDef:
    """Return the nodes of a graph."""
    return GraphDef(graph)
