"""Taking elements out of tensors and putting them in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.convert import as_constant, convert_to_tensor, to_array
from ..ir.numpy_arguments import Counterpart
from ..ir.op import Op, call
from ..ir.tensor import NUMPY_FUNCTIONS, Tensor
from ..ir.traits import NO_GRADIENT, OPAQUE, PICKING, VIEWING, Fails, Memory, Price
from .define import as_dtype, is_weak, primitive, public, reshape_like, unbroadcast
from .extents import axis_of, extents, known_entries
from .index import Index, Input, Slice, parse, result_shape

# -- brackets ---------------------------------------------------------------------------------------------


def _getitem_kernel(x: Any, *inputs: Any, index: Index) -> Any:
    out = x[index.resolve(inputs)]
    return out if out.shape else out[()]


def _getitem_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, *rest = inputs
    return [_added(x, attrs["index"], rest, g), *[None] * len(rest)]


def _added(x: Tensor, index: Index, rest: Sequence[Tensor], g: Tensor) -> Any:
    return apply(INDEX_ADD, [call("shape", x), g, *rest], {"index": index, "static": x.shape})


def _index_add_kernel(shape: Any, values: Any, *inputs: Any, index: Index, static: TensorShape) -> Any:
    out = np.zeros(tuple(shape.tolist()), values.dtype)
    where = index.resolve(inputs)
    if _is_basic(where):
        out[where] = values
    else:
        np.add.at(out, where, values)
    return out[()]


def _is_basic(index: Any) -> bool:
    """Return whether no element can be named twice."""
    if isinstance(index, tuple):
        return all(not isinstance(i, np.ndarray) or i.ndim == 0 or i.dtype.kind == "b" for i in index)
    return not isinstance(index, np.ndarray) or index.ndim == 0 or index.dtype.kind == "b"


def _index_add_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, values, *rest = inputs
    picked = apply(GETITEM, [g, *rest], {"index": attrs["index"]})
    return [None, unbroadcast(picked, values), *[None] * len(rest)]


GETITEM = primitive(
    "getitem", lambda x, *inputs, index: (x.dtype, result_shape(x.shape, index, inputs)),
    _getitem_kernel, _getitem_vjp, traits=VIEWING.but(fails=Fails.MAYBE, price=Price.PICK, raises=IndexError),
)  # fmt: skip
INDEX_ADD = primitive(
    "index_add", lambda shape, values, *inputs, index, static: (values.dtype, static),
    _index_add_kernel, _index_add_vjp, traits=OPAQUE.but(memory=Memory.FRESH, raises=IndexError),
)  # fmt: skip


@public()
def getitem(x: Any, index: Any, name: str | None = None) -> Any:
    """Return ``x[index]``.

    Parameters
    ----------
    x : tensor-like
    index : anything NumPy takes
        Ints, slices, ``None``, ``...``, integer and boolean arrays; any of them, and the ends of slices, may be
        tensors.
    name : str, optional

    Raises
    ------
    IndexError
        If an index is out of range: at once if it is known, else at run time.
    """
    x = convert_to_tensor(x)
    parsed, inputs = parse(index)
    follows = x.node is not None and x.node.op.name == "shape" and not x.is_feedable
    if follows and not inputs and len(parsed.entries) == 1:
        known = known_entries(x)
        picked = None if known is None else known[parsed.resolve(())]
        if isinstance(picked, int):
            return as_constant(x.dtype.type(picked))
    return apply(GETITEM, [x, *inputs], {"index": parsed}, name)


@public()
def index_add(shape: Any, index: Any, values: Any, static: Any = None, name: str | None = None) -> Any:
    """Return zeros of a shape with ``values`` added at ``[index]``; what is added twice at one place sums up.

    Parameters
    ----------
    shape : ints or integer vector
    index : anything NumPy takes
    values : tensor-like
    static : TensorShape, optional
        What is known of the shape.
    name : str, optional
    """
    parsed, inputs = parse(index)
    dims = extents(shape, "index_add")
    vector = dims.inputs[0] if dims.inputs else convert_to_tensor(np.array(dims.known, np.int64))
    known = dims.static if static is None else static
    return apply(INDEX_ADD, [vector, convert_to_tensor(values), *inputs], {"index": parsed, "static": known}, name)


def assign_in_place(x: Any, value: Any, *inputs: Any, index: Index) -> Any:
    """Return the kernel of ``set_item`` for an ``x`` that nobody else holds: writes to it and gives it back."""
    x[index.resolve(inputs)] = value
    return x


def _set_item_kernel(x: Any, value: Any, *inputs: Any, index: Index) -> Any:
    return assign_in_place(np.array(x), value, *inputs, index=index)[()]


def _set_item_infer(x: Tensor, value: Tensor, *inputs: Tensor, index: Index) -> Any:
    target = result_shape(x.shape, index, inputs)
    if target.rank is not None and value.shape.rank is not None:
        extra = max(0, len(value.shape) - len(target))
        fits = all(d in (1, None) for d in value.shape.known[:extra])
        for v, t in zip(reversed(value.shape.known), reversed(target.known)):
            fits = fits and (v in (1, None) or t is None or v == t)
        if not fits:
            raise ValueError(
                f"a value of shape {value.shape} cannot be assigned to {index} of a tensor of shape {x.shape}, "
                f"which has shape {target}"
            )
    return x.dtype, x.shape


def _set_item_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, value, *rest = inputs
    zero = convert_to_tensor(g.dtype.type(0))
    cleared = apply(SET_ITEM, [g, zero, *rest], attrs)
    part = apply(GETITEM, [g, *rest], attrs)
    if any(map(_may_repeat, rest)):
        # of values assigned to one place only the last counts: it finds its own number there
        numbers = reshape_like(call("arange", call("size", part)), part)
        written = apply(SET_ITEM, [call("zeros_like", g, numbers.dtype), numbers, *rest], attrs)
        part = call("where", call("equal", apply(GETITEM, [written, *rest], attrs), numbers), part, zero)
    return [cleared, unbroadcast(part, value), *[None] * len(rest)]


def _may_repeat(index: Tensor) -> bool:
    """Return true unless all positions in ``index`` are known to differ."""
    if index.dtype.kind not in "iu" or index.shape.rank == 0:
        return False
    known = index.constant_value()
    return known is None or known.size > 1


SET_ITEM = primitive(
    "set_item",
    _set_item_infer,
    _set_item_kernel,
    _set_item_vjp,
    traits=OPAQUE.but(memory=Memory.FRESH, price=Price.PART, raises=IndexError),
)


@public()
def set_item(x: Any, index: Any, value: Any, name: str | None = None) -> Any:
    """Return ``x`` with ``x[index] = value`` done: a new tensor, ``x`` does not change.

    Parameters
    ----------
    x : tensor-like
    index : anything NumPy takes
    value : tensor-like
        Broadcast to the shape of ``x[index]``; of a dtype that promotes to that of ``x``.
    name : str, optional

    Raises
    ------
    TypeError
        If ``value`` has a dtype that ``x`` cannot hold.
    IndexError
        If an index is out of range.
    """
    x = convert_to_tensor(x)
    parsed, inputs = parse(index)
    return apply(SET_ITEM, [x, element_of(x.dtype, value, "set_item"), *inputs], {"index": parsed}, name)


def element_of(dtype: dtypes.DType, value: Any, name: str) -> Tensor:
    """Return ``value`` as a tensor of ``dtype``, if it promotes to that."""
    if is_weak(value):
        plain = value.item() if isinstance(value, np.generic) else value
        if dtypes.promote_weak(dtype, plain) == dtype or (dtype.kind == "b" and isinstance(plain, bool)):
            return as_constant(to_array(plain, dtype))
        raise TypeError(f"{name}: {value!r} cannot be stored in a tensor of dtype {dtype}; cast it")
    tensor = convert_to_tensor(value)
    if tensor.dtype == dtype:
        return tensor
    try:
        common = dtypes.promote(dtype, tensor.dtype)
    except TypeError:
        common = None
    if common != dtype:
        raise TypeError(
            f"{name}: a value of dtype {tensor.dtype} cannot be stored in a tensor of dtype {dtype}; "
            f"use cast(value, {dtype})"
        )
    return as_dtype(tensor, dtype)


# -- gather -----------------------------------------------------------------------------------------------


def _gather_infer(x: Tensor, indices: Tensor, axis: int) -> Any:
    if x.shape.rank is None:
        return x.dtype, TensorShape(None)
    axis = axis_of(axis, x.shape.rank, "gather")
    result_shape(x.shape, Index([*[Slice(None, None, None)] * axis, Input(0)]), [indices])  # checks the range
    before, after = TensorShape(x.shape.known[:axis]), TensorShape(x.shape.known[axis + 1 :])
    return x.dtype, before + indices.shape + after


def _gather_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, indices = inputs
    axis = attrs["axis"]
    if axis < 0:
        raise ValueError("the gradient of gather along a negative axis needs the rank of the tensor")
    index = Index([*[Slice(None, None, None)] * axis, Input(0)])
    return [_added(x, index, [indices], g), None]


GATHER = primitive(
    "gather", _gather_infer, lambda x, indices, axis: np.take(x, indices, axis), _gather_vjp, traits=PICKING
)


def _integers(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value)
    if tensor.dtype.kind not in "iu":
        raise TypeError(f"{name}: indices must be integers, got dtype {tensor.dtype}")
    return tensor


@public()
def gather(params: Any, indices: Any, axis: int = 0, name: str | None = None) -> Any:
    """Return slices of ``params`` along an axis.

    Parameters
    ----------
    params : tensor-like
    indices : tensor-like of integers
        Of any shape, which takes the place of the axis. Negative ones count from the end.
    axis : int
    name : str, optional

    Raises
    ------
    IndexError
        If an index is out of range.
    """
    x = convert_to_tensor(params)
    axis = axis_of(axis, x.shape.rank, "gather")
    return apply(GATHER, [x, _integers(indices, "gather")], {"axis": axis}, name)


@public(numpy=np.take)
def take(x: Any, indices: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Return as ``gather``, but without ``axis`` from the flattened tensor, as NumPy.

    Parameters
    ----------
    x : tensor-like
    indices : tensor-like of integers
    axis : int, optional
    name : str, optional
    """
    return gather(call("ravel", x) if axis is None else x, indices, axis or 0, name)


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
        _put_along(inputs[0], inputs[1], g, attrs["axis"]),
        None,
    ], traits=PICKING,
)  # fmt: skip


