"""Which dtypes an op takes, and what it gives: one rule for each kind of op."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..base import dtypes
from ..base.dtypes import DType

#: dtype of the (promoted) operands -> (dtype to compute in, dtype of the result)
Rule: TypeAlias = Callable[[DType], tuple[DType, DType]]


def numeric(dtype: DType) -> tuple[DType, DType]:
    """Let numbers of any kind, booleans included, keep their dtype."""
    if dtype.kind not in "biufc":
        raise TypeError(f"dtype {dtype} has no arithmetic")
    return dtype, dtype


def arithmetic(dtype: DType) -> tuple[DType, DType]:
    """Let numbers keep their dtype; booleans have none of this."""
    if dtype.kind not in "iufc":
        raise TypeError(f"dtype {dtype} is not a number; cast it, e.g. cast(x, int32)")
    return dtype, dtype


def real_arithmetic(dtype: DType) -> tuple[DType, DType]:
    """Let real numbers keep their dtype."""
    if dtype.kind not in "iuf":
        raise TypeError(f"dtype {dtype} is not a real number")
    return dtype, dtype


def ordered(dtype: DType) -> tuple[DType, DType]:
    """Let real numbers and booleans keep their dtype."""
    if dtype.kind not in "biuf":
        raise TypeError(f"dtype {dtype} has no order")
    return dtype, dtype


def inexact(dtype: DType) -> tuple[DType, DType]:
    """Let integers leave the integers, see ``dtypes.division``."""
    dtype = dtypes.division(dtype)
    return dtype, dtype


def floating(dtype: DType) -> tuple[DType, DType]:
    """Do as ``inexact`` does, for real numbers only."""
    if dtype.kind == "c":
        raise TypeError(f"dtype {dtype} is complex; this is defined for real numbers only")
    return inexact(dtype)


def predicate(dtype: DType) -> tuple[DType, DType]:
    """Answer a question about numbers: booleans."""
    return numeric(dtype)[0], dtypes.bool_


def comparison(dtype: DType) -> tuple[DType, DType]:
    """Answer a question about ordered values: booleans."""
    return ordered(dtype)[0], dtypes.bool_


def equality(dtype: DType) -> tuple[DType, DType]:
    """Answer a question about values of any dtype: booleans."""
    return dtype, dtypes.bool_


def logical(_: DType) -> tuple[DType, DType]:
    """Take truth values; numbers are true when they are not zero."""
    return dtypes.bool_, dtypes.bool_


def bits(dtype: DType) -> tuple[DType, DType]:
    """Let integers and booleans keep their dtype."""
    if dtype.kind not in "biu":
        raise TypeError(f"dtype {dtype} has no bits to work on; integers and booleans have")
    return dtype, dtype


def integers(dtype: DType) -> tuple[DType, DType]:
    """Let integers keep their dtype."""
    if dtype.kind not in "iu":
        raise TypeError(f"dtype {dtype} is not an integer")
    return dtype, dtype


def ruled(rule: Rule, dtype: DType, name: str) -> tuple[DType, DType]:
    try:
        return rule(dtype)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
