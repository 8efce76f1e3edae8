"""What a trace has changed, as what is written at every call.

A *recipe* makes a value of what a run gives: outputs of the graph, objects of the world, and new containers and objects
of these. What cannot be made so is refused with the place's name.
"""

from __future__ import annotations

import contextlib
import copy
import types
from collections import deque
from collections.abc import Sequence
from enum import Enum
from typing import Any, NoReturn

import numpy as np
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.tensor import Tensor

from ..conversion.callables import is_users_class
from ..errors import LeftToPython
from ..operators.mutation.container_contents import dict_class, fill
from ..operators.mutation.heap_snapshot import instance_attributes, is_random, stand_ins
from ..operators.mutation.outside_world import leave
from ..operators.staging.moved_lists import Moved
from ..operators.staging.numbers_or_arrays import as_result
from ..operators.staging.standins import StandIn, opened
from ..operators.staging.undefined import MaybeUnset, Undefined
from ..returned_views import copied, whole_of
from .doubtful_arrays import leave_doubtful
from .places import Place, put, set_at, take_away
from .stateful import Made
from .unchanging import PLAIN, has_state
from .world import NOTHING, Changes, Holder, Recipe, World, Write, is_unchanged


class _Recipes:
    """Makes recipes, and collects what they need.

    Parameters
    ----------
    world : World
    """

    def __init__(self, world: World) -> None:
        self.outputs: list[Any] = []
        #: what of the graph is left in the world, the names of the places, and what stood there
        self.arrays: list[tuple[Any, str, Any]] = []
        self.before: dict[int, Any] = {}
        self.owners: list[Place] = []
        self._world = world
        #: objects of the world by id: what the trace sees, and where it stands
        self._known = {id(value): place for value, place in world.reached.seen.values() if place.kind != "call"}
        self._known.update((id(one.traced), one.place) for one in world.holders)
        self._paths: dict[tuple[Any, ...], int] = {}
        self._made: dict[int, tuple[Any, Recipe]] = {}
        #: arrays of the trace's own by id, and copies of them
        self._copies: dict[int, Any] = {}

    def owner(self, place: Place) -> int:
        """Return which of the owners stands at a place."""
        number = self._paths.setdefault(place.path, len(self.owners))
        if number == len(self.owners):
            self.owners.append(place)
        return number

    def output(self, value: Any) -> int:
        """Return which output a value of the graph is."""
        self.outputs.append(value)
        return len(self.outputs) - 1

    def of(self, value: Any, name: str) -> Recipe:
        """Return what makes ``value`` in a run; ``name`` is said where that cannot be."""
        if isinstance(value, (*PLAIN, Enum, type, types.ModuleType)):
            return lambda made: value
        known = self._made.get(id(value))
        if known is None:
            known = self._made[id(value)] = value, self._once(self._new(value, name), value)
        return known[1]

    @staticmethod
    def _once(recipe: Recipe, value: Any) -> Recipe:
        """Return a recipe that makes one object of a run, however often it is asked."""
        key = id(value)

        def once(made: Made) -> Any:
            if key not in made.known:
                made.known[key] = recipe(made)
            return made.known[key]

        return once

    def _new(self, value: Any, name: str) -> Recipe:
        place = self._known.get(id(value))
        if place is not None:
            owner = self.owner(place)
            return lambda made: made.owners[owner]
        if isinstance(value, StandIn) and composite_of(value) is None:
            return self.of(self._leaving(value, name), name)
        if isinstance(value, Tensor) and value.node is None:
            return lambda made: value
        if isinstance(value, Tensor) or composite_of(value) is not None:
            number = self.output(as_result(value))
            self.arrays.append((value, name, self.before.get(id(value))))
            return lambda made: made.outputs[number]
        if isinstance(value, np.ndarray):
            kept = copied(value, self._copies)
            return lambda made: copied(kept, made.known)
        return self._structure(value, name)

    @staticmethod
    def _leaving(value: StandIn, name: str) -> Any:
        """Return what the world gets in place of a stand-in."""
        if isinstance(value, Moved):
            leave(f"whether {name!r} is the list that a loop or branch changes, or another one, only the run knows", "")
        try:
            return opened(value).leaving()
        except TypeError:
            opened(value).refuse_leaving(f"{name!r} would still hold")

    def holds(self, value: Any, seen: set[int]) -> bool:
        """Return whether a result holds objects of the world, new objects that hold anything, or one object twice.

        Parameters
        ----------
        value : object
        seen : set of int
            The containers of the result that were looked at.
        """
        if isinstance(value, (Tensor, *PLAIN)):
            return False
        if id(value) in self._made:
            return True
        if isinstance(value, np.ndarray):
            return id(whole_of(value)) in self._copies
        if isinstance(value, (tuple, list, dict, set, deque)) or hasattr(type(value), "__dataclass_fields__"):
            if id(value) in self._known or id(value) in seen:
                return True
            if not isinstance(value, tuple):
                seen.add(id(value))
            parts = value.values() if isinstance(value, dict) else value
            if hasattr(type(value), "__dataclass_fields__"):
                parts = instance_attributes(value).values()
            return any(self.holds(one, seen) for one in parts)
        return (id(value) in self._known and not callable(value)) or has_state(value)

    def grown(self, holder: Holder) -> Any:
        """Return what a list of the world has become in a staged loop or branch; None if it is what it is."""
        now = holder.traced
        return now[0].grown if type(now) is list and len(now) == 1 and type(now[0]) is Moved else None

    def know_grown(self) -> None:
        """Note which lists of the world are those that have grown."""
        for one in self._world.holders:
            if (grown := self.grown(one)) is not None:
                self._known[id(grown)] = one.place

    def _structure(self, value: Any, name: str) -> Recipe:
        kind = type(value)
        if isinstance(value, tuple):
            parts = [self.of(one, f"{name}[{k}]") for k, one in enumerate(value)]
            if hasattr(kind, "_fields"):
                return lambda made: kind(*[part(made) for part in parts])
            return lambda made: kind([part(made) for part in parts])
        if kind in (list, set, frozenset):
            parts = [self.of(one, f"{name}[...]") for one in value]
            return lambda made: kind([part(made) for part in parts])
        if kind is deque:
            parts, maxlen = [self.of(one, f"{name}[...]") for one in value], value.maxlen
            return lambda made: deque([part(made) for part in parts], maxlen)
        if isinstance(value, dict):
            return self._dict(value, name)
        if isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
            self._check_function(value, name)
            return lambda made: value
        if is_random(value):
            return lambda made: copy.deepcopy(value)
        if hasattr(value, "__next__"):
            self.refuse(name, f"a {kind.__name__}")
        if is_users_class(kind) or kind is types.SimpleNamespace:
            return self._object(value, name)
        return lambda made: value

    def _dict(self, value: Any, name: str) -> Recipe:
        empty = copy.copy(value)
        kind = dict_class(empty)
        kind.clear(empty)
        items = [(key, self.of(one, f"{name}[{key!r}]")) for key, one in value.items()]

        def made_dict(made: Made) -> Any:
            new = copy.copy(empty)
            for key, recipe in items:
                kind.__setitem__(new, key, recipe(made))
            return new

        return made_dict

    def _object(self, value: Any, name: str) -> Recipe:
        kind = type(value)
        if isinstance(value, (list, dict, set, deque, np.ndarray, BaseException)):
            self.refuse(name, f"a new {kind.__name__}")
        try:
            object.__new__(kind)
        except TypeError:
            self.refuse(name, f"a new {kind.__name__}")
        number = id(value)
        held = [(key, self.of(one, f"{name}.{key}")) for key, one in instance_attributes(value).items()]

        def made_object(made: Made) -> Any:
            new = made.known[number] = object.__new__(kind)
            for key, recipe in held:
                put(new, key, recipe(made))
            return new

        return made_object

    def _check_function(self, value: Any, name: str) -> None:
        """Raise if a function holds, in its closure or as its instance, what only a run knows."""
        inner = getattr(value, "__func__", value)
        held = [getattr(cell, "cell_contents", None) for cell in getattr(inner, "__closure__", None) or ()]
        held += [*(getattr(inner, "__defaults__", None) or ()), getattr(value, "__self__", None)]
        if any(isinstance(one, Tensor) and one.node is not None for one in held) or any(stand_ins([value])):
            self.refuse(name, "a function that holds values of the graph")

    @staticmethod
    def refuse(name: str, what: str) -> NoReturn:
        """Leave a function to plain Python that leaves in the world what cannot be made at each call."""
        leave(f"{name!r} is left holding {what}", "return it from the decorated function")


