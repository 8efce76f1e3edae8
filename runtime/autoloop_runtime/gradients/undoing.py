"""Taking back what a gradient that did not come to its end has changed in the graph it is of."""

from __future__ import annotations

from typing import Any

from ..ir.graph import Graph, Node

_LISTS = ("nodes", "inputs", "outputs", "_control")
_TABLES = ("captures", "_constants")
_FIELDS = ("token", "token_input", "prefix")


class Undoing:
    """How a graph, and those inside it, are now.

    Structured nodes are extended in place, in several steps. An exception or Ctrl-C between two of them would leave a
    graph that no gradient can be taken of, and so would a fork while another thread is at it.
    """

    def __init__(self, graph: Graph) -> None:
        self._graphs: list[tuple[Graph, dict[str, Any]]] = []
        self._nodes: list[tuple[Node, Any, Any, Any]] = []
        #: tables in the collections, which are changed themselves
        self._tables: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        pending = [graph]
        while pending:
            one = pending.pop()
            self._remember(one)
            pending += [below for node in one.nodes for below in node.subgraphs]

    def _remember(self, graph: Graph) -> None:
        state: dict[str, Any] = {name: list(getattr(graph, name)) for name in _LISTS}
        state.update((name, dict(getattr(graph, name))) for name in _TABLES)
        state.update((name, getattr(graph, name)) for name in _FIELDS)
        state["collections"] = {key: list(values) for key, values in graph.collections.items()}
        self._graphs.append((graph, state))
        self._nodes += [(node, node.attrs, node.inputs, node.outputs) for node in graph.nodes if node.subgraphs]
        parts = [part for values in graph.collections.values() for v in values if isinstance(v, tuple) for part in v]
        self._tables += [(part, dict(part)) for part in parts if isinstance(part, dict)]

    def undo(self) -> None:
        """Make it so again; for once."""
        for graph, state in self._graphs:
            for name, value in state.items():
                setattr(graph, name, value)
        for node, attrs, inputs, outputs in self._nodes:
            node.attrs, node.inputs, node.outputs = attrs, inputs, outputs
        for table, was in self._tables:
            table.clear()
            table.update(was)
