"""What lists that grow hold copies of, and who may tell a copy from what it was made of.

The graph carries what such a list holds: numbers and arrays. A list, dict or object that is put in is a copy in there,
and one that is taken out is a copy again. Nobody sees that as long as none of them changes, and as long as no two of
them are left behind that Python would know to be one. Whether that is so is known at the end of a trace; where it is
not plain Python runs the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from autoloop_runtime.analysis.inside import graphs_inside
from autoloop_runtime.base import nest
from autoloop_runtime.base.locations import Line, capture
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.tracers import DecidedNumber, number_of

from ...left_to_python import WORLD, LeftToPython, leave_unknown
from .array_elements import note_array, told_of
from .container_contents import CopiesOfTrace, containers_in, copied, is_as, is_instance, objects_in
from .maybe_same import maybe_same
from .staged_blocks import LOOP
from .standins import is_growing
from .taken_containers import grown_of

#: what is wrong, and the line
_Told: TypeAlias = tuple[str, Line | None]


class _Copied:
    """A list, dict or object of which a list that grows holds, or has given, a copy."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.held = None if is_instance(value) else copied(value)
        location = capture()
        self.line: Line | None = location[-1] if location else None
        #: of which list it was taken, and which were begun with it, with the graphs in which that was
        self.taken: list[tuple[Graph | None, str]] = []
        self.begun: list[tuple[Graph | None, str]] = []
        self.put: list[tuple[Graph | None, str]] = []
        #: in which graphs it was put in several times at once
        self.again: list[Graph | None] = []

    def is_changed(self) -> bool:
        """Return whether it holds other things than when it was copied; objects are watched by others."""
        return self.held is not None and not is_as(self.held, self.value)


def _of(copies: CopiesOfTrace, value: Any) -> _Copied:
    found: _Copied = copies.known.get(id(value)) or copies.known.setdefault(id(value), _Copied(value))
    return found


def _copies() -> CopiesOfTrace | None:
    graph = current_graph()
    return None if graph is None else graph.root.record(CopiesOfTrace)


def _known() -> CopiesOfTrace | None:
    graph = current_graph()
    return None if graph is None else graph.root.records.get(CopiesOfTrace)


def _parts(value: Any) -> list[Any]:
    """Return the lists, dicts and objects in a value, also those that objects hold."""
    return [*containers_in(value), *objects_in(value)]


def _is_of_every_iteration(value: Any) -> bool:
    """Return whether the body of the loop that is traced may find an object in each iteration."""
    loop = LOOP.get()
    while loop is not None:
        graph = current_graph()
        while graph is not None and graph is not loop[0]:
            graph = graph.parent
        if graph is not None:
            return WORLD.get() is not None and id(value) in WORLD.get().reached(loop[1])
        loop = loop[2]
    return False


def note_put(name: str, element: Any) -> None:
    """Note that a list that grows holds a copy of what is put in."""
    found = _parts(element)
    if not found or (copies := _copies()) is None:
        return
    graph = current_graph()
    for one in found:
        known = _of(copies, one)
        known.put.append((graph, name))
        if _is_of_every_iteration(one):
            known.again.append(graph)


def note_begun(name: str, elements: Sequence[Any]) -> None:
    """Note that a list that grows begins as one that holds some elements."""
    graph, seen = current_graph(), set[int]()
    for element in elements:
        for one in _parts(element):
            copies = _copies()
            if copies is not None:
                known = _of(copies, one)
                if (graph, name) not in known.begun:
                    known.begun.append((graph, name))
                if id(one) in seen:
                    known.again.append(graph)
                seen.add(id(one))


def note_element(name: str, leaf: Any, place: int | None = None, column: int = 0, is_taken: bool = False) -> None:
    """Note that an array is in a list that grows, at a place where that begins, or was taken out."""
    if kept(leaf) is not None or isinstance(leaf, np.ndarray):
        note_array(name, leaf, is_taken, place, column)


def note_written(name: str, leaf: Any) -> None:
    """Note that an array in a list that grows is written to in place, where others may hold it."""
    note_array(name, leaf, is_written=True)


def note_taken(name: str, element: Any) -> None:
    """Note that what a list that grows gives is a copy of what it holds."""
    for leaf in nest.flatten(element):
        note_element(name, leaf, is_taken=True)
    for one in _parts(element):
        copies = _copies()
        if copies is not None:
            _of(copies, one).taken.append((current_graph(), name))


def note_shared(name: str, other: Any) -> None:
    """Note that a list that grows gets the elements of another one; no name is given to a new list."""
    if (other.holds_containers or other.holds_arrays) and (copies := _copies()) is not None:
        copies.shared.append((current_graph(), name, other.name))


def note_given(copies_of: Iterable[Any]) -> None:
    """Note what a block works on in place of what it was given: what is put in of that is a copy of a copy."""
    known = _known()
    if known is not None and known.known:
        for one in copies_of:
            for part in _parts(one):
                if (found := known.known.get(id(part))) is not None and (found.put or found.begun):
                    found.again.append(current_graph())


