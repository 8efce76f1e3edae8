"""Medians, quantiles and percentiles by NumPy's methods, with weights and without nan; elements partly in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import dtypes
from ...ir.apply import apply
from ...ir.convert import has_tensor
from ...ir.op import Taking
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import (
    array,
    bounds,
    broadcasting,
    gathering,
    joining,
    logic,
    operands,
    reducing,
    reductions,
    rounding,
    selection,
    shape_queries,
    sorting,
)
from ..direct_calls import axis_as_given, written
from ..gathering import PUT_ALONG
from ..operands import as_dtype, is_tensor
from ..reducing import reduced
from ..shape_queries import dim
from .axes_of_numpy import apart, axes_in, axis_in, flat_or_along, together, without_ones
from .counterparts import NO_VALUE, as_operand, counterpart, known, unsupported
from .library_rows import Library, library
from .numpy_reductions import kept

#: the two numbers of the continuous methods by Hyndman and Fan
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0), "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip


def _between(method: str, n: Any, q: Tensor) -> tuple[Tensor, Any, Any]:
    """Return the place in order before a quantile, how far it is on the way to the next, and the slope of that."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        place = (n - 1) * q if method == "linear" else n * q + (alpha + q * (1 - alpha - beta)) - 1
        before = rounding.floor(place)
        return before, place - before, n + 1 - alpha - beta
    if method in ("lower", "higher"):
        place = (n - 1) * q
        return (rounding.floor if method == "lower" else rounding.ceil)(place), 0.0, 0.0
    if method in ("midpoint", "nearest"):
        place = (n - 1) * q
        before = rounding.floor(place)
        rest = place - before
        if method == "midpoint":
            return before, selection.where(rest > 0, 0.5, 0.0), 0.0
        even = (rest == 0.5) & (place % 2 < 1)
        return before, selection.where((rest < 0.5) | even, 0.0, 1.0), 0.0
    place = n * q - (1.5 if method == "closest_observation" else 1.0)
    before = rounding.floor(place)
    exact = place == before
    if method == "averaged_inverted_cdf":
        return before, selection.where(exact, 0.5, 1.0), 0.0
    if method == "closest_observation":
        exact = exact & (before % 2 == 1)
    return selection.where(exact, before, before + 1), 0.0, 0.0


def _added(x: Tensor, places: Tensor, g: Any) -> Any:
    """Return zeros like ``x`` with ``g`` added at places along the last axis."""
    g = broadcasting.broadcast_to(g, shape_queries.shape(places)) if g.shape != places.shape else g
    return apply(PUT_ALONG, [shape_queries.shape(x), places, g], {"axis": len(x.shape) - 1, "static": x.shape})


def _picked(order: Tensor, places: Tensor, varies: bool) -> Any:
    places = operands.cast(places, dtypes.int64)
    return (
        gathering.take_along_axis(order, places, -1)
        if varies
        else gathering.gather(order, places, len(order.shape) - 1)
    )


def _quantile_vjp(g: Tensor, x: Tensor, q: Tensor, method: str, axes: Any, keepdims: bool, nan: bool) -> Any:
    """Return the gradients of the elements and of the quantiles, ``q`` of them at a time; see ``_between``."""
    front = len(q.shape)
    rows = together(x, axes)
    g = array.reshape(without_ones(g, [a + front for a in axes], keepdims), [-1, *_extents(rows)[:-1]])
    g = array.moveaxis(g, 0, -1)
    n: Any = dim(rows, len(rows.shape) - 1)
    n = n if isinstance(n, int) else operands.cast(n, dtypes.float64)
    if nan:
        n = reducing.sum(operands.cast(~logic.isnan(rows), dtypes.float64), -1, keepdims=True)
    before, way, slope = _between(method, n, array.reshape(as_dtype(q, dtypes.float64), [-1]))
    low = bounds.maximum(bounds.minimum(before, n - 1.0), 0.0)
    high = bounds.maximum(bounds.minimum(before + 1, n - 1.0), 0.0)
    order = sorting.argsort(rows, -1)
    first, second = _picked(order, low, nan), _picked(order, high, nan)
    way = as_dtype(way, g.dtype) if isinstance(way, Tensor) else way
    to_x = _added(rows, first, g * (1 - way)) + _added(rows, second, g * way)
    gap = gathering.take_along_axis(rows, second, -1) - gathering.take_along_axis(rows, first, -1)
    moved = g * gap * (as_dtype(slope, g.dtype) if isinstance(slope, Tensor) else slope)
    to_q = reducing.sum(moved, tuple(range(len(rows.shape) - 1)))
    return apart(to_x, x, axes), array.reshape(as_dtype(to_q, q.dtype), _extents(q)) if q.dtype.kind == "f" else None


