"""Changing the form of tensors: reshaping, moving axes, joining and splitting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.convert import convert_to_tensor
from ..ir.numpy_arguments import Counterpart
from ..ir.op import call
from ..ir.tensor import NUMPY_FUNCTIONS, Tensor
from ..ir.traits import MADE, VIEWING
from .define import dim, is_tensor, operands, primitive, public, reshape_like
from .extents import axes_of, axis_of, extents, product

# -- the same elements in another shape -------------------------------------------------------------------


def _reshape_infer(x: Tensor, *dims: Tensor, known: Any) -> Any:
    if known is None:
        return x.dtype, TensorShape(None)
    wildcards = [i for i, d in enumerate(known) if d == -1]
    if len(wildcards) > 1 or any(d is not None and d < -1 for d in known):
        raise ValueError(f"reshape: shape {list(known)} may have one -1 and no other negative number")
    out = [None if d == -1 else d for d in known]
    total = product(x.shape.known) if x.shape.rank is not None else None
    if total is None:
        return x.dtype, TensorShape(out)
    unknown = [i for i, d in enumerate(out) if d is None]
    rest = product([d for d in out if d is not None])
    assert rest is not None
    if (not unknown and rest != total) or (len(unknown) == 1 and (total % rest if rest else total)):
        raise ValueError(f"reshape: a tensor of shape {x.shape} cannot have the shape {list(known)}")
    if len(unknown) == 1 and rest:
        out[unknown[0]] = total // rest
    return x.dtype, TensorShape(out)


def _reshape_kernel(x: Any, dims: Any = None, *, known: Any) -> Any:
    return x.reshape(known if dims is None else dims.tolist())[()]


RESHAPE = primitive(
    "reshape", _reshape_infer, _reshape_kernel,
    lambda g, outputs, inputs, attrs: [reshape_like(g, inputs[0]), *[None] * (len(inputs) - 1)], traits=VIEWING,
)  # fmt: skip


@public(numpy=np.reshape)
def reshape(x: Any, shape: Any, name: str | None = None) -> Any:
    """Return ``x`` in another shape with the same number of elements.

    Parameters
    ----------
    x : tensor-like
    shape : ints, tensor, or a list that mixes them
        One entry may be -1: it follows from the others.
    name : str, optional
    """
    dims = extents(shape, "reshape")
    return apply(RESHAPE, [convert_to_tensor(x), *dims.inputs], {"known": dims.known}, name)


@public(numpy=np.ravel)
def ravel(x: Any, name: str | None = None) -> Any:
    """Return ``x`` as a vector.

    Parameters
    ----------
    x : tensor-like
    name : str, optional
    """
    return reshape(x, [-1], name)


def flatten(x: Any, name: str | None = None) -> Any:
    """Return the same as ``ravel``."""
    return ravel(x, name)


public()(flatten)


def _expand_infer(x: Tensor, axis: Any) -> Any:
    if x.shape.rank is None:
        return x.dtype, x.shape
    rest = iter(x.shape.known)
    full = len(x.shape) + len(axis)
    where = axes_of(axis, full, "expand_dims") or ()
    return x.dtype, TensorShape([1 if i in where else next(rest) for i in range(full)])


EXPAND = primitive(
    "expand_dims", _expand_infer, lambda x, axis: np.expand_dims(x, axis),
    lambda g, outputs, inputs, attrs: [squeeze(g, attrs["axis"])], traits=VIEWING,
)  # fmt: skip


@public(numpy=np.expand_dims)
def expand_dims(x: Any, axis: Any, name: str | None = None) -> Any:
    """Return ``x`` with new axes of extent 1.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int
        Where the new axes are in the result.
    name : str, optional
    """
    x = convert_to_tensor(x)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    rank = None if x.shape.rank is None else x.shape.rank + count
    return apply(EXPAND, [x], {"axis": axes_of(axis, rank, "expand_dims")}, name)


def _squeeze_infer(x: Tensor, axis: Any) -> Any:
    dims = x.shape
    if dims.rank is None or (axis is None and None in dims.known):
        return x.dtype, TensorShape(None)
    if axis is None:
        return x.dtype, TensorShape([d for d in dims if d != 1])
    where = axes_of(axis, len(dims), "squeeze") or ()
    for a in where:
        if dims.known[a] not in (1, None):
            raise ValueError(f"squeeze: axis {a} of a tensor of shape {dims} is not 1")
    return x.dtype, TensorShape([d for i, d in enumerate(dims) if i not in where])


SQUEEZE = primitive(
    "squeeze", _squeeze_infer, lambda x, axis: np.squeeze(x, axis)[()],
    lambda g, outputs, inputs, attrs: [reshape_like(g, inputs[0])], traits=VIEWING,
)  # fmt: skip


@public(numpy=np.squeeze)
def squeeze(x: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return ``x`` without axes of extent 1.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        Only these; a ``ValueError`` if one has another extent. By default all of extent 1.
    name : str, optional
    """
    x = convert_to_tensor(x)
    axis = None if axis is None else axes_of(axis, x.shape.rank, "squeeze")
    return apply(SQUEEZE, [x], {"axis": axis}, name)


