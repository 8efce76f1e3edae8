"""Functions of numbers that ONNX, or onnxruntime in double precision, does not have, made of those that it has.

Kahan's ways to ``log1p`` and ``expm1``, and what follows from them, are good to a few units in the last place.
"""

from __future__ import annotations

import math

import numpy as np

from .onnx_values import BOOL, FLOAT64, INT64, UINT64, Value, computed

_HALF_PI = math.pi / 2


def exp(x: Value) -> Value:
    """Return ``e ** x``."""
    return x.writer.arithmetic("Exp", x)


def log(x: Value) -> Value:
    """Return the natural logarithm."""
    return x.writer.arithmetic("Log", x)


def sqrt(x: Value) -> Value:
    """Return the square root."""
    return x.writer.arithmetic("Sqrt", x)


def absolute(x: Value) -> Value:
    """Return the absolute value."""
    return x if x.dtype.kind in "bu" else x.writer.arithmetic("Abs", x)


def truths(x: Value) -> Value:
    """Return where it is not zero."""
    return x.to(BOOL)


def of_bits(of_truths: str, of_ints: str, *xs: Value) -> Value:
    """Return what works on booleans, or on the bits of integers."""
    writer = xs[0].writer
    if xs[0].dtype == BOOL:
        return writer(of_truths, *xs)
    if of_ints == of_truths:
        return writer(of_truths, *map(truths, xs), dtype=BOOL)
    return writer.arithmetic(of_ints, *xs)


def of_numbers(of_numbers: str, of_truths: str, *xs: Value) -> Value:
    """Return what works on numbers, and on booleans as something else."""
    writer = xs[0].writer
    if xs[0].dtype == BOOL:
        return writer(of_truths, *xs)
    if xs[0].dtype == UINT64 and of_numbers in ("Max", "Min"):
        first = xs[0] > xs[1] if of_numbers == "Max" else xs[0] < xs[1]
        return first.where(*xs)
    return writer.arithmetic(of_numbers, *xs)


def compared(name: str, x: Value, y: Value) -> Value:
    """Return a comparison; of booleans, that of 0 and 1."""
    if x.dtype == BOOL and name != "Equal":
        x, y = x.to(np.int32), y.to(np.int32)
    return x.writer.compare(name, x, y)


# -- division ---------------------------------------------------------------------------------------------------


def _safe(y: Value) -> Value:
    """Return a divisor that no machine fails at: those of 0 and -1 are made 1."""
    bad = y.equals(0) if y.dtype.kind == "u" else y.equals(0) | y.equals(-1)
    return bad.where(1, y)


def _quotient(x: Value, y: Value) -> tuple[Value, Value, Value]:
    """Return integers divided towards zero, what is left, and where that has another sign than the divisor."""
    if x.dtype == UINT64:
        quotient = x.writer("Div", x, y)
    else:
        quotient = x / y
    left = x - quotient * y
    if x.dtype.kind == "u":
        return quotient, left, x.writer.const(np.False_)
    return quotient, left, ~left.equals(0) & x.writer("Xor", left < 0, y < 0)


def floor_divide(x: Value, y: Value) -> Value:
    """Return ``x // y`` as NumPy has it: 0 for integers divided by 0."""
    if x.dtype.kind == "f":
        return _floor_divide_floats(x, y)
    quotient, _, other = _quotient(x, _safe(y))
    if x.dtype.kind == "u":
        return y.equals(0).where(0, quotient)
    return y.equals(0).where(0, y.equals(-1).where(-x, other.where(quotient - 1, quotient)))


def modulo(x: Value, y: Value) -> Value:
    """Return ``x % y`` as NumPy has it: with the sign of the divisor, 0 for integers modulo 0."""
    if x.dtype.kind == "f":
        left = remainder(x, y)
        return _with_sign_of(left, y)
    safe = _safe(y)
    _, left, other = _quotient(x, safe)
    if x.dtype.kind == "u":
        return y.equals(0).where(0, left)
    return (y.equals(0) | y.equals(-1)).where(0, other.where(left + safe, left))


def remainder(x: Value, y: Value) -> Value:
    """Return what is left by a division towards zero."""
    if x.dtype.kind == "f":
        return x.writer.arithmetic("Mod", x, y, fmod=1)
    safe = _safe(y)
    left = x - _quotient(x, safe)[0] * safe
    bad = y.equals(0) if y.dtype.kind == "u" else y.equals(0) | y.equals(-1)
    return bad.where(0, left)


def _with_sign_of(left: Value, y: Value) -> Value:
    other = left.writer("Xor", left < 0, y < 0)
    return left.equals(0).where((y < 0).where(left.lift(-0.0), left.lift(0.0)), other.where(left + y, left))


