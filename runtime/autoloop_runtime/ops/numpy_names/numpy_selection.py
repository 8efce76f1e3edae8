"""NumPy's functions that choose among elements, find them, and keep them within bounds."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from ...base.stand_ins import UnknownWhileTracing, cast_refused, in_numpys_words
from ...ir.convert import convert_to_tensor
from ...ir.numpy_arguments import is_neutral
from ...ir.tensor import Tensor
from ...ir.written_results import is_reference, written
from .. import arithmetic, bounds, creation, diagonals, filled, gathering, indexing
from ..array import expand_dims, ravel
from ..bounds import maximum, minimum
from ..broadcasting import broadcast_static, broadcast_to
from ..composed import nonzero as places_of
from ..filled import zeros_like
from ..joining import unstack
from ..logic import logical_and, logical_or
from ..operands import as_dtype, cast, is_tensor, weak_type
from ..selection import argwhere
from ..selection import where as chosen
from ..shape_queries import dim
from .counterparts import (
    NO_VALUE,
    as_operand,
    as_operands,
    copied_operands,
    counterpart,
    known,
    refused,
    unsupported,
)
from .data_checks import checked
from .numpy_joining import of_one_dtype
from .numpy_reductions import numpy_axis
from .ufunc_calls import in_loop


@counterpart(np.where)
def where(condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /) -> Any:
    """Return ``np.where``; None is an operand as others are."""
    if x is NO_VALUE:
        return nonzero(condition)
    if y is NO_VALUE:
        raise ValueError("where: either both or neither of x and y should be given")
    given = copied_operands if _where_wraps() else as_operands
    first, second = given(x, y)
    return chosen(as_operand(condition, bool), first, second)


@functools.cache
def _where_wraps() -> bool:
    """Return whether an int that the dtype of the array does not hold wraps in ``np.where``: until NumPy 2.5."""
    try:
        np.where(True, np.uint8(0), 256)
    except OverflowError:
        return False
    return True


@counterpart(np.nonzero)
def nonzero(a: Any) -> Any:
    """Return ``np.nonzero``."""
    x = as_operand(a)
    if x.shape.rank == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return places_of(x)


@counterpart(np.flatnonzero)
def flatnonzero(a: Any) -> Tensor:
    """Return ``np.flatnonzero``."""
    return unstack(argwhere(as_dtype(ravel(as_operand(a)), np.dtype(bool))), axis=1)[0]


@counterpart(np.clip)
def clip(
    a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE, max: Any = NO_VALUE,
    **kwargs: Any,
) -> Tensor:  # fmt: skip
    """Return ``np.clip``; ``kwargs`` are arguments of ufuncs."""
    by_place, by_name = a_min is not NO_VALUE or a_max is not NO_VALUE, min is not NO_VALUE or max is not NO_VALUE
    if by_place and by_name:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    if by_place and (a_min is NO_VALUE or a_max is NO_VALUE):
        missing = "a_min" if a_min is NO_VALUE else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: '{missing}'")
    unsupported(np.clip, out=out)
    dtype = kwargs.pop("dtype", None)
    for argument, value in kwargs.items():
        if argument == "keepdims" or not is_neutral(argument, value):
            refused(np.clip, argument)
    low, high = (a_min, a_max) if by_place else (min, max)
    low, high = None if low is NO_VALUE else low, None if high is NO_VALUE else high
    if low is None and high is None:
        made = bounds.clip(in_loop(np.positive, [a])[0])
        return made if dtype is None else of_one_dtype(np.positive, [made], dtype)[0]
    made = bounds.clip(as_operand(a), _bound(low), _bound(high))
    return made if dtype is None else of_one_dtype(np.clip, [made], dtype)[0]


def _bound(value: Any) -> Any:
    is_known = value is None or isinstance(value, (Tensor, np.ndarray, np.generic, int, float, complex))
    return value if is_known else as_operand(value)


@counterpart(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Tensor:
    """Return ``np.take``."""
    unsupported(np.take, out=out)
    is_none = isinstance(indices, (list, tuple)) and not indices
    x, places = as_operand(a), as_operand(np.empty(0, np.int64) if is_none else indices)
    if places.dtype.kind not in "iub":
        is_list = isinstance(indices, (list, tuple))
        is_array = isinstance(indices, np.ndarray) or not getattr(indices, "is_scalar", True)
        refusal = cast_refused(places.dtype, np.dtype(np.int64), "safe", "take: ")
        # NumPy casts scalars, also those in lists
        raise refusal if not is_list and (is_array or places.shape.rank != 0) else UnknownWhileTracing(str(refusal))
    if known(np.take, axis=axis) is None:
        x, axis = ravel(x), 0
    place = numpy_axis(np.take, axis, x)
    x = ravel(x) if x.shape.rank == 0 else x
    places = as_dtype(places, np.dtype(np.int64))
    if mode != "raise":  # an array of unknown rank may have no axis, and then it is taken as one of one element
        places = within(np.take, places, dim(x, place), mode)
    return gathering.gather(x, places, place)


def within(theirs: Any, places: Tensor, extent: Any, mode: Any) -> Tensor:
    """Return indices by NumPy's ``mode`` of those that are out of range."""
    if mode == "raise":
        return places
    if mode == "wrap":
        return places % cast(extent, places.dtype)
    if mode == "clip":
        return minimum(maximum(places, 0), cast(extent, places.dtype) - 1)
    raise ValueError(f"{theirs.__name__}: clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")


