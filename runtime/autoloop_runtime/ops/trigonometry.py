"""Angles and their functions, the hyperbolic ones too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.tensor import Tensor
from ..ir.traits import FUNCTION
from .complex_numbers import imag, real
from .define import public
from .elementwise import binary, unary
from .powers import sqrt

if TYPE_CHECKING:
    from .public_functions import Unary

__all__ = [
    "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh", "sin",
    "sinh", "tan", "tanh",
]  # fmt: skip

sin = unary(
    "sin", np.sin, "np.sin({0})", lambda g, y, x: g * cos(x), doc="The sine.", numpy=np.sin,
    traits=FUNCTION,
    libm="sin",
    example=("al.sin([0.0, 1.0])", "Tensor([0.     0.8415], shape=(2,), dtype=float32)"),
)  # fmt: skip
cos: Unary = unary(
    "cos", np.cos, "np.cos({0})", lambda g, y, x: -g * sin(x),
    doc="The cosine.", numpy=np.cos, traits=FUNCTION,
    libm="cos",
    example=("al.cos([0.0, 1.0])", "Tensor([1.     0.5403], shape=(2,), dtype=float32)"),
)  # fmt: skip
tan = unary(
    "tan", np.tan, "np.tan({0})", lambda g, y, x: g * (1 + y * y),
    doc="The tangent.", numpy=np.tan, traits=FUNCTION,
    libm="tan",
    example=("al.tan([0.0, 1.0])", "Tensor([0.     1.5574], shape=(2,), dtype=float32)"),
)  # fmt: skip
arcsin = unary(
    "arcsin", np.arcsin, "np.arcsin({0})", lambda g, y, x: g / sqrt(1 - x * x),
    doc="The angle whose sine is ``x``.", numpy=np.arcsin, aliases=("asin",), traits=FUNCTION,
    libm="asin",
    example=("al.arcsin([0.0, 1.0])", "Tensor([0.     1.5708], shape=(2,), dtype=float32)"),
)  # fmt: skip
arccos = unary(
    "arccos", np.arccos, "np.arccos({0})", lambda g, y, x: -g / sqrt(1 - x * x),
    doc="The angle whose cosine is ``x``.", numpy=np.arccos, aliases=("acos",), traits=FUNCTION,
    libm="acos",
    example=("al.arccos([1.0, 0.0])", "Tensor([0.     1.5708], shape=(2,), dtype=float32)"),
)  # fmt: skip
arctan = unary(
    "arctan", np.arctan, "np.arctan({0})", lambda g, y, x: g / (1 + x * x),
    doc="The angle whose tangent is ``x``.", numpy=np.arctan, aliases=("atan",), traits=FUNCTION,
    libm="atan",
    example=("al.arctan([0.0, 1.0])", "Tensor([0.     0.7854], shape=(2,), dtype=float32)"),
)  # fmt: skip
sinh = unary(
    "sinh", np.sinh, "np.sinh({0})", lambda g, y, x: g * cosh(x),
    doc="The hyperbolic sine.", numpy=np.sinh, traits=FUNCTION,
    libm="sinh",
    example=("al.sinh([0.0, 1.0])", "Tensor([0.     1.1752], shape=(2,), dtype=float32)"),
)  # fmt: skip
cosh: Unary = unary(
    "cosh", np.cosh, "np.cosh({0})", lambda g, y, x: g * sinh(x),
    doc="The hyperbolic cosine.", numpy=np.cosh, traits=FUNCTION,
    libm="cosh",
    example=("al.cosh([0.0, 1.0])", "Tensor([1.     1.5431], shape=(2,), dtype=float32)"),
)  # fmt: skip
tanh = unary(
    "tanh", np.tanh, "np.tanh({0})", lambda g, y, x: g * (1 - y * y),
    doc="The hyperbolic tangent.", numpy=np.tanh, traits=FUNCTION,
    libm="tanh",
    example=("al.tanh([0.0, 1.0])", "Tensor([0.     0.7616], shape=(2,), dtype=float32)"),
)  # fmt: skip
arcsinh = unary(
    "arcsinh", np.arcsinh, "np.arcsinh({0})", lambda g, y, x: g / sqrt(x * x + 1),
    doc="The inverse of ``sinh``.", numpy=np.arcsinh, aliases=("asinh",), traits=FUNCTION,
    libm="asinh",
    example=("al.arcsinh([0.0, 1.0])", "Tensor([0.     0.8814], shape=(2,), dtype=float32)"),
)  # fmt: skip
arccosh = unary(
    "arccosh", np.arccosh, "np.arccosh({0})",
    # of complex numbers the root of the product is not always the product of the roots
    lambda g, y, x: g / (sqrt(x - 1) * sqrt(x + 1) if x.dtype.kind == "c" else sqrt(x * x - 1)),
    doc="The inverse of ``cosh``.", numpy=np.arccosh, aliases=("acosh",), traits=FUNCTION,
    libm="acosh",
    example=("al.arccosh([1.0, 2.0])", "Tensor([0.    1.317], shape=(2,), dtype=float32)"),
)  # fmt: skip
arctanh = unary(
    "arctanh", np.arctanh, "np.arctanh({0})", lambda g, y, x: g / (1 - x * x),
    doc="The inverse of ``tanh``.", numpy=np.arctanh, aliases=("atanh",), traits=FUNCTION,
    libm="atanh",
    example=("al.arctanh([0.0, 0.5])", "Tensor([0.     0.5493], shape=(2,), dtype=float32)"),
)  # fmt: skip
arctan2 = binary(
    "arctan2", np.arctan2, "np.arctan2({0}, {1})",
    lambda g, z, x, y: (g * y / (x * x + y * y), -g * x / (x * x + y * y)),
    doc="The angle whose tangent is ``x / y``, in the right quadrant.", numpy=np.arctan2,
    aliases=("atan2",),
    traits=FUNCTION,
    llvm={"f": "~libm:atan2 $x, $y"},
    example=("al.arctan2([1.0], [-1.0])", "Tensor([2.3562], shape=(1,), dtype=float32)"),
)  # fmt: skip


@public()
def angle(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return the angle of complex numbers in the plane, in radians.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.angle([1j, -1 + 0j]))
    Tensor([1.5708 3.1416], shape=(2,), dtype=float64)
    """
    x = convert_to_tensor(x)
    return arctan2(imag(x), real(x), name)
