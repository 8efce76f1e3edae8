"""Factors of matrices, computed by LAPACK: singular values, eigenvalues, QR; with gradients of every order.

A factor is determined up to a choice (signs, phases, a basis of a null space). Gradients are those of what does not
depend on the choice; they take the rest as standing still. What is taken as Hermitian has a Hermitian gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.prices import elements
from ...ir.tensor import Tensor
from ...ir.traits import NO_RULE, OPAQUE
from ..array import expand_dims
from ..complex_numbers import real
from ..creation import eye
from ..diagonals import diagonal, triu
from ..direct_calls import calls
from ..elementwise import conjugated
from ..joining import concat
from ..linalg import matmul, solve, transposed
from ..logic import not_equal
from ..operands import cast
from ..selection import where
from ..shape_queries import dim
from .library_rows import library

#: of factors, whose computation takes a multiple of that of a product
FACTORED = OPAQUE.but(
    price=lambda a, *_, **attrs: 20_000 + 50 * elements(a.shape), raises=np.linalg.LinAlgError, blas=True
)  # fmt: skip


def least(rows: Any, columns: Any) -> Any:
    """Return the smaller of two extents, None if one is not known."""
    return None if rows is None or columns is None else min(rows, columns)


def split_shape(x: Tensor) -> tuple[list[Any], Any, Any]:
    """Return the leading extents of a stack of matrices, the rows and the columns."""
    *stack, rows, columns = x.shape.known
    return stack, rows, columns


def is_square(x: Tensor) -> bool:
    """Return whether matrices are known to be square."""
    _, rows, columns = split_shape(x)
    return rows is not None and rows == columns


def total_of(parts: Sequence[Any]) -> Any:
    """Return the sum of those that are there, None if none is."""
    given = [part for part in parts if part is not None]
    return sum(given[1:], given[0]) if given else None


def hermitian_part(x: Any) -> Any:
    """Return ``(x + x^H) / 2``."""
    return (x + transposed(x)) / 2


def on_diagonal(x: Any) -> Any:
    """Return matrices with the last axis of ``x`` on their diagonals."""
    return expand_dims(x, -2) * eye(dim(x, -1), dtype=x.dtype)


def _inverse_gaps(across: Any, down: Any) -> Any:
    """Return ``1 / (across - down)``, and 0 on the diagonal and where values are equal."""
    gaps = across - down
    apart = not_equal(gaps, 0)
    return where(apart, 1 / where(apart, gaps, 1), 0)


# -- singular values --------------------------------------------------------------------------------------


def _left_shape(full: bool) -> Callable[..., Any]:
    """Return the shape of a factor whose columns span the columns of a matrix, or all there are if ``full``."""

    def left(x: Tensor, **_: Any) -> Any:
        stack, rows, columns = split_shape(x)
        return [*stack, rows, rows if full else least(rows, columns)]

    return left


def _svd_shapes(full: bool) -> list[Callable[..., Any]]:
    def right(x: Tensor, **_: Any) -> Any:
        stack, rows, columns = split_shape(x)
        return [*stack, columns if full else least(rows, columns), columns]

    return [_left_shape(full), _values_shape, right]


def _values_shape(x: Tensor, **_: Any) -> Any:
    stack, rows, columns = split_shape(x)
    return [*stack, least(rows, columns)]


def _svd_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the VJP of thin factors; the formula is the transpose of J. Townsend's ("Differentiating the singular
    value decomposition", 2016), with the phase of complex vectors put into ``u``."""
    (u, s, vh), (of_u, of_s, of_vh) = outputs, g
    inner: Any = None if of_s is None else on_diagonal(cast(of_s, u.dtype))
    across, down = cast(expand_dims(s, -2), u.dtype), cast(expand_dims(s, -1), u.dtype)
    factors = _inverse_gaps(across * across, down * down)
    square = is_square(inputs[0])
    beside: list[Any] = []
    if of_u is not None:
        turned = matmul(transposed(u), of_u)
        skew = turned - transposed(turned)
        inner = total_of([inner, factors * skew * across])
        if u.dtype.kind == "c":
            inner = inner + on_diagonal(diagonal(skew) / cast(2 * s, u.dtype))
        if not square:
            beside.append(matmul((of_u - matmul(u, turned)) / across, vh))
    if of_vh is not None:
        v, of_v = transposed(vh), transposed(of_vh)
        turned = matmul(vh, of_v)
        inner = total_of([inner, down * (factors * (turned - transposed(turned)))])
        if not square:
            beside.append(matmul(u, transposed(of_v - matmul(v, turned)) / down))
    return [total_of([matmul(matmul(u, inner), vh), *beside])]


