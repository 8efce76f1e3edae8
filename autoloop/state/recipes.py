"""Recipes: what makes, after a run, the values that a trace has left in the world.

A *recipe* makes a value of what a run gives: outputs of the graph, objects of the world, and new containers and objects
of these. What cannot be made so is refused with the place's name.
"""

from __future__ import annotations

import copy
import types
from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, NoReturn

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import attribute_of, owner_of
from autoloop_runtime.ir.array_storage import as_given
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.run_state import MadeVariables, Stored
from autoloop_runtime.ir.tensor import Tensor

from ..conversion.callables import is_users_class
from ..conversion.cells import value_in
from ..given_arrays import whole_of
from ..operators.mutation.heap_snapshot import is_random, stand_ins
from ..operators.mutation.outside_world import leave
from ..operators.mutation.parts_of_objects import has_state, is_wrapper, parts_of
from ..operators.mutation.rebinding import chosen
from ..operators.staging.container_contents import dict_class, elements, has_objects, instance_attributes
from ..operators.staging.instances import of_trace, which
from ..operators.staging.moved_lists import Moved
from ..operators.staging.numbers_or_arrays import as_result
from ..operators.staging.staged_values import leave_variables
from ..operators.staging.standins import Maybe, StandIn, is_growing, opened
from ..operators.staging.taken_containers import grown_of
from ..operators.staging.undefined import MaybeUnset, Undefined
from ..returned_views import copied
from .overlaps import is_made_part, part_of
from .places import Place, put
from .stateful import Made
from .unchanging import PLAIN, is_constant, is_hiding
from .world import Holder, Recipe, World

#: so many steps into what functions hold are gone
_DEEPEST = 6


class _Once:
    """A recipe that makes one object of a run, however often it is asked.

    Parameters
    ----------
    value : object
        What the trace has made.
    name : str
    may_hold_itself : bool
        Whether it is there before what it holds.
    """

    def __init__(self, value: Any, name: str, may_hold_itself: bool) -> None:
        self._key, self._name, self._may_hold_itself = id(value), name, may_hold_itself
        self.recipe: Recipe | None = None  # while what it holds is looked at

    def found_again(self) -> None:
        """Leave the function to plain Python if what is held is made before what holds it."""
        if self.recipe is None and not self._may_hold_itself:
            leave(f"{self._name!r} is left holding itself", "return it from the decorated function")

    def __call__(self, made: Made) -> Any:
        if self._key not in made.known:
            assert self.recipe is not None
            made.known[self._key] = self.recipe(made)
        return made.known[self._key]


def _refilled(value: Any, empty: Any, fill: Callable[[Any, Made], None], of_hashes: bool = False) -> Recipe:
    """Return what makes a container anew: it is there before what it holds, which may be itself, and long before where
    that are objects which are asked for their hashes."""
    number = id(value)

    def refilled(made: Made) -> Any:
        new = made.known[number] = copy.copy(empty)
        if of_hashes:
            made.later.append(lambda: fill(new, made))
        else:
            fill(new, made)
        return new

    return refilled


def _frozen(parts: list[Recipe]) -> Recipe:
    return lambda made: frozenset([part(made) for part in parts])


def _empty(value: Any, parts: list[Recipe]) -> tuple[Any, Callable[[Any, Made], None]]:
    """Return a list, set or deque without elements, and what puts those in that some recipes make."""
    new = deque(maxlen=value.maxlen) if isinstance(value, deque) else type(value)()
    add = type(value).update if isinstance(value, set) else type(value).extend
    return new, lambda new, made: add(new, [part(made) for part in parts])


def _own_dicts(world: World) -> Iterator[tuple[int, Place]]:
    """Yield the dicts in which objects of the world have their attributes, by id, and where they stand: ``vars(o)``."""
    found = [(value, place) for value, place in world.reached.seen.values() if place.kind != "call"]
    for value, place in (*found, *((one.traced, one.place) for one in world.holders)):
        if type(own := getattr(value, "__dict__", None)) is dict:
            yield id(own), place.attribute("__dict__")