@counterpart(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Tensor:
    """Return ``np.take_along_axis``."""
    x, places = as_operand(arr), as_operand(indices)
    if places.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if known(np.take_along_axis, axis=axis) is None:
        if places.shape.rank != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        x, axis = ravel(x), 0
    if x.shape.rank != places.shape.rank:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return gathering.take_along_axis(x, places, numpy_axis(np.take_along_axis, axis, x))


@counterpart(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Tensor:
    """Return ``np.compress``."""
    unsupported(np.compress, out=out)
    x, mask = as_operand(a), as_operand(condition, bool)
    if mask.shape.rank != 1:
        raise ValueError("compress: condition must be a 1-d array")
    if known(np.compress, axis=axis) is None:
        x, axis = ravel(x), 0
    place = numpy_axis(np.compress, axis, x)
    return gathering.gather(x, flatnonzero(mask), place)


@counterpart(np.extract)
def extract(condition: Any, arr: Any) -> Tensor:
    """Return ``np.extract``."""
    return gathering.gather(ravel(as_operand(arr)), flatnonzero(condition), 0)


@counterpart(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Tensor:
    """Return ``np.choose``."""
    unsupported(np.choose, out=out)
    places = as_operand(a)
    if not np.can_cast(places.dtype, np.int64):
        kind = "array data" if len(places.shape) else "scalar"
        raise TypeError(
            f"Cannot cast {kind} from {places.dtype!r} to {np.dtype(np.int64)!r} according to the rule 'safe'"
        )
    places = as_dtype(places, np.dtype(np.int64))
    rows = list(unstack(as_operand(choices))) if isinstance(choices, Tensor) else list(choices)
    parts = copied_operands(*rows)
    static = broadcast_static("choose", places, *parts)
    if mode == "raise" and (static.rank is None or 0 not in static.known):  # of nothing NumPy looks at no place
        here = logical_and(places >= 0, places < len(rows))
        for part in () if static.is_fully_defined() else parts:
            here = logical_or(here, zeros_like(part, np.bool_))
        places = checked(places, here, ValueError, "invalid entry in choice array")
    places = places if mode == "raise" else within(np.choose, places, len(parts), mode)
    made = parts[0]
    for place, part in enumerate(parts[1:], 1):
        made = chosen(places == place, part, made)
    return broadcast_to(made, static.as_tuple()) if static.is_fully_defined() and made.shape != static else made


@counterpart(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """Return ``np.select``."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    tests = [as_operand(one) for one in condlist]
    for place, test in enumerate(tests):
        if test.dtype.kind != "b":
            said = f"invalid entry {place} in condlist: should be boolean ndarray (select)"
            raise in_numpys_words(TypeError(said))
    *parts, made = copied_operands(*choicelist, default)
    if made.dtype.kind == "u" and int in map(weak_type, choicelist):
        raise cast_refused(np.dtype(np.int64), made.dtype, "same_kind")
    static = broadcast_static("select", *tests, *parts, made)
    for test, part in zip(reversed(tests), reversed(parts)):
        made = chosen(test, part, made)
    return broadcast_to(made, static.as_tuple()) if static.is_fully_defined() and made.shape != static else made


@counterpart(np.diag)
def diag(v: Any, k: Any = 0) -> Tensor:
    """Return ``np.diag``."""
    x = as_operand(v)
    if x.shape.rank not in (1, 2):
        raise ValueError("Input must be 1- or 2-d. (diag)")
    if x.shape.rank == 1 and _is_later(np.diag, k):
        return _on_diagonal(x, k)
    return diagonals.diag(x, operator.index(known(np.diag, k=k)))


def _is_later(theirs: Any, k: Any) -> bool:
    """Return whether only the run knows which diagonal is meant."""
    if not is_tensor(k) or k.dtype.kind not in "iu" or k.shape.rank != 0:
        return False
    return convert_to_tensor(k).settled_value(f"the argument 'k' of numpy.{theirs.__name__}") is None


def _on_diagonal(x: Tensor, k: Any) -> Tensor:
    """Return the matrix with a vector on the diagonal that the run tells."""
    k, count = as_operand(k, np.int64), as_operand(dim(x, 0), np.int64)
    places, zero = creation.range(0, count), as_operand(0, np.int64)
    extent = count + arithmetic.abs(k)
    index = (places + maximum(-k, zero), places + maximum(k, zero))
    made: Tensor = indexing.set_item(filled.zeros([extent, extent], x.dtype), index, x)
    return made


@counterpart(np.diagflat)
def diagflat(v: Any, k: Any = 0) -> Tensor:
    """Return ``np.diagflat``."""
    x = ravel(as_operand(v))
    return _on_diagonal(x, k) if _is_later(np.diagflat, k) else diagonals.diag(x, known(np.diagflat, k=k))


def _triangle(theirs: Any, ours: Any, m: Any, k: Any) -> Tensor:
    x = as_operand(m)
    if x.shape.rank == 1:  # each row is the vector
        x = broadcast_to(x, [dim(x, 0), dim(x, 0)])
    if not _is_later(theirs, k):
        made: Tensor = ours(x, operator.index(known(theirs, k=k)))
        return made
    rows, columns = (creation.range(0, as_operand(dim(x, axis), np.int64)) for axis in (-2, -1))
    beside = columns - expand_dims(rows, 1) - as_operand(k, np.int64)
    return chosen(beside >= 0 if ours is diagonals.triu else beside <= 0, x, as_operand(0, x.dtype))


@counterpart(np.tril)
def tril(m: Any, k: Any = 0) -> Tensor:
    """Return ``np.tril``."""
    return _triangle(np.tril, diagonals.tril, m, k)


@counterpart(np.triu)
def triu(m: Any, k: Any = 0) -> Tensor:
    """Return ``np.triu``."""
    return _triangle(np.triu, diagonals.triu, m, k)


@counterpart(np.nan_to_num)
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Return ``np.nan_to_num``."""
    made = bounds.nan_to_num(as_operand(x), *known(np.nan_to_num, nan=nan, posinf=posinf, neginf=neginf))
    if copy:
        return made
    if not is_reference(x) or x.is_scalar:
        refused(np.nan_to_num, "copy", "assign the result")
    x.check_writeable()
    given: Tensor = written(np.nan_to_num, x, made)
    return given
