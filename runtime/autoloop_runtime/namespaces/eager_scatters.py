"""Elements named by arrays of places, taken out and put in, over arrays of other libraries.

The standard has no function that puts elements at places. Where a library has its own it is used; else the last value
for each place is found by sorting the places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.dtypes import int64
from ..base.shapes import TensorShape
from ..ops.complex_numbers import SET_IMAG, SET_REAL
from ..ops.gathering import GATHER, GATHER_ND, PUT_ALONG, SCATTER, SCATTER_UPDATE, TAKE_ALONG
from ..ops.index import Index
from ..ops.indexing import ADD_AT, INDEX_ADD, SET_ITEM
from ..ops.placing import PLACE
from ..ops.selection import ARGWHERE
from .eager_elements import cast
from .eager_indices import Places, basic_part, is_mask, numbered, places_of, rank_of, read, taken, within
from .eager_shapes import extents, shape_of
from .foreign_rows import Call, computed

#: so many pairs of a place and a value may be looked at at once
PAIRS = 1 << 20


# -- values at places of a vector ---------------------------------------------------------------------------


def with_last(call: Call, x: Any, places: Any, values: Any) -> Any:
    """Return the rows of ``x`` with those of ``values`` at ``places``, the last for each."""
    xp = call.xp
    if not places.shape[0]:
        return x
    order = xp.argsort(places, stable=True)
    ordered = xp.take(places, order, axis=0)
    rows = xp.arange(x.shape[0], dtype=xp.int64, **call.namespace.where)
    found = xp.subtract(xp.astype(xp.searchsorted(ordered, rows, side="right"), xp.int64), call.made(1, int64))
    there = xp.maximum(found, call.made(0, int64))
    hit = xp.logical_and(xp.greater_equal(found, call.made(0, int64)), xp.equal(xp.take(ordered, there, axis=0), rows))
    new = xp.take(values, xp.take(order, there, axis=0), axis=0)
    return xp.where(xp.reshape(hit, (-1, *[1] * (len(x.shape) - 1))), new, x)


def with_sums(call: Call, x: Any, places: Any, values: Any) -> Any:
    """Return the rows of ``x`` with those of ``values`` added at ``places``, one after another."""
    if not places.shape[0]:
        return x
    if hasattr(x, "index_add"):
        return x.index_add(0, places, values)
    if hasattr(x, "at"):
        return x.at[places].add(values)
    add_at = getattr(call.namespace.function("add"), "at", None)
    if add_at is not None:
        made = call.xp.asarray(x, copy=True)
        add_at(made, places, values)
        return made
    return _summed(call, x, places, values)


def _summed(call: Call, x: Any, places: Any, values: Any) -> Any:
    """Return the same by functions of the standard."""
    xp, count = call.xp, places.shape[0]
    rows = xp.arange(x.shape[0], dtype=xp.int64, **call.namespace.where)
    most = max(1, PAIRS // max(1, math.prod(x.shape)))
    for start in range(0, count, most):
        stop = min(start + most, count)
        hits = xp.equal(xp.expand_dims(places[start:stop], axis=1), xp.expand_dims(rows, axis=0))
        hits = xp.reshape(hits, (*hits.shape, *[1] * (len(x.shape) - 1)))
        part = xp.where(hits, xp.expand_dims(values[start:stop, ...], axis=1), call.made(0, call.namespace.spec(x)[0]))
        x = xp.add(x, xp.sum(part, axis=0, dtype=x.dtype))
    return x


def broadcast(call: Call, value: Any, shape: Sequence[int]) -> Any:
    """Return a value broadcast as NumPy's assignment does, which leaves out leading axes of 1."""
    extra = rank_of(value) - len(shape)
    if extra > 0:
        value = call.xp.reshape(value, tuple(value.shape)[extra:])
    return call.xp.broadcast_to(value, tuple(shape))


def numbers_of(call: Call, shape: tuple[int, ...], places: Places) -> Any:
    """Return the numbers of the elements that an index names, in the shape that they have there."""
    every = np.arange(math.prod(shape)).reshape(shape)
    return taken(call, basic_part(call, call.namespace.asarray(every), places), places)


