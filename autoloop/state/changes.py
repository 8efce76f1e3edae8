"""What a trace has changed, as what is written at every call: the world is compared with what it was."""

from __future__ import annotations

import contextlib
import operator
from collections import deque
from collections.abc import Sequence
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor

from ..conversion.cells import value_in
from ..left_to_python import LeftToPython
from ..operators.mutation.outside_world import leave
from ..operators.mutation.rebinding import DoubtfulAttributes, Rebinding, leave_uncovered, rebindings
from ..operators.staging.container_contents import (
    CONTAINERS,
    CopiesOfTrace,
    containers_in,
    dict_class,
    extend,
    fill,
    has_objects,
    objects_in,
    put_in_order,
    set_item,
)
from ..operators.staging.moved_lists import Moved
from ..operators.staging.standins import Maybe, opened
from ..operators.staging.twins import leave_left
from ..operators.staging.undefined import MaybeUnset, Undefined
from .doubtful_arrays import leave_doubtful, leave_doubtful_containers, values_of
from .places import Place, held_at, set_at, unset_at
from .recipes import Recipes, arrays_left, items_of, left_in
from .stateful import Made
from .unchanging import is_constant
from .world import NOTHING, Changes, Holder, Recipe, World, Write, is_unchanged


class _Finder:
    """Compares the world with what it was."""

    def __init__(self, world: World, recipes: Recipes) -> None:
        self.world, self.recipes = world, recipes
        self.writes: list[Write] = []
        self.names: list[str] = []
        self.numbers: set[tuple[Any, ...]] = set()
        self._numbers = {place.path for place, _ in world.reached.numbers}
        self._rebindings = rebindings()

    def find(self) -> None:
        """Note what is written."""
        for namespace, name, before in self.world.variables:
            now = namespace.get(name, NOTHING)
            if now is not before:
                place = Place("global", None, (namespace, name), name)
                self._set(place, before, now, -1, (id(namespace), name))
        for place, cell, before in self.world.cells:
            if (now := value_in(cell, NOTHING)) is not before:
                owner = -1 if place.parent is None else self.recipes.owner(place.parent)
                self._set(place, before, now, owner, (id(cell), ""))
        for one in self.world.holders:
            self._holder(one)

    def _set(self, place: Place, before: Any, now: Any, owner: int, key: Any = None) -> None:
        """Note that something else stands at a place."""
        if isinstance(before, list) and len(before) == 1 and isinstance(before[0], Moved) and before[0].grown is now:
            return  # a list that has grown stays the list that it is
        if place.path in self._numbers:
            self.numbers.add(place.path)
        self.names.append(place.name)
        if type(now) is Undefined or now is NOTHING:
            self.writes.append(lambda made: unset_at(place, made.owners[owner] if owner >= 0 else None))
            return
        if type(now) is MaybeUnset:
            record = opened(now)
            is_set, recipe = self.recipes.output(record.is_set), self.recipes.of(record.value, place.name)

            def perhaps(made: Made) -> None:
                target = made.owners[owner] if owner >= 0 else None
                if bool(made.outputs[is_set]):
                    set_at(place, target, recipe(made))
                elif before is not NOTHING:
                    unset_at(place, target)

            self.writes.append(perhaps)
            return
        self.recipes.before[id(now)] = before
        told = self._rebindings.get(key)
        if told is not None and isinstance(told.is_other, Tensor):
            if isinstance(told.now, CONTAINERS) and (told.now is not now or told.is_changed or self._has_changed(told)):
                leave(
                    f"whether {place.name!r} still is what a loop or branch sets anew, and changes, only the run knows",
                    "",
                )
            if told.is_inherited and told.now is now and told.is_changed:
                leave(f"{place.name!r} is changed, of which a loop or branch decides whether it is the class's", "")
            if told.now is now:
                self._set_other(place, before, told, owner)
                return
        recipe = self.recipes.of(now, place.name)
        self.writes.append(lambda made: set_at(place, made.owners[owner] if owner >= 0 else None, recipe(made)))

    def _has_changed(self, told: Rebinding) -> bool:
        """Return whether what stood at a place at first has changed, too."""
        same = [one for one in self.world.holders if one.traced is told.first]
        return not all(is_unchanged(one.now(), one.before) for one in same)

    def _set_other(self, place: Place, before: Any, told: Rebinding, owner: int) -> None:
        """Note that something else stands at a place, if the run says so."""
        if told.is_part:
            leave(f"{place.name!r} is left holding a part of what it held, if a loop or branch runs", "")
        is_as_before = told.first is before or (told.is_inherited and before is NOTHING)
        first = None if is_as_before else self.recipes.of(told.first, place.name)
        is_other, other = self.recipes.output(told.is_other.plain), self.recipes.of(told.now, place.name)

        def choose(made: Made) -> None:
            recipe = other if bool(made.outputs[is_other]) else first
            if recipe is not None:
                set_at(place, made.owners[owner] if owner >= 0 else None, recipe(made))

        self.writes.append(choose)

    def _holder(self, one: Holder) -> None:
        before, now = one.before, one.now()
        place, value = one.place, one.traced
        if (grown := self.recipes.grown(one)) is not None:
            number, owner = self.recipes.output(grown), self.recipes.owner(place)
            self.names.append(place.name)
            if id(one.value) in self.world.reached.added_to:  # what it held is not looked at
                count = len(before)
                self.writes.append(lambda made: extend(made.owners[owner], made.outputs[number][count:]))
            else:
                self.writes.append(lambda made: fill(made.owners[owner], made.outputs[number]))
            return
        if one.of_elements:
            if id(one.value) in self.world.reached.added_to and isinstance(value, list):
                _leave_moved(place.name, before, now)
            self._container(place, value, before, now)
            return
        for name in dict.fromkeys([*now, *before]):
            old, new = before.get(name, NOTHING), now.get(name, NOTHING)
            if old is not new:
                owner = self.recipes.owner(place)
                inner = held_at(place, value, name)
                self._set(inner, old, new, owner, (id(value), name))
        kept = [name for name in before if name in now]
        if list(now)[: len(kept)] != kept and not isinstance(value, type):
            owner, order = self.recipes.owner(place), list(now)
            self.names.append(place.name)
            self.writes.append(lambda made: put_in_order(made.owners[owner], order))

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
        begins = [k for k in range(len(now) - count + 1) if all(map(operator.is_, now[k : k + count], before))]
        if begins and (begins[0] == 0 or is_deque):
            first = begins[0]
            left = [self.recipes.of(one, f"{place.name}[...]") for one in now[:first]]
            right = [self.recipes.of(one, f"{place.name}[...]") for one in now[first + count :]]

            def add(made: Made) -> None:
                target = made.owners[owner]
                if left:
                    deque.extendleft(target, [recipe(made) for recipe in reversed(left)])
                extend(target, [recipe(made) for recipe in right])

            self.writes.append(add)
            return
        every = [self.recipes.of(one, f"{place.name}[...]") for one in now]
        self.writes.append(lambda made: fill(made.owners[owner], [recipe(made) for recipe in every]))

    def _dict(self, place: Place, before: dict[Any, Any], now: dict[Any, Any], owner: int) -> None:
        kept = [key for key in before if key in now]
        if list(now)[: len(kept)] != kept:
            every = items_of(self.recipes, now, place.name)
            self.names.append(place.name)
            self.writes.append(lambda made: fill(made.owners[owner], {key(made): one(made) for key, one in every}))
            return
        gone = [key for key in before if key not in now]
        if gone:
            self.names.append(place.name)
            self.writes.append(lambda made: _without(made.owners[owner], gone))
        for key, new in now.items():
            old = before.get(key, NOTHING)
            if old is NOTHING and not is_constant(key):
                self._new_key(place, key, new, owner)
            elif old is not new:
                self._set(place.item(key), old, new, owner)

    def _new_key(self, place: Place, key: Any, new: Any, owner: int) -> None:
        """Note that a dict gets an element under a key that each call may make anew."""
        if type(new) in (Undefined, MaybeUnset):
            leave(f"only the run knows whether {place.name!r} gets an element whose key is an object", "")
        ((name, one),) = items_of(self.recipes, {key: new}, place.name)
        self.names.append(place.name)
        self.writes.append(lambda made: made.later.append(lambda: set_item(made.owners[owner], name(made), one(made))))


