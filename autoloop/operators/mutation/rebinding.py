"""Whether a staged block lets a name, an attribute or a global stand for another object than before.

``self.w = self.w - g`` in a loop that does not run, or in a branch that is not taken, leaves the very object that was
there. A graph gives values; so it gives a bool for each such name as well.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from autoloop_runtime import ops
from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.ir.array_storage import BLOCK, Storage, kept
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import NumberTracer, marked

from ...conversion.callables import is_users_class
from ...left_to_python import refuse_unknown
from ..staging.container_contents import CONTAINERS, copied, elements, is_as
from ..staging.undefined import MaybeUnset, Undefined
from .outside_world import leave
from .slots import Attribute, Contents, PerhapsOwn, Slot, is_another, note_asked, refuse_if_asked, refuse_untold

_UNSET: Any = object()
_OTHER_ELSEWHERE = "{0!r} is set in the class, where a loop or branch decides whether an object has its own"
_MADE_OWN = "{0!r} is an array of the class, which a loop or branch on tensors may have made the object's own, and {1}"
_OWN_BEFORE = "give the object an array of its own before"


@dataclass(frozen=True, eq=False)
class Rebinding:
    """What is known of one name.

    Attributes
    ----------
    is_other : bool or Tensor
        Whether it stands for another object than at first.
    first, now : object
        What stood there before the first block that changes that, and what stands there now.
    is_part : bool
        Whether the other object may be a part of the first.
    held : object
        A copy of what stands there, if that is a container; of an array, how often it was written to.
    is_inherited : bool
        Whether it is an attribute that the object found elsewhere at first.
    is_again : bool
        Whether it is one, and may have been made the object's own as it is: both are the first then.
    """

    is_other: Any
    first: Any
    now: Any
    is_part: bool
    held: Any
    is_inherited: bool = False
    is_again: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether it is a container, or an array, that has changed since."""
        if (storage := kept(self.now)) is not None:
            return bool(storage.version != self.held)
        return isinstance(self.now, CONTAINERS) and not is_as(self.now, self.held)


class Rebindings:
    """The names of one trace, by the keys of their slots; a record of a graph.

    Attributes
    ----------
    known : dict
        What is known of the names now.
    chosen : dict
        What was known of each object, by id, that a block of the function itself left somewhere.
    """

    def __init__(self) -> None:
        self.known: dict[Any, Rebinding] = {}
        self.chosen: dict[int, Rebinding] = {}

    def copy(self) -> Rebindings:
        """Return the same, which later changes of this one do not reach."""
        made = Rebindings()
        made.known, made.chosen = dict(self.known), dict(self.chosen)
        return made


class DoubtfulAttributes:
    """Attributes of which only the run knows whether an object got them; a record of a graph."""

    def __init__(self) -> None:
        self.known: list[tuple[Any, str]] = []

    def copy(self) -> DoubtfulAttributes:
        """Return the same, which later ones do not reach."""
        made = DoubtfulAttributes()
        made.known = list(self.known)
        return made


class IsOther:
    """A bool that a block carries: whether a slot holds another object than at first, or one of its own."""

    def __init__(self, slot: Slot) -> None:
        self.name, self.slot = slot.name, slot
        self.key = (*slot.key, "is another object")
        self._is_other: Any = False
        self._first = self._given = _UNSET
        self._is_part = self._is_inherited = self._is_again = False
        self._told: Rebinding | None = None

    def get(self) -> Any:
        """Return the value."""
        now = self.slot.get()
        if self._given is _UNSET:
            return self._is_other
        found = rebindings().get(self.slot.key)
        if found is not None and found is not self._told and found.now is now and found.first is self._first:
            self._is_part = self._is_part or found.is_part  # a block inside has told
            self._is_again = self._is_again or found.is_again
            return found.is_other
        if found is not None and found is not self._told and found.now is now and found.first is self._given:
            self._is_part = self._is_part or found.is_part  # it tells that from what this one begins with
            return _either(self._is_other, found.is_other)
        if now is self._given:
            return True if is_born(self.slot) else self._is_other
        if now is self._first and type(now) is not Undefined:  # it is let stand for that again
            if not self._is_inherited:
                return False
            self._is_again = True
        self._is_part = self._is_part or (kept(now) is not None and kept(now) is kept(self._given))
        return True

    def set(self, value: Any) -> None:
        """Set the value, of what the slot holds now."""
        known, now = rebindings(), self.slot.get()
        if self._first is _UNSET:
            found = known.get(self.slot.key)
            if found is not None and found.now is now:
                self._first, value, self._is_part = found.first, found.is_other, found.is_part
                self._is_inherited, self._is_again = found.is_inherited, found.is_again
            else:
                self._first = now
                self._is_inherited = isinstance(self.slot, Attribute) and self.slot.is_inherited
        if isinstance(self.slot, Attribute) and self.slot.is_inherited and value is not False:
            self.slot.note_perhaps_own()
        self._is_other, self._given = value, now
        known[self.slot.key] = self._told = Rebinding(
            value, self._first, now, self._is_part, _held(now), self._is_inherited, self._is_again
        )

    def settle(self) -> None:
        """Let, after a block, an object have as its own what may have become that."""
        if isinstance(self.slot, Attribute) and self._is_other is not False:
            if self._is_other is not True:
                self.slot.refuse_answered()
            if self.slot.is_inherited and self._is_other is not True:
                refuse_if_asked(self.slot.owner, self.slot.attribute)
                self.slot.note_perhaps_own()
            self.slot.make_own()
        known = rebindings()
        if (told := known.get(self.slot.key)) is not None and told is self._told:  # what it holds has its value now
            known[self.slot.key] = self._told = told = replace(told, held=_held(told.now))
            _note_chosen(told)


