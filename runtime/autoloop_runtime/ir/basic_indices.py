"""Indices that name a part of an array which is a view of it, and the index of a part of such a part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from .op import call
from .tensor import Tensor

_FULL = slice(None)
_NUMBERS = (bool, int, float, complex, np.generic)


def is_basic(index: Any) -> bool:
    """Return whether NumPy gives a view for an index: ints, slices, ``None`` and ``...``."""
    return all(map(_is_basic_entry, index if isinstance(index, tuple) else (index,)))


def gives_view(index: Any) -> bool:
    """Return whether a basic index gives a view, and not a copy of that, as it does where an int is a 0-d array."""
    entries = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(one, Tensor) and one.shape.rank == 0 and _is_array(one) for one in entries)


def _is_array(tensor: Tensor) -> bool:
    """Return whether a tensor without axes stands for an array of NumPy's, and not for a scalar or number."""
    return not getattr(tensor, "is_scalar", True)


def _is_basic_entry(entry: Any) -> bool:
    return entry is None or entry is Ellipsis or isinstance(entry, slice) or _is_int(entry)


def _is_int(entry: Any) -> bool:
    if isinstance(entry, Tensor):
        return entry.shape.rank == 0 and entry.dtype.kind in "iu"
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, (bool, np.bool_))


def is_element(index: Any, shape: TensorShape) -> bool:
    """Return whether a basic index names one element, of which NumPy gives a scalar and no view."""
    entries = index if isinstance(index, tuple) else (index,)
    return shape.rank is not None and len(entries) == shape.rank and all(map(_is_int, entries))


def place_of_number(shape: tuple[int, ...], number: Any) -> tuple[Any, ...] | None:
    """Return the index of the element that has a number in C order; None if there is none, or it is no signed integer.

    A number of the run that is too large, or too far below 0, gives an index that is out of bounds at the first axis.
    """
    if not isinstance(number, Tensor):
        size = math.prod(shape)
        return tuple(map(int, np.unravel_index(number % size, shape))) if -size <= number < size else None
    if number.dtype.kind != "i":
        return None
    rest = number if number.dtype == np.int64 else call("cast", number, np.dtype(np.int64))
    places = []
    for extent in reversed(shape[1:]):
        places.append(rest % extent)
        rest = rest // extent
    return rest, *reversed(places)


def has_ellipsis(index: Any) -> bool:
    """Return whether ``...`` is in an index: what NumPy gives for it is an array, also without axes."""
    return index is Ellipsis or (isinstance(index, tuple) and any(entry is Ellipsis for entry in index))


def names_element(index: Any) -> bool:
    """Return whether a basic index names one element of an array of as many axes as it has entries."""
    return all(map(_is_int, index if isinstance(index, tuple) else (index,)))


def settled(index: Any) -> Any:
    """Return a basic index that stays what it is, whatever becomes of the numbers in it."""
    if isinstance(index, tuple):
        return tuple(map(settled, index))
    if isinstance(index, slice):
        return slice(settled(index.start), settled(index.stop), settled(index.step))
    if not isinstance(index, Tensor):
        return index
    is_truth = index.dtype.kind == "b" and getattr(type(index), "is_pythons", False)  # of Python's, which is an int
    return call("cast", index.plain, np.dtype(np.int64)) if is_truth else index.plain


def tensors_in(index: Any) -> list[Tensor]:
    """Return what only a run knows of which part a basic index names."""
    entries = index if isinstance(index, tuple) else (index,)
    ends = [end for e in entries for end in ((e.start, e.stop, e.step) if isinstance(e, slice) else (e,))]
    return [end for end in ends if isinstance(end, Tensor)]


def depends_on_tensors(index: Any) -> bool:
    """Return whether only a run knows which part a basic index names."""
    return bool(tensors_in(index))


def composed(shape: TensorShape, outer: Any, inner: Any) -> Any:
    """Return the index of ``x[outer][inner]`` in ``x`` of a shape; None where there is none that is as simple.

    Parameters
    ----------
    shape : TensorShape
        Of ``x``.
    outer : index
        A basic one.
    inner : index
    """
    entries = _entries(outer, shape.rank)
    if entries is None:
        return None
    left = sum(isinstance(one, slice) for one in entries)
    within = _entries(inner, left if shape.rank is not None and len(entries) == shape.rank else None)
    if within is None:
        return _composed_with_places(entries, inner)
    dims = [None] * len(entries) if shape.rank is None else shape.as_list()
    made: list[Any] = []
    for place, entry in enumerate(entries):
        if not isinstance(entry, slice) or not within:
            made.append(entry)
            continue
        both = _within(dims[place], entry, within.pop(0))
        if both is None:
            return None
        made.append(both)
    return (*made, *within)