def _floor_divide_floats(x: Value, y: Value) -> Value:
    left = remainder(x, y)
    quotient = (x - left) / y
    other = x.writer("Xor", left < 0, y < 0) & ~left.equals(0)
    quotient = other.where(quotient - 1, quotient)
    floor = x.writer.arithmetic("Floor", quotient)
    floor = (quotient - floor > 0.5).where(floor + 1, floor)
    return y.equals(0).where(x / y, floor)


def reciprocal(x: Value) -> Value:
    """Return ``1 / x``, of integers towards zero."""
    if x.dtype.kind == "f":
        return 1 / x
    safe = x.equals(0).where(1, x)
    return x.equals(0).where(_reciprocal_of_zero(x), x.lift(1) / safe)


def _reciprocal_of_zero(x: Value) -> Value:
    with np.errstate(all="ignore"):
        return x.writer.const(np.reciprocal(np.zeros((), x.dtype)))


# -- signs and parts --------------------------------------------------------------------------------------------


def sign(x: Value) -> Value:
    """Return -1, 0 or 1; nan of what is no number."""
    if x.dtype.kind == "u":
        return x.equals(0).where(0, x.lift(1))
    return x.writer.arithmetic("Sign", x)


def signbit(x: Value) -> Value:
    """Return where a number is negative, -0.0 included."""
    return (x < 0) | (x.equals(0) & ((1 / x) < 0))


def copysign(x: Value, y: Value) -> Value:
    """Return ``x`` with the sign of ``y``."""
    size = absolute(x)
    return signbit(y).where(-size, size)


def trunc(x: Value) -> Value:
    """Return it rounded towards zero."""
    if x.dtype.kind != "f":
        return x
    return (x < 0).where(x.writer.arithmetic("Ceil", x), x.writer.arithmetic("Floor", x))


def heaviside(x: Value, y: Value) -> Value:
    """Return the step function, ``y`` at 0."""
    return x.is_nan().where(x, x.equals(0).where(y, (x > 0).where(1, x.lift(0))))


def isnan(x: Value) -> Value:
    """Return where it is no number."""
    return x.is_nan() if x.dtype.kind == "f" else _nowhere(x)


def isinf(x: Value) -> Value:
    """Return where it is infinite."""
    return x.writer("IsInf", x.to(computed(x.dtype)), dtype=BOOL) if x.dtype.kind == "f" else _nowhere(x)


def isfinite(x: Value) -> Value:
    """Return where it is a number that is not infinite."""
    return ~(isnan(x) | isinf(x)) if x.dtype.kind == "f" else x.equals(x)


def _nowhere(x: Value) -> Value:
    return ~x.equals(x)


def without_nan(name: str, x: Value, y: Value) -> Value:
    """Return the larger or smaller one, or the one that is a number."""
    if x.dtype.kind != "f":
        return of_numbers(name, {"Max": "Or", "Min": "And"}[name], x, y)
    return x.is_nan().where(y, y.is_nan().where(x, x.writer.arithmetic(name, x, y)))


# -- shifts -----------------------------------------------------------------------------------------------------


def _shifted(x: Value, y: Value, direction: str) -> Value:
    return x.writer("BitShift", x.to(UINT64), y.to(UINT64), direction=direction)


def left_shift(x: Value, y: Value) -> Value:
    """Return ``x << y``; nothing is left of what is shifted by all bits or more."""
    bits = 8 * x.dtype.itemsize
    far = _far(y, bits)
    return far.where(0, _shifted(x.to(INT64), far.where(0, y), "LEFT").to(INT64).to(x.dtype))


def right_shift(x: Value, y: Value) -> Value:
    """Return ``x >> y``: of negative numbers -1 is left in the end."""
    far = _far(y, 8 * x.dtype.itemsize)
    y = far.where(0, y)
    if x.dtype.kind == "u":
        return far.where(0, _shifted(x, y, "RIGHT").to(x.dtype))
    negative = x < 0
    turned = negative.where(x.lift(-1) - x, x).to(INT64)
    made = _shifted(turned, y, "RIGHT").to(INT64).to(x.dtype)
    made = far.where(0, made)
    return negative.where(made.lift(-1) - made, made)


def _far(y: Value, bits: int) -> Value:
    """Return where a count is no count of bits that there are."""
    return y >= bits if y.dtype.kind == "u" else (y >= bits) | (y < 0)


# -- powers and logarithms ------------------------------------------------------------------------------------


def log1p(x: Value) -> Value:
    """Return ``log(1 + x)``, also of small ``x``."""
    u = x + 1
    plain = log(u)
    near = u.equals(1)
    fixed = plain * (x / near.where(1, u - 1))
    return near.where(x, isinf(u).where(plain, fixed))


def expm1(x: Value) -> Value:
    """Return ``exp(x) - 1``, also of small ``x``."""
    u = exp(x)
    less = u - 1
    near = u.equals(1)
    far = less.equals(-1) | isinf(u)
    fixed = less * (x / (near | far).where(1, log(u)))
    return near.where(x, far.where(less, fixed))


