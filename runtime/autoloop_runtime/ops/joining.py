"""Joining tensors along an axis, and taking them apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..base.stand_ins import UnknownExtent
from ..ir.apply import apply, apply_several
from ..ir.argument_types import ArrayLike, Axis
from ..ir.convert import convert_to_tensor
from ..ir.node import Node
from ..ir.op import ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import MADE, VIEWING
from .array import moveaxis, needed_rank, reshape
from .define import primitive, public
from .extents import axis_of
from .filled import zeros_like
from .operands import is_tensor, operands
from .shape_queries import dim

__all__ = ["concat", "split", "stack", "unstack"]


def _join(dims: Sequence[TensorShape], name: str) -> TensorShape:
    """Return the common shape of tensors to be joined."""
    out = dims[0]
    for d in dims[1:]:
        if not out.is_compatible_with(d):
            raise ValueError(f"{name}: shapes {' and '.join(map(str, dims))} do not fit together [AL206]")
        out = out.merge_with(d)
    return out


def _joined_entries(node: Node, ask: Callable[[Tensor], Any]) -> Any:
    if node.outputs[0].shape.rank != 1:
        return None
    parts = [ask(t) for t in node.inputs]
    return None if None in parts else tuple([d for part in parts for d in part])


def _concat_infer(*values: Tensor, axis: int) -> Any:
    shapes = [v.shape for v in values if v.shape.rank is not None]
    if not shapes:
        return values[0].dtype, TensorShape(None)
    if not all(map(len, shapes)):
        raise ValueError("concat: scalars cannot be concatenated; use stack [AL209]")
    axis = axis_of(axis, len(shapes[0]), "concat")
    try:
        rest = _join([TensorShape([*s.known[:axis], None, *s.known[axis + 1 :]]) for s in shapes], "concat")
    except (ValueError, IndexError):
        listed = " and ".join(str(s) for s in shapes)
        raise ValueError(f"concat: shapes {listed} do not fit together along axis {axis} [AL206]") from None
    extents_there = [s.known[axis] for s in shapes]
    total = sum(d for d in extents_there if d is not None)
    known = None if None in extents_there or len(shapes) < len(values) else total
    return values[0].dtype, TensorShape([*rest.known[:axis], known, *rest.known[axis + 1 :]])


def _concat_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    axis = attrs["axis"]
    parts, start = [], 0
    for x in inputs:
        stop = start + dim(x, axis)
        lead = (slice(None),) * axis if axis >= 0 else (...,)
        tail = (slice(None),) * (-axis - 1) if axis < 0 else ()
        parts.append(g[(*lead, slice(start, stop), *tail)])
        start = stop
    return parts


CONCAT = primitive(
    "concat", _concat_infer, lambda *values, axis: np.concatenate(values, axis), _concat_vjp,
    strict=True, traits=MADE, entries=_joined_entries,
)  # fmt: skip


def _parts(values: Any, name: str) -> list[Tensor]:
    values = list(values)
    if not values:
        raise ValueError(f"{name}: at least one tensor is needed [AL209]")
    return operands(name, *values)


def _concat_rows(rows: Tensor, axis: Axis, name: str | None) -> Tensor:
    """Return the rows of one tensor joined along an axis they have."""
    axis = axis_of(axis, needed_rank(rows, "concat") - 1, "concat")
    rest = [dim(rows, a) for a in range(1, len(rows.shape))]
    rest[axis] = dim(rows, 0) * rest[axis]
    return reshape(moveaxis(rows, 0, axis), rest, name)


@public(aliases=("concatenate",))
def concat(values: ArrayLike, axis: Axis | None = 0, name: str | None = None) -> Tensor:
    """Return tensors joined along an axis they have.

    Parameters
    ----------
    values : sequence of tensor-like, or a tensor, whose rows are joined
    axis : int or None
        ``None`` joins them as vectors.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.concat([[1, 2], [3]], axis=0))
    Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    if axis is None:
        rows = unstack(values) if is_tensor(values) else values
        return concat([reshape(row, [-1]) for row in rows], 0, name)  # type: ignore[union-attr]
    if is_tensor(values):
        return _concat_rows(convert_to_tensor(values), axis, name)
    parts = _parts(values, "concat")
    rank = next((t.shape.rank for t in parts if t.shape.rank), None)
    return apply(CONCAT, parts, {"axis": axis_of(axis, rank, "concat")}, name)