def _extents(x: Tensor) -> list[Any]:
    return [dim(x, a) for a in range(len(x.shape))]


def _weighted_vjp(g: Tensor, y: Tensor, x: Tensor, axes: Any, keepdims: bool, front: int) -> Any:
    """Return the gradient of the elements: each quantile is one of them."""
    rows = together(x, axes)
    lead = _extents(rows)[:-1]
    flat = [array.reshape(without_ones(v, [a + front for a in axes], keepdims), [-1, *lead]) for v in (g, y)]
    g, y = [array.moveaxis(v, 0, -1) for v in flat]
    hits = logic.equal(array.expand_dims(rows, -1), array.expand_dims(as_dtype(y, x.dtype), -2))
    return apart(_added(rows, reductions.argmax(hits, len(rows.shape) - 1), g), x, axes)


def _quantile_row(theirs: Any) -> Library:
    """Declare the row of a function of elements, quantiles (an input, or a weak number) and weights."""
    nan, hundred = theirs.__name__.startswith("nan"), theirs.__name__.endswith("percentile")

    def kernel(x: Any, *rest: Any, axis: Any, method: Any, keepdims: Any, number: Any) -> Any:
        q, *weights = rest if number is None else (number, *rest)
        more = {"weights": weights[0]} if weights else {}
        return theirs(x, q, axis, None, False, method, keepdims, **more)

    def shape(x: Tensor, *rest: Tensor, axis: Any, method: Any, keepdims: Any, number: Any) -> Any:
        front = () if number is not None else rest[0].shape.known
        return [*front, *reduced(x.shape, axis, keepdims)]

    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        x, *rest = inputs
        number, axes, keepdims = attrs["number"], attrs["axis"], attrs["keepdims"]
        q = as_operand(float(number)) if number is not None else rest[0]
        g = as_dtype(g, x.dtype)
        if len(rest) > (number is None):
            made = _weighted_vjp(g, outputs[0], x, axes, keepdims, len(q.shape))
            return [made, *[None] * len(rest)]
        to_x, to_q = _quantile_vjp(g, x, q / 100 if hundred else q, attrs["method"], axes, keepdims, nan)
        return [to_x] if number is not None else [to_x, to_q / 100 if hundred and to_q is not None else to_q]

    def code(node: Any) -> str | None:
        attrs = node.attrs
        if attrs["number"] is None or len(node.inputs) > 1:
            return None
        axis = axis_as_given(attrs["axis"], node.inputs[0].shape.rank)
        plain = attrs["method"] == "linear" and not attrs["keepdims"]
        more = () if plain else (None, False, attrs["method"], attrs["keepdims"])
        return written(f"np.{theirs.__name__}", 1, attrs["number"], axis, *more)

    return library(f"numpy_{theirs.__name__}", kernel, shape, vjp, code_of=code)


_ROWS = {f: _quantile_row(f) for f in (np.quantile, np.percentile, np.nanquantile, np.nanpercentile)}


def _in_range(theirs: Any, q: Any) -> None:
    name, most = ("Percentiles", 100) if theirs.__name__.endswith("percentile") else ("Quantiles", 1)
    if q.dtype.kind in "biuf" and not (np.all(q >= 0) and np.all(q <= most)):
        raise ValueError(f"{name} must be in the range [0, {most}]")


def _quantile(theirs: Any, a: Any, q: Any, axis: Any, method: Any, keepdims: Any, weights: Any) -> Any:
    x = as_operand(a)
    if x.dtype.kind != "c" and not has_tensor(q):
        _in_range(theirs, np.asarray(q))
    if x.dtype.kind == "f" and has_tensor(q) and operands.weak_type(q) in (int, float):
        q = as_dtype(as_operand(q), x.dtype)
    attrs = {
        "axis": axes_in(theirs, x, axis), "method": known(theirs, method=method), "keepdims": kept(keepdims),
        "number": q if type(q) in (int, float) and x.dtype.kind == "f" else None,
    }  # fmt: skip
    given = [] if attrs["number"] is not None else [q]
    if weights is not None:
        given.append(weights)
    return _ROWS[theirs](x, *given, **attrs)


@counterpart(np.quantile)
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.quantile``."""
    unsupported(np.quantile, out=out, overwrite_input=overwrite_input)
    return _quantile(np.quantile, a, q, axis, method, keepdims, weights)


@counterpart(np.percentile)
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.percentile``."""
    unsupported(np.percentile, out=out, overwrite_input=overwrite_input)
    return _quantile(np.percentile, a, q, axis, method, keepdims, weights)


