"""NumPy's functions for signals: windows, ``sinc``, ``i0``, and rounding."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...base.shapes import TensorShape
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT, NO_RULE
from .. import rounding
from ..complex_numbers import complex, imag, real
from ..extents import known_int
from ..logic import equal
from ..operands import as_dtype
from ..rounding import trunc
from ..selection import where
from ..trigonometry import sin
from .counterparts import as_operand, counterpart, known, unsupported
from .library_rows import Library, library


def _length(points: Tensor, *others: Tensor) -> Any:
    found = known_int(points) if points.dtype.kind in "iu" else None
    return TensorShape([None if found is None else max(found, 0)])


_i0 = library("i0", np.i0, "same", NO_RULE)
_kaiser = library("kaiser", np.kaiser, _length, NO_RULE)


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
