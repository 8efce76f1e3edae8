"""Between which values an integer is, as the loops around tell: ``for i in range(3, n)`` has ``i`` from 3 to ``n - 1``.

Only what holds in the dtype is said: where a sum or a product might go past its ends, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from ...analysis.induction import Induction, inductions
from ...analysis.uses import place_of
from ...ir.graph import Node
from ...ir.tensor import Tensor
from ...ops.arithmetic import ADD, FLOOR_DIVIDE, MOD, MULTIPLY, SUBTRACT
from ...ops.bounds import MINIMUM
from ...ops.operands import CAST
from .facts import Types

#: the least and the greatest value
Interval: TypeAlias = tuple[int, int]

#: sums of this dtype are told apart by what is added: where one wraps round, no index that it would be is one
COUNTED = np.dtype(np.int64)
#: an integer as a tensor (none: it is known) and what is added to it
Sum: TypeAlias = tuple[Tensor | None, int]

#: numbers beyond which the ends of a loop are not computed with
FAR = 1 << 60

#: how deep sums are looked into
_DEPTH = 8


def interval(tensor: Tensor, types: Types, loops: Sequence[Node], depth: int = _DEPTH) -> Interval | None:
    """Return between which values ``tensor`` is in the bodies of ``loops``, as far as that is known."""
    known = types.constants.get(tensor)
    if known is None:
        tensor = outermost(tensor, types)
        known = types.constants.get(tensor)
    if tensor.dtype.kind not in "iu" or not types.is_scalar(tensor) or depth == 0:
        return None
    if known is not None:
        return int(known), int(known)
    for loop in loops:
        found = _variable(loop, tensor)
        if found is not None:
            return _counted(*found, types, loops, depth - 1)
    node = tensor.node
    return None if node is None else _computed(node, types, loops, depth - 1)


def _counted(loop: Node, k: int, types: Types, loops: Sequence[Node], depth: int) -> Interval | None:
    """Return between which values variable ``k`` of ``loop`` is where its body runs."""
    for found in inductions(loop, types):
        if found.variable == k and found.ends:
            start, limit = ends_of(found, loop, types, loops, depth)
            if start is None or limit is None:
                continue
            if found.trips and found.start is not None:
                last = found.start + (found.trips - 1) * found.step
                return min(found.start, last), max(found.start, last)
            strict = not found.comparison.endswith("=") or found.comparison == "!="
            return (start[0], limit[1] - strict) if found.step > 0 else (limit[0] + strict, start[1])
    return None


def ends_of(
    found: Induction, loop: Node, types: Types, loops: Sequence[Node], depth: int = _DEPTH
) -> tuple[Interval | None, Interval | None]:  # fmt: skip
    """Return between which values the first value of an induction variable of ``loop`` is, and its limit."""
    start = interval(loop.inputs[found.variable], types, loops, depth)
    if found.limit is not None:
        return start, (found.limit, found.limit)
    return start, None if found.bound is None else interval(loop.inputs[found.bound], types, loops, depth)


def most_rounds(test: Induction, loop: Node, types: Types, around: Sequence[Node]) -> int:
    """Return how often ``test`` holds at most in ``loop``, in the bodies of the loops ``around``; more than ``FAR``
    unless all numbers that tell are known to be near."""
    if not test.ends:
        return 2 * FAR
    if test.bound is not None and test.step > 0:
        limits = outermost(loop.inputs[test.bound], types)
        begin, added = sum_of(loop.inputs[test.variable], types)
        for one in limits.op.inputs if limits.op.op is MINIMUM else (limits,):
            base, end = sum_of(one, types)
            if base is begin and base is not None:
                return max(0, end - added) // test.step + 1
    start, limit = ends_of(test, loop, types, around)
    if test.comparison == "!=" or start is None or limit is None or max(map(abs, (*start, *limit))) > FAR:
        return 2 * FAR
    span = limit[1] - start[0] if test.step > 0 else start[1] - limit[0]
    return max(0, span // abs(test.step) + 1)


def _computed(node: Node, types: Types, loops: Sequence[Node], depth: int) -> Interval | None:
    if node.op is CAST:
        made = interval(node.inputs[0], types, loops, depth)
    elif node.op in (MOD, FLOOR_DIVIDE):
        left, right = (interval(t, types, loops, depth) for t in node.inputs)
        if right is None or right[0] != right[1] or right[0] <= 0:
            return None
        if node.op is MOD:
            return 0, right[0] - 1
        made = None if left is None else (left[0] // right[0], left[1] // right[0])
    elif node.op is MINIMUM:
        left, right = (interval(t, types, loops, depth) for t in node.inputs)
        made = None if left is None or right is None else (min(left[0], right[0]), min(left[1], right[1]))
    elif node.op in (ADD, SUBTRACT, MULTIPLY):
        left, right = (interval(t, types, loops, depth) for t in node.inputs)
        if left is None or right is None:
            return None
        made = _combined(node, left, right)
        if node.op is ADD:
            made = made[0], min([made[1], *_limits(node, types, loops, depth)])
    else:
        return None
    info = np.iinfo(node.outputs[0].dtype)
    return made if made is not None and info.min <= made[0] and made[1] <= info.max else None


def _limits(node: Node, types: Types, loops: Sequence[Node], depth: int) -> Iterator[int]:
    """Yield what a sum is at most because it is of what a loop counts up to ``n - start``, and ``start``."""
    for counter, start in (node.inputs, node.inputs[::-1]):
        found = next(
            (place for loop in loops if (place := _variable(loop, outermost(counter, types))) is not None), None
        )
        if found is None:
            continue
        loop, k = found
        for test in inductions(loop, types):
            if test.variable != k or test.comparison != "<" or not test.ends or test.bound is None:
                continue
            span = outermost(loop.inputs[test.bound], types)
            if span.node is None or span.node.op is not SUBTRACT or interval(span, types, loops, depth) is None:
                continue
            whole, taken = span.node.inputs
            most = interval(whole, types, loops, depth)
            if most is not None and outermost(taken, types) is outermost(start, types):
                yield most[1] - 1


def outermost(tensor: Tensor, types: Types) -> Tensor:
    """Return what a captured tensor is where it was made."""
    while tensor in types.outside:
        tensor = types.outside[tensor]
    return tensor


def sum_of(tensor: Tensor, types: Types) -> Sum:
    """Return what ``tensor`` is, where that was made, and which constant is added to it."""
    added = 0
    while True:
        tensor = outermost(tensor, types)
        if tensor in types.constants:
            return None, int(types.constants[tensor]) + added
        made = tensor.op
        if made.op not in (ADD, SUBTRACT) or tensor.dtype != COUNTED:
            return tensor, added
        left, right = made.inputs
        if made.op is ADD and left in types.constants:
            left, right = right, left
        if right not in types.constants:
            return tensor, added
        added += int(types.constants[right]) * (1 if made.op is ADD else -1)
        tensor = left


def _variable(loop: Node, tensor: Tensor) -> tuple[Node, int] | None:
    """Return ``loop`` and which of its variables ``tensor`` is in its body, if it is one."""
    k = place_of(loop.attrs["body"].inputs[: loop.attrs["n_vars"]], tensor)
    return None if k is None else (loop, k)


def _combined(node: Node, left: Interval, right: Interval) -> Interval:
    if node.op is ADD:
        return left[0] + right[0], left[1] + right[1]
    if node.op is SUBTRACT:
        return left[0] - right[1], left[1] - right[0]
    products = [a * b for a in left for b in right]
    return min(products), max(products)