def _by_numbers(call: Call, x: Any, places: Places, value: Any, put: Any) -> Any:
    """Return an array with values put, or added, at what an index names with arrays."""
    shape = shape_of(call, x)
    numbers = numbers_of(call, shape, places)
    flat = call.xp.reshape(broadcast(call, value, numbers.shape), (-1,))
    made = put(call, call.xp.reshape(x, (-1,)), call.xp.reshape(numbers, (-1,)), flat)
    return call.xp.reshape(made, shape)


# -- brackets that are written to ---------------------------------------------------------------------------


def with_part(call: Call, x: Any, places: Places, value: Any) -> Any:
    """Return an array with a part replaced that is named without arrays."""
    shape = tuple(basic_part(call, x, places).shape)
    value = broadcast(call, value, shape)
    if places.flipped:
        value = call.xp.flip(value, axis=places.flipped)
    where = places.basic or (...,)
    if hasattr(x, "at"):
        return x.at[where].set(value)
    made = call.xp.asarray(x, copy=True)
    made[where] = value
    return made


def _own(call: Call, x: Any) -> Any:
    if not call.namespace.holds(x):
        raise call.refused("what is written to is an array of NumPy's")
    return x


def _mask_of(index: Index, inputs: Sequence[Any], value: Any) -> Any:
    """Return the mask that is the whole of an index, where one value goes to all that it names; else None."""
    if len(index.entries) == len(inputs) == 1 and is_mask(inputs[0]) and not rank_of(value) and rank_of(inputs[0]):
        return inputs[0]
    return None


@computed(SET_ITEM, raw=True)
def _set_item(call: Call, x: Any, value: Any, *inputs: Any, index: Index) -> Any:
    x = _own(call, x)
    value = call.namespace.of(value)
    mask = _mask_of(index, inputs, value)
    if mask is not None and tuple(mask.shape) == shape_of(call, x)[: rank_of(mask)]:
        mask = call.namespace.of(mask)
        mask = call.xp.reshape(mask, (*mask.shape, *[1] * (len(x.shape) - len(mask.shape))))
        return call.xp.where(mask, value, x)
    places = places_of(call, shape_of(call, x), index, [read(call, one) for one in inputs])
    if not places.axes:
        return with_part(call, x, places, value)
    return _by_numbers(call, x, places, value, with_last)


@computed(ADD_AT, raw=True)
def add_at(call: Call, x: Any, values: Any, *inputs: Any, index: Index) -> Any:
    """Return an array with values added at what an index names."""
    x, values = call.namespace.of(x), call.namespace.of(values)
    places = places_of(call, shape_of(call, x), index, [read(call, one) for one in inputs])
    if not places.axes:
        return with_part(call, x, places, call.xp.add(basic_part(call, x, places), values))
    return _by_numbers(call, x, places, values, with_sums)


@computed(INDEX_ADD, raw=True)
def _index_add(call: Call, shape: Any, values: Any, *inputs: Any, index: Index, static: TensorShape) -> Any:
    zeros = call.zeros(tuple(call.numpys(shape).tolist()))
    return add_at(call, zeros, values, *inputs, index=index)


@computed(PLACE)
def _place(call: Call, x: Any, values: Any, mask: Any) -> Any:
    xp, shape = call.xp, shape_of(call, x)
    flat = xp.reshape(cast(call, mask, np.dtype(bool)), (-1,))
    number = xp.subtract(xp.cumulative_sum(xp.astype(flat, xp.int64), axis=0), call.made(1, int64))
    number = xp.maximum(number, call.made(0, int64))
    taken_from = xp.take(values, xp.remainder(number, call.made(values.shape[0], int64)), axis=0)
    return xp.reshape(xp.where(flat, taken_from, xp.reshape(x, (-1,))), shape)


@computed(SET_REAL, SET_IMAG, needs="complex")
def _set_part(call: Call, x: Any, value: Any) -> Any:
    value = call.xp.broadcast_to(value, tuple(x.shape))
    parts = (value, call.xp.imag(x)) if call.op is SET_REAL else (call.xp.real(x), value)
    return call.needed("complex")(*parts)


# -- tensors of places --------------------------------------------------------------------------------------


