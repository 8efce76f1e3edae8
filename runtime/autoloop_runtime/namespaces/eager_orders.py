"""Sums of all that comes before, and order, by functions of the array API standard."""

from __future__ import annotations

from typing import Any

from ..base.dtypes import int64
from ..ops.running_sums import CUMPROD, CUMSUM, SUM_BETWEEN
from ..ops.sorting import ARGSORT, BINCOUNT, SEARCHSORTED, SORT, UNIQUE
from .eager_elements import cast
from .eager_scatters import with_sums
from .eager_shapes import part
from .foreign_rows import Call, computed


@computed(CUMSUM, needs="cumulative_sum")
def _running_sum(call: Call, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    return _running(call, call.xp.cumulative_sum, x, axis, exclusive, reverse)


@computed(CUMPROD, needs="cumulative_prod")
def _running_product(call: Call, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    return _running(call, call.xp.cumulative_prod, x, axis, exclusive, reverse)


def _running(call: Call, run: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    xp = call.xp
    axis %= len(x.shape)
    if reverse:
        x = xp.flip(x, axis=axis)
    if exclusive and x.shape[axis]:
        first = part(x, axis, slice(0, 1))
        neutral = xp.zeros_like(first) if call.op is CUMSUM else xp.ones_like(first)
        x = xp.concat([neutral, part(x, axis, slice(0, x.shape[axis] - 1))], axis=axis)
    made = run(x, axis=axis, dtype=call.dtype)
    return xp.flip(made, axis=axis) if reverse else made


@computed(SUM_BETWEEN)
def _between(call: Call, a: Any, b: Any, axis: int, reverse: bool) -> Any:
    xp, count = call.xp, b.shape[axis]
    axis %= len(b.shape)
    if not count:
        return b
    order = range(count)[::-1] if reverse else range(count)
    rows: list[Any] = [None] * count
    total = xp.zeros_like(part(b, axis, 0))
    for k in order:
        rows[k] = total
        total = xp.add(xp.multiply(part(a, axis, k), total), part(b, axis, k))
    return xp.stack(rows, axis=axis)


@computed(SORT)
def _sort(call: Call, x: Any, axis: int, descending: bool, kind: Any) -> Any:
    return call.xp.sort(x, axis=axis, descending=descending, stable=True)


@computed(ARGSORT)
def _argsort(call: Call, x: Any, axis: int, descending: bool, kind: Any) -> Any:
    return cast(call, call.xp.argsort(x, axis=axis, descending=descending, stable=True), int64)


@computed(SEARCHSORTED)
def _search(call: Call, a: Any, v: Any, *sorter: Any, side: str) -> Any:
    if sorter:
        a = call.xp.take(a, sorter[0], axis=0)
    found = call.xp.searchsorted(a, call.xp.reshape(v, (-1,)), side=side)
    return cast(call, call.xp.reshape(found, tuple(v.shape)), int64)


@computed(UNIQUE)
def _unique(call: Call, x: Any) -> Any:
    return call.xp.sort(call.xp.unique_values(x))


@computed(BINCOUNT)
def _bincount(call: Call, x: Any, minlength: int) -> Any:
    count = int(call.xp.max(x)) + 1 if x.shape[0] else 0
    if x.shape[0] and int(call.xp.min(x)) < 0:
        raise ValueError("'list' argument must have no negative elements")
    ones = call.xp.ones(x.shape, dtype=call.dtype, **call.namespace.where)
    return with_sums(call, call.zeros((max(count, minlength),)), call.xp.astype(x, call.xp.int64), ones)
