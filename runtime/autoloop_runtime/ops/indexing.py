"""Brackets: elements named by an index, taken out and put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axis, DimsLike, IndexLike
from ..ir.convert import as_constant, convert_to_tensor
from ..ir.node import Node
from ..ir.op import Part, Taking, call, ruled_in
from ..ir.prices import Price
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE, UPDATING, VIEWING, Fails, Memory
from . import later_rows
from .array import reshape_like
from .broadcasting import unbroadcast
from .define import primitive, public
from .extents import axis_of, extents, known_entries
from .index import Index, Slice, parse, result_shape
from .logic import equal
from .operands import assigned
from .shape_queries import SHAPE, shape, size

__all__ = ["add_at", "boolean_mask", "getitem", "index_add", "set_item"]


def _getitem_kernel(x: Any, *inputs: Any, index: Index) -> Any:
    out = x[index.resolve(inputs)]
    return out if out.shape else out[()]


def _getitem_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, *rest = inputs
    return [added_at(x, attrs["index"], rest, g), *[None] * len(rest)]


def added_at(x: Tensor, index: Index, rest: Sequence[Tensor], g: Tensor) -> Any:
    return apply(INDEX_ADD, [shape(x), g, *rest], {"index": index, "static": x.shape})


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


def _add_at_infer(x: Tensor, values: Tensor, *inputs: Tensor, index: Index) -> Any:
    target = result_shape(x.shape, index, inputs)
    if target.rank is not None and values.shape.rank is not None:
        pairs = zip(reversed(values.shape.known), reversed(target.known))
        if len(values.shape) > len(target) or any(v not in (1, t) and None not in (v, t) for v, t in pairs):
            raise ValueError(
                f"array is not broadcastable to correct shape: values of shape {values.shape} cannot be added at "
                f"{index} of a tensor of shape {x.shape}, which has shape {target} [AL206]"
            )
    return x.dtype, x.shape


def add_in_place(x: Any, values: Any, *inputs: Any, index: Index) -> Any:
    """Return the kernel of ``add_at`` for an ``x`` that nobody else holds: adds to it and gives it back."""
    where = index.resolve(inputs)
    if _is_basic(where):
        x[where] += values
    else:
        np.add.at(x, where, values)
    return x


def _add_at_kernel(x: Any, values: Any, *inputs: Any, index: Index) -> Any:
    return add_in_place(np.array(x), values, *inputs, index=index)[()]


def of_part(g: Tensor, value: Tensor, inputs: Sequence[Tensor], attrs: Any) -> Tensor:
    """Return the gradient of ``value``, which went to a part of ``inputs[0]`` named by the inputs behind both."""
    if not value.shape.is_fully_defined():
        names = call("names_of", value)
        if names is not None and names == call("part_names", inputs[0], attrs["index"], inputs[2:]):
            return g
    return unbroadcast(g, value)


def _add_at_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, values, *rest = inputs
    return [g, of_part(apply(GETITEM, [g, *rest], attrs), values, inputs, attrs), *[None] * len(rest)]


def _index_add_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, values, *rest = inputs
    picked = apply(GETITEM, [g, *rest], {"index": attrs["index"]})
    return [None, unbroadcast(picked, values), *[None] * len(rest)]


def _getitem_entries(node: Node, ask: Callable[[Tensor], Any]) -> Any:
    index = node.attrs["index"]
    if len(node.inputs) > 1 or len(index.entries) != 1 or node.inputs[0].shape.rank != 1:
        return None
    known = ask(node.inputs[0])
    picked = None if known is None else known[index.resolve(())]
    return picked if picked is None or isinstance(picked, tuple) else (picked,)


def item_code(index: Any, n_inputs: int) -> str | None:
    """Return the template of ``x[...]`` as the user wrote it, where its parts have a literal form."""
    source: str = index.source([f"{{{i}}}" for i in range(1, n_inputs)])
    return "{0}[" + source + "]" if "(" not in source or source == "()" else None


def _getitem_code(node: Node) -> str | None:
    """Return the template of ``x[...]``, as a scalar where it has no axes: ``x[3, ...]`` were a view to NumPy, which
    sees what is written in place of ``x`` later."""
    index = node.attrs["index"]
    code = item_code(index, len(node.inputs))
    may_be_view = Ellipsis in index.entries and node.outputs[0].shape.rank in (0, None)
    return f"{code}[()]" if code is not None and may_be_view else code


GETITEM = primitive(
    "getitem", lambda x, *inputs, index: (x.dtype, result_shape(x.shape, index, inputs)),
    _getitem_kernel, _getitem_vjp, strict=True, positions=slice(1, None), entries=_getitem_entries,
    traits=VIEWING.but(fails=Fails.POSITIONS, price=Price.PICK, raises=IndexError),
    code_of=_getitem_code,
)  # fmt: skip
INDEX_ADD = primitive(
    "index_add", lambda shape, values, *inputs, index, static: (values.dtype, static),
    _index_add_kernel, _index_add_vjp, positions=slice(2, None), extents=("static", 0),
    traits=OPAQUE.but(memory=Memory.FRESH, raises=IndexError),
)  # fmt: skip


def is_of_part(g: Tensor) -> bool:
    """Return true for the gradient of ``x[i]`` with regard to ``x``: zeros but for a part."""
    return g.node is not None and g.node.op is INDEX_ADD


def of_same_part(one: Tensor, other: Tensor) -> Tensor | None:
    """Return the sum of two gradients of parts, ``x[i]`` both, as one of a part; None if they are of several parts."""
    if not (is_of_part(one) and is_of_part(other)):
        return None
    assert one.node is not None and other.node is not None
    (dims, values, *rest), (_, more, *others) = one.node.inputs, other.node.inputs
    attrs = one.node.attrs
    alike = attrs == other.node.attrs and len(rest) == len(others) and all(a is b for a, b in zip(rest, others))
    if not alike or any(map(may_repeat, rest)) or values.dtype != more.dtype:
        return None
    if not values.shape.is_fully_defined() or values.shape != more.shape:
        return None
    made: Tensor = apply(INDEX_ADD, [dims, values + more, *rest], attrs)
    return made


def added_there(total: Tensor, g: Tensor) -> Tensor:
    """Return ``total + g`` for a ``g`` that is that of a part, of which the zeros are never made."""
    assert g.node is not None
    _, values, *rest = g.node.inputs
    made: Tensor = apply(ADD_AT, [total, values, *rest], {"index": g.node.attrs["index"]})
    return made


@public()
def getitem(x: ArrayLike, index: IndexLike, name: str | None = None) -> Tensor:
    """Return ``x[index]``.

    Parameters
    ----------
    x : tensor-like
    index : anything NumPy takes
        Ints, slices, ``None``, ``...``, integer and boolean arrays; any of them, and the ends of slices, may be
        tensors.
    name : str, optional

    Returns
    -------
    Tensor

    Raises
    ------
    IndexError
        If an index is out of range: at once if it is known, else at run time.

    Examples
    --------
    >>> print(al.getitem(al.constant([10, 20, 30]), slice(1, None)))
    Tensor([20 30], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(x)
    parsed, inputs = parse(index)
    follows = x.node is not None and x.node.op is SHAPE and not x.is_feedable
    if follows and not inputs and len(parsed.entries) == 1:
        known = known_entries(x)
        picked = None if known is None else known[parsed.resolve(())]
        if isinstance(picked, int):
            return as_constant(x.dtype.type(picked))
    return apply(GETITEM, [x, *inputs], {"index": parsed}, name)


@public()
def index_add(
    shape: DimsLike, index: IndexLike, values: ArrayLike, static: TensorShape | None = None, name: str | None = None
) -> Tensor:
    """Return zeros of a shape with ``values`` added at ``[index]``; what is added twice at one place sums up.

    Parameters
    ----------
    shape : ints or integer vector
    index : anything NumPy takes
    values : tensor-like
    static : TensorShape, optional
        What is known of the shape.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.index_add((4,), [0, 0, 2], [1, 2, 3]))
    Tensor([3 0 3 0], shape=(4,), dtype=int32)
    """
    parsed, inputs = parse(index)
    dims = extents(shape, "index_add")
    vector = dims.inputs[0] if dims.inputs else convert_to_tensor(np.array(dims.known, np.int64))
    known = dims.static if static is None else static
    return apply(INDEX_ADD, [vector, convert_to_tensor(values), *inputs], {"index": parsed, "static": known}, name)


@public()
def add_at(x: ArrayLike, index: IndexLike, values: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x`` with ``values`` added at ``[index]``, one after another: as often at one place as it is named.

    Other than with ``x + index_add(...)`` each is added to what is there, as ``np.add.at`` does.

    Parameters
    ----------
    x : tensor-like
    index : anything NumPy takes
    values : tensor-like
        Of the dtype of ``x``.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.add_at(al.zeros(3), [0, 0, 2], 1.0))
    Tensor([2. 0. 1.], shape=(3,), dtype=float32)
    """
    parsed, inputs = parse(index)
    return apply(ADD_AT, [convert_to_tensor(x), convert_to_tensor(values), *inputs], {"index": parsed}, name)


def assign_in_place(x: Any, value: Any, *inputs: Any, index: Index) -> Any:
    """Return the kernel of ``set_item`` for an ``x`` that nobody else holds: writes to it and gives it back."""
    where = index.resolve(inputs)
    is_view = type(value) is np.ndarray and value.base is not None and value.ndim and np.may_share_memory(x, value)
    x[where] = _read_before(x, where, value) if is_view else value
    return x


def _read_before(x: Any, where: Any, value: Any) -> Any:
    """Return ``value``, which may lie in the memory of ``x``, or a copy where NumPy may write over what it still has to
    read: where it looks for true elements of a mask, and in parts with one axis and another step."""
    arrays = [one for one in (where if isinstance(where, tuple) else (where,)) if isinstance(one, np.ndarray)]
    if any(one.dtype.kind == "b" for one in arrays):
        return value.copy()
    part = x[where] if not any(one.ndim for one in arrays) else x
    return value if part.ndim != 1 or part.strides[0] == value.strides[-1] else value.copy()


def _set_item_kernel(x: Any, value: Any, *inputs: Any, index: Index) -> Any:
    return assign_in_place(np.array(x), value, *inputs, index=index)[()]


def _is_mask_of_elements(x: Tensor, inputs: Sequence[Tensor], index: Index) -> bool:
    """Return whether an index is one mask with the axes of ``x``, which selects elements."""
    is_mask = len(index.entries) == len(inputs) == 1 and inputs[0].dtype.kind == "b"
    return is_mask and x.shape.rank is not None and x.shape.rank == inputs[0].shape.rank != 0


def _set_item_infer(x: Tensor, value: Tensor, *inputs: Tensor, index: Index) -> Any:
    if (value.shape.rank or 0) > 1 and _is_mask_of_elements(x, inputs, index):
        raise TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
            f"{value.shape.rank} dimensions"
        )
    target = result_shape(x.shape, index, inputs, is_checked=False)  # NumPy compares the shapes first
    if target.rank is not None and value.shape.rank is not None:
        extra = max(0, len(value.shape) - len(target))
        fits = all(d in (1, None) for d in value.shape.known[:extra])
        for v, t in zip(reversed(value.shape.known), reversed(target.known)):
            fits = fits and (v in (1, None) or t is None or v == t)
        if not fits:
            raise ValueError(
                f"a value of shape {value.shape} cannot be assigned to {index} of a tensor of shape {x.shape}, "
                f"which has shape {target} [AL206]"
            )
    result_shape(x.shape, index, inputs)
    return x.dtype, x.shape


def _set_item_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, value, *rest = inputs
    zero = convert_to_tensor(g.dtype.type(0))
    part = apply(GETITEM, [g, *rest], attrs)  # before it is written to
    # of an array that is written to as a whole nothing is left: its zeros need neither ``g`` nor its memory
    cleared = later_rows.zeros_like(g) if _takes_all(attrs["index"]) else apply(SET_ITEM, [g, zero, *rest], attrs)
    if any(map(may_repeat, rest)):
        # of values assigned to one place only the last counts: it finds its own number there
        numbers = reshape_like(later_rows.arange(size(part)), part)
        written = apply(SET_ITEM, [later_rows.zeros_like(g, numbers.dtype), numbers, *rest], attrs)
        part = later_rows.where(equal(apply(GETITEM, [written, *rest], attrs), numbers), part, zero)
    return [cleared, of_part(part, value, inputs, attrs), *[None] * len(rest)]


_WHOLE = Slice(None, None, None)


def _takes_all(index: Index) -> bool:
    """Return whether an index names all elements, of an array of any shape."""
    return all(one is None or one is Ellipsis or (isinstance(one, Slice) and one == _WHOLE) for one in index.entries)


def may_repeat(index: Tensor) -> bool:
    """Return true unless all positions in ``index`` are known to differ."""
    if index.dtype.kind not in "iu" or index.shape.rank == 0:
        return False
    known = index.constant_value()
    return known is None or known.size > 1


def _indexed(x: Any, *inputs: Any, index: Index) -> Any:
    return x[index.resolve(inputs)]


ADD_AT = primitive(
    "add_at", _add_at_infer, _add_at_kernel, _add_at_vjp, positions=slice(2, None), traits=UPDATING,
    taking=Taking(add_in_place, (0,), is_update=True),
)  # fmt: skip
SET_ITEM = primitive(
    "set_item",
    _set_item_infer,
    _set_item_kernel,
    _set_item_vjp,
    positions=slice(2, None),
    traits=UPDATING.but(fails=Fails.POSITIONS, price=Price.PART),
    taking=Taking(assign_in_place, (0,), is_update=True, part=Part(GETITEM, _indexed)),
)


@public()
def set_item(x: ArrayLike, index: IndexLike, value: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x`` with ``x[index] = value`` done: a new tensor, ``x`` does not change.

    Parameters
    ----------
    x : tensor-like
    index : anything NumPy takes
    value : tensor-like
        Broadcast to the shape of ``x[index]``; converted to the dtype of ``x`` as NumPy's assignment does: floats
        lose their fraction on the way to integers.
    name : str, optional

    Returns
    -------
    Tensor

    Raises
    ------
    OverflowError
        If ``value`` is a Python int that the dtype of ``x`` does not hold.
    IndexError
        If an index is out of range.

    Examples
    --------
    >>> print(al.set_item(al.constant([1, 2, 3]), 1, 20))
    Tensor([ 1 20  3], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(x)
    parsed, inputs = parse(index)
    return apply(SET_ITEM, [x, assigned("set_item", value, x.dtype), *inputs], {"index": parsed}, name)


@public()
def boolean_mask(x: ArrayLike, mask: ArrayLike, axis: Axis = 0, name: str | None = None) -> Tensor:
    """Return the elements (or slices) of ``x`` where ``mask`` is true, one after another.

    Parameters
    ----------
    x : tensor-like
    mask : boolean tensor-like
        Of the shape of the axes of ``x`` from ``axis`` on.
    axis : int
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.boolean_mask([1, 2, 3], [True, False, True]))
    Tensor([1 3], shape=(2,), dtype=int32)
    """
    x, mask = convert_to_tensor(x), convert_to_tensor(mask)
    if mask.dtype != dtypes.bool_:
        raise TypeError(f"boolean_mask: mask must be boolean, got dtype {mask.dtype} [AL211]")
    axis = axis_of(axis, x.shape.rank, "boolean_mask")
    return getitem(x, (slice(None),) * axis + (mask,), name)


ruled_in("indexing_rules", GETITEM, SET_ITEM)
ruled_in("scatter", ADD_AT, INDEX_ADD)