def in_whole(view: Any, index: Any) -> tuple[Any, Any] | None:
    """Return the array of which a ``View`` is a part, and the index of a part of that part in it; None if it has none,
    or only a run knows it."""
    if view is None or view.index is None or depends_on_tensors(view.index) or depends_on_tensors(index):
        return None
    both = composed(view.parent.shape, view.index, index)
    return None if both is None else (view.parent, both)


def rearranged(axes: Sequence[int], index: Any, value: Any) -> Any:
    """Return the index of ``x`` that writes ``value`` where ``np.transpose(x, axes)[index] = value`` does.

    None where the value would have to be rearranged, too, or the index is no basic one.
    """
    entries = _entries(index, len(axes))
    if entries is None or len(entries) > len(axes):
        return None
    entries += [_FULL] * (len(axes) - len(entries))
    if sum(isinstance(entry, slice) for entry in entries) > 1:
        is_number = value.shape.rank == 0 if isinstance(value, Tensor) else isinstance(value, _NUMBERS)
        if not is_number:
            return None
    return tuple([entries[axes.index(k)] for k in range(len(axes))])


def _entries(index: Any, rank: int | None) -> list[Any] | None:
    """Return the ints and slices of an index; None if there are others."""
    entries = list(index if isinstance(index, tuple) else (index,))
    dots = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if dots:
        if len(dots) > 1 or rank is None:
            return None
        at = dots[0]
        entries[at : at + 1] = [_FULL] * (rank - len(entries) + 1)
    if not all(isinstance(entry, slice) or _is_int(entry) for entry in entries):
        return None
    return entries


def _composed_with_places(entries: list[Any], inner: Any) -> Any:
    """Return the index of elements named one by one in a row: ``x[i][places]`` is ``x[i, places]``."""
    if (
        isinstance(inner, tuple)
        or inner is None
        or any(isinstance(entry, slice) and not _is_full(entry) for entry in entries)
    ):
        return None
    ints = [entry for entry in entries if not isinstance(entry, slice)]
    return (*ints, inner) if all(map(_is_int, entries[: len(ints)])) else None


def _is_full(entry: Any) -> bool:
    return isinstance(entry, slice) and entry.start is None and entry.stop is None and entry.step is None


def _within(dim: int | None, outer: slice, inner: Any) -> Any:
    if _is_full(outer):
        return inner
    if _is_full(inner):
        return outer
    if dim is None or not _is_known(outer) or not _is_known(inner):
        return None
    known = range(dim)[outer]
    if not isinstance(inner, slice):
        return known[inner] if -len(known) <= inner < len(known) else None
    part = known[inner]
    if not len(part):
        return slice(0, 0)
    return slice(part.start, part.stop if part.stop >= 0 else None, part.step)


def _is_known(entry: Any) -> bool:
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    return all(part is None or (not isinstance(part, Tensor) and _is_int(part)) for part in parts)


def entries_of(index: Any, rank: int) -> list[Any] | None:
    """Return the numbers and slices of a basic index, one for each axis; None if it has other entries."""
    entries = _entries(index, rank)
    return None if entries is None else entries + [_FULL] * (rank - len(entries))


def steps_of(entries: list[Any] | None) -> list[tuple[int, int | None]] | None:
    """Return the axes that an index leaves of an array, each with its step, None if only the run knows that."""
    if entries is None:
        return None
    steps = [(axis, 1 if one.step is None else one.step) for axis, one in enumerate(entries) if isinstance(one, slice)]
    return [(axis, None if isinstance(step, Tensor) else int(step)) for axis, step in steps]


def are_same(one: Any, other: Any) -> bool:
    """Return whether two entries of indices are known to be the same, also where a run computes them."""
    if isinstance(one, slice) and isinstance(other, slice):
        return all(map(are_same, (one.start, one.stop, one.step), (other.start, other.stop, other.step)))
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _computed_alike(one.plain, other.plain, 4)
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return False
    return bool(one == other) and type(one) is type(other)


def _computed_alike(one: Tensor, other: Tensor, depth: int) -> bool:
    if one is other:
        return True
    known, its = one.constant_value(), other.constant_value()
    if known is not None or its is not None:
        return known is not None and its is not None and np.array_equal(known, its)
    a, b = one.node, other.node
    if a is None or b is None or a.op is not b.op or not depth or not a.inputs:
        return False
    if any(isinstance(value, np.ndarray) for value in a.attrs.values()) or a.attrs != b.attrs:
        return False
    alike = len(a.inputs) == len(b.inputs) and one.index == other.index and not (a.op.effect or a.op.stateful)
    return alike and all(_computed_alike(x, y, depth - 1) for x, y in zip(a.inputs, b.inputs))
