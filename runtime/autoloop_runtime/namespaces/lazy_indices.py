"""Brackets over arrays that are computed later."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.index import Index, Input, Slice
from ..ops.indexing import GETITEM
from .chunk_kernels import as_dask, reshaped
from .eager_indices import is_mask, rank_of, spelled_out
from .foreign_rows import Call, computed
from .refused_calls import needs_value


def entries_of(call: Call, x: Any, index: Index, inputs: Sequence[Any]) -> list[Any]:
    """Return the entries of an index: ints, slices, None, and arrays of NumPy's or of the library."""
    for entry in index.entries:
        if isinstance(entry, Slice):
            ends = [p.position for p in (entry.start, entry.stop, entry.step) if isinstance(p, Input)]
            if any(call.namespace.holds(inputs[k]) for k in ends):
                raise needs_value("the end of a slice", call.namespace.name)
    return spelled_out(index, [_read(call, one) for one in inputs], x.ndim)


def _read(call: Call, value: Any) -> Any:
    """Return a number of NumPy's as one of Python's."""
    if call.namespace.holds(value) or is_mask(value) or rank_of(value):
        return value
    return int(value)


def _flat(x: Any, entries: Sequence[Any]) -> Any:
    return x[tuple(entries)]


@computed(GETITEM, when="later")
def _getitem(call: Call, x: Any, *inputs: Any, index: Index) -> Any:
    x = as_dask(x)
    entries = entries_of(call, x, index, inputs)
    looked_at(call, x, entries)
    arrays = [k for k, e in enumerate(entries) if is_mask(e) or rank_of(e) or call.namespace.holds(e)]
    if len(arrays) <= 1:
        return _of_one(call, x, entries, arrays)
    if any(call.namespace.holds(entries[k]) or is_mask(entries[k]) for k in arrays):
        raise call.refused("with several arrays in the brackets, of which one is not known yet")
    return _of_several(x, entries)


def looked_at(call: Call, x: Any, entries: Sequence[Any]) -> None:
    """Raise for places beyond an end, as far as they are known."""
    axis = 0
    for entry in entries:
        if entry is None:
            continue
        extent = call.namespace.spec(x)[1][axis]
        if (
            not isinstance(entry, slice)
            and not is_mask(entry)
            and not call.namespace.holds(entry)
            and extent is not None
        ):
            beyond = np.asarray(entry)[(np.asarray(entry) < -extent) | (np.asarray(entry) >= extent)]
            if beyond.size:
                raise IndexError(f"index {beyond.flat[0]} is out of bounds for axis {axis} with size {extent}")
        axis += rank_of(entry) if is_mask(entry) else 1


def _of_one(call: Call, x: Any, entries: list[Any], arrays: list[int]) -> Any:
    """Return what an index names that has one array, or none."""
    if not arrays:
        return x[tuple(entries)]
    (k,) = arrays
    entry = entries[k]
    if call.namespace.holds(entry) and not is_mask(entry) and rank_of(entry) == 0:
        # as an array of one place, whose axis goes then: of one without axes ``dask`` asks for the value
        one = x[tuple([e.reshape((1,)) if e is entry else e for e in entries])]
        return one.squeeze(sum([not isinstance(e, int) for e in entries[:k]]))
    numbers = any(isinstance(e, int) for e in entries)
    if is_mask(entry) and rank_of(entry) > 1:
        if len(entries) > 1:
            raise call.refused("with a mask of several axes beside others")
        return x[as_dask(entry, x.chunks)]
    if numbers and not _is_beside(entries, k):
        raise call.refused("with an array and a number apart in the brackets")
    # a number beside the array goes first: neither moves an axis
    first = [e if isinstance(e, int) else slice(None) for e in entries if e is not None]
    x = x[tuple(first)] if numbers else x
    rest = [e for e in entries if not isinstance(e, int)]
    if rank_of(entry) == 1:
        return x[tuple(rest)]
    shape = np.shape(entry)
    made = x[tuple([np.asarray(e).reshape(-1) if e is entry else e for e in rest])]
    at = sum([1 for e in rest[: _index(rest, entry)]])
    return reshaped(made, (*made.shape[:at], *shape, *made.shape[at + 1 :]))


def _index(entries: Sequence[Any], wanted: Any) -> int:
    return next(k for k, entry in enumerate(entries) if entry is wanted)


def _is_beside(entries: Sequence[Any], array: int) -> bool:
    """Return whether the numbers of an index are neighbours of its array: else the axes of that come first."""
    those = [k for k, e in enumerate(entries) if isinstance(e, int) or k == array]
    return those == list(range(those[0], those[-1] + 1))


def _of_several(x: Any, entries: list[Any]) -> Any:
    """Return what an index names that has several arrays, all known."""
    those = [k for k, e in enumerate(entries) if isinstance(e, (int, np.ndarray))]
    together = those == list(range(those[0], those[-1] + 1))
    part = x[tuple([slice(None) if k in those else e for k, e in enumerate(entries)])]
    # each entry that is left names one axis of that
    rest = [k for k in range(len(entries)) if k not in those]
    shape = [part.shape[k] for k in those]
    places = np.broadcast_arrays(*[np.asarray(entries[k]) % n for k, n in zip(those, shape)])
    numbers = np.ravel_multi_index(tuple(places), shape)
    rows = reshaped(part.transpose([*those, *rest]), (math.prod(shape), *[part.shape[k] for k in rest]))
    made = reshaped(rows[numbers.reshape(-1)], (*numbers.shape, *rows.shape[1:]))
    count, at = numbers.ndim, those[0] if together else 0
    return made.transpose([*range(count, count + at), *range(count), *range(count + at, made.ndim)])
