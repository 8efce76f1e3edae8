"""Which nodes do something besides computing: print, fail by intention, read or write what is not in the graph."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.graph import PARAMETER, Graph, Node


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


def effects(graph: Graph) -> Iterator[Node]:
    """Yield the nodes, in ``graph`` and the graphs inside it, that do something which would be noticed twice."""
    pending = [graph]
    while pending:
        for node in pending.pop().nodes:
            if node.op.effect:
                yield node
            pending.extend(node.subgraphs)


def only_computes(node: Node) -> bool:
    """Return whether the plain ``node`` computes its outputs from its inputs, waits for nothing else, and has no
    effect."""
    return not (node.op.effect or node.op.stateful or node.op.graphs or node.control_inputs or node.op is PARAMETER)


def is_pure(node: Node) -> bool:
    """Return whether the node does nothing but compute plain values from its inputs.

    What touches TensorArrays does not count, nor do nodes with promises to check.
    """
    return only_computes(node) and not node.declared and all(t.dtype.kind != "O" for t in (*node.inputs, *node.outputs))
