"""NumPy's reductions over axes: small integers add up in 64 bits, ``where`` leaves elements out, ``initial`` begins."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...base.stand_ins import UnknownWhileTracing
from ...ir.plain_values import as_element, of_no_numbers, stored_element
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import reducing, reductions
from ..broadcasting import broadcast_like
from ..complex_numbers import imag, real
from ..extents import axes_of
from ..logic import equal
from ..operands import as_dtype, cast, weak_type
from ..powers import length
from ..reducing import restore
from ..selection import where as chosen
from ..shape_queries import size
from .begun_reductions import MAX_FROM, MIN_FROM, PRODUCT_FROM, SUM_FROM
from .counterparts import NO_VALUE, as_operand, cast_safely, counterpart, known, refused, unsupported
from .library_rows import Library, library


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which NumPy adds and multiplies: integers and booleans are at least 64 bits wide."""
    if dtype.kind in "bi":
        return np.result_type(dtype, np.int64)
    return np.result_type(dtype, np.uint64) if dtype.kind == "u" else dtype


def kept(keepdims: Any) -> bool:
    """Return the argument ``keepdims`` as a bool."""
    return keepdims is not NO_VALUE and operator.index(keepdims) != 0


def is_given(argument: Any) -> bool:
    """Return whether an argument was given that NumPy tells apart from None."""
    return argument is not NO_VALUE


def everywhere(where: Any) -> bool:
    """Return whether an argument ``where`` leaves nothing out."""
    return where is NO_VALUE or where is True


def taken_away(ddof: Any, correction: Any) -> Any:
    """Return what is taken from the number of elements: one argument by its two names.

    Raises
    ------
    ValueError
        If both are given.
    """
    if not is_given(correction):
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


#: the functions for which a value without axes has one, 0 or -1
_OF_SCALARS = frozenset((
    np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.any, np.all, np.argmax, np.argmin, np.ptp, np.squeeze,
    np.cumsum, np.cumprod, np.cumulative_sum, np.cumulative_prod, np.argsort, np.take,
))  # fmt: skip


def numpy_axes(theirs: Any, axis: Any, x: Tensor) -> tuple[int, ...] | None:
    """Return an argument ``axis`` as NumPy reads it: None for all of them.

    Raises
    ------
    numpy.exceptions.AxisError
        If it is out of range.
    """
    axis = known(theirs, axis=axis)
    if axis is None or x.shape.rank is None:
        return axis if axis is None else axes_of(axis, None, theirs.__name__)
    if isinstance(axis, bool):
        raise TypeError(f"{theirs.__name__}: an integer is required for the axis, not {axis}")
    if x.shape.rank == 0 and axis in (0, -1) and theirs in _OF_SCALARS:
        return ()
    given = axis if isinstance(axis, tuple) else (axis,)
    return tuple(np.lib.array_utils.normalize_axis_tuple(given, len(x.shape)))


def numpy_axis(theirs: Any, axis: Any, x: Tensor) -> int:
    """Return an argument ``axis`` that means one axis as NumPy reads it; what has none is read along its only place."""
    axis = known(theirs, axis=axis)
    if isinstance(axis, bool) and theirs is not np.sort:
        raise TypeError(f"{theirs.__name__}: an integer is required for the axis, not {axis}")
    return (numpy_axes(theirs, operator.index(axis), x) or (0,))[0]


def as_mask(where: Any) -> Tensor:
    """Return an argument ``where`` as NumPy takes it: what is none of booleans it does not make one."""
    return cast_safely(where, bool)


def _masked(x: Tensor, where: Any, neutral: Any) -> Tensor:
    """Return ``x`` with ``neutral`` where it is left out, broadcast against ``where``."""
    return x if everywhere(where) else chosen(as_mask(where), x, np.asarray(neutral, x.dtype)[()])


def first_element(initial: Any, dtype: np.dtype[Any]) -> Tensor:
    """Return what a reduction begins with: NumPy writes it to an element."""
    if initial is None:
        raise UnknownWhileTracing("initial=None is what NumPy knows of begins from: leave it out")
    if isinstance(initial, (list, tuple, range)):
        stored_element(dtype, [0] * len(initial))  # raises
    if isinstance(initial, (Tensor, np.ndarray)) and len(initial.shape):
        raise ValueError("setting an array element with a sequence.")
    return as_operand(as_element(dtype, of_no_numbers(dtype, initial, True)), dtype)


