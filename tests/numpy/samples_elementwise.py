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

ONE = (
    "absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil conjugate cos cosh deg2rad degrees exp exp2 "
    "expm1 fabs floor isfinite isinf isnan log log10 log1p log2 logical_not negative positive rad2deg radians "
    "reciprocal rint sign signbit sin sinh sqrt square tan tanh trunc frexp modf spacing invert bitwise_count"
)
TWO = (
    "add subtract multiply divide floor_divide remainder power maximum minimum fmax fmin fmod equal not_equal less "
    "less_equal greater greater_equal logical_and logical_or logical_xor arctan2 hypot logaddexp logaddexp2 copysign "
    "nextafter heaviside float_power bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm divmod ldexp"
)
_OF_ONE = (
    "{f}(x)",
    "{f}(j)",
    "{f}(x, dtype=np.float32)",
    "{f}(2)",
    "{f}(x, where=b)",
    "{f}(x, out=y)",
    "{f}([x[0], x[1]])",
)
_OF_TWO = (
    "{f}(x, y)",
    "{f}(x, j)",
    "{f}(x, 2)",
    "{f}(2, x)",
    "{f}(x, 2.0)",
    "{f}(x, y, dtype=np.float64)",
    "{f}(x, y[0])",
    "{f}(x, y, where=b)",
    "{f}(x, y, out=y)",
    "{f}(x, y, casting='no')",
    "{f}(x, v)",
    "{f}(n, t)",
    "{f}(x, np.float32(2))",
    "{f}(j, np.int8(2))",
)
SAMPLES = {
    **{f"np.{name}": [call.format(f=f"np.{name}") for call in _OF_ONE] for name in ONE.split()},
    **{f"np.{name}": [call.format(f=f"np.{name}") for call in _OF_TWO] for name in TWO.split()},
}
