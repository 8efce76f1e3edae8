"""Triangles and diagonals of matrices."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.op import ruled_in
from ..ir.prices import Price
from ..ir.tensor import Tensor
from ..ir.traits import MADE
from .define import Example, document, op_of, primitive, public
from .extents import extents
from .reducing import sum
from .shape_queries import shape, size

if TYPE_CHECKING:
    from .public_functions import Triangle

__all__ = ["diag", "diagonal", "trace", "tril", "triu"]


def _matrix(x: Tensor) -> Any:
    if x.shape.rank is not None and x.shape.rank < 2:
        raise ValueError(f"a tensor of rank 2 or more is needed, got shape {x.shape} [AL209]")
    return x.dtype, x.shape


def _triangle(name: str, kernel: Any, doc: str, *, example: Example) -> Triangle:
    op = primitive(
        name, lambda x, k: _matrix(x), lambda x, k: kernel(x, k),
        lambda g, outputs, inputs, attrs: [f(g, attrs["k"])], traits=MADE,
    )  # fmt: skip

    @public(name=name)
    def f(x: ArrayLike, k: int = 0, name: str | None = None) -> Tensor:
        return apply(op, [convert_to_tensor(x)], {"k": int(k)}, name)

    f.__doc__ = document(doc, [("x", "tensor-like"), ("k", "int\n    The diagonal.")], example)
    return f


tril = _triangle(
    "tril",
    np.tril,
    "``x`` with the elements above the ``k``-th diagonal set to zero.",
    example=("al.tril([[1, 2], [3, 4]])", "Tensor([[1 0]\n [3 4]], shape=(2, 2), dtype=int32)"),
)

triu = _triangle(
    "triu",
    np.triu,
    "``x`` with the elements below the ``k``-th diagonal set to zero.",
    example=("al.triu([[1, 2], [3, 4]])", "Tensor([[1 2]\n [0 4]], shape=(2, 2), dtype=int32)"),
)


def _diagonal_infer(x: Tensor, k: int) -> Any:
    _matrix(x)
    if x.shape.rank is None:
        return x.dtype, x.shape
    rows, columns = x.shape.known[-2:]
    count = None
    if rows is not None and columns is not None:
        count = builtins.max(0, builtins.min(rows, columns - k) if k >= 0 else builtins.min(rows + k, columns))
    return x.dtype, TensorShape([*x.shape.known[:-2], count])


def _diagonal_places(count: int, k: int) -> Any:
    steps = np.arange(count)
    return (..., steps + builtins.max(-k, 0), steps + builtins.max(k, 0))


def _embed_kernel(d: Any, dims: Any = None, *, known: Any, k: int) -> Any:
    out = np.zeros(tuple(known if dims is None else dims.tolist()), d.dtype)
    out[_diagonal_places(d.shape[-1], k)] = d
    return out


DIAGONAL = primitive(
    "diagonal", _diagonal_infer, lambda x, k: np.diagonal(x, k, -2, -1).copy(),
    lambda g, outputs, inputs, attrs: [_embedded(g, shape(inputs[0]), attrs["k"])], traits=MADE.but(price=Price.PICK),
)  # fmt: skip


def _embed_vjp(g: Tensor, outputs: Any, inputs: Any, attrs: Any) -> Any:
    return [diagonal(g, attrs["k"]), *[None] * (len(inputs) - 1)]


EMBED = primitive(
    "embed_diagonal", lambda d, *dims, known, k: (d.dtype, TensorShape(known)), _embed_kernel, _embed_vjp,
    extents=("known", 1), traits=MADE,
)  # fmt: skip


def _embedded(d: Tensor, dims: Any, k: int) -> Tensor:
    places = extents(dims, "diag")
    return apply(EMBED, [d, *places.inputs], {"known": places.known, "k": k})


@public(aliases=("diag_part",))
def diagonal(x: ArrayLike, k: int = 0, name: str | None = None) -> Tensor:
    """Return the ``k``-th diagonal of the last two axes.

    Parameters
    ----------
    x : tensor-like of rank 2 or more
    k : int
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.diagonal([[1, 2], [3, 4]]))
    Tensor([1 4], shape=(2,), dtype=int32)
    """
    return apply(DIAGONAL, [convert_to_tensor(x)], {"k": int(k)}, name)


@public()
def diag(x: ArrayLike, k: int = 0, name: str | None = None) -> Tensor:
    """Return the matrix with the vector ``x`` on its ``k``-th diagonal; the diagonal of a matrix ``x``.

    Parameters
    ----------
    x : tensor-like of rank 1 or 2
    k : int
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.diag([1, 2]))
    Tensor([[1 0]
     [0 2]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(x)
    if x.shape.rank == 2:
        return diagonal(x, k, name)
    if x.shape.rank != 1:
        raise ValueError(f"diag: a vector or a matrix is needed, got shape {x.shape} [AL209]")
    extent = size(x) if x.shape.known[0] is None else x.shape.known[0]
    extent = extent + builtins.abs(k)
    return _embedded(x, [extent, extent], k)


@public()
def trace(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return the sum of the main diagonal of the last two axes.

    Parameters
    ----------
    x : tensor-like of rank 2 or more
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.trace([[1, 2], [3, 4]]))
    Tensor(5, shape=(), dtype=int32)
    """
    return sum(diagonal(x), -1, name=name)


TRIL = op_of(tril)
TRIU = op_of(triu)


ruled_in("diagonal_rules", DIAGONAL, EMBED, TRIL, TRIU)
