"""Functions of sparse tensors, composed of the dense ones and a few primitives, so that they have gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base import dtypes
from ...base.shapes import SCALAR
from ...ir.apply import apply, apply_several
from ...ir.convert import convert_to_tensor
from ...ir.op import function
from ...ir.tensor import Tensor
from .primitives import AGREE, DISTINCT, MATMUL, ORDER, ROW
from .sparse_tensor import SparseTensor


def _sparse(x: Any, name: str) -> SparseTensor:
    if not isinstance(x, SparseTensor):
        raise TypeError(
            f"sparse.{name} takes a SparseTensor, got {type(x).__name__}; sparse.from_dense makes one [AL312]"
        )
    return x


def _rank(x: SparseTensor, name: str) -> int:
    if x.rank is None:
        raise ValueError(f"sparse.{name}: the rank of the SparseTensor must be known [AL312]")
    return x.rank


def _extents(x: SparseTensor) -> Any:
    """Return the dense shape, as numbers where it is known."""
    return x.shape.as_tuple() if x.shape.is_fully_defined() else x.dense_shape


def from_dense(x: Any, name: str | None = None) -> SparseTensor:
    """Return the entries of ``x`` that are not zero, row by row.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    SparseTensor

    Examples
    --------
    >>> print(al.sparse.from_dense([[1, 0], [0, 2]]).values)
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(x)
    if x.shape.rank == 0:
        raise ValueError("sparse.from_dense: a scalar cannot be sparse; it needs at least one dimension [AL312]")
    indices = ops.argwhere(x, name=name)
    if x.shape.is_fully_defined():
        shape = convert_to_tensor(np.asarray(x.shape.as_tuple(), np.int64))
    else:
        shape = ops.cast(ops.shape(x), dtypes.int64)
    return SparseTensor.of(indices, ops.gather_nd(x, indices), shape)


def to_dense(x: Any, default_value: Any = None, name: str | None = None) -> Tensor:
    """Return all entries; those that share a place add up.

    Parameters
    ----------
    x : SparseTensor
    default_value : scalar, optional
        What stands where no entry is, by default zero. With it, entries must not share a place.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.sparse.to_dense(al.SparseTensor([[0, 1]], [5], (2, 2))))
    Tensor([[0 5]
     [0 0]], shape=(2, 2), dtype=int32)
    """
    x = _sparse(x, "to_dense")
    made: Tensor
    if default_value is None:
        made = ops.scatter(x.indices, x.values, _extents(x), name=name)
    else:
        empty = ops.full(_extents(x), convert_to_tensor(default_value, x.dtype))
        made = ops.scatter_update(empty, x.indices, x.values, name=name)
    return made