def _leave_moved(name: str, before: list[Any], now: list[Any]) -> None:
    """Let plain Python run what does more to a list than to add to it, where what it held has not been looked at."""
    if len(now) < len(before) or not all(map(operator.is_, now, before)):
        leave(f"the elements of {name!r} are made anew by a loop or branch", "")


def _without(value: dict[Any, Any], keys: Sequence[Any]) -> None:
    for key in keys:
        dict_class(value).pop(value, key)


def changes_of(world: World, value: Any) -> tuple[Changes, Recipe | None]:
    """Return what a trace has changed, and what makes of a run the result, where that holds objects of the world.

    Parameters
    ----------
    world : World
        With what the trace has left in it.
    value : object
        The result of the trace.
    """
    recipes = Recipes(world)
    recipes.know_grown()
    finder = _Finder(world, recipes)
    finder.find()
    _leave_doubtful_orders()
    leave_uncovered()
    leave_doubtful(world, recipes.arrays)
    _leave_maybe_one(value, recipes)
    _leave_copied(world, recipes, value)
    others = [inner for one in left_in(recipes, world) if isinstance(one, Maybe) for inner in containers_in(one)]
    leave_doubtful_containers(recipes.containers, containers_in(value), others, recipes.is_of_world)
    result = recipes.of(value, "what the function gives") if recipes.holds(value, set()) else None
    given = {id(one) for one in objects_in(value)}
    leave_left(lambda one: id(one) in given or recipes.is_left(one), nest.flatten(world.call, True))
    return Changes(recipes.outputs, recipes.owners, finder.writes, finder.names, finder.numbers), result


