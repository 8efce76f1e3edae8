"""The kernel of ``erf``, which NumPy has not: rational functions over blocks of an array, with published coefficients.

Machine code has the C library's ``erf``, which is off by up to four units in the last place of float32. This is off by
two at most, and in float32 by less than one, as it computes in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: elements that are worked on together: what is made of them stays in the cache
_BLOCK = 4096
#: where ``x + x * R(x * x)`` gives way to ``1 - exp(-x * x) * T(x)``, and from where on the result is 1
_NEAR, _FAR = 0.84375, 6.0
#: R, numerator and denominator, highest power first: ``erf(x) / x - 1``, whose error is below 2 ** -57 (FreeBSD's
#: msun, s_erf.c: pp0 to pp4 and qq1 to qq5)
_R = (
    (-2.37630166566501626084e-05, -5.77027029648944159157e-03, -2.84817495755985104766e-02,
     -3.25042107247001499370e-01, 1.28379167095512558561e-01),
    (-3.96022827877536812320e-06, 1.32494738004321644526e-04, 5.08130628187576562776e-03, 6.50222499887672944485e-02,
     3.97917223959155352819e-01, 1.0),
)  # fmt: skip
#: T: ``exp(x * x) * erfc(x)`` from 0.46875 to 4 (W. J. Cody, Rational Chebyshev approximations for the error function,
#: Mathematics of Computation 23, 1969, pages 631 to 637: the second interval). What is wrong with it behind 4 is lost
#: in the last place of the 1 from which it is taken.
_T = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
     3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip


def erf(x: Any) -> Any:
    """Return the error function of a real array or scalar, within two units in the last place."""
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
    near = x * _ratio(_R, np.minimum(square, 1.0)) + x
    tail = np.exp(-square) * _ratio(_T, size)
    return np.where(size <= _NEAR, near, np.copysign(1.0 - tail, x))


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    numerator, denominator = (_polynomial(coefficients, x) for coefficients in polynomials)
    numerator /= denominator
    return numerator


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    highest, following, *lower = coefficients
    result = x * highest
    result += following
    for coefficient in lower:
        result *= x
        result += coefficient
    return result
