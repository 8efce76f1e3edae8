"""NumPy's norms, of vectors and of matrices, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.stand_ins import UnknownExtent
from ...ir.apply import apply
from ...ir.tensor import Tensor
from ..arithmetic import abs as absolute
from ..arithmetic import multiply
from ..array import expand_dims, moveaxis, reshape, squeeze
from ..complex_numbers import conj, real
from ..extents import axes_of
from ..linalg import SQUARES, matmul
from ..logic import isnan, logical_and, logical_not
from ..powers import length as root
from ..reducing import sum as total
from ..reductions import any as some
from ..reductions import max as greatest
from ..reductions import min as least
from ..reductions import norm as length
from ..repeating import pad
from ..selection import where
from .checked_operands import not_empty
from .counterparts import as_operand, counterpart, known
from .decompositions import svdvals
from .matrix_equations import inverse_or_nan
from .matrix_operands import floats, matrix, square


@counterpart(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """Return ``np.linalg.norm``."""
    x, ord = floats(x), known(np.linalg.norm, ord=ord)
    rank = x.shape.rank
    if rank is None:
        raise UnknownExtent("numpy.linalg.norm: the rank of the operand must be known; declare it with set_shape")
    if axis is None and (ord is None or (rank == 2 and ord in ("f", "fro")) or (rank == 1 and ord == 2)):
        return _of_all(x, rank, bool(keepdims))
    axes = axes_of(_no_list(known(np.linalg.norm, axis=axis)), rank, "numpy.linalg.norm") or ()
    if len(axes) == 1:
        return _vectors(x, ord, axes, bool(keepdims))
    if len(axes) == 2:
        return _matrices(x, ord, axes, bool(keepdims))
    raise ValueError("Improper number of dimensions to norm.")


def _no_list(axis: Any) -> Any:
    """Return an ``axis``, for which NumPy takes no list here."""
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    return axis


def _of_all(x: Tensor, rank: int, keepdims: bool) -> Any:
    """Return the root of the sum of all squares as NumPy computes it: no array is made for these."""
    if x.dtype.kind not in "fc" or not rank:
        return length(x, None, None, keepdims)
    if x.dtype.char in "fdFD":
        squares = apply(SQUARES, [x])
    else:
        line = reshape(x, [-1]) if rank > 1 else x
        squares = matmul(line, line)
    found = root(squares)
    return reshape(found, [1] * rank) if keepdims else found


def _vectors(x: Tensor, ord: Any, axes: tuple[int, ...] | None, keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order {ord!r} for vectors")
    if ord == np.inf:
        return _greatest(absolute(x), axes, keepdims)
    return _along(x, axes, keepdims) if ord in (None, 2) else length(x, ord, axes, keepdims)


def _along(x: Tensor, axes: tuple[int, ...] | None, keepdims: bool) -> Any:
    """Return the roots of the sums of squares along axes: of complex numbers NumPy multiplies each by its conjugate."""
    if x.dtype.kind != "c":
        return length(x, None, axes, keepdims)
    return root(total(real(multiply(conj(x), x)), axes, keepdims))


def _matrices(x: Tensor, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if ord in (None, "fro", "f"):
        return _along(x, axes, keepdims)
    if ord in _OF_SINGULAR_VALUES:
        found = _OF_SINGULAR_VALUES[ord](svdvals(moveaxis(x, axes, (-2, -1))), -1)
        return expand_dims(found, tuple(sorted(axes))) if keepdims else found
    if ord not in _SUMS:
        raise ValueError(f"Invalid norm order {ord!r} for matrices.")
    chosen, along = _SUMS[ord]
    found = chosen(total(absolute(x), axes[along], True), axes[1 - along], True)
    return found if keepdims else squeeze(found, axes)


try:
    np.linalg.norm(np.zeros(0), np.inf)
    _IS_OF_NONE = True
except ValueError:
    _IS_OF_NONE = False


def _greatest(sizes: Tensor, axis: Any, keepdims: bool = False) -> Tensor:
    """Return the greatest of sizes; where there are none, what NumPy's norms give: 0, and before 2.3 an exception."""
    places = range(len(sizes.shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    extents = [sizes.shape.known[place] for place in places]
    if not _IS_OF_NONE or not (0 in extents or None in extents):
        return greatest(sizes, axis, keepdims)
    if 0 in extents:
        return total(sizes, axis, keepdims)
    rank = len(sizes.shape)  # one more zero is no greatest, but where there are no others
    more = [[0, int(place in [one % rank for one in places])] for place in range(rank)]
    return greatest(pad(sizes, more), axis, keepdims)


#: order -> what it makes of the sums of the absolute values along one axis, and which of the two that is
_SUMS: dict[Any, tuple[Callable[..., Any], int]] = {
    1: (_greatest, 0), -1: (least, 0), np.inf: (_greatest, 1), -np.inf: (least, 1),
}  # fmt: skip
_OF_SINGULAR_VALUES: dict[Any, Callable[..., Any]] = {2: _greatest, -2: least, "nuc": total}


@counterpart(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """Return ``np.linalg.vector_norm``: along several axes, of all their elements."""
    x, axis = floats(x), _no_list(known(np.linalg.vector_norm, axis=axis))
    axes = None if axis is None else axes_of(axis, x.shape.rank, "numpy.linalg.vector_norm")
    return _vectors(x, known(np.linalg.vector_norm, ord=ord), axes, bool(keepdims))


@counterpart(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    """Return ``np.linalg.matrix_norm``: of the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


@counterpart(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """Return ``np.linalg.cond``: inf, not nan, of what has no inverse."""
    x, p = (
        not_empty(as_operand(x), np.linalg.LinAlgError("cond is not defined on empty arrays")),
        known(np.linalg.cond, p=p),
    )
    if p is None or p in (2, -2):
        x = matrix(x)
        values = svdvals(x)
        over, under = (values[..., -1], values[..., 0]) if p == -2 else (values[..., 0], values[..., -1])
        singular = under == 0  # whatever is set, NumPy says nothing of a division by zero here
        found = where(singular, under.dtype.type(np.inf), over / where(singular, under.dtype.type(1), under))
    else:
        x = square(x)
        found = _matrices(x, p, (-2, -1), False) * _matrices(inverse_or_nan(x), p, (-2, -1), False)
    unknown = logical_and(isnan(found), logical_not(some(isnan(x), (-2, -1))))
    return where(unknown, np.array(np.inf, found.dtype), found)
