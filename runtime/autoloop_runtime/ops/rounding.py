"""Rounding; integers are their own."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.tensor import Tensor
from .define import Example, public
from .dtype_rules import of_ufunc
from .elementwise import unary
from .filled import zeros_like
from .operands import cast

if TYPE_CHECKING:
    from .public_functions import Unary

__all__ = ["ceil", "floor", "rint", "round", "trunc"]


def _rounding(name: str, kernel: Any, doc: str, *, example: Example) -> Unary:
    rounded = unary(
        name, kernel, f"np.{kernel.__name__}({{0}})", lambda g, y, x: zeros_like(g), doc=doc, numpy=kernel,
        llvm={"f": f"call $t @llvm.{name}.$s($t $x)"}, example=example,
    )  # fmt: skip
    rule = of_ufunc(kernel)

    @public(name=name, numpy=kernel)
    def f(x: ArrayLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(x)
        return x if x.dtype.kind in "biu" and rule(x.dtype)[1] == x.dtype else rounded(x, name)

    f.__doc__ = rounded.__doc__
    return f


floor = _rounding(
    "floor",
    np.floor,
    "The largest integer not above ``x``.",
    example=("al.floor([1.7, -1.2])", "Tensor([ 1. -2.], shape=(2,), dtype=float32)"),
)

ceil = _rounding(
    "ceil",
    np.ceil,
    "The smallest integer not below ``x``.",
    example=("al.ceil([1.2, -1.2])", "Tensor([ 2. -1.], shape=(2,), dtype=float32)"),
)

trunc = _rounding(
    "trunc",
    np.trunc,
    "``x`` rounded towards zero.",
    example=("al.trunc([1.7, -1.7])", "Tensor([ 1. -1.], shape=(2,), dtype=float32)"),
)

rint = _rounding(
    "rint",
    np.rint,
    "The nearest integer, halves to even.",
    example=("al.rint([0.5, 1.5, 2.4])", "Tensor([0. 2. 2.], shape=(3,), dtype=float32)"),
)


@public()
def round(x: ArrayLike, decimals: int = 0, name: str | None = None) -> Tensor:
    """Return ``x`` rounded to ``decimals`` places, halves to even.

    Parameters
    ----------
    x : tensor-like
    decimals : int
        May be negative, for tens and hundreds.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.round([1.25, 2.75], 1))
    Tensor([1.2 2.8], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(x)
    if x.dtype.kind == "b":
        return cast(x, dtypes.float16)  # as in NumPy
    if x.dtype.kind in "iu":
        return x if decimals >= 0 else cast(round(cast(x, dtypes.float64), decimals), x.dtype)
    if decimals == 0:
        return rint(x, name)
    scale = 10.0 ** operator.abs(decimals)
    return rint(x * scale, name) / scale if decimals > 0 else rint(x / scale, name) * scale
