"""Arrays of a call and of the world that share memory: which are one array, and which are parts of which.

A trace knows one storage for such arrays: the others are views of the whole, by a basic index or in another shape. Two
arrays that overlap, neither of which is a part of the other, are parts of the array that both are views of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.dtypes import is_own
from autoloop_runtime.ir.graph import current_graph

from ..given_arrays import ForeignArray, distance, handle_of, is_same, overlap, whole_of
from .noted import Guard
from .places import Place


@dataclass(frozen=True)
class Part:
    """How an array is a part of another; called with that it gives the view.

    Attributes
    ----------
    index : tuple
    shape : tuple of int or None
        Its shape, if it is made of the elements in order.
    axes : tuple of int or None
        How its axes are put in another order.
    """

    index: tuple[Any, ...]
    shape: tuple[int, ...] | None = None
    axes: tuple[int, ...] | None = None

    def __call__(self, whole: Any) -> Any:
        """Return the view of an array, or of what stands for one."""
        if self.axes is not None:
            return whole[self.index].transpose(self.axes)
        if self.shape is None:
            return whole[self.index]
        return whole.reshape(-1)[self.index].reshape(self.shape)

    def is_of(self, whole: Any, part: Any) -> bool:
        """Return whether one array is this part of another."""
        try:
            return is_same(self(whole), part)
        except (IndexError, ValueError):
            return False


def part_of(whole: np.ndarray[Any, Any], part: np.ndarray[Any, Any]) -> Part | None:
    """Return how an array is a part of another; None if it is none that a trace can follow."""
    if whole.dtype != part.dtype or not part.size:
        return None
    order = sorted(range(part.ndim), key=lambda axis: -abs(part.strides[axis]))
    axes = None if order == sorted(order) else tuple(map(order.index, range(part.ndim)))
    for index in _indices(whole, part.transpose(order)):
        found = Part(index, axes=axes)
        if found.is_of(whole, part):
            return found
    if whole.flags.c_contiguous and part.flags.c_contiguous:
        begin = distance(whole, part) // whole.itemsize
        found = Part((slice(begin, begin + part.size),), part.shape)
        return found if begin >= 0 and begin + part.size <= whole.size and found.is_of(whole, part) else None
    return None


def _indices(whole: np.ndarray[Any, Any], part: np.ndarray[Any, Any]) -> Iterator[tuple[Any, ...]]:
    """Give the basic indices that may name a part of an array: slices for its axes, numbers for the others."""
    starts, rest = {}, distance(whole, part)
    for axis in sorted(range(whole.ndim), key=lambda axis: -abs(whole.strides[axis])):
        stride = whole.strides[axis]
        starts[axis] = min(max(rest // stride, 0), whole.shape[axis] - 1) if stride else 0
        rest -= starts[axis] * stride
    if rest or whole.ndim > 8:
        return

    def chosen(axis: int, other: int) -> Iterator[tuple[Any, ...]]:
        if axis == whole.ndim:
            if other == part.ndim:
                yield ()
            return
        start = starts[axis]
        if other < part.ndim and (piece := _slice(start, whole, axis, part, other)) is not None:
            for others in chosen(axis + 1, other + 1):
                yield (piece, *others)
        for others in chosen(axis + 1, other):
            yield (start, *others)

    yield from chosen(0, 0)


def _slice(start: int, whole: np.ndarray[Any, Any], axis: int, part: np.ndarray[Any, Any], other: int) -> slice | None:
    """Return the slice of an axis of ``whole`` that an axis of ``part`` may be."""
    count, stride = part.shape[other], whole.strides[axis]
    if count == 1:
        return slice(start, start + 1)
    if not stride or part.strides[other] % stride:
        return None
    step = part.strides[other] // stride
    last = start + step * (count - 1)
    if not step or not 0 <= last < whole.shape[axis]:
        return None
    stop = last + (1 if step > 0 else -1)
    return slice(start, None if stop < 0 else stop, step)


class MadeParts:
    """What stands, in a trace, for arguments that are parts of others: a record of a root graph."""

    def __init__(self, parts: tuple[Any, ...] = ()) -> None:
        self.parts = parts

    def copy(self) -> MadeParts:
        """Return the same."""
        return self


def made_parts(parts: Sequence[Any]) -> None:
    """Note what stands for arguments that the trace which is made makes of others."""
    if (graph := current_graph()) is not None:
        graph.root.records[MadeParts] = MadeParts(tuple(parts))


def is_made_part(value: Any) -> bool:
    """Return whether a value stands for such an argument: what a run makes in its place is another array."""
    graph = current_graph()
    found = None if graph is None else graph.root.records.get(MadeParts)
    return found is not None and any(one is value for one in found.parts)


def guards_of_shared(arrays: Sequence[tuple[Place, Any]]) -> list[Guard]:
    """Return the guards of arrays that are parts of one, and of which a trace only knows the contents."""
    firsts: dict[int, tuple[Place, Any]] = {}
    guards = []
    for place, array in arrays:
        first, whole = firsts.setdefault(id(whole_of(array)), (place, array))
        if whole is array:
            if first is not place:
                guards.append(Guard("same", place, first))
        elif (part := part_of(whole, array)) is not None:
            guards.append(Guard("part", place, (first, part)))
        elif (part := part_of(array, whole)) is not None:
            guards.append(Guard("part", first, (place, part)))
    return guards


@dataclass(frozen=True)
class Related:
    """An argument and an array of the world that share memory.

    Attributes
    ----------
    argument, place : int
        Which input, and which of the places that are inputs.
    part : Part or None
        How one is a part of the other; None if they are one array.
    is_of_argument : bool
        Whether it is the argument that has the other as a part.
    is_one : bool
        Whether the trace has taken them for one object, and not only for the same elements of the same memory.
    """

    argument: int
    place: int
    part: Part | None
    is_of_argument: bool
    is_one: bool

    def holds(self, values: Sequence[Any], found: Sequence[Any]) -> bool:
        """Return whether they share memory so in a call."""
        one, other = values[self.argument], found[self.place]
        if type(one) is not np.ndarray or type(other) is not np.ndarray:
            return False
        if self.part is None:
            return one is other or (not self.is_one and is_same(one, other))
        return self.part.is_of(one, other) if self.is_of_argument else self.part.is_of(other, one)


#: so many arrays are compared with each, before they are put in order
_FEW = 32


class _Spans:
    """Arrays by where their memory is: of thousands few are near another."""

    def __init__(self, leaves: list[Any]) -> None:
        self._leaves = leaves
        #: where each begins and ends, when it was noted, and which it is; and all in order, where there are many
        self._of: dict[int, tuple[int, int, int, int]] = {}
        self._spans: list[tuple[int, int, int, int]] = []
        self._longest = self._count = 0

    def append(self, place: int) -> None:
        """Note an array."""
        low, high = np.lib.array_utils.byte_bounds(self._leaves[place])
        self._count += 1
        self._longest = max(self._longest, high - low)
        span = self._of[place] = low, high, self._count, place
        if self._spans:
            self._spans.insert(self._first(span), span)
        elif len(self._of) > _FEW:
            self._spans = sorted(self._of.values())

    def remove(self, place: int) -> None:
        """Forget one."""
        span = self._of.pop(place)
        if self._spans:
            del self._spans[self._first(span)]

    def every(self) -> list[int]:
        """Return all, as they were noted."""
        return list(self._of)

    def near(self, array: np.ndarray[Any, Any]) -> list[int]:
        """Return those whose memory may be that of an array, as they were noted."""
        if not self._spans:
            return self.every()
        low, high = np.lib.array_utils.byte_bounds(array)
        begin, end = self._first((low - self._longest,)), self._first((high,))
        found = sorted([(at, place) for _, last, at, place in self._spans[begin:end] if last > low])
        return [place for _, place in found]

    def _first(self, span: tuple[int, ...]) -> int:
        """Return at which place a span stands, or would."""
        low, high = 0, len(self._spans)  # a start does not load ``bisect``, which few worlds would need
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._spans[middle] < span else (low, middle)
        return low


class Relations:
    """How the arrays among leaves share memory.

    Parameters
    ----------
    leaves : list
        Arguments, and then what stands at ``places``; what the others are parts of may be added to both.
    count : int
        How many arguments there are.
    same : sequence of int
        Which leaf each argument is the same array as.
    places : list of Place

    Attributes
    ----------
    first : list of int
        Which leaf each is the same array as: the first, or itself.
    parts : dict
        Leaf -> of which leaf it is a part, and how.
    """

    def __init__(self, leaves: list[Any], count: int, same: list[int], places: list[Place]) -> None:
        self._leaves, self._count, self._places = leaves, count, places
        self.first = [*(same or range(count)), *range(count, len(leaves))]
        self.parts: dict[int, tuple[int, Part]] = {}
        #: the arrays that are no parts
        self._roots = _Spans(leaves)
        for k in range(count):
            if issubclass(type(leaves[k]), np.ndarray) and self.first[k] == k:
                self._roots.append(k)
        # where arrays begin -> those that are not the same as one before them: a large world has hundreds
        self._beginning: dict[int, list[int]] = {}
        for here in self._roots.every():
            self._at(here).append(here)
        for here in range(count, len(leaves)):
            if isinstance(leaves[here], np.ndarray) and not self._is_known(here):
                self._compare(here)
                self._at(here).append(here)

    def _at(self, here: int) -> list[int]:
        """Return the arrays noted that begin where one does."""
        return self._beginning.setdefault(self._leaves[here].__array_interface__["data"][0], [])

    def _is_known(self, here: int) -> bool:
        """Return whether an array is the same as one before it, which is noted."""
        leaf = self._leaves[here]
        for other in self._at(here):
            if is_same(self._leaves[other], leaf):
                self.first[here] = other
                return True
        return False

    def _compare(self, here: int) -> None:
        """Note how one array shares memory with those before it, of which none is a part of another."""
        leaf = self._leaves[here]
        for other in self._roots.near(leaf):
            one = self._leaves[other]
            if leaf.flags.owndata and one.flags.owndata:
                continue
            if not (np.may_share_memory(leaf, one) and overlap(leaf, one)):
                continue
            if (part := part_of(one, leaf)) is not None:
                self.parts[here] = other, part
                return
            if (part := part_of(leaf, one)) is not None:
                self._take(other, here, part)
            else:
                self._of_one_base(here, other)
                if here in self.parts:
                    return
        self._roots.append(here)

    def _take(self, other: int, whole: int, part: Part) -> None:
        """Note that an array, with its parts, is a part of another."""
        self._roots.remove(other)
        self.parts[other] = whole, part
        for inner, (outer, _) in list(self.parts.items()):
            if outer == other:
                found = part_of(self._leaves[whole], self._leaves[inner])
                if found is not None:
                    self.parts[inner] = whole, found

    def _of_one_base(self, here: int, other: int) -> None:
        """Let the array that two are views of be an input too."""
        base = whole_of(self._leaves[here])
        mine, its = part_of(base, self._leaves[here]), part_of(base, self._leaves[other])
        if base is not whole_of(self._leaves[other]) or mine is None or its is None or not is_own(base.dtype):
            return
        place, array = self._places[here - self._count], self._leaves[here]
        while array is not base:
            place, array = place.attribute("base"), array.base
        self._places.append(place)
        self._leaves.append(base)
        self.first.append(len(self._leaves) - 1)
        self._roots.append(len(self._leaves) - 1)
        self._at(len(self._leaves) - 1).append(len(self._leaves) - 1)
        self.parts[here] = len(self._leaves) - 1, mine
        self._take(other, len(self._leaves) - 1, its)

    @property
    def earlier(self) -> list[int]:
        """Which leaf before it each is the same array as; itself where it is none, or that comes later."""
        return [min(first, here) for here, first in enumerate(self.first)]

    @property
    def several(self) -> list[Place]:
        """The places of arrays that are not the same as one before them."""
        own = range(self._count, len(self.first))
        return [place for k, place in zip(own, self._places) if self.first[k] == k and _is_first(self._leaves[k])]

    def make_parts(self, symbolic: list[Any]) -> None:
        """Put, among what stands for the leaves, views in place of those that are parts."""
        for here, (whole, part) in self.parts.items():
            symbolic[here] = part(symbolic[whole])
        for here, first in enumerate(self.first):
            if first != here:
                symbolic[here] = handle_of(symbolic[first], self._leaves[first], self._leaves[here])


def _is_first(leaf: Any) -> bool:
    """Return whether a leaf is an array, and if it is another library's none that is told to be one before it."""
    return leaf.again is None if isinstance(leaf, ForeignArray) else isinstance(leaf, np.ndarray)
