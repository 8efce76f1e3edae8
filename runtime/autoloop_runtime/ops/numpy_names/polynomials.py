"""Polynomials by their coefficients, highest power first (``np.polyval``) or lowest first (``np.polynomial``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.stand_ins import UnknownExtent, UnknownWhileTracing, in_numpys_words
from ...ir.tensor import Tensor
from .. import (
    arithmetic,
    array,
    bounds,
    broadcasting,
    complex_numbers,
    filled,
    joining,
    linalg,
    logic,
    powers,
    reducing,
    reductions,
    repeating,
    running_sums,
    selection,
    shape_queries,
)
from ..operands import as_dtype, is_tensor, weak_type
from ..shape_queries import dim
from .axes_of_numpy import rank_of
from .checked_operands import equally_long
from .counterparts import as_operand, as_operands, counterpart, known
from .data_checks import checked
from .joined_arrays import at_least
from .matrix_equations import lstsq


def _coefficients(p: Any) -> Tensor:
    return at_least(as_operand(p), 1)


def _count(theirs: Any, c: Tensor, axis: int = 0) -> int:
    count = c.shape[axis]
    if count is None:
        raise UnknownExtent(
            f"numpy.{theirs.__name__}: the number of coefficients must be known; declare it with set_shape"
        )
    return int(count)


@counterpart(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Return ``np.polyval``."""
    if isinstance(p, np.poly1d) or isinstance(x, np.poly1d):
        raise UnknownWhileTracing("numpy.polyval takes no numpy.poly1d in a graph; give its coefficients, p.coeffs")
    coefficients, points = as_operand(p), as_operand(x)
    common = np.result_type(coefficients.dtype, points.dtype)
    coefficients, at = as_dtype(coefficients, common), as_dtype(points, common)
    count = _count(np.polyval, coefficients)
    if not count and not points.shape.rank:
        raise UnknownWhileTracing("numpy.polyval of no coefficients and one number gives an array without axes")
    made: Any = filled.zeros_like(at if count else points)
    for k in range(count):
        made = made * at + coefficients[k]
    return made


def _aligned(a1: Any, a2: Any) -> list[Tensor]:
    """Return coefficients of one number of powers, zeros in front of those that have fewer."""
    first, second = _coefficients(a1), _coefficients(a2)
    common = np.result_type(first.dtype, second.dtype)
    parts = [as_dtype(c, common) for c in (first, second)]
    most = max(_count(np.polyadd, c) for c in parts)
    return [_with_zeros(c, most - _count(np.polyadd, c)) for c in parts]


def _with_zeros(c: Tensor, count: Any) -> Tensor:
    """Return coefficients with zeros in front."""
    return repeating.pad(c, [[count, 0]], "constant", c.dtype.type(0))