# -- axes in another order --------------------------------------------------------------------------------


def _transpose_infer(x: Tensor, axes: Any) -> Any:
    if x.shape.rank is None:
        return x.dtype, TensorShape(None if axes is None else [None] * len(axes))
    order = tuple(range(len(x.shape)))[::-1] if axes is None else axes
    if sorted(order) != list(range(len(x.shape))):
        raise ValueError(f"transpose: axes {order} are no permutation of those of a tensor of shape {x.shape}")
    return x.dtype, TensorShape([x.shape.known[a] for a in order])


def _transpose_vjp(g: Tensor, outputs: Any, inputs: Any, attrs: Any) -> Any:
    axes = attrs["axes"]
    return [transpose(g, None if axes is None else np.argsort(axes).tolist())]


TRANSPOSE = primitive(
    "transpose", _transpose_infer, lambda x, axes: x.transpose(axes) if x.ndim else x, _transpose_vjp, traits=VIEWING
)


@public(numpy=np.transpose)
def transpose(x: Any, axes: Any = None, name: str | None = None, *, perm: Any = None) -> Any:
    """Return ``x`` with its axes in another order.

    Parameters
    ----------
    x : tensor-like
    axes : sequence of int, optional
        By default reversed.
    name : str, optional
    perm : sequence of int, optional
        TensorFlow's name for ``axes``.
    """
    x = convert_to_tensor(x)
    axes = perm if axes is None else axes
    if axes is not None:
        axes = axes_of(axes, x.shape.rank, "transpose")
    return apply(TRANSPOSE, [x], {"axes": axes}, name)


@public(numpy=np.swapaxes)
def swapaxes(x: Any, axis1: int, axis2: int, name: str | None = None) -> Any:
    """Return ``x`` with two axes exchanged.

    Parameters
    ----------
    x : tensor-like
    axis1, axis2 : int
    name : str, optional
    """
    x = convert_to_tensor(x)
    order = list(range(needed_rank(x, "swapaxes")))
    a, b = axis_of(axis1, len(order), "swapaxes"), axis_of(axis2, len(order), "swapaxes")
    order[a], order[b] = order[b], order[a]
    return transpose(x, order, name)


@public(numpy=np.moveaxis)
def moveaxis(x: Any, source: Any, destination: Any, name: str | None = None) -> Any:
    """Return ``x`` with axes moved to other places; the rest keep their order.

    Parameters
    ----------
    x : tensor-like
    source, destination : int or sequence of int
    name : str, optional
    """
    x = convert_to_tensor(x)
    rank = needed_rank(x, "moveaxis")
    moved, places = axes_of(source, rank, "moveaxis") or (), axes_of(destination, rank, "moveaxis") or ()
    order = [a for a in range(rank) if a not in moved]
    for place, axis in sorted(zip(places, moved)):
        order.insert(place, axis)
    return transpose(x, order, name)


def needed_rank(x: Tensor, name: str) -> int:
    """Return the rank of ``x``; ``ValueError`` if it is unknown."""
    if x.shape.rank is None:
        raise ValueError(f"{name}: the rank of the tensor must be known; declare it with set_shape")
    return x.shape.rank


FLIP = primitive(
    "flip", lambda x, axis: (x.dtype, x.shape), lambda x, axis: np.flip(x, axis),
    lambda g, outputs, inputs, attrs: [flip(g, attrs["axis"])], traits=VIEWING,
)  # fmt: skip


