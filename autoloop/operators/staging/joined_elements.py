"""Arrays in lists that grow which others have, too: what a run puts in their places.

What a list holds before a loop are known arrays. Of those that a loop puts in, one an iteration, the first may be what
a variable held before it, and the last is what the variable holds after it. The list of a run is given these arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.locations import Line
from autoloop_runtime.ir.array_layouts import is_writeable
from autoloop_runtime.ir.array_storage import Choice, Storage, kept
from autoloop_runtime.ir.array_views import View, root_of
from autoloop_runtime.ir.graph import Graph

from ...returned_views import chain_of, views_of
from .array_choices import Memory, every_memory, is_new, place_of
from .told_arrays import is_untold


@dataclass(frozen=True, eq=False)
class ListedArray:
    """An array that was put into a list, or taken out of one.

    Attributes
    ----------
    name : str
        What messages call the list.
    storage : Storage or None
        Its memory; None of a real array.
    array : object
    graph, loop : Graph or None
        Where that was, and the body of the innermost loop around it.
    line : Line or None
        The user's.
    is_taken : bool
        Whether it was taken out.
    is_made_here : bool
        Of a real array, whether it was made where it is put in.
    is_written : bool
        Whether this one stands, in the list, for what it was before it was written to.
    place, column : int or None
        Where it stands in a list that begins with it, and which leaf of the element it is.
    """

    name: str
    storage: Storage | None
    array: Any
    graph: Graph | None
    loop: Graph | None
    line: Line | None
    is_taken: bool = False
    is_made_here: bool = False
    is_written: bool = False
    place: int | None = None
    column: int = 0


@dataclass(frozen=True, eq=False)
class Join:
    """An array that stands in a list.

    Attributes
    ----------
    place, column : int
        Which element, those of the end counted from there, and which leaf of it.
    array : object
    more_than : int
        There, if the list has more elements.
    """

    place: int
    column: int
    array: Any
    more_than: int = 0


class _Column:
    """What is put in as one leaf of the elements of a list: first, in the one loop, and after that.

    Parameters
    ----------
    notes : sequence of ListedArray
    count : int
        With how many elements the list begins.
    root : Graph
    """

    def __init__(self, notes: Sequence[ListedArray], count: int, root: Graph) -> None:
        self.count = count
        self.first = [one for one in notes if one.place is not None]
        later = [one for one in notes if one.place is None]
        #: those of a loop, one an iteration
        self.inner = [one for one in later if one.graph is not root]
        self.last = [one for one in later if one.graph is root]
        bodies = {id(one.loop) for one in self.inner}
        #: whether it is told where each of them stands
        self.is_told = (
            len(self.inner) == len(bodies) == 1
            and self.inner[0].graph is self.inner[0].loop
            and self.inner[0].loop is not None
            and self.inner[0].loop.parent is root
            and (not self.last or later.index(self.inner[0]) == 0)
        )
        self.is_sound = all(one.graph is root and one.loop is None for one in (*self.first, *self.last))
        self.is_sound = self.is_sound and (self.is_told or not self.last)

    @property
    def looped(self) -> int:
        """How many elements there are if the loop makes no turn."""
        return self.count + len(self.last)

    def entry(self) -> Any:
        """Return the array of before the loop that is the first of those of the loop; None if there is none."""
        choice = _begun(self.inner[0]) if self.is_told else None
        return None if choice is None else choice.arrays()[0]

    def joins(self) -> list[Join] | None:
        """Return what stands where, but for what a variable holds after the loop; None if that is not known."""
        entry, known = self.entry(), [one.array for one in (*self.first, *self.last)]
        for one in known if entry is None else [*known, entry]:
            if not (_is_definite(one) or (_left(one) and not is_untold(one))):
                return None
        joins = [Join(one.place, one.column, one.array) for one in self.first if one.place is not None]
        if entry is not None:
            if (first := _seen_in(entry, self.inner[0].array)) is None:
                return None
            joins.append(Join(self.count, self.inner[0].column, first, self.looped))
        return joins + [Join(place - len(self.last), one.column, one.array) for place, one in enumerate(self.last)]


def _begun(note: ListedArray) -> Choice | None:
    """Return the choice of what a variable of the loop around holds when an iteration begins, if that is put in."""
    storage = kept(note.array)
    choice = None if storage is None else storage.choice
    return choice if choice is not None and choice.begun is note.loop else None


def are_writeable(note: ListedArray) -> list[bool]:
    """Return whether one that is put in may be written to, in the iterations of which that is known."""
    if isinstance(note.array, np.ndarray):
        return [is_writeable(note.array)]
    is_so, choice = note.array.is_writeable, _begun(note)
    if is_so or choice is None:
        return [is_so]
    # that of before the loop is put in itself; the others are read-only as such, or by the view that is made of them
    before, after = choice.arrays()
    return [is_so, _may_write(after)] if not _may_write(before) else [is_so]


def _may_write(array: Any) -> bool:
    return is_writeable(array) if isinstance(array, np.ndarray) else getattr(array, "is_writeable", True)


def _seen_in(entry: Any, put: Any) -> Any:
    """Return what is put in first: what a variable held before the loop, or that view of it which the body makes; None
    if only a run knows it, or may not be able to make it where the loop makes no turn."""
    views = chain_of(put)
    is_sure = root_of(put).shape.is_fully_defined() or all(map(_is_of_any, views))
    if views and not (is_sure and views_of(put) is not None and _is_definite(entry)):
        return None
    return _same_view(put, entry)


def _same_view(put: Any, entry: Any) -> Any:
    return entry if put.view_of is None else put.seen_in(_same_view(put.view_of.parent, entry))


def _is_of_any(view: View) -> bool:
    """Return whether arrays of all extents have such a view."""
    index = view.index if isinstance(view.index, tuple) else (view.index,)
    return view.index is not None and all(one is None or one is Ellipsis or isinstance(one, slice) for one in index)


def _left(array: Any) -> Sequence[Any] | None:
    """Return what a variable held before a loop, and what its body left, if an array is what it holds after that."""
    storage = kept(array)
    if storage is None or storage.choice is None or not storage.choice.is_left or array.view_of is not None:
        return None
    return storage.choice.arrays()


def _is_definite(array: Any) -> bool:
    """Return whether it is known which array one is, and that it is no part of another."""
    if isinstance(array, np.ndarray):
        return array.base is None
    storage = kept(array)
    return (
        storage is not None
        and array.view_of is None
        and storage.choice is None
        and len(storage.origins()) == 1
        and not storage.own_sources
    )


def _new_ones(note: ListedArray) -> set[Memory]:
    """Return the memory that iterations make for what they put in."""
    choice = _begun(note)
    return every_memory(note.array if choice is None else choice.arrays()[1])


class JoinedElements:
    """The arrays that lists of a run are given, where that makes of them those of plain Python.

    Parameters
    ----------
    notes : sequence of ListedArray
        What was put into the lists.
    counts : mapping of str to int
        With how many elements they begin.
    root : Graph
    """

    def __init__(self, notes: Sequence[ListedArray], counts: dict[str, int], root: Graph) -> None:
        parts: dict[tuple[str, int], list[ListedArray]] = {}
        for one in notes:
            parts.setdefault((one.name, one.column), []).append(one)
        self._columns = {key: _Column(found, counts[key[0]], root) for key, found in parts.items()}

    def of(self, visible: Sequence[Any]) -> dict[str, list[Join]] | None:
        """Return them by the name of the list; None if they do not tell of all arrays which are one.

        Parameters
        ----------
        visible : sequence
            The arrays that others see besides.
        """
        columns = self._columns.values()
        if not all(one.is_sound for one in columns) or not self._are_apart():
            return None
        found = {name: list[Join]() for name, _ in self._columns}
        for (name, _), column in self._columns.items():
            if (joins := column.joins()) is None:
                return None
            found[name] += joins
        put = [join.array for joins in found.values() for join in joins]
        real = {place_of(one) for one in visible if isinstance(one, np.ndarray)}
        if any(isinstance(one, np.ndarray) and place_of(one) in real for one in put):
            return None
        others = {id(one): one for one in (*visible, *put)}.values()
        for (name, _), column in self._columns.items():
            for one in others:
                if (told := self._told(column, one, every_memory(one))) is None:
                    return None
                found[name] += told
        return found

    def _are_apart(self) -> bool:
        """Return whether each iteration makes, and puts in once, what is new."""
        seen = set[Memory]()
        for column in self._columns.values():
            for note in column.inner:
                storage, made = kept(note.array), _new_ones(note)
                if storage is None or not is_new(storage, note.loop) or not made.isdisjoint(seen):
                    return False
                if _begun(note) is not None and not column.is_told:
                    return False
                seen |= made
        return True

    @staticmethod
    def _told(column: _Column, array: Any, memory: set[Memory]) -> list[Join] | None:
        """Return where, besides, one stands that others have in a column; None if only the run knows."""
        left = _left(array)
        joins: list[Join] = []
        for note in column.inner:
            if memory.isdisjoint(_new_ones(note)):
                continue
            if left is None or not column.is_told:
                return None
            after = left[1]
            begun = _begun(note)
            if begun is None and kept(after) is kept(note.array) and after.view_of is note.array.view_of is None:
                joins.append(Join(-1 - len(column.last), note.column, array, column.looped))
            elif begun is None or begun.arrays()[1] is not after:
                return None
        mine = place_of(array)
        for note in (*column.first, *column.last):
            its = place_of(note.array)
            if its not in memory or its == mine:
                continue
            if left is None or place_of(left[0]) != its or not _is_definite(left[0]):
                return None
            if isinstance(its, Storage) and its.argument is not None:
                continue  # of what is an argument in some runs only a run gives a copy
            if not joins or note.place != column.count - 1 or column.last:
                return None
            joins.append(Join(-1, note.column, array))
        entry = column.entry()
        if entry is not None and place_of(entry) in memory and place_of(entry) != mine:
            return joins if left is not None and place_of(left[0]) == place_of(entry) else None
        return joins