def _svd_full_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the VJP: what turns the vectors beyond the thin ones turns these the other way."""
    (u, s, vh), (of_u, of_s, of_vh) = outputs, g
    _, rows, columns = split_shape(inputs[0])
    count = least(rows, columns)
    if count is None:
        raise ValueError("numpy.linalg.svd: a gradient of full_matrices=True needs the extents of the matrix [AL411]")
    thin_u, thin_vh = u[..., :count], vh[..., :count, :]
    if of_u is not None:
        of_u = _thinned(u, of_u, count)
    if of_vh is not None:
        of_vh = transposed(_thinned(transposed(vh), transposed(of_vh), count))
    return _svd_vjp([of_u, of_s, of_vh], [thin_u, s, thin_vh], inputs, attrs)


def _thinned(basis: Any, g: Any, count: int) -> Any:
    """Return the gradient of the first ``count`` columns of a unitary matrix, of that of all."""
    first, others = basis[..., :count], basis[..., count:]
    return g[..., :count] - matmul(others, matmul(transposed(g[..., count:]), first))


def _svdvals_vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    u, _, vh = svd_thin(inputs[0])
    return [matmul(u * cast(expand_dims(g, -2), u.dtype), vh)]


svd_thin = library(
    "svd", lambda x: np.linalg.svd(x, full_matrices=False), _svd_shapes(False), _svd_vjp, traits=FACTORED,
    code_of=lambda node: "np.linalg.svd({0}, False)",
)  # fmt: skip
svd_full = library(
    "svd_full", np.linalg.svd, _svd_shapes(True), _svd_full_vjp, traits=FACTORED, code_of=calls("np.linalg.svd")
)  # fmt: skip
svdvals = library(
    "svdvals", lambda x: np.linalg.svd(x, compute_uv=False), _values_shape, _svdvals_vjp, traits=FACTORED
)  # fmt: skip

# -- eigenvalues ------------------------------------------------------------------------------------------


def _eigenvalues_shape(x: Tensor, **_: Any) -> Any:
    return list(x.shape.known[:-1])


def _same(x: Tensor, **_: Any) -> Any:
    return x.shape


def _eigh_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    (w, v), (of_w, of_v) = outputs, g
    inner: Any = None if of_w is None else on_diagonal(cast(of_w, v.dtype))
    if of_v is not None:
        factors = _inverse_gaps(expand_dims(w, -2), expand_dims(w, -1))
        inner = total_of([inner, cast(factors, v.dtype) * matmul(transposed(v), of_v)])
    return [hermitian_part(matmul(matmul(v, inner), transposed(v)))]


def _eigvalsh_vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, v = eigh(inputs[0], **attrs)
    return [hermitian_part(matmul(v * cast(expand_dims(g, -2), v.dtype), transposed(v)))]


def _eig_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the VJP of eigenvalues, and of eigenvectors of length 1 whose largest element has a phase of anybody's."""
    (w, v), (of_w, of_v) = outputs, g
    inner: Any = None if of_w is None else on_diagonal(of_w)
    if of_v is not None:
        lengths = matmul(transposed(v), v)
        turned = matmul(transposed(v), of_v)
        turned = turned - lengths * cast(expand_dims(real(diagonal(turned)), -2), v.dtype)
        factors = conjugated(_inverse_gaps(expand_dims(w, -2), expand_dims(w, -1)))
        inner = total_of([inner, factors * turned])
    found = solve(transposed(v), matmul(inner, transposed(v)))
    return [found if found.dtype == inputs[0].dtype else cast(found, inputs[0].dtype)]


def _eigvals_vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    w, v = eig(inputs[0])
    return _eig_vjp([cast(g, w.dtype), None], [w, v], inputs, attrs)