@public(numpy=np.flip)
def flip(x: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return ``x`` with its elements in reverse order along axes.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        All axes by default.
    name : str, optional
    """
    x = convert_to_tensor(x)
    return apply(FLIP, [x], {"axis": axes_of(axis, x.shape.rank, "flip")}, name)


def _roll_kernel(x: Any, shift: Any, axis: Any) -> Any:
    return np.roll(x, shift if np.ndim(shift) == 0 else tuple(shift), axis)


ROLL = primitive(
    "roll", lambda x, shift, axis: (x.dtype, x.shape), _roll_kernel,
    lambda g, outputs, inputs, attrs: [roll(g, -inputs[1], attrs["axis"]), None], traits=MADE,
)  # fmt: skip


@public(numpy=np.roll)
def roll(x: Any, shift: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return ``x`` with its elements moved along axes; what leaves at one end comes in at the other.

    Parameters
    ----------
    x : tensor-like
    shift : int, tensor, or one per axis
    axis : int or tuple of int, optional
        By default the flattened tensor is rolled.
    name : str, optional
    """
    x = convert_to_tensor(x)
    if axis is not None:
        places = axes_of(axis, x.shape.rank, "roll") or ()
        axis = places if isinstance(axis, (tuple, list)) else places[0]
    return apply(ROLL, [x, convert_to_tensor(shift)], {"axis": axis}, name)


# -- joining ----------------------------------------------------------------------------------------------


def _join(dims: Sequence[TensorShape], name: str) -> TensorShape:
    """Return the common shape of tensors to be joined."""
    out = dims[0]
    for d in dims[1:]:
        if not out.is_compatible_with(d):
            raise ValueError(f"{name}: shapes {' and '.join(map(str, dims))} do not fit together")
        out = out.merge_with(d)
    return out


def _concat_infer(*values: Tensor, axis: int) -> Any:
    shapes = [v.shape for v in values if v.shape.rank is not None]
    if not shapes:
        return values[0].dtype, TensorShape(None)
    if len(shapes[0]) == 0:
        raise ValueError("concat: scalars cannot be concatenated; use stack")
    axis = axis_of(axis, len(shapes[0]), "concat")
    try:
        rest = _join([TensorShape([*s.known[:axis], None, *s.known[axis + 1 :]]) for s in shapes], "concat")
    except (ValueError, IndexError):
        listed = " and ".join(str(s) for s in shapes)
        raise ValueError(f"concat: shapes {listed} do not fit together along axis {axis}") from None
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
    "concat", _concat_infer, lambda *values, axis: np.concatenate(values, axis), _concat_vjp, traits=MADE
)


def _parts(values: Any, name: str) -> list[Tensor]:
    values = list(values)
    if not values:
        raise ValueError(f"{name}: at least one tensor is needed")
    return operands(name, *values)


def _concat_rows(rows: Tensor, axis: Any, name: str | None) -> Any:
    """Return the rows of one tensor joined along an axis they have."""
    axis = axis_of(axis, needed_rank(rows, "concat") - 1, "concat")
    rest = [dim(rows, a) for a in range(1, len(rows.shape))]
    rest[axis] = dim(rows, 0) * rest[axis]
    return reshape(moveaxis(rows, 0, axis), rest, name)


