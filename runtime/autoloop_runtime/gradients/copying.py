"""A second copy of a loop's body, to be run and differentiated on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph import Graph, Node
from ..tensor import Tensor


def copied(graph: Graph, outputs: Sequence[Tensor], parent: Graph) -> tuple[Graph, dict[Tensor, Tensor]]:
    """A copy below ``parent`` of what ``outputs`` of a sub-graph need.

    Returns
    -------
    Graph, dict
        The copy, with ``outputs`` but without ``inputs``; and for each tensor its copy. All parameters are copied.
        Constants stay copies of the tensors that they are copies of.
    """
    live = _needed(outputs) | {t.op for t in graph.inputs}
    return _copy(graph, parent, {}, live, outputs)


def _needed(outputs: Sequence[Tensor]) -> set[Node]:
    live: set[Node] = set()
    todo = [t.op for t in outputs]
    while todo:
        node = todo.pop()
        if node not in live:
            live.add(node)
            todo.extend(t.op for t in (*node.inputs, *node.control_inputs))
    return live


def _copy(
    graph: Graph, parent: Graph, around: Mapping[Tensor, Tensor], live: set[Node] | None, outputs: Sequence[Tensor]
) -> tuple[Graph, dict[Tensor, Tensor]]:
    """As ``copied``; ``around`` has the copies of tensors of the graphs around, ``live`` the nodes (all if None)."""
    made = Graph(graph.prefix, parent)
    of: dict[Tensor, Tensor] = {}
    for node in graph.nodes:
        if live is not None and node not in live:
            continue
        attrs = {
            key: _copy_below(value, made, {**around, **of}) if isinstance(value, Graph) else value
            for key, value in node.attrs.items()
        }
        specs = [(t.dtype, t.shape) for t in node.outputs]
        inputs, controls = ([of[t] for t in tensors] for tensors in (node.inputs, node.control_inputs))
        twin = Node(made, node.op, tuple(inputs), attrs, specs, node.name, node.location, tuple(controls))
        twin.declared = dict(node.declared)
        made.nodes.append(twin)
        of.update(zip(node.outputs, twin.outputs))
    made.captures = {around.get(outer, outer): of[inner] for outer, inner in graph.captures.items() if inner in of}
    made._constants = {k: (concrete, of[inner]) for k, (concrete, inner) in graph._constants.items() if inner in of}
    made.outputs = [of[t] for t in outputs]
    return made, of


def _copy_below(graph: Graph, parent: Graph, around: Mapping[Tensor, Tensor]) -> Graph:
    """A copy of a graph inside the one that is copied, whole."""
    made, of = _copy(graph, parent, around, None, graph.outputs)
    made.inputs = [of[t] for t in graph.inputs]
    return made
