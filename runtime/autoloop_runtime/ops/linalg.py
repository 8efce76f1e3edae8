"""Linear algebra: products and the solution of systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dtypes import real_of
from ..base.shapes import SCALAR, TensorShape, broadcast_shapes
from ..base.stand_ins import UnknownExtent
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.op import ruled_in
from ..ir.prices import TYPICAL, Products, elements
from ..ir.tensor import Tensor
from ..ir.traits import MADE, OPAQUE, Batching, Fails
from .arithmetic import multiply
from .array import expand_dims, flip, reshape, roll, squeeze, swapaxes
from .broadcasting import unbroadcast
from .define import Example, Function, document, op_of, primitive, public
from .diagonals import tril, triu
from .dtype_rules import inexact, numeric, ruled
from .elementwise import conjugated
from .filled import ones_like
from .operands import as_dtype, operands

if TYPE_CHECKING:
    from .public_functions import Unary

__all__ = ["cholesky", "det", "inv", "matmul", "outer", "solve"]


def transposed(x: Tensor) -> Any:
    """Return the conjugate transpose of the last two axes."""
    return swapaxes(conjugated(x), -1, -2)


# -- matmul -----------------------------------------------------------------------------------------------


def _matmul_infer(a: Tensor, b: Tensor) -> Any:
    if a.shape.rank is None or b.shape.rank is None:
        return a.dtype, TensorShape(None)
    if not len(a.shape) or not len(b.shape):
        raise ValueError(f"matmul: operands need at least one axis, got shapes {a.shape} and {b.shape}; use * [AL209]")
    left = a.shape if len(a.shape) > 1 else TensorShape([1]) + a.shape
    right = b.shape if len(b.shape) > 1 else b.shape + TensorShape([1])
    k, k2 = left.known[-1], right.known[-2]
    if k is not None and k2 is not None and k != k2:
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not fit: {k} columns against {k2} rows [AL206]")
    try:
        batch = broadcast_shapes(TensorShape(left.known[:-2]), TensorShape(right.known[:-2]))
    except ValueError:
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape} cannot be broadcast together [AL206]") from None
    rows = [left.known[-2]] if len(a.shape) > 1 else []
    columns = [right.known[-1]] if len(b.shape) > 1 else []
    return a.dtype, batch + TensorShape([*rows, *columns])


def _matmul_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    a, b = inputs
    if a.shape.rank is None or b.shape.rank is None:
        raise UnknownExtent("the gradient of matmul needs the ranks of its operands")
    if (len(a.shape), len(b.shape)) == (2, 1):
        return [_outer(g, conjugated(b)), matmul(transposed(a), g)]
    if (len(a.shape), len(b.shape)) == (1, 2):
        return [matmul(g, transposed(b)), _outer(conjugated(a), g)]
    # a vector is a matrix of one row (left) or one column (right)
    left = expand_dims(a, 0) if len(a.shape) == 1 else a
    right = expand_dims(b, 1) if len(b.shape) == 1 else b
    if len(b.shape) == 1:
        g = expand_dims(g, -1)
    if len(a.shape) == 1:
        g = expand_dims(g, -2)
    ga, gb = matmul(g, transposed(right)), matmul(transposed(left), g)
    if max(len(left.shape), len(right.shape)) > 2:
        ga, gb = unbroadcast(ga, left), unbroadcast(gb, right)
    return [
        squeeze(ga, 0) if len(a.shape) == 1 else ga,
        squeeze(gb, 1) if len(b.shape) == 1 else gb,
    ]


def _outer(x: Tensor, y: Tensor) -> Tensor:
    """Return the products of each element of one vector with each of another."""
    return multiply(expand_dims(x, 1), expand_dims(y, 0))


def _matmul_count(a: Tensor, b: Tensor) -> int:
    inner = a.shape.known[-1] if a.shape.rank else None
    return elements(_matmul_infer(a, b)[1]) * (TYPICAL if inner is None else inner)


MATMUL = primitive(
    "matmul",
    _matmul_infer,
    np.matmul,
    _matmul_vjp,
    code="{0} @ {1}",
    into="np.matmul({0}, {1}, out={out})",
    strict=True,
    traits=MADE.but(batching=Batching.FIRST_FACTOR, price=Products(_matmul_count), blas=True),
)


#: the product where only the run knows whether the extents agree: of those that do not NumPy's ``dot`` says other words
DOT = primitive(
    "dot_product", _matmul_infer, np.dot, _matmul_vjp, into="np.dot({0}, {1}, out={out})", strict=True,
    traits=MADE.but(batching=Batching.FIRST_FACTOR, price=Products(_matmul_count), blas=True),
)  # fmt: skip


def _squares_kernel(x: Any) -> Any:
    line = x.ravel(order="K")  # as np.linalg.norm: what lies apart is copied first, which BLAS adds up in another order
    if line.dtype.kind != "c":
        return np.dot(line, line)
    real, imag = line.real, line.imag
    return np.dot(real, real) + np.dot(imag, imag)


def _squares_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> list[Tensor]:
    (x,) = inputs
    return [multiply(as_dtype(multiply(g, np.array(2, g.dtype)), x.dtype), x)]


#: the sum of the squares of numbers, of complex ones of both parts, as NumPy's norms have it
SQUARES = primitive(
    "sum_of_squares", lambda x: (real_of(x.dtype) if x.dtype.kind == "c" else x.dtype, SCALAR),
    _squares_kernel, _squares_vjp,
    traits=MADE.but(price=Products(lambda x: elements(x.shape)), fails=Fails.NEVER, blas=True),
)  # fmt: skip


@public(numpy=np.matmul)
def matmul(
    a: ArrayLike, b: ArrayLike, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None
) -> Tensor:
    """Return the matrix product ``a @ b``; leading axes broadcast.

    Parameters
    ----------
    a, b : tensor-like
        A vector counts as a row on the left and as a column on the right.
    transpose_a, transpose_b : bool
        Exchange the last two axes first.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.matmul([[1, 2], [3, 4]], [1, 1]))
    Tensor([3 7], shape=(2,), dtype=int32)
    """
    a, b = operands("matmul", a, b)
    ruled(numeric, "matmul", a.dtype)
    a = swapaxes(a, -1, -2) if transpose_a else a
    b = swapaxes(b, -1, -2) if transpose_b else b
    return apply(MATMUL, [a, b], None, name)


@public()
def outer(a: ArrayLike, b: ArrayLike, name: str | None = None) -> Tensor:
    """Return all products of an element of ``a`` and one of ``b``, as a matrix.

    Parameters
    ----------
    a, b : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.outer([1, 2], [3, 4]))
    Tensor([[3 4]
     [6 8]], shape=(2, 2), dtype=int32)
    """
    a, b = operands("outer", a, b)
    return multiply(reshape(a, [-1, 1]), reshape(b, [1, -1]), name=name)


#: of a square matrix, by LAPACK
FACTORISED = OPAQUE.but(
    price=lambda a, *_: 10_000 + 8 * elements(a.shape), raises=np.linalg.LinAlgError, blas=True
)  # fmt: skip

# -- systems ----------------------------------------------------------------------------------------------


def _square(x: Tensor, name: str) -> TensorShape:
    if x.shape.rank is None:
        return x.shape
    if len(x.shape) < 2:
        raise np.linalg.LinAlgError(
            f"{name}: {len(x.shape)}-dimensional array given. Array must be at least two-dimensional [AL209]"
        )
    if None not in x.shape.known[-2:] and x.shape.known[-1] != x.shape.known[-2]:
        raise np.linalg.LinAlgError(
            f"{name}: a square matrix is needed, got shape {x.shape}: Last 2 dimensions of the array must be square"
            " [AL209]"
        )
    return x.shape


def _of_matrix(
    name: str, kernel: Function, shape: Function, grad: Function, doc: str, aliases: Sequence[str] = (), *,
    example: Example | None = None,
) -> Unary:  # fmt: skip
    """Declare a function of one square matrix (or of a stack of them)."""
    op = primitive(
        name, lambda x: (x.dtype, shape(_square(x, name))), kernel,
        lambda g, outputs, inputs, attrs: [grad(g, conjugated(outputs[0]), inputs[0])],
        traits=FACTORISED,
    )  # fmt: skip

    @public(name=name, aliases=aliases)
    def f(x: ArrayLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(x)
        return apply(op, [as_dtype(x, ruled(inexact, op.name, x.dtype)[0])], None, name)

    f.__doc__ = document(doc, [("x", "tensor-like")], example)
    return f


def _inv_grad(g: Any, y: Any, x: Any) -> Any:
    flipped = swapaxes(y, -1, -2)
    return -matmul(matmul(flipped, g), flipped)


def _det_grad(g: Any, y: Any, x: Any) -> Any:
    minors = _cofactors(conjugated(x))
    if minors is not None:
        return expand_dims(g, (-1, -2)) * minors
    # not of singular matrices
    scaled = expand_dims(multiply(g, y), (-1, -2))
    return scaled * transposed(inv(x))


def _cofactors(x: Tensor) -> Any:
    """Return the derivatives of the determinant, as the polynomials that they are, of matrices known to be small."""
    extent = x.shape.known[-1] if x.shape.rank else None
    if extent == 1:
        return ones_like(x)
    if extent == 2:
        return flip(x, (-1, -2)) * np.array([[1, -1], [-1, 1]], x.dtype)
    if extent == 3:
        below, above = roll(x, -1, -2), roll(x, -2, -2)
        return roll(below, -1, -1) * roll(above, -2, -1) - (roll(below, -2, -1) * roll(above, -1, -1))
    return None


def _cholesky_grad(g: Any, y: Any, x: Any) -> Any:
    factor = conjugated(y)
    inner = tril(matmul(transposed(factor), g))
    inner = inner - tril(triu(inner)) / 2
    upper = transposed(factor)
    half = solve(upper, transposed(solve(upper, transposed(inner))))
    return (half + transposed(half)) / 2


inv = _of_matrix(
    "inv",
    np.linalg.inv,
    lambda s: s,
    _inv_grad,
    "The inverse of a matrix.",
    ("matrix_inverse",),
    example=(
        "al.linalg.inv([[2.0, 0.0], [0.0, 4.0]])",
        "Tensor([[0.5  0.  ]\n [0.   0.25]], shape=(2, 2), dtype=float32)",
    ),
)
det = _of_matrix(
    "det", np.linalg.det, lambda s: s if s.rank is None else TensorShape(s.known[:-2]), _det_grad,
    "The determinant of a matrix.", ("matrix_determinant",),
    example=("al.linalg.det([[1.0, 2.0], [3.0, 4.0]])", "Tensor(-2.0, shape=(), dtype=float32)"),
)  # fmt: skip
cholesky = _of_matrix(
    "cholesky", np.linalg.cholesky, lambda s: s, _cholesky_grad,
    "The lower triangular factor of a positive definite matrix.",
    example=("al.cholesky([[4.0, 2.0], [2.0, 5.0]])", "Tensor([[2. 0.]\n [1. 2.]], shape=(2, 2), dtype=float32)"),
)  # fmt: skip


def _solve_infer(a: Tensor, b: Tensor) -> Any:
    _square(a, "solve")
    if a.shape.rank is None or b.shape.rank is None:
        return b.dtype, TensorShape(None)
    vector = len(b.shape) == 1
    rows = b.shape.known[0] if vector else b.shape.known[-2]
    if None not in (rows, a.shape.known[-1]) and rows != a.shape.known[-1]:
        raise ValueError(f"solve: shapes {a.shape} and {b.shape} do not fit [AL206]")
    if vector:
        return b.dtype, TensorShape(a.shape.known[:-1])
    batch = broadcast_shapes(TensorShape(a.shape.known[:-2]), TensorShape(b.shape.known[:-2]))
    return b.dtype, batch + TensorShape(b.shape.known[-2:])


def _solve_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    a, b = inputs
    x = conjugated(outputs[0])
    if b.shape.rank == 1:
        stacked = g.shape.rank != 1
        gb = squeeze(solve(transposed(a), expand_dims(g, -1)), -1) if stacked else solve(transposed(a), g)
        ga = -(expand_dims(gb, -1) * expand_dims(x, -2))
    else:
        gb = solve(transposed(a), g)
        ga = -matmul(gb, swapaxes(x, -1, -2))
    return [unbroadcast(ga, a), unbroadcast(gb, b)]


SOLVE = primitive(
    "solve",
    _solve_infer,
    np.linalg.solve,
    _solve_vjp,
    traits=FACTORISED,
)


@public(aliases=("matrix_solve",))
def solve(a: ArrayLike, b: ArrayLike, name: str | None = None) -> Tensor:
    """Return the ``x`` with ``a @ x == b``.

    Parameters
    ----------
    a : tensor-like
        A square matrix, or a stack of them.
    b : tensor-like
        A vector or matrix, or a stack of matrices.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]))
    Tensor([[1. ]
     [0.5]], shape=(2, 1), dtype=float32)
    """
    a, b = operands("solve", a, b)
    dtype = ruled(inexact, "solve", a.dtype)[0]
    return apply(SOLVE, [as_dtype(a, dtype), as_dtype(b, dtype)], None, name)


# -- the primitives of functions that a maker made --------------------------------------------------------

INV = op_of(inv)
DET = op_of(det)
CHOLESKY = op_of(cholesky)


ruled_in("linalg_rules", SOLVE, INV, DET, CHOLESKY, SQUARES)
ruled_in("products", MATMUL, DOT)