@computed(GATHER)
def _gather(call: Call, x: Any, indices: Any, axis: int) -> Any:
    shape = shape_of(call, x)
    axis %= len(shape)
    places = within(call, indices, shape[axis], axis)
    made = call.xp.take(x, call.xp.reshape(places, (-1,)), axis=axis)
    return call.xp.reshape(made, (*shape[:axis], *places.shape, *shape[axis + 1 :]))


def _grid(call: Call, indices: Any, shape: Sequence[int], axis: int) -> list[Any]:
    """Return places along each axis: those given along one, all along the others."""
    rank = len(shape)
    every = [np.arange(n).reshape([-1 if k == a else 1 for k in range(rank)]) for a, n in enumerate(indices.shape)]
    return [within(call, indices if a == axis else every[a], shape[a], a) for a in range(rank)]


@computed(TAKE_ALONG)
def _take_along(call: Call, x: Any, indices: Any, axis: int) -> Any:
    shape = shape_of(call, x)
    axis %= len(shape)
    numbers = numbered(call, shape, _grid(call, indices, shape, axis))
    made = call.xp.take(call.xp.reshape(x, (-1,)), call.xp.reshape(numbers, (-1,)), axis=0)
    return call.xp.reshape(made, tuple(numbers.shape))


@computed(PUT_ALONG, hosts=slice(0, 1))
def _put_along(call: Call, dims: Any, indices: Any, values: Any, axis: int, static: Any) -> Any:
    shape = tuple(dims.tolist())
    axis %= len(shape)
    numbers = numbered(call, shape, _grid(call, indices, shape, axis))
    flat = call.xp.reshape(broadcast(call, values, numbers.shape), (-1,))
    made = with_sums(call, call.zeros((math.prod(shape),)), call.xp.reshape(numbers, (-1,)), flat)
    return call.xp.reshape(made, shape)


def _points(call: Call, indices: Any, shape: Sequence[int]) -> tuple[Any, int, tuple[int, ...]]:
    """Return the numbers of points, how many axes they name, and the shape that they have themselves."""
    depth = indices.shape[-1]
    arrays = [within(call, indices[..., k], shape[k], k) for k in range(depth)]
    own = tuple(indices.shape)[:-1]
    if not arrays:
        return call.namespace.asarray(np.zeros(math.prod(own), np.int64)), 0, own
    return call.xp.reshape(numbered(call, shape, arrays), (-1,)), depth, own


def _rows(call: Call, x: Any, shape: Sequence[int], depth: int) -> Any:
    return call.xp.reshape(x, (math.prod(shape[:depth]), *shape[depth:]))


@computed(GATHER_ND)
def _gather_nd(call: Call, x: Any, indices: Any) -> Any:
    shape = shape_of(call, x)
    numbers, depth, own = _points(call, indices, shape)
    made = call.xp.take(_rows(call, x, shape, depth), numbers, axis=0)
    return call.xp.reshape(made, (*own, *shape[depth:]))


@computed(SCATTER, hosts=slice(2, None))
def _scatter(call: Call, indices: Any, updates: Any, dims: Any = None, *, known: Any) -> Any:
    shape = extents(known, dims)
    numbers, depth, own = _points(call, indices, shape)
    updates = call.xp.reshape(broadcast(call, updates, (*own, *shape[depth:])), (math.prod(own), *shape[depth:]))
    made = with_sums(call, _rows(call, call.zeros(shape), shape, depth), numbers, updates)
    return call.xp.reshape(made, shape)


@computed(SCATTER_UPDATE)
def _scatter_update(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    shape = shape_of(call, x)
    numbers, depth, own = _points(call, indices, shape)
    updates = call.xp.reshape(broadcast(call, updates, (*own, *shape[depth:])), (math.prod(own), *shape[depth:]))
    return call.xp.reshape(with_last(call, _rows(call, x, shape, depth), numbers, updates), shape)


@computed(ARGWHERE)
def _argwhere(call: Call, x: Any) -> Any:
    if not rank_of(x):
        raise call.refused("without axes")
    return cast(call, call.xp.stack(call.xp.nonzero(x), axis=1), int64)