def reorder(x: Any, name: str | None = None) -> SparseTensor:
    """Return the same tensor with its entries sorted row by row.

    Parameters
    ----------
    x : SparseTensor
    name : str, optional

    Returns
    -------
    SparseTensor

    Examples
    --------
    >>> a = al.SparseTensor([[1, 1], [0, 0]], [2, 1], (2, 2))
    >>> print(al.sparse.reorder(a).values)
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    x = _sparse(x, "reorder")
    order = apply(ORDER, [x.indices], None, name)
    return SparseTensor.of(ops.gather(x.indices, order), ops.gather(x.values, order), x.dense_shape)


def _common_shape(a: SparseTensor, b: SparseTensor, name: str) -> Tensor:
    if not a.shape.is_compatible_with(b.shape):
        raise ValueError(f"sparse.{name}: the shapes {a.shape} and {b.shape} do not fit each other [AL312]")
    if a.shape.is_fully_defined() and b.shape.is_fully_defined():
        return a.dense_shape
    made: Tensor = apply(AGREE, [a.dense_shape, b.dense_shape])
    return made


def add(a: Any, b: Any, name: str | None = None) -> Any:
    """Return the sum of two sparse tensors, or of a sparse and a dense one.

    Parameters
    ----------
    a, b : SparseTensor or tensor-like
        At least one SparseTensor; of one shape and dtype.
    name : str, optional

    Returns
    -------
    SparseTensor or Tensor
        Sparse, sorted and with one entry per place if both are sparse (an entry stays even if it is zero), else dense.

    Examples
    --------
    >>> a = al.sparse.from_dense([[1, 0], [0, 2]])
    >>> print(al.sparse.to_dense(al.sparse.add(a, a)))
    Tensor([[2 0]
     [0 4]], shape=(2, 2), dtype=int32)
    """
    if not isinstance(a, SparseTensor):
        a, b = b, a
    a = _sparse(a, "add")
    if not isinstance(b, SparseTensor):
        b = convert_to_tensor(b)
        if not b.shape.is_compatible_with(a.shape):
            raise ValueError(
                f"sparse.add: a SparseTensor of shape {a.shape} and a tensor of shape {b.shape} cannot be added; "
                f"for arithmetic with broadcasting use sparse.to_dense(x) [AL312]"
            )
        return ops.add(to_dense(a), b, name=name)
    if a.dtype != b.dtype:
        raise TypeError(f"sparse.add: dtypes {a.dtype} and {b.dtype} differ; cast one of them [AL312]")
    shape = _common_shape(a, b, "add")
    indices = ops.concat([a.indices, b.indices], 0)
    distinct, place = apply_several(DISTINCT, [indices], None, name)
    values = ops.concat([a.values, b.values], 0)
    sums = ops.scatter(ops.expand_dims(place, 1), values, [ops.shape(distinct)[0]])
    return SparseTensor.of(distinct, sums, shape)


def map_values(f: Callable[..., Any], x: Any, *args: Any) -> SparseTensor:
    """Return ``f`` of the entries; sparse arguments among ``args`` give theirs and must have the same places.

    Parameters
    ----------
    f : callable
        Elementwise: takes the vector of entries, gives one of the same length.
    x : SparseTensor

    Returns
    -------
    SparseTensor

    Examples
    --------
    >>> a = al.sparse.from_dense([[1, 0], [0, 2]])
    >>> print(al.sparse.map_values(lambda v: v * 10, a).values)
    Tensor([10 20], shape=(2,), dtype=int32)
    """
    if not callable(f):
        raise TypeError(f"sparse.map_values: f must be callable, got {f!r} [AL312]")
    sparse = _sparse(x, "map_values")
    return sparse.with_values(f(sparse.values, *[a.values if isinstance(a, SparseTensor) else a for a in args]))


def _at_entries(x: SparseTensor, other: Any, name: str) -> Any:
    """Return what of ``other``, broadcast to the shape of ``x``, stands at its entries."""
    if isinstance(other, SparseTensor):
        raise TypeError(f"sparse.{name} takes a scalar or a tensor as the second argument, not a SparseTensor [AL312]")
    if isinstance(other, (int, float, complex)):
        return other
    tensor = convert_to_tensor(other)
    if tensor.shape == SCALAR:
        return tensor
    return ops.gather_nd(ops.broadcast_to(tensor, _extents(x)), x.indices)


def multiply(x: Any, y: Any) -> SparseTensor:
    """Return the entries of ``x`` times what of ``y`` stands at their places.

    Parameters
    ----------
    x : SparseTensor
    y : scalar or tensor-like
        Broadcast to the shape of ``x``.

    Returns
    -------
    SparseTensor

    Examples
    --------
    >>> a = al.sparse.from_dense([[1, 0], [0, 2]])
    >>> print(al.sparse.multiply(a, 3).values)
    Tensor([3 6], shape=(2,), dtype=int32)
    """
    sparse = _sparse(x, "multiply")
    return sparse.with_values(ops.multiply(sparse.values, _at_entries(sparse, y, "multiply")))


def _divide(x: SparseTensor, y: Any) -> SparseTensor:
    return x.with_values(ops.divide(x.values, _at_entries(x, y, "divide")))


def transpose(x: Any, perm: Sequence[int] | None = None, name: str | None = None) -> SparseTensor:
    """Return the tensor with its axes permuted (reversed by default), entries sorted row by row.

    Parameters
    ----------
    x : SparseTensor
    perm : sequence of int, optional
    name : str, optional

    Returns
    -------
    SparseTensor

    Examples
    --------
    >>> print(al.sparse.to_dense(al.sparse.transpose(al.sparse.from_dense([[1, 2], [0, 0]]))))
    Tensor([[1 0]
     [2 0]], shape=(2, 2), dtype=int32)
    """
    x = _sparse(x, "transpose")
    rank = _rank(x, "transpose")
    axes = [int(p) for p in (range(rank)[::-1] if perm is None else perm)]
    if sorted(axes) != list(range(rank)):
        raise ValueError(f"sparse.transpose: {axes} is no permutation of the axes of a tensor of rank {rank} [AL312]")
    indices = ops.gather(x.indices, axes, axis=1)
    return reorder(SparseTensor.of(indices, x.values, _chosen(x, axes)), name)


def _chosen(x: SparseTensor, axes: Sequence[int]) -> Tensor:
    """Return the extents of some axes."""
    if x.shape.is_fully_defined():
        return convert_to_tensor(np.asarray([x.shape[a] for a in axes], np.int64))
    made: Tensor = ops.gather(x.dense_shape, list(axes))
    return made


def matmul(a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Tensor:
    """Return the product of a sparse matrix and a dense matrix or vector.

    Parameters
    ----------
    a : SparseTensor
        Of rank 2.
    b : tensor-like
        Of rank 2 or 1.
    adjoint_a, adjoint_b : bool
        Use the conjugate transpose.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.sparse.matmul(al.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]]), al.ones((2, 1))))
    Tensor([[1.]
     [2.]], shape=(2, 1), dtype=float32)
    """
    a, b = _sparse(a, "matmul"), convert_to_tensor(b)
    if a.rank not in (2, None) or b.shape.rank not in (1, 2):
        raise ValueError(
            f"sparse.matmul takes a SparseTensor of rank 2 and a matrix, got {a.shape} and {b.shape} [AL312]"
        )
    if adjoint_a:
        a = transpose(a)
        a = a.with_values(ops.conj(a.values))
    if b.shape.rank == 1:
        column = matmul(a, ops.expand_dims(b, 1), name=name)
        made: Tensor = ops.squeeze(column, 1)
        return made
    if adjoint_b:
        b = ops.conj(ops.transpose(b))
    columns = a.shape[1] if a.shape.rank is not None else None
    if columns is not None and b.shape[0] not in (columns, None):
        raise ValueError(f"sparse.matmul: shapes {a.shape} and {b.shape} do not fit each other [AL312]")
    rows = a.shape[0] if a.shape.rank is not None else None
    product: Tensor = apply(MATMUL, [a.indices, a.values, a.dense_shape, b], {"rows": rows}, name)
    return product


def _left_matmul(b: Any, a: SparseTensor) -> Tensor:
    b = convert_to_tensor(b)
    if b.shape.rank == 1:
        return matmul(transpose(a), b)
    made: Tensor = ops.transpose(matmul(transpose(a), ops.transpose(b)))
    return made


def retain(x: Any, to_retain: Any) -> SparseTensor:
    """Return the tensor with only the entries for which ``to_retain`` is true.

    Parameters
    ----------
    x : SparseTensor
    to_retain : boolean vector
        One per entry.

    Returns
    -------
    SparseTensor

    Examples
    --------
    >>> a = al.sparse.from_dense([[1, 0], [0, 2]])
    >>> print(al.sparse.retain(a, [False, True]).values)
    Tensor([2], shape=(1,), dtype=int32)
    """
    x, mask = _sparse(x, "retain"), convert_to_tensor(to_retain)
    if mask.dtype != dtypes.bool_ or not mask.shape.is_compatible_with(x.values.shape):
        raise TypeError(
            f"sparse.retain: a boolean vector of shape {x.values.shape} is needed, got {mask.dtype}{mask.shape} [AL312]"
        )
    chosen = ops.argwhere(mask)[:, 0]
    return SparseTensor.of(ops.gather(x.indices, chosen), ops.gather(x.values, chosen), x.dense_shape)


def slice(x: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """Return a box cut out of ``x``; it ends where ``x`` ends.

    Parameters
    ----------
    x : SparseTensor
    start, size : integer vectors
        Its first place and its extents.
    name : str, optional

    Returns
    -------
    SparseTensor

    Examples
    --------
    >>> print(al.sparse.to_dense(al.sparse.slice(al.sparse.from_dense([[1, 0], [0, 2]]), [0, 0], [1, 2])))
    Tensor([[1 0]], shape=(1, 2), dtype=int32)
    """
    x = _sparse(x, "slice")
    first, extent = [ops.cast(convert_to_tensor(v), dtypes.int64) for v in (start, size)]
    for what, vector in (("start", first), ("size", extent)):
        if not vector.shape.is_compatible_with(x.dense_shape.shape):
            raise ValueError(
                f"sparse.slice: {what} has shape {vector.shape}, dense_shape {x.dense_shape.shape} [AL312]"
            )
    first = ops.minimum(ops.maximum(first, np.int64(0)), x.dense_shape)
    end = ops.maximum(ops.minimum(first + extent, x.dense_shape), first)
    inside = ops.all(ops.logical_and(x.indices >= first, x.indices < end), axis=1)
    box = retain(x, inside)
    return SparseTensor.of(ops.subtract(box.indices, first, name=name), box.values, end - first)


def row(x: Any, index: Any) -> SparseTensor:
    """Return one row, as a sparse tensor of one dimension less.

    Parameters
    ----------
    x : SparseTensor
        Of rank 2 or more.
    index : integer scalar
        Negative from the end; ``IndexError`` if there is no such row.

    Returns
    -------
    SparseTensor

    Examples
    --------
    >>> print(al.sparse.to_dense(al.sparse.row(al.sparse.from_dense([[1, 0], [0, 2]]), 1)))
    Tensor([0 2], shape=(2,), dtype=int32)
    """
    x = _sparse(x, "row")
    if x.rank == 1:
        raise ValueError("sparse.row: a SparseTensor of rank 1 has no rows; use sparse.to_dense(x)[i] [AL313]")
    at = apply(ROW, [ops.cast(convert_to_tensor(index), dtypes.int64), x.dense_shape])
    kept = retain(x, ops.equal(x.indices[:, 0], at))
    return SparseTensor.of(kept.indices[:, 1:], kept.values, x.dense_shape[1:])


def _getitem(x: SparseTensor, index: Any) -> SparseTensor:
    """Return ``x[i]`` and ``x[i:j]``."""
    if not isinstance(index, type(np.s_[:])):
        if isinstance(index, (tuple, list)) or index is None or index is Ellipsis or isinstance(index, bool):
            raise TypeError(
                "a SparseTensor is indexed by one row or one slice of rows; use sparse.slice for boxes [AL313]"
            )
        return row(x, index)
    if index.step not in (None, 1):
        raise ValueError(f"a SparseTensor can be sliced with step 1 only, got {index.step!r} [AL313]")
    count = x.dense_shape[0]

    def bound(given: Any, default: Any) -> Tensor:
        if given is None:
            return ops.identity(default)
        at = ops.cast(convert_to_tensor(given), dtypes.int64)
        at = ops.where(at < 0, at + count, at)
        return ops.minimum(ops.maximum(at, np.int64(0)), count)

    first, end = bound(index.start, convert_to_tensor(np.int64(0))), bound(index.stop, count)
    rest = x.dense_shape[1:]
    start = ops.concat([ops.expand_dims(first, 0), ops.zeros_like(rest)], 0)
    size = ops.concat([ops.expand_dims(ops.maximum(end - first, np.int64(0)), 0), rest], 0)
    return slice(x, start, size)


def reduce_sum(x: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Return the sum over some axes (all by default), dense.

    Parameters
    ----------
    x : SparseTensor
    axis : int or sequence of int, optional
    keepdims : bool
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.sparse.reduce_sum(al.sparse.from_dense([[1, 0], [0, 2]]), axis=1))
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    x = _sparse(x, "reduce_sum")
    made: Tensor
    if axis is None and not keepdims:
        made = ops.sum(x.values, name=name)
        return made
    rank = _rank(x, "reduce_sum")
    given = range(rank) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else axis
    for a in given:
        if not -rank <= a < rank:
            raise ValueError(f"sparse.reduce_sum: axis {a} is out of range for a SparseTensor of rank {rank} [AL312]")
    axes = {int(a) % rank for a in given}
    kept = [a for a in range(rank) if a not in axes]
    if kept:
        shape = _chosen(x, kept)
        known = shape.fixed_value()
        columns = ops.gather(x.indices, kept, axis=1)
        made = ops.scatter(columns, x.values, shape if known is None else known.tolist(), name=name)
    else:
        made = ops.sum(x.values, name=name)
    for a in sorted(axes) if keepdims else ():
        made = ops.expand_dims(made, a)
    return made


for _name, _f in (
    ("sparse_add", add), ("sparse_multiply", multiply), ("sparse_divide", _divide), ("sparse_matmul", matmul),
    ("sparse_left_matmul", _left_matmul), ("sparse_getitem", _getitem),
):  # fmt: skip
    function(_name, _f)
