"""Arrays in lists that grow: the graph has their values, and a run makes an array of its own for each element.

That is what plain Python has where each iteration puts in an array that it has made, once, and nobody sees it
elsewhere. Where an array is put in twice, was there before, or is seen besides, the list of a run is given that very
array, if it is known where it stands (``joined_elements``); else plain Python runs the function, if others see the list
in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.locations import capture
from autoloop_runtime.ir.array_storage import WHERE_MADE, Storage
from autoloop_runtime.ir.graph import Graph, current_graph

from .array_choices import arrays_in, every_memory, is_new, may_be, memory_of, place_of
from .container_contents import CopiesOfTrace
from .joined_elements import Join, JoinedElements, ListedArray, are_writeable
from .staged_blocks import LOOP


def _loop() -> Graph | None:
    """Return the body of the innermost loop that is traced."""
    graph, loop, bodies = current_graph(), LOOP.get(), list[Any]()
    while loop is not None:
        bodies.append(loop[0])
        loop = loop[2]
    while graph is not None and not any(graph is one for one in bodies):
        graph = graph.parent
    return graph


def note_array(
    name: str, array: Any, is_taken: bool = False, place: int | None = None, column: int = 0, is_written: bool = False
) -> None:
    """Note an array that a list is given, or gives.

    Parameters
    ----------
    name : str
        What messages call the list.
    array : object
    is_taken : bool, optional
        Whether the list gives it.
    place : int, optional
        Of one with which a list begins: where it stands.
    column : int, optional
        Which leaf of the element it is.
    is_written : bool, optional
        Whether it stands for an element that was written to in place.
    """
    graph, storage = current_graph(), memory_of(array)
    if graph is None or not (storage is not None or (isinstance(array, np.ndarray) and array.ndim)):
        return
    copies = graph.root.record(CopiesOfTrace)
    known = copies.arrays
    location = capture()
    is_made = storage is None and any(told(array) for told in WHERE_MADE)
    made = ListedArray(
        name, storage, array, graph, _loop(), location[-1] if location else None, is_taken, is_made, is_written, place,
        column,
    )  # fmt: skip
    key: Any = len(known) if place is None else (name, place, column)
    if place is not None and (other := known.get(key)) is not None and other.array is not array:
        copies.moved.append(other.graph)  # two lists have one name
    known[key] = made


def note_beginning(name: str, count: int) -> None:
    """Note with how many elements a list that grows begins."""
    graph = current_graph()
    if graph is not None:
        graph.root.record(CopiesOfTrace).begun.append((graph, name, count))


def note_moved() -> None:
    """Note that in a list that grows elements are not put at the end alone."""
    graph = current_graph()
    if graph is not None:
        graph.root.record(CopiesOfTrace).moved.append(graph)


def told_of(known: CopiesOfTrace, alive: set[int], lists: Sequence[Any], seen: Iterable[Any]) -> tuple[str, Any] | None:
    """Return how somebody may tell the arrays of lists from those that were put in: in words, and the line.

    Parameters
    ----------
    known : CopiesOfTrace
    alive : set of int
        The graphs that were not given up, by id.
    lists : sequence
        The lists that others see.
    seen : iterable
        The arrays that others see.
    """
    every = [one for one in known.arrays.values() if id(one.graph) in alive]
    visible = list(arrays_in([list(seen)]))
    around = {inner for one in visible if (mine := memory_of(one)) is not None for inner in may_be(mine)}
    real = {place_of(one) for one in visible if isinstance(one, np.ndarray)}
    taken = {one.storage: one for one in every if one.is_taken and one.storage is not None}
    if not lists and not any(one.is_written for one in every):
        found = [taken[one] for one in around if one in taken]
        if len(found) < 2:
            return None
        return f"elements of {found[0].name!r} are kept or given back, which may be one", found[0].line
    first = next(_told_alone(every, taken, around, real), None)
    if first is None:
        return _told_read_only([one for one in every if not one.is_taken], lists)
    joined = _joined(known, alive, lists, every, visible, around)
    if joined is None:
        return f"an array is in {first.name!r}, which may be there twice, or elsewhere, too", first.line
    for grown in lists:
        grown.known = tuple(joined.get(grown.name, ()))
    return _told_read_only([one for one in every if not one.is_taken and one.place is None], lists)


def _told_read_only(every: Sequence[ListedArray], lists: Sequence[Any]) -> tuple[str, Any] | None:
    """Let arrays of lists be read-only as those are that were put in; tell in words where only some of these are."""
    put: dict[tuple[str, int], list[bool]] = {}
    for one in every:
        put.setdefault((one.name, one.column), []).extend(are_writeable(one))
    for grown in lists:
        for column in range(len(grown.kinds)):
            found = put.get((grown.name, column), [])
            if all(found) and not (found and column in grown.read_only):
                continue
            if any(found):
                line = next(one.line for one in every if (one.name, one.column) == (grown.name, column))
                return f"some of the arrays in {grown.name!r} are read-only, and others are not", line
            grown.read_only |= {column}
    return None


def _joined(
    known: CopiesOfTrace, alive: set[int], lists: Sequence[Any], every: Sequence[ListedArray], visible: Sequence[Any],
    around: set[Storage],
) -> dict[str, list[Join]] | None:  # fmt: skip
    """Return by the names of lists the arrays that those of a run are given; None if that is not enough."""
    graph, names = current_graph(), {one.name for one in lists}
    begun = {(name, count) for of, name, count in known.begun if id(of) in alive}
    put = [one for one in every if not one.is_taken]
    is_moved = any(id(of) in alive for of in (*known.moved, *[of for of, *_ in known.shared]))
    if (
        graph is None
        or is_moved
        or len(names) < len(lists)
        or len(dict(begun)) < len(begun)
        or not {one.name for one in put} <= names <= dict(begun).keys()
        or any(one.holds_containers for one in lists)
        or any(one.is_written or (one.is_taken and one.storage in around) for one in every)
    ):
        return None
    taken = {one.storage for one in every if one.is_taken}
    if any(not taken.isdisjoint(every_memory(one.array)) for one in put):
        return None
    return JoinedElements(put, dict(begun), graph.root).of(visible)


def _told_alone(
    every: Sequence[ListedArray], taken: dict[Storage, ListedArray], around: set[Storage], real: Collection[Any]
) -> Iterator[ListedArray]:
    """Yield what is not of its iteration alone, or is seen elsewhere, or is there twice."""
    times, rows = Counter[Any](), set[Any]()
    twice = _overlapping([one.array for one in every if one.storage is None])
    for one in every:
        if one.is_taken or one.is_written:
            if one.storage in around and not one.is_written:
                yield one
            continue
        if one.storage is None:  # rows of one array, as runs give elements, are several
            keys: set[Any] = {place_of(one.array)}
            is_alone = (one.is_made_here or one.loop is None) and keys.isdisjoint(real) and id(one.array) not in twice
            keys -= rows
            rows |= keys
        else:
            keys = every_memory(one.array)
            is_alone = (
                keys.isdisjoint(around)
                and keys.isdisjoint(real)
                and keys.isdisjoint(taken)
                and is_new(one.storage, one.loop)
            )
        times.update(keys)
        if not is_alone or any(times[key] > 1 for key in keys):
            yield one


def _overlapping(arrays: Iterable[np.ndarray[Any, Any]]) -> set[int]:
    """Return which of some arrays, by id, may have memory in common with another one that stands among them."""
    found, end, last = set[int](), 0, 0
    for low, high, mine in sorted((*np.lib.array_utils.byte_bounds(array), id(array)) for array in arrays):
        if low < end:
            found |= {mine, last}
        if high >= end:
            end, last = max(high, low + 1), mine
    return found
