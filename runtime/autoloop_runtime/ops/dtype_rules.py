"""Which dtypes an op takes, and what it gives: of what NumPy has a ufunc for, that is what the ufunc says."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType, Kind
from ..ir.op import function

#: kinds of the operands -> the dtypes to compute in, one for each, and at last that of the result
Rule: TypeAlias = Callable[..., tuple[DType, ...]]


@lru_cache(maxsize=4096)
def _resolved(ufunc: Any, *kinds: Kind) -> tuple[DType, ...]:
    dtyped = [dtypes.bool_ if kind is bool else kind for kind in kinds]
    found: tuple[DType, ...] = ufunc.resolve_dtypes((*dtyped, None))
    return found


def of_ufunc(ufunc: Any) -> Rule:
    """Return the rule that NumPy's ``ufunc`` follows, the installed NumPy's."""
    return partial(_resolved, ufunc)


def _common(kinds: tuple[Kind, ...], takes: str, lacks: str) -> DType:
    dtype = dtypes.result_type(*kinds)
    if dtype.kind not in takes:
        raise TypeError(f"dtype {dtype} {lacks}")
    return dtype


def numeric(*kinds: Kind) -> tuple[DType, ...]:
    """Let numbers of any kind, booleans included, keep their dtype."""
    return (_common(kinds, "biufc", "has no arithmetic"),) * (len(kinds) + 1)


def ordered(*kinds: Kind) -> tuple[DType, ...]:
    """Let real numbers and booleans keep their dtype."""
    return (_common(kinds, "biuf", "has no order"),) * (len(kinds) + 1)


def inexact(*kinds: Kind) -> tuple[DType, ...]:
    """Let integers and booleans become float64, as in ``numpy.mean`` and in linear algebra."""
    dtype = _common(kinds, "biufc", "has no arithmetic")
    return (dtypes.float64 if dtype.kind in "biu" else dtype,) * (len(kinds) + 1)


def floating(*kinds: Kind) -> tuple[DType, ...]:
    """Do as ``inexact`` does, for real numbers only."""
    _common(kinds, "biuf", "is complex or no number; this is defined for real numbers only")
    return inexact(*kinds)


def logical(*kinds: Kind) -> tuple[DType, ...]:
    """Take truth values; numbers are true when they are not zero."""
    numeric(*kinds)
    return (dtypes.bool_,) * (len(kinds) + 1)


def ruled(rule: Rule, name: str, *kinds: Kind) -> tuple[DType, ...]:
    """Return what ``rule`` says of operands of the op ``name``; its ``TypeError`` names the op and them."""
    try:
        return rule(*kinds)
    except TypeError as error:
        listed = " and ".join(getattr(kind, "__name__", None) or str(kind) for kind in kinds)
        raise TypeError(f"{name}: {error} (dtype {listed})") from None


def assigned_sequence(dtype: DType, axes: int, sequence: Any, is_element: bool, is_flat: bool) -> None:
    """Raise what NumPy raises for a sequence that is assigned to fewer axes than it has: an element, or a part.

    Parameters
    ----------
    dtype : numpy.dtype
    axes : int
    sequence : object
        One that is alike.
    is_element, is_flat : bool
        Whether the part is one element, and whether it is one of ``x.flat``.
    """
    array = np.empty((1,) * (axes or is_element), dtype)
    if is_flat:
        array.flat[0] = sequence
    elif is_element:
        array[0] = sequence
    else:
        array[...] = sequence


function("assigned_sequence", assigned_sequence)