def _either(one: Any, other: Any) -> Any:
    """Return whether one of two bools is true, of which runs may know either."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return other if one is False else one if other is False else True
    return marked(NumberTracer, ops.logical_or(one.plain, other.plain))


def _note_chosen(told: Rebinding) -> None:
    """Note which of two objects stands somewhere behind a block that is in no other: wherever it is left later."""
    graph = current_graph()
    is_known = isinstance(told.is_other, Tensor) and not told.is_part and told.first is not told.now
    if is_known and graph is not None and graph is graph.root:
        graph.record(Rebindings).chosen[id(told.now)] = told


def _held(value: Any) -> Any:
    storage = kept(value)
    return copied(value) if storage is None else storage.version


def is_perhaps_own(slot: Attribute) -> bool:
    """Return whether only the run knows if an object has an attribute of its own, which it else finds in its class."""
    found = rebindings().get(slot.key)
    return found is not None and found.is_inherited and found.is_other is not True


def is_perhaps_own_of(owner: Any, name: str, value: Any) -> bool:
    """Return whether only the run knows if an attribute, which holds a value now, is an object's own."""
    found = rebindings().get((id(owner), name))
    return found is not None and found.is_inherited and found.is_other is not True and found.now is value


def leave_uncovered() -> None:
    """Let plain Python run a function that has changed what a class has where an object may not have its own.

    Raises
    ------
    LeftToPython
    """
    for slot, before in _perhaps_own():
        if is_another(slot.found_elsewhere(), before):
            leave(_OTHER_ELSEWHERE.format(slot.name), "")


def leave_covered(cls: type, name: str) -> None:
    """Do the same of one that is about to change it, and may put it back.

    Raises
    ------
    LeftToPython
    TypeError
    """
    for slot, _ in _perhaps_own():
        kind = slot.owner if isinstance(slot.owner, type) else type(slot.owner)
        if slot.attribute == name and slot.owner is not cls and cls in kind.__mro__:
            leave(_OTHER_ELSEWHERE.format(slot.name), "let the two have names of their own")


def _perhaps_own() -> list[tuple[Attribute, Any]]:
    """Return the attributes of which only the run knows whether objects have them, and what is found elsewhere."""
    graph = current_graph()
    found = None if graph is None else graph.root.records.get(PerhapsOwn)
    every = [] if found is None else found.known.values()
    return [one for one in every if type(one[0].get()) is MaybeUnset or is_perhaps_own(one[0])]


def ask_names(owner: Any) -> None:
    """Do as ``ask_namespace`` of an object and of its classes, as ``dir`` does."""
    classes = (owner if isinstance(owner, type) else type(owner)).__mro__
    for one in (owner, *filter(is_users_class, classes)):
        ask_namespace(one)


def ask_namespace(owner: Any) -> None:
    """Let plain Python run a function that asks for all attributes of an object, if only the run knows which it has.

    Raises
    ------
    LeftToPython
    TypeError
    """
    if current_graph() is None or not hasattr(owner, "__dict__"):
        return
    refuse_untold_names(owner)
    note_asked(owner)


def refuse_untold_names(owner: Any, is_copied: bool = False) -> None:
    """Do the same of who looks at them now, and not again; a copy takes the markers with it."""
    for name, value in getattr(owner, "__dict__", {}).items():
        if is_perhaps_own_of(owner, name, value) or (type(value) is MaybeUnset and not is_copied):
            refuse_untold(owner, name)


def refuse_untold_inside(*values: Any, are_copied: bool = False) -> None:
    """Do the same for all objects in some values, for who looks at all attributes of what they hold, too."""
    if current_graph() is None:
        return
    for one in inside(values):
        if _has_names(one):
            refuse_untold_names(one, are_copied)


