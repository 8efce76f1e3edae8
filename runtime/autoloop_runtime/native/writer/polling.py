"""How long an iteration takes, roughly: so that a loop asks now and then whether the user wants to stop it.

Asking costs a microsecond or so and needs the interpreter's lock, so it is done about twenty times a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ...analysis.cost import expected_trips
from ...analysis.induction import inductions, most_trips
from ...base.forks import undivided
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
#: a loop of more iterations than this may be one of fewer, as those around it tell
_MANY = 1 << 32
#: how many times as long as expected a loop may take that is taken to do so
_MORE = 20


def polling_period(node: Node, types: Types, around: Sequence[Node]) -> int | None:
    """Return after how many iterations a loop, in the bodies of the loops ``around``, asks; ``None``: it ends soon by
    itself."""
    body, cond = node.attrs["body"], node.attrs["cond"]
    if _longest(node, types, around) < _SHORT:
        return None
    cost = sum(_cost(graph, types, [*around, node]) for graph in (body, cond))
    return max(1, min(1 << 30, int(INTERVAL / cost)))


def _longest(node: Node, types: Types, around: Sequence[Node]) -> float:
    """Return nanoseconds that a loop takes at most, infinitely many if that is not known."""
    trips = most_trips(node, types)
    if trips is None or trips > _MANY:
        trips = _counted(node, types, around)
    if trips is None:
        return inf
    inside = [*around, node]
    return trips * sum(_longest_of(graph, types, inside) for graph in node.subgraphs)


def _counted(node: Node, types: Types, around: Sequence[Node]) -> int | None:
    """Return how often the body of a loop runs at most, as the loops ``around`` tell."""
    tests = tuple(inductions(node, types))
    if not tests:
        return None
    with undivided():
        from ..typing.intervals import FAR, most_rounds
    trips = min(most_rounds(test, node, types, around) for test in tests)
    return trips if trips <= FAR else None


def _longest_of(graph: Graph, types: Types, around: Sequence[Node]) -> float:
    total = 0.1
    for node in graph.nodes:
        if node.op is CONST or node.op is PARAMETER:
            continue
        if node.op is WHILE:
            total += _longest(node, types, around)
        elif node.op is COND:
            total += max(_longest_of(g, types, around) for g in node.subgraphs)
        else:
            total += _node_cost(node, types)
            if node.subgraphs:
                total += sum(_longest_of(g, types, around) for g in node.subgraphs)
    return total


def _cost(graph: Graph, types: Types, around: Sequence[Node]) -> float:
    """Return nanoseconds for one run of ``graph``, of loops in it that do not ask themselves rather too many."""
    total = 0.1
    for node in graph.nodes:
        if node.op is CONST or node.op is PARAMETER:
            continue
        if node.op is WHILE:
            inner = sum(_cost(sub, types, [*around, node]) for sub in node.subgraphs)
            expected, longest = expected_trips(node, types) * inner, _longest(node, types, around)
            total += max(expected, min(longest, _MORE * expected)) if longest < _SHORT else expected
        elif node.op is COND:
            total += max(_cost(g, types, around) for g in node.subgraphs)
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