def _put_along(x: Tensor, indices: Tensor, g: Tensor, axis: int) -> Any:
    return apply(PUT_ALONG, [call("shape", x), indices, g], {"axis": axis, "static": x.shape})


PUT_ALONG: Op = primitive(
    "put_along_axis", lambda shape, indices, values, axis, static: (values.dtype, static), _put_along_kernel,
    lambda g, outputs, inputs, attrs: [None, None, take_along_axis(g, inputs[1], attrs["axis"])],
    traits=OPAQUE.but(memory=Memory.FRESH, raises=IndexError),
)  # fmt: skip


@public(numpy=np.take_along_axis)
def take_along_axis(x: Any, indices: Any, axis: int = -1, name: str | None = None) -> Any:
    """Return elements of ``x`` at ``indices`` along an axis, the other axes side by side.

    Parameters
    ----------
    x : tensor-like
    indices : tensor-like of integers
        Of the shape of ``x`` but along ``axis``.
    axis : int
    name : str, optional
    """
    x = convert_to_tensor(x)
    attrs = {"axis": axis_of(axis, x.shape.rank, "take_along_axis")}
    return apply(TAKE_ALONG, [x, _integers(indices, "take_along_axis")], attrs, name)


# -- gather_nd, scatter ---------------------------------------------------------------------------------------