def inside(values: Iterable[Any]) -> Iterator[Any]:
    """Give some values, and what their elements and attributes are, each once."""
    todo, seen = list(values), set[int]()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, set | frozenset):
            todo.extend(one)
        elif isinstance(one, dict | list | tuple | deque):
            todo.extend(elements(one))
        elif _has_names(one):
            todo += getattr(one, "__dict__", {}).values()


def _has_names(value: Any) -> bool:
    return is_users_class(type(value)) or isinstance(value, types.SimpleNamespace)


def is_born(slot: Slot) -> bool:
    """Return whether a slot is an attribute that its object had not, and now has, be it the very same object."""
    return isinstance(slot, Attribute) and slot.is_born


def rebindings() -> dict[Any, Rebinding]:
    """Return what is known of the names of the present trace, by the keys of their slots."""
    graph = current_graph()
    return graph.root.record(Rebindings).known if graph is not None else {}


def rebound_so_far() -> Callable[[], None]:
    """Return what lets the trace know of its names what it knows now: a block that is traced again begins so."""
    graph = current_graph()
    if graph is None:
        return lambda: None
    record = graph.root.record(Rebindings)
    before = record.copy()

    def again() -> None:
        record.known, record.chosen = dict(before.known), dict(before.chosen)

    return again


def chosen() -> dict[int, Rebinding]:
    """Return the objects of the present trace, by id, of which the run says whether they are what was there first."""
    graph = current_graph()
    return graph.root.record(Rebindings).chosen if graph is not None else {}


class LookedAt:
    """The names whose values a trace is guarded by; a record of a graph."""

    def __init__(self) -> None:
        self.names: Any = None

    def copy(self) -> LookedAt:
        """Return the same."""
        return self


def may_be_other(slot: Slot, value: Any) -> bool:
    """Return whether it matters if a slot still holds this value: which object it is, or what nobody has looked at."""
    if isinstance(slot, Contents):
        return False
    if isinstance(slot, Attribute) and (slot.is_inherited or slot.is_answered or is_perhaps_own(slot)):
        return True
    if isinstance(value, CONTAINERS) or (kept(value) is not None and value.shape.rank != 0):
        return True
    graph = current_graph()
    names = graph.root.record(LookedAt).names if graph is not None else None
    is_there = type(value) not in (Undefined, MaybeUnset)
    name = slot.attribute if isinstance(slot, Attribute) else slot.name
    return is_there and names is not None and name not in names


def found_elsewhere(slots: Iterable[Slot | IsOther]) -> list[tuple[Attribute, Any]]:
    """Return the attributes that objects find in their classes, or could, and what they find there."""
    return [(one, one.elsewhere()) for one in slots if isinstance(one, Attribute)]


def refuse_uncovered(before: Iterable[tuple[Attribute, Any]]) -> None:
    """Raise if a block changes what an object finds in its class, which it gives as what the object has."""
    for slot, found in before:
        if is_another(slot.elsewhere(), found):
            refuse_unknown(_OTHER_ELSEWHERE.format(slot.name), "let the two have names of their own")


def look_at_inherited(
    slots: Sequence[Slot | IsOther], given: Sequence[Any], carry: Callable[[Iterable[Storage | None]], None]
) -> None:
    """Look at what objects find in their classes, and the block has changed in place and may have made their own.

    Raises
    ------
    NewPlaces
        For an array: with its memory carried it is in the block what it is.
    TypeError
        For a container.
    """
    for slot, one in zip(slots, given, strict=True):
        if isinstance(slot, Attribute) and slot.is_uncovered(one):
            refuse_unknown(
                f"{slot.name!r} is deleted in a loop or branch on tensors, and the class has an attribute of that "
                f"name, which would be found after it",
                "set it to None, say",
            )
        if not isinstance(slot, Attribute) or one is slot.inherited:
            continue
        if not slot.is_inherited:
            block, storage = BLOCK.get(), kept(one)
            if slot.get() is one and block is not None and storage in block.written and is_perhaps_own(slot):
                refuse_unknown(_MADE_OWN.format(slot.name, "another one changes it"), _OWN_BEFORE)
            continue
        if isinstance(one, CONTAINERS) and slot.get() is one and not is_as(one, slot.inherited):
            refuse_made_own(slot)
        storage = kept(one)
        if storage is not None and storage.version:
            graph = current_graph()
            if graph is not None and graph.parent is not graph.root:
                refuse_unknown(_MADE_OWN.format(slot.name, "which is itself in a loop or branch"), _OWN_BEFORE)
            carry([kept(slot.inherited)])


def refuse_made_own(slot: Attribute) -> NoReturn:
    """Refuse to let a container of a class become one of an object, or let plain Python run the function."""
    kind = type(slot.inherited).__name__
    refuse_unknown(
        f"{slot.name!r} is a {kind} of the class, and an assignment such as `+=` in a loop or branch on tensors "
        f"changes it and makes it the object's own, if it runs",
        f"change it by its methods, or give the object a {kind} of its own before",
    )
