"""The namespace ``np.linalg``: results are NumPy's own named tuples, what has no solution is its ``LinAlgError``."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...base.stand_ins import UnknownExtent, UnknownWhileTracing
from ...ir.tensor import Tensor
from .. import dots, linalg
from ..arithmetic import abs as absolute
from ..arithmetic import sign
from ..array import expand_dims, flip, reshape, transpose
from ..broadcasting import broadcast_like
from ..diagonals import diagonal as diagonal_of
from ..extents import product
from ..gathering import take_along_axis
from ..linalg import matmul, transposed
from ..operands import as_dtype
from ..reducing import sum as total
from ..shape_queries import dim
from ..sorting import argsort, sort
from . import decompositions as factors
from . import matrix_equations as equations
from . import numpy_norms as numpy_norms
from . import tensor_products
from .checked_operands import surely_square
from .counterparts import NO_VALUE, as_operand, as_operands, counterpart, known, unsupported
from .data_checks import equal_extents
from .decompositions import is_square
from .matrix_operands import floats, matrix, square, squared, supported
from .numpy_reductions import wide

_ONE = np.ones((1, 1))


def _named(sample: Any, parts: Sequence[Any]) -> Any:
    """Return ``parts`` as the named tuple that NumPy gives."""
    kind = type(sample)
    return kind._make(parts) if hasattr(kind, "_make") else kind(parts)


_SVD, _QR = np.linalg.svd(_ONE), np.linalg.qr(_ONE)
_EIG, _EIGH, _SLOGDET = np.linalg.eig(_ONE), np.linalg.eigh(_ONE), np.linalg.slogdet(_ONE)


# -- solutions --------------------------------------------------------------------------------------------


@counterpart(np.linalg.solve)
def solve(a: Any, b: Any) -> Tensor:
    """Return ``np.linalg.solve``."""
    a, b = squared(floats(a)), floats(b)
    supported(a, b)
    a, b = as_operands(a, b)
    return linalg.solve(a, b)


@counterpart(np.linalg.inv)
def inv(a: Any) -> Tensor:
    """Return ``np.linalg.inv``."""
    return linalg.inv(square(a))


@counterpart(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: Any = False, *, rtol: Any = NO_VALUE) -> Tensor:
    """Return ``np.linalg.pinv``."""
    rcond, rtol = known(np.linalg.pinv, rcond=rcond, rtol=rtol)
    if rtol is not NO_VALUE and rtol is not None:
        if rcond is not None:
            raise ValueError("`rtol` and `rcond` can't be both set.")
        rcond = rtol
    x = matrix(a)
    if rcond is None:
        rows, columns = x.shape.known[-2:]
        if rtol is None:  # as NumPy reads the array API
            if rows is None or columns is None:
                raise ValueError("numpy.linalg.pinv: rtol=None needs the extents of the matrix; give a number [AL411]")
            rcond = max(rows, columns) * float(np.finfo(x.dtype).eps)
        else:
            rcond = 1e-15
    made: Tensor = equations.pinv(x, rcond=rcond, hermitian=bool(hermitian))
    return made


@counterpart(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Return ``np.linalg.lstsq``: the solution, the residuals, the rank and the singular values."""
    a, b = floats(a), floats(b)
    if len(a.shape) != 2:
        raise np.linalg.LinAlgError(f"{len(a.shape)}-dimensional array given. Array must be two-dimensional")
    if len(b.shape) not in (1, 2):
        raise np.linalg.LinAlgError(f"{len(b.shape)}-dimensional array given. Array must be two-dimensional")
    rows, others = a.shape.known[0], b.shape.known[0]
    if None not in (rows, others) and rows != others:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    supported(a, b)
    a, b = as_operands(a, b)
    return tuple(equations.lstsq(a, b, rcond=known(np.linalg.lstsq, rcond=rcond)))


