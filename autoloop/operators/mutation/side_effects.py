"""Variables that a loop or branch changes other than by taking and returning them.

Shared variables live in cells (or are global), places are attributes of objects. A staged loop or branch
reads them before, sets them for each trace, and writes the results when it is done. What is changed by a
function called from the loop is found by watching the objects in reach during a trace; the loop or branch is
then traced again with the variables and attributes that hold them as places. What no variable holds is refused.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.base.error_codes import coded
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.locations import is_own_file
from autoloop_runtime.ir.array_storage import BLOCK, Storage
from autoloop_runtime.ir.graph import current_graph

from ...left_to_python import LeftToPython, is_followed, refuse_unknown
from ..staging.container_contents import CONTAINERS, in_class, is_property
from ..staging.raising import LeftBehind
from ..staging.staged_values import is_staged
from ..staging.standins import Maybe, is_growing
from ..staging.undefined import Undefined
from . import lifted_arrays
from .heap_snapshot import Snapshot, is_random, snapshots
from .held_before import (
    changed_attributes,
    has_attributes,
    has_changed,
    is_cache,
    is_mark,
    lent_lists,
    may_be_reordered,
    put_back,
    restore,
    take_back,
)
from .outside_world import is_made_anew, made_in, want_of_runs
from .parts_of_objects import changes_more, held_by, is_wrapper
from .rebinding import (
    IsOther,
    found_elsewhere,
    is_born,
    look_at_inherited,
    may_be_other,
    refuse_made_own,
    refuse_uncovered,
)
from .slots import Attribute, Contents, Global, Slot, sets_attribute, variable_of

if TYPE_CHECKING:
    from .attribute_orders import AttributeOrders
    from .named_places import Places

# Containers that a graph can carry, if a variable holds them.
_CARRIED = (list, dict, set, deque)


class NewPlaces(Exception):
    """A trace has changed variables or attributes that were not known as places; they are now."""


class Outside:
    """The shared variables and places of one loop or branch.

    Parameters
    ----------
    functions : sequence of callable or None
        The generated functions, in whose closures the cells are found.
    shared : sequence of str
        Names of the shared variables.
    places : sequence, optional
        The attributes that the block is said to set, see ``named_places``.
    values : sequence
        The variables that the functions take: what objects among them change is noticed too.
    """

    def __init__(
        self,
        functions: Sequence[Any],
        shared: Sequence[str],
        places: Places | None,
        values: Sequence[Any] = (),
    ) -> None:
        self._functions, self._given = _users_functions(functions)
        self._values = values
        self._orders: AttributeOrders | None = None
        self._is_loop = False
        self._taken: set[int] = set()
        known = self._functions
        self._slots: list[Slot | IsOther] = [variable_of(name, known) for name in shared]
        if places is not None:
            from .named_places import named_places

            # What the setter of a property changes is found by watching.
            self._slots += [
                self._attribute(owner, name) for owner, name in named_places(places) if not _is_property(owner, name)
            ]

    def _attribute(self, owner: Any, name: str) -> Attribute:
        """Return an attribute that the block sets; a container that it only changes is one of the class that has it.

        What ``__getattr__`` would change, if it is asked what stands there, plain Python has to change.
        """
        kind = type(owner)
        if not isinstance(owner, Maybe) and _is_asked_with_effect(owner, name):
            refuse_unknown(
                f"'{kind.__name__}.{name}' is set in a loop or branch on tensors, and where it is not there "
                f"{kind.__name__}.__getattr__ is asked, which may change something",
                "set it before",
            )
        slot = Attribute(owner, name)
        cls = slot.class_with_it() if slot.is_inherited and isinstance(slot.get(), CONTAINERS) else None
        if cls is None or any(sets_attribute(function.__code__, name) for function in self._functions):
            return slot
        return Attribute(cls, name)

    def given(self, values: Sequence[Any]) -> Outside:
        """Return the same of functions that take other values."""
        made = object.__new__(Outside)
        vars(made).update(vars(self), _values=values)
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """What messages call them."""
        return tuple([slot.name for slot in self._slots])

    def read(self, start: int = 0) -> tuple[Any, ...]:
        """Return the present values, of the places from one on, with markers for those that have none."""
        return tuple(slot.get() for slot in self._slots[start:])

    def changed_owners(self, before: Iterable[Any]) -> set[int]:
        """Return by id the objects whose attributes are not what was read before."""
        both = zip(self._slots, before, strict=False)
        return {id(slot.owner) for slot, old in both if isinstance(slot, Attribute) and slot.get() is not old}

    def write(self, values: Iterable[Any]) -> None:
        """Set the values."""
        for slot, value in zip(self._slots, values, strict=True):
            slot.set(value)
        self._keep_orders()

    def finish(self, values: Iterable[Any]) -> None:
        """Set the values that they have after the block."""
        self.write(values)
        for slot in self._slots:
            if isinstance(slot, IsOther):
                slot.settle()
        if self._orders is not None:
            self._orders.settle()

    def _note_orders(self, before: Iterable[Snapshot]) -> None:
        """Note in which order the attributes of objects stand at the end of a trace, where that may matter."""
        owners = list(filter(has_attributes, before))
        if self._orders is None and any(map(may_be_reordered, owners)):
            with undivided():  # which few functions need
                from .attribute_orders import AttributeOrders
            self._orders = AttributeOrders(self._is_loop)
        if self._orders is not None:
            self._orders.note(owners)

    def _keep_orders(self) -> None:
        if self._orders is not None:
            self._orders.keep()

    @property
    def roots(self) -> Sequence[Any]:
        """The functions of the user's that the block calls, and what is bound to them."""
        return (*self._functions, *self._given)

    @property
    def arrays(self) -> set[Storage]:
        """The arrays whose memory is carried."""
        return {slot.storage for slot in self._slots if isinstance(slot, Contents)}

    def carry(self, storages: Iterable[Storage | None]) -> None:
        """Raise :class:`NewPlaces` if the memory of some arrays is not carried; it is from then on."""
        if self.add(storages):
            raise NewPlaces("the contents of arrays")

    def add(self, storages: Iterable[Storage | None]) -> bool:
        """Carry the memory of some arrays from now on; return whether one of them is new."""
        new = [Contents(one) for one in dict.fromkeys(storages) if one is not None and one not in self.arrays]
        self._slots += new
        return bool(new)

    def takes(self, containers: set[int]) -> None:
        """Note by id the containers that the block works on, and gives as it leaves them."""
        self._taken = containers

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that notices what its call changes.

        It raises :class:`NewPlaces`, with the old values put back, so that the caller can start again.

        Raises
        ------
        TypeError
            If it changes something that no variable holds.
        """

        def watching(*values: Any) -> Any:
            graph, names = current_graph(), _parameters(self._functions, len(self._values))
            made = () if graph is None else made_in(graph).asked_now  # whatever holds them: a weak reference, a queue
            before, variables = snapshots([*self._functions, *self._given], self._values, names, made)
            given, elsewhere = self.read(), found_elsewhere(self._slots)
            lent = lent_lists(before, variables)
            try:
                result = function(*values)
            except BaseException:  # what it has changed the graph does not do
                self._leave_behind(before, variables, given)
                restore(before, variables)
                raise
            take_back(lent)
            self._note_orders(before)
            self._compare(before, variables)
            look_at_inherited(self._slots, given, self.carry)
            refuse_uncovered(elsewhere)
            self._tell_others(given)
            if (block := BLOCK.get()) is not None:
                self.carry(block.written)
            return result

        return watching

    def _leave_behind(
        self, before: Iterable[Snapshot], variables: Iterable[tuple[Slot, Any]], given: tuple[Any, ...]
    ) -> None:
        """Note whether something is not what it was, or what the slots were given, where a block raises."""
        graph, block = current_graph(), BLOCK.get()
        every = [*variables, *zip(self._slots, given, strict=False)]
        if graph is not None and (
            (block is not None and block.written)
            or any(slot.get() is not one for slot, one in every)
            or any(map(has_changed, before))
        ):
            graph.root.record(LeftBehind)

    def _tell_others(self, given: tuple[Any, ...]) -> None:
        """Raise :class:`NewPlaces` if slots hold other objects than they were given, and nothing tells of it."""
        known = {slot.key for slot in self._slots}
        pairs = [
            (slot, IsOther(slot))
            for slot, one in zip(self._slots, given, strict=True)
            if not isinstance(slot, IsOther) and may_be_other(slot, one) and (slot.get() is not one or is_born(slot))
        ]
        if new := [other for _, other in pairs if other.key not in known]:
            self._slots += new
            raise NewPlaces(", ".join(repr(slot.name) for slot in new))

    def _compare(self, before: list[Snapshot], variables: list[tuple[Slot, Any]]) -> None:
        known = {slot.key for slot in self._slots}
        new: dict[Any, tuple[Slot, Any]] = {}
        for slot, value in variables:
            if slot.key not in known and (now := slot.get()) is not value and type(now) is not Undefined:
                new.setdefault(slot.key, (slot, value))
        changed = [one for one in before if has_changed(one)]
        refused = filled = None
        for one in changed:
            if has_attributes(one):
                for slot, value in changed_attributes(one):
                    if slot.key not in known:
                        if slot.is_born and slot.get() is slot.inherited and isinstance(slot.inherited, CONTAINERS):
                            refuse_made_own(slot)
                        new.setdefault(slot.key, (slot, value))
            elif id(one.value) in self._taken:
                continue
            elif isinstance(one.slot, Global) and is_cache(one, is_staged):
                put_back(one)
                filled = one
            elif one.slot is not None and _is_carried(one.value):
                put_back(one)
                new.setdefault(one.slot.key, (one.slot, one.slot.get()))
            else:
                put_back(one)
                refused = refused or one
        if filled is not None:
            if not is_followed():
                raise TypeError(coded("AL016", ": ".join(_refusal(filled))))
            what = f"the dict {filled.name!r} gets entries in a loop or branch on tensors, which may not run"
            raise LeftToPython(what, is_once=True)
        if refused is not None:
            if isinstance(refused.value, np.ndarray):
                lifted_arrays.written(refused.value)
            if isinstance(refused.value, (*_CARRIED, bytearray)) or is_mark(refused) or is_made_anew(refused.value):
                refuse_unknown(*_refusal(refused))
            raise TypeError(coded("AL016", ": ".join(_refusal(refused))))
        if new:
            for slot, value in new.values():
                slot.set(value)
            self._keep_orders()
            self._slots += [slot for slot, _ in new.values()]
            raise NewPlaces(", ".join(repr(slot.name) for slot, _ in new.values()))

    def around(self, function: Callable[..., Any], count: int) -> Callable[..., tuple[Any, ...]]:
        """Return a function that takes and returns these variables after the first ``count``."""

        self._is_loop = True

        def explicit(*values: Any) -> tuple[Any, ...]:
            self.write(values[count:])
            result = self.watch(function)(*values[:count]) or ()
            return (*result, *self.read())

        return explicit


def _parameters(functions: Iterable[types.FunctionType], count: int) -> tuple[str, ...]:
    """Return the names of ``count`` values that functions take; the body of a ``for`` loop takes its item first."""
    for code in (function.__code__ for function in functions):
        if 0 <= code.co_argcount - count <= 1:
            return code.co_varnames[code.co_argcount - count : code.co_argcount]
    return ()


def _is_carried(value: Any) -> bool:
    """Return whether a block takes a copy of a container that is of no class of its own."""
    return type(value) in _CARRIED or is_growing(value)


def _refusal(one: Snapshot) -> tuple[str, str]:
    """Return what is wrong, and what to do instead."""
    kind, name = type(one.value).__name__, f" {one.name!r}" if one.name else ""
    if hasattr(one.value, "__next__"):
        return (
            f"the {kind}{name} is advanced in a loop or branch on tensors, which is traced once",
            "it would not be advanced in every iteration; put its values in a tensor, and loop over that",
        )
    if is_random(one.value):
        want_of_runs(one.value)
        return (
            f"the {kind}{name} is asked for random numbers in a loop or branch on tensors, which is traced once",
            "they would be the same in every iteration. Make it outside of the function, as a global or an argument "
            "that each run asks, or use autoloop.random.normal or autoloop.random.uniform",
        )
    return (
        f"the {kind}{name} is changed in place in a loop or branch on tensors, in a way that a graph cannot follow",
        "let the function that changes it return a new value, and assign that to a variable",
    )


def _is_asked_with_effect(owner: Any, name: str) -> bool:
    """Return whether an object has no attribute of a name, and what the user has written to find it does more."""
    asked = in_class(type(owner), "__getattr__")
    if not isinstance(asked, types.FunctionType) or in_class(type(owner), name) is not None:
        return False
    if name in getattr(owner, "__dict__", ()):
        return False
    return changes_more(asked, type(owner))


def _is_property(owner: Any, name: str) -> bool:
    """Return whether a method of the user's sets an attribute."""
    kind = type(owner)
    if not isinstance(owner, Maybe) and isinstance(kind.__setattr__, types.FunctionType):
        return True
    in_slots = isinstance(in_class(kind, name), types.MemberDescriptorType)
    return is_property(kind, name) and not in_slots


def _users_functions(functions: Iterable[Any]) -> tuple[list[types.FunctionType], list[Any]]:
    """Return the functions that a block calls, and what is bound to them: the objects of methods, arguments.

    In place of a function of ours stand those of the user's that it holds.
    """
    found, given = list[types.FunctionType](), list[Any]()
    todo, seen = list(functions)[::-1], set[int]()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        is_function = isinstance(one, types.FunctionType)
        if is_function and not is_own_file(one.__code__.co_filename):
            found.append(one)
            continue
        held = list(held_by(one))
        inner = [value for _, value in held if isinstance(value, types.FunctionType) or is_wrapper(value)]
        if is_function and not inner:
            found.append(one)
        given += [value for key, value in held if not is_function and key not in ("func", "__func__")]
        todo += inner[::-1]
    return found, given
