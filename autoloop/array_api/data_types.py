"""Facts about dtypes, and what becomes of them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.dtypes import DType
from autoloop_runtime.ir.argument_types import ArrayLike, DTypeLike
from autoloop_runtime.ir.array_kinds import computing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.standard_protocols import check_device
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.operands import weak_type

#: what has a dtype, or is one
_Typed: TypeAlias = ArrayLike | DTypeLike


def _dtype_of(value: _Typed) -> DType:
    if isinstance(value, (type, np.dtype, str)):
        return dtypes.as_dtype(value)
    return convert_to_tensor(value).dtype


@computing
def astype(
    x: ArrayLike, dtype: DTypeLike, name: str | None = None, *, copy: bool = True, device: str | None = None
) -> Tensor:
    """Return ``x`` with its elements converted to ``dtype``, as ``cast`` does.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like
    name : str, optional
    copy : bool
        Of no matter: values do not change.
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.astype(al.constant([1, 2]), al.float64))
    Tensor([1. 2.], shape=(2,), dtype=float64)
    """
    check_device(device, "astype")
    return ops.cast(x, dtype, name)


@computing
def can_cast(from_: _Typed, to: DTypeLike) -> bool:
    """Return whether every value of a dtype (of a tensor) is one of the dtype ``to``, by NumPy's rules.

    Parameters
    ----------
    from_ : dtype or tensor
    to : dtype-like

    Returns
    -------
    bool

    Examples
    --------
    >>> al.can_cast(al.int32, al.int64)
    True
    """
    return bool(np.can_cast(_dtype_of(from_), dtypes.as_dtype(to)))


@computing
def result_type(*arrays_and_dtypes: _Typed) -> DType:
    """Return the dtype that values promote to, see ``numpy.result_type``; Python numbers are weak.

    Parameters
    ----------
    *arrays_and_dtypes : tensor-like or dtype

    Returns
    -------
    dtype

    Raises
    ------
    ValueError
        If there is no tensor and no dtype among them.

    Examples
    --------
    >>> al.result_type(al.int32, al.float32)
    dtype('float64')
    """
    kinds = [weak_type(one) or _dtype_of(one) for one in arrays_and_dtypes]
    if all(isinstance(kind, type) for kind in kinds):
        raise ValueError("result_type: at least one tensor or dtype is needed [AL214]")
    return dtypes.result_type(*kinds)


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> bool:
    """Return whether a dtype is of a kind.

    Parameters
    ----------
    dtype : dtype-like
    kind : dtype-like, str, or tuple of them
        A dtype, or "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating" or
        "numeric"; a tuple is for any of them.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If there is no such kind.

    Examples
    --------
    >>> al.isdtype(al.float32, "real floating")
    True
    """
    return bool(np.isdtype(dtypes.as_dtype(dtype), kind))


@dataclass(frozen=True)
class FloatLimits:
    """The limits of a dtype of floats, as Python numbers; of a complex dtype those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerLimits:
    """The limits of a dtype of integers, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: DType


@computing
def finfo(type: _Typed) -> FloatLimits:
    """Return the limits of a dtype of floats, or of that of a tensor.

    Parameters
    ----------
    type : dtype or tensor

    Returns
    -------
    FloatLimits

    Examples
    --------
    >>> al.finfo(al.float32).bits
    32
    """
    dtype = _dtype_of(type)
    if dtype.kind not in "fc":
        raise TypeError(f"finfo: dtype {dtype} is not one of floats; iinfo has the limits of integers [AL214]")
    found = np.finfo(dtype)
    return FloatLimits(
        found.bits, float(found.eps), float(found.max), float(found.min), float(found.smallest_normal), found.dtype
    )


@computing
def iinfo(type: _Typed) -> IntegerLimits:
    """Return the limits of a dtype of integers, or of that of a tensor.

    Parameters
    ----------
    type : dtype or tensor

    Returns
    -------
    IntegerLimits

    Examples
    --------
    >>> al.iinfo(al.int16).max
    32767
    """
    dtype = _dtype_of(type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: dtype {dtype} is not one of integers; finfo has the limits of floats [AL214]")
    found = np.iinfo(dtype)
    return IntegerLimits(found.bits, int(found.max), int(found.min), dtype)
