"""Arrays that NumPy makes of extents, numbers and functions: by default float64, and int64 of Python ints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from .. import creation, filled
from ..array import expand_dims
from ..operands import as_dtype, is_tensor
from .counterparts import as_numpy_dtype, as_operand, as_operands, counterpart, refused, unsupported


def _made(theirs: Any, value: Any, dtype: Any, order: Any, **others: Any) -> Tensor:
    """Return a value as an array; what the order in memory is cannot be seen."""
    if order not in (None, "K", "A", "C"):
        refused(theirs, "order")
    unsupported(theirs, **others)
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
    if order not in ("C", "K", "A", None):
        refused(theirs, "order")
    unsupported(theirs, **others)
    return filled.full(shape, as_operand(value, dtype))


@counterpart(np.zeros)
def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Tensor:
    """Return ``np.zeros``."""
    return _filled(np.zeros, shape, 0.0, dtype or float, order, device=device, like=like)


@counterpart(np.empty)
def empty(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Tensor:
    """Return ``np.empty``: zeros."""
    return _filled(np.empty, shape, 0.0, dtype or float, order, device=device, like=like)


@counterpart(np.ones)
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Tensor:
    """Return ``np.ones``."""
    return _filled(np.ones, shape, 1.0, dtype or float, order, device=device, like=like)


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
    unsupported(np.arange, device=device, like=like)
    start, stop = (0, start_or_stop) if stop is None else (start_or_stop, stop)
    first, last, by = as_operands(start, stop, 1 if step is None else step)
    common = first.dtype if dtype is None else as_numpy_dtype(dtype)
    if common.kind == "f":
        return creation.range(as_dtype(first, common), as_dtype(last, common), as_dtype(by, common))
    return as_dtype(creation.range(first, last, by), common)


@counterpart(np.eye)
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *, device: Any = None, like: Any = None
) -> Tensor:
    """Return ``np.eye``."""
    unsupported(np.eye, order=order, device=device, like=like)
    return creation.eye(_extent(N), None if M is None else _extent(M), k, as_numpy_dtype(dtype))


@counterpart(np.identity)
def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """Return ``np.identity``."""
    unsupported(np.identity, like=like)
    return creation.eye(_extent(n), None, 0, as_numpy_dtype(dtype or float))


def _extent(n: Any) -> Any:
    return n if is_tensor(n) else int(n)