def _leave_doubtful_orders() -> None:
    graph = current_graph()
    if graph is not None and DoubtfulAttributes in graph.root.records:
        with undivided():  # which few functions need
            from ..operators.mutation.attribute_orders import leave_doubtful_orders
        leave_doubtful_orders()


def _leave_maybe_one(value: Any, recipes: Recipes) -> None:
    """Leave a function to plain Python that gives arrays of which only the run knows whether they are one."""
    leaves = nest.flatten(value)
    if (left := arrays_left(recipes)) or len(leaves) > 1 or any(map(has_objects, leaves)):
        with undivided():  # which few functions need
            from ..operators.staging.array_choices import some_may_be_one
        if some_may_be_one(value, left, recipes.firsts):
            leave("only the run knows whether two of the arrays that are given back, or left, are one", "")


def _leave_copied(world: World, recipes: Recipes, value: Any) -> None:
    graph = current_graph()
    if graph is not None and CopiesOfTrace in graph.root.records:
        with undivided():  # which few functions need
            from ..operators.staging.copied_elements import leave_copied
        seen = list(values_of(world))
        leave_copied(value, left_in(recipes, world), recipes.is_of_world, nest.flatten(world.call, True), seen)


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
                made = Made((), self._owners)
                write(made)
                made.complete()


def left_by(world: World) -> Left:
    """Return the changes made before an exception."""
    recipes = Recipes(world)
    finder = _Finder(world, recipes)
    try:
        finder.find()
    except (Exception, LeftToPython):  # something cannot be written
        return Left((), ())
    return Left(finder.writes, [world.owner_of(place) for place in recipes.owners])
