"""The functions of ``scipy.special`` that SciPy writes in Python: sums of exponentials, counts, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.stand_ins import UnknownWhileTracing
from ...ir.numpy_results import GIVE_ARRAYS
from ...ir.tensor import Tensor
from ..arithmetic import abs as absolute
from ..arithmetic import sign
from ..array import reshape, squeeze
from ..complex_numbers import real
from ..elementwise import conjugated
from ..identities import stop_gradient
from ..logic import equal, greater_equal, isfinite, less, less_equal, logical_and, logical_not, not_equal
from ..operands import as_dtype
from ..powers import exp, log, log1p
from ..powers import softplus as soft
from ..reducing import sum as total
from ..reductions import max as greatest
from ..selection import where
from .counterparts import as_operand, as_operands, counterpart, known, unsupported
from .library_rows import library
from .matrix_operands import floats
from .special_functions import special
from .special_slopes import ROWS
from .ufunc_calls import in_loop


def _peak(x: Any, axis: Any) -> Any:
    """Return the largest element along axes, which stay as 1, as a constant; there may be none of those."""
    initial: dict[str, Any] = {} if x.shape.is_fully_defined() else {"initial": -np.inf}
    return stop_gradient(np.max(x, axis=axis, keepdims=True, **initial))


def _finite(x: Any) -> Any:
    """Return what is finite of ``x``, and 0 elsewhere."""
    return where(isfinite(x), x, np.zeros((), x.dtype)[()])


def _signed_log(x: Any, axis: Any) -> tuple[Any, Any]:
    """Return the logarithm of a sum of exponentials, and its sign, as SciPy computes them: the largest elements apart
    from the others, of which no digits are lost beside them. Of what is not finite the exponentials themselves count.
    """
    top = _peak(x, axis)
    there = isfinite(top)
    largest = as_dtype(equal(x, top) & there, x.dtype)
    count = where(there, total(largest, axis, True), np.ones((), x.dtype)[()])
    others = total(exp(x - _finite(top)) - largest, axis, True)
    share = where(there, others / count, others - 1)
    return log1p(share) + log(count) + _finite(top), sign(share + 1)


def _signed_log_of_weighted(x: Any, weights: Any, axis: Any, signed: Any) -> tuple[Any, Any]:
    """Return the same of exponentials with weights; unless ``signed``, sums below 0 have none."""
    one, zero = np.ones((), x.dtype)[()], np.zeros((), x.dtype)[()]
    counted = where(equal(weights, 0), -np.inf, x)
    top = _peak(counted, axis)
    largest = as_dtype(equal(counted, top), x.dtype)
    of_largest = total(weights * largest, axis, True)
    others = total(weights * (exp(counted - _finite(top)) - largest), axis, True)
    share = where(equal(others, 0), others, others / where(equal(of_largest, 0), one, of_largest))
    signs = sign(share + 1) * sign(of_largest)
    apart = isfinite(top) & isfinite(of_largest) & isfinite(share) & (not_equal(signs, 0) if signed else signs > 0)
    whole = where(apart, one, total(weights * exp(where(apart, zero, x)), axis, True))
    share = where(apart, where(less(share, -1), -share - 2, share), zero)
    found = log1p(share) + log(where(apart, absolute(of_largest), one)) + where(apart, top, zero)
    return where(apart, found, log(absolute(whole) if signed else whole)), where(apart, signs, sign(whole))


def _signed_log_of_complex(x: Any, weights: Any, axis: Any, signed: Any) -> tuple[Any, Any]:
    """Return the same of complex numbers."""
    if weights is not None:
        x = where(equal(weights, 0), np.array(-np.inf, x.dtype), x)
    top = _finite(_peak(real(x), axis))
    parts = exp(x - as_dtype(top, x.dtype))
    made = total(parts if weights is None else parts * weights, axis, True)
    return log(absolute(made)) + top if signed else log(made) + as_dtype(top, made.dtype), sign(made)


def _of_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return operands and weights of ``logsumexp``, of one dtype, with an axis at least."""
    x, weights = (floats(a), None) if b is None else map(floats, as_operands(a, b))
    if any(0 in one.shape for one in (x, weights) if one is not None):
        raise UnknownWhileTracing("scipy.special.logsumexp of no elements is for SciPy itself")
    if x.shape.rank == 0:
        x = reshape(x, [1])
    return x, weights