def _places(indices: Any) -> Any:
    return tuple(np.moveaxis(indices, -1, 0))


def _depth(indices: Tensor, name: str) -> int | None:
    if indices.shape.rank == 0:
        raise ValueError(f"{name}: indices must have at least one axis, got a scalar")
    return None if indices.shape.rank is None else indices.shape.known[-1]


def _gather_nd_infer(x: Tensor, indices: Tensor) -> Any:
    depth = _depth(indices, "gather_nd")
    if depth is None or x.shape.rank is None:
        return x.dtype, TensorShape(None)
    if depth > len(x.shape):
        raise ValueError(f"gather_nd: indices of {depth} entries for a tensor of shape {x.shape}")
    return x.dtype, TensorShape([*indices.shape.known[:-1], *x.shape.known[depth:]])


def _scatter_infer(indices: Tensor, updates: Tensor, *dims: Tensor, known: Any) -> Any:
    _check_updates(indices, updates, TensorShape(known), "scatter")
    return updates.dtype, TensorShape(known)


def _check_updates(indices: Tensor, updates: Tensor, shape: TensorShape, name: str) -> None:
    depth = _depth(indices, name)
    if depth is None or shape.rank is None:
        return
    if depth > len(shape):
        raise ValueError(f"{name}: indices of {depth} entries for a tensor of shape {shape}")
    expected = TensorShape([*indices.shape.known[:-1], *shape.known[depth:]])
    if not updates.shape.is_compatible_with(expected):
        raise ValueError(f"{name}: updates have shape {updates.shape}, {expected} is needed")


def _scatter_kernel(indices: Any, updates: Any, dims: Any = None, *, known: Any) -> Any:
    out = np.zeros(tuple(known if dims is None else dims.tolist()), updates.dtype)
    np.add.at(out, _places(indices), updates)
    return out