class Recipes:
    """Makes recipes, and collects what they need.

    Parameters
    ----------
    world : World
    """

    def __init__(self, world: World) -> None:
        self.outputs: list[Any] = []
        #: what of the graph is left in the world, the names of the places, what stood there, and what surely stays
        #: there where it is not left
        self.arrays: list[tuple[Any, str, Any, Any]] = []
        self.before: dict[int, Any] = {}
        #: new containers that are left in the world, the names of the places, and what may surely stay there instead
        self.containers: list[tuple[Any, str, Any]] = []
        self._chosen_by_run = chosen()
        self.owners: list[Place] = []
        self._world = world
        #: objects of the world by id: what the trace sees, and where it stands
        self._known = {id(value): place for value, place in world.reached.seen.values() if place.kind != "call"}
        self._known.update((id(one.traced), one.place) for one in world.holders)
        self._known.update(_own_dicts(world))
        self._paths: dict[tuple[Any, ...], int] = {}
        self._made: dict[int, tuple[Any, _Once]] = {}
        self._given: dict[int, tuple[Any, Any]] = {}  # by id, what ``as_given`` has said
        #: by id of what they are views of, the arrays of the world, and where they stand
        self._arrays: dict[int, list[tuple[Place, Any]]] = {}
        for place, value in world.reached.arrays:
            if isinstance(value, np.ndarray):
                self._arrays.setdefault(id(whole_of(value)), []).append((place, value))
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
        value = self._given.setdefault(id(value), (value, as_given(value)))[1]
        value = value if (grown := grown_of(value)) is None else grown
        if (known := self._made.get(id(value))) is None:
            is_filled = isinstance(value, (list, dict, set, deque)) or is_users_class(type(value))
            may_be_another = id(value) in self._chosen_by_run or which(value) is not None
            once = _Once(value, name, is_filled and not may_be_another)
            self._made[id(value)] = value, once
            once.recipe = self._new(value, name)
            return once
        known[1].found_again()
        return known[1]

    def _new(self, value: Any, name: str) -> Recipe:
        place = self._known.get(id(value))
        if place is not None:
            owner = self.owner(place)
            return lambda made: made.owners[owner]
        told = self._chosen_by_run.get(id(value))
        if told is None or told.is_changed or type(told.first) in (Undefined, MaybeUnset):
            return self._other(value, name)
        is_other, first, other = self.output(told.is_other.plain), self.of(told.first, name), self._other(value, name)
        return lambda made: other(made) if bool(made.outputs[is_other]) else first(made)

    def _other(self, value: Any, name: str) -> Recipe:
        """Return what makes a value that is of no place of the world."""
        if isinstance(value, Maybe) and has_objects(opened(value).value):
            leave(f"whether {name!r} is an object or None depends on a loop or branch", "")
        if isinstance(value, StandIn) and composite_of(value) is None:
            return self.of(self._leaving(value, name), name)
        if isinstance(value, Tensor) and value.node is None:
            return lambda made: value
        if isinstance(value, Tensor) or composite_of(value) is not None:
            _leave_others(value, name)
            number = self.output(as_result(value))
            if is_growing(value):
                self.containers.append((value, name, self.firsts(value)))
            self.arrays.append((value, name, self.before.get(id(value)), self.firsts(value)))
            return lambda made: made.outputs[number]
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if (which_one := which(value)) is not None:
            return self._chosen(which_one, value, name)
        return self._structure(value, name)

    def firsts(self, value: Any) -> list[Any]:
        """Return what an array is that is not left where it stands, as the run tells."""
        found: list[Any] = []
        while (told := self._chosen_by_run.get(id(value))) is not None and not told.is_changed:
            value = told.first
            if not told.is_again:
                found.append(value)
        return found

    def _chosen(self, known: Any, value: Any, name: str) -> Recipe:
        """Return what gives an object that may be one of the world."""
        if any(one is value for one in of_trace().objects):  # an object of the world that no place leads to: `()`
            return self._structure(value, name)
        objects = [self.of(one, name) for one in of_trace().objects]
        if not isinstance(known, Tensor):
            return objects[known - 1] if known else self._structure(value, name)
        number, new = self.output(known.plain), self._structure(value, name)

        def choose(made: Made) -> Any:
            place = int(made.outputs[number])
            return objects[place - 1](made) if place else new(made)

        return choose

    def is_left(self, value: Any) -> bool:
        """Return whether an object is of the world, or left there, or given back."""
        return id(value) in self._made or id(value) in self._known

    def _array(self, value: np.ndarray[Any, Any], name: str) -> Recipe:
        """Return what gives an array of the world, or a part of one, and a copy of one that the trace has made."""
        if is_hiding(value):
            self.refuse(name, f"a new {type(value).__name__} of {value.dtype}")
        if not (known := self._arrays.get(id(whole_of(value)), [])):
            kept = copied(value, self._copies)
            return lambda made: copied(kept, made.known)
        place, array = next((one for one in known if one[1] is value), known[0])
        part = None if value is array else part_of(array, value)
        if value is not array and (len(known) > 1 or part is None or part.shape is not None):
            leave(f"{name!r} is left holding, or is a part of, an array of which the trace only knows the contents", "")
        owner = self.owner(place)
        if part is None:
            return lambda made: made.owners[owner]
        return lambda made: part(made.owners[owner])

    @staticmethod
    def _leaving(value: StandIn, name: str) -> Any:
        """Return what the world gets in place of a stand-in."""
        if isinstance(value, Moved):
            leave(f"whether {name!r} is in the list or dict that a loop or branch changes only the run knows", "")
        try:
            return opened(value).leaving()
        except TypeError:
            opened(value).refuse_leaving(f"{name!r} would still hold")

    def holds(self, value: Any, seen: set[int]) -> bool:
        """Return whether a result holds objects of the world, perhaps, new ones that hold anything, or one twice;
        ``seen`` are its containers that were looked at, by id."""
        if isinstance(value, PLAIN):
            return False
        if isinstance(value, Tensor):
            return id(value) in self._chosen_by_run
        if id(value) in self._made:
            return True
        if isinstance(value, np.ndarray):
            whole = id(whole_of(value))
            return whole in self._copies or whole in self._arrays or is_hiding(value)
        is_list = isinstance(value, (tuple, list, dict, set, deque)) or is_growing(value)
        if is_list or hasattr(type(value), "__dataclass_fields__"):
            if id(value) in self._known or id(value) in seen or which(value) is not None or grown_of(value) is not None:
                return True
            if not isinstance(value, tuple):
                seen.add(id(value))
            parts = [*value, *value.values()] if isinstance(value, dict) else () if is_growing(value) else value
            if hasattr(type(value), "__dataclass_fields__"):
                parts = instance_attributes(value).values()
            return any(self.holds(one, seen) for one in parts)
        return (id(value) in self._known and not callable(value)) or _holds_more(value)

    def grown(self, holder: Holder) -> Any:
        """Return what a list of the world has become in a staged loop or branch; None if it is what it is."""
        return grown_of(holder.traced)

    def know_grown(self) -> None:
        """Note which lists of the world are those that have grown."""
        for one in self._world.holders:
            if (grown := self.grown(one)) is not None:
                self._known[id(grown)] = one.place

    def is_of_world(self, identity: int) -> bool:
        """Return whether an object, by id, is one of the world."""
        return identity in self._known

    def _structure(self, value: Any, name: str) -> Recipe:
        kind = type(value)
        if isinstance(value, (list, dict, set, deque)):
            self.containers.append((value, name, self.firsts(value)))
        if isinstance(value, tuple):
            parts = [self.of(one, f"{name}[{k}]") for k, one in enumerate(value)]
            own = [(key, self.of(one, f"{name}.{key}")) for key, one in getattr(value, "__dict__", {}).items()]
            return lambda made: nest.tuple_of(
                kind, [part(made) for part in parts], {key: one(made) for key, one in own}
            )
        if kind in (list, set, frozenset, deque):
            parts = [self.of(one, f"{name}[...]") for one in value]
            of_hashes = isinstance(value, set) and not all(map(is_constant, value))
            return _frozen(parts) if kind is frozenset else _refilled(value, *_empty(value, parts), of_hashes)
        if isinstance(value, dict):
            return self._dict(value, name)
        if is_wrapper(value) or isinstance(value, types.FunctionType | types.BuiltinFunctionType):
            _check_callable(value, name)
            return lambda made: value
        if (recipe := _of_each_run(self, value)) is not None:
            return recipe
        if hasattr(value, "__next__"):
            self.refuse(name, f"a {kind.__name__}")
        if is_users_class(kind) or kind is types.SimpleNamespace:
            return self._object(value, name)
        if is_hiding(value):
            self.refuse(name, f"a new {kind.__name__}")
        return lambda made: value

    def _dict(self, value: Any, name: str) -> Recipe:
        empty = copy.copy(value)
        kind = dict_class(empty)
        kind.clear(empty)
        items = items_of(self, value, name)

        def fill(new: Any, made: Made) -> None:
            for key, recipe in items:
                kind.__setitem__(new, key(made), recipe(made))

        return _refilled(value, empty, fill, not all(map(is_constant, value)))

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

    @staticmethod
    def refuse(name: str, what: str) -> NoReturn:
        """Leave a function to plain Python that leaves in the world what cannot be made at each call."""
        leave(f"{name!r} is left holding {what}", "return it from the decorated function")


