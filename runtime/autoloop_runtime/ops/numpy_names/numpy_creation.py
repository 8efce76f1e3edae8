"""Arrays that NumPy makes of extents, numbers and functions: by default float64, and int64 of Python ints."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers, warn_of_discarded
from ...base.stand_ins import UnknownWhileTracing
from ...ir.number_operators import number_type
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import complex_numbers, creation, filled
from ..array import expand_dims
from ..broadcasting import broadcast_to
from ..operands import as_dtype, is_tensor, weak_type
from ..reducing import sum as total
from ..shape_queries import dim, shape_of
from .counterparts import as_operand, counterpart, refused, unsupported, whole
from .library_rows import LIBRARY, library


def _made(theirs: Any, value: Any, dtype: Any, order: Any, **others: Any) -> Tensor:
    """Return a value as an array; what the order in memory is cannot be seen."""
    if order not in (None, "K", "A", "C", "F"):
        raise ValueError(f"{theirs.__name__}: order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if others.pop("device", None) not in (None, "cpu"):
        refused(theirs, "device")
    unsupported(theirs, **others)
    if dtype is not None and isinstance(value, Tensor):
        warn_of_discarded(value.dtype, of_numbers(dtype))
    return as_operand(value, dtype)


@counterpart(np.array)
def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: Any = False, ndmin: Any = 0,
    ndmax: Any = 0, like: Any = None,
) -> Tensor:  # fmt: skip
    """Return ``np.array``."""
    made = _made(np.array, object, dtype, order, subok=subok, ndmax=ndmax, like=like)
    while ndmin and made.ndim < ndmin:
        made = expand_dims(made, 0)
    return made


@counterpart(np.asarray)
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Tensor:
    """Return ``np.asarray``."""
    return _made(np.asarray, a, dtype, order, device=device, like=like)


def _filled(theirs: Any, shape: Any, value: Any, dtype: Any, order: Any, **others: Any) -> Tensor:
    if order not in ("C", "F", None):
        raise ValueError(f"{theirs.__name__}: only 'C' or 'F' order is permitted (got {order!r})")
    if others.pop("device", None) not in (None, "cpu"):
        refused(theirs, "device")
    unsupported(theirs, **others)
    fill = _as_fill(value, dtype)
    return filled.full(shape, fill) if fill.shape.rank == 0 else broadcast_to(fill, shape)


def _or_float(dtype: Any) -> Any:
    return float if dtype is None else dtype


@counterpart(np.zeros)
def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Tensor:
    """Return ``np.zeros``."""
    return _filled(np.zeros, shape, 0.0, _or_float(dtype), order, device=device, like=like)


@counterpart(np.empty)
def empty(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Tensor:
    """Return ``np.empty``: zeros."""
    return _filled(np.empty, shape, 0.0, _or_float(dtype), order, device=device, like=like)


@counterpart(np.ones)
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Tensor:
    """Return ``np.ones``."""
    return _filled(np.ones, shape, 1.0, _or_float(dtype), order, device=device, like=like)


@counterpart(np.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Tensor:
    """Return ``np.full``."""
    return _filled(np.full, shape, fill_value, dtype, order, device=device, like=like)


@counterpart(np.arange)
def arange(
    start_or_stop: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, like: Any = None
) -> Tensor:
    """Return ``np.arange``."""
    if device not in (None, "cpu"):
        refused(np.arange, "device")
    unsupported(np.arange, like=like)
    start, stop = (0, start_or_stop) if stop is None else (start_or_stop, stop)
    given = (start, stop, 1 if step is None else step)
    if any(isinstance(one, (list, tuple)) for one in given):
        raise UnknownWhileTracing("numpy.arange takes numbers; what it says of lists NumPy alone knows")
    first, last, by = map(as_operand, given)
    found = np.result_type(np.int64, first.dtype, last.dtype, by.dtype)
    if found.kind not in "iuf":
        raise UnknownWhileTracing(
            f"numpy.arange: the arguments must be real numbers where tensors take part, not of {found}"
        )
    common = found if dtype is None else of_numbers(dtype)
    if not (_is_as_far(*given) and _are_counted_up(start, given[2], found, common)):
        weak = tuple([weak_type(one) is not None for one in given])
        made: Tensor = _counted_in(first, last, by, weak=weak, dtype=common)
        return made
    first, last, by = as_dtype(first, found), as_dtype(last, found), as_dtype(by, found)
    return as_dtype(creation.range(first, last, by), common)


def _is_as_far(start: Any, stop: Any, step: Any) -> bool:
    """Return whether it is as far from start to stop in 64 bits as in the dtypes of NumPy's scalars.

    NumPy subtracts, divides and adds them as they are: of ``np.uint8(5)`` and ``np.uint8(2)`` it counts 253 numbers.
    """
    if type(step) not in (int, float) or not step:  # a step that is or may be 0 has words of NumPy's
        return False
    if type(start) is int and start == 0 and type(step) is int and step > 0:
        return as_operand(stop).dtype.name != "uint64"
    return all(weak_type(one) is not None or as_operand(one).dtype.name in _SIXTY_FOUR for one in (start, stop))


_SIXTY_FOUR = ("int64", "float64")


def _are_counted_up(start: Any, step: Any, found: np.dtype[Any], common: np.dtype[Any]) -> bool:
    """Return whether the numbers are start, start + step, start + 2 * step, ..., cast from ``found`` to ``common``.

    NumPy counts in ``common``, by the difference of the first two numbers: what they have lost is missing in all
    others, and both have to fit.
    """
    if common == found and found.kind != "f":
        return True
    if type(start) not in (int, float) or type(step) not in (int, float):
        return False
    if common.kind in "iu":
        info = np.iinfo(common)
        return found.kind != "f" and all(info.min <= one <= info.max for one in (start, start + step))
    if common == found or (found.kind != "f" and common.name in ("float64", "complex128")):
        return bool(np.float64(start) + step - start == step)
    return found.kind != "f" and common.kind in "fc" and (start, step) == (0, 1)  # each is rounded by itself


def _counted_slopes(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    g = complex_numbers.real(g) if g.dtype.kind == "c" else g
    counts = as_dtype(creation.range(dim(outputs[0], 0)), g.dtype)
    slopes = [total(g), None, total(g * counts)]
    return [s if s is None or x.dtype.kind not in "fc" else as_dtype(s, x.dtype) for s, x in zip(slopes, inputs)]


def _counted(*given: Any, weak: tuple[bool, ...], dtype: Any) -> Any:
    first, last, by = [one.item() if is_weak else one for one, is_weak in zip(given, weak)]
    return np.arange(first, last, by, dtype=dtype)


_counted_in = library(
    "arange_in_dtype", _counted, lambda *_, **__: [None], _counted_slopes, dtype=lambda *_, weak, dtype: dtype,
    traits=LIBRARY.but(raises=Exception),
)  # fmt: skip


@counterpart(np.eye)
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *, device: Any = None, like: Any = None
) -> Tensor:
    """Return ``np.eye``."""
    if device not in (None, "cpu"):
        refused(np.eye, "device")
    unsupported(np.eye, like=like)
    if order not in (None, "K", "A", "C", "F"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    k = whole(np.eye, "k", k) if is_tensor(k) else operator.index(k)
    return _diagonal(_extent(N), _extent(N if M is None else M), k, of_numbers(dtype))


def _diagonal(rows: Any, columns: Any, k: Any, dtype: np.dtype[Any]) -> Tensor:
    if is_tensor(rows) or is_tensor(columns):
        k = filled.full([rows, columns], k)  # refuses negative extents, which have empty ranges
    return creation.eye(rows, columns, k, dtype)


@counterpart(np.identity)
def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """Return ``np.identity``."""
    unsupported(np.identity, like=like)
    return _diagonal(_extent(n), _extent(n), 0, of_numbers(_or_float(dtype)))


def _extent(n: Any) -> Any:
    return whole(np.eye, "M", n) if is_tensor(n) else int(whole(np.eye, "M", n))


# -- of other arrays --------------------------------------------------------------------------------------


@counterpart(np.asanyarray)
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Tensor:
    """Return ``np.asanyarray``."""
    return _made(np.asanyarray, a, dtype, order, device=device, like=like)


@counterpart(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """Return ``np.ascontiguousarray``, which has at least one axis."""
    return _with_axes(np.ascontiguousarray, _made(np.ascontiguousarray, a, dtype, None, like=like))


def _with_axes(theirs: Any, made: Tensor) -> Tensor:
    if made.shape.rank is None:
        raise UnknownWhileTracing(f"whether numpy.{theirs.__name__} gives a value one more axis, only the run knows")
    return expand_dims(made, 0) if made.shape.rank == 0 else made


@counterpart(np.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """Return ``np.asfortranarray``; how it lies in memory cannot be seen."""
    return _with_axes(np.asfortranarray, _made(np.asfortranarray, a, dtype, None, like=like))


def _checked_finite(x: Any) -> Any:
    return np.asarray_chkfinite(x).copy()


_finite = library("asarray_chkfinite", _checked_finite, "same", lambda g, outputs, inputs, attrs: [g])


@counterpart(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """Return ``np.asarray_chkfinite``."""
    return _finite(_made(np.asarray_chkfinite, a, dtype, order))


@counterpart(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Tensor:
    """Return ``np.require``; what is required of memory cannot be seen."""
    return _made(np.require, a, dtype, None, like=like)


@counterpart(np.copy)
def copy(a: Any, order: Any = "K", subok: Any = False) -> Tensor:
    """Return ``np.copy``."""
    return _made(np.copy, a, None, order)


@counterpart(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: Any = -1, *, like: Any = None) -> Tensor:
    """Return ``np.fromiter``."""
    unsupported(np.fromiter, like=like)
    values = list(iter)
    if count >= 0 and count > len(values):
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(values)} items. (fromiter)")
    return as_operand(values if count == -1 else values[: max(count, 0)], dtype)


def _like(theirs: Any, a: Any, value: Any, dtype: Any, order: Any, shape: Any, device: Any) -> Tensor:
    if order not in ("C", "K", "A", "F", None):
        raise ValueError(f"{theirs.__name__}: order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device} ({theirs.__name__})')
    x = as_operand(a)
    wanted = x.dtype if dtype is None else of_numbers(dtype)
    extents = shape_of(x) if shape is None else shape
    fill = _as_fill(value, wanted)
    return filled.full(extents, fill) if fill.shape.rank == 0 else broadcast_to(fill, extents)


def _as_fill(value: Any, dtype: Any) -> Tensor:
    """Return what fills an array of a dtype, if one is given: what NumPy casts, whatever may be lost.

    Of a list NumPy makes an array first, of which what does not fit wraps, and of a float and a complex number of
    Python's what C makes of them. Only its ints have to fit.
    """
    if dtype is None:
        return as_operand(value)
    wanted = of_numbers(dtype)
    if isinstance(value, (list, tuple)):
        return as_operand(as_operand(value), wanted)
    if is_tensor(value):
        weak = number_type(value)
        return as_operand(value, wanted) if weak in (int, bool) else as_dtype(as_operand(value), wanted)
    return as_operand(np.full(np.shape(value), value, wanted)[()])


@counterpart(np.zeros_like)
def zeros_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, *, device: Any = None
) -> Tensor:
    """Return ``np.zeros_like``."""
    return _like(np.zeros_like, a, 0, dtype, order, shape, device)


@counterpart(np.ones_like)
def ones_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, *, device: Any = None
) -> Tensor:
    """Return ``np.ones_like``."""
    return _like(np.ones_like, a, 1, dtype, order, shape, device)


@counterpart(np.empty_like)
def empty_like(
    prototype: Any, /, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, *, device: Any = None
) -> Tensor:
    """Return ``np.empty_like``: zeros."""
    return _like(np.empty_like, prototype, 0, dtype, order, shape, device)


@counterpart(np.full_like)
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, *,
    device: Any = None,
) -> Tensor:  # fmt: skip
    """Return ``np.full_like``."""
    return _like(np.full_like, a, fill_value, dtype, order, shape, device)


def _fitting(x: Any, dtype: np.dtype[Any]) -> Any:
    info, values = np.iinfo(dtype), np.asarray(x)
    outside = values[(values < info.min) | (values > info.max)]
    if outside.size:
        raise OverflowError(f"Python integer {outside.flat[0]} out of bounds for {dtype}")
    return values.astype(dtype)


_of_python_ints = library(
    "of_python_ints", _fitting, "same", NO_GRADIENT, dtype=lambda x, dtype: dtype,
    traits=LIBRARY.but(raises=OverflowError),
)  # fmt: skip


def of_python_ints(x: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """Return integers as Python's ints become an array of ``dtype``: ``OverflowError`` where one does not fit."""
    made: Tensor = _of_python_ints(x, dtype=dtype)
    return made