@counterpart(np.nanquantile)
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = NO_VALUE, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.nanquantile``."""
    unsupported(np.nanquantile, out=out, overwrite_input=overwrite_input)
    return _quantile(np.nanquantile, a, q, axis, method, keepdims, weights)


@counterpart(np.nanpercentile)
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = NO_VALUE, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.nanpercentile``."""
    unsupported(np.nanpercentile, out=out, overwrite_input=overwrite_input)
    return _quantile(np.nanpercentile, a, q, axis, method, keepdims, weights)


def _median_row(theirs: Any) -> Library:
    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        x = inputs[0]
        half, nan = as_operand(0.5), theirs is np.nanmedian
        return [_quantile_vjp(as_dtype(g, x.dtype), x, half, "linear", attrs["axis"], attrs["keepdims"], nan)[0]]

    def kernel(x: Any, axis: Any, keepdims: Any) -> Any:
        return theirs(x, axis=axis, keepdims=keepdims)

    def code(node: Any) -> str | None:
        axis, keepdims = axis_as_given(node.attrs["axis"], node.inputs[0].shape.rank), node.attrs["keepdims"]
        return written(f"np.{theirs.__name__}", 1, axis, *([None, False, True] if keepdims else ()))

    return library(f"numpy_{theirs.__name__}", kernel, "reduced", vjp, code_of=code)


_median, _nanmedian = _median_row(np.median), _median_row(np.nanmedian)


@counterpart(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Any:
    """Return ``np.median``."""
    unsupported(np.median, out=out, overwrite_input=overwrite_input)
    x = as_operand(a)
    return _median(x, axis=axes_in(np.median, x, axis), keepdims=kept(keepdims))


@counterpart(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = NO_VALUE) -> Any:
    """Return ``np.nanmedian``."""
    unsupported(np.nanmedian, out=out, overwrite_input=overwrite_input)
    x = as_operand(a)
    return _nanmedian(x, axis=axes_in(np.nanmedian, x, axis), keepdims=kept(keepdims))


def _partition_vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradient along the permutation that brings the one's order to the other's."""
    x, axis = inputs[0], attrs["axis"]
    of_y, of_x = sorting.argsort(outputs[0], axis), sorting.argsort(x, axis)
    moved = gathering.take_along_axis(g, of_y, axis)
    return [apply(PUT_ALONG, [shape_queries.shape(x), of_x, moved], {"axis": axis, "static": x.shape})]


def _partition_in_place(x: Any, kth: Any, axis: int, kind: Any) -> Any:
    x.partition(kth, axis, kind)
    return x


_partition = library(
    "numpy_partition", lambda x, kth, axis, kind: np.partition(x, kth, axis, kind), "same", _partition_vjp,
    dtype=lambda x, **_: x.dtype, taking=Taking(_partition_in_place, (0,), is_update=True),
)  # fmt: skip
_argpartition = library(
    "numpy_argpartition", lambda x, kth, axis, kind: np.argpartition(x, kth, axis, kind), "same", NO_GRADIENT,
    dtype=lambda x, **_: dtypes.int64,
)  # fmt: skip


def _placed(theirs: Any, a: Any, kth: Any, axis: Any, kind: Any) -> tuple[Tensor, dict[str, Any]]:
    x, axis = flat_or_along(theirs, as_operand(a), axis)
    kth = known(theirs, kth=kth)
    attrs = {"kth": kth if np.ndim(kth) == 0 else tuple(np.asarray(kth).tolist()), "axis": axis, "kind": kind}
    return x, attrs


@counterpart(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """Return ``np.partition``."""
    unsupported(np.partition, order=order)
    x, attrs = _placed(np.partition, a, kth, axis, kind)
    return _partition(x, **attrs)


@counterpart(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """Return ``np.argpartition``."""
    unsupported(np.argpartition, order=order)
    one = as_operand(a)
    x, attrs = _placed(np.argpartition, array.ravel(one) if one.shape.rank == 0 else one, kth, axis, kind)
    return _argpartition(x, **attrs)


_lexsort = library("lexsort", lambda *keys, axis: np.lexsort(keys, axis), "same", NO_GRADIENT,
                   dtype=lambda *keys, axis: dtypes.int64)  # fmt: skip


@counterpart(np.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Any:
    """Return ``np.lexsort``."""
    rows = as_operand(keys) if is_tensor(keys) else None
    parts = joining.unstack(rows) if rows is not None else [as_operand(key) for key in keys]
    return _lexsort(*parts, axis=axis_in(np.lexsort, parts[0], axis))
