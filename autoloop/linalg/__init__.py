"""The array API standard's extension for linear algebra, over matrices in stacks; kernels are LAPACK's by NumPy."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.doors import listing
from autoloop_runtime.ir.argument_types import ArrayLike, Axes, Axis, DTypeLike
from autoloop_runtime.ir.array_kinds import computing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor

from ..array_api import computed, computed_parts
from ..array_api import matrix_transpose as matrix_transpose
from ..array_api import vecdot as vecdot

det = ops.det
inv = ops.inv
matmul = ops.matmul
tensordot = ops.tensordot


class EighResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns.

    Examples
    --------
    >>> values, vectors = al.linalg.eigh(al.eye(2))
    >>> print(values)
    Tensor([1. 1.], shape=(2,), dtype=float32)
    """

    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns; complex.

    Examples
    --------
    >>> values, vectors = al.linalg.eig(al.eye(2))
    >>> print(values)
    Tensor([1.+0.j 1.+0.j], shape=(2,), dtype=complex64)
    """

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """An orthonormal matrix and an upper triangular one.

    Examples
    --------
    >>> q, r = al.linalg.qr(al.ones((3, 2)))
    >>> q.shape, r.shape
    (TensorShape([3, 2]), TensorShape([2, 2]))
    """

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its size.

    Examples
    --------
    >>> sign, logarithm = al.linalg.slogdet(al.eye(2))
    >>> print(sign, logarithm)
    Tensor(1.0, shape=(), dtype=float32) Tensor(0.0, shape=(), dtype=float32)
    """

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows.

    Examples
    --------
    >>> u, s, vh = al.linalg.svd(al.ones((3, 2)), full_matrices=False)
    >>> u.shape, s.shape, vh.shape
    (TensorShape([3, 2]), TensorShape([2]), TensorShape([2, 2]))
    """

    U: Tensor
    S: Tensor
    Vh: Tensor


@computing
def cholesky(x: ArrayLike, *, upper: bool = False) -> Tensor:
    """Return the Cholesky factor of positive definite matrices: lower triangular, or its conjugate transpose.

    Parameters
    ----------
    x : tensor-like
    upper : bool
        Give the upper triangular factor.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.cholesky(al.constant([[4.0, 2.0], [2.0, 5.0]])))
    Tensor([[2. 0.]
     [1. 2.]], shape=(2, 2), dtype=float32)
    """
    factor = ops.cholesky(x)
    return ops.conj(matrix_transpose(factor)) if upper else factor


@computing
def cross(x1: ArrayLike, x2: ArrayLike, *, axis: Axis = -1) -> Tensor:
    """Return the cross products of vectors of three along an axis; the other axes broadcast.

    Parameters
    ----------
    x1 : tensor-like
    x2 : tensor-like
    axis : int
        The axis along which it is done.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.cross(al.constant([1.0, 0.0, 0.0]), al.constant([0.0, 1.0, 0.0])))
    Tensor([0. 0. 1.], shape=(3,), dtype=float32)
    """
    a, b = [ops.moveaxis(x, axis, -1) for x in (x1, x2)]
    for x in (a, b):
        if x.shape.known[-1] not in (None, 3):
            raise ValueError(f"cross: the vectors must have three elements, got shape {x.shape} [AL209]")
    return ops.moveaxis(ops.cross(a, b), -1, axis)


@computing
def diagonal(x: ArrayLike, *, offset: int = 0) -> Tensor:
    """Return diagonals of matrices.

    Parameters
    ----------
    x : tensor-like
    offset : int
        Which diagonal: 0 is the main one, above it are the positive ones.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.diagonal(al.constant([[1, 2], [3, 4]])))
    Tensor([1 4], shape=(2,), dtype=int32)
    """
    return computed(np.diagonal, x, offset=offset, axis1=-2, axis2=-1)


@computing
def eig(x: ArrayLike) -> EigResult:
    """Return eigenvalues and eigenvectors of square matrices, complex.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    EigResult

    Examples
    --------
    >>> print(al.linalg.eig(al.constant([[2.0, 0.0], [0.0, 3.0]])).eigenvalues)
    Tensor([2.+0.j 3.+0.j], shape=(2,), dtype=complex64)
    """
    x = _inexact(x)
    values, vectors = computed_parts(np.linalg.eig, x)
    dtype = np.result_type(x.dtype, np.complex64)
    return EigResult(ops.cast(values, dtype), ops.cast(vectors, dtype))


@computing
def eigh(x: ArrayLike) -> EighResult:
    """Return eigenvalues, in ascending order, and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    EighResult

    Examples
    --------
    >>> print(al.linalg.eigh(al.constant([[2.0, 0.0], [0.0, 3.0]])).eigenvalues)
    Tensor([2. 3.], shape=(2,), dtype=float32)
    """
    return EighResult(*computed_parts(np.linalg.eigh, x))


@computing
def eigvals(x: ArrayLike) -> Tensor:
    """Return eigenvalues of square matrices, complex.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.eigvals(al.constant([[2.0, 0.0], [0.0, 3.0]])))
    Tensor([2.+0.j 3.+0.j], shape=(2,), dtype=complex64)
    """
    x = _inexact(x)
    return ops.cast(computed(np.linalg.eigvals, x), np.result_type(x.dtype, np.complex64))


def _inexact(x: ArrayLike) -> Tensor:
    x = convert_to_tensor(x)
    return x if x.dtype.kind in "fc" else ops.cast(x, np.float64)


@computing
def eigvalsh(x: ArrayLike) -> Tensor:
    """Return eigenvalues of Hermitian matrices, in ascending order.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.eigvalsh(al.constant([[2.0, 0.0], [0.0, 3.0]])))
    Tensor([2. 3.], shape=(2,), dtype=float32)
    """
    return computed(np.linalg.eigvalsh, x)


@computing
def matrix_norm(x: ArrayLike, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro") -> Tensor:
    """Return norms of matrices: "fro", "nuc", 1, 2, inf, or -1, -2, -inf for the smallest instead of the largest.

    Parameters
    ----------
    x : tensor-like
    keepdims : bool
        Keep the reduced axes, with extent 1.
    ord : "fro", "nuc", 1, 2, inf, -1, -2 or -inf
        Which norm.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.matrix_norm(al.constant([[3.0, 0.0], [0.0, 4.0]])))
    Tensor(5.0, shape=(), dtype=float32)
    """
    x = convert_to_tensor(x)
    if _is_empty(x):
        return _inexact(ops.sum(ops.abs(x), axis=(-2, -1), keepdims=keepdims))
    return computed(np.linalg.norm, x, ord=ord, axis=(-2, -1), keepdims=keepdims)


def _is_empty(x: Tensor) -> bool:
    """Return whether there is no element, and so no largest one: every norm is 0 then."""
    return x.shape.num_elements() == 0


@computing
def matrix_power(x: ArrayLike, n: int) -> Tensor:
    """Return powers of square matrices; negative ones are of the inverse.

    Parameters
    ----------
    x : tensor-like
    n : int

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.matrix_power(al.constant([[1.0, 1.0], [0.0, 1.0]]), 3))
    Tensor([[1. 3.]
     [0. 1.]], shape=(2, 2), dtype=float32)
    """
    return computed(np.linalg.matrix_power, x, n=n)


@computing
def matrix_rank(x: ArrayLike, *, rtol: ArrayLike | None = None) -> Tensor:
    """Return how many singular values are above the largest times ``rtol``; int64.

    Parameters
    ----------
    x : tensor-like
    rtol : tensor-like, optional
        By default the larger extent times the precision of the dtype.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.matrix_rank(al.constant([[1.0, 2.0], [2.0, 4.0]])))
    Tensor(1, shape=(), dtype=int64)
    """
    x = convert_to_tensor(x)
    if x.shape.rank is not None and x.shape.rank < 2:
        raise np.linalg.LinAlgError(f"matrix_rank: a matrix or a stack of them is needed, got shape {x.shape} [AL209]")
    values = svdvals(x)
    if rtol is None:
        rtol = ops.cast(ops.max(ops.shape(x)[-2:]), values.dtype) * float(np.finfo(values.dtype).eps)
    largest = ops.max(values, axis=-1, keepdims=True)
    return ops.count_nonzero(values > largest * ops.expand_dims(rtol, -1), axis=-1)


@computing
def outer(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return the products of each element of a vector with each of another.

    Parameters
    ----------
    x1 : tensor-like
    x2 : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.outer(al.constant([1, 2]), al.constant([3, 4])))
    Tensor([[3 4]
     [6 8]], shape=(2, 2), dtype=int32)
    """
    for x in (convert_to_tensor(x1), convert_to_tensor(x2)):
        if x.shape.rank not in (1, None):
            raise ValueError(f"outer: vectors are needed, got shape {x.shape} [AL209]")
    return ops.outer(x1, x2)