def cbrt(x: Value) -> Value:
    """Return the cube root: a power, and a step of Newton's."""
    size = absolute(x)
    root = x.writer.arithmetic("Pow", size, x.lift(1 / 3))
    plain = size.equals(0) | isinf(size)
    safe = plain.where(1, root)
    better = safe - (safe - size / (safe * safe)) / 3
    root = plain.where(size, better)
    return (x < 0).where(-root, root)


def hypot(x: Value, y: Value) -> Value:
    """Return ``sqrt(x * x + y * y)`` without overflow."""
    a, b = absolute(x), absolute(y)
    large, small = x.writer.arithmetic("Max", a, b), x.writer.arithmetic("Min", a, b)
    ratio = small / large.equals(0).where(1, large)
    made = large * sqrt(ratio * ratio + 1)
    return (isinf(a) | isinf(b)).where(math.inf, made)


def logaddexp(x: Value, y: Value) -> Value:
    """Return ``log(exp(x) + exp(y))`` without overflow."""
    large = x.writer.arithmetic("Max", x, y)
    gap = absolute(x - y)
    return x.equals(y).where(x + math.log(2), large + log1p(exp(-gap)))


# -- trigonometry and its inverses in double precision ------------------------------------------------------------


def _single(name: str, x: Value) -> Value:
    return x.to(np.float32).writer(name, x.to(np.float32))


def arctan(x: Value) -> Value:
    """Return the angle with this tangent: that of single precision, and what is missing of it."""
    if x.dtype != FLOAT64:
        return x.writer.arithmetic("Atan", x)
    size = absolute(x)
    steep = size > 1
    t = steep.where(1 / steep.where(size, 1), size)
    rough = _single("Atan", t).to(FLOAT64)
    tangent = x.writer("Sin", rough) / x.writer("Cos", rough)
    rest = (t - tangent) / (t * tangent + 1)
    angle = rough + rest
    angle = steep.where(_HALF_PI - angle, angle)
    return (x < 0).where(-angle, x.equals(0).where(x, angle))


def arcsin(x: Value) -> Value:
    """Return the angle with this sine."""
    if x.dtype != FLOAT64:
        return x.writer.arithmetic("Asin", x)
    return arctan(x / sqrt((1 - x) * (x + 1)))


def arccos(x: Value) -> Value:
    """Return the angle with this cosine."""
    if x.dtype != FLOAT64:
        return x.writer.arithmetic("Acos", x)
    return arctan(sqrt((1 - x) / (x + 1))) * 2


def arctan2(y: Value, x: Value) -> Value:
    """Return the angle of a point, with all signs of zero and infinity."""
    both = isinf(x) & isinf(y)
    ratio = both.where(sign(y) * sign(x), y / x)
    angle = arctan(ratio)
    back = signbit(x)
    turn = signbit(y).where(y.lift(-math.pi), y.lift(math.pi))
    zero = signbit(y).where(y.lift(-0.0), y.lift(0.0))
    on_axis = back.where(turn, zero)
    made = y.equals(0).where(on_axis, back.where(angle + turn, angle))
    return (x.is_nan() | y.is_nan()).where(math.nan, made)


def sinh(x: Value) -> Value:
    """Return the hyperbolic sine."""
    if x.dtype != FLOAT64:
        return x.writer.arithmetic("Sinh", x)
    size = absolute(x)
    large = size > 20
    half = exp(size * 0.5)
    less = expm1(large.where(0, size))
    made = large.where(half * 0.5 * half, (less + less / (less + 1)) * 0.5)
    return (x < 0).where(-made, x.equals(0).where(x, made))


def cosh(x: Value) -> Value:
    """Return the hyperbolic cosine."""
    if x.dtype != FLOAT64:
        return x.writer.arithmetic("Cosh", x)
    half = exp(absolute(x) * 0.5)
    return half * 0.5 * half + 0.5 / half / half


def arcsinh(x: Value) -> Value:
    """Return the inverse of the hyperbolic sine."""
    if x.dtype != FLOAT64:
        return x.writer.arithmetic("Asinh", x)
    size = absolute(x)
    large = size > 1e150
    safe = large.where(1, size)
    made = log1p(safe + safe * safe / (sqrt(safe * safe + 1) + 1))
    made = large.where(log(size) + math.log(2), made)
    return (x < 0).where(-made, x.equals(0).where(x, made))


def arccosh(x: Value) -> Value:
    """Return the inverse of the hyperbolic cosine."""
    if x.dtype != FLOAT64:
        return x.writer.arithmetic("Acosh", x)
    large = x > 1e150
    t = large.where(1, x) - 1
    return large.where(log(x) + math.log(2), log1p(t + sqrt(t * (t + 2))))


def arctanh(x: Value) -> Value:
    """Return the inverse of the hyperbolic tangent."""
    if x.dtype != FLOAT64:
        return x.writer.arithmetic("Atanh", x)
    return log1p(x * 2 / (1 - x)) * 0.5
