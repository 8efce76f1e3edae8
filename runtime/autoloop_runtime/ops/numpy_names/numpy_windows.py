"""NumPy's functions for signals: windows, ``sinc``, ``i0``, and rounding."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.shapes import TensorShape
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import creation, reducing, rounding
from ..bounds import maximum
from ..complex_numbers import complex, imag, real
from ..extents import known_int
from ..logic import equal
from ..operands import as_dtype
from ..powers import sqrt
from ..rounding import trunc
from ..selection import where
from ..trigonometry import sin
from .counterparts import as_operand, counterpart, known, unsupported
from .library_rows import Library, library
from .numpys_warnings import warn_as_numpy


def _length(points: Tensor, *others: Tensor) -> Any:
    found = known_int(points) if points.dtype.kind in "iu" else None
    return TensorShape([None if found is None else max(found, 0)])


def _bessel_kernel(x: Any, order: int) -> Any:
    """Return the modified Bessel function of an order: an integral of a periodic function, which few points give."""
    largest = float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x)))
    count = 2 * (20 + order + int(2 * largest) if largest < 20 else 40 + order + int(6 * largest**0.5))
    angles = np.arange(count) * (2 * np.pi / count)
    made = np.zeros(np.shape(x), np.result_type(x, np.float64))
    for c, weight in zip(np.cos(angles), np.cos(order * angles) / count):
        made += weight * np.exp(x * c)
    return made.astype(x.dtype)


def _bessel_vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    order, x = attrs["order"], inputs[0]
    return [g * (_bessel(x, order=abs(order - 1)) + _bessel(x, order=order + 1)) * 0.5]


_bessel: Any = library("modified_bessel", _bessel_kernel, "same", _bessel_vjp, dtype=lambda x, order: x.dtype)
_i0: Any = library("i0", np.i0, "same", lambda g, outputs, inputs, attrs: [g * _bessel(inputs[0], order=1)])


def _kaiser_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradient by the shape of the window: that of ``i0(beta * r) / i0(beta)``."""
    points, beta = inputs
    y, beta = outputs[0], as_dtype(beta, np.dtype(np.float64))
    middle = (as_dtype(points, y.dtype) - 1.0) * 0.5
    away = (as_dtype(creation.range(points), y.dtype) - middle) / where(equal(middle, 0.0), 1.0, middle)
    r = sqrt(maximum(1.0 - away * away, 0.0))
    slope = (_bessel(beta * r, order=1) * r - y * _bessel(beta, order=1)) / _i0(beta)
    return [None, as_dtype(reducing.sum(g * slope), inputs[1].dtype)]


_kaiser = library("kaiser", np.kaiser, _length, _kaiser_vjp)


def _window(theirs: Any) -> Library:
    return library(theirs.__name__, theirs, _length, NO_GRADIENT)


_bartlett, _blackman, _hamming, _hanning = map(_window, (np.bartlett, np.blackman, np.hamming, np.hanning))


@counterpart(np.bartlett)
def bartlett(M: Any) -> Any:
    """Return ``np.bartlett``."""
    return _bartlett(M)


@counterpart(np.blackman)
def blackman(M: Any) -> Any:
    """Return ``np.blackman``."""
    return _blackman(M)


@counterpart(np.hamming)
def hamming(M: Any) -> Any:
    """Return ``np.hamming``."""
    return _hamming(M)


@counterpart(np.hanning)
def hanning(M: Any) -> Any:
    """Return ``np.hanning``."""
    return _hanning(M)


@counterpart(np.kaiser)
def kaiser(M: Any, beta: Any) -> Any:
    """Return ``np.kaiser``."""
    return _kaiser(M, beta)


@counterpart(np.i0)
def i0(x: Any) -> Any:
    """Return ``np.i0``."""
    x = as_operand(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    return _i0(as_dtype(x, np.dtype(np.float64)) if x.dtype.kind != "f" else x)


@counterpart(np.sinc)
def sinc(x: Any) -> Tensor:
    """Return ``np.sinc``."""
    x = as_operand(x)
    x = as_dtype(x, np.dtype(np.float64)) if x.dtype.kind in "biu" else x
    angle = float(np.pi) * x
    at_zero = equal(angle, 0)
    return where(at_zero, np.ones((), x.dtype)[()], sin(angle) / where(at_zero, np.ones((), x.dtype)[()], angle))


@counterpart(np.fix)
def fix(x: Any, out: Any = None) -> Tensor:
    """Return ``np.fix``."""
    unsupported(np.fix, out=out)
    warn_as_numpy(np.fix, np.float64(0))
    return trunc(as_operand(x))


def _rounded(theirs: Any, a: Any, decimals: Any, out: Any) -> Tensor:
    unsupported(theirs, out=out)
    x, places = as_operand(a), operator.index(known(theirs, decimals=decimals))
    if x.dtype.kind == "b" and places != 0:
        raise TypeError(f"{theirs.__name__}: Cannot cast from float64 to bool with casting rule 'same_kind'")
    if x.dtype.kind == "c":
        return complex(rounding.round(real(x), places), rounding.round(imag(x), places))
    return rounding.round(x, places)


@counterpart(np.round)
def round(a: Any, decimals: Any = 0, out: Any = None) -> Tensor:
    """Return ``np.round``."""
    return _rounded(np.round, a, decimals, out)


@counterpart(np.around)
def around(a: Any, decimals: Any = 0, out: Any = None) -> Tensor:
    """Return ``np.around``."""
    return _rounded(np.around, a, decimals, out)
