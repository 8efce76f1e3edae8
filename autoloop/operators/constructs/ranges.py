"""The numbers of a range whose bounds, or a place in which, only the run knows."""

from __future__ import annotations

import operator
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.ir.number_operators import carried
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import kind_of, marked, number_of

from ...left_to_python import refuse_unknown
from ..staging.raising import Raising, raise_unless


def number_at(start: Any, step: Any, length: Any, index: Any) -> Any:
    """Return the number of a range at a place, which may count from its end."""
    kind = number_of((start, step, length, index))
    place = ops.cast(index, dtypes.int64)
    count = carried(length)
    inside = ops.logical_and(ops.less(place, count), ops.greater_equal(place, ops.negative(count)))
    raise_unless(inside, Raising(IndexError, lambda: IndexError("range object index out of range")))
    place = ops.where(ops.less(place, 0), ops.add(place, count), place)
    return kind(ops.add(carried(start), ops.multiply(carried(step), place)))


def number_of_step(start: Any, step: Any, k: Any) -> Any:
    """Return the number of a range at a place: it is between the bounds, and so has no more bits."""
    product = ops.multiply(carried(k), carried(step))
    return marked(kind_of((start, step, k)), ops.add(carried(start), product))


def in_range(item: Any, start: Any, step: Any, length: Any) -> Any:
    """Return whether a number is one of a range."""
    offset = ops.subtract(item, start)
    index = ops.floor_divide(offset, step)
    inside = ops.logical_and(ops.less_equal(0, index), ops.less(index, length))
    return ops.logical_and(inside, ops.equal(ops.mod(offset, step), 0))


def bounds_of_part(start: Any, step: Any, length: Any, part: slice) -> tuple[Any, Any, Any]:
    """Return the start, stop and step of a part of a range, of which the step is known."""
    if isinstance(part.step, Tensor):
        refuse_unknown("a range is taken in steps that only the run knows", "write range(i, j, k)")
    stride = 1 if part.step is None else operator.index(part.step)
    ends = (0, length) if stride > 0 else (length - 1, -1)
    least, most = ends if stride > 0 else ends[::-1]
    first, last = (
        end if bound is None else _place(bound, length, least, most)
        for end, bound in zip(ends, (part.start, part.stop))
    )
    return start + first * step, start + last * step, step * stride


def _place(bound: Any, length: Any, least: Any, most: Any) -> Any:
    """Return where a part begins or ends, which may be said from the end, and past both ends."""
    kind = number_of((bound, length))
    place, count = ops.cast(bound, dtypes.int64), carried(length)
    behind = ops.maximum(ops.add(place, count), carried(least))
    return kind(ops.where(ops.less(place, 0), behind, ops.minimum(place, carried(most))))