GATHER_ND = primitive(
    "gather_nd", _gather_nd_infer, lambda x, indices: x[_places(indices)],
    lambda g, outputs, inputs, attrs: [scatter(inputs[1], g, call("shape", inputs[0])), None],
    traits=PICKING.but(memory=Memory.ANY),
)  # fmt: skip
SCATTER = primitive(
    "scatter", _scatter_infer, _scatter_kernel,
    lambda g, outputs, inputs, attrs: [None, gather_nd(g, inputs[0]), *[None] * (len(inputs) - 2)],
    traits=OPAQUE.but(memory=Memory.FRESH, raises=IndexError),
)  # fmt: skip


@public()
def gather_nd(params: Any, indices: Any, name: str | None = None) -> Any:
    """Return elements or slices of ``params`` at points.

    Parameters
    ----------
    params : tensor-like
    indices : tensor-like of integers
        The last axis holds the coordinates of one point (or of a slice, if fewer than the rank).
    name : str, optional
    """
    return apply(GATHER_ND, [convert_to_tensor(params), _integers(indices, "gather_nd")], None, name)


@public()
def scatter(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Return zeros with ``updates`` added at points; what falls on one point twice sums up.

    Parameters
    ----------
    indices : tensor-like of integers
        The last axis holds the coordinates of one point (or of a slice, if fewer than the rank).
    updates : tensor-like
    shape : ints, tensor, or a list that mixes them
        Of the result.
    name : str, optional
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
    cleared = apply(SCATTER_UPDATE, [g, indices, call("zeros_like", updates)])
    part = gather_nd(g, indices)
    if _may_repeat(indices):
        numbers = reshape_like(call("arange", call("size", part)), part)
        written = apply(SCATTER_UPDATE, [call("zeros_like", g, numbers.dtype), indices, numbers])
        part = call("where", call("equal", gather_nd(written, indices), numbers), part, g.dtype.type(0))
    return [cleared, None, part]


SCATTER_UPDATE = primitive(
    "scatter_update",
    _scatter_update_infer,
    _scatter_update_kernel,
    _scatter_update_vjp,
    traits=OPAQUE.but(memory=Memory.FRESH, raises=IndexError),
)


@public()
def scatter_update(x: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Return ``x`` with the elements or slices at points replaced: a new tensor.

    Parameters
    ----------
    x : tensor-like
    indices : tensor-like of integers
        The last axis holds the coordinates of one point (or of a slice, if fewer than the rank).
    updates : tensor-like
    name : str, optional
    """
    x = convert_to_tensor(x)
    inputs = [x, _integers(indices, "scatter_update"), element_of(x.dtype, updates, "scatter_update")]
    return apply(SCATTER_UPDATE, inputs, None, name)


@public()
def scatter_add(x: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Return ``x`` with ``updates`` added at points: a new tensor.

    Parameters
    ----------
    x : tensor-like
    indices : tensor-like of integers
        The last axis holds the coordinates of one point (or of a slice, if fewer than the rank).
    updates : tensor-like
    name : str, optional
    """
    x = convert_to_tensor(x)
    added = scatter(indices, element_of(x.dtype, updates, "scatter_add"), call("shape", x))
    return call("add", x, added, name=name)


# -- masks ------------------------------------------------------------------------------------------------

ARGWHERE = primitive(
    "argwhere", lambda x: (dtypes.int64, TensorShape([None, x.shape.rank])),
    lambda x: np.argwhere(x).reshape(-1, x.ndim), NO_GRADIENT, traits=OPAQUE,
)  # fmt: skip


@public(numpy=np.argwhere)
def argwhere(condition: Any, name: str | None = None) -> Any:
    """Return the indices of the true (or not zero) elements, one per row, int64.

    Parameters
    ----------
    condition : tensor-like
    name : str, optional
    """
    return apply(ARGWHERE, [convert_to_tensor(condition)], None, name)


@public()
def boolean_mask(x: Any, mask: Any, axis: int = 0, name: str | None = None) -> Any:
    """Return the elements (or slices) of ``x`` where ``mask`` is true, one after another.

    Parameters
    ----------
    x : tensor-like
    mask : boolean tensor-like
        Of the shape of the axes of ``x`` from ``axis`` on.
    axis : int
    name : str, optional
    """
    x, mask = convert_to_tensor(x), convert_to_tensor(mask)
    if mask.dtype != dtypes.bool_:
        raise TypeError(f"boolean_mask: mask must be boolean, got dtype {mask.dtype}")
    axis = axis_of(axis, x.shape.rank, "boolean_mask")
    return getitem(x, (slice(None),) * axis + (mask,), name)


def _numpy_where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return ``np.where``: without ``x`` and ``y`` one vector of indices per axis."""
    if x is None and y is None:
        found = argwhere(condition)
        return tuple(call("unstack", found, axis=1))
    return call("where", condition, x, y)


NUMPY_FUNCTIONS[np.where] = Counterpart(np.where, _numpy_where)
