"""Rounding; integers are their own."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.tensor import Tensor
from .define import public
from .dtype_rules import of_ufunc
from .elementwise import unary
from .filled import zeros_like
from .operands import cast

if TYPE_CHECKING:
    from .public_functions import Unary

__all__ = ["ceil", "floor", "rint", "round", "trunc"]


def _rounding(name: str, kernel: Any, doc: str) -> Unary:
    rounded = unary(
        name, kernel, f"np.{kernel.__name__}({{0}})", lambda g, y, x: zeros_like(g), doc=doc, numpy=kernel,
        llvm={"f": f"call $t @llvm.{name}.$s($t $x)"},
    )  # fmt: skip
    rule = of_ufunc(kernel)

    @public(name=name, numpy=kernel)
    def f(x: ArrayLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(x)
        return x if x.dtype.kind in "biu" and rule(x.dtype)[1] == x.dtype else rounded(x, name)

    f.__doc__ = rounded.__doc__
    return f


floor = _rounding("floor", np.floor, "The largest integer not above ``x``.")

ceil = _rounding("ceil", np.ceil, "The smallest integer not below ``x``.")

trunc = _rounding("trunc", np.trunc, "``x`` rounded towards zero.")

rint = _rounding("rint", np.rint, "The nearest integer, halves to even.")


@public()
def round(x: ArrayLike, decimals: int = 0, name: str | None = None) -> Tensor:
    """Return ``x`` rounded to ``decimals`` places, halves to even.

    Parameters
    ----------
    x : tensor-like
    decimals : int
        May be negative, for tens and hundreds.
    name : str, optional
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
