"""The same elements in another shape, joined and taken apart, by functions of the array API standard."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.dtypes import DType
from ..base.shapes import TensorShape
from ..ops.array import EXPAND, FLIP, RESHAPE, ROLL, SQUEEZE, TRANSPOSE
from ..ops.broadcasting import BROADCAST_TO, SUM_TO
from ..ops.joining import CONCAT, SPLIT, STACK, UNSTACK
from ..ops.shape_queries import RANK, SHAPE, SIZE
from .foreign_rows import Call, computed
from .refused_calls import needs_value


def shape_of(call: Call, x: Any) -> tuple[int, ...]:
    """Return the shape of an array, which must be known."""
    shape = call.namespace.spec(x)[1]
    if None in shape:
        raise needs_value(f"the shape that {call.op.name} looks at", call.namespace.name)
    return shape  # type: ignore[return-value]


def extents(known: Any, dims: Any) -> tuple[int, ...]:
    """Return the shape that an op is given, in an attribute or by an input."""
    return tuple(known if dims is None else dims.tolist())


def turned(call: Call, x: Any, axes: Sequence[int]) -> Any:
    """Return an array with its axes in another order."""
    return x if list(axes) == list(range(len(axes))) else call.xp.permute_dims(x, tuple(axes))


# -- what is asked of a shape -------------------------------------------------------------------------------


@computed(SHAPE, when="both", gives_numpys=True)
def _shape(call: Call, x: Any, dtype: DType) -> Any:
    return np.array(shape_of(call, x), dtype)


@computed(SIZE, when="both", gives_numpys=True)
def _size(call: Call, x: Any, dtype: DType) -> Any:
    return dtype.type(math.prod(shape_of(call, x)))


@computed(RANK, when="both", gives_numpys=True)
def _rank(call: Call, x: Any) -> Any:
    return np.int32(len(x.shape))


# -- shapes -------------------------------------------------------------------------------------------------


@computed(RESHAPE, hosts=slice(1, None))
def _reshape(call: Call, x: Any, dims: Any = None, *, known: Any) -> Any:
    return call.xp.reshape(x, exact_shape(call, x, dims, known))


def exact_shape(call: Call, x: Any, dims: Any, known: Any) -> tuple[int, ...]:
    """Return the shape that an array is given, all extents of it."""
    wanted = extents(known, dims)
    if wanted.count(-1) == 1 and 0 not in wanted:
        shape = shape_of(call, x)
        wanted = tuple([math.prod(shape) // (-math.prod(wanted) or 1) if n == -1 else n for n in wanted])
    if math.prod(wanted) != math.prod(shape_of(call, x)):
        raise ValueError(f"cannot reshape array of size {math.prod(x.shape)} into shape {wanted}")
    return wanted


@computed(EXPAND, when="both")
def _expand(call: Call, x: Any, axis: Any) -> Any:
    full = len(x.shape) + len(axis)
    for a in sorted([a % full for a in axis]):
        x = call.xp.expand_dims(x, axis=a)
    return x


@computed(SQUEEZE, when="both")
def _squeeze(call: Call, x: Any, axis: Any) -> Any:
    shape = call.namespace.spec(x)[1]
    gone = [k for k, n in enumerate(shape) if n == 1] if axis is None else [a % max(len(shape), 1) for a in axis]
    if any(shape[a] != 1 for a in gone):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return call.xp.squeeze(x, axis=tuple(gone)) if gone else x


@computed(TRANSPOSE, when="both")
def _transpose(call: Call, x: Any, axes: Any) -> Any:
    rank = len(x.shape)
    return turned(call, x, range(rank)[::-1] if axes is None else [a % rank for a in axes])


@computed(FLIP, when="both")
def _flip(call: Call, x: Any, axis: Any) -> Any:
    return call.xp.flip(x, axis=axis)


@computed(ROLL, when="both", hosts=slice(1, 2))
def _roll(call: Call, x: Any, shift: Any, axis: Any) -> Any:
    shifts = shift.tolist()
    if isinstance(shifts, list) and isinstance(axis, int):
        axis = (axis,) * len(shifts)
    if isinstance(axis, tuple) and not isinstance(shifts, list):
        shifts = [shifts] * len(axis)
    if axis is None and isinstance(shifts, list):
        shifts = sum(shifts)
    if isinstance(shifts, list):
        for one, a in zip(shifts, axis):
            x = call.xp.roll(x, one, axis=a)
        return x
    return call.xp.roll(x, shifts, axis=axis)


@computed(BROADCAST_TO, when="both", hosts=slice(1, None))
def _broadcast_to(call: Call, x: Any, dims: Any = None, *, known: Any) -> Any:
    return call.xp.broadcast_to(x, extents(known, dims))


@computed(SUM_TO, when="both", hosts=slice(1, None))
def _sum_to(call: Call, g: Any, dims: Any, static: TensorShape) -> Any:
    wanted, shape = tuple(dims.tolist()), shape_of(call, g)
    if shape == wanted:
        return g
    extra = len(shape) - len(wanted)
    axes = (*range(extra), *(extra + i for i, n in enumerate(wanted) if n == 1 and shape[extra + i] != 1))
    return call.xp.reshape(call.xp.sum(g, axis=axes, keepdims=True, dtype=g.dtype), wanted)


# -- several arrays -----------------------------------------------------------------------------------------


@computed(CONCAT, when="both")
def _concat(call: Call, *values: Any, axis: int) -> Any:
    return call.xp.concat(values, axis=axis)


@computed(STACK, when="both")
def _stack(call: Call, *values: Any, axis: int) -> Any:
    return call.xp.stack(values, axis=axis)


def part(x: Any, axis: int, where: Any) -> Any:
    """Return the part of an array that an int or a slice of one axis names."""
    return x[(*(slice(None),) * axis, where, ...)]


@computed(UNSTACK, when="both")
def _unstack(call: Call, x: Any, num: int, axis: int) -> Any:
    shape = shape_of(call, x)
    axis %= len(shape)
    if shape[axis] != num:
        raise ValueError(f"unstack: axis {axis} of a tensor of shape {shape} has not {num} elements [AL206]")
    return tuple([part(x, axis, k) for k in range(num)])


@computed(SPLIT, when="both")
def _split(call: Call, x: Any, sizes: tuple[int, ...], axis: int) -> Any:
    shape = shape_of(call, x)
    axis %= len(shape)
    if shape[axis] != sum(sizes):
        raise ValueError(f"split: axis {axis} of shape {shape} cannot be split into {list(sizes)} [AL206]")
    ends = np.cumsum(sizes).tolist()
    return tuple([part(x, axis, slice(end - size, end)) for size, end in zip(sizes, ends)])