def _stack_infer(*values: Tensor, axis: int) -> Any:
    common = _join([v.shape for v in values], "stack")
    if common.rank is None:
        return values[0].dtype, common
    axis = axis_of(axis, len(common) + 1, "stack")
    return values[0].dtype, TensorShape([*common.known[:axis], len(values), *common.known[axis:]])


def _stack_vjp(g: Tensor, outputs: Any, inputs: Any, attrs: Any) -> Any:
    return unstack(g, len(inputs), attrs["axis"])


def _stack_kernel(*values: Any, axis: int) -> Any:
    if values[0].ndim == 0 and values[0].dtype.kind in "biufc":
        try:
            return np.array(values)  # np.stack makes an array, and a view of that, of each number
        except ValueError:
            pass  # which np.stack says better
    return np.stack(values, axis)


STACK = primitive(
    "stack", _stack_infer, _stack_kernel, _stack_vjp, strict=True, traits=MADE,
    entries=_joined_entries,
)  # fmt: skip


@public()
def stack(values: ArrayLike, axis: Axis = 0, name: str | None = None) -> Tensor:
    """Return tensors of one shape joined along a new axis.

    Parameters
    ----------
    values : sequence of tensor-like, or a tensor, whose rows are joined
    axis : int
        Where the new axis is in the result.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.stack([[1, 2], [3, 4]]))
    Tensor([[1 2]
     [3 4]], shape=(2, 2), dtype=int32)
    """
    if is_tensor(values):
        rows = convert_to_tensor(values)
        return rows if axis == 0 else moveaxis(rows, 0, axis, name)
    parts = _parts(values, "stack")
    rank = next((t.shape.rank + 1 for t in parts if t.shape.rank is not None), None)
    return apply(STACK, parts, {"axis": axis_of(axis, rank, "stack")}, name)


def _unstack_infer(x: Tensor, num: int, axis: int) -> Any:
    if x.shape.rank is None:
        return [(x.dtype, TensorShape(None))] * num
    axis = axis_of(axis, x.shape.rank, "unstack")
    if x.shape.known[axis] not in (None, num):
        raise ValueError(f"unstack: axis {axis} of a tensor of shape {x.shape} has not {num} elements [AL206]")
    return [(x.dtype, TensorShape([*x.shape.known[:axis], *x.shape.known[axis + 1 :]]))] * num


def _unstack_kernel(x: Any, num: int, axis: int) -> Any:
    if x.shape[axis] != num:
        raise ValueError(f"unstack: axis {axis} of a tensor of shape {x.shape} has not {num} elements [AL206]")
    before = (slice(None),) * (axis % x.ndim)
    return tuple([x[(*before, k)] for k in range(num)])


