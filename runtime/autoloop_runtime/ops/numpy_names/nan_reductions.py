"""NumPy's reductions and running sums that pass over nan: made of those that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import (
    array,
    bounds,
    complex_numbers,
    logic,
    powers,
    reducing,
    reductions,
    selection,
    shape_queries,
)
from ..operands import as_dtype, weak_type
from .axes_of_numpy import axis_in
from .counterparts import NO_VALUE, as_operand, counterpart, unsupported
from .library_rows import library
from .numpy_reductions import as_mask, everywhere, first_element, is_given, kept, taken_away
from .numpys_warnings import may_warn

with np.errstate(invalid="ignore"):
    #: the nan that this machine makes
    _NOTHING = np.float64(0) / np.float64(0)


def _replaced(x: Tensor, instead: float) -> Tensor:
    """Return an operand with numbers in place of nan."""
    return selection.where(logic.isnan(x), x.dtype.type(instead), x) if x.dtype.kind in "fc" else x


@counterpart(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """Return ``np.nansum``."""
    unsupported(np.nansum, out=out)
    x: Any = _replaced(as_operand(a), 0)
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


@counterpart(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """Return ``np.nanprod``."""
    unsupported(np.nanprod, out=out)
    x: Any = _replaced(as_operand(a), 1)
    return np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


@counterpart(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Return ``np.nancumsum``."""
    unsupported(np.nancumsum, out=out)
    x: Any = _replaced(as_operand(a), 0)
    return np.cumsum(x, axis=axis, dtype=dtype)


@counterpart(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Return ``np.nancumprod``."""
    unsupported(np.nancumprod, out=out)
    x: Any = _replaced(as_operand(a), 1)
    return np.cumprod(x, axis=axis, dtype=dtype)


def _counted(x: Tensor, where: Any) -> Tensor:
    """Return 1 for each element that takes part, 0 for the others."""
    taking = ~logic.isnan(x)
    if not everywhere(where):
        taking = logic.logical_and(taking, as_mask(where))
    return taking


def _divided(total: Tensor, count: Tensor) -> Tensor:
    """Return a quotient as NumPy has it: computed in 64 bits, in the dtype of the sum.

    Of nothing it is nan, of which NumPy says nothing, whatever is set: the division has not to be made.
    """
    wide = np.result_type(total.dtype, np.float64)
    some: Any = selection.where(count == 0, _NOTHING, as_dtype(count, np.dtype(np.float64)))
    return as_dtype(as_dtype(total, wide) / as_dtype(some, wide), total.dtype)


def _mean(x: Tensor, axis: Any, dtype: Any, keepdims: Any, where: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return the mean, how many took part, and which did."""
    taking = _counted(x, where)
    kind = x.dtype if dtype is None else of_numbers(dtype)
    if kind.kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    may_warn()
    given: Any = as_dtype(selection.where(taking, x, x.dtype.type(0)), kind)
    count = reducing.sum(as_dtype(taking, np.dtype(np.int64)), axis, keepdims=kept(keepdims))
    total = np.sum(given, axis=axis, dtype=kind, keepdims=keepdims)
    return _divided(total, count), count, taking


@counterpart(np.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """Return ``np.nanmean``."""
    unsupported(np.nanmean, out=out)
    x: Any = as_operand(a)
    if x.dtype.kind not in "fc":
        return np.mean(x, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return _mean(x, axis, dtype, keepdims, where)[0]


def _nanvar(x: Tensor, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any) -> Any:
    average, count, taking = _mean(x, axis, dtype, True, where)
    if is_given(mean):
        average = mean if weak_type(mean) is not None else as_operand(mean)
    away = as_dtype(x - average, x.dtype)
    away = selection.where(taking, away, x.dtype.type(0))
    squares: Any = complex_numbers.real(away * complex_numbers.conj(away)) if x.dtype.kind == "c" else away * away
    total = np.sum(squares, axis=axis, dtype=dtype, keepdims=keepdims)
    freedom = array.reshape(count, shape_queries.shape(total)) - ddof
    made = _divided(total, freedom)
    return selection.where(freedom > 0, made, made.dtype.type(np.nan))


def _spread(
    plain: Any, root: Callable[..., Any] | None, a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any,
    mean: Any, correction: Any,
) -> Any:  # fmt: skip
    """Return the variance without nan, or its root; of what has none that of NumPy's ``plain`` function."""
    x: Any = as_operand(a)
    freedom = taken_away(ddof, correction)
    if x.dtype.kind not in "fc":
        return plain(x, axis=axis, dtype=dtype, ddof=freedom, keepdims=keepdims, where=where, mean=mean)
    made = _nanvar(x, axis, dtype, freedom, keepdims, where, mean)
    return made if root is None else root(made)


@counterpart(np.nanvar)
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """Return ``np.nanvar``."""
    unsupported(np.nanvar, out=out)
    return _spread(np.var, None, a, axis, dtype, ddof, keepdims, where, mean, correction)


@counterpart(np.nanstd)
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """Return ``np.nanstd``."""
    unsupported(np.nanstd, out=out)
    return _spread(np.std, powers.length, a, axis, dtype, ddof, keepdims, where, mean, correction)


def _extreme(a: Any, axis: Any, keepdims: Any, initial: Any, where: Any, sign: float) -> Any:
    x: Any = as_operand(a)
    may_warn()
    reduce: Any = np.max if sign > 0 else np.min
    if x.dtype.kind not in "fc":
        return reduce(x, axis=axis, keepdims=keepdims, initial=initial, where=where)
    if not everywhere(where) and not is_given(initial):
        raise ValueError(
            f"reduction operation 'f{reduce.__name__[-3:]}' does not have an identity, so to use a where mask one has "
            f"to specify 'initial'"
        )
    taking = _counted(x, where)
    found = reduce(selection.where(taking, x, x.dtype.type(-sign * np.inf)), axis=axis, keepdims=keepdims)
    if is_given(initial):
        return (bounds.maximum if sign > 0 else bounds.minimum)(found, first_element(initial, x.dtype))
    return selection.where(reductions.any(taking, axis, kept(keepdims)), found, x.dtype.type(np.nan))


@counterpart(np.nanmax)
def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """Return ``np.nanmax``."""
    unsupported(np.nanmax, out=out)
    return _extreme(a, axis, keepdims, initial, where, 1.0)


@counterpart(np.nanmin)
def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """Return ``np.nanmin``."""
    unsupported(np.nanmin, out=out)
    return _extreme(a, axis, keepdims, initial, where, -1.0)


_nanargmax = library(
    "nanargmax", lambda x, axis, keepdims: np.nanargmax(x, None if axis is None else axis[0], keepdims=keepdims),
    "reduced", NO_GRADIENT,
)  # fmt: skip
_nanargmin = library(
    "nanargmin", lambda x, axis, keepdims: np.nanargmin(x, None if axis is None else axis[0], keepdims=keepdims),
    "reduced", NO_GRADIENT,
)  # fmt: skip


@counterpart(np.nanargmax)
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    """Return ``np.nanargmax``."""
    unsupported(np.nanargmax, out=out)
    x = as_operand(a)
    return _nanargmax(x, axis=None if axis is None else (axis_in(np.nanargmax, x, axis),), keepdims=kept(keepdims))


@counterpart(np.nanargmin)
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    """Return ``np.nanargmin``."""
    unsupported(np.nanargmin, out=out)
    x = as_operand(a)
    return _nanargmin(x, axis=None if axis is None else (axis_in(np.nanargmin, x, axis),), keepdims=kept(keepdims))
