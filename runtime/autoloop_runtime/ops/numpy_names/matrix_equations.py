"""Least squares, pseudo-inverses, ranks and logarithms of determinants, computed by LAPACK, with their gradients.

Gradients take the rank as standing still.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from ..array import expand_dims, reshape
from ..complex_numbers import complex, imag
from ..elementwise import conjugated
from ..linalg import inv, matmul, transposed
from ..operands import cast
from ..shape_queries import dim
from .decompositions import FACTORED, hermitian_part, least, split_shape, svd_thin, swapped_shape, total_of
from .library_rows import library


def _stack(x: Tensor, **_: Any) -> Any:
    return list(x.shape.known[:-2])


def _same(x: Tensor, **_: Any) -> Any:
    return x.shape


# -- the pseudo-inverse -----------------------------------------------------------------------------------


def _pinv_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the transpose of the derivative found by G. Golub and V. Pereyra (SIAM J. Numer. Anal. 10, 1973)."""
    a, p = inputs[0], outputs[0]
    p_h, g_h = transposed(p), transposed(g)
    beyond_rows = g_h - matmul(a, matmul(p, g_h))
    beyond_columns = g_h - matmul(matmul(g_h, p), a)
    found = total_of([
        -matmul(matmul(p_h, g), p_h), matmul(matmul(beyond_rows, p), p_h), matmul(matmul(p_h, p), beyond_columns),
    ])  # fmt: skip
    return [hermitian_part(found) if attrs["hermitian"] else found]


pinv = library("pinv", np.linalg.pinv, swapped_shape, _pinv_vjp, traits=FACTORED)

# -- least squares ----------------------------------------------------------------------------------------


def _lstsq_kernel(a: Any, b: Any, rcond: Any) -> Any:
    if isinstance(rcond, str):  # a dtype: as many of its ulp as there are rows, which only the run knows
        rcond = len(a) * np.finfo(rcond).eps
    x, residuals, rank, values = np.linalg.lstsq(a, b, rcond)
    return x, residuals, np.asarray(rank), values


def _solution_shape(a: Tensor, b: Tensor, **_: Any) -> Any:
    return [a.shape.known[1], *b.shape.known[1:]]


def _residuals_shape(a: Tensor, b: Tensor, **_: Any) -> Any:
    rows, columns = a.shape.known
    return [0 if rows is not None and columns is not None and rows <= columns else None]


def _lstsq_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    a, b = inputs
    of_x, of_residuals, _, of_values = g
    x, of_a, of_b = outputs[0], [], []
    flat = len(b.shape) == 1
    if flat:
        x, b = expand_dims(x, 1), expand_dims(b, 1)
    left = b - matmul(a, x)
    if of_x is not None:
        of_x = expand_dims(of_x, 1) if flat else of_x
        p = pinv(a, rcond=_cut(a, attrs["rcond"]), hermitian=False)
        p_h = transposed(p)
        through = matmul(p_h, of_x)
        beyond = of_x - matmul(transposed(a), through)
        of_a += [
            -matmul(through, transposed(x)), matmul(left, transposed(matmul(p, through))),
            matmul(matmul(p_h, x), transposed(beyond)),
        ]  # fmt: skip
        of_b.append(through)
    if of_residuals is not None and of_residuals.shape.known != (0,):
        through = left * (2 * cast(reshape(of_residuals, [1, dim(b, 1)]), b.dtype))
        of_a.append(-matmul(through, transposed(x)))
        of_b.append(through)
    if of_values is not None:
        u, _, vh = svd_thin(a)
        of_a.append(matmul(u * cast(expand_dims(of_values, -2), u.dtype), vh))
    found = total_of(of_b)
    return [total_of(of_a), found if found is None or not flat else found[:, 0]]


def _cut(a: Tensor, rcond: Any) -> Any:
    """Return the relative size below which NumPy's ``lstsq`` takes a singular value as zero."""
    precision = float(np.finfo(a.dtype).eps)
    if rcond is not None and not isinstance(rcond, str):
        return precision if rcond == -1 else rcond
    _, rows, columns = split_shape(a)
    if rows is None or columns is None or rcond is not None:
        raise ValueError("numpy.linalg.lstsq: a gradient needs the extents of the matrix, or rcond [AL411]")
    return precision * max(rows, columns)


lstsq = library(
    "lstsq", _lstsq_kernel,
    [_solution_shape, _residuals_shape, lambda a, b, **_: [], lambda a, b, **_: [least(*a.shape.known)]],
    _lstsq_vjp, traits=FACTORED,
)  # fmt: skip

# -- determinants, inverses, ranks ------------------------------------------------------------------------


def _slogdet_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    (sign, _), x = outputs, inputs[0]
    of_sign, of_size = g
    if x.dtype.kind != "c":
        moved = of_size
    else:
        turned: Any = None if of_sign is None else -imag(conjugated(of_sign) * sign)
        size = of_size if of_size is not None else turned * 0
        moved = cast(size, x.dtype) if turned is None else complex(size, turned)
    return [None if moved is None else expand_dims(moved, (-1, -2)) * transposed(inv(x))]


slogdet = library("slogdet", np.linalg.slogdet, [_stack, _stack], _slogdet_vjp, traits=FACTORED)


def _inverse_or_nan(x: Any) -> Any:
    """Return the inverses, nan where there is none."""
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        if x.shape[-2:] != x.shape[-2:][::-1]:  # of a shape that only the run knows
            raise
        if x.ndim == 2:
            return np.full(x.shape, np.nan, x.dtype)
        return np.stack([_inverse_or_nan(one) for one in x])


def _inverse_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    flipped = transposed(outputs[0])
    return [-matmul(matmul(flipped, g), flipped)]


inverse_or_nan = library("inverse_or_nan", _inverse_or_nan, _same, _inverse_vjp, traits=FACTORED)


def _rank_shape(x: Tensor, **_: Any) -> Any:
    return list(x.shape.known[:-2])


matrix_rank = library("matrix_rank", np.linalg.matrix_rank, _rank_shape, NO_GRADIENT, traits=FACTORED)