eigh = library("eigh", np.linalg.eigh, [_eigenvalues_shape, _same], _eigh_vjp, traits=FACTORED,
               code_of=calls("np.linalg.eigh", "UPLO"))  # fmt: skip
eigvalsh = library("eigvalsh", np.linalg.eigvalsh, _eigenvalues_shape, _eigvalsh_vjp, traits=FACTORED,
                   code_of=calls("np.linalg.eigvalsh", "UPLO"))  # fmt: skip
eig = library("eig", np.linalg.eig, [_eigenvalues_shape, _same], _eig_vjp, traits=FACTORED)
eigvals = library("eigvals", np.linalg.eigvals, _eigenvalues_shape, _eigvals_vjp, traits=FACTORED)

# -- QR ---------------------------------------------------------------------------------------------------


def _qr_shapes(full: bool) -> list[Callable[..., Any]]:
    def of_r(x: Tensor, **_: Any) -> Any:
        stack, rows, columns = split_shape(x)
        return [*stack, rows if full else least(rows, columns), columns]

    return [_left_shape(full), of_r]


def _qr_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the VJP; of a wide matrix that of its first columns, which ``q`` belongs to, and of the others, ``q @ r``
    (S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions", 2010)."""
    (q, r), (of_q, of_r) = outputs, g
    _, rows, columns = split_shape(inputs[0])
    if rows is None or columns is None:
        raise ValueError("numpy.linalg.qr: a gradient needs the extents of the matrix [AL411]")
    if rows >= columns:
        return [_tall_qr_vjp(of_q, of_r, q, r)]
    if of_r is None:
        first, of_others = _tall_qr_vjp(of_q, None, q, r[..., :rows]), inputs[0][..., rows:] * 0
    else:
        of_others = matmul(q, of_r[..., rows:])
        through = matmul(inputs[0][..., rows:], transposed(of_r[..., rows:]))
        first = _tall_qr_vjp(total_of([of_q, through]), of_r[..., :rows], q, r[..., :rows])
    return [concat([first, of_others], -1)]


def _tall_qr_vjp(of_q: Any, of_r: Any, q: Any, r: Any) -> Any:
    upper: Any = None
    if of_r is not None:
        upper = matmul(of_r, transposed(r))
    if of_q is not None:
        upper = total_of([upper, -matmul(transposed(q), of_q)])
    upper = triu(upper)
    twice = upper + transposed(upper)
    inner = matmul(q, twice - on_diagonal(cast(real(diagonal(upper)), twice.dtype)))
    # times the inverse of r^H from the right
    return transposed(solve(r, transposed(total_of([of_q, inner]))))


def _qr_complete_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    (q, r), (of_q, of_r) = outputs, g
    _, rows, columns = split_shape(inputs[0])
    count = least(rows, columns)
    if count is None:
        raise ValueError("numpy.linalg.qr: a gradient needs the extents of the matrix [AL411]")
    of_q = None if of_q is None else _thinned(q, of_q, count)
    of_r = None if of_r is None else of_r[..., :count, :]
    return _qr_vjp([of_q, of_r], [q[..., :count], r[..., :count, :]], inputs, attrs)


def _r_vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return _qr_vjp([None, g], qr_reduced(inputs[0]), inputs, attrs)


def swapped_shape(x: Tensor, **_: Any) -> Any:
    """Return the shape of matrices that have as many rows as those of ``x`` have columns, and the other way round."""
    stack, rows, columns = split_shape(x)
    return [*stack, columns, rows]


qr_reduced = library(
    "qr", np.linalg.qr, _qr_shapes(False), _qr_vjp, traits=FACTORED, code_of=calls("np.linalg.qr")
)  # fmt: skip
qr_complete = library(
    "qr_complete", lambda x: np.linalg.qr(x, "complete"), _qr_shapes(True), _qr_complete_vjp, traits=FACTORED
)  # fmt: skip
qr_r = library("qr_r", lambda x: np.linalg.qr(x, "r"), _qr_shapes(False)[1], _r_vjp, traits=FACTORED)
qr_raw = library("qr_raw", lambda x: np.linalg.qr(x, "raw"), [swapped_shape, _values_shape], NO_RULE, traits=FACTORED)
