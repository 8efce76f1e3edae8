"""Averages, covariances and correlations of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...base.stand_ins import UnknownExtent
from ...ir.tensor import Tensor
from .. import (
    arithmetic,
    array,
    bounds,
    broadcasting,
    complex_numbers,
    diagonals,
    joining,
    linalg,
    logic,
    powers,
    reducing,
    rounding,
    shape_queries,
)
from ..operands import as_dtype
from ..shape_queries import dim
from .axes_of_numpy import axes_in, rank_of
from .counterparts import NO_VALUE, as_operand, counterpart, refused
from .data_checks import checked, equal_extents

_OF_ANOTHER_SHAPE = "Axis must be specified when shapes of a and weights differ."
_WRONG: tuple[type[Exception], str] = (
    ValueError, "Shape of weights must be consistent with shape of a along specified axis."
)  # fmt: skip


def _weights(weights: Any, x: Tensor, axes: Any) -> Tensor:
    """Return weights that broadcast over the operand."""
    w = as_operand(weights)
    rank = len(x.shape)
    if len(w.shape) == rank and w.shape.is_compatible_with(x.shape):  # for all axes, or along them all in order
        if axes is not None and len(axes) == rank and list(axes) != list(range(rank)) and w.shape != x.shape:
            raise UnknownExtent("numpy.average: the extents of a and of weights must be known")
        return _checked(w, x, range(rank), *((TypeError, _OF_ANOTHER_SHAPE) if axes is None else _WRONG))
    if axes is None:
        raise TypeError(_OF_ANOTHER_SHAPE)
    if len(w.shape) != len(axes):
        raise ValueError(_WRONG[1])
    w = array.transpose(_checked(w, x, axes, *_WRONG), np.argsort(axes).tolist())
    return array.reshape(w, [dim(x, a) if a in axes else 1 for a in range(rank)])


def _checked(w: Tensor, x: Tensor, axes: Any, error: type[Exception], message: str) -> Tensor:
    """Return weights, which must have the extents of some axes of the operand."""
    for place, axis in enumerate(axes):
        w = equal_extents(w, dim(w, place), dim(x, axis), error, message)
    return w


def _average(x: Any, axes: Any, weights: Any, keepdims: Any) -> tuple[Any, Any]:
    """Return the average, and the sum of weights (None: it follows from the number of elements)."""
    if weights is None:
        return np.mean(x, axis=axes, keepdims=keepdims), None
    w = _weights(weights, x, axes)
    more = [np.float64] if x.dtype.kind in "biu" else []
    kind = np.result_type(x.dtype, w.dtype, *more)
    scale: Any = as_dtype(w, kind)
    scale = np.sum(scale, axis=axes, keepdims=keepdims)
    scale = checked(
        scale,
        logic.not_equal(scale, as_operand(0, kind)),
        ZeroDivisionError,
        "Weights sum to zero, can't be normalized",
    )
    weighted: Any = as_dtype(x, kind) * as_dtype(w, kind)
    return np.sum(weighted, axis=axes, keepdims=keepdims) / scale, scale


@counterpart(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = NO_VALUE) -> Any:
    """Return ``np.average``."""
    x: Any = as_operand(a)
    axes = None if axis is None else axes_in(np.average, x, axis)
    mean, scale = _average(x, axes, weights, keepdims)
    if not returned:
        return mean
    if scale is None:
        count = as_dtype(shape_queries.size(x), np.dtype(float)) / as_dtype(shape_queries.size(mean), np.dtype(float))
        scale = as_dtype(count, mean.dtype)
    return mean, broadcasting.broadcast_to(scale, shape_queries.shape(mean))


def _rows(x: Tensor, rowvar: Any, kind: Any, name: str) -> Tensor:
    """Return samples as a matrix with one row for each variable."""
    rank = rank_of(np.cov, x)
    if rank > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    x = as_dtype(x, kind)
    if rank < 2:
        return array.reshape(x, [1, -1])
    return x if rowvar or (name == "y" and _is_one(x.shape[0])) else array.transpose(x)


def _is_one(extent: int | None) -> bool:
    """Return whether there is one row, which has another result than several."""
    if extent is None:
        raise UnknownExtent("numpy.cov: the number of rows must be known, as one has another result than several")
    return extent == 1


def _sample_weights(given: Any, x: Tensor, name: str, whole: bool) -> Tensor:
    w = as_operand(given, float)
    if rank_of(np.cov, w) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if whole:
        w = checked(w, logic.equal(w, rounding.rint(w)), TypeError, f"{name} must be integer")
    w = equal_extents(w, dim(w, 0), dim(x, 1), RuntimeError, f"incompatible numbers of samples and {name}")
    made: Tensor = checked(w, w >= 0, ValueError, f"{name} cannot be negative")
    return made


def _freedom(count: Any, w: Any, aweights: Any, ddof: Any) -> Any:
    """Return what a sum of products of deviations is divided by."""
    if w is None:
        return count - ddof
    whole = reducing.sum(w)
    if ddof == 0:
        return whole
    return whole - ddof if aweights is None else whole - ddof * reducing.sum(w * aweights) / whole


def _covariance(m: Any, y: Any, rowvar: Any, bias: Any, ddof: Any, fweights: Any, aweights: Any, dtype: Any) -> Tensor:
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    first, second = as_operand(m), None if y is None else as_operand(y)
    kinds = [x.dtype for x in (first, second) if x is not None]
    kind = np.result_type(*kinds, np.float64) if dtype is None else of_numbers(dtype)
    if kind.kind not in "fc":
        refused(np.cov, "dtype")  # from integers NumPy takes no mean away, but for some kinds and numbers of samples
    x = _rows(first, rowvar, kind, "m")
    if second is not None:
        x = joining.concat([x, _rows(second, rowvar, kind, "y")], 0)
    if ddof is None:
        ddof = 1 if bias == 0 else 0
    w = None if fweights is None else _sample_weights(fweights, x, "fweights", True)
    among = None if aweights is None else _sample_weights(aweights, x, "aweights", False)
    both = w if among is None else among if w is None else w * among
    mean = _average(x, (1,), both, True)[0]
    count = dim(x, 1) if x.shape[1] is not None else as_dtype(dim(x, 1), np.dtype(float))
    divisor = _freedom(count, both, among, ddof)
    if isinstance(divisor, Tensor):
        divisor = bounds.maximum(divisor, 0.0)
    else:
        divisor = max(float(divisor), 0.0)
    away = as_dtype(_wide(x, mean.dtype) - _wide(mean, kind), kind)  # in place, as the product with the inverse below
    weighted = away if both is None else _wide(away, both.dtype) * _wide(both, kind)
    inverse = arithmetic.divide(1.0, as_operand(divisor, float))
    made = linalg.matmul(_wide(away, weighted.dtype), complex_numbers.conj(array.transpose(weighted)))
    return as_dtype(_wide(made, inverse.dtype) * _wide(inverse, made.dtype), made.dtype)


def _wide(x: Tensor, beside: Any) -> Tensor:
    return as_dtype(x, np.result_type(x.dtype, beside))


@counterpart(np.cov)
def cov(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.cov``."""
    return _without_ones(_covariance(m, y, rowvar, bias, ddof, fweights, aweights, dtype))


def _without_ones(c: Tensor) -> Tensor:
    return array.reshape(c, []) if _is_one(c.shape[0]) else c


@counterpart(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """Return ``np.corrcoef``."""
    c = _covariance(x, y, rowvar, False, None, None, None, dtype)
    if _is_one(c.shape[0]):
        c = _without_ones(c)
        return c / c
    deviation = as_dtype(powers.sqrt(complex_numbers.real(diagonals.diagonal(c))), c.dtype)
    c = c / array.expand_dims(deviation, 1) / array.expand_dims(deviation, 0)
    if c.dtype.kind != "c":
        return bounds.clip(c, -1, 1)
    return complex_numbers.complex(
        bounds.clip(complex_numbers.real(c), -1, 1), bounds.clip(complex_numbers.imag(c), -1, 1)
    )
