"""Lists, dicts and sets that a staged block takes: it works on these, which hold its values while it is traced.

So whatever else holds one of them sees in the block what the block does to it. When the block is traced they hold
again what they held, and when it is done what it gives.

A block may change a container in place, which every name for it sees, or let the name stand for another one, which
leaves the first as it is. What comes out of the block has the values of either; which it was, comparing objects tells.
No graph carries which keys there are, and in which order: where that depends on the block only plain Python knows it.
The same is asked of each container in another one.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.composite import composite_of

from ...left_to_python import leave_unknown
from .container_contents import (
    CONTAINERS,
    COPIED_DICTS,
    Standing,
    containers_in,
    copied,
    fill,
    has_objects,
    is_as,
    is_instance,
)
from .maybe_same import (
    are_maybe_same,
    are_some,
    check_moved,
    lose,
    lose_all,
    lose_changed,
    may_be,
    may_hold_containers,
    note_moved,
    part_inside,
)
from .raising import is_return_value
from .standins import Maybe, StandIn, is_growing, opened
from .taken_containers import TAKEN, Taken, leave_endless, moved_to


class Rebound:
    """Names that stand for another container after a block, or after one of its sides, than before."""

    def __init__(self) -> None:
        self._rebound: dict[str, list[Any]] = {}
        #: what else names stand for after the block, or after one of its sides, that stood for no container before
        self._set: dict[str, list[Any]] = {}
        self._changed: set[str] = set()
        #: by id the containers in the place of which the block has put others
        self._displaced: dict[int, Any] = {}
        #: by id the values that the block was given, and their places among these
        self._given: dict[int, tuple[int, Any]] = {}
        #: where values hold one container, ``SharedPlaces``; None as long as none holds any
        self._places: Any = None
        self.taken = Taken()

    def begin(self) -> None:
        """Forget what an earlier trace of the block has shown."""
        self._rebound.clear()
        self._set.clear()
        self._changed.clear()
        self._given.clear()
        self._displaced.clear()
        self.taken.begin()
        if self._places is not None:
            self._places.begin()

    def _places_in(self, values: Iterable[Any]) -> Any:
        if self._places is None and any(may_hold_containers(one) or is_instance(one) for one in values):
            with undivided():  # which few blocks need
                from .places_of_containers import SharedPlaces
            self._places = SharedPlaces()
        return self._places

    def begun_places(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Note where the values that a block begins with hold one container."""
        if (places := self._places_in(values)) is not None:
            places.begun(names, values)

    @contextmanager
    def at_work(
        self, names: Sequence[str], before: Sequence[Any], inside: Sequence[Any] | None = None,
        placed: Sequence[int] | None = None,
    ) -> Iterator[AtWork]:  # fmt: skip
        """Let the containers of values hold what a trace of the block, or of one of its sides, makes of them.

        Parameters
        ----------
        names, before : sequence
            What it begins with.
        inside : sequence, optional
            What stands for that in the trace, where that is something else.
        placed : sequence of int, optional
            Which of the values are asked, in which order, what they have in common; all if left out.
        """
        leave_endless(names, before)
        held = tuple(map(copied, before)) if inside is None else tuple(inside)
        with self.taken.holding(before, inside) as given:
            yield AtWork(self, names, held, given, range(len(names)) if placed is None else placed)

    def places_in(self, names: Sequence[str], values: Sequence[Any]) -> Any:
        """Return where the values that a block works on hold one container when it begins, for `note_places`."""
        places = self._places_in(values)
        return ([], []) if places is None else places.places_in(names, values)

    def note_places(self, begun: Any, names: Sequence[str], left: Sequence[Any], new: Mapping[str, Any]) -> None:
        """Note where the values of a block hold one container, at the end of a side or of a loop's body."""
        if (places := self._places_in((*left, *new.values()))) is not None:
            places.share(begun, names, left, new)

    def tell_places(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Note, after a block, of which containers there are several now where there may be one."""
        if self._places is not None:
            self._places.tell(names, values)

    def compare(self, names: Sequence[str], before: Sequence[Any], given: Sequence[Any], left: Sequence[Any]) -> None:
        """Note what became of containers.

        Parameters
        ----------
        names : sequence of str
        before, given, left : sequence
            Copies of the values, those that the block took, and what it left under the names.

        Raises
        ------
        TypeError
            If the keys of a dict stand in another order, which a graph does not know of.
        """
        self.taken.check_moved()
        check_moved()
        if are_some():
            lose_changed()
        self._given = {id(one): (k, one) for k, one in enumerate(given)}
        for k, (name, original, one, now) in enumerate(zip(names, before, given, left, strict=True)):
            if isinstance(now, dict) and isinstance(original, dict):
                check_order(name, original, now)
            if isinstance(one, CONTAINERS):
                if isinstance(now, CONTAINERS) and now is not one:
                    self._rebound.setdefault(name, []).append(now)
                if not is_as(one, original):
                    self._changed.add(name)
            elif now is not one and may_hold_containers(_there(now)):
                self._set.setdefault(name, []).append(now)
            self._displaced.update((id(gone), gone) for gone in self.taken.gone(k, now))

    def add(self, values: Mapping[str, Any]) -> None:
        """Note what a block lets names stand for that it has not been given."""
        for name, one in values.items():
            self._set.setdefault(name, []).append(one)

    def let_out(self, before: Sequence[Any]) -> None:
        """Let what stands in a loop for what the first iteration is given be that, the values from before the loop."""
        for found in (*self._rebound.values(), *self._set.values()):
            known = [self._given.get(id(one)) for one in found]
            found[:] = [one if mine is None else before[mine[0]] for mine, one in zip(known, found, strict=True)]

    def refuse_shared(self, names: Sequence[str], before: Sequence[Any]) -> None:
        """Raise if a container that the block changes may be one that has another name in it."""
        held = [(name, one) for name, one in zip(names, before, strict=True) if isinstance(one, CONTAINERS)]
        changed = [(name, one) for name, one in held if name in self._changed] if are_some() else []
        for name, original in changed:
            for other, one in held:
                if one is not original and are_maybe_same(original, one):
                    message = (
                        f"{other!r} and {name!r} may be one {type(original).__name__}, which a loop or branch on "
                        f"tensors changes: change a copy, {name}.copy() [AL022]"
                    )
                    leave_unknown(message)
                    raise TypeError(message)

    @staticmethod
    def is_changed(value: Any, held: Any) -> bool:
        """Return whether a value's containers hold others than a copy of it does."""
        return (isinstance(value, (tuple, *TAKEN)) or is_growing(value)) and not is_as(value, held)

    def is_displaced(self, one: Any) -> bool:
        """Return whether the block has put another container in the place of one."""
        return id(one) in self._displaced

    def is_rebound(self, name: str) -> bool:
        """Return whether a name may stand for another container."""
        return name in self._rebound

    def written_back(self, name: str, original: Any, value: Any) -> Any:
        """Return ``value`` in the container ``original``, so that other names for it see the change.

        Raises
        ------
        TypeError
            If nobody can tell whether ``original`` has changed, and no marker can stand in it.
        """
        if not self.is_rebound(name):
            if value is not original:
                value = self._with_own(original, value)
                part_inside(repr(name), original, value)
            value = written_back(original, value)
            found = self._set.get(name, ())
            for one in (*found, original) if found else ():  # a side may have left what was there
                may_be(repr(name), value, one, is_final=is_return_value(name))
            if are_some():
                lose_changed()
            return value
        if name in self._changed:
            if isinstance(original, CONTAINERS):
                inside = [one for one in containers_in(original) if one is not original]
                lose(repr(name), original, value)
                lose_all(f"one in {name!r}", inside)
        else:
            for one in (original, *self._rebound[name]):
                may_be(repr(name), value, one, is_final=is_return_value(name))
        return value

    def _with_own(self, original: Any, value: Any) -> Any:
        """Return what a block gives with the containers that stand in ``original``, in which it has what it gives."""
        if isinstance(original, dict) and isinstance(value, dict):
            for key in [key for key in original if key in value]:
                value[key] = self._own(original[key], value[key])
        elif isinstance(original, (list, deque)) and type(original) is type(value) and len(original) == len(value):
            for k, one in enumerate(original):
                value[k] = self._own(one, value[k])
        elif type(original) is list is type(value):
            for k, (one, its) in enumerate(zip(original, value, strict=False)):
                if is_as(its, one):  # a copy, where elements were added behind
                    value[k] = self._own(one, its)
        elif isinstance(original, tuple) and type(original) is type(value) and len(original) == len(value):
            parts = list(map(self._own, original, value))
            if all(map(operator.is_, parts, original)):
                return original
            if any(mine is not its for mine, its in zip(parts, value, strict=True)):
                return nest.like(value, parts)
        return value

    def _own(self, original: Any, value: Any) -> Any:
        if value is original or id(original) in self._displaced:
            return value
        return written_back(original, self._with_own(original, value))


class AtWork:
    """What one trace of a block, or of one of its sides, works on, see :meth:`Rebound.at_work`.

    Attributes
    ----------
    names, given : sequence
        The values that the trace takes.
    held : tuple
        What they hold when it begins.
    """

    def __init__(
        self, rebound: Rebound, names: Sequence[str], held: tuple[Any, ...], given: tuple[Any, ...],
        placed: Sequence[int],
    ) -> None:  # fmt: skip
        self._rebound, self._placed = rebound, placed
        self.names, self.held, self.given = names, held, given
        self._begun = rebound.places_in(self._of_placed(names), self._of_placed(given))

    def _of_placed(self, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([values[k] for k in self._placed])

    def leaves(self, left: Sequence[Any], new: Mapping[str, Any]) -> None:
        """Note what the trace leaves under the names, and what else names stand for after it."""
        leave_endless((*self.names, *new), (*left, *new.values()))
        self._rebound.compare(self.names, self.held, self.given, left)
        self._rebound.note_places(self._begun, self._of_placed(self.names), self._of_placed(left), new)


def written_back(original: Any, value: Any) -> Any:
    """Return ``value`` in the container ``original``, so that other names for it see the change."""
    if value is original:
        return value
    if type(original) is list and is_growing(value):
        original[:] = [moved_to(value.name, value, original)]
        note_moved(original)
        return value
    if is_growing(original) and is_growing(value):
        original.become(value)
        return original
    if type(original) is type(value) and type(original) in (list, dict, set, deque, *COPIED_DICTS):
        fill(original, value)
        return original
    return value


def leave_objects_apart(name: str, one: Any, other: Any) -> None:
    """Let plain Python run the function if a name stands for other objects after a block: no run of a graph has such.

    Parameters
    ----------
    name : str
        What messages call them.
    one, other : object
        Members of an enumeration, frozen sets, or what stands for objects of the user's.
    """
    if any(isinstance(value, Enum | frozenset | Standing) or _is_object(value) for value in (one, other)):
        leave_unknown(f"{name!r} is {_told(one)} or {_told(other)} after a loop or branch on tensors")


def leave_markers(name: str, *values: Any) -> None:
    """Let plain Python run the function if one side of a branch leaves a marker where another leaves something else."""
    for value in values:
        if isinstance(value, StandIn) and composite_of(value) is None:
            leave_unknown(f"{name!r} holds {opened(value).described()} after one side of a branch")


def _there(value: Any) -> Any:
    while isinstance(value, Maybe):
        value = opened(value).value
    return value


def _is_object(value: Any) -> bool:
    """Return whether a value is, or may be, an object of a class of the user's."""
    return has_objects(_there(value))


def _told(value: Any) -> str:
    """Return what messages call one of two values."""
    value = _there(value)
    return f"an object of {type(value).__name__!r}" if is_instance(value) else repr(value)


def leave_containers(name: str, one: Any, other: Any) -> None:
    """Let plain Python run the function if containers hold other keys or elements after a block than before it, or
    after one side of a branch than after the other.

    Parameters
    ----------
    name : str
        What messages call the value.
    one, other : object
        The two values of it.
    """
    if (found := _differing(name, one, other)) is not None:
        what, one, other = found
        noun = "elements" if isinstance(one, set | deque) else "keys, or another order of them,"
        leave_unknown(
            f"the {type(one).__name__} {what!r} has other {noun} after a loop or branch on tensors, which may not run"
            f"{_advice(what, one, other)}"
        )


def _first(parts: Iterable[tuple[str, Any, Any]]) -> tuple[str, Any, Any] | None:
    return next((found for part in parts if (found := _differing(*part)) is not None), None)


def _differing(name: str, one: Any, other: Any) -> tuple[str, Any, Any] | None:
    """Return the first containers in two values that hold other keys or elements, after what messages call them."""
    if type(one) is not type(other):
        return None
    found = name, one, other
    if isinstance(one, dict):
        if list(one) != list(other):
            return found
        return _first((f"{name}[{nest.key_text(key)}]", one[key], other[key]) for key in one)
    if isinstance(one, set):
        return None if one == other else found
    if isinstance(one, deque) and len(one) != len(other):
        return found
    if type(one) in (list, tuple, deque) and len(one) == len(other):
        return _first((f"{name}[{k}]", *both) for k, both in enumerate(zip(one, other, strict=True)))
    return None


def check_order(name: str, before: dict[Any, Any], now: dict[Any, Any]) -> None:
    """Let plain Python run the function if the keys of a dict stand in another order after a block.

    Raises
    ------
    TypeError
        If it cannot.
    """
    if before.keys() == now.keys() and list(before) != list(now):
        message = (
            f"the keys of the dict {name!r} stand in another order after a loop or branch on tensors, which may not "
            f"have run: set {name}[key] without deleting the key before [AL016]"
        )
        leave_unknown(message)
        raise TypeError(message)


def advice_on_keys(name: str, one: Any, other: Any) -> str:
    """Return what messages advise where only one of two branches sets a key of a dict; nothing of anything else."""
    advice = _advice(name, one, other)
    return advice and f"; which keys a dict has must not depend on the run{advice}"


def _advice(name: str, one: Any, other: Any) -> str:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return ""
    for key in [*one, *other]:
        if key not in one or key not in other:
            return f": set {name}[{nest.key_text(key)}] before that, too"
    return ""
