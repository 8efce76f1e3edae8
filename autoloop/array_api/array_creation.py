"""Tensors of anything, and of shapes alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.dtypes import DType
from autoloop_runtime.ir.argument_types import ArrayLike, DimsLike, DTypeLike
from autoloop_runtime.ir.array_kinds import holds_elsewhere
from autoloop_runtime.ir.convert import constant, has_tensor
from autoloop_runtime.ir.standard_protocols import check_device
from autoloop_runtime.ir.tensor import Tensor


def asarray(
    obj: ArrayLike | memoryview | bytes, *, dtype: DTypeLike | None = None, device: str | None = None,
    copy: bool | None = None,
) -> Tensor:  # fmt: skip
    """Return a tensor of ``obj``.

    Parameters
    ----------
    obj : tensor-like, or what has a buffer
        Python numbers (in sequences) are of the default dtypes, bool, int32, float32 and complex64.
    dtype : dtype-like, optional
        By default that of ``obj``.
    device : str, optional
        Only "cpu".
    copy : bool, optional
        ``False`` is refused for all but tensors: their values change, and are copied.

    Returns
    -------
    Tensor

    Raises
    ------
    OverflowError
        If an int does not fit the dtype.
    ValueError
        If a copy is needed and ``copy`` is false.

    Examples
    --------
    >>> print(al.asarray([[1.0, 2.0]]))
    Tensor([[1. 2.]], shape=(1, 2), dtype=float32)
    """
    check_device(device, "asarray")
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if has_tensor(obj) or holds_elsewhere((obj,)):
        tensor = constant(obj)
        if copy is False and (tensor is not obj or (wanted is not None and wanted != tensor.dtype)):
            raise ValueError("asarray: a copy is needed, and copy=False does not allow it [AL214]")
        return tensor if wanted is None else ops.cast(tensor, wanted)
    if copy is False:
        raise ValueError("asarray: a tensor never shares the memory of what may change; leave copy=False out [AL214]")
    if isinstance(obj, (np.ndarray, np.generic)) or not isinstance(obj, (bool, int, float, complex, list, tuple)):
        array = obj if isinstance(obj, np.ma.MaskedArray) else np.asarray(obj)  # which would lose its mask
        return constant(array if wanted is None else array.astype(wanted))
    return constant(obj, _default(obj) if wanted is None else wanted)


def _default(obj: Any) -> DType | None:
    """Return the dtype of Python's complex numbers, which has the width of that of its floats."""
    kind = np.result_type(np.asarray(obj)).kind if isinstance(obj, (complex, list, tuple)) else ""
    numpy_inside = isinstance(obj, (list, tuple)) and _has_arrays(obj)
    return dtypes.complex_of(dtypes.DEFAULTS[float]) if kind == "c" and not numpy_inside else None


def _has_arrays(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_arrays, value))
    return isinstance(value, (np.ndarray, np.generic))


def empty(shape: DimsLike, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return a tensor of zeros: there is none without values.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    dtype : dtype-like, optional
        By default float32.
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> al.empty((2, 3)).shape
    TensorShape([2, 3])
    """
    return ops.zeros(shape, dtype, device=device)


def empty_like(x: ArrayLike, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return zeros in the shape (and, by default, dtype) of ``x``.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like, optional
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> al.empty_like(al.ones((2, 3))).shape
    TensorShape([2, 3])
    """
    return ops.zeros_like(x, dtype, device=device)


def from_dlpack(x: object, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Return a tensor of what another library's array holds, which must lie in the machine's own memory.

    Parameters
    ----------
    x : object
        With ``__dlpack__`` and ``__dlpack_device__``.
    device : str, optional
        Only "cpu".
    copy : bool, optional
        ``False`` is refused for all but tensors: their values change, and are copied.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.from_dlpack(np.array([1.0, 2.0])))
    Tensor([1. 2.], shape=(2,), dtype=float64)
    """
    check_device(device, "from_dlpack")
    if isinstance(x, Tensor):
        return x
    if copy is False:
        raise ValueError(
            "from_dlpack: a tensor never shares the memory of what may change; leave copy=False out [AL214]"
        )
    return constant(np.from_dlpack(x))  # type: ignore[arg-type]