@counterpart(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """Return ``np.polyadd``."""
    first, second = _aligned(a1, a2)
    return first + second


@counterpart(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """Return ``np.polysub``."""
    first, second = _aligned(a1, a2)
    return first - second


@counterpart(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """Return ``np.polymul``."""
    first, second = [_without_zeros(_coefficients(a)) for a in (a1, a2)]
    return np.convolve(first, second)


def _without_zeros(c: Any) -> Any:
    """Return coefficients without the zeros in front, as a polynomial has them."""
    value = c.constant_value()
    if value is not None:
        kept = len(np.trim_zeros(value, "f"))
        return c[len(value) - max(kept, min(len(value), 1)) :]
    if c.shape[0] is None or c.shape[0] == 0:  # without coefficients it is 0 everywhere
        c = _with_zeros(c, 1)
    found = logic.not_equal(c, c.dtype.type(0))
    start = selection.where(reductions.any(found), reductions.argmax(found), shape_queries.size(c, np.int64) - 1)
    return c[start:]


@counterpart(np.polydiv)
def polydiv(u: Any, v: Any) -> Any:
    """Return ``np.polydiv``."""
    over, under = _coefficients(u), _coefficients(v)
    if over.shape.rank != 1 or under.shape.rank != 1:
        raise UnknownWhileTracing("numpy.polydiv takes coefficients with one axis in a graph")
    kind = np.result_type(over.dtype, under.dtype)
    kind = np.result_type(kind, np.float64) if kind.kind in "biu" else kind
    rest, under = as_dtype(over, kind), as_dtype(under, kind)
    m, n = _count(np.polydiv, rest) - 1, _count(np.polydiv, under) - 1
    if m < 0 or n < 0:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    scale = 1.0 / under[0]
    parts = []
    for k in range(m - n + 1):
        share = scale * rest[k]
        parts.append(share)
        rest = joining.concat([rest[:k], rest[k : k + n + 1] - share * under, rest[k + n + 1 :]], 0)
    quotient = joining.stack(parts) if parts else filled.zeros([1], kind)
    return quotient, _rest_of(rest)


def _rest_of(rest: Any) -> Any:
    """Return a remainder without what is nearly zero in front, as NumPy has it; one number stays."""
    near: Any = arithmetic.abs(rest) <= 1e-8
    last = shape_queries.size(rest) - 1
    places = selection.argwhere(logic.logical_not(near))
    start = bounds.minimum(
        reductions.min(joining.concat([places[:, 0], as_operand([2**31 - 1])], 0)), as_dtype(last, np.dtype(np.int64))
    )
    return rest[start:]


@counterpart(np.polyder)
def polyder(p: Any, m: Any = 1) -> Any:
    """Return ``np.polyder``."""
    m = int(known(np.polyder, m=m))
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    c = as_operand(p)
    if c.shape.rank == 0:
        raise TypeError("len() of unsized object")
    for _ in range(m):
        n = _count(np.polyder, c) - 1
        c = arithmetic.multiply(*_strong(c[:-1], np.arange(n, 0, -1)))
    if len(c.shape) > 1:  # of which NumPy fails to take one derivative more
        arithmetic.multiply(*_strong(c[:-1], np.arange(_count(np.polyder, c) - 1, 0, -1)))
    return c


def _strong(*values: Any) -> tuple[Tensor, Tensor]:
    first, second = as_operands(*[as_operand(v) for v in values])
    return first, second


@counterpart(np.polyint)
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """Return ``np.polyint``."""
    m = int(known(np.polyint, m=m))
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = _coefficients(np.zeros(m) if k is None else k)
    count = _count(np.polyint, constants)
    if count == 1 and m > 1:
        constants = broadcasting.broadcast_to(constants, [m])
    elif count < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    c = as_operand(p)
    for step in range(m):
        n = _count(np.polyint, c)
        c = arithmetic.divide(*_strong(c, np.arange(n, 0, -1)))
        c = joining.concat(list(_strong(c, constants[step : step + 1])), 0)
    return c


@counterpart(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """Return ``np.poly``."""
    if not isinstance(seq_of_zeros, (list, tuple, np.ndarray)) and as_operand(seq_of_zeros).shape.rank == 0:
        raise UnknownWhileTracing("numpy.poly takes arrays; what it says of a number NumPy alone knows")
    zeros: Any = _coefficients(seq_of_zeros)
    is_known = zeros.node is None
    rank = rank_of(np.poly, zeros)
    if rank != 1 and not (rank == 2 and zeros.shape[0] == zeros.shape[1] != 0):
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if (rank == 2 or zeros.dtype.kind == "c") and not is_known:
        value = zeros.constant_value()
        if value is not None:
            return as_operand(np.poly(value))
        raise UnknownWhileTracing(
            "numpy.poly of a matrix or of complex numbers gives real or complex numbers, as its values are, and these "
            "are not known while the graph is built: give it the roots as real numbers"
        )
    if rank == 2:
        zeros = np.linalg.eigvals(zeros)
    kind = np.dtype(np.mintypecode(zeros.dtype.char))
    zeros = as_dtype(zeros, kind)
    made: Any = filled.ones([1], kind)
    for k in range(_count(np.poly, zeros)):
        made = np.convolve(made, joining.stack([filled.ones([], kind), -zeros[k]]))
    return complex_numbers.real(made) if kind.kind == "c" and _in_pairs(zeros.constant_value()) else made


def _in_pairs(roots: Any) -> bool:
    """Return whether each root has its conjugate beside it, as those of real coefficients have."""
    return bool(np.all(np.sort(roots) == np.sort(roots.conjugate())))


@counterpart(np.roots)
def roots(p: Any) -> Any:
    """Return ``np.roots``."""
    c = _coefficients(p)
    if rank_of(np.roots, c) != 1:
        raise ValueError("Input must be a rank-1 array.")
    value = c.constant_value()
    if value is None:
        raise UnknownWhileTracing(
            "numpy.roots needs coefficients that are known while the graph is built, as those that are zero say how "
            "many roots there are: use numpy.linalg.eigvals of the companion matrix"
        )
    if c.node is not None:
        return as_operand(np.roots(value))
    return _eigenvalues_of_companion(c, value)


def _eigenvalues_of_companion(c: Any, value: Any) -> Any:
    """Return the roots of coefficients whose values are known, computed from these as NumPy does it."""
    places = np.flatnonzero(value)
    if not len(places):
        return as_operand(np.roots(value))
    kept = _inexact(c[int(places[0]) : int(places[-1]) + 1])
    last = len(value) - int(places[-1]) - 1
    if int(places[-1]) == int(places[0]):
        return as_operand(np.roots(value))
    count = int(places[-1] - places[0])
    below = np.eye(count, k=-1)[1:].astype(kept.dtype)
    matrix = joining.concat([array.expand_dims(-kept[1:] / kept[0], 0), as_operand(below)], 0)
    made: Any = np.linalg.eigvals(matrix)
    return joining.concat([made, filled.zeros([last], made.dtype)], 0) if last else made


@counterpart(np.vander)
def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """Return ``np.vander``."""
    points = as_operand(x)
    if rank_of(np.vander, points) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    points = as_dtype(points, np.result_type(points.dtype, np.int64))
    made: Any = array.expand_dims(points, 1)
    ones = filled.ones_like(made)
    if is_tensor(N) and N.shape.rank == 0 and N.constant_value() is None:
        row = filled.full([N], 1)  # which refuses a negative count
        columns = running_sums.cumprod(np.where(running_sums.cumsum(row, 0) == 1, ones, made), 1)
        return columns if increasing else array.flip(columns, 1)
    count = known(np.vander, N=dim(points, 0) if N is None else N)
    if count < 0:
        raise ValueError("negative dimensions are not allowed")
    if count < 2:
        columns = ones if count else made[:, :0]
    else:
        steps = [ones, *[made] * (count - 1)]
        columns = running_sums.cumprod(joining.concat(steps, 1), 1)
    return columns if increasing else array.flip(columns, 1)


def _inexact(x: Tensor) -> Tensor:
    """Return ``x + 0.0``."""
    return x if x.dtype.kind in "fc" else as_dtype(x, np.dtype(float))


_EMPTY = "expected non-empty vector for x"


@counterpart(np.polyfit)
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Any:
    """Return ``np.polyfit``."""
    order = int(known(np.polyfit, deg=deg)) + 1
    at, values = _inexact(as_operand(x)), _inexact(as_operand(y))
    if order < 1:
        raise ValueError("expected deg >= 0")
    if rank_of(np.polyfit, at) != 1:
        raise TypeError("expected 1D vector for x")
    if at.shape[0] == 0:
        raise in_numpys_words(TypeError(_EMPTY))
    if rank_of(np.polyfit, values) not in (1, 2):
        raise in_numpys_words(TypeError("expected 1D or 2D array for y"))
    if at.shape[0] is None:
        at = checked(at, dim(at, 0) > 0, TypeError, _EMPTY)
    at = equally_long(at, values, in_numpys_words(TypeError("expected x and y to have same length")))
    if values.dtype == np.float16:  # powers of the others have 64 bits
        raise TypeError("array type float16 is unsupported in linalg")
    left, right = np.vander(at, order), values
    if w is not None:
        weights = _inexact(as_operand(w))
        if rank_of(np.polyfit, weights) != 1:
            raise TypeError("expected a 1-d array for weights")
        weights = equally_long(weights, right, in_numpys_words(TypeError("expected w and y to have the same length")))
        left = left * array.expand_dims(weights, 1)
        right = right * (weights if len(right.shape) == 1 else array.expand_dims(weights, 1))
    return _fitted(left, right, order, at, rcond, full, w, cov)


def _fitted(left: Any, right: Any, order: int, at: Any, rcond: Any, full: Any, w: Any, cov: Any) -> Any:
    scale = powers.sqrt(reducing.sum(left * left, 0))
    if rcond is None and at.shape[0] is None and not full:  # by as many as the run finds
        solution, residuals, rank, singular = lstsq(*as_operands(left / scale, right), rcond=at.dtype.name)
    else:
        rcond = _count(np.polyfit, at) * np.finfo(at.dtype).eps if rcond is None else rcond
        solution, residuals, rank, singular = np.linalg.lstsq(left / scale, right, rcond)
    found = solution / (scale if len(solution.shape) == 1 else array.expand_dims(scale, 1))
    if full:
        return found, residuals, rank, singular, rcond
    if not cov:
        return found
    base = linalg.inv(array.transpose(left) @ left)
    factor: Any = 1.0
    if not (isinstance(cov, str) and cov == "unscaled"):
        count = _count(np.polyfit, at)
        if count <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (count - order)
    if len(solution.shape) == 1:
        return found, base * factor
    return found, array.expand_dims(base, 2) * factor


def _horner(c: Tensor, x: Tensor) -> Any:
    made: Any = c[-1] + x * 0
    for k in range(2, c.shape[0] + 1):
        made = c[-k] + made * x
    return made


def _clenshaw(ahead: Callable[..., Any], behind: Callable[..., Any], last: Callable[[Any], Any]) -> Any:
    """Return the sum of coefficients times polynomials that a recurrence of three terms gives.

    ``c0, c1 = c[-i] - behind(c1, n), c0 + ahead(c1, x, n)``, and at the end ``c0 + c1 * last(x)``.
    """

    def value(c: Any, x: Any) -> Any:
        n = c.shape[0]
        if n == 1:
            return c[0] + 0 * last(x)
        one, two = c[-2], c[-1]
        for i in range(3, c.shape[0] + 1):
            n -= 1
            one, two = c[-i] - behind(two, n), one + ahead(two, x, n)
        return one + two * last(x)

    return value


_VALUES: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "polynomial": ("polyval", _horner),
    "chebyshev": ("chebval", _clenshaw(lambda c, x, n: c * (2 * x), lambda c, n: c, lambda x: x)),
    "legendre": ("legval", _clenshaw(
        lambda c, x, n: c * x * ((2 * n - 1) / n), lambda c, n: c * ((n - 1) / n), lambda x: x,
    )),
    "hermite": ("hermval", _clenshaw(lambda c, x, n: c * (2 * x), lambda c, n: c * (2 * (n - 1)), lambda x: 2 * x)),
    "hermite_e": ("hermeval", _clenshaw(lambda c, x, n: c * x, lambda c, n: c * (n - 1), lambda x: x)),
    "laguerre": ("lagval", _clenshaw(
        lambda c, x, n: (c * ((2 * n - 1) - x)) / n, lambda c, n: (c * (n - 1)) / n, lambda x: 1 - x,
    )),
}  # fmt: skip


def _of_series(theirs: Any, value: Callable[[Any, Any], Any]) -> None:
    @counterpart(theirs)
    def evaluated(x: Any, c: Any, tensor: Any = True) -> Any:
        factors = _coefficients(c)
        if factors.dtype.kind in "biu":
            factors = as_dtype(factors, np.dtype(float))
        if isinstance(x, (int, float, complex)):
            return value(factors, x)
        at = as_operand(x)
        if tensor:
            factors = array.reshape(
                factors, [*[dim(factors, a) for a in range(len(factors.shape))], *[1] * len(at.shape)]
            )
        _count(theirs, factors)
        return value(factors, at)


@counterpart(np.polynomial.polynomial.polyvalfromroots)
def polyvalfromroots(x: Any, r: Any, tensor: Any = True) -> Any:
    """Return ``np.polynomial.polynomial.polyvalfromroots``."""
    roots, at = as_operand(r), as_operand(x) if weak_type(x) is None else x
    roots = array.reshape(roots, [1]) if not roots.shape.rank else roots
    roots = as_dtype(roots, np.dtype(float)) if roots.dtype.kind in "biu" else roots
    ranks = len(roots.shape), len(at.shape) if isinstance(at, Tensor) else 0
    if tensor:
        roots = array.reshape(roots, [*[dim(roots, a) for a in range(ranks[0])], *[1] * ranks[1]])
    elif ranks[1] >= ranks[0]:
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return reductions.prod(at - roots, 0)


for _module, (_name, _value) in _VALUES.items():
    _of_series(getattr(getattr(np.polynomial, _module), _name), _value)
