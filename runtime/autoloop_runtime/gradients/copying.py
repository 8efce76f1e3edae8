"""A second copy of a loop's body, to be run and differentiated on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.graph import PARAMETER, Graph, Node, current_graph
from ..ir.tensor import Tensor

_SOURCE = "gradient: copied from"  # [(the graph, tensor of it -> its copy)]


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


def twin(copy: Graph, tensor: Tensor) -> Tensor | None:
    """What stands in ``copy`` for ``tensor``, if that is of the graph that it is a copy of, or that one's original.

    The gradient function of a ``custom_gradient`` keeps tensors of the graph it was made in, also such as nothing else
    needs; those are copied now.
    """
    known = copy.collections.get(_SOURCE)
    if not known:
        return None
    source: Graph
    of: dict[Tensor, Tensor]
    source, of = known[0]
    original = tensor if tensor.graph is source else twin(source, tensor)
    if original is None:
        return None
    missing = _needed([original]) - {t.op for t in of}
    copy.nodes += [_twin_node(node, copy, {}, of) for node in source.nodes if node in missing]
    return of[original]


def inlined(graph: Graph, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The outputs of ``graph`` for ``inputs``, computed by copies of its nodes in the current graph."""
    into = current_graph()
    assert into is not None
    of = dict(zip(graph.inputs, [into.capture(t) for t in inputs]))
    for node in graph.nodes:
        if node.op is not PARAMETER:
            into.nodes.append(_twin_node(node, into, {}, of))
    return [of[t] for t in graph.outputs]


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
    made.collections[_SOURCE] = [(graph, of)]
    for node in graph.nodes:
        if live is None or node in live:
            made.nodes.append(_twin_node(node, made, around, of))
    made.captures = {around.get(outer, outer): of[inner] for outer, inner in graph.captures.items() if inner in of}
    made._constants = {k: (concrete, of[inner]) for k, (concrete, inner) in graph._constants.items() if inner in of}
    made.outputs = [of[t] for t in outputs]
    return made, of


def _twin_node(node: Node, made: Graph, around: Mapping[Tensor, Tensor], of: dict[Tensor, Tensor]) -> Node:
    """A copy of ``node`` for the graph ``made``, noted in ``of``."""
    attrs = {
        key: _copy_below(value, made, {**around, **of}) if isinstance(value, Graph) else value
        for key, value in node.attrs.items()
    }
    specs = [(t.dtype, t.shape) for t in node.outputs]
    inputs, controls = ([of[t] for t in tensors] for tensors in (node.inputs, node.control_inputs))
    copy = Node(made, node.op, tuple(inputs), attrs, specs, node.name, node.location, tuple(controls))
    copy.declared = dict(node.declared)
    of.update(zip(node.outputs, copy.outputs))
    return copy


def _copy_below(graph: Graph, parent: Graph, around: Mapping[Tensor, Tensor]) -> Graph:
    """A copy of a graph inside the one that is copied, whole."""
    made, of = _copy(graph, parent, around, None, graph.outputs)
    made.inputs = [of[t] for t in graph.inputs]
    return made
