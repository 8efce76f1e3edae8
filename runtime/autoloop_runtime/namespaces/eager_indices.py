"""Brackets over arrays of other libraries: what they name is worked out here, as NumPy has it, and taken by the few
functions that all have.

The standard says nothing of places beyond an end, of steps backwards on some libraries, and of arrays as indices but in
one form: so slices are made exact, and elements that arrays name are taken from a vector by their numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..ops.index import Index, Input, Slice
from ..ops.indexing import GETITEM
from .eager_shapes import shape_of, turned
from .foreign_rows import Call, computed


@dataclass(frozen=True)
class Places:
    """What an index names in an array of a shape.

    Attributes
    ----------
    basic : tuple
        Of ints, slices, and None: what is named without arrays, an axis of which is whole where an array names places.
    flipped : tuple of int
        Axes of what that gives that go backwards.
    axes : tuple of int
        Axes of what that gives of which arrays name places.
    arrays : tuple
        Those, one for each axis.
    front : int
        Where their own axes stand in the result.
    """

    basic: tuple[Any, ...]
    flipped: tuple[int, ...]
    axes: tuple[int, ...]
    arrays: tuple[Any, ...]
    front: int


def rank_of(value: Any) -> int:
    """Return the number of axes of an array, or of a number."""
    return len(getattr(value, "shape", ()))


def is_mask(value: Any) -> bool:
    """Return whether an entry of an index is an array of booleans."""
    return str(getattr(value, "dtype", "")).endswith("bool")


def _filled(entry: Any, values: Sequence[Any]) -> Any:
    if isinstance(entry, Input):
        return values[entry.position]
    if isinstance(entry, Slice):
        parts = [_filled(p, values) for p in (entry.start, entry.stop, entry.step)]
        return slice(*[None if p is None else int(p) for p in parts])
    return entry


def spelled_out(index: Index, values: Sequence[Any], rank: int) -> list[Any]:
    """Return the entries with a slice for each axis that none of them names."""
    entries = [_filled(entry, values) for entry in index.entries]
    used = sum([rank_of(e) if is_mask(e) else 1 for e in entries if e is not None and e is not Ellipsis])
    if used > rank:
        raise IndexError(f"too many indices for array: array is {rank}-dimensional, but {used} were indexed")
    full = [slice(None)] * (rank - used)
    at = next((k for k, e in enumerate(entries) if e is Ellipsis), None)
    return [*entries, *full] if at is None else [*entries[:at], *full, *entries[at + 1 :]]


def _exact(entry: slice, extent: int) -> tuple[slice, bool]:
    """Return a slice forwards within an axis that names the same places, and whether they come backwards."""
    places = range(*entry.indices(extent))
    if not places:
        return slice(0, 0), False
    if places.step < 0:
        return slice(places[-1], places[0] + 1, -places.step), True
    return slice(places.start, places[-1] + 1, places.step), False


def placed(entry: Any, extent: int, axis: int) -> int:
    """Return a place on an axis that may count from its end."""
    place = int(entry)
    if not -extent <= place < extent:
        raise IndexError(f"index {place} is out of bounds for axis {axis} with size {extent}")
    return place % extent


def places_of(call: Call, shape: tuple[int, ...], index: Index, values: Sequence[Any]) -> Places:
    """Return what an index names in an array of a shape; ``values`` are its inputs."""
    entries = spelled_out(index, values, len(shape))
    with_arrays = any(rank_of(e) or is_mask(e) for e in entries)
    basic: list[Any] = []
    flipped: list[int] = []
    axes: list[int] = []
    arrays: list[Any] = []
    groups: list[int] = []  # the entries that count as arrays, to see whether they are neighbours
    axis = out = 0
    for k, entry in enumerate(entries):
        if entry is None:
            basic.append(None)
            out += 1
        elif isinstance(entry, slice):
            part, backwards = _exact(entry, shape[axis])
            basic.append(part)
            flipped += [out] if backwards else []
            axis, out = axis + 1, out + 1
        elif not with_arrays:
            basic.append(placed(entry, shape[axis], axis))
            axis += 1
        else:
            groups.append(k)
            found = _nonzero(call, entry, shape, axis) if is_mask(entry) else [entry]
            for one in found:
                arrays.append(within(call, one, shape[axis], axis))
                axes.append(out)
                basic.append(slice(0, shape[axis]))
                axis, out = axis + 1, out + 1
    together = groups == list(range(groups[0], groups[-1] + 1)) if groups else True
    return Places(tuple(basic), tuple(flipped), tuple(axes), tuple(arrays), axes[0] if axes and together else 0)


def _nonzero(call: Call, mask: Any, shape: tuple[int, ...], axis: int) -> Sequence[Any]:
    rank = rank_of(mask)
    for k, extent in enumerate(mask.shape):
        if extent != shape[axis + k]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + k}; size of axis is {shape[axis + k]} "
                f"but size of corresponding boolean axis is {extent}"
            )
    if rank == 0:
        raise call.refused("a boolean without axes as an index")
    return list(np.nonzero(mask) if isinstance(mask, np.ndarray) else call.xp.nonzero(mask))


def within(call: Call, places: Any, extent: int, axis: int) -> Any:
    """Return places on an axis, none of which counts from its end."""
    if isinstance(places, (int, np.integer)) or not call.namespace.holds(places):
        made = np.asarray(places)
        beyond = made[(made < -extent) | (made >= extent)]
        if beyond.size:
            raise IndexError(f"index {beyond.flat[0]} is out of bounds for axis {axis} with size {extent}")
        return call.namespace.asarray(np.where(made < 0, made + extent, made).astype(np.int64))
    xp = call.xp
    places = xp.astype(places, xp.int64)
    zero, size = call.made(0, _INT), call.made(extent, _INT)
    beyond = xp.logical_or(xp.less(places, xp.negative(size)), xp.greater_equal(places, size))
    if bool(xp.any(beyond)):
        raise IndexError(f"index {int(places[beyond][0])} is out of bounds for axis {axis} with size {extent}")
    return xp.where(xp.less(places, zero), xp.add(places, size), places)


_INT = np.dtype(np.int64)


def numbered(call: Call, shape: Sequence[int], arrays: Sequence[Any]) -> Any:
    """Return the numbers, in their order in memory, of the elements at places along each axis of a shape."""
    xp = call.xp
    arrays = xp.broadcast_arrays(*arrays) if len(arrays) > 1 else arrays
    made = arrays[0]
    for extent, places in zip(shape[1:], arrays[1:]):
        made = xp.add(xp.multiply(made, call.made(extent, _INT)), places)
    return made


def basic_part(call: Call, x: Any, places: Places) -> Any:
    """Return what of an array is named without its arrays."""
    part = x[places.basic] if places.basic else x
    return call.xp.flip(part, axis=places.flipped) if places.flipped else part


def taken(call: Call, part: Any, places: Places) -> Any:
    """Return what arrays name of such a part."""
    if not places.axes:
        return part
    shape = tuple(part.shape)
    rest = [a for a in range(len(shape)) if a not in places.axes]
    front = [shape[a] for a in places.axes]
    rows = call.xp.reshape(turned(call, part, [*places.axes, *rest]), (math.prod(front), *[shape[a] for a in rest]))
    numbers = numbered(call, front, places.arrays)
    own = tuple(numbers.shape)
    made = call.xp.take(rows, call.xp.reshape(numbers, (-1,)), axis=0)
    made = call.xp.reshape(made, (*own, *[shape[a] for a in rest]))
    # the axes of the arrays stand first: they go to their place
    count, at = len(own), places.front
    return turned(call, made, [*range(count, count + at), *range(count), *range(count + at, count + len(rest))])


@computed(GETITEM)
def _getitem(call: Call, x: Any, *inputs: Any, index: Index) -> Any:
    if not call.namespace.holds(x):
        x = call.namespace.asarray(x)
    places = places_of(call, shape_of(call, x), index, [read(call, one) for one in inputs])
    return taken(call, basic_part(call, x, places), places)


def read(call: Call, value: Any) -> Any:
    """Return a place that is no array as a number: it names one, or the end of a slice."""
    return call.numpys(value) if rank_of(value) == 0 and not is_mask(value) else value