def _of_each_run(recipes: Recipes, value: Any) -> Recipe | None:
    """Return what makes a generator, or a variable that the function has made; None of what is neither."""
    if is_random(value):
        return lambda made: copy.deepcopy(value)
    if not _is_made_variable(value):
        return None
    number = recipes.output(value.read_value())

    def made_variable(made: Made) -> Any:
        if not made.outputs and value.own_storage.value is not None:  # the trace has raised: it is the only run
            return value
        return value.made_again(made.outputs[number].value)

    return made_variable


def _is_made_variable(value: Any) -> bool:
    """Return whether something is a variable that the function has made which is traced."""
    graph = current_graph() if isinstance(value, Stored) else None
    return graph is not None and any(one is value for one in graph.root.records.get(MadeVariables, ()))


def _leave_others(value: Any, name: str) -> None:
    """Let plain Python run what leaves a variable, or an argument that is another array to the trace."""
    if is_made_part(value):
        leave(f"{name!r} is left holding an argument that overlaps with another one, which is written to", "")
    leave_variables((value,))


def items_of(recipes: Recipes, value: dict[Any, Any], name: str) -> list[tuple[Recipe, Recipe]]:
    """Return what makes the keys and the values of a dict: a key may be, or hold, an object as any value."""
    made: list[tuple[Recipe, Recipe]] = []
    for key, one in value.items():
        made.append((recipes.of(key, f"a key of {name}"), recipes.of(one, f"{name}[{nest.key_text(key)}]")))
    return made


