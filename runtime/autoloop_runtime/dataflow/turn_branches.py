"""What may fail in a turn of a loop stands under its condition: in the last turn nobody wants it.

The rest is computed whatever the condition is, which takes less than to ask.
"""

from __future__ import annotations

import numpy as np

from ..analysis.failure import can_fail
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.structured import finish_cond
from ..ir.tensor import Tensor


def under_condition(graph: Graph, condition: Tensor) -> Graph:
    """Return a graph that does as ``graph``, of one turn, but where nothing fails if the condition is false; itself if
    nothing can.

    Results that may not be there are zeros then.
    """
    late = _late(graph, condition)
    if not late:
        return graph
    made = Graph(ordered=True)
    of = {tensor: made.parameter(tensor.dtype, tensor.shape) for tensor in graph.inputs}
    for node in graph.nodes:
        if node.op is not PARAMETER and node not in late:
            _copy(node, made, of)
    then, otherwise = Graph("then", made), Graph("else", made)
    inside = dict[Tensor, Tensor]()
    for node in late:
        given = {t: inside[t] if t in inside else then.capture(of[t]) for t in node.inputs}
        _copy(node, then, given)
        inside.update({t: given[t] for t in node.outputs})
    wanted = [t for t in dict.fromkeys(graph.outputs) if t in inside]
    nothing = [otherwise.constant(np.zeros(t.shape.as_tuple(), t.dtype)[()]) for t in wanted]
    results = finish_cond(made, "turn", of[condition], then, [inside[t] for t in wanted], otherwise, nothing)
    of.update(zip(wanted, results))
    made.outputs = [of[t] for t in graph.outputs]
    return made


def _late(graph: Graph, condition: Tensor) -> dict[Node, None]:
    """Return the nodes that can fail, and those that need what they make, in their order; none that the condition
    needs."""
    needed, late = set[Node](), dict[Node, None]()
    todo = [condition.op]
    for node in todo:  # grows as it is walked
        if node not in needed:
            needed.add(node)
            todo += [t.op for t in node.inputs]
    for node in graph.nodes:
        is_late = any(t.op in late for t in node.inputs) or can_fail(node)
        if is_late and node not in needed and node.op is not PARAMETER:
            late[node] = None
    return late


def _copy(node: Node, graph: Graph, of: dict[Tensor, Tensor]) -> None:
    """Add a node to a graph; ``of``: what its inputs are there, and then its outputs."""
    made = Node(
        graph, node.op, tuple([of[t] for t in node.inputs]), node.attrs, [(t.dtype, t.shape) for t in node.outputs],
        node.name, node.location,
    )  # fmt: skip
    graph.nodes.append(made)
    of.update(zip(node.outputs, made.outputs))
