"""What is used most of ``scipy.linalg``: systems, triangular ones, Cholesky and LU factors, the exponential."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from ..array import expand_dims, swapaxes
from ..creation import eye
from ..diagonals import tril, triu
from ..elementwise import conjugated
from ..filled import zeros_like
from ..gathering import gather
from ..joining import concat
from ..linalg import CHOLESKY, matmul, transposed
from ..shape_queries import dim
from ..sorting import argsort
from .counterparts import as_operands, counterpart, known, unsupported
from .decompositions import FACTORED, hermitian_part, total_of
from .library_rows import library
from .matrix_operands import floats

scipy_linalg: Any = importlib.import_module("scipy.linalg")
#: how a matrix stands in a system, by SciPy's names
_TRANSPOSED = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}
_GENERAL, _HERMITIAN = (None, "gen", "general"), ("her", "hermitian", "pos", "positive definite")


def _same_as_last(*tensors: Tensor, **_: Any) -> Any:
    return tensors[-1].shape


def _same(x: Tensor, **_: Any) -> Any:
    return x.shape


def _one_square(theirs: Any, a: Any) -> Tensor:
    """Return a single square matrix of floats."""
    x = floats(a)
    rows, columns = x.shape.known if x.shape.rank == 2 else (0, 1)
    if None not in (rows, columns) and rows != columns:
        raise ValueError(f"scipy.linalg.{theirs.__name__}: expected square matrix, got shape {x.shape}")
    return x


def _products(left: Any, right: Any) -> Any:
    """Return ``left @ right^H`` of the vectors, or of the columns of matrices."""
    if len(left.shape) == 1:
        return expand_dims(left, 1) * expand_dims(conjugated(right), 0)
    return matmul(left, transposed(right))


# -- triangular systems -----------------------------------------------------------------------------------


def _triangular_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    a, x, trans = inputs[0], outputs[0], attrs["trans"]
    if trans == 1:  # the conjugate of the matrix, as it stands
        through = _triangular(conjugated(a), g, **{**attrs, "trans": 0})
        of_a = -_products(conjugated(x), conjugated(through))
    else:
        through = _triangular(a, g, **{**attrs, "trans": 2 - trans})
        of_a = -_products(through, x) if trans == 0 else -_products(x, through)
    beside = 1 if attrs["unit_diagonal"] else 0
    return [tril(of_a, -beside) if attrs["lower"] else triu(of_a, beside), through]


_triangular = library(
    "solve_triangular", scipy_linalg.solve_triangular, _same_as_last, _triangular_vjp, traits=FACTORED
)  # fmt: skip


@counterpart(scipy_linalg.solve_triangular)
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False, overwrite_b: Any = False,
    check_finite: Any = True,
) -> Tensor:  # fmt: skip
    """Return ``scipy.linalg.solve_triangular``."""
    unsupported(scipy_linalg.solve_triangular, overwrite_b=overwrite_b)
    a, b = as_operands(_one_square(scipy_linalg.solve_triangular, a), floats(b))
    made: Tensor = _triangular(
        a, b, trans=_TRANSPOSED[known(scipy_linalg.solve_triangular, trans=trans)], lower=bool(lower),
        unit_diagonal=bool(unit_diagonal), check_finite=bool(check_finite),
    )  # fmt: skip
    return made


# -- systems ----------------------------------------------------------------------------------------------


def _solve_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    a, x = inputs[0], outputs[0]
    through = _solve(transposed(a), g, **attrs)
    of_a = -_products(through, x)
    if attrs["assume_a"] in _GENERAL:
        return [of_a, through]
    if attrs["assume_a"] in _HERMITIAN:
        return [hermitian_part(of_a), through]
    return [(of_a + swapaxes(of_a, -1, -2)) / 2, through]


_solve = library("scipy_solve", scipy_linalg.solve, _same_as_last, _solve_vjp, traits=FACTORED)


@counterpart(scipy_linalg.solve)
def solve(
    a: Any, b: Any, lower: Any = False, overwrite_a: Any = False, overwrite_b: Any = False, check_finite: Any = True,
    assume_a: Any = None, transposed: Any = False,
) -> Tensor:  # fmt: skip
    """Return ``scipy.linalg.solve``, of one matrix."""
    unsupported(scipy_linalg.solve, overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    if assume_a not in (*_GENERAL, *_HERMITIAN, "sym", "symmetric"):
        unsupported(scipy_linalg.solve, "leave it out, it is found out", assume_a=assume_a)
    a, b = as_operands(_one_square(scipy_linalg.solve, a), floats(b))
    told = {} if assume_a is None else {"lower": bool(lower)}
    made: Tensor = _solve(
        swapaxes(a, -1, -2) if transposed else a, b, assume_a=assume_a, check_finite=bool(check_finite), **told
    )  # fmt: skip
    return made


# -- Cholesky factors -------------------------------------------------------------------------------------


def _cholesky_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    lower = attrs["lower"]
    factor, of_factor = (outputs[0], g) if lower else (transposed(outputs[0]), transposed(g))
    assert callable(CHOLESKY.vjp)
    return list(CHOLESKY.vjp(tril(of_factor), [tril(factor)], inputs, {}))


def _cho_factor_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    # the other triangle is what the matrix has there
    passed = triu(g, 1) if attrs["lower"] else tril(g, -1)
    return [total_of([*_cholesky_vjp(g, outputs, inputs, attrs), passed])]


_cholesky = library("scipy_cholesky", scipy_linalg.cholesky, _same, _cholesky_vjp, traits=FACTORED)
_cho_factor = library(
    "cho_factor", lambda a, **attrs: scipy_linalg.cho_factor(a, **attrs)[0], _same, _cho_factor_vjp, traits=FACTORED
)  # fmt: skip


@counterpart(scipy_linalg.cholesky)
def cholesky(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Tensor:
    """Return ``scipy.linalg.cholesky``."""
    unsupported(scipy_linalg.cholesky, overwrite_a=overwrite_a)
    x = _one_square(scipy_linalg.cholesky, a)
    made: Tensor = _cholesky(x, lower=bool(lower), check_finite=bool(check_finite))
    return made


@counterpart(scipy_linalg.cho_factor)
def cho_factor(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """Return ``scipy.linalg.cho_factor``: the factor, and whether it is the lower one."""
    unsupported(scipy_linalg.cho_factor, overwrite_a=overwrite_a)
    x = _one_square(scipy_linalg.cho_factor, a)
    return _cho_factor(x, lower=bool(lower), check_finite=bool(check_finite)), bool(lower)


@counterpart(scipy_linalg.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Tensor:
    """Return ``scipy.linalg.cho_solve``."""
    unsupported(scipy_linalg.cho_solve, overwrite_b=overwrite_b)
    factor, lower = c_and_lower
    lower = bool(known(scipy_linalg.cho_solve, c_and_lower=lower))
    first, second = (0, 2) if lower else (2, 0)
    half = solve_triangular(factor, b, first, lower, check_finite=check_finite)
    return solve_triangular(factor, half, second, lower, check_finite=check_finite)


# -- LU factors -------------------------------------------------------------------------------------------


def _permutation(pivots: Any) -> Any:
    """Return in which order rows stand after the exchanges that pivots say."""
    order = np.arange(len(pivots))
    for i, other in enumerate(pivots.tolist()):
        order[i], order[other] = order[other], order[i]
    return order


def _lu_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    lu, pivots = outputs
    return [gather(of_permuted(g[0], g[0], lu), argsort(_permuted(pivots)))]


def of_permuted(of_lower: Any, of_upper: Any, lu: Tensor) -> Tensor:
    """Return the gradient of the matrix whose rows are permuted, ``lower @ upper``, which ``lu`` holds as one."""
    unit = eye(dim(lu, -1), dtype=lu.dtype)
    below = matmul(transposed(tril(lu, -1) + unit), tril(of_lower, -1))
    above = matmul(triu(of_upper), transposed(triu(lu)))
    inner = tril(below, -1) + triu(above)
    made = solve_triangular(lu, inner, 2, lower=True, unit_diagonal=True)
    found: Tensor = transposed(solve_triangular(lu, transposed(made)))
    return found


_permuted = library("pivots_to_permutation", _permutation, "same", NO_GRADIENT)
_lu = library("lu_factor", scipy_linalg.lu_factor, [_same, lambda a, **_: [a.shape.known[0]]], _lu_vjp, traits=FACTORED)


@counterpart(scipy_linalg.lu_factor)
def lu_factor(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """Return ``scipy.linalg.lu_factor``, of a square matrix."""
    unsupported(scipy_linalg.lu_factor, overwrite_a=overwrite_a)
    return tuple(_lu(_one_square(scipy_linalg.lu_factor, a), check_finite=bool(check_finite)))


@counterpart(scipy_linalg.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: Any = False, check_finite: Any = True) -> Tensor:
    """Return ``scipy.linalg.lu_solve``."""
    unsupported(scipy_linalg.lu_solve, overwrite_b=overwrite_b)
    lu, pivots = lu_and_piv
    order, trans = _permuted(pivots), known(scipy_linalg.lu_solve, trans=trans)
    if trans == 0:
        half = solve_triangular(lu, gather(floats(b), order), 0, True, True, check_finite=check_finite)
        return solve_triangular(lu, half, check_finite=check_finite)
    half = solve_triangular(lu, b, trans, check_finite=check_finite)
    return gather(solve_triangular(lu, half, trans, True, True, check_finite=check_finite), argsort(order))


# -- the exponential --------------------------------------------------------------------------------------


def _expm_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the derivative at the conjugate transpose, which stands beside it in the exponential of a block matrix."""
    flipped = transposed(inputs[0])
    blocks = concat([concat([flipped, g], -1), concat([zeros_like(flipped), flipped], -1)], -2)
    extent = dim(flipped, -1)
    return [_expm(blocks)[..., :extent, extent:]]


_expm = library("expm", scipy_linalg.expm, _same, _expm_vjp, traits=FACTORED)


@counterpart(scipy_linalg.expm)
def expm(A: Any) -> Tensor:
    """Return ``scipy.linalg.expm``."""
    x = floats(A)
    if len(x.shape) < 2:
        raise np.linalg.LinAlgError("scipy.linalg.expm: The input array must be at least two-dimensional")
    rows, columns = x.shape.known[-2:]
    if None not in (rows, columns) and rows != columns:
        raise np.linalg.LinAlgError(f"scipy.linalg.expm: Last 2 dimensions of the array must be square, got {x.shape}")
    made: Tensor = _expm(x)
    return made