class _Finder:
    """Compares the world with what it was."""

    def __init__(self, world: World, recipes: _Recipes) -> None:
        self.world, self.recipes = world, recipes
        self.writes: list[Write] = []
        self.names: list[str] = []
        self.numbers: set[tuple[Any, ...]] = set()
        self._numbers = {place.path for place, _ in world.reached.numbers}

    def find(self) -> None:
        """Note what is written."""
        for namespace, name, before in self.world.variables:
            now = namespace.get(name, NOTHING)
            if now is not before:
                self._set(Place("global", None, (namespace, name), name), before, now, -1)
        for name, cell, before in self.world.cells:
            try:
                now = cell.cell_contents
            except ValueError:
                now = NOTHING
            if now is not before:
                self._set(Place("cell", None, cell, name), before, now, -1)
        for one in self.world.holders:
            self._holder(one)

    def _set(self, place: Place, before: Any, now: Any, owner: int) -> None:
        """Note that something else stands at a place."""
        if isinstance(before, list) and len(before) == 1 and isinstance(before[0], Moved) and before[0].grown is now:
            return  # a list that has grown stays the list that it is
        if place.path in self._numbers:
            self.numbers.add(place.path)
        self.names.append(place.name)
        if type(now) is Undefined or now is NOTHING:
            self.writes.append(lambda made: _unset(place, made.owners[owner] if owner >= 0 else None))
            return
        if type(now) is MaybeUnset:
            record = opened(now)
            is_set, recipe = self.recipes.output(record.is_set), self.recipes.of(record.value, place.name)

            def perhaps(made: Made) -> None:
                if bool(made.outputs[is_set]):
                    set_at(place, made.owners[owner] if owner >= 0 else None, recipe(made))

            self.writes.append(perhaps)
            return
        self.recipes.before[id(now)] = before
        recipe = self.recipes.of(now, place.name)
        self.writes.append(lambda made: set_at(place, made.owners[owner] if owner >= 0 else None, recipe(made)))

    def _holder(self, one: Holder) -> None:
        before, now = one.before, one.now()
        place, value = one.place, one.traced
        if (grown := self.recipes.grown(one)) is not None:
            number, owner = self.recipes.output(grown), self.recipes.owner(place)
            self.names.append(place.name)
            if id(one.value) in self.world.reached.added_to:  # what it held is not looked at
                count = len(before)
                self.writes.append(lambda made: made.owners[owner].extend(made.outputs[number][count:]))
            else:
                self.writes.append(lambda made: fill(made.owners[owner], made.outputs[number]))
            return
        if isinstance(value, dict) or not isinstance(before, dict):
            self._container(place, value, before, now)
            return
        for name in dict.fromkeys([*now, *before]):
            old, new = before.get(name, NOTHING), now.get(name, NOTHING)
            if old is not new:
                owner = self.recipes.owner(place)
                inner = place.member(name) if isinstance(value, type) else place.attribute(name)
                self._set(inner, old, new, owner)

    def _container(self, place: Place, value: Any, before: Any, now: Any) -> None:
        if is_unchanged(now, before):
            return
        owner = self.recipes.owner(place)
        if isinstance(value, dict):
            self._dict(place, before, now, owner)
            return
        self.names.append(place.name)
        if isinstance(value, (list, deque)):
            self._list(place, before, now, owner, isinstance(value, deque))
        elif isinstance(value, set):
            added = [self.recipes.of(one, place.name) for one in now - before]
            gone = before - now

            def change(made: Made) -> None:
                set.difference_update(made.owners[owner], gone)
                set.update(made.owners[owner], [recipe(made) for recipe in added])

            self.writes.append(change)
        else:
            self.writes.append(lambda made: fill(made.owners[owner], now))

    def _list(self, place: Place, before: list[Any], now: list[Any], owner: int, is_deque: bool) -> None:
        count = len(before)
        if len(now) == count and not is_deque:
            for k, (old, new) in enumerate(zip(before, now)):
                if old is not new:
                    self._set(place.item(k), old, new, owner)
            return
        begins = [k for k in range(len(now) - count + 1) if all(map(_is, now[k : k + count], before))]
        if begins and (begins[0] == 0 or is_deque):
            first = begins[0]
            left = [self.recipes.of(one, f"{place.name}[...]") for one in now[:first]]
            right = [self.recipes.of(one, f"{place.name}[...]") for one in now[first + count :]]

            def add(made: Made) -> None:
                target = made.owners[owner]
                if left:
                    deque.extendleft(target, [recipe(made) for recipe in reversed(left)])
                target.extend([recipe(made) for recipe in right])

            self.writes.append(add)
            return
        every = [self.recipes.of(one, f"{place.name}[...]") for one in now]
        self.writes.append(lambda made: fill(made.owners[owner], [recipe(made) for recipe in every]))

    def _dict(self, place: Place, before: dict[Any, Any], now: dict[Any, Any], owner: int) -> None:
        kept = [key for key in before if key in now]
        if list(now)[: len(kept)] != kept:
            every = [(key, self.recipes.of(one, f"{place.name}[{key!r}]")) for key, one in now.items()]
            self.names.append(place.name)
            self.writes.append(lambda made: fill(made.owners[owner], {key: recipe(made) for key, recipe in every}))
            return
        gone = [key for key in before if key not in now]
        if gone:
            self.names.append(place.name)
            self.writes.append(lambda made: _without(made.owners[owner], gone))
        for key, new in now.items():
            old = before.get(key, NOTHING)
            if old is not new:
                self._set(place.item(key), old, new, owner)