@counterpart(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    """Return ``np.linalg.tensorsolve``."""
    given = floats(a), floats(b)
    a, b = as_operands(*given)
    count = len(a.shape)
    if axes is not None:
        moved = list(range(count))
        for k in known(np.linalg.tensorsolve, axes=axes):
            moved.remove(k)
            moved.insert(count, k)
        a = transpose(a, moved)
    shape = a.shape.known[len(b.shape) - count :] if len(b.shape) < count else ()
    if None in a.shape.known:
        raise UnknownExtent(
            "numpy.linalg.tensorsolve: the shape of the operand must be known; declare it with set_shape"
        )
    extent = product(shape) or 0
    if product(a.shape.known) != extent**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    supported(*given)
    return reshape(linalg.solve(reshape(a, [-1, extent]), reshape(b, [-1])), list(shape))


@counterpart(np.linalg.tensorinv)
def tensorinv(a: Any, ind: Any = 2) -> Tensor:
    """Return ``np.linalg.tensorinv``."""
    a, ind = floats(a), operator.index(known(np.linalg.tensorinv, ind=ind))
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    if None in a.shape.known:
        raise UnknownExtent("numpy.linalg.tensorinv: the shape of the operand must be known; declare it with set_shape")
    if not a.shape.rank:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")  # as NumPy comes to say
    first, others = a.shape.known[:ind], a.shape.known[ind:]
    return reshape(inv(reshape(a, [-1, product(others) or 0])), [*others, *first])


# -- numbers of a matrix ----------------------------------------------------------------------------------


@counterpart(np.linalg.det)
def det(a: Any) -> Tensor:
    """Return ``np.linalg.det``."""
    return linalg.det(square(a))


@counterpart(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    """Return ``np.linalg.slogdet``."""
    return _named(_SLOGDET, equations.slogdet(square(a)))


@counterpart(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: Any = False, *, rtol: Any = None) -> Tensor:
    """Return ``np.linalg.matrix_rank``."""
    tol, rtol = known(np.linalg.matrix_rank, tol=tol, rtol=rtol)
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    made: Tensor = equations.matrix_rank(as_operand(A), tol=tol, hermitian=bool(hermitian), rtol=rtol)
    return made


# -- decompositions ---------------------------------------------------------------------------------------


@counterpart(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: Any = False) -> Tensor:
    """Return ``np.linalg.cholesky``."""
    x = square(a)
    made: Tensor = transposed(linalg.cholesky(transposed(x))) if upper else linalg.cholesky(x)
    return made


@counterpart(np.linalg.qr)
def qr(a: Any, mode: Any = "reduced") -> Any:
    """Return ``np.linalg.qr``."""
    x = matrix(a)
    if mode in ("reduced", "complete"):
        return _named(_QR, (factors.qr_reduced if mode == "reduced" else factors.qr_complete)(x))
    if mode == "r":
        return factors.qr_r(x)
    if mode == "raw":
        return tuple(factors.qr_raw(x))
    raise ValueError(f"Unrecognized mode '{mode}'")


@counterpart(np.linalg.svd)
def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    """Return ``np.linalg.svd``."""
    if hermitian:
        return _svd_hermitian(square(a), compute_uv)
    x = matrix(a)
    if not compute_uv:
        return factors.svdvals(x)
    return _named(_SVD, (factors.svd_full if full_matrices and not is_square(x) else factors.svd_thin)(x))


def _svd_hermitian(x: Tensor, compute_uv: Any) -> Any:
    if not compute_uv:
        return flip(sort(absolute(factors.eigvalsh(x, UPLO="L")), -1), -1)
    values, u = factors.eigh(x, UPLO="L")
    signs, sizes = sign(values), absolute(values)
    order = flip(argsort(sizes, -1), -1)
    signs, sizes = take_along_axis(signs, order, -1), take_along_axis(sizes, order, -1)
    u = take_along_axis(u, broadcast_like(expand_dims(order, -2), u), -1)
    return _named(_SVD, (u, sizes, transposed(u * as_dtype(expand_dims(signs, -2), u.dtype))))


@counterpart(np.linalg.svdvals)
def svdvals(x: Any, /) -> Tensor:
    """Return ``np.linalg.svdvals``."""
    made: Tensor = factors.svdvals(matrix(x))
    return made


@counterpart(np.linalg.eigh)
def eigh(a: Any, UPLO: Any = "L") -> Any:
    """Return ``np.linalg.eigh``."""
    return _named(_EIGH, factors.eigh(square(a), UPLO=_triangle(UPLO)))


@counterpart(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: Any = "L") -> Tensor:
    """Return ``np.linalg.eigvalsh``."""
    made: Tensor = factors.eigvalsh(square(a), UPLO=_triangle(UPLO))
    return made


def _triangle(name: Any) -> str:
    if str(name).upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return str(name).upper()


@counterpart(np.linalg.eig)
def eig(a: Any) -> Any:
    """Return ``np.linalg.eig``."""
    return _named(_EIG, factors.eig(_of_known_kind(np.linalg.eig, a)))


@counterpart(np.linalg.eigvals)
def eigvals(a: Any) -> Tensor:
    """Return ``np.linalg.eigvals``."""
    made: Tensor = factors.eigvals(_of_known_kind(np.linalg.eigvals, a))
    return made


def _of_known_kind(theirs: Any, a: Any) -> Tensor:
    """Return a matrix whose eigenvalues are of a dtype that is known: NumPy's of a real one are real if all are."""
    x = square(a)
    if x.dtype.kind != "c" and x.node is not None:
        raise UnknownWhileTracing(
            f"numpy.linalg.{theirs.__name__} of a real matrix gives real or complex numbers, as its values are, and "
            "these are not known while the graph is built: give it a complex one, x.astype(complex), or take eigh"
        )
    return x


# -- products ---------------------------------------------------------------------------------------------


@counterpart(np.linalg.matmul)
def _matmul(x1: Any, x2: Any, /) -> Tensor:
    a, b = as_operands(x1, x2)
    return matmul(a, b)


@counterpart(np.linalg.outer)
def outer(x1: Any, x2: Any, /) -> Tensor:
    """Return ``np.linalg.outer``, of vectors only."""
    a, b = as_operands(x1, x2)
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise ValueError("Input arrays must be one-dimensional, but they are "
                         f"x1.ndim={len(a.shape)} and x2.ndim={len(b.shape)}.")  # fmt: skip
    return linalg.outer(a, b)


@counterpart(np.linalg.cross)
def cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> Tensor:
    """Return ``np.linalg.cross``: of vectors of three elements."""
    a, b = as_operands(x1, x2)
    axis = known(np.linalg.cross, axis=axis)
    if a.shape.known[axis] != 3 or b.shape.known[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
                         f"{a.shape.known[axis]} and {b.shape.known[axis]} dimensional instead.")  # fmt: skip
    return tensor_products.cross(a, b, axis=axis)


@counterpart(np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: Any = -1) -> Tensor:
    """Return ``np.linalg.vecdot``."""
    return tensor_products.vecdot(x1, x2, axis=known(np.linalg.vecdot, axis=axis))


@counterpart(np.linalg.tensordot)
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """Return ``np.linalg.tensordot``."""
    return dots.tensordot(as_operand(x1), as_operand(x2), known(np.linalg.tensordot, axes=axes))


@counterpart(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Tensor:
    """Return ``np.linalg.multi_dot``."""
    unsupported(np.linalg.multi_dot, out=out)
    given = [as_operand(x) for x in arrays]
    if len(given) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(given) == 2:
        return dots.dot(given[0], given[1])
    row, column = len(given[0].shape) == 1, len(given[-1].shape) == 1
    if row:
        given[0] = expand_dims(given[0], 0)
    if column:
        given[-1] = expand_dims(given[-1], 1)
    for x in given:
        if len(x.shape) != 2:
            raise np.linalg.LinAlgError(f"{len(x.shape)}-dimensional array given. Array must be two-dimensional")
    made = tensor_products.multiplied(given)
    made = made[..., 0] if column else made
    chain: Tensor = made[0] if row else made
    return chain


@counterpart(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Tensor:
    """Return ``np.linalg.matrix_power``; the power must be known while the graph is built."""
    x = surely_square(squared(as_operand(a)))
    try:
        n = operator.index(known(np.linalg.matrix_power, n=n))
    except TypeError as error:
        raise TypeError(f"exponent must be an integer ({error})") from None
    if n == 0:  # which needs nothing of the matrix
        wrong = "Last 2 dimensions of the array must be square"
        one: Tensor = tensor_products.power(x, 0)
        return equal_extents(one, dim(x, -2), dim(x, -1), np.linalg.LinAlgError, wrong)  # type: ignore[no-any-return]
    made: Tensor = tensor_products.power(x if n > 0 else inv(x), abs(n))
    return made


@counterpart(np.linalg.diagonal)
def diagonal(x: Any, /, *, offset: Any = 0) -> Tensor:
    """Return ``np.linalg.diagonal``: of the last two axes."""
    return diagonal_of(as_operand(x), known(np.linalg.diagonal, offset=offset))


@counterpart(np.linalg.trace)
def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Tensor:
    """Return ``np.linalg.trace``: of the last two axes."""
    found = diagonal(x, offset=offset)
    wanted = wide(found.dtype) if dtype is None else of_numbers(dtype)
    return as_dtype(total(as_dtype(found, wanted), -1), wanted)
