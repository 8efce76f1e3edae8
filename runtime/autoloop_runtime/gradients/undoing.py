"""Taking back what a gradient that did not come to its end has changed in the graph it is of."""

from __future__ import annotations

from typing import Any

from ..analysis.inside import graphs_inside
from ..ir.graph import Graph, Node

_LISTS = ("nodes", "inputs", "outputs", "control")
_TABLES = ("captures", "constants")
_FIELDS = ("token", "token_input", "prefix", "location", "otherwise")


class Undoing:
    """How a graph, and those inside it, are now.

    Structured nodes are extended in several steps. An exception or Ctrl-C between two of them would leave a graph that
    no gradient can be taken of, and so would a fork while another thread is at it.
    """

    def __init__(self, graph: Graph) -> None:
        self._graphs: list[tuple[Graph, dict[str, Any]]] = []
        #: those that others may have been made instead of
        self._nodes: list[Node] = []
        for one in graphs_inside(graph):
            self._remember(one)

    def _remember(self, graph: Graph) -> None:
        state: dict[str, Any] = {name: list(getattr(graph, name)) for name in _LISTS}
        state.update((name, dict(getattr(graph, name))) for name in _TABLES)
        state.update((name, getattr(graph, name)) for name in _FIELDS)
        state["records"] = {kind: record.copy() for kind, record in graph.records.items()}
        self._graphs.append((graph, state))
        self._nodes += [node for node in graph.nodes if node.subgraphs]

    def undo(self) -> None:
        """Make it so again; for once."""
        for graph, state in self._graphs:
            for name, value in state.items():
                setattr(graph, name, value)
        for node in self._nodes:
            node.reclaim()
