"""Reductions over axes, over arrays that are computed later: chunks first, then what they gave."""

from __future__ import annotations

from typing import Any

import numpy as np

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
)
from .chunk_kernels import dask_array, elementwise
from .foreign_rows import Call, computed


@computed(SUM, PROD, when="later")
def _sum(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    add = dask_array().sum if call.op is SUM else dask_array().prod
    return x if axis == () else add(x, axis=axis, keepdims=keepdims, dtype=call.dtypes[0])


@computed(MAX, MIN, when="later")
def _extreme(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    find = dask_array().max if call.op is MAX else dask_array().min
    return x if axis == () else find(x, axis=axis, keepdims=keepdims)


@computed(ANY, ALL, when="later")
def _truth(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    x = x if x.dtype == dtypes.bool_ else elementwise(call, np.bool_, [x], dtypes.bool_)
    find = dask_array().any if call.op is ANY else dask_array().all
    return x if axis == () else find(x, axis=axis, keepdims=keepdims)


@computed(MEAN, when="later")
def _mean(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    own = call.dtypes[0]
    wide = dtypes.float32 if own == dtypes.float16 else own
    made = x if axis == () else dask_array().mean(x, axis=axis, keepdims=keepdims, dtype=wide)
    return made if made.dtype == own else made.astype(own)


@computed(ARGMAX, ARGMIN, when="later")
def _position(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    if axis is not None and (len(axis) not in (1, x.ndim) or len(axis) > x.ndim):
        raise ValueError(f"{call.op.name}: axis must be one integer or None, got {axis} [AL207]")
    find = dask_array().argmax if call.op is ARGMAX else dask_array().argmin
    made = find(x, axis=axis[0] if axis and len(axis) == 1 else None, keepdims=keepdims)
    return made if made.dtype == call.dtypes[0] else made.astype(call.dtypes[0])


def _less(x: Any, top: Any) -> Any:
    """Return numbers less the largest of them, or as they are where that is none."""
    return x - np.where(np.isfinite(top), top, x.dtype.type(0))


def _log_and(total: Any, top: Any) -> Any:
    return np.log(total) + np.where(np.isfinite(top), top, total.dtype.type(0))


@computed(LOGSUMEXP, when="later")
def _logsumexp(call: Call, x: Any, axis: Any, keepdims: bool) -> Any:
    own, da = call.dtypes[0], dask_array()
    axes = tuple(range(x.ndim)) if axis is None else axis
    top = da.max(x, axis=axes, keepdims=True) if axes else x
    powers = elementwise(call, np.exp, [elementwise(call, _less, [x, top], own)], own)
    total = da.sum(powers, axis=axes, keepdims=True, dtype=own) if axes else powers
    out = elementwise(call, _log_and, [total, top], own)
    return out if keepdims or not axes else da.squeeze(out, axis=axes)


@computed(SOFTMAX, when="later")
def _softmax(call: Call, x: Any, axis: int) -> Any:
    own, da = call.dtypes[0], dask_array()
    gap = elementwise(call, np.subtract, [x, da.max(x, axis=axis, keepdims=True)], own)
    e = elementwise(call, np.exp, [gap], own)
    return elementwise(call, np.divide, [e, da.sum(e, axis=axis, keepdims=True, dtype=own)], own)


@computed(LOG_SOFTMAX, when="later")
def _log_softmax(call: Call, x: Any, axis: int) -> Any:
    own, da = call.dtypes[0], dask_array()
    gap = elementwise(call, np.subtract, [x, da.max(x, axis=axis, keepdims=True)], own)
    total = da.sum(elementwise(call, np.exp, [gap], own), axis=axis, keepdims=True, dtype=own)
    return elementwise(call, np.subtract, [gap, elementwise(call, np.log, [total], own)], own)
