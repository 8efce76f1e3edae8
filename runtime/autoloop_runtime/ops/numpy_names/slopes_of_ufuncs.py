"""The derivatives of what NumPy's ufuncs reduce and accumulate, where the ufunc has no reduction of its own here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from ...ir.traits import OPAQUE, Memory
from .. import bounds, gathering, logic, powers, reducing, running_sums, selection
from ..creation import arange
from ..operands import as_dtype
from ..shape_queries import dim
from .axes_of_numpy import spread_along
from .library_rows import library


def _signs(x: Tensor, axis: int) -> Tensor:
    """Return 1 for what stands first along an axis, -1 for the rest."""
    counted = arange(dim(x, axis))
    signs = selection.where(logic.equal(counted, 0), x.dtype.type(1), x.dtype.type(-1))
    return spread_along(signs, axis, len(x.shape))


def _shares(x: Tensor, y: Tensor, axes: Any) -> Tensor:
    """Return how much of a result is each element's: equal ones share."""
    hits = as_dtype(logic.equal(x, y), x.dtype)
    return hits / reducing.sum(hits, axes, keepdims=True)


#: ufunc -> slope(x, y, axes) of a reduction ``y``, which has the axes that were reduced
_SLOPES: dict[Any, Callable[..., Any]] = {
    np.subtract: lambda x, y, axes: _signs(x, axes[0]),
    np.divide: lambda x, y, axes: _signs(x, axes[0]) * y / x,
    np.hypot: lambda x, y, axes: x / y,
    np.logaddexp: lambda x, y, axes: powers.exp(x - y),
    np.logaddexp2: lambda x, y, axes: powers.exp2(x - y),
    np.fmax: _shares,
    np.fmin: _shares,
}  # fmt: skip  # written here, at import


def _none_of(method: str, ufunc: Any) -> TypeError:
    return TypeError(
        f"numpy.{ufunc.__name__}.{method} has no derivative here: write it with functions that have one, or give its "
        f"argument stop_gradient(x) [AL405]"
    )


def _reduced_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradient of ``ufunc.reduce(x)``."""
    x, ufunc = inputs[0], attrs["ufunc"]
    if ufunc not in _SLOPES or (x.dtype.kind == "c" and ufunc is not np.subtract):
        raise _none_of("reduce", ufunc)
    rank = len(x.shape)
    axes = tuple(range(rank)) if attrs["axis"] is None else tuple([a % rank for a in attrs["axis"]])
    whole = {**attrs, "axis": axes}
    y, back = reducing.restore(outputs[0], x, whole), reducing.restore(g, x, whole)
    return [as_dtype(as_dtype(back, x.dtype) * _SLOPES[ufunc](x, as_dtype(y, x.dtype), axes), x.dtype)]


def _reduced(x: Any, ufunc: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    return ufunc.reduce(x, axis=axis, dtype=dtype, keepdims=keepdims)


reduce = library("ufunc_reduce", _reduced, "reduced", _reduced_vjp)


def _accumulated_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradient of ``ufunc.accumulate(x)``: of running extremes it is that of the first that is as large."""
    x, ufunc, axis = inputs[0], attrs["ufunc"], attrs["axis"]
    g = as_dtype(g, x.dtype)
    if ufunc is np.subtract:
        return [running_sums.cumsum(g, axis, reverse=True) * _signs(x, axis)]
    if ufunc not in (np.maximum, np.minimum, np.fmax, np.fmin):
        raise _none_of("accumulate", ufunc)
    y = as_dtype(outputs[0], x.dtype)
    places = spread_along(arange(dim(x, axis), dtype=np.dtype(np.int64)), axis, len(x.shape))
    before = gathering.take(y, bounds.maximum(arange(dim(x, axis)) - 1, 0), axis)
    is_new = logic.logical_or(logic.equal(places, 0), logic.not_equal(y, before))
    first = accumulate(selection.where(is_new, places, 0), ufunc=np.maximum, axis=axis, dtype=None)
    return [gathering.put_along(x, first, g, axis)]


accumulate = library(
    "ufunc_accumulate", lambda x, ufunc, axis, dtype: ufunc.accumulate(x, axis, dtype), "same", _accumulated_vjp
)


def _ranges(places: Any, count: int) -> list[slice]:
    """Return what ``reduceat`` takes together."""
    ends = [*places[1:], count]
    return [slice(a, b if a < b else a + 1) for a, b in zip(places, ends)]


def _spread_kernel(x: Any, places: Any, g: Any, axis: int) -> Any:
    made = np.zeros(np.shape(x), g.dtype)
    out, given = np.moveaxis(made, axis, 0), np.moveaxis(np.asarray(g), axis, 0)
    for k, taken in enumerate(_ranges(places.tolist(), len(out))):
        out[taken] += given[k]
    return made


def _spread_vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [None, None, reduceat(g, inputs[1], ufunc=np.add, axis=attrs["axis"], dtype=None)]


_spread = library(
    "ufunc_reduceat_spread", _spread_kernel, lambda x, places, g, axis: x.shape, _spread_vjp,
    dtype=lambda x, places, g, axis: g.dtype, traits=OPAQUE.but(memory=Memory.FRESH),
)  # fmt: skip


def _taken_apart_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradient of ``ufunc.reduceat(x, places)``."""
    x, places = inputs
    if attrs["ufunc"] is not np.add:
        raise _none_of("reduceat", attrs["ufunc"])
    return [as_dtype(_spread(x, places, g, axis=attrs["axis"]), x.dtype), None]


def _same_but(x: Tensor, axis: int, extent: Any) -> Any:
    return [extent if k == axis else d for k, d in enumerate(x.shape.known)]


reduceat = library(
    "ufunc_reduceat", lambda x, places, ufunc, axis, dtype: ufunc.reduceat(x, places, axis, dtype),
    lambda x, places, ufunc, axis, dtype: _same_but(x, axis, places.shape.known[0]), _taken_apart_vjp,
    dtype=lambda x, places, ufunc, axis, dtype: np.asarray(ufunc.reduceat(np.ones(1, x.dtype), [0], 0, dtype)).dtype,
)  # fmt: skip
