"""Between which numbers lies what the body of a loop makes of the range that it runs through, and whether that is more
than an int of a graph holds.

Python's ints have no end, those of a graph have 64 bits: a loop over a known range that is written out computes with
the first, and is a loop of the graph only where nothing tells the two apart.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ..ir.graph import Node
from ..ir.op import Op
from ..ir.structured import COND
from ..ir.tensor import Tensor
from ..ops.arithmetic import ABS, ADD, DIVIDE, FLOOR_DIVIDE, MOD, MULTIPLY, NEGATIVE, SUBTRACT
from ..ops.bounds import maximum, minimum
from ..ops.define import op_of
from ..ops.exact_numbers import (
    DIVISOR,
    EXACT_ADD,
    EXACT_FLOAT,
    EXACT_MULTIPLY,
    EXACT_POWER,
    EXACT_SHIFT,
    EXACT_SUBTRACT,
    FLOAT_POWER,
    PLACE,
    QUOTIENT_FITS,
    SHIFT_COUNT,
    TRUNCATED,
)
from ..ops.int_bounds import ends_of
from ..ops.operands import CAST
from ..ops.python_math import ASKED_FOR_INTS
from ..ops.selection import WHERE
from .inside import nodes_inside

#: the least and the most that a number is
Span: TypeAlias = "tuple[Any, Any]"
#: what is more than any number of a graph, and still small enough to compute with
_FAR = 1 << 4096
_BOTH: dict[Op, Callable[[Any, Any], Any]] = {
    ADD: operator.add, EXACT_ADD: operator.add, SUBTRACT: operator.sub, EXACT_SUBTRACT: operator.sub,
    MULTIPLY: operator.mul, EXACT_MULTIPLY: operator.mul,
}  # fmt: skip
_EXTREMES: dict[Op, Callable[[Any, Any], Any]] = {op_of(maximum): max, op_of(minimum): min}
_DIVIDED: dict[Op, Callable[[Any, Any], Any]] = {DIVIDE: operator.truediv, FLOOR_DIVIDE: operator.floordiv}
#: what gives its first operand, perhaps as another type
_PASSED_ON = (CAST, DIVISOR, QUOTIENT_FITS, SHIFT_COUNT, EXACT_FLOAT, PLACE)
_INTS = (EXACT_ADD, EXACT_SUBTRACT, EXACT_MULTIPLY, EXACT_POWER, EXACT_SHIFT)


def passes_a_bound(nodes: Iterable[Node], of_any: bool = False) -> bool:
    """Return whether some nodes, or nodes inside them, may raise for what they make of a range that is known, or *of
    any* ints, where Python's own numbers would not."""
    seen: dict[Tensor, Span | None] = {}
    every = [one for node in nodes if node.subgraphs for one in (node, *nodes_inside(*node.subgraphs))]
    return any(_passes(node, seen) or (of_any and _is_unknown(node, seen)) for node in every)


def _passes(node: Node, seen: dict[Tensor, Span | None]) -> bool:
    op = node.op
    if op in _INTS:
        span = _span(node.outputs[0], seen)
        exponent = _span(node.inputs[1], seen) if op is EXACT_POWER else None
        return (span is not None and not _is_within(span, 63)) or (exponent is not None and exponent[0] < 0)
    if op is EXACT_FLOAT or op is TRUNCATED:
        span = _span(node.inputs[0], seen)
        return span is not None and not _is_within(span, 53 if op is EXACT_FLOAT else 63)
    if op is ASKED_FOR_INTS:  # of which nobody knows how large they are: factorials, binomial coefficients
        return all(_span(one, seen) is not None for one in node.inputs)
    if op is FLOAT_POWER:
        base = _span(node.inputs[1], seen)
        return base is not None and base[0] < 0 and not _is_whole(node.inputs[2])
    return False


def _is_unknown(node: Node, seen: dict[Tensor, Span | None]) -> bool:
    """Return whether a node makes an int, in exact arithmetic, of which no bounds are known."""
    return node.op in _INTS and _span(node.outputs[0], seen) is None


def _is_within(span: Span, bits: int) -> bool:
    return bool(-(1 << bits) <= span[0] and span[1] < (1 << bits))


def _is_whole(tensor: Tensor) -> bool:
    """Return whether a float is surely an int, so that a power of it is no complex number."""
    if (known := tensor.constant_value()) is not None:
        return float(known).is_integer()
    made = tensor.source.node
    return made is not None and made.op in (CAST, EXACT_FLOAT) and made.inputs[0].dtype.kind in "biu"


def _span(tensor: Tensor, seen: dict[Tensor, Span | None]) -> Span | None:
    """Return what is known of a number; None if nothing is."""
    tensor = tensor.source
    if tensor not in seen:
        seen[tensor] = None
        seen[tensor] = _made(tensor, seen)
    return seen[tensor]


def _made(tensor: Tensor, seen: dict[Tensor, Span | None]) -> Span | None:
    if tensor.shape.rank != 0 or tensor.dtype.kind not in "biuf":
        return None
    if (known := tensor.constant_value()) is not None:
        number = known.item()
        return (number, number) if number == number else None
    if (ends := ends_of(tensor)) is not None or (node := tensor.node) is None:
        return ends
    op = node.op
    if op is COND:
        return _all([_span(node.attrs[name].outputs[tensor.index], seen) for name in op.graphs])
    if not node.inputs or op.graphs:
        return None
    spans = [_span(one, seen) for one in node.inputs]
    if op is WHERE:
        return _all(spans[1:])
    if spans[0] is None or (op in _PASSED_ON):
        return spans[0]
    if op in (NEGATIVE, ABS):
        ends = operator.neg(spans[0][1]), operator.neg(spans[0][0])
        return ends if op is NEGATIVE else (0, max(spans[0][1], ends[1]))
    if len(spans) == 2 and spans[1] is not None:
        return _of_two(op, spans[0], spans[1])
    return None


def _of_two(op: Op, one: Span, other: Span) -> Span | None:
    if op in _BOTH:
        return _ends(_BOTH[op], one, other)
    if op in _EXTREMES:
        return _EXTREMES[op](one[0], other[0]), _EXTREMES[op](one[1], other[1])
    if op in _DIVIDED and other[0] > 0:
        return _ends(_DIVIDED[op], one, other)
    if op is MOD and other[0] > 0:
        return 0, other[1]
    if op is EXACT_SHIFT and other[0] >= 0:
        return _ends(lambda x, count: x << min(count, 4096), one, other)
    if op is EXACT_POWER:
        largest, exponent = max(abs(one[0]), abs(one[1]), 1), max(other[1], 0)
        is_far = largest > 1 and exponent * largest.bit_length() > 4096
        most = _FAR if is_far else largest**exponent
        return (0 if one[0] >= 0 else -most), most
    return None


def _ends(operation: Callable[[Any, Any], Any], one: Span, other: Span) -> Span | None:
    try:
        corners = [operation(x, y) for x in one for y in other]
    except OverflowError:  # of floats and ints
        return None
    return min(corners), max(corners)


def _all(spans: list[Span | None]) -> Span | None:
    known = [one for one in spans if one is not None]
    return (min(one[0] for one in known), max(one[1] for one in known)) if len(known) == len(spans) else None
