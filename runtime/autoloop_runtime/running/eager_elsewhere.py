"""Graphs of public functions of arrays that are computed later, or lie on another device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dataflow.execution_plan import kernel_of
from ..dataflow.flat_graph import FlatNode, Kind, Port
from ..dataflow.lowering import lower
from ..ir.graph import Graph
from ..namespaces import Namespace, in_namespace

_SIMPLE = (Kind.KERNEL, Kind.CONST, Kind.FEED, Kind.IDENTITY)


def walked(graph: Graph, namespace: Namespace, given: Sequence[Any]) -> list[Any] | None:
    """Return what a graph gives, one node after the other: to plan it takes longer than to run it.

    None if it has loops or branches, or does more than compute.

    Raises
    ------
    NamespaceRefusal
        If the library has no function for an op; told at the user's line.
    """
    lowered = in_namespace(lower(graph, graph.outputs, graph.inputs), namespace, range(len(given)))
    if not all(map(_is_simple, lowered.nodes)):
        return None
    values: dict[Port, Any] = {(index, 0): value for index, value in zip(lowered.feeds, given, strict=True)}
    todo = [index for index, _ in lowered.fetches]
    while todo:
        node = lowered.nodes[todo[-1]]
        lacking = [port[0] for port in node.inputs if port not in values]
        if lacking:
            todo += lacking
            continue
        todo.pop()
        if (node.index, 0) not in values:
            made = _made(node, [values[port] for port in node.inputs])
            values.update(((node.index, k), one) for k, one in enumerate(made))
    return [values[port] for port in lowered.fetches]


def _is_simple(node: FlatNode) -> bool:
    return node.kind in _SIMPLE and not (node.op is not None and (node.op.effect or node.op.stateful))


def _made(node: FlatNode, inputs: Sequence[Any]) -> Sequence[Any]:
    if node.kind is Kind.CONST:
        return (node.value,)
    kernel = kernel_of(node)
    if kernel is None:
        return inputs
    made = kernel(*inputs)
    return made if node.op is not None and node.op.several else (made,)
