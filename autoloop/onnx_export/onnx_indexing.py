"""Brackets: parts of arrays taken out, and put in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.collections.accumulators import ACCUMULATE_AT
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.gathering import (
    GATHER,
    GATHER_ND,
    PUT_ALONG,
    SCATTER,
    SCATTER_UPDATE,
    TAKE_ALONG,
)
from autoloop_runtime.ops.index import Index, Input, Slice, spelled_out
from autoloop_runtime.ops.indexing import ADD_AT, GETITEM, INDEX_ADD, SET_ITEM

from .onnx_refusals import refuse
from .onnx_shapes import rank_of
from .onnx_values import BOOL, INT64, Value, computed
from .onnx_writer import Writer, rule

_END = 2**62
_WHOLE = Slice(None, None, None)


@dataclass(frozen=True)
class _Entries:
    """An index of an array of known rank, one entry an axis, and where new axes go.

    Attributes
    ----------
    entries : list
        Slices, ints, and scalars and arrays of places; a mask is as many arrays as it has axes.
    new : list of int
        How many entries stand before each new axis.
    """

    entries: list[Any]
    new: list[int]

    @property
    def has_arrays(self) -> bool:
        return any(isinstance(one, _Places) and one.rank for one in self.entries)


@dataclass(frozen=True)
class _Places:
    """Places along an axis that the run gives."""

    value: Value
    rank: int


def _parsed(writer: Writer, node: Node, shape: TensorShape, tensors: Sequence[Tensor], values: Any) -> _Entries:
    index: Index = node.attrs["index"]
    if shape.rank is None or any(t.shape.rank is None for t in tensors):
        refuse(node, "the rank of what is indexed is not known: declare it with set_shape")
    made: list[Any] = []
    new: list[int] = []
    for entry in spelled_out(index.entries, shape, tensors):
        if entry is None:
            new.append(len(made))
        elif isinstance(entry, Input):
            tensor, value = tensors[entry.position], values[entry.position]
            rank = tensor.shape.rank or 0
            if tensor.dtype != BOOL:
                made.append(_Places(value.to(INT64), rank))
                continue
            if not rank:
                refuse(node, "an index is a boolean without axes")
            found = writer("NonZero", value, dtype=INT64)
            made += [_Places(found.gather(writer.const(np.int64(k))), 1) for k in range(rank)]
        else:
            made.append(entry)
    return _Entries(made, new)


def _bound(writer: Writer, part: Any, default: int, values: Sequence[Value]) -> Value:
    if isinstance(part, Input):
        return values[part.position].to(INT64).reshape(1)
    return writer.ints([default if part is None else part])


def _sliced(writer: Writer, node: Node, x: Value, index: _Entries, values: Any) -> Value:
    """Return ``x`` with the slices of an index taken."""
    axes = [k for k, one in enumerate(index.entries) if isinstance(one, Slice) and one != _WHOLE]
    if not axes:
        return x
    starts, ends, steps = [], [], []
    for k in axes:
        one = index.entries[k]
        if isinstance(one.step, Input):
            refuse(node, "the step of a slice is known only to the run")
        back = one.step is not None and one.step < 0
        starts.append(_bound(writer, one.start, _END if back else 0, values))
        ends.append(_bound(writer, one.stop, -_END if back else _END, values))
        steps.append(1 if one.step is None else one.step)
    return x.slice(writer.concat(starts), writer.concat(ends), axes, steps)


def _place(writer: Writer, entry: Any) -> _Places:
    return entry if isinstance(entry, _Places) else _Places(writer.const(np.int64(entry)), 0)


def _taken(writer: Writer, node: Node, x: Value, index: _Entries, values: Any) -> Value:
    """Return ``x[index]``."""
    x = _sliced(writer, node, x, index, values)
    axes = [k for k, one in enumerate(index.entries) if not isinstance(one, Slice)]
    if not index.has_arrays:
        for axis in reversed(axes):
            x = x.gather(_place(writer, index.entries[axis]).value, axis)
        before = [sum(k not in axes for k in range(count)) for count in index.new]
        return x.unsqueeze(*[count + k for k, count in enumerate(before)])
    places = [_place(writer, index.entries[k]) for k in axes]
    rank = max(one.rank for one in places)
    # an index of one array stays where it is; several are one where they stand together, else they go to the front
    spread = range(axes[0], axes[-1] + 1)
    together = list(spread) == axes and not any(axes[0] < count <= axes[-1] for count in index.new)
    front = 0 if not together else axes[0]
    if len(axes) == 1:
        x = x.gather(places[0].value, axes[0])
    else:
        rest = [k for k in range(len(index.entries)) if k not in axes]
        x = _picked(writer, x.transpose([*axes, *rest]), places)
        if front:
            order = [*range(rank, rank + front), *range(rank), *range(rank + front, rank + len(rest))]
            x = x.transpose(order)
    return x.unsqueeze(*_new_axes(index, axes, rank, front, together))


def _new_axes(index: _Entries, axes: list[int], rank: int, front: int, together: bool) -> list[int]:
    """Return where new axes are in the result."""
    found = []
    for k, count in enumerate(index.new):
        before = sum(axis not in axes for axis in range(count))
        if not together or count > axes[0]:
            before += rank
        found.append(before + k)
    return found


def _picked(writer: Writer, x: Value, places: Sequence[_Places]) -> Value:
    """Return what arrays of places name together along the first axes."""
    zeros = places[0].value * 0
    for one in places[1:]:
        zeros = zeros + one.value * 0
    dims = zeros.shape()
    parts = [one.value.expand(dims).unsqueeze(-1) for one in places]
    return writer("GatherND", x, writer.concat(parts, -1))


def _flat_places(writer: Writer, node: Node, dims: Value, index: _Entries, values: Any) -> Value:
    """Return the numbers of the elements that an index names, in C order, in the shape of the result."""
    size = writer("ReduceProd", dims, writer.ints([0]), keepdims=0)
    return _taken(writer, node, writer.count_to(size).reshape_to(dims), index, values)


def _lead(index: _Entries) -> list[Any] | None:
    """Return the places of an index that names one element, or one part along the last axes; None if it does not."""
    if index.new or index.has_arrays:
        return None
    count = sum(not isinstance(one, Slice) for one in index.entries)
    rest = index.entries[count:]
    if not count or any(isinstance(one, Slice) for one in index.entries[:count]) or any(one != _WHOLE for one in rest):
        return None
    return index.entries[:count]


def _put(
    writer: Writer, node: Node, x: Value, value: Value, index: _Entries, values: Any, adds: bool, value_rank: int
) -> Value:  # fmt: skip
    """Return ``x`` with ``value`` at an index, or added there."""
    dtype = x.dtype
    if adds and dtype == BOOL:
        refuse(node, "booleans are added at an index")
    x, value = (x.to(computed(dtype)), value.to(computed(dtype))) if adds else (x, value)
    options = {"reduction": "add"} if adds else {}
    lead = _lead(index)
    if lead is not None:
        parts = [_place(writer, one).value.reshape(1, 1) for one in lead]
        rest = x.shape().slice([len(lead)], [_END], [0])
        fitted = value.expand(writer.concat([writer.ints([1] * max(1, value_rank - _left(index, lead))), rest]))
        rows = fitted.reshape_to(writer.concat([writer.ints([1]), rest]))
        return writer("ScatterND", x, writer.concat(parts, 1), rows, **options).to(dtype)
    dims = x.shape()
    numbers = _flat_places(writer, node, dims, index, values)
    wanted = numbers.shape()
    fitted = value.expand(wanted).reshape(-1)
    made = writer("ScatterElements", x.reshape(-1), numbers.reshape(-1), fitted, axis=0, **options)
    return made.reshape_to(dims).to(dtype)


def _left(index: _Entries, lead: list[Any]) -> int:
    return len(index.entries) - len(lead)


@rule(GETITEM)
def _getitem(writer: Writer, node: Node, x: Value, *values: Value) -> Value:
    index = _parsed(writer, node, node.inputs[0].shape, node.inputs[1:], values)
    return _taken(writer, node, x, index, values)


@rule(SET_ITEM)
def _set_item(writer: Writer, node: Node, x: Value, value: Value, *values: Value) -> Value:
    shape, tensors = node.inputs[0].shape, node.inputs[2:]
    entries = node.attrs["index"].entries
    mask = tensors[0] if len(entries) == len(tensors) == 1 and tensors[0].dtype == BOOL else None
    if mask is not None and mask.shape.rank == shape.rank != 0 and node.inputs[1].shape.rank == 0:
        return values[0].where(value, x)
    index = _parsed(writer, node, shape, tensors, values)
    return _put(writer, node, x, value, index, values, False, rank_of(node, 1))


@rule(ADD_AT, ACCUMULATE_AT)
def _add_at(writer: Writer, node: Node, x: Value, part: Value, *values: Value) -> Value:
    index = _parsed(writer, node, node.inputs[0].shape, node.inputs[2:], values)
    return _put(writer, node, x, part, index, values, True, rank_of(node, 1))


@rule(INDEX_ADD)
def _index_add(writer: Writer, node: Node, dims: Value, part: Value, *values: Value) -> Value:
    index = _parsed(writer, node, node.attrs["static"], node.inputs[2:], values)
    x = writer.const(part.dtype.type(0)).expand(dims.to(INT64))
    return _put(writer, node, x, part, index, values, True, rank_of(node, 1))


# -- functions ----------------------------------------------------------------------------------------------------


@rule(GATHER)
def _gather(writer: Writer, node: Node, x: Value, places: Value) -> Value:
    return x.gather(places.to(INT64), node.attrs["axis"])


@rule(TAKE_ALONG)
def _take_along(writer: Writer, node: Node, x: Value, places: Value) -> Value:
    return writer("GatherElements", x, places.to(INT64), axis=node.attrs["axis"])


@rule(PUT_ALONG)
def _put_along(writer: Writer, node: Node, dims: Value, places: Value, part: Value) -> Value:
    wide = part.to(computed(part.dtype))
    zeros = writer.const(wide.dtype.type(0)).expand(dims.to(INT64))
    options = {"axis": node.attrs["axis"], "reduction": "add"}
    return writer("ScatterElements", zeros, places.to(INT64), wide, **options).to(part.dtype)


@rule(GATHER_ND)
def _gather_nd(writer: Writer, node: Node, x: Value, places: Value) -> Value:
    return writer("GatherND", x, places.to(INT64))


@rule(SCATTER)
def _scatter(writer: Writer, node: Node, places: Value, part: Value, *dims: Value) -> Value:
    wide = part.to(computed(part.dtype))
    extents = dims[0].to(INT64) if dims else writer.ints(node.attrs["known"])
    zeros = writer.const(wide.dtype.type(0)).expand(extents)
    return writer("ScatterND", zeros, places.to(INT64), wide, reduction="add").to(part.dtype)


@rule(SCATTER_UPDATE)
def _scatter_update(writer: Writer, node: Node, x: Value, places: Value, part: Value) -> Value:
    return writer("ScatterND", x, places.to(INT64), part)