def _filled(g: Any, outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradients of several outputs, zeros where there is none."""
    return [zeros_like(y) if part is None else part for part, y in zip(g, outputs)]


UNSTACK = primitive(
    "unstack", _unstack_infer, _unstack_kernel,
    lambda g, outputs, inputs, attrs: [stack(_filled(g, outputs), attrs["axis"])], several=True,
    traits=VIEWING.but(rematerialise=False),
)  # fmt: skip


@public()
def unstack(value: ArrayLike, num: int | None = None, axis: Axis = 0, name: str | None = None) -> tuple[Tensor, ...]:
    """Return the slices along an axis, as a tuple.

    Parameters
    ----------
    value : tensor-like
    num : int, optional
        Their number; needed where the static shape does not say it.
    axis : int
    name : str, optional

    Returns
    -------
    tuple of Tensor

    Examples
    --------
    >>> first, second = al.unstack([[1, 2], [3, 4]])
    >>> print(second)
    Tensor([3 4], shape=(2,), dtype=int32)
    """
    value = convert_to_tensor(value)
    axis = axis_of(axis, value.shape.rank, "unstack")
    if num is None:
        num = None if value.shape.rank is None else value.shape.known[axis]
        if num is None:
            raise UnknownExtent(f"unstack: the extent of axis {axis} of shape {value.shape} is unknown; give num=")
    if num == 0:
        return ()
    return tuple(apply_several(UNSTACK, [value], {"num": int(num), "axis": axis}, name))


def _split_infer(x: Tensor, sizes: tuple[int, ...], axis: int) -> Any:
    if x.shape.rank is None:
        return [(x.dtype, TensorShape(None))] * len(sizes)
    axis = axis_of(axis, x.shape.rank, "split")
    before, after = x.shape.known[:axis], x.shape.known[axis + 1 :]
    extent = x.shape.known[axis]
    if extent is not None and extent != sum(sizes):
        raise ValueError(f"split: axis {axis} of shape {x.shape} cannot be split into {list(sizes)} [AL206]")
    return [(x.dtype, TensorShape([*before, s, *after])) for s in sizes]


def _split_kernel(x: Any, sizes: tuple[int, ...], axis: int) -> Any:
    if x.shape[axis] != sum(sizes):
        raise ValueError(f"split: axis {axis} of shape {x.shape} cannot be split into {list(sizes)} [AL206]")
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis)) if sizes else ()


SPLIT = primitive(
    "split", _split_infer, _split_kernel,
    lambda g, outputs, inputs, attrs: [concat(_filled(g, outputs), attrs["axis"])], several=True,
    traits=VIEWING.but(rematerialise=False),
)  # fmt: skip


@public()
def split(
    value: ArrayLike,
    num_or_size_splits: int | list[int] | tuple[int, ...] | np.ndarray[Any, Any],
    axis: Axis = 0,
    name: str | None = None,
) -> list[Tensor]:
    """Return pieces of a tensor along an axis, as a list.

    Parameters
    ----------
    value : tensor-like
    num_or_size_splits : int or sequence of int
        The number of equal pieces, or the extent of each (one may be -1: the rest).
    axis : int
    name : str, optional

    Returns
    -------
    list of Tensor

    Examples
    --------
    >>> first, second = al.split([1, 2, 3, 4], 2)
    >>> print(second)
    Tensor([3 4], shape=(2,), dtype=int32)
    """
    value = convert_to_tensor(value)
    axis = axis_of(axis, value.shape.rank, "split")
    extent = None if value.shape.rank is None else value.shape.known[axis]
    if isinstance(num_or_size_splits, (list, tuple, np.ndarray)):
        sizes = [int(s) for s in num_or_size_splits]
        if -1 in sizes:
            if extent is None:
                raise ValueError(f"split: -1 needs the extent of axis {axis} of shape {value.shape} [AL206]")
            sizes[sizes.index(-1)] = extent - sum(s for s in sizes if s != -1)
    else:
        num = int(num_or_size_splits)
        if extent is None:
            whole = dim(value, axis)
            lead = (slice(None),) * axis
            return [value[(*lead, slice(whole * i // num, whole * (i + 1) // num))] for i in range(num)]
        if num < 1 or extent % num:
            raise ValueError(
                f"split: axis {axis} of shape {value.shape} cannot be split into {num} equal pieces [AL206]"
            )
        sizes = [extent // num] * num
    return list(apply_several(SPLIT, [value], {"sizes": tuple(sizes), "axis": axis}, name) or ())


ruled_in("joining_rules", UNSTACK, SPLIT, CONCAT, STACK)