@counterpart(special.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False) -> Any:
    """Return ``scipy.special.logsumexp``."""
    axis = known(special.logsumexp, axis=axis)
    x, weights = _of_sum(a, b)
    if x.dtype.kind == "c":
        made = _signed_log_of_complex(x, weights, axis, return_sign)
    elif weights is None:
        made = _signed_log(x, axis)
    else:
        made = _signed_log_of_weighted(x, weights, axis, return_sign)
    if not keepdims:
        rank = max([one.shape.rank for one in (x, weights) if one is not None])
        axes = tuple(range(rank)) if axis is None else axis
        made = squeeze(made[0], axes), squeeze(made[1], axes)
    return made if return_sign else made[0]


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
    away = x - _finite(stop_gradient(greatest(x, axis, True)))
    made: Tensor = away - log(total(exp(away), axis, True))
    return made


@counterpart(getattr(special, "softplus", None))
def softplus(x: Any, **kwargs: Any) -> Tensor:
    """Return ``scipy.special.softplus``."""
    for argument in kwargs:
        raise UnknownWhileTracing(
            f"scipy.special.softplus does not take the argument {argument!r} where tensors take part"
        )
    return soft(in_loop(np.logaddexp, [0, x])[1])


def _else(condition: Any, found: Any, value: float, *given: Any) -> Tensor:
    """Return ``found``, or a number where the condition does not hold: of scalars SciPy gives it as a float64."""
    if not found.shape.rank and found.dtype != np.float64 and any(hasattr(x, "is_scalar") for x in given):
        raise UnknownWhileTracing(
            f"scipy.special's function of scalars is a float64 where it is {value}, and a {found.dtype} elsewhere: "
            "give it a float64, np.float64(x)"
        )
    made: Tensor = where(condition, found, np.full((), value, found.dtype)[()])
    return made


@counterpart(special.comb)
def comb(N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Tensor:
    """Return ``scipy.special.comb``, of floats."""
    unsupported(special.comb, exact=exact)
    n, k = as_operand(N), as_operand(k)
    if repetition:
        is_empty = logical_and(equal(k, 0), greater_equal(n, 0))
        return _else(logical_not(is_empty), ROWS["binom"](n + k - 1, k), 1.0, N, k)
    there = logical_and(logical_and(less_equal(k, n), greater_equal(n, 0)), greater_equal(k, 0))
    return _else(there, ROWS["binom"](n, k), 0.0, N, k)


@counterpart(special.perm)
def perm(N: Any, k: Any, exact: Any = False) -> Tensor:
    """Return ``scipy.special.perm``, of floats."""
    unsupported(special.perm, exact=exact)
    n, k = as_operand(N), as_operand(k)
    there = logical_and(logical_and(less_equal(k, n), greater_equal(n, 0)), greater_equal(k, 0))
    return _else(there, ROWS["poch"](n - k + 1, k), 0.0, N, k)


@counterpart(special.polygamma)
def polygamma(n: Any, x: Any) -> Tensor:
    """Return ``scipy.special.polygamma``; the order must be known while the graph is built."""
    order = np.asarray(known(special.polygamma, n=n))
    x = as_operand(x)  # also ints: the precision of digamma of small ones is a matter of SciPy's version
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


@counterpart(special.zeta)
def zeta(x: Any, q: Any = None, out: Any = None) -> Tensor:
    """Return ``scipy.special.zeta``: Riemann's of one argument, Hurwitz's of two."""
    unsupported(special.zeta, out=out)
    made: Tensor = ROWS["riemann_zeta"](as_operand(x)) if q is None else ROWS["zeta"](x, q)
    return made


def _slope_of_multigammaln(g: Any, outputs: Any, inputs: Any, attrs: Any) -> Any:
    (a,) = inputs
    parts = [ROWS["psi"](a - 0.5 * j) for j in range(attrs["d"])]
    return [as_dtype(g, a.dtype) * conjugated(sum(parts[1:], parts[0]))]


_multigammaln = library(
    "special_multigammaln", special.multigammaln, "same", _slope_of_multigammaln,
    dtype=lambda a, d: np.result_type(a.dtype, np.float64),
)  # fmt: skip


@counterpart(special.multigammaln)
def multigammaln(a: Any, d: Any) -> Tensor:
    """Return ``scipy.special.multigammaln``."""
    d, x = known(special.multigammaln, d=d), as_operand(a)
    if not isinstance(d, int | np.integer) or d < 1 or x.dtype.char == "g":
        raise UnknownWhileTracing(f"scipy.special.multigammaln of {x.dtype} and d={d!r} is for SciPy itself")
    made: Tensor = _multigammaln(x, d=int(d))
    return made


GIVE_ARRAYS.add(special.polygamma)
