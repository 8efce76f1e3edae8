"""The functions of ``scipy.special`` that SciPy writes in Python: sums of exponentials, counts, derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.stand_ins import UnknownWhileTracing
from ...ir.number_operators import number_type
from ...ir.tensor import Tensor
from ..arithmetic import abs as absolute
from ..arithmetic import sign
from ..complex_numbers import real
from ..identities import stop_gradient
from ..logic import equal, greater_equal, isfinite, less_equal, logical_and
from ..operands import as_dtype
from ..powers import exp, log
from ..powers import softplus as soft
from ..reducing import sum as total
from ..reductions import max as greatest
from ..selection import where
from .counterparts import as_operand, as_operands, counterpart, known, unsupported
from .matrix_operands import floats
from .special_functions import special
from .special_slopes import ROWS


def _shift(x: Tensor, axis: Any, initial: tuple[float, ...] = ()) -> Any:
    """Return the largest real part along axes, which exponentials are taken against; 0 where it is not finite."""
    if initial:  # among no elements, too
        top = stop_gradient(np.max(real(x), axis=axis, keepdims=True, initial=initial[0]))
    else:
        top = stop_gradient(greatest(real(x), axis, True))
    return where(isfinite(top), top, np.zeros((), top.dtype)[()])


@counterpart(special.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False) -> Any:
    """Return ``scipy.special.logsumexp``."""
    x, axis = floats(a), known(special.logsumexp, axis=axis)
    if 0 in x.shape:
        raise UnknownWhileTracing("scipy.special.logsumexp of no elements is for SciPy itself")
    if b is not None:
        # a number of Python's is weak
        weak = number_type(b) in (bool, int, float)
        weights, x = as_operands(as_dtype(as_operand(b), real(x).dtype) if weak else floats(b), x)
        x = where(equal(weights, 0), np.array(-np.inf, x.dtype), x)
    top = _shift(x, axis, () if x.shape.is_fully_defined() else (-np.inf,))
    parts = exp(x - as_dtype(top, x.dtype))
    made = total(parts if b is None else parts * weights, axis, bool(keepdims))
    top = top if keepdims else total(top, axis)
    if not return_sign:
        return log(made) + as_dtype(top, made.dtype)
    return log(absolute(made)) + top, sign(made)


def _of_floats(function: Any, x: Any) -> Tensor:
    """Return an operand; what SciPy subtracts of integers, which wraps, is left to it."""
    if as_operand(x).dtype.kind not in "fc":
        raise UnknownWhileTracing(f"scipy.special.{function.__name__} of integers is for SciPy itself")
    return floats(x)


@counterpart(special.softmax)
def softmax(x: Any, axis: Any = None) -> Tensor:
    """Return ``scipy.special.softmax``, over all axes by default."""
    x, axis = _of_floats(special.softmax, x), known(special.softmax, axis=axis)
    parts = exp(x - stop_gradient(greatest(x, axis, True)))
    made: Tensor = parts / total(parts, axis, True)
    return made


@counterpart(special.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Tensor:
    """Return ``scipy.special.log_softmax``, over all axes by default."""
    x, axis = _of_floats(special.log_softmax, x), known(special.log_softmax, axis=axis)
    away = x - _shift(x, axis)
    made: Tensor = away - log(total(exp(away), axis, True))
    return made


@counterpart(getattr(special, "softplus", None))
def softplus(x: Any, **kwargs: Any) -> Tensor:
    """Return ``scipy.special.softplus``."""
    for argument in kwargs:
        raise UnknownWhileTracing(
            f"scipy.special.softplus does not take the argument {argument!r} where tensors take part"
        )
    return soft(floats(x))


@counterpart(special.comb)
def comb(N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Tensor:
    """Return ``scipy.special.comb``, of floats."""
    unsupported(special.comb, exact=exact)
    n, k = as_operand(N), as_operand(k)
    if repetition:
        found = ROWS["binom"](n + k - 1, k)
        return where(logical_and(equal(k, 0), greater_equal(n, 0)), np.ones((), found.dtype)[()], found)
    there = logical_and(logical_and(less_equal(k, n), greater_equal(n, 0)), greater_equal(k, 0))
    found = ROWS["binom"](n, k)
    return where(there, found, np.zeros((), found.dtype)[()])


@counterpart(special.perm)
def perm(N: Any, k: Any, exact: Any = False) -> Tensor:
    """Return ``scipy.special.perm``, of floats."""
    unsupported(special.perm, exact=exact)
    n, k = as_operand(N), as_operand(k)
    there = logical_and(logical_and(less_equal(k, n), greater_equal(n, 0)), greater_equal(k, 0))
    found = ROWS["poch"](n - k + 1, k)
    return where(there, found, np.zeros((), found.dtype)[()])


@counterpart(special.polygamma)
def polygamma(n: Any, x: Any) -> Tensor:
    """Return ``scipy.special.polygamma``; the order must be known while the graph is built."""
    order = np.asarray(known(special.polygamma, n=n))
    x = floats(x)
    if not np.any(order):
        if x.dtype.kind == "c":
            raise UnknownWhileTracing("scipy.special.polygamma of complex numbers is for SciPy itself")
        made: Tensor = as_dtype(ROWS["psi"](x), np.result_type(x.dtype, np.float64))
        return made
    n = order.astype(np.float64)
    factor = (-1.0) ** (n + 1) * special.gamma(n + 1.0)
    raised = factor * ROWS["zeta"](np.where(n == 0, 2.0, n + 1), x)
    made = where(n == 0, ROWS["psi"](x), raised) if np.any(n == 0) else raised
    return made


def _weak(value: Any, other: Any) -> Any:
    """Return an operand; a number of Python's has the dtype that SciPy computes the other one in."""
    is_weak = number_type(value) in (bool, int, float) and number_type(other) is None
    if not is_weak or as_operand(other).dtype.kind == "b":
        return as_operand(value)
    wide = np.result_type(as_operand(other).dtype, np.float32)
    return as_dtype(as_operand(value), np.zeros(0, wide).real.dtype)


@counterpart(special.zeta)
def zeta(x: Any, q: Any = None, out: Any = None) -> Tensor:
    """Return ``scipy.special.zeta``: Riemann's of one argument, Hurwitz's of two."""
    unsupported(special.zeta, out=out)
    made: Tensor = ROWS["riemann_zeta"](floats(x)) if q is None else ROWS["zeta"](_weak(x, q), _weak(q, x))
    return made


@counterpart(special.multigammaln)
def multigammaln(a: Any, d: Any) -> Tensor:
    """Return ``scipy.special.multigammaln``."""
    d = int(known(special.multigammaln, d=d))
    x = floats(a)
    made: Any = d * (d - 1) * 0.25 * math.log(math.pi)
    for j in range(1, d + 1):
        made = ROWS["gammaln"](x - (j - 1.0) / 2) + made
    total_of_all: Tensor = made
    return total_of_all
