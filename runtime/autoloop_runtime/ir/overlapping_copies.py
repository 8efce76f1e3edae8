"""Copies from one part of an array to another where NumPy writes over what it still has to read.

What a graph assigns was computed before. So does NumPy, with a copy, where parts overlap: but not in all its functions,
and not of parts with one axis, as long as they lie in the same direction. Those it copies from the end that is safe for
parts with the same step; of ``v[::2] = v[:3]`` it reads ``v[2]`` after it has written there. Such a copy is left to it.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..base.stand_ins import UnknownWhileTracing
from .array_storage import kept
from .array_views import layout_of_part, lies_as_known, root_of
from .basic_indices import are_same, composed, depends_on_tensors, entries_of, is_basic, steps_of
from .tensor import Tensor

#: what writes its operands to ``out`` one after the other
_IN_PIECES = (np.concatenate, np.stack)


def check_assigned(array: Any, index: Any, value: Any) -> None:
    """Leave ``array[index] = value`` to plain Python if NumPy's answer may hang on the order in which it copies.

    Raises
    ------
    UnknownWhileTracing
        If it may.
    """
    if not _may_overlap(array, value):
        return
    if (array.view_of is not None and array.view_of.is_flat) or _is_mask_of(array, index):
        check_apart(array, value)
        return
    if not is_basic(index):
        return
    step, its = _step_in(array, index), _step_in(value, ...)
    if step is _SEVERAL or _are_in_order(step, its) or _are_mirrored(array, index, value):
        return
    if not (
        not depends_on_tensors(index)
        and _is_placed(array)
        and _is_placed(value)
        and (part := layout_of_part(array.layout, index)) is not None
        and (part.ndim != 1 or _reads_in_time(part, value.layout))
    ):
        _leave()


def check_apart(array: Any, *values: Any, least: int = 2) -> None:
    """Leave to plain Python what NumPy writes to ``array`` element by element, or operand by operand, if ``values``, of
    at *least* so many elements, may lie there, too.

    Raises
    ------
    UnknownWhileTracing
        If they may.
    """
    for value in values:
        if isinstance(value, (list, tuple)):
            check_apart(array, *value, least=least)
        elif _may_overlap(array, value, least) and not (
            _is_placed(array) and _is_placed(value) and _share_nothing(array.layout, value.layout)
        ):
            _leave()


def check_pieces(function: Any, out: Any, operands: Any) -> None:
    """Leave to plain Python a function that writes its operands to ``out`` one after the other, if they may lie there.

    Raises
    ------
    UnknownWhileTracing
        If they may.
    """
    if function in _IN_PIECES:
        check_apart(out, *operands, least=1)  # one element, too, may be another operand's place


def _leave() -> NoReturn:
    raise UnknownWhileTracing(
        "a part of an array is assigned to one that overlaps with it, and NumPy may write over what it still has to "
        "read: assign a copy, x[:3].copy()"
    )


def _may_overlap(array: Any, value: Any, least: int = 2) -> bool:
    """Return whether ``value`` is an array, of at least so many elements, that may lie in the memory of ``array``."""
    storage = kept(value)
    if storage is None or value.shape.rank == 0:
        return False
    count = value.shape.num_elements()
    if count is not None and count < least:
        return False
    return storage is array.storage or not set(storage.origins()).isdisjoint(array.storage.origins())


def _is_mask_of(array: Any, index: Any) -> bool:
    """Return whether an index has a truth for each element, so that NumPy looks for the true ones while it writes."""
    entry = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if isinstance(entry, list):
        entry = np.asarray(entry) if not any(isinstance(one, Tensor) for one in entry) else None
    if not isinstance(entry, (np.ndarray, Tensor)) or entry.dtype.kind != "b":
        return False
    return len(entry.shape) == len(array.shape) if array.shape.rank is not None else True


_SEVERAL = object()


def _step_in(array: Any, index: Any) -> Any:
    """Return along which axis of which array a part with one axis lies, and with which step; ``_SEVERAL`` of one with
    more axes or none, None if that is not known."""
    found: Any = (None, 1)  # the axis of the part, counted from the last
    while True:
        if array.shape.rank is None:
            return None
        places = steps_of(entries_of(index, array.shape.rank))
        if places is None:
            return None
        if found[0] is None:
            if len(places) != 1:
                return _SEVERAL
            found = (0, 1)
        axis, step = places[found[0]]
        if step is None:
            return None
        found = (axis, found[1] * step)
        view = array.view_of
        if view is None:
            return (array.storage, *found)
        if view.axes is not None:
            found = (view.axes[axis], found[1])
            index = ...
        elif view.index is not None:
            index = view.index
        else:
            return None
        array = view.parent


def _are_in_order(step: Any, its: Any) -> bool:
    """Return whether two parts lie along one axis with the same step, or in opposite directions, which NumPy copies."""
    if step is None or its is None or its is _SEVERAL:
        return False
    return bool(step[:2] == its[:2] and (step[2] == its[2] or step[2] * its[2] < 0))


def _are_mirrored(array: Any, index: Any, value: Any) -> bool:
    """Return whether a row is assigned to a column with as many elements before where they meet, ``m[:, i] = m[i]``, or
    a column to such a row: what is there is assigned to itself."""
    (mine, to), (its, source) = _in_root(array, index), _in_root(value, ...)
    if to is None or source is None or mine is not its or len(to) != len(source):
        return False
    other = [k for k, (one, two) in enumerate(zip(to, source)) if not are_same(one, two)]
    return len(other) == 2 and are_same(to[other[0]], source[other[1]]) and are_same(to[other[1]], source[other[0]])


def _in_root(array: Any, index: Any) -> tuple[Any, list[Any] | None]:
    """Return the storage of an array, and the entries, one for each axis, of the index of a part in all of it; None if
    it has none."""
    while (view := array.view_of) is not None and index is not None:
        if view.axes is not None:
            entries = entries_of(index, len(view.axes))
            index = None if entries is None else tuple([entries[view.axes.index(k)] for k in range(len(view.axes))])
        else:
            index = None if view.index is None else composed(view.parent.shape, view.index, index)
        array = view.parent
    return array.storage, None if index is None or array.shape.rank is None else entries_of(index, array.shape.rank)


def _is_placed(array: Any) -> bool:
    """Return whether an array lies in memory as its layout does; who asks relies on it."""
    one, root = array, root_of(array)
    while one is not root:
        if depends_on_tensors(one.view_of.index):
            return False
        one = one.view_of.parent
    return array.layout is not None and (root.storage.contiguous or lies_as_known(array))


def lies_in_order(array: Any) -> bool:
    """Return whether an array's elements are known to lie one after the other, in C order; who asks relies on it."""
    layout = array.layout
    return layout is not None and bool(layout.flags.c_contiguous) and _is_placed(array)


