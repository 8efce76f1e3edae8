"""The kernel of ``erf``, which NumPy has not: polynomials over blocks of an array."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

#: elements that are worked on together: what is made of them stays in the cache
_BLOCK = 4096
#: where the power series gives way to ``1 - exp(-x * x) * ...``, and from where on the result is 1
_NEAR, _FAR = 1.0, 6.0
#: how the range between them is stretched: with this, few coefficients will do
_BEND = 3.0


def erf(x: Any) -> Any:
    """Return the error function of a real array or scalar, within a few units in the last place."""
    if x.ndim == 0:
        return x.dtype.type(math.erf(x))
    flat = np.ravel(x)
    out = np.empty(flat.shape, flat.dtype)
    for start in range(0, flat.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        out[block] = _of_block(flat[block].astype(np.float64))
    return out.reshape(x.shape)


def _of_block(x: Any) -> Any:
    size = np.minimum(np.abs(x), _FAR)
    square = size * size
    near = x * _polynomial(_series(), square)
    tail = np.exp(-square) * _polynomial(_tail(), _stretched(np.maximum(size, _NEAR)))
    return np.where(size <= _NEAR, near, np.copysign(1.0 - tail, x))


def _stretched(size: Any) -> Any:
    """Return ``_NEAR`` to ``_FAR`` as -1 to 1, with most of the room for what is near."""
    return 2 * (_FAR + _BEND) / (_FAR - _NEAR) * (size - _NEAR) / (size + _BEND) - 1


def _squeezed(stretched: Any) -> Any:
    """Return the way back."""
    share = (stretched + 1) * (_FAR - _NEAR) / (2 * (_FAR + _BEND))
    return (_NEAR + share * _BEND) / (1 - share)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    *lower, highest = coefficients
    result = np.full_like(x, highest)
    for coefficient in reversed(lower):
        result *= x
        result += coefficient
    return result


@functools.cache
def _series() -> tuple[float, ...]:
    """Return Taylor's coefficients of ``erf(x) / x`` in ``x * x``: the first that is left out is below 1e-17."""
    return tuple(2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(18))


@functools.cache
def _tail() -> tuple[float, ...]:
    """Return coefficients of ``exp(x * x) * erfc(x)`` in the stretched ``x``.

    They are fitted to the C library's own ``erfc``, at so many points that its roundings cancel out.
    """
    chebyshev = np.polynomial.chebyshev  # which NumPy imports when it is asked for
    points = chebyshev.chebpts1(400)
    values = [math.exp(size * size) * math.erfc(size) for size in _squeezed(points).tolist()]
    return tuple(chebyshev.cheb2poly(chebyshev.chebfit(points, values, 14)).tolist())
