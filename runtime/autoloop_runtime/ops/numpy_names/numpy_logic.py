"""NumPy's functions that ask something of arrays: whether they are close or equal, of which kind they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...base.fp_warnings import INVALID
from ...base.stand_ins import UnknownExtent, UnknownWhileTracing
from ...ir.graph import current_graph
from ...ir.number_operators import number_type
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import composed, trigonometry
from ..complex_numbers import imag as imaginary
from ..complex_numbers import real as real_part
from ..filled import ones_like, zeros_like
from ..logic import equal, isinf, isnan, logical_and, logical_or
from ..operands import as_dtype, is_tensor, weak_type
from ..reductions import all as every
from .counterparts import as_operand, as_operands, counterpart, known, refused
from .library_rows import library


def _beside(a: Any, b: Any, rtol: Any, atol: Any) -> list[Any]:
    """Return the arguments of ``np.isclose``, which makes floats of the second operand before they meet; one that is a
    number of Python's stays it, and so does what it is near by."""
    _note_errors(rtol, atol)
    kind = weak_type(b)
    if kind is None or weak_type(a) is not None:
        second = as_operand(b)
        return [*as_operands(a, as_dtype(second, np.result_type(second.dtype, 1.0))), rtol, atol]
    first = as_operand(a)
    common = np.result_type(first.dtype, 1j if kind is complex else 1.0)
    return [as_dtype(first, common), as_dtype(as_operand(b), common), 0, atol + rtol * abs(b)]


def _note_errors(*tolerances: Any) -> None:
    """Note that NumPy itself, no operation, may tell of an error: of tolerances that are not finite."""
    graph = current_graph()
    if graph is not None and not all(isinstance(one, (int, float)) and math.isfinite(one) for one in tolerances):
        graph.root.errors_while_traced |= INVALID


