"""Reductions over axes, by functions of the array API standard."""

from __future__ import annotations

import math
from typing import Any

from ..base import dtypes
from ..ops.reducing import SUM
from ..ops.reductions import (
    ALL,
    ANY,
    ARGMAX,
    ARGMIN,
    LOG_SOFTMAX,
    LOGSUMEXP,
    MAX,
    MEAN,
    MIN,
    PROD,
    SOFTMAX,
)  # fmt: skip
from .eager_elements import cast
from .eager_shapes import shape_of
from .foreign_rows import Call, computed


@computed(SUM, PROD)
def _sum(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    add = call.xp.sum if call.op is SUM else call.xp.prod
    return add(x, axis=axis, keepdims=keepdims, dtype=call.dtype)


@computed(MAX, MIN)
def _extreme(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    if axis == ():
        return x
    if call.dtypes[0].kind == "b":
        return (call.xp.any if call.op is MAX else call.xp.all)(x, axis=axis, keepdims=keepdims)
    if call.dtypes[0].kind == "c":
        raise call.refused("of complex numbers, which the array API standard does not order")
    return (call.xp.max if call.op is MAX else call.xp.min)(x, axis=axis, keepdims=keepdims)


@computed(ANY, ALL)
def _truth(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    x = cast(call, x, dtypes.bool_)
    if axis == ():
        return x
    return (call.xp.any if call.op is ANY else call.xp.all)(x, axis=axis, keepdims=keepdims)


@computed(MEAN)
def _mean(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    own = call.dtypes[0]
    wide = dtypes.float32 if own == dtypes.float16 else own
    shape = shape_of(call, x)
    count = math.prod(shape) if axis is None else math.prod([shape[a] for a in axis])
    total = call.xp.sum(cast(call, x, wide), axis=axis, keepdims=keepdims, dtype=call.namespace.dtype(wide))
    return cast(call, call.xp.divide(total, call.made(count, wide)), own)


@computed(ARGMAX, ARGMIN)
def _position(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    rank = len(x.shape)
    if axis is not None and (len(axis) not in (1, rank) or len(axis) > rank):
        raise ValueError(f"{call.op.name}: axis must be one integer or None, got {axis} [AL207]")
    if call.kind(x) == "b":
        x = call.xp.astype(x, call.xp.uint8)
    if call.kind(x) == "c":
        raise call.refused("of complex numbers, which the array API standard does not order")
    find = call.xp.argmax if call.op is ARGMAX else call.xp.argmin
    made = find(x, axis=axis[0] if axis and len(axis) == 1 else None, keepdims=keepdims)
    return cast(call, made, call.dtypes[0])


def shifted(call: Call, x: Any, axis: Any) -> tuple[Any, Any]:
    """Return numbers less the largest of them along axes, and that."""
    top = call.xp.max(x, axis=axis, keepdims=True)
    top = call.xp.where(call.xp.isfinite(top), top, call.made(0))
    return call.xp.subtract(x, top), top


@computed(LOGSUMEXP)
def _logsumexp(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    xp, axes = call.xp, tuple(range(len(x.shape))) if axis is None else axis
    gap, top = shifted(call, x, axes)
    out = xp.add(xp.log(xp.sum(xp.exp(gap), axis=axes, keepdims=True)), top)
    return out if keepdims or not axes else xp.squeeze(out, axis=axes)


@computed(SOFTMAX)
def _softmax(call: Call, x: Any, axis: int) -> Any:
    xp = call.xp
    e = xp.exp(xp.subtract(x, xp.max(x, axis=axis, keepdims=True))) if x.shape[axis] else x
    return xp.divide(e, xp.sum(e, axis=axis, keepdims=True))


@computed(LOG_SOFTMAX)
def _log_softmax(call: Call, x: Any, axis: int) -> Any:
    xp = call.xp
    gap = xp.subtract(x, xp.max(x, axis=axis, keepdims=True)) if x.shape[axis] else x
    return xp.subtract(gap, xp.log(xp.sum(xp.exp(gap), axis=axis, keepdims=True)))