def _accumulated(
    theirs: Any, ours: Any, begun: Library, neutral: complex, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any,
    initial: Any, where: Any,
) -> Tensor:  # fmt: skip
    unsupported(theirs, out=out)
    x = as_operand(a)
    x = as_dtype(x, wide(x.dtype) if dtype is None else of_numbers(dtype))
    axes = numpy_axes(theirs, axis, x)
    first = first_element(initial, x.dtype) if is_given(initial) else None
    of_sum = begun is SUM_FROM
    if first is not None and x.dtype.kind in "fc" and not _is_usual(initial, of_sum, x.dtype):
        # it comes first, as rounding, overflow and the sign of zeros show; what is left out adds no 0., but -0.
        neutral = complex(-0.0, -0.0) if of_sum else neutral
        masked = _masked(x, where, neutral if x.dtype.kind == "c" else neutral.real)
        return as_dtype(begun(masked, first, axis=axes, keepdims=kept(keepdims)), x.dtype)
    made: Tensor = as_dtype(ours(_masked(x, where, neutral), axes, kept(keepdims)), x.dtype)
    if first is None or x.dtype.kind in "fc":
        return made
    joined: Tensor = as_dtype(made + first if of_sum else made * first, x.dtype)
    return joined


def _is_usual(initial: Any, of_sum: bool, dtype: np.dtype[Any]) -> bool:
    """Return whether a known ``initial`` is what a reduction begins from where nothing is said: 0., not -0., or 1."""
    if not isinstance(initial, (bool, int, float, np.bool, np.integer, np.floating)):
        return False
    usual = np.asarray(0 if of_sum else 1, dtype)
    return np.asarray(initial).astype(dtype).tobytes() == usual.tobytes()


@counterpart(np.sum)
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Tensor:  # fmt: skip
    """Return ``np.sum``."""
    return _accumulated(np.sum, reducing.sum, SUM_FROM, 0, a, axis, dtype, out, keepdims, initial, where)


@counterpart(np.prod)
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Tensor:  # fmt: skip
    """Return ``np.prod``."""
    return _accumulated(np.prod, reductions.prod, PRODUCT_FROM, 1, a, axis, dtype, out, keepdims, initial, where)


# -- the largest and the smallest -------------------------------------------------------------------------


