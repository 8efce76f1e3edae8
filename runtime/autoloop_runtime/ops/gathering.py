"""Elements and slices named by tensors of indices: gathered, scattered, along one axis or at points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..base.stand_ins import UnknownExtent
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axis, DimsLike
from ..ir.convert import convert_to_tensor
from ..ir.op import Op, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE, PICKING, UPDATING, Memory
from .arithmetic import add
from .array import ravel, reshape_like
from .broadcasting import broadcast_to
from .creation import arange
from .define import primitive, public
from .extents import axis_of, extents
from .filled import zeros_like
from .index import Index, Input, Slice, result_shape
from .indexing import added_at, may_repeat
from .logic import equal
from .operands import operands
from .selection import where
from .shape_queries import shape, size

__all__ = ["gather", "gather_nd", "scatter", "scatter_add", "scatter_update", "take", "take_along_axis"]


def _gather_infer(x: Tensor, indices: Tensor, axis: int) -> Any:
    if x.shape.rank is None:
        return x.dtype, TensorShape(None)
    axis = axis_of(axis, x.shape.rank, "gather")
    if 0 not in x.shape.known[:axis]:  # else there is nothing to take, and NumPy does not look
        result_shape(x.shape, Index([*[Slice(None, None, None)] * axis, Input(0)]), [indices])  # checks the range
    before, after = TensorShape(x.shape.known[:axis]), TensorShape(x.shape.known[axis + 1 :])
    return x.dtype, before + indices.shape + after


def _gather_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, indices = inputs
    axis = attrs["axis"]
    if axis < 0:
        raise UnknownExtent("the gradient of gather along a negative axis needs the rank of the tensor")
    index = Index([*[Slice(None, None, None)] * axis, Input(0)])
    return [added_at(x, index, [indices], g), None]


GATHER = primitive(
    "gather", _gather_infer, lambda x, indices, axis: np.take(x, indices, axis), _gather_vjp, traits=PICKING
)


def _integers(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value)
    if tensor.dtype.kind not in "iu":
        raise TypeError(f"{name}: indices must be integers, got dtype {tensor.dtype} [AL211]")
    return tensor


@public()
def gather(params: ArrayLike, indices: ArrayLike, axis: Axis = 0, name: str | None = None) -> Tensor:
    """Return slices of ``params`` along an axis.

    Parameters
    ----------
    params : tensor-like
    indices : tensor-like of integers
        Of any shape, which takes the place of the axis. Negative ones count from the end.
    axis : int
    name : str, optional

    Returns
    -------
    Tensor

    Raises
    ------
    IndexError
        If an index is out of range.

    Examples
    --------
    >>> print(al.gather([10, 20, 30], [2, 0]))
    Tensor([30 10], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(params)
    axis = axis_of(axis, x.shape.rank, "gather")
    return apply(GATHER, [x, _integers(indices, "gather")], {"axis": axis}, name)


@public()
def take(x: ArrayLike, indices: ArrayLike, axis: Axis | None = None, name: str | None = None) -> Tensor:
    """Return as ``gather``, but without ``axis`` from the flattened tensor, as NumPy.

    Parameters
    ----------
    x : tensor-like
    indices : tensor-like of integers
    axis : int, optional
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.take([10, 20, 30], [2, 0]))
    Tensor([30 10], shape=(2,), dtype=int32)
    """
    return gather(ravel(x) if axis is None else x, indices, axis or 0, name)


def _along_kernel(x: Any, indices: Any, axis: int) -> Any:
    return np.take_along_axis(x, indices, axis)


def _put_along_kernel(shape: Any, indices: Any, values: Any, axis: int, static: Any) -> Any:
    out = np.zeros(tuple(shape.tolist()), values.dtype)
    grid = list(np.indices(indices.shape, sparse=True))
    grid[axis] = indices
    np.add.at(out, tuple(grid), values)
    return out


TAKE_ALONG = primitive(
    "take_along_axis", lambda x, indices, axis: (x.dtype, indices.shape), _along_kernel,
    lambda g, outputs, inputs, attrs: [
        put_along(inputs[0], inputs[1], g, attrs["axis"]),
        None,
    ], traits=PICKING,
)  # fmt: skip


def put_along(x: Tensor, indices: Tensor, g: Tensor, axis: int) -> Any:
    """Return zeros of the shape of ``x`` with what is added at the indices along an axis."""
    return apply(PUT_ALONG, [shape(x), indices, g], {"axis": axis, "static": x.shape})


def _put_along_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [None, None, take_along_axis(g, inputs[1], attrs["axis"])]


PUT_ALONG: Op = primitive(
    "put_along_axis", lambda shape, indices, values, axis, static: (values.dtype, static), _put_along_kernel,
    _put_along_vjp, extents=("static", 0), traits=OPAQUE.but(memory=Memory.FRESH, raises=IndexError),
)  # fmt: skip


@public()
def take_along_axis(x: ArrayLike, indices: ArrayLike, axis: Axis = -1, name: str | None = None) -> Tensor:
    """Return elements of ``x`` at ``indices`` along an axis, the other axes side by side.

    Parameters
    ----------
    x : tensor-like
    indices : tensor-like of integers
        Of the shape of ``x`` but along ``axis``; the other axes broadcast.
    axis : int
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.take_along_axis(al.constant([[3, 1, 2]]), [[1, 2, 0]], axis=1))
    Tensor([[1 2 3]], shape=(1, 3), dtype=int32)
    """
    x, places = convert_to_tensor(x), _integers(indices, "take_along_axis")
    axis = axis_of(axis, x.shape.rank, "take_along_axis")
    if x.shape.rank == places.shape.rank is not None:
        x, places = (_beside(one, other, axis) for one, other in ((x, places), (places, x)))
    return apply(TAKE_ALONG, [x, places], {"axis": axis}, name)


def _beside(x: Tensor, other: Tensor, axis: int) -> Tensor:
    """Return ``x`` broadcast against another tensor along all axes but one."""
    extents: Any = [m if n == 1 and k != axis else n for k, (n, m) in enumerate(zip(x.shape.known, other.shape.known))]
    return x if None in extents or x.shape == extents else broadcast_to(x, extents)


def _places(indices: Any) -> Any:
    return tuple(np.moveaxis(indices, -1, 0))


def _depth(indices: Tensor, name: str) -> int | None:
    if indices.shape.rank == 0:
        raise ValueError(f"{name}: indices must have at least one axis, got a scalar [AL211]")
    return None if indices.shape.rank is None else indices.shape.known[-1]


def _gather_nd_infer(x: Tensor, indices: Tensor) -> Any:
    depth = _depth(indices, "gather_nd")
    if depth is None or x.shape.rank is None:
        return x.dtype, TensorShape(None)
    if depth > len(x.shape):
        raise ValueError(f"gather_nd: indices of {depth} entries for a tensor of shape {x.shape} [AL211]")
    return x.dtype, TensorShape([*indices.shape.known[:-1], *x.shape.known[depth:]])


def _scatter_infer(indices: Tensor, updates: Tensor, *dims: Tensor, known: Any) -> Any:
    _check_updates(indices, updates, TensorShape(known), "scatter")
    return updates.dtype, TensorShape(known)


def _check_updates(indices: Tensor, updates: Tensor, shape: TensorShape, name: str) -> None:
    depth = _depth(indices, name)
    if depth is None or shape.rank is None:
        return
    if depth > len(shape):
        raise ValueError(f"{name}: indices of {depth} entries for a tensor of shape {shape} [AL211]")
    expected = TensorShape([*indices.shape.known[:-1], *shape.known[depth:]])
    if not updates.shape.is_compatible_with(expected):
        raise ValueError(f"{name}: updates have shape {updates.shape}, {expected} is needed [AL211]")


def _scatter_kernel(indices: Any, updates: Any, dims: Any = None, *, known: Any) -> Any:
    out = np.zeros(tuple(known if dims is None else dims.tolist()), updates.dtype)
    np.add.at(out, _places(indices), updates)
    return out


def _gather_nd_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [scatter(inputs[1], g, shape(inputs[0])), None]


def _scatter_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [None, gather_nd(g, inputs[0]), *[None] * (len(inputs) - 2)]


GATHER_ND = primitive(
    "gather_nd", _gather_nd_infer, lambda x, indices: x[_places(indices)], _gather_nd_vjp,
    traits=PICKING.but(memory=Memory.ANY),
)  # fmt: skip
SCATTER = primitive(
    "scatter", _scatter_infer, _scatter_kernel, _scatter_vjp, extents=("known", 2),
    traits=OPAQUE.but(memory=Memory.FRESH, raises=IndexError),
)  # fmt: skip


@public()
def gather_nd(params: ArrayLike, indices: ArrayLike, name: str | None = None) -> Tensor:
    """Return elements or slices of ``params`` at points.

    Parameters
    ----------
    params : tensor-like
    indices : tensor-like of integers
        The last axis holds the coordinates of one point (or of a slice, if fewer than the rank).
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
    Tensor([2 3], shape=(2,), dtype=int32)
    """
    return apply(GATHER_ND, [convert_to_tensor(params), _integers(indices, "gather_nd")], None, name)


@public(aliases=("scatter_nd",))
def scatter(indices: ArrayLike, updates: ArrayLike, shape: DimsLike, name: str | None = None) -> Tensor:
    """Return zeros with ``updates`` added at points; what falls on one point twice sums up.

    Parameters
    ----------
    indices : tensor-like of integers
        The last axis holds the coordinates of one point (or of a slice, if fewer than the rank).
    updates : tensor-like
    shape : ints, tensor, or a list that mixes them
        Of the result.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.scatter([[0], [0], [2]], [1, 2, 3], (4,)))
    Tensor([3 0 3 0], shape=(4,), dtype=int32)
    """
    dims = extents(shape, "scatter")
    inputs = [_integers(indices, "scatter"), convert_to_tensor(updates), *dims.inputs]
    return apply(SCATTER, inputs, {"known": dims.known}, name)


def _scatter_update_infer(x: Tensor, indices: Tensor, updates: Tensor) -> Any:
    _check_updates(indices, updates, x.shape, "scatter_update")
    return x.dtype, x.shape


def _scatter_update_kernel(x: Any, indices: Any, updates: Any) -> Any:
    out = np.array(x)
    out[_places(indices)] = updates
    return out


def _scatter_update_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, indices, updates = inputs
    cleared = apply(SCATTER_UPDATE, [g, indices, zeros_like(updates)])
    part = gather_nd(g, indices)
    if may_repeat(indices):
        numbers = reshape_like(arange(size(part)), part)
        written = apply(SCATTER_UPDATE, [zeros_like(g, numbers.dtype), indices, numbers])
        part = where(equal(gather_nd(written, indices), numbers), part, g.dtype.type(0))
    return [cleared, None, part]


SCATTER_UPDATE = primitive(
    "scatter_update",
    _scatter_update_infer,
    _scatter_update_kernel,
    _scatter_update_vjp,
    traits=UPDATING,
)


def _updates(name: str, x: Tensor, updates: Any) -> Tensor:
    """Return ``updates`` in the dtype of ``x``, which must be able to hold them."""
    kept, made = operands(name, x, updates)
    if kept.dtype != x.dtype:
        raise TypeError(
            f"{name}: a value of dtype {kept.dtype} cannot be stored in a tensor of dtype {x.dtype}; "
            f"use cast(value, {x.dtype}) [AL202]"
        )
    return made


@public(aliases=("tensor_scatter_nd_update",))
def scatter_update(x: ArrayLike, indices: ArrayLike, updates: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x`` with the elements or slices at points replaced: a new tensor.

    Parameters
    ----------
    x : tensor-like
    indices : tensor-like of integers
        The last axis holds the coordinates of one point (or of a slice, if fewer than the rank).
    updates : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.scatter_update(al.zeros(3), [[1]], [5.0]))
    Tensor([0. 5. 0.], shape=(3,), dtype=float32)
    """
    x = convert_to_tensor(x)
    inputs = [x, _integers(indices, "scatter_update"), _updates("scatter_update", x, updates)]
    return apply(SCATTER_UPDATE, inputs, None, name)


@public(aliases=("tensor_scatter_nd_add",))
def scatter_add(x: ArrayLike, indices: ArrayLike, updates: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x`` with ``updates`` added at points: a new tensor.

    Parameters
    ----------
    x : tensor-like
    indices : tensor-like of integers
        The last axis holds the coordinates of one point (or of a slice, if fewer than the rank).
    updates : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.scatter_add(al.zeros(3), [[0], [0]], [1.0, 2.0]))
    Tensor([3. 0. 0.], shape=(3,), dtype=float32)
    """
    x = convert_to_tensor(x)
    added = scatter(indices, _updates("scatter_add", x, updates), shape(x))
    return add(x, added, name=name)


ruled_in("gathering_rules", GATHER, TAKE_ALONG, PUT_ALONG)
ruled_in("scatter", GATHER_ND, SCATTER, SCATTER_UPDATE)
