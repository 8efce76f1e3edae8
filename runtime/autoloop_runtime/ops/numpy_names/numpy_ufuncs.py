"""NumPy's element-wise functions that al. has none of: kernels are NumPy's own, in the dtypes of NumPy's loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from ...ir.traits import FUNCTION, NO_GRADIENT, NO_TEMPLATE, NoRule
from ..arithmetic import abs as absolute
from ..broadcasting import unbroadcast
from ..complex_numbers import conj
from ..elementwise import conjugated
from ..logic import equal, greater, isnan, less
from ..operands import as_dtype
from ..powers import exp2, log
from ..powers import pow as power
from ..rounding import trunc
from ..selection import where
from .counterparts import as_operands, counterpart
from .library_rows import Library, library
from .ufunc_calls import in_loop


def _elementwise(name: str, ufunc: Any, slopes: Any) -> Library:
    """Declare the row of a ufunc; ``slopes(g, y, *inputs)`` gives the gradients, None for an input that has none."""

    def vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        made = slopes(g, outputs[0], *inputs)
        pairs = zip(made, inputs)
        return [None if one is None else unbroadcast(as_dtype(one, x.dtype), x, outputs[0]) for one, x in pairs]

    row = library(
        name, ufunc, "broadcast", slopes if isinstance(slopes, NoRule) else vjp, traits=FUNCTION, llvm=NO_TEMPLATE,
    )  # fmt: skip
    counterpart(ufunc)(_in_its_loop(ufunc, row))
    return row


def _in_its_loop(ufunc: Any, row: Library) -> Any:
    return lambda *inputs: row(*in_loop(ufunc, inputs))


def _larger(first: Any) -> Any:
    """Return the gradients of a choice between two that passes over nan: half to each where they are equal."""

    def slopes(g: Any, y: Any, a: Any, b: Any) -> Any:
        share = where(equal(a, b), 0.5, where(first(a, b), 1.0, 0.0))
        share = where(isnan(b), 1.0, where(isnan(a), 0.0, share))
        return g * share, g * (1 - share)

    return slopes


def _logaddexp2_slopes(g: Any, y: Any, a: Any, b: Any) -> Any:
    return g * exp2(a - y), g * exp2(b - y)


def _float_power_slopes(g: Any, y: Any, a: Any, b: Any) -> Any:
    if y.dtype.kind == "c":
        a, b, y = conjugated(as_dtype(a, y.dtype)), conjugated(as_dtype(b, y.dtype)), conjugated(y)
        return g * b * power(a, b - 1), where(equal(a, 0), 0, g * y * log(where(equal(a, 0), 1, a)))
    base = where(equal(a, 0), 1, a)
    return g * b * power(a, b - 1), where(equal(a, 0), 0, g * y * log(absolute(base)))


_DEGREE = float(np.pi / 180)

fmax = _elementwise("fmax", np.fmax, _larger(greater))
fmin = _elementwise("fmin", np.fmin, _larger(less))
fmod = _elementwise("numpy_fmod", np.fmod, lambda g, y, a, b: (g, -g * trunc(a / b)))
heaviside = _elementwise("heaviside", np.heaviside, lambda g, y, a, b: (None, where(equal(a, 0), g, 0 * g)))
logaddexp2 = _elementwise("logaddexp2", np.logaddexp2, _logaddexp2_slopes)
float_power = _elementwise("float_power", np.float_power, _float_power_slopes)
deg2rad = _elementwise("deg2rad", np.deg2rad, lambda g, y, x: (g * _DEGREE,))
radians = _elementwise("radians", np.radians, lambda g, y, x: (g * _DEGREE,))
rad2deg = _elementwise("rad2deg", np.rad2deg, lambda g, y, x: (g / _DEGREE,))
degrees = _elementwise("degrees", np.degrees, lambda g, y, x: (g / _DEGREE,))
positive = _elementwise("positive", np.positive, lambda g, y, x: (g,))
ldexp = _elementwise("ldexp", np.ldexp, lambda g, y, x, i: (g * exp2(as_dtype(i, x.dtype)), None))
nextafter = _elementwise("nextafter", np.nextafter, lambda g, y, a, b: (g, None))
spacing = _elementwise("spacing", np.spacing, NO_GRADIENT)
signbit = _elementwise("signbit", np.signbit, NO_GRADIENT)
bitwise_count = _elementwise("bitwise_count", np.bitwise_count, NO_GRADIENT)
gcd = _elementwise("gcd", np.gcd, NO_GRADIENT)
lcm = _elementwise("lcm", np.lcm, NO_GRADIENT)

_modf = library("modf", np.modf, ["same", "same"], lambda g, outputs, inputs, attrs: [g[0]])
_frexp = library("frexp", np.frexp, ["same", "same"], lambda g, outputs, inputs, attrs: [
    None if g[0] is None else g[0] / exp2(as_dtype(outputs[1], g[0].dtype))
])  # fmt: skip


@counterpart(np.fabs)
def fabs(x: Any) -> Tensor:
    """Return the absolute value, of integers as a float."""
    return absolute(in_loop(np.fabs, [x])[0])


@counterpart(np.conjugate)
def conjugate(x: Any) -> Any:
    """Return the complex conjugate; booleans count as int8."""
    return conj(in_loop(np.conjugate, [x])[0])


@counterpart(np.modf)
def modf(x: Any) -> Any:
    """Return the fractional and the whole part."""
    return _modf(*in_loop(np.modf, [x]))


@counterpart(np.frexp)
def frexp(x: Any) -> Any:
    """Return mantissa and exponent."""
    return _frexp(*in_loop(np.frexp, [x]))


@counterpart(np.divmod)
def divmod(x: Any, y: Any) -> Any:
    """Return the quotient, rounded down, and the remainder."""
    a, b = as_operands(x, y)
    return a // b, a % b