def _share_alone(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradient of a largest complex number: equal ones share."""
    x = inputs[0]
    hits = cast(equal(x, restore(outputs[0], x, attrs)), x.dtype)
    return [hits * (restore(g, x, attrs) / reducing.sum(hits, attrs["axis"], keepdims=True))]


def _of_any_dtype(ufunc: Any) -> Any:
    return lambda x, axis, keepdims: ufunc.reduce(x, axis=axis, keepdims=keepdims)


_MAX_COMPLEX = library("max_complex", _of_any_dtype(np.maximum), "reduced", _share_alone)
_MIN_COMPLEX = library("min_complex", _of_any_dtype(np.minimum), "reduced", _share_alone)


def _need_elements(theirs: Any, x: Tensor, axes: Any) -> None:
    """Raise what the run would raise of no elements: it comes before all that a later line raises."""
    extents = x.shape.known if x.shape.rank is not None else ()
    if 0 in (extents if axes is None or not extents else [extents[k] for k in axes]):
        raise ValueError(f"zero-size array to reduction operation {theirs.__name__}imum which has no identity")


def _extreme(
    theirs: Any, ours: Any, begun: Library, of_complex: Library, a: Any, axis: Any, out: Any, keepdims: Any,
    initial: Any, where: Any,
) -> Tensor:  # fmt: skip
    unsupported(theirs, out=out)
    x = as_operand(a)
    axes = numpy_axes(theirs, axis, x)
    if not is_given(initial):
        if not everywhere(where):
            raise ValueError(
                f"reduction operation '{theirs.__name__}imum' does not have an identity, so to use a where mask one "
                f"has to specify 'initial'"
            )
        _need_elements(theirs, x, axes)
        plain: Tensor = (of_complex if x.dtype.kind == "c" else ours)(x, axis=axes, keepdims=kept(keepdims))
        return plain
    if not everywhere(where):
        x = chosen(as_mask(where), x, first_element(initial, x.dtype))
    made: Tensor = begun(x, first_element(initial, x.dtype), axis=axes, keepdims=kept(keepdims))
    return made


@counterpart(np.max, np.amax if np.amax is not np.max else None)
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Tensor:  # fmt: skip
    """Return ``np.max``."""
    return _extreme(np.max, reductions.max, MAX_FROM, _MAX_COMPLEX, a, axis, out, keepdims, initial, where)


@counterpart(np.min, np.amin if np.amin is not np.min else None)
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Tensor:  # fmt: skip
    """Return ``np.min``."""
    return _extreme(np.min, reductions.min, MIN_FROM, _MIN_COMPLEX, a, axis, out, keepdims, initial, where)


@counterpart(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Tensor:
    """Return ``np.ptp``."""
    unsupported(np.ptp, out=out)
    largest, smallest = max(a, axis, None, keepdims), min(a, axis, None, keepdims)
    if largest.dtype.kind == "b":
        raise TypeError("numpy.ptp: numpy boolean subtract, the `-` operator, is not supported")
    return largest - smallest


def _of_one_axis(theirs: Any) -> Any:
    return lambda x, axis, keepdims: theirs(x, axis=axis and axis[0], keepdims=keepdims)


_POSITIONS: dict[Any, Library] = {
    theirs: library(f"{theirs.__name__}_complex", _of_one_axis(theirs), "reduced", NO_GRADIENT)
    for theirs in (np.argmax, np.argmin)
}  # fmt: skip  # written here, at import, and read afterwards


def _position(theirs: Any, ours: Any, a: Any, axis: Any, out: Any, keepdims: Any) -> Tensor:
    unsupported(theirs, out=out)
    x = as_operand(a)
    axis = known(theirs, axis=axis)
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise TypeError(f"{theirs.__name__}: {axis!r} cannot be interpreted as an integer")
    axes = numpy_axes(theirs, axis, x)
    if x.dtype.kind == "c":
        made: Tensor = _POSITIONS[theirs](x, axis=axes, keepdims=kept(keepdims))
        return made
    made = ours(x, axis=axes, keepdims=kept(keepdims))
    return made


@counterpart(np.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Tensor:
    """Return ``np.argmax``."""
    return _position(np.argmax, reductions.argmax, a, axis, out, keepdims)


@counterpart(np.argmin)
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Tensor:
    """Return ``np.argmin``."""
    return _position(np.argmin, reductions.argmin, a, axis, out, keepdims)


# -- truth ------------------------------------------------------------------------------------------------


@counterpart(np.any)
def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Tensor:  # fmt: skip
    """Return ``np.any``."""
    unsupported(np.any, out=out)
    x = _masked(as_operand(a, bool), where, False)
    return reductions.any(x, numpy_axes(np.any, axis, x), kept(keepdims))


@counterpart(np.all)
def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Tensor:  # fmt: skip
    """Return ``np.all``."""
    unsupported(np.all, out=out)
    x = _masked(as_operand(a, bool), where, True)
    return reductions.all(x, numpy_axes(np.all, axis, x), kept(keepdims))


@counterpart(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Tensor:
    """Return ``np.count_nonzero``."""
    return sum(as_operand(a, bool), axis, np.int64, None, keepdims)


# -- means ------------------------------------------------------------------------------------------------


def averaged(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a mean: integers leave the integers."""
    return np.dtype(np.float64) if dtype.kind in "biu" else dtype


def _computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which a sum is divided: of complex numbers of 64 bits it shows that NumPy's is wider."""
    return np.dtype({"e": np.float32, "F": np.complex128}.get(dtype.char, dtype))


def _count(x: Tensor, like: Tensor, axes: Any, keepdims: bool, where: Any) -> Any:
    """Return of how many elements each element of ``like``, a reduction of ``x``, was made."""
    dtype = like.dtype
    if not everywhere(where):
        taken = broadcast_like(as_mask(where), x)
        return as_dtype(reducing.sum(cast(taken, np.dtype(np.int64)), axes, keepdims), dtype)
    if x.shape.is_fully_defined() and like.shape.is_fully_defined():
        return np.asarray(x.size / builtins.max(like.size, 1) if x.size else 0, dtype)[()]
    return cast(size(x), dtype) / cast(size(like), dtype)


def _mean(x: Tensor, axes: Any, keepdims: bool, where: Any) -> Tensor:
    total = reducing.sum(_masked(x, where, 0), axes, keepdims)
    made: Tensor = total / _count(x, total, axes, keepdims, where)
    return made


@counterpart(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Tensor:
    """Return ``np.mean``."""
    unsupported(np.mean, out=out)
    x = as_operand(a)
    wanted = averaged(x.dtype) if dtype is None else of_numbers(dtype)
    axes = numpy_axes(np.mean, axis, x)
    # in half precision NumPy adds up only where that is asked for; complex numbers of 64 bits it divides in 128
    if (wanted.char == "e" and dtype is not None) or (wanted.char == "F" and not (dtype is None and everywhere(where))):
        return _divided(_added(as_dtype(x, wanted), axes, kept(keepdims), where), x, axes, kept(keepdims), where)
    if everywhere(where) and wanted.kind in "fc":
        return as_dtype(reductions.mean(as_dtype(x, wanted), axes, kept(keepdims)), wanted)
    if wanted.kind in "iu":
        return _mean_in(wanted, x, axes, kept(keepdims), where)
    inner = np.dtype(np.float64) if wanted.kind == "b" else _computed(wanted)
    if wanted.kind == "b":
        x = as_dtype(x, wanted)
    return as_dtype(_mean(as_dtype(x, inner), axes, kept(keepdims), where), wanted)


def _mean_in(dtype: np.dtype[Any], x: Tensor, axes: Any, keepdims: bool, where: Any) -> Tensor:
    """Return the mean of integers added up in their ``dtype``, in which they may wrap around."""
    total = as_dtype(reducing.sum(_masked(as_dtype(x, dtype), where, 0), axes, keepdims), dtype)
    exact = as_dtype(total, np.dtype(np.float64))
    return as_dtype(exact / _count(x, exact, axes, keepdims, where), dtype)


def _spread(
    theirs: Any, root: Callable[..., Any] | None, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: Any,
    where: Any, mean: Any, correction: Any,
) -> Tensor:  # fmt: skip
    unsupported(theirs, out=out)
    ddof = taken_away(ddof, correction)
    if np.ndim(ddof):  # of which NumPy asks whether it leaves any elements
        raise UnknownWhileTracing(f"numpy.{theirs.__name__} takes one number as ddof in a graph")
    x = as_operand(a)
    wanted = averaged(x.dtype) if dtype is None else of_numbers(dtype)
    if wanted.kind not in "fc":
        refused(theirs, "dtype")  # NumPy would round the mean in the middle
    axes = numpy_axes(theirs, axis, x)
    values = as_dtype(x, wanted)
    x = values if dtype is None else x  # else it is the mean that has the dtype, and what is added up
    if is_given(mean):
        centre = mean if weak_type(mean) is not None else as_operand(mean)
    else:
        centre = _divided(_added(values, axes, True, where), x, axes, True, where)
    away = x - centre
    squares = real(away) ** 2 + imag(away) ** 2 if away.dtype.kind == "c" else away * away
    given = squares.dtype if dtype is None else wanted
    total = _added(as_dtype(squares, given), axes, kept(keepdims), where)
    made = as_dtype(_divided(total, x, axes, kept(keepdims), where, ddof), given)
    return made if root is None else as_dtype(root(made), given)


def _added(x: Tensor, axes: Any, keepdims: bool, where: Any) -> Tensor:
    """Return a sum in the dtype of what is added up."""
    return as_dtype(reducing.sum(_masked(x, where, 0), axes, keepdims), x.dtype)


def _divided(total: Tensor, x: Tensor, axes: Any, keepdims: bool, where: Any, ddof: Any = None) -> Tensor:
    """Return a sum of elements of ``x`` divided by their number, of which ``ddof`` is taken away."""
    wide = as_dtype(total, _computed(total.dtype))  # which holds the number
    count = _count(x, wide, axes, keepdims, where)
    if ddof is not None:
        count = count - as_operand(ddof, wide.dtype)
        count = chosen(count <= 0, np.zeros((), wide.dtype)[()], count)  # of nan there are nan
    return as_dtype(wide / count, total.dtype)


@counterpart(np.var)
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Tensor:  # fmt: skip
    """Return ``np.var``."""
    return _spread(np.var, None, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@counterpart(np.std)
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Tensor:  # fmt: skip
    """Return ``np.std``."""
    return _spread(np.std, length, a, axis, dtype, out, ddof, keepdims, where, mean, correction)
