"""The numbers of a range whose bounds, or a place in which, only the run knows."""

from __future__ import annotations

from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.ir.number_operators import carried
from autoloop_runtime.ir.tracers import kind_of, marked, number_of

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
