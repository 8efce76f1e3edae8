"""The lists, dicts and sets that a staged block works on: they hold its values while it is traced.

So whatever else holds one of them sees in the block what the block does to it. When the block is traced they hold
again what they held.
"""

from __future__ import annotations

import itertools
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided

from ...left_to_python import refuse_unknown
from .container_contents import COPIED_DICTS, copied, elements, fill, mapped
from .maybe_same import begin_block, drop, end_block
from .standins import StandIn, is_growing, opened

#: the containers themselves that a block works on
TAKEN = (list, dict, set, deque, *COPIED_DICTS)
#: containers that stand deeper in one another are taken to have no end: no call of Python's goes down that far
_DEEPEST = 100


class Taken:
    """The containers that a block works on, and what they held."""

    def __init__(self) -> None:
        self._held: list[tuple[Any, Any]] = []
        self._pairs: tuple[list[Any], list[Any]] = [], []
        self._own_pairs: list[Any] = []
        #: lists that grow in the block, and what tells of that in them
        self._moved: list[tuple[list[Any], Any]] = []
        #: where containers stand in the block's values when it begins, and what stands for each of them there
        self._inside: list[list[tuple[tuple[Any, ...], Any, Any]]] = []

    def begin(self) -> None:
        """Forget what an earlier trace of the block has shown."""
        drop(self._own_pairs)

    def enter(self, before: Sequence[Any], values: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """Return what a trace of the block works on: the containers of ``before``, which hold ``values`` until
        :meth:`put_back` is called."""
        assert not self._held
        places = [dict(places_in(one)) for one in before]
        inside = {id(one): one for found in places for one in found.values()}
        self._held = [(one, one.alike() if is_growing(one) else one.copy()) for one in inside.values()]
        given = tuple(before)
        if values is not None:
            done: dict[int, bool] = {}
            given = tuple(_entered(one, value, done) for one, value in zip(before, values, strict=True))
        self._moved = [(one, one[0]) for one, _ in self._held if grown_of(one) is not None]
        self._pairs = begin_block()
        now = [dict(places_in(one)) for one in given]
        self._inside = [
            [(place, one, mine.get(place)) for place, one in found.items()]
            for found, mine in zip(places, now, strict=True)
        ]
        return given

    @contextmanager
    def holding(self, before: Sequence[Any], values: Sequence[Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """Give what :meth:`enter` returns; the containers are put back at the end."""
        given = self.enter(before, values)
        try:
            yield given
        finally:
            self.put_back()

    def put_back(self) -> None:
        """Let the containers that the block works on hold what they held."""
        for one, held in self._held:
            if is_growing(one):
                one.become(held)
            else:
                fill(one, held)
        self._held = []
        self._own_pairs += end_block(*self._pairs)

    def put_back_what(self, is_displaced: Callable[[Any], bool]) -> None:
        """Let lists that were to grow hold what they held where a block has put others in the place of what grows."""
        self.check_moved()
        held = {id(one): was for one, was in self._held}
        for one, moved in self._moved:
            if is_displaced(moved.grown):
                fill(one, held[id(one)])
        self._held = []

    def check_moved(self) -> None:
        """Refuse that a list, which is to grow under another name, has changed under one of its own."""
        for one, moved in self._moved:
            if len(one) != 1 or one[0] is not moved:
                moved.refuse()

    def left(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """Return copies of what a block leaves; lists whose elements are since it began in others, which grow, are
        those."""
        begun = {id(moved) for _, moved in self._moved}

        def now(value: Any) -> Any:
            grown = grown_of(value)
            return mapped(value, now) if grown is None or id(value[0]) in begun else grown

        return tuple(copied(now(one)) for one in values)

    def gone(self, k: int, now: Any) -> list[Any]:
        """Return the containers in the ``k``-th value that stand there no more when it is ``now``, and those that have
        stood for them."""
        after = dict(places_in(now))
        return [one for place, was, mine in self._inside[k] if after.get(place) is not mine for one in (was, mine)]


def places_in(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield where the containers are that a value holds, itself included, and these."""
    kind = type(value)
    if kind in TAKEN or is_growing(value):
        yield place, value
    elif not isinstance(value, tuple):
        return
    if isinstance(value, dict):
        for key, one in value.items():
            yield from places_in(one, (*place, key))
    elif isinstance(value, (list, tuple, deque)):
        for k, one in enumerate(elements(value)):
            yield from places_in(one, (*place, k))


def leave_endless(names: Iterable[str], values: Iterable[Any]) -> None:
    """Let plain Python run the function if a container in the values of a block holds itself: nobody comes to the end
    of what it holds, and no graph has such.

    Raises
    ------
    LeftToPython, TypeError
    """
    for name, value in zip(names, values, strict=False):
        if _holds_containers(value) and _is_endless(value):
            refuse_unknown(
                f"{name!r} is a {type(value).__name__} that holds itself, or what does, in a loop or branch on tensors",
                "let an object hold it, o.held = o",
            )


def _holds_containers(value: Any) -> bool:
    return (type(value) in TAKEN and type(value) is not set) or isinstance(value, tuple)


def _is_endless(value: Any) -> bool:
    done, around = set[int](), {id(value)}
    todo = [(value, iter(elements(value)))]
    while todo:
        one, rest = todo[-1]
        inner = next(filter(_holds_containers, rest), None)
        if inner is None:
            todo.pop()
            around.discard(id(one))
            done.add(id(one))
        elif id(inner) in around or len(todo) == _DEEPEST:
            return True
        elif id(inner) not in done:
            around.add(id(inner))
            todo.append((inner, iter(elements(inner))))
    return False


def _entered(original: Any, value: Any, done: dict[int, bool]) -> Any:
    """Return ``value`` in the containers of ``original``, as far as these can hold it, and in copies of its others.

    ``done`` tells by id of each of these lists whether it grows.
    """
    kind = type(original)
    if value is original:
        return value
    if kind is list and id(original) in done and (done[id(original)] or is_growing(value)):
        refuse_unknown("a list has two names in a loop or branch on tensors in which it grows", "use one of them only")
    if kind is list:
        done[id(original)] = is_growing(value)
    if kind is list and is_growing(value):
        grown = value.alike()
        original[:] = [moved_to(value.name, grown, original)]
        return grown
    if kind is not type(value):
        return copied(value)
    if is_growing(value):
        if original.structure != value.structure:
            return value.copy()
        original.become(value)
        return original
    if kind is set:
        fill(original, value)
        return original
    if isinstance(value, dict) and kind in TAKEN and list(original) == list(value):
        fill(original, {key: _entered(one, value[key], done) for key, one in original.items()})
        return original
    if isinstance(value, (list, deque, tuple)) and len(original) == len(value):
        parts = [_entered(one, its, done) for one, its in zip(original, value, strict=True)]
        if kind in (list, deque):
            fill(original, parts)
            return original
        if all(map(operator.is_, parts, original)):
            return original
        return nest.like(value, parts)
    return copied(value)


def ids_in(values: Sequence[Any]) -> set[int]:
    """Return the containers that values hold, by id."""
    return {id(one) for value in values for _, one in places_in(value)}


def seen_elsewhere(values: tuple[Any, ...]) -> frozenset[int]:
    """Return the places of values that hold containers which somebody else holds than the caller's variables."""
    return frozenset(k for k, counts in enumerate(_counts(values)) if any(map(operator.gt, counts, _ALONE)))


def _counts(values: tuple[Any, ...]) -> list[list[int]]:
    """Return of each value how many references there are to it and to each container in it."""
    found = [[one for _, one in places_in(value)] for value in values]
    return [[sys.getrefcount(one) for one in inside] for inside in found]


class _Alone:
    """How many references there are to a container that only a variable holds, and to those inside it."""

    def __init__(self) -> None:
        value: Any = [[]]
        self._first, self._others = self._asked(value)

    @staticmethod
    def _asked(*values: Any) -> list[int]:
        return _counts(values)[0]

    def __iter__(self) -> Iterator[int]:
        return itertools.chain([self._first], itertools.repeat(self._others))


def grown_of(value: Any) -> Any:
    """Return the list that grows in the place of one that holds nothing but what tells of that; None of all others."""
    if type(value) is not list or len(value) != 1 or not isinstance(value[0], StandIn):
        return None
    # another list may hold what was taken out of that one: it is neither
    first: Any = opened(value[0])  # what may be None would have to be there, were it asked itself
    return getattr(first, "grown", None) if getattr(first, "holder", None) is value else None


def moved_to(name: str, grown: Any, holder: list[Any]) -> Any:
    """Return what tells, in a list, that its elements are in another one now."""
    with undivided():
        from .moved_lists import Moved

    return Moved(name, grown, holder)


_ALONE = _Alone()
