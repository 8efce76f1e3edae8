"""Products of matrices and vectors that lie in stacks."""

from __future__ import annotations

from autoloop_runtime import ops
from autoloop_runtime.ir.argument_types import ArrayLike, Axis
from autoloop_runtime.ir.array_kinds import computing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.operands import operands


@computing
def matrix_transpose(x: ArrayLike) -> Tensor:
    """Return matrices, the last two axes, with rows and columns exchanged.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.matrix_transpose(al.constant([[1, 2], [3, 4]])))
    Tensor([[1 3]
     [2 4]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(x)
    if x.shape.rank is not None and x.shape.rank < 2:
        raise ValueError(f"matrix_transpose: a matrix or a stack of them is needed, got shape {x.shape} [AL214]")
    return ops.swapaxes(x, -1, -2)


@computing
def vecdot(x1: ArrayLike, x2: ArrayLike, *, axis: Axis = -1) -> Tensor:
    """Return the products of vectors along an axis, those of ``x1`` conjugated; the other axes broadcast.

    Parameters
    ----------
    x1, x2 : tensor-like
    axis : int
        Counted from the end, as all axes are that broadcast.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.vecdot(al.constant([1, 2]), al.constant([3, 4])))
    Tensor(11, shape=(), dtype=int32)
    """
    a, b = [ops.moveaxis(x, axis, -1) for x in operands("vecdot", x1, x2)]
    if None not in (a.shape.rank, b.shape.rank) and a.shape.known[-1] != b.shape.known[-1] is not None:
        raise ValueError(f"vecdot: shapes {a.shape} and {b.shape} have vectors of different lengths [AL214]")
    product = ops.matmul(ops.expand_dims(ops.conj(a), -2), ops.expand_dims(b, -1))
    return ops.squeeze(product, (-2, -1))