@computing
def pinv(x: ArrayLike, *, rtol: ArrayLike | None = None) -> Tensor:
    """Return pseudo-inverses; singular values below the largest times ``rtol`` count as zero.

    Parameters
    ----------
    x : tensor-like
    rtol : tensor-like, optional
        By default the larger extent times the precision of the dtype.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.pinv(al.constant([[2.0, 0.0], [0.0, 4.0]])))
    Tensor([[0.5  0.  ]
     [0.   0.25]], shape=(2, 2), dtype=float32)
    """
    if rtol is None:
        x = convert_to_tensor(x)
        extents = [extent for extent in x.shape.known[-2:] if extent is not None]
        rtol = max(extents, default=1) * float(np.finfo(x.dtype).eps)
    return computed(np.linalg.pinv, x, rtol)


@computing
def qr(x: ArrayLike, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return an orthonormal and an upper triangular factor, of all columns if ``mode`` is "complete".

    Parameters
    ----------
    x : tensor-like
    mode : "reduced" or "complete"
        How many columns the orthonormal factor has.

    Returns
    -------
    QRResult

    Examples
    --------
    >>> print(al.abs(al.linalg.qr(al.constant([[3.0], [4.0]])).R))
    Tensor([[5.]], shape=(1, 1), dtype=float32)
    """
    return QRResult(*computed_parts(np.linalg.qr, x, mode=mode))


@computing
def slogdet(x: ArrayLike) -> SlogdetResult:
    """Return the sign of determinants and the logarithm of their sizes.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    SlogdetResult

    Examples
    --------
    >>> print(al.linalg.slogdet(al.constant([[2.0, 0.0], [0.0, -1.0]])).sign)
    Tensor(-1.0, shape=(), dtype=float32)
    """
    return SlogdetResult(*computed_parts(np.linalg.slogdet, x))


@computing
def solve(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return the ``x`` with ``x1 @ x == x2``; ``x2`` is a vector if it has one axis, else a stack of matrices.

    Parameters
    ----------
    x1 : tensor-like
    x2 : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.solve(al.constant([[2.0, 0.0], [0.0, 4.0]]), al.constant([2.0, 2.0])))
    Tensor([1.  0.5], shape=(2,), dtype=float32)
    """
    return ops.solve(x1, x2)


@computing
def svd(x: ArrayLike, *, full_matrices: bool = True) -> SVDResult:
    """Return singular vectors and values, the largest first.

    Parameters
    ----------
    x : tensor-like
    full_matrices : bool
        Give square matrices of singular vectors.

    Returns
    -------
    SVDResult

    Examples
    --------
    >>> print(al.linalg.svd(al.constant([[3.0, 0.0], [0.0, 4.0]])).S)
    Tensor([4. 3.], shape=(2,), dtype=float32)
    """
    return SVDResult(*computed_parts(np.linalg.svd, x, full_matrices=full_matrices))


@computing
def svdvals(x: ArrayLike) -> Tensor:
    """Return singular values, the largest first.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.svdvals(al.constant([[3.0, 0.0], [0.0, 4.0]])))
    Tensor([4. 3.], shape=(2,), dtype=float32)
    """
    return computed(np.linalg.svd, x, compute_uv=False)


@computing
def trace(x: ArrayLike, *, offset: int = 0, dtype: DTypeLike | None = None) -> Tensor:
    """Return the sums of diagonals of matrices, of the dtypes of ``sum``.

    Parameters
    ----------
    x : tensor-like
    offset : int
        Which diagonal: 0 is the main one, above it are the positive ones.
    dtype : dtype-like, optional
        To add up in.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.trace(al.constant([[1, 2], [3, 4]])))
    Tensor(5, shape=(), dtype=int32)
    """
    return ops.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


@computing
def vector_norm(x: ArrayLike, *, axis: Axes | None = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Return norms of all elements, or of those along axes.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        All axes by default.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    ord : float
        Which norm; inf and -inf are the largest and the smallest size.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linalg.vector_norm(al.constant([3.0, 4.0])))
    Tensor(5.0, shape=(), dtype=float32)
    """
    x = convert_to_tensor(x)
    if ord > 0 and _is_empty(x):
        return _inexact(ops.sum(ops.abs(x), axis=axis, keepdims=keepdims))
    return ops.norm(x, ord, axis, keepdims)


__all__ = [
    "EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky", "cross", "det", "diagonal",
    "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace",
    "vecdot", "vector_norm",
]  # fmt: skip
__dir__ = listing(globals())
