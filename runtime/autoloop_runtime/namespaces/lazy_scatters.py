"""Elements named by arrays of places, over arrays that are computed later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..collections.accumulators import ACCUMULATE_AT
from ..ops.complex_numbers import SET_IMAG, SET_REAL
from ..ops.gathering import GATHER, GATHER_ND, PUT_ALONG, SCATTER, SCATTER_UPDATE, TAKE_ALONG
from ..ops.index import Index
from ..ops.indexing import ADD_AT, INDEX_ADD, SET_ITEM
from ..ops.selection import ARGWHERE
from .chunk_kernels import ChunkKernel, as_dask, blockwise, chunkwise, dask_array, elementwise
from .eager_indices import is_mask, rank_of
from .foreign_collections import finished
from .foreign_rows import Call, absent_later, computed
from .lazy_indices import entries_of, looked_at

computed(SET_REAL, SET_IMAG, when="later")(chunkwise)


def is_array(call: Call, entry: Any) -> bool:
    """Return whether an entry of an index is an array of places, or of booleans."""
    return is_mask(entry) or bool(rank_of(entry)) or call.namespace.holds(entry)


@computed(SET_ITEM, when="later")
def _set_item(call: Call, x: Any, value: Any, *inputs: Any, index: Index) -> Any:
    if not call.namespace.holds(x):
        raise call.refused("what is written to is an array of NumPy's")
    entries = entries_of(call, x, index, inputs)
    looked_at(call, x, entries)
    arrays = [e for e in entries if is_array(call, e)]
    if len(entries) == 1 and is_mask(entries[0]) and rank_of(entries[0]) == x.ndim and not rank_of(value):
        return elementwise(call, np.where, [as_dask(entries[0], x.chunks), value, x], x.dtype)
    if arrays:
        raise call.refused("with an array in the brackets")
    if any(e is None for e in entries):
        raise call.refused("with a new axis in the brackets")
    made = x.copy()
    shape = x[tuple(entries)].shape
    extra = rank_of(value) - len(shape)
    made[tuple(entries)] = value.reshape(value.shape[extra:]) if extra > 0 else value
    return made


# -- sums at places -----------------------------------------------------------------------------------------


class AddedAt:
    """What the values of a chunk add, at the places of theirs, to zeros; with an axis for the chunk.

    Parameters
    ----------
    shape : tuple of int
        Of the result, where the places' axis is the first.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    __name__ = "added_at"

    def __call__(self, places: Any, values: Any) -> Any:
        made = np.zeros((self.shape[0], *values.shape[1:]), values.dtype)
        np.add.at(made, places, values)
        return made[np.newaxis]


def summed_at(call: Call, shape: tuple[int, ...], places: Any, values: Any) -> Any:
    """Return zeros with rows of values added at places of the first axis: chunk by chunk, then the sum of those."""
    values = as_dask(values)
    places = as_dask(places, (values.chunks[0],))
    rank = values.ndim
    parts = blockwise(
        call, AddedAt(shape), (0, rank, *range(1, rank)), places, (0,), values, tuple(range(rank)), dtype=values.dtype,
        adjust_chunks={0: 1}, new_axes={rank: shape[0]},
    )  # fmt: skip
    return dask_array().sum(parts, axis=0, dtype=values.dtype)


@computed(INDEX_ADD, when="later")
def _index_add(call: Call, shape: Any, values: Any, *inputs: Any, index: Index, static: TensorShape) -> Any:
    wanted, da = tuple(call.numpys(shape).tolist()), dask_array()
    zeros = da.zeros(wanted, dtype=call.dtypes[0])
    entries = entries_of(call, zeros, index, inputs)
    looked_at(call, zeros, entries)
    arrays = [k for k, e in enumerate(entries) if is_array(call, e)]
    if not arrays:
        return _with_part(call, zeros, entries, values)
    (k, *more) = arrays
    entry = entries[k]
    if more or rank_of(entry) != 1 or is_mask(entry) or any(e != slice(None) for e in entries if e is not entry):
        raise call.refused("with several entries in the brackets, or a mask")
    moved = da.moveaxis(da.broadcast_to(as_dask(values), (*wanted[:k], len(entry), *wanted[k + 1 :])), k, 0)
    count = wanted[k]
    places = np.where(entry < 0, entry + count, entry) if isinstance(entry, np.ndarray) else entry % count
    return da.moveaxis(summed_at(call, (count,), places, moved), 0, k)


def _with_part(call: Call, zeros: Any, entries: Sequence[Any], values: Any) -> Any:
    if any(e is None for e in entries):
        raise call.refused("with a new axis in the brackets")
    made = zeros.copy()
    made[tuple(entries)] = values
    return made


@computed(ADD_AT, when="later")
def _add_at(call: Call, x: Any, values: Any, *inputs: Any, index: Index) -> Any:
    x = as_dask(x)
    if not any(is_array(call, e) for e in entries_of(call, x, index, inputs)):
        entries = entries_of(call, x, index, inputs)
        looked_at(call, x, entries)
        return _with_part(call, x, entries, elementwise(call, np.add, [x[tuple(entries)], values], x.dtype))
    added = _index_add(call, np.array(x.shape), values, *inputs, index=index, static=TensorShape(x.shape))
    return elementwise(call, np.add, [x, added], x.dtype)


@computed(ACCUMULATE_AT, when="later", always=True, raw=True)
def _accumulate_at(call: Call, total: Any, value: Any, *inputs: Any, index: Index, state: Any = None) -> Any:
    total = finished(total)
    if not any(call.namespace.holds(one) for one in (total, value, *inputs)):
        return call.op.kernel(total, value, *inputs, index=index)
    return _add_at(call, total, value, *inputs, index=index)


# -- tensors of places --------------------------------------------------------------------------------------


@computed(GATHER, when="later")
def _gather(call: Call, x: Any, indices: Any, axis: int) -> Any:
    x = as_dask(x)
    axis %= x.ndim
    flat = indices.reshape(-1)
    looked_at(call, x, [*[slice(None)] * axis, flat])
    made = x[(*[slice(None)] * axis, flat)]
    return made if rank_of(indices) == 1 else made.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


@computed(TAKE_ALONG, when="later")
def _take_along(call: Call, x: Any, indices: Any, axis: int) -> Any:
    x, indices = as_dask(x), as_dask(indices)
    axis %= x.ndim
    both = [one.rechunk({axis: -1}) for one in (x, indices)]
    own = tuple(range(x.ndim))
    # the axis has another extent in the result than in the array
    there = (*own[:axis], x.ndim, *own[axis + 1 :])
    return blockwise(
        call, ChunkKernel(call.op, {"axis": axis}), own, both[0], there, both[1], own, dtype=call.dtypes[0],
        concatenate=True,
    )  # fmt: skip


absent_later("dask.array has no function for points in several axes", GATHER_ND, SCATTER_UPDATE, PUT_ALONG)


@computed(SCATTER, when="later")
def _scatter(call: Call, indices: Any, updates: Any, dims: Any = None, *, known: Any) -> Any:
    shape = tuple(known if dims is None else call.numpys(dims).tolist())
    if indices.shape[-1] != 1 or rank_of(indices) != 2:
        raise call.refused("for points in several axes")
    return summed_at(call, shape, indices[:, 0], updates)


@computed(ARGWHERE, when="later")
def _argwhere(call: Call, x: Any) -> Any:
    return dask_array().argwhere(x)
