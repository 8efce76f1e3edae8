"""Functions of arrays as 1.x has them, where their arguments or results are other than those of the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes, nest
from autoloop_runtime.base.dtypes import int32, int64
from autoloop_runtime.ir.argument_types import ArrayLike, DimsLike, DTypeLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor

from .building import after, building, one_of, refuse

__all__ = [
    "add_n", "argsort", "bincount", "boolean_mask", "concat", "div", "expand_dims", "gather", "invert_permutation",
    "matmul", "pad", "realdiv", "reshape", "reverse", "searchsorted", "shape", "size", "slice", "sort", "split",
    "squared_difference", "squeeze", "transpose", "truncatediv", "unique", "where",
]  # fmt: skip


@building
def div(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor:
    """Return the quotient: of integers rounded downwards, as in Python 2."""
    first, second = _pair(x, y)
    whole = first.dtype.kind in "iu" and second.dtype.kind in "iu"
    return ops.floor_divide(first, second, name=name) if whole else ops.divide(first, second, name=name)


@building
def realdiv(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor:
    """Return the quotient of floats."""
    return ops.divide(*_pair(x, y), name=name)


@building
def truncatediv(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor:
    """Return the quotient rounded towards zero."""
    first, second = _pair(x, y)
    quotient = ops.floor_divide(ops.abs(first), ops.abs(second))
    return ops.multiply(quotient, ops.sign(first) * ops.sign(second), name=name)


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Return two operands, of which a Python number takes the dtype of the other."""
    if isinstance(x, (int, float)) and not isinstance(y, (int, float)):
        second = convert_to_tensor(y)
        return convert_to_tensor(x, second.dtype), second
    first = convert_to_tensor(x)
    return first, convert_to_tensor(y, first.dtype if isinstance(y, int) else None)


