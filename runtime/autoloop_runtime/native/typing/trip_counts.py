"""How often a loop runs that counts up or down to a limit."""

from __future__ import annotations

import numpy as np

from ...ir.graph import Node
from ...ir.tensor import Tensor
from ...ops.elementwise import ADD, SUBTRACT
from ...ops.logic import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, LOGICAL_AND
from .facts import Types

_RISING = (LESS, LESS_EQUAL)
_INCLUSIVE = (LESS_EQUAL, GREATER_EQUAL)
_COMPARE = (*_RISING, GREATER, GREATER_EQUAL)


def most_iterations(node: Node, types: Types) -> float | None:
    """A bound on the trip count of ``while i < n: ...; i += step``, as wide as the counter's type."""
    graph = node.attrs["cond"]
    pending = [graph.outputs[0]]
    while pending:
        test = pending.pop().op
        if test.op is LOGICAL_AND:
            pending.extend(test.inputs)
        elif test.op in _COMPARE:
            found = _counted(node, test, types)
            if found is not None:
                return found
    return None


def trip_count(node: Node, types: Types) -> int | None:
    """How often the body of ``while i < n: ...; i += step`` runs, if that is known now."""
    cond, count = node.attrs["cond"], node.attrs["n_vars"]
    test = cond.outputs[0].op
    if test.op not in _COMPARE or len(test.inputs) != 2:
        return None
    k = next((i for i, t in enumerate(cond.inputs[:count]) if t is test.inputs[0]), None)
    start, limit = None if k is None else types.constants.get(node.inputs[k]), types.constants.get(test.inputs[1])
    if k is None or start is None or limit is None or test.inputs[0].dtype.kind not in "iu":
        return None
    step = _step(node.attrs["body"].outputs[k], node.attrs["body"].inputs[k], types)
    rising = test.op in _RISING
    if step is None or (step > 0) != rising:
        return None
    last = int(limit) + (0 if test.op not in _INCLUSIVE else 1 if rising else -1)
    return len(range(int(start), last, step))


def _counted(node: Node, test: Node, types: Types) -> float | None:
    count, cond, body = node.attrs["n_vars"], node.attrs["cond"], node.attrs["body"]
    rising = test.op in _RISING
    for side, other in (test.inputs, test.inputs[::-1]):
        k = next((i for i, t in enumerate(cond.inputs[:count]) if t is side), None)
        fixed = other in types.constants or any(other is t for t in cond.inputs[count:])
        if k is not None and fixed and side.dtype.kind in "iu":
            step = _step(body.outputs[k], body.inputs[k], types)
            if step is not None and (step > 0) == (rising == (side is test.inputs[0])):
                info = np.iinfo(side.dtype)
                start, limit = types.constants.get(node.inputs[k]), types.constants.get(other)
                first = float(info.min if step > 0 else info.max) if start is None else float(start)
                last = float(info.max if step > 0 else info.min) if limit is None else float(limit)
                return abs(last - first) / abs(step) + 1
    return None


def _step(result: Tensor, variable: Tensor, types: Types) -> int | None:
    """The constant that is added to a variable in every iteration, if that is all that happens to it."""
    node = result.op
    if node.op not in (ADD, SUBTRACT) or types.shapes[result] != ():
        return None
    for side, other in (node.inputs, node.inputs[::-1]):
        if side is variable and other in types.constants and (node.op is ADD or side is node.inputs[0]):
            step = int(types.constants[other])
            return (step if node.op is ADD else -step) or None
    return None
