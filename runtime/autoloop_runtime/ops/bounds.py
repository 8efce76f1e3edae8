"""The larger and the smaller of two, and what limits values by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..ir.argument_types import ArrayLike
from ..ir.convert import as_constant, convert_to_tensor
from ..ir.tensor import Tensor
from . import later_rows
from .define import op_of, public
from .dtype_rules import of_ufunc
from .elementwise import binary, unary
from .identities import identity
from .logic import equal, isnan
from .operands import operands, weak_type
from .selection import where

if TYPE_CHECKING:
    from .public_functions import Binary

__all__ = ["clip", "maximum", "minimum", "nan_to_num", "relu"]


def _larger_grad(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Let equal operands share; where one is nan neither has a slope."""
    tie = equal(x, y)
    return where(tie, g / 2, where(x > y, g, 0)), where(tie, g / 2, where(x < y, g, 0))


def _smaller_grad(g: Any, z: Any, x: Any, y: Any) -> Any:
    return _larger_grad(g, z, y, x)


maximum = binary(
    "maximum", np.maximum, "np.maximum({0}, {1})",
    _larger_grad, doc="The larger of ``x`` and ``y``; nan if either is.", numpy=np.maximum,
    scalar={"biu": "max({0}, {1})"}, idempotent=True,
    # of 0.0 and -0.0, which are equal, NumPy's loop over half precision gives the first, and those over other floats
    # give the second
    llvm={
        "b": "or $t $x, $y",
        "i": "call $t @llvm.smax.$s($t $x, $t $y)",
        "u": "call $t @llvm.umax.$s($t $x, $t $y)",
        "f": "@max_f $x, $y",
        "h": "@first_max_f $x, $y",
    },
    example=("al.maximum([1, 5], 3)", "Tensor([3 5], shape=(2,), dtype=int32)"),
)  # fmt: skip
minimum = binary(
    "minimum", np.minimum, "np.minimum({0}, {1})",
    _smaller_grad, doc="The smaller of ``x`` and ``y``; nan if either is.", numpy=np.minimum,
    scalar={"biu": "min({0}, {1})"}, idempotent=True,
    llvm={
        "b": "and $t $x, $y",
        "i": "call $t @llvm.smin.$s($t $x, $t $y)",
        "u": "call $t @llvm.umin.$s($t $x, $t $y)",
        "f": "@min_f $x, $y",
        "h": "@first_min_f $x, $y",
    },
    example=("al.minimum([1, 5], 3)", "Tensor([1 3], shape=(2,), dtype=int32)"),
)  # fmt: skip
relu = unary(
    "relu", lambda x: np.maximum(x, 0), "np.maximum({0}, 0)", lambda g, y, x: where(x > 0, g, 0),
    rule=of_ufunc(np.positive), doc="``maximum(x, 0)``.", into="np.maximum({0}, 0, out={out})",
    llvm={"i": "~maximum $x, 0", "u": "=$x", "f": "@max_f $x, 0.0", "h": "@first_max_f $x, 0.0"},
    example=("al.relu([-1.0, 2.0])", "Tensor([0. 2.], shape=(2,), dtype=float32)"),
)  # fmt: skip


@public(aliases=("clip_by_value",))
def clip(x: ArrayLike, min: ArrayLike | None = None, max: ArrayLike | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` with its values limited to ``[min, max]``; either bound may be ``None``.

    Parameters
    ----------
    x : tensor-like
    min, max : tensor-like or None
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.clip([1, 5, 9], 2, 6))
    Tensor([2 5 6], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(x)
    if x.dtype.kind in "iu":  # as in NumPy, a Python int out of the bounds of the dtype is no bound
        info = np.iinfo(x.dtype)
        min = None if type(min) is int and min <= info.min else _inside(min, maximum, info.min)
        max = None if type(max) is int and max >= info.max else _inside(max, minimum, info.max)
    if min is None or max is None:
        x = x if min is None else maximum(x, min)
        return x if max is None else minimum(x, max, name)
    x, min, max = operands("clip", x, min, max)  # of one dtype together: a Python number between two is weak
    numbers = min.shape.rank == 0 == max.shape.rank
    return _within(minimum, _within(maximum, x, min, numbers), max, numbers, name)


def _inside(bound: Any, limit: Binary, edge: int) -> Any:
    """Return a bound; a Python int that a graph computes is at most ``edge``."""
    if not isinstance(bound, Tensor) or weak_type(bound) is not int or edge > np.iinfo(np.int64).max:
        return bound
    return type(bound)(limit(bound.plain, edge))


def _within(limit: Binary, x: Tensor, bound: ArrayLike, is_number: bool, name: str | None = None) -> Tensor:
    """Return ``limit`` of ``x`` and one of two bounds: where they are equal ``x`` stays if both bounds are numbers.

    So it is in NumPy; 0.0 and -0.0 show it. Of equal operands maximum and minimum give the second, and the first of
    half precision.
    """
    x, bound = operands("clip", x, bound)
    exchanged = is_number and x.dtype.kind == "f" and x.dtype != dtypes.float16 and _may_be_zero(bound)
    return limit(bound, x, name) if exchanged else limit(x, bound, name)


def _may_be_zero(bound: Tensor) -> bool:
    """Return whether a bound may be 0: of any other number it makes no difference which operand it is, but for the time
    that NumPy takes."""
    known = bound.constant_value()
    return known is None or not known


@public()
def nan_to_num(
    x: ArrayLike, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, name: str | None = None
) -> Tensor:
    """Return ``x`` with finite numbers in place of nan and the infinities.

    Parameters
    ----------
    x : tensor-like
    nan : float
    posinf, neginf : float, optional
        By default the largest and the smallest number of the dtype.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.nan_to_num([1.0, np.nan]))
    Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(x)
    if x.dtype.kind == "c":
        parts = [nan_to_num(part(x), nan, posinf, neginf) for part in (later_rows.real, later_rows.imag)]
        return later_rows.complex(parts[0], parts[1])
    if x.dtype.kind != "f":
        return identity(x)
    info = np.finfo(x.dtype)
    numbers = (nan, info.max if posinf is None else posinf, info.min if neginf is None else neginf)
    replaced = x
    # all are looked for before one is replaced, which can be done where ``x`` lies
    for place, number in zip((isnan(x), equal(x, np.inf), equal(x, -np.inf)), numbers):
        replaced = where(place, as_constant(x.dtype.type(number)), replaced, name)
        name = None
    return replaced


MAXIMUM = op_of(maximum)
MINIMUM = op_of(minimum)
RELU = op_of(relu)