@counterpart(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Tensor:
    """Return ``np.isclose``."""
    x, y, rtol, atol = _beside(a, b, rtol, atol)
    return composed.isclose(x, y, rtol, atol, known(np.isclose, equal_nan=equal_nan))


@counterpart(np.allclose, number=True)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Tensor:
    """Return ``np.allclose``."""
    x, y, rtol, atol = _beside(a, b, rtol, atol)
    return composed.allclose(x, y, rtol, atol, known(np.allclose, equal_nan=equal_nan))


def _same(x: Tensor, y: Tensor, equal_nan: Any) -> Tensor:
    found = equal(x, y)
    return logical_or(found, logical_and(isnan(x), isnan(y))) if equal_nan and x.dtype.kind in "fc" else found


#: of arrays of which only the run knows the extents
_alike = library(
    "arrays_alike", lambda x, y, equal_nan: np.array_equal(x, y, equal_nan), lambda *_, **__: [], NO_GRADIENT,
    dtype=lambda *_, **__: np.dtype(bool),
)  # fmt: skip


@counterpart(np.array_equal, number=True)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Tensor:
    """Return ``np.array_equal``."""
    x, y = as_operand(a1), as_operand(a2)
    if not x.shape.is_compatible_with(y.shape):
        return as_operand(False)
    equal_nan = bool(known(np.array_equal, equal_nan=equal_nan))
    if not (x.shape.is_fully_defined() and y.shape.is_fully_defined()):
        return _alike(x, y, equal_nan=equal_nan)  # type: ignore[no-any-return]
    x, y = as_operands(x, y)
    return every(_same(x, y, equal_nan))


@counterpart(np.array_equiv, number=True)
def array_equiv(a1: Any, a2: Any) -> Tensor:
    """Return ``np.array_equiv``."""
    x, y = as_operands(as_operand(a1), as_operand(a2))
    try:
        np.broadcast_shapes(x.shape.as_tuple(), y.shape.as_tuple())
    except ValueError as error:
        if not (x.shape.is_fully_defined() and y.shape.is_fully_defined()):
            raise UnknownExtent(f"numpy.array_equiv: the shapes must be known, got {x.shape} and {y.shape}") from error
        return as_operand(False)
    return every(equal(x, y))


def _infinite(theirs: Any, x: Any, out: Any, negative: bool) -> Tensor:
    if out is not None:
        refused(theirs, "out")
    x = as_operand(x)
    if x.dtype.kind == "c":
        raise TypeError(f"This operation is not supported for {x.dtype} values because it would be ambiguous.")
    return logical_and(isinf(x), x < 0 if negative else x > 0)


@counterpart(np.isneginf)
def isneginf(x: Any, out: Any = None) -> Tensor:
    """Return ``np.isneginf``."""
    return _infinite(np.isneginf, x, out, True)


@counterpart(np.isposinf)
def isposinf(x: Any, out: Any = None) -> Tensor:
    """Return ``np.isposinf``."""
    return _infinite(np.isposinf, x, out, False)


@counterpart(np.iscomplex)
def iscomplex(x: Any) -> Tensor:
    """Return ``np.iscomplex``."""
    x = as_operand(x)
    return imaginary(x) != 0 if x.dtype.kind == "c" else zeros_like(x, bool)


@counterpart(np.isreal)
def isreal(x: Any) -> Any:
    """Return ``np.isreal``: of a number of Python's a ``bool``."""
    if number_type(x) is not None:
        return x.imag == 0
    x = as_operand(x)
    return equal(imaginary(x), 0) if x.dtype.kind == "c" else ones_like(x, bool)


@counterpart(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Return ``np.iscomplexobj``."""
    return as_operand(x).dtype.kind == "c"


@counterpart(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """Return ``np.isrealobj``."""
    return as_operand(x).dtype.kind != "c"


@counterpart(np.iterable)
def iterable(y: Any) -> bool:
    """Return ``np.iterable``."""
    return not is_tensor(y) or as_operand(y).shape.rank != 0


@counterpart(np.isfortran)
def isfortran(a: Any) -> bool:
    """Return False of arrays of one axis or none; of others what lies where in memory is not known."""
    if as_operand(a).shape.rank in (0, 1):
        return False
    raise UnknownWhileTracing("numpy.isfortran: what lies where in memory is not known while a graph is built")


@counterpart(np.real_if_close)
def real_if_close(a: Any, tol: Any = 100) -> Tensor:
    """Return ``np.real_if_close`` of real arrays; of complex ones the dtype is not known before the run."""
    x = as_operand(a)
    if x.dtype.kind != "c":
        return x
    raise UnknownWhileTracing(
        "numpy.real_if_close: the dtype of a complex array's result is not known before the run: numpy.real(x)"
    )


@counterpart(np.angle)
def angle(z: Any, deg: Any = False) -> Tensor:
    """Return ``np.angle``."""
    x = as_operand(z)
    made = trigonometry.arctan2(0, x) if x.dtype.kind in "biu" else trigonometry.angle(x)
    return made * float(180 / np.pi) if known(np.angle, deg=deg) else made


@counterpart(np.real)
def real(val: Any) -> Any:
    """Return ``np.real``: of a number of Python's what that says."""
    return real_part(as_operand(val)) if number_type(val) is None else val.real


@counterpart(np.imag)
def imag(val: Any) -> Any:
    """Return ``np.imag``: of a number of Python's what that says."""
    return imaginary(as_operand(val)) if number_type(val) is None else val.imag


def _as_typed(value: Any) -> Any:
    """Return what NumPy is asked about the dtype of: of a tensor that, of what stands for a number of Python's one."""
    if not is_tensor(value):
        return of_numbers(value) if isinstance(value, (tuple, list)) else value
    number = number_type(value)
    return as_operand(value).dtype if number is None else number(1)


@counterpart(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return ``np.result_type``."""
    return np.result_type(*map(_as_typed, arrays_and_dtypes))


@counterpart(np.common_type)
def common_type(*arrays: Any) -> Any:
    """Return ``np.common_type``."""
    typed = [(_as_typed(one), is_tensor(one)) for one in arrays]
    return np.common_type(*[np.empty(0, one) if ours and isinstance(one, np.dtype) else one for one, ours in typed])


@counterpart(np.can_cast)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return ``np.can_cast``."""
    return bool(np.can_cast(_as_typed(from_), of_numbers(to), casting))


@counterpart(np.min_scalar_type)
def min_scalar_type(a: Any, /) -> Any:
    """Return ``np.min_scalar_type`` of arrays; of numbers it depends on the value."""
    x = as_operand(a)
    if x.shape.rank == 0:
        raise UnknownWhileTracing("numpy.min_scalar_type: it depends on a value that is not known before the run")
    return x.dtype


@counterpart(getattr(np, "astype", None))
def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Tensor:
    """Return ``np.astype``."""
    if not is_tensor(x):
        raise TypeError(f"numpy.astype: Input should be a NumPy array. It is of type {type(x)}.")
    if device not in (None, "cpu"):
        refused(np.astype, "device")
    return as_operand(x, float if dtype is None else dtype)  # as of a dtype's name
