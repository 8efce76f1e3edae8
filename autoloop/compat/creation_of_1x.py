"""How arrays are made, as 1.x has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.dtypes import float32
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir import convert
from autoloop_runtime.ir.argument_types import ArrayLike, DimsLike, DTypeLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor

from .building import building, refuse

__all__ = [
    "constant", "eye", "fill", "lin_space", "linspace", "one_hot", "ones", "ones_like", "sequence_mask", "zeros",
    "zeros_like",
]  # fmt: skip


@building
def constant(
    value: Any, dtype: DTypeLike | None = None, shape: Any = None, name: str | None = "Const",
    verify_shape: bool = False,
) -> Tensor:  # fmt: skip
    """Return a constant; where there are fewer values than ``shape`` takes, the last one stands in for the others.

    Raises
    ------
    TypeError
        If ``verify_shape`` and the values have another shape.
    ValueError
        If there are more values than ``shape`` takes.
    """
    if shape is None:
        return convert.constant(value, dtype, None, name)
    extents: Any = tuple(TensorShape(shape).as_list())
    if isinstance(value, Tensor):
        return convert.constant(value, dtype, shape, name)
    values = np.asarray(convert.convert_to_tensor(value, dtype).constant_value())
    if verify_shape and values.shape != extents:
        raise TypeError(f"Expected Tensor's shape: {extents}, got {values.shape}. [AL905]")
    size, flat = int(np.prod(extents)), values.reshape(-1)
    if flat.size > size:
        raise ValueError(f"Too many elements provided. Needed at most {size}, but received {flat.size} [AL905]")
    if 0 < flat.size < size:
        flat = np.concatenate([flat, np.full(size - flat.size, flat[-1])])
    return convert.constant(flat.reshape(extents), None, None, name)


@building
def one_hot(
    indices: ArrayLike, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
    dtype: DTypeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return vectors that are ``on_value`` (1) at the index, and ``off_value`` (0) elsewhere; float32 by default."""
    return ops.one_hot(indices, depth, on_value, off_value, -1 if axis is None else axis, dtype, name)


@building
def linspace(start: ArrayLike, stop: ArrayLike, num: int, name: str | None = None, axis: int = 0) -> Tensor:
    """Return ``num`` numbers at even distances, the last of which is ``stop``; float64 between integers."""
    refuse("linspace", axis=axis or None)
    first, last = convert_to_tensor(start), convert_to_tensor(stop)
    if first.dtype.kind in "iu":
        first, last = ops.cast(first, np.float64), ops.cast(last, np.float64)
    return ops.linspace(first, last, num, first.dtype, name)


lin_space = linspace


@building
def fill(dims: DimsLike, value: ArrayLike, name: str | None = None, layout: Any = None) -> Tensor:
    """Return a tensor of one value."""
    return ops.full(dims, value, None, name)


@building
def zeros(shape: DimsLike, dtype: DTypeLike = float32, name: str | None = None, layout: Any = None) -> Tensor:
    """Return zeros."""
    return ops.zeros(shape, dtype, name)


@building
def ones(shape: DimsLike, dtype: DTypeLike = float32, name: str | None = None, layout: Any = None) -> Tensor:
    """Return ones."""
    return ops.ones(shape, dtype, name)


@building
def zeros_like(
    tensor: ArrayLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Return zeros in the shape of a tensor, and of its dtype by default."""
    return ops.zeros_like(tensor, dtype, name)


@building
def ones_like(
    tensor: ArrayLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Return ones in the shape of a tensor, and of its dtype by default."""
    return ops.ones_like(tensor, dtype, name)


@building
def eye(
    num_rows: int, num_columns: int | None = None, batch_shape: Any = None, dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return an identity matrix, one for each element of a batch of this shape."""
    one = ops.eye(num_rows, num_columns, 0, dtype, name)
    if batch_shape is None:
        return one
    return ops.broadcast_to(one, [*batch_shape, num_rows, num_rows if num_columns is None else num_columns])


@building
def sequence_mask(
    lengths: ArrayLike, maxlen: Any = None, dtype: DTypeLike = dtypes.bool_, name: str | None = None
) -> Tensor:
    """Return for each length a row that is true so far; ``maxlen`` columns, by default those of the greatest length.

    Raises
    ------
    ValueError
        If ``maxlen`` is no scalar.
    """
    counts = convert_to_tensor(lengths)
    known: Any = counts.constant_value()
    wanted = None if isinstance(maxlen, Tensor) else counts.dtype
    most = ops.max(counts) if maxlen is None and known is None else convert_to_tensor(
        known.max() if maxlen is None else maxlen, wanted
    )  # fmt: skip
    if most.shape.rank not in (0, None):
        raise ValueError(f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {most!r} [AL905]")
    places = ops.cast(ops.range(0, ops.maximum(most, 0)), counts.dtype)
    made = ops.less(places, ops.expand_dims(counts, -1))
    return made if dtypes.as_dtype(dtype) == dtypes.bool_ else ops.cast(made, dtype, name=name)