def _is(one: Any, other: Any) -> bool:
    return one is other


def _without(value: dict[Any, Any], keys: Sequence[Any]) -> None:
    for key in keys:
        dict_class(value).pop(value, key)


def _unset(place: Place, owner: Any) -> None:
    if place.kind == "global":
        place.key[0].pop(place.key[1], None)
    elif place.kind == "cell":
        del place.key.cell_contents
    elif place.kind == "item":
        del owner[place.key]
    else:
        take_away(owner, place.key)


def changes_of(world: World, value: Any) -> tuple[Changes, Recipe | None]:
    """Return what a trace has changed, and what makes of a run the result, where that holds objects of the world.

    Parameters
    ----------
    world : World
        With what the trace has left in it.
    value : object
        The result of the trace.
    """
    recipes = _Recipes(world)
    recipes.know_grown()
    finder = _Finder(world, recipes)
    finder.find()
    leave_doubtful(world, recipes.arrays)
    result = recipes.of(value, "what the function gives") if recipes.holds(value, set()) else None
    return Changes(recipes.outputs, recipes.owners, finder.writes, finder.names, finder.numbers), result


class Left:
    """The changes that a trace has made before an exception; called it does those that need no run.

    Attributes
    ----------
    writes : sequence of callable
    """

    def __init__(self, writes: Sequence[Write], owners: Sequence[Any]) -> None:
        self.writes = writes
        self._owners = owners

    def __call__(self) -> None:
        """Make the changes."""
        for write in self.writes:
            with contextlib.suppress(IndexError):  # it would need what the graph gives
                write(Made((), self._owners))


def left_by(world: World) -> Left:
    """Return the changes made before an exception."""
    recipes = _Recipes(world)
    finder = _Finder(world, recipes)
    try:
        finder.find()
    except (Exception, LeftToPython):  # something cannot be written
        return Left((), ())
    return Left(finder.writes, [world.owner_of(place) for place in recipes.owners])
