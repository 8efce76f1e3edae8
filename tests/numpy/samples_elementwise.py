"""Samples of NumPy's element-wise functions."""

from __future__ import annotations

import numpy as np

_rng = np.random.default_rng(5)
A = _rng.uniform(0.3, 0.8, (2, 3))
B = _rng.uniform(-0.8, -0.3, (2, 3))
BIG = _rng.uniform(1.2, 2.8, (2, 3))
WHOLE = np.array([[5, -3, 2], [7, 1, -4]])

GRADIENTS = {
    "numpy, of two": (lambda x, y: [
        np.fmax(x, y[0]), np.fmin(x, y), np.fmod(y, x), np.heaviside(x, y), np.logaddexp2(x, y),
        np.float_power(x, y), np.nextafter(x, 2.0) * x,
    ], A, BIG),
    "numpy, of one": (lambda x: [
        np.deg2rad(x), np.radians(x), np.rad2deg(x), np.degrees(x), np.positive(x), np.modf(x * 3)[0],
        np.frexp(x)[0], np.ldexp(x, np.array([1, 2, -1])),
    ], A),
}  # fmt: skip
WITHOUT_GRADIENTS = {
    "numpy, flat": (lambda x: [np.spacing(x), np.signbit(x)], A),
    "numpy, of integers": (lambda x, y: [np.gcd(x, y), np.lcm(x, y[0]), np.bitwise_count(x)], WHOLE, WHOLE + 7),
}  # fmt: skip