@public(numpy=np.concatenate)
def concat(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Return tensors joined along an axis they have.

    Parameters
    ----------
    values : sequence of tensor-like, or a tensor, whose rows are joined
    axis : int
    name : str, optional
    """
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


STACK = primitive(
    "stack", _stack_infer, lambda *values, axis: np.stack(values, axis),
    lambda g, outputs, inputs, attrs: unstack(g, len(inputs), attrs["axis"]), traits=MADE,
)  # fmt: skip


@public(numpy=np.stack)
def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Return tensors of one shape joined along a new axis.

    Parameters
    ----------
    values : sequence of tensor-like, or a tensor, whose rows are joined
    axis : int
        Where the new axis is in the result.
    name : str, optional
    """
    if is_tensor(values):
        rows = convert_to_tensor(values)
        return rows if axis == 0 else moveaxis(rows, 0, axis, name)
    parts = _parts(values, "stack")
    rank = next((t.shape.rank + 1 for t in parts if t.shape.rank is not None), None)
    return apply(STACK, parts, {"axis": axis_of(axis, rank, "stack")}, name)


# -- splitting --------------------------------------------------------------------------------------------


def _unstack_infer(x: Tensor, num: int, axis: int) -> Any:
    if x.shape.rank is None:
        return [(x.dtype, TensorShape(None))] * num
    axis = axis_of(axis, x.shape.rank, "unstack")
    if x.shape.known[axis] not in (None, num):
        raise ValueError(f"unstack: axis {axis} of a tensor of shape {x.shape} has not {num} elements")
    return [(x.dtype, TensorShape([*x.shape.known[:axis], *x.shape.known[axis + 1 :]]))] * num


def _unstack_kernel(x: Any, num: int, axis: int) -> Any:
    if x.shape[axis] != num:
        raise ValueError(f"unstack: axis {axis} of a tensor of shape {x.shape} has not {num} elements")
    return tuple([part[()] for part in np.moveaxis(x, axis, 0)])


def _filled(g: Any, outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradients of several outputs, zeros where there is none."""
    return [call("zeros_like", y) if part is None else part for part, y in zip(g, outputs)]


UNSTACK = primitive(
    "unstack", _unstack_infer, _unstack_kernel,
    lambda g, outputs, inputs, attrs: [stack(_filled(g, outputs), attrs["axis"])], several=True,
    traits=VIEWING.but(rematerialise=False),
)  # fmt: skip


@public(numpy=getattr(np, "unstack", None))
def unstack(value: Any, num: int | None = None, axis: int = 0, name: str | None = None) -> Any:
    """Return the slices along an axis, as a list.

    Parameters
    ----------
    value : tensor-like
    num : int, optional
        Their number; needed where the static shape does not say it.
    axis : int
    name : str, optional
    """
    value = convert_to_tensor(value)
    axis = axis_of(axis, value.shape.rank, "unstack")
    if num is None:
        num = None if value.shape.rank is None else value.shape.known[axis]
        if num is None:
            raise ValueError(f"unstack: the extent of axis {axis} of shape {value.shape} is unknown; give num=")
    if num == 0:
        return []
    return list(apply(UNSTACK, [value], {"num": int(num), "axis": axis}, name))


def _split_infer(x: Tensor, sizes: tuple[int, ...], axis: int) -> Any:
    if x.shape.rank is None:
        return [(x.dtype, TensorShape(None))] * len(sizes)
    axis = axis_of(axis, x.shape.rank, "split")
    before, after = x.shape.known[:axis], x.shape.known[axis + 1 :]
    extent = x.shape.known[axis]
    if extent is not None and extent != sum(sizes):
        raise ValueError(f"split: axis {axis} of shape {x.shape} cannot be split into {list(sizes)}")
    return [(x.dtype, TensorShape([*before, s, *after])) for s in sizes]


def _split_kernel(x: Any, sizes: tuple[int, ...], axis: int) -> Any:
    if x.shape[axis] != sum(sizes):
        raise ValueError(f"split: axis {axis} of shape {x.shape} cannot be split into {list(sizes)}")
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis)) if sizes else ()


SPLIT = primitive(
    "split", _split_infer, _split_kernel,
    lambda g, outputs, inputs, attrs: [concat(_filled(g, outputs), attrs["axis"])], several=True,
    traits=VIEWING.but(rematerialise=False),
)  # fmt: skip


@public()
def split(value: Any, num_or_size_splits: Any, axis: int = 0, name: str | None = None) -> Any:
    """Return pieces of a tensor along an axis, as a list.

    Parameters
    ----------
    value : tensor-like
    num_or_size_splits : int or sequence of int
        The number of equal pieces, or the extent of each (one may be -1: the rest).
    axis : int
    name : str, optional
    """
    value = convert_to_tensor(value)
    axis = axis_of(axis, value.shape.rank, "split")
    extent = None if value.shape.rank is None else value.shape.known[axis]
    if isinstance(num_or_size_splits, (list, tuple, np.ndarray)):
        sizes = [int(s) for s in num_or_size_splits]
        if -1 in sizes:
            if extent is None:
                raise ValueError(f"split: -1 needs the extent of axis {axis} of shape {value.shape}")
            sizes[sizes.index(-1)] = extent - sum(s for s in sizes if s != -1)
    else:
        num = int(num_or_size_splits)
        if extent is None:
            whole = dim(value, axis)
            lead = (slice(None),) * axis
            return [value[(*lead, slice(whole * i // num, whole * (i + 1) // num))] for i in range(num)]
        if num < 1 or extent % num:
            raise ValueError(f"split: axis {axis} of shape {value.shape} cannot be split into {num} equal pieces")
        sizes = [extent // num] * num
    return list(apply(SPLIT, [value], {"sizes": tuple(sizes), "axis": axis}, name) or ())


def _numpy_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Return ``np.split``: a sequence says where the pieces begin, not how long they are."""
    value = convert_to_tensor(ary)
    if not isinstance(indices_or_sections, (list, tuple, np.ndarray)):
        return split(value, indices_or_sections, axis)
    axis = axis_of(axis, value.shape.rank, "split")
    ends = [0, *(int(i) for i in indices_or_sections), None]
    lead = (slice(None),) * axis
    return [value[(*lead, slice(start, end))] for start, end in pairwise(ends)]


NUMPY_FUNCTIONS[np.split] = Counterpart(np.split, _numpy_split)
