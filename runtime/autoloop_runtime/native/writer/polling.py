"""How long an iteration takes, roughly: so that a loop asks now and then whether the user wants to stop it.

Asking costs a microsecond or so and needs the interpreter's lock, so it is done about twenty times a second.
"""

from __future__ import annotations

from ...analysis.cost import expected_trips
from ...analysis.induction import most_trips, trip_count
from ...ir.graph import CONST, PARAMETER, Graph, Node
from ...ir.structured import COND, WHILE
from ..ir.elements import TYPES
from ..typing.facts import Types
from .elementwise_ir import cost_of, template_of
from .registry import called_entry, entry_of
from .values import size_of

#: nanoseconds between two questions
INTERVAL = 5e7
#: nanoseconds per element of an array, per scalar operation, per multiplication of a matrix product (of integers)
_ELEMENT, _SCALAR, _PRODUCT, _INTEGERS = 0.3, 0.25, 0.02, 0.3
#: a loop that cannot take longer than this many nanoseconds is never stopped
_SHORT = 1e9


def polling_period(node: Node, types: Types) -> int | None:
    """Return after how many iterations a loop asks; ``None``: it ends soon by itself."""
    body, cond = node.attrs["body"], node.attrs["cond"]
    cost = graph_cost(body, types) + graph_cost(cond, types)
    most = most_trips(node, types)
    if most is not None and most * cost < _SHORT and not _has_long_loop(body, types):
        return None
    return max(1, min(1 << 30, int(INTERVAL / cost)))


def graph_cost(graph: Graph, types: Types) -> float:
    """Return nanoseconds for one run of ``graph``."""
    total = 0.1
    for node in graph.nodes:
        if node.op is CONST or node.op is PARAMETER:
            continue
        if node.op is WHILE:
            inner = graph_cost(node.attrs["body"], types) + graph_cost(node.attrs["cond"], types)
            total += expected_trips(node, types) * inner
        elif node.op is COND:
            total += max(graph_cost(g, types) for g in node.subgraphs)
        else:
            total += _node_cost(node, types)
    return total


def _node_cost(node: Node, types: Types) -> float:
    sizes = [size_of(types.shapes[t]) for t in (*node.inputs, *node.outputs) if t in types.shapes]
    entry = entry_of(node.op) or called_entry()
    if entry is not None and entry.time is not None and all(t in types.shapes for t in node.inputs):
        rate = _PRODUCT if node.outputs[0].dtype.kind == "f" else _INTEGERS
        shapes = [types.shapes[t] for t in (*node.inputs, node.outputs[0])]
        return max(_SCALAR, entry.time(node, shapes, rate))
    largest = max(sizes, default=1)
    if entry is not None and entry.partly and node.outputs[0] in types.shapes:
        largest = min(sizes)
    slow = _slow(node)
    return max(_SCALAR, 20 * slow) if largest == 1 else max(_ELEMENT, slow) * largest


def _slow(node: Node) -> float:
    """Return nanoseconds for one of many elements; a scalar takes some twenty times as long."""
    t = TYPES.get(node.inputs[0].dtype) if node.inputs else None
    return 0.0 if t is None or not template_of(node.op, t.kind) else cost_of(node.op, t)


def _has_long_loop(graph: Graph, types: Types) -> bool:
    """Return whether there is a loop in it of which is not known how often it runs."""
    return any(
        (n.op is WHILE and trip_count(n, types) is None) or any(_has_long_loop(g, types) for g in n.subgraphs)
        for n in graph.nodes
    )