def _holds_more(value: Any) -> bool:
    """Return whether a part of a result, or a key in it, holds what each call makes anew."""
    if isinstance(value, types.FunctionType):
        return _is_of_graph(value, _DEEPEST)
    return has_state(value) or is_hiding(value)


def arrays_left(recipes: Recipes) -> list[Any]:
    """Return the arrays that are left in the world: those of the graph, and real ones that the trace has made."""
    real = [value for value, _ in recipes._made.values() if isinstance(value, np.ndarray)]
    return [*[one for one, *_ in recipes.arrays], *real]


def left_in(recipes: Recipes, world: World) -> list[Any]:
    """Return what is left in the world, or given back, and the lists of the world that have grown."""
    grown = [recipes.grown(one) for one in world.holders]
    return [*[value for value, _ in recipes._made.values()], *[one for one in grown if one is not None]]


def _check_callable(value: Any, name: str) -> None:
    """Raise if a function, or what is around one, holds what only a run knows."""
    if any(_is_of_graph(one, _DEEPEST) for one in _held_by_callable(value)) or any(stand_ins([value])):
        Recipes.refuse(name, "a function that holds values of the graph")


def _held_by_callable(value: Any) -> list[Any]:
    """Return what a function holds in its closure, or as its instance, and what is around one holds."""
    inner = attribute_of(value, "__func__", value)
    held = [value_in(cell) for cell in attribute_of(inner, "__closure__") or ()]
    held += [*(attribute_of(inner, "__defaults__") or ()), *(attribute_of(inner, "__kwdefaults__") or {}).values()]
    held.append(owner_of(value))
    return held + ([one for _, _, one in parts_of(value)] if is_wrapper(value) else [])


def _is_of_graph(value: Any, steps: int) -> bool:
    """Return whether something is, or a function or what is around one holds, a value that only a run knows."""
    if isinstance(value, Tensor):
        return value.node is not None
    if _is_made_variable(value):
        return True
    if not steps:
        return False
    if isinstance(value, (tuple, list, dict)):
        return any(_is_of_graph(one, steps - 1) for one in elements(value))
    if is_wrapper(value) or isinstance(value, types.FunctionType):
        return any(_is_of_graph(one, steps - 1) for one in _held_by_callable(value))
    return False