@building
def squared_difference(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``(x - y) ** 2``."""
    first, second = _pair(x, y)
    return ops.square(first - second, name=name)


@building
def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """Return the sum of tensors of one shape and dtype.

    Raises
    ------
    ValueError
        If there are none, or their shapes or dtypes differ.
    """
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not given:
        raise ValueError(
            "add_n: inputs must be an iterable of at least one tensor with the same dtype and shape [AL905]"
        )
    tensors = [convert_to_tensor(one) for one in given]
    first = tensors[0]
    for other in tensors[1:]:
        if other.dtype != first.dtype or not other.shape.is_compatible_with(first.shape):
            raise ValueError(
                f"add_n: {other.shape} {other.dtype} cannot be added to {first.shape} {first.dtype} [AL905]"
            )
    total = first
    for other in tensors[1:]:
        total = total + other
    return ops.identity(total, name=name)


@building
def where(condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None, name: str | None = None) -> Any:
    """Return ``x`` where the condition is true and ``y`` elsewhere; without both, where it is true.

    Parameters
    ----------
    condition : bool tensor-like
        Of the shape of ``x`` and ``y``, a scalar, or a vector that says which rows are whose.

    Returns
    -------
    Tensor
        Of the condition alone: a row of indices (int64) for each element that is true.

    Raises
    ------
    ValueError
        If only one of ``x`` and ``y`` is given, or the shapes do not go together: nothing is broadcast.
    """
    chosen = convert_to_tensor(condition)
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None. [AL905]")
    if x is None or y is None:
        return ops.cast(ops.argwhere(chosen), int64, name=name)
    if chosen.dtype != dtypes.bool_:
        raise TypeError(f"where: the condition must be bool, got {chosen.dtype} [AL905]")
    first, second = _pair(x, y)
    rank, inner = chosen.shape.rank, first.shape.rank or 0  # where it is not known: no rows
    if not first.shape.is_compatible_with(second.shape):
        raise ValueError(f"where: x has shape {first.shape}, y has {second.shape}: nothing is broadcast [AL905]")
    of_rows = rank == 1 and inner > 1
    if rank != 0 and not chosen.shape.is_compatible_with(first.shape[:1] if of_rows else first.shape):
        raise ValueError(f"where: the condition of shape {chosen.shape} does not fit x of shape {first.shape} [AL905]")
    if of_rows:
        chosen = ops.expand_dims(chosen, tuple(range(1, inner)))
    return ops.where(chosen, first, second, name=name)


class Unique(NamedTuple):
    """The distinct elements of a vector in the order in which they come first, and which each element is."""

    y: Tensor
    idx: Tensor


@building
def unique(x: ArrayLike, out_idx: DTypeLike = int32, name: str | None = None) -> Unique:
    """Return the distinct elements of a vector, and for each element which of them it is."""
    values = convert_to_tensor(x)
    same = ops.equal(ops.expand_dims(values, 1), ops.expand_dims(values, 0))
    first = ops.argmax(same, 1)  # where an equal element comes first
    is_new = ops.equal(first, ops.cast(ops.range(ops.size(values)), first.dtype))
    order = ops.cumsum(ops.cast(is_new, int32)) - 1
    return Unique(ops.boolean_mask(values, is_new), ops.cast(ops.gather(order, first), out_idx, name=name))


@building
def gather(
    params: ArrayLike, indices: ArrayLike, validate_indices: Any = None, name: str | None = None, axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:  # fmt: skip
    """Return the parts at ``indices`` along an axis, the first by default; none may be negative."""
    refuse("gather", batch_dims=batch_dims or None)
    places = convert_to_tensor(indices)
    known = places.constant_value()
    if known is not None and known.size and known.min() < 0:
        raise IndexError(f"gather: index {known.min()} is negative [AL905]")
    if known is None and places.dtype.kind == "i":
        with after(ops.Assert(ops.all(places >= 0), ["gather: an index is negative"])):
            places = ops.identity(places)
    return ops.gather(params, places, 0 if axis is None else int(axis), name)


@building
def expand_dims(input: ArrayLike, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Return the input with an axis of extent 1 more.

    Raises
    ------
    ValueError
        If none is named.
    """
    along = one_of("expand_dims", axis=axis, dim=dim)
    if along is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims() [AL905]")
    return ops.expand_dims(input, along, name)


@building
def squeeze(input: ArrayLike, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Return the input without axes of extent 1: all of them, or those named."""
    along = one_of("squeeze", axis=axis, squeeze_dims=squeeze_dims)
    return ops.squeeze(input, tuple(along) if isinstance(along, list) else along, name)


@building
def concat(values: Any, axis: Any, name: str | None = "concat") -> Tensor:
    """Return tensors joined along an axis.

    Raises
    ------
    ValueError
        If the axis is no scalar: in the order of 0.x it came first.
    """
    if np.ndim(axis) != 0 if not isinstance(axis, Tensor) else axis.shape.rank not in (0, None):
        raise ValueError(f"concat: the axis comes second and is a scalar, got {axis!r} [AL905]")
    return ops.concat([values] if isinstance(values, Tensor) else list(values), axis, name)


@building
def split(
    value: ArrayLike, num_or_size_splits: Any, axis: int = 0, num: int | None = None, name: str | None = "split"
) -> list[Tensor]:
    """Return the parts of a tensor along an axis: so many, or of these extents (of which one may be -1)."""
    x, sizes = convert_to_tensor(value), num_or_size_splits
    if not isinstance(sizes, (int, np.integer, Tensor)) and -1 in list(sizes):
        whole = x.shape[axis]
        if whole is None:
            raise ValueError("split: a size of -1 needs an axis of known extent [AL905]")
        rest = int(whole) - sum(size for size in sizes if size != -1)
        sizes = [rest if size == -1 else size for size in sizes]
    return ops.split(x, sizes, axis, name)


def _numbers(axes: Any) -> Any:
    """Return axes, where they are a tensor that is known while the graph is built as numbers."""
    known = axes.constant_value() if isinstance(axes, Tensor) else None
    return axes if known is None else known


@building
def reverse(tensor: ArrayLike, axis: Any, name: str | None = None) -> Tensor:
    """Return the tensor with the order of elements turned round along axes, a list of them."""
    axes = _numbers(axis)
    if np.ndim(axes) != 1:
        raise ValueError(f"reverse: the axes are a list, got {axis!r} [AL905]")
    return ops.flip(tensor, tuple(int(a) for a in axes), name) if len(axes) else ops.identity(tensor, name)


@building
def transpose(a: ArrayLike, perm: Any = None, name: str | None = "transpose", conjugate: bool = False) -> Tensor:
    """Return the tensor with its axes in another order, turned round by default."""
    made = ops.transpose(a, perm, name)
    return ops.conj(made) if conjugate else made


@building
def matmul(
    a: ArrayLike, b: ArrayLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: Any = None,
    grad_a: bool = False, grad_b: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the product of matrices.

    Raises
    ------
    ValueError
        If one is to be transposed and conjugated; if one is no matrix.
    """
    for one, both in (("a", transpose_a and adjoint_a), ("b", transpose_b and adjoint_b)):
        if both:
            raise ValueError(f"Only one of transpose_{one} and adjoint_{one} can be True. [AL905]")
    refuse("matmul", output_type=output_type)
    first, second = convert_to_tensor(a), convert_to_tensor(b)
    for matrix in (first, second):
        if matrix.shape.rank in (0, 1):
            raise ValueError(f"Shape must be rank 2 but is rank {matrix.shape.rank}: matmul takes matrices [AL905]")
    first, second = (ops.conj(first) if adjoint_a else first), (ops.conj(second) if adjoint_b else second)
    return ops.matmul(first, second, transpose_a or adjoint_a, transpose_b or adjoint_b, name)


def _downwards(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be 'ASCENDING' or 'DESCENDING', got {direction!r} [AL905]")
    return direction == "DESCENDING"


@building
def sort(values: ArrayLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Return the values in order along an axis."""
    return ops.sort(values, axis, _downwards(direction), name)


@building
def argsort(
    values: ArrayLike, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """Return the indices (int32) that put values in order along an axis; of equal ones the first comes first."""
    return ops.cast(ops.argsort(values, axis, _downwards(direction)), int32, name=name)


@building
def pad(
    tensor: ArrayLike, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0
) -> Tensor:
    """Return the tensor with more elements before and after along each axis: "CONSTANT", "REFLECT", "SYMMETRIC"."""
    if mode.upper() not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"pad: mode must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', got {mode!r} [AL905]")
    return ops.pad(tensor, paddings, mode.lower(), constant_values, name)


@building
def boolean_mask(tensor: ArrayLike, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Tensor:
    """Return the parts of a tensor where ``mask`` is true, from an axis on, the first by default."""
    return ops.boolean_mask(tensor, mask, 0 if axis is None else axis, name)


@building
def reshape(tensor: ArrayLike, shape: DimsLike, name: str | None = None) -> Tensor:
    """Return the elements in another shape, of which one extent may be -1."""
    return ops.reshape(tensor, shape, name)


@building
def shape(input: ArrayLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Return the shape, int32 by default."""
    return ops.shape(input, int32 if out_type is None else out_type, name)


@building
def size(input: ArrayLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Return the number of elements, int32 by default."""
    return ops.size(input, int32 if out_type is None else out_type, name)


@building
def slice(input_: ArrayLike, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """Return the part of a tensor from ``begin`` on, of these extents; -1: to the end."""
    x = convert_to_tensor(input_)
    starts, extents = nest.flatten(_listed(begin)), nest.flatten(_listed(size))
    parts = [builtin_slice(b, None if _is_rest(e) else b + e) for b, e in zip(starts, extents, strict=True)]
    return ops.identity(x[tuple(parts)], name=name)


builtin_slice = type(np.s_[:])


def _listed(values: Any) -> Any:
    if isinstance(values, Tensor):
        known = values.constant_value()
        return list(ops.unstack(values)) if known is None else known.tolist()
    return list(values)


def _is_rest(extent: Any) -> bool:
    return not isinstance(extent, Tensor) and int(extent) == -1


@building
def invert_permutation(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return the permutation that undoes another one."""
    order = convert_to_tensor(x)
    return ops.cast(ops.argsort(order), order.dtype, name=name)


@building
def searchsorted(
    sorted_sequence: ArrayLike, values: ArrayLike, side: str = "left", out_type: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return where values belong in what is sorted: before what is equal, or behind it ("right")."""
    return ops.cast(ops.searchsorted(sorted_sequence, values, side), out_type, name=name)


@building
def bincount(
    arr: ArrayLike, weights: ArrayLike | None = None, minlength: Any = None, maxlength: Any = None,
    dtype: DTypeLike = int32,
) -> Tensor:  # fmt: skip
    """Return how often each number occurs, or the sum of its weights, whose dtype the result has then."""
    refuse("bincount", maxlength=maxlength)
    counts = ops.bincount(ops.reshape(arr, [-1]), int(minlength or 0), weights=weights)
    return ops.cast(counts, dtype if weights is None else convert_to_tensor(weights).dtype)
