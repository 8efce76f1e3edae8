"""Which nodes do something besides computing: print, fail by intention, read or write what is not in the graph."""

from __future__ import annotations

from ..ir.graph import Graph, Node


def has_effect(node: Node) -> bool:
    """Return whether running ``node``, with all that is inside it, may be noticed but by its outputs, or depends on
    more than its inputs."""
    return node.op.effect or node.op.stateful or any(map(graph_has_effect, node.subgraphs))


def graph_has_effect(graph: Graph) -> bool:
    """Return whether any node in ``graph``, or in a graph inside it, has an effect."""
    return any(map(has_effect, graph.nodes))


def is_barrier(node: Node) -> bool:
    """Return whether no other node may be moved across ``node``."""
    return node.op.effect or node.op.stateful or bool(node.subgraphs)