def leave_asked(one: Any, other: Any) -> None:
    """Let plain Python tell whether an object is another one, if one of them is a copy, or may have been copied.

    Raises
    ------
    LeftToPython
    TypeError
    """
    known = _known()
    if known is None:
        return
    is_alike = type(one) is type(other) or is_growing(one) or is_growing(other)
    if (is_alike and any(id(value) in known.known for value in (one, other))) or _is_taken(known, one, other):
        what = "whether an object is one which a list that grows in a loop or branch holds is asked"
        leave_unknown(what)
        raise TypeError(f"{what}: compare their values [AL022]")


def _is_taken(known: CopiesOfTrace, *both: Any) -> bool:
    """Return whether two values are arrays, one of which a list that grows has given."""
    storages = [kept(one) for one in both]
    if not known.arrays or not all(
        storage is not None or isinstance(one, np.ndarray) for one, storage in zip(both, storages)
    ):
        return False
    taken = {one.storage for one in known.arrays.values() if one.is_taken and one.storage is not None}
    return not taken.isdisjoint(storages)


def leave_copied(
    value: Any, left: Iterable[Any], is_of_world: Callable[[int], bool], leaves: Sequence[Any], seen: Iterable[Any]
) -> None:
    """Leave a function to plain Python if somebody may tell the copies from what they are made of.

    Parameters
    ----------
    value, left : object, iterable
        What the function gives, and what else it leaves.
    is_of_world : callable
        Returns whether an object, by id, is one that the function has found.
    leaves : sequence
        The arguments.
    seen : iterable
        What else others see.

    Raises
    ------
    LeftToPython
    TypeError
        If there are tensors among them: plain Python would give other kinds of values.
    """
    graph, known = current_graph(), _known()
    if graph is None or known is None or not (known.known or known.shared or known.arrays):
        return
    left = list(left)
    parts = [part for one in (value, *left) for part in _parts(one)]
    parts += [grown for part in parts if (grown := grown_of(part)) is not None]
    found = {id(part): part for part in parts}
    alive = {id(one) for one in graphs_inside(graph.root)}
    lists = [one for one in found.values() if is_growing(one) and one.holds_containers]
    kept_ones = [_Kept(one, alive) for one in known.known.values()]
    for copied_one in kept_ones:
        same = maybe_same(copied_one.value) - {id(one) for one in lists}
        copied_one.is_left = any(one in found or is_of_world(one) for one in same)
    of_arrays = [one for one in found.values() if is_growing(one) and one.holds_arrays]
    told_of_arrays = told_of(known, alive, of_arrays, (value, *left, *seen)) if known.arrays else None
    both = [*lists, *[one for one in of_arrays if not one.holds_containers]]
    told_of_others = [one.told(lists, kept_ones) for one in kept_ones]
    for told in (told_of_arrays, *_told_of_lists(known, alive, both), *told_of_others):
        if told is not None:
            text, line = f"{told[0]}, which grows in a loop or branch on tensors", told[1]
            if number_of(leaves) is DecidedNumber:
                raise TypeError(f"{text}: put in a copy [AL019]")
            raise LeftToPython(text, line, of_values=True)


def _told_of_lists(known: CopiesOfTrace, alive: set[int], lists: Sequence[Any]) -> Iterator[_Told]:
    """Yield what is wrong with lists that have elements in common."""
    for graph, name, of in known.shared:
        if id(graph) in alive and lists and (name == of or len(lists) > 1):
            yield f"{repr(name) if name else 'a list'} gets the elements of {of!r}", None


class _Kept:
    """What is known of a copy in a trace that has come to its end, but for what was given up."""

    def __init__(self, found: _Copied, alive: set[int]) -> None:
        self.value, self.line, self.is_left = found.value, found.line, False
        self.put = [name for graph, name in (*found.put, *found.begun) if id(graph) in alive]
        self.taken = [name for graph, name in found.taken if id(graph) in alive]
        self.is_again = len(self.put) > 1 or any(id(graph) in alive for graph in found.again)
        self.is_again = self.is_again or not set(self.put).isdisjoint(self.taken)
        self._is_changed = bool(self.put or self.taken) and found.is_changed()

    def told(self, lists: Sequence[Any], every: Sequence[_Kept]) -> _Told | None:
        """Return how somebody may tell, who sees some lists that grow: in words, and the line; None if nobody may."""
        if not (self.put or self.taken):
            return None
        what = "list" if is_growing(self.value) else type(self.value).__name__
        name = repr((self.put or self.taken)[0])
        if self._is_changed:
            return f"a {what} changes that is, or has a copy, in {name}", self.line
        others = [one for one in every if one.is_left and one is not self and (self.taken or one.taken)]
        if self.put and (self.is_again or (self.taken and len(lists) > 1)) and (lists or others):
            return f"a {what} is more than once in {name}, or in another list, too", self.line
        if self.is_left and (lists or others):
            return f"a {what} is kept or given back, besides, that is in {name}", self.line
        return None