def _share_nothing(one: Any, other: Any) -> bool:
    return _owner(one) is _owner(other) and not np.shares_memory(one, other)


def _owner(layout: Any) -> Any:
    while type(layout.base) is np.ndarray:
        layout = layout.base
    return layout


def _reads_in_time(to: Any, source: Any) -> bool:
    """Return whether NumPy, which copies ``source`` to a part with one axis, reads each element before it writes over
    it.

    It copies from the first to the last as they lie in memory; from the last to the first if ``source`` begins before
    and ends within. Whether an element is read after it was written is asked in closed form, for parts may be long.
    """
    if _owner(to) is not _owner(source):
        return False
    count, step, its = to.size, to.strides[0], source.strides[-1]
    if source.size != count or step == its or step * its < 0 or not np.shares_memory(to, source):
        return True  # one element for all, the same order, or a copy
    start, first = to.ctypes.data, source.ctypes.data
    size = to.itemsize
    if source.itemsize != size or step % size or its % size or (first - start) % size:
        return False
    if step < 0:
        start, first, step, its = start + (count - 1) * step, first + (count - 1) * its, -step, -its
    is_backward = first < start < first + count * its
    return not _meet(step // size, its // size, (first - start) // size, count, -1 if is_backward else 1)


def _meet(a: int, b: int, c: int, count: int, order: int) -> bool:
    """Return whether ``i * a == j * b + c`` for two numbers from 0 to ``count - 1``, of which ``j`` is the greater one,
    or, of *order* -1, the smaller one."""
    g = int(np.gcd(a, b))
    if c % g:
        return False
    a, b, c = a // g, b // g, c // g
    i = c * pow(a, -1, b) % b if b > 1 else 0
    j = (i * a - c) // b
    # all others are i + t * b and j + t * a: t is between these
    low, high = max(-(i // b), -(j // a)), min((count - 1 - i) // b, (count - 1 - j) // a)
    # (j - i) * order, which is to be 1 or more, changes evenly with t: the ends tell
    return low <= high and max((j - i + t * (a - b)) * order for t in (low, high)) >= 1
