"""Element types and the one promotion table.

Types are NumPy dtypes. Python numbers (and NumPy scalars) are *weak*: they take the kind of the tensor they
meet. Between tensors:

==================  ======================================================================
same kind           as NumPy (int32 with int64: int64; float32 with float64: float64)
bool with integer   the integer's dtype
integer with float  the float's dtype (float32 stays float32, so a loop variable keeps its dtype)
signed, unsigned    as NumPy, unless NumPy would leave the integers (int64 with uint64: error)
anything else       ``TypeError`` that names both dtypes
==================  ======================================================================

and a weak operand: an ``int`` with a float tensor gives the tensor's dtype, a ``float`` with an integer
tensor float32, a ``complex`` with a float tensor the complex of its width, a ``bool`` the tensor's dtype.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

DType: TypeAlias = np.dtype[Any]

bool_: DType = np.dtype(np.bool_)
int8: DType = np.dtype(np.int8)
int16: DType = np.dtype(np.int16)
int32: DType = np.dtype(np.int32)
int64: DType = np.dtype(np.int64)
uint8: DType = np.dtype(np.uint8)
uint16: DType = np.dtype(np.uint16)
uint32: DType = np.dtype(np.uint32)
uint64: DType = np.dtype(np.uint64)
float16: DType = np.dtype(np.float16)
float32: DType = np.dtype(np.float32)
float64: DType = np.dtype(np.float64)
complex64: DType = np.dtype(np.complex64)
complex128: DType = np.dtype(np.complex128)
string: DType = np.dtype(np.str_)
#: values that are Python objects of the runtime's own (TensorArrays); never computed with
variant: DType = np.dtype(object)

#: what a Python number becomes when it stands alone
DEFAULTS: dict[type, DType] = {bool: bool_, int: int32, float: float32, complex: complex128, str: string}


def as_dtype(value: np.dtype[Any] | type[Any] | str | None) -> DType:
    """Return the NumPy dtype that ``value`` names (``TypeError`` if none), in the byte order of this machine."""
    if isinstance(value, np.dtype):
        return value if value.isnative else value.newbyteorder("=")
    if isinstance(value, type) and value in DEFAULTS:
        return DEFAULTS[value]
    if value is None:
        raise TypeError("a dtype is needed, got None")
    try:
        made: DType = np.dtype(value).newbyteorder("=")
    except TypeError:
        raise TypeError(f"{value!r} is not a dtype; use autoloop.float32, 'float32' or a NumPy dtype") from None
    return made


def is_integer(dtype: DType) -> bool:
    """Return true for signed and unsigned integers (bool is none)."""
    return dtype.kind in "iu"


def is_floating(dtype: DType) -> bool:
    """Return true for real floating types."""
    return dtype.kind == "f"


def is_inexact(dtype: DType) -> bool:
    """Return true for real and complex floating types."""
    return dtype.kind in "fc"


def complex_of(dtype: DType) -> DType:
    """Return the complex dtype whose parts have the width of ``dtype``."""
    return complex128 if dtype.itemsize > 4 else complex64


def real_of(dtype: DType) -> DType:
    """Return the dtype of the parts of a complex dtype; a real dtype is its own."""
    if dtype.kind != "c":
        return dtype
    return float64 if dtype == complex128 else float32


def promote(a: DType, b: DType) -> DType:
    """Return the common dtype of two tensors.

    Raises
    ------
    TypeError
        If the pair has none (the module's table); the message names both.
    """
    if a == b:
        return a
    kinds = a.kind + b.kind
    if kinds in ("ff", "cc", "ii", "uu"):
        same_kind: DType = np.promote_types(a, b)
        return same_kind
    if kinds in ("iu", "ui"):
        common: DType = np.promote_types(a, b)
        if common.kind in "iu":
            return common
        raise TypeError(f"no integer dtype holds both {a} and {b}; cast one of them, e.g. cast(x, int64)")
    if kinds in ("bi", "bu", "if", "uf"):
        return b
    if kinds in ("ib", "ub", "fi", "fu"):
        return a
    raise TypeError(f"dtypes {a} and {b} do not combine; cast one of them, e.g. cast(x, {_target(a, b)})")


def _target(a: DType, b: DType) -> DType:
    """Return what to suggest casting to: the richer of the two."""
    order = "SUOMmbuifc"
    return a if order.find(a.kind) > order.find(b.kind) else b


def promote_weak(dtype: DType, number: Any) -> DType:
    """Return the dtype of a tensor of ``dtype`` combined with a Python number.

    Raises
    ------
    OverflowError
        If ``number`` is an int that the dtype cannot hold.
    TypeError
        If ``number`` is no number.
    """
    if isinstance(number, (bool, np.bool_)):
        return dtype
    if isinstance(number, (int, np.integer)):
        out = int32 if dtype.kind == "b" else dtype
        check_fits(int(number), out)
        return out
    if isinstance(number, (float, np.floating)):
        return dtype if is_inexact(dtype) else float32
    if isinstance(number, (complex, np.complexfloating)):
        if dtype.kind == "c":
            return dtype
        return complex_of(dtype) if dtype.kind == "f" else complex128
    if isinstance(number, str) and dtype.kind in "US":
        return dtype
    raise TypeError(f"{number!r} of type {type(number).__name__} does not combine with a tensor of dtype {dtype}")


def check_fits(number: int, dtype: DType) -> None:
    """Raise ``OverflowError`` if ``dtype`` is an integer type that does not hold ``number``."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if not info.min <= number <= info.max:
            raise OverflowError(
                f"Python integer {number} does not fit {dtype} "
                f"({info.min}..{info.max}); give a wider dtype, e.g. dtype=int64"
            )


def division(dtype: DType) -> DType:
    """Return the dtype of true division, ``mean``, ``exp``, ... of ``dtype``: integers leave the integers.

    8- and 16-bit integers and bool give float32, 32- and 64-bit ones float64.
    """
    if dtype.kind in "fc":
        return dtype
    if dtype.kind in "biu":
        return float32 if dtype.itemsize <= 2 else float64
    raise TypeError(f"dtype {dtype} has no arithmetic")


def takes(dtype: DType, number: complex) -> bool:
    """Return whether a Python number can have ``dtype`` without losing its kind."""
    kinds = {bool: "b", int: "iufc", float: "fc", complex: "c"}
    return dtype.kind in next(k for t, k in kinds.items() if isinstance(number, t))
