"""The world of one trace: tracers stand in its places while the function is traced, and everything is put back."""

from __future__ import annotations

import functools
import itertools
import sys
import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.tensor import Tensor

from .. import state
from ..conversion.callables import is_users_class
from ..conversion.cells import value_in
from ..conversion.known_effects import is_nameless
from ..given_arrays import ForeignArray
from ..keys import Number, is_input
from ..operators.mutation.heap_snapshot import MOST_NUMBERS, contents
from ..operators.mutation.installed_packages import roots_of
from ..operators.mutation.outside_world import leave
from ..operators.staging.container_contents import fill, instance_attributes, put_in_order
from ..sent_by_name import SentByName
from .noted import Guard, Reached
from .overlaps import Related, Relations, guards_of_shared
from .places import CALL, Place, put, set_at, take_away
from .stateful import Made

if TYPE_CHECKING:
    from autoloop_runtime.ir.graph import Graph

    from .retrials import Request

#: a variable without a value, an attribute that is not there
NOTHING: Any = object()
#: what has elements
_CONTAINERS = (list, dict, set, deque, bytearray)

Recipe = Callable[[Made], Any]
Write = Callable[[Made], None]


@dataclass(frozen=True, eq=False)
class Changes:
    """What is to be done after each run.

    Attributes
    ----------
    outputs : list of Tensor
        What the graph gives for it.
    owners : list of Place
        What it needs to be found.
    writes : list of callable
        Each takes a ``Made``.
    names : list of str
        What messages call the places.
    numbers : set of tuple
        The paths of numbers that are given another value.
    """

    outputs: list[Any]
    owners: list[Place]
    writes: list[Write]
    names: list[str]
    numbers: set[tuple[Any, ...]]


class Holder:
    """A container, object or class that may change, and what it held: at first, and with tracers in its places.

    Attributes
    ----------
    place, value : Place, object
    traced : object
        What the trace sees in its place.
    of_elements : bool
        Whether it is looked at as a container: what it holds are its elements. A container of a class of the user's
        has attributes besides, and these another holder.
    before : object
    """

    def __init__(self, place: Place, value: Any, traced: Any, of_elements: bool) -> None:
        self.place, self.value, self.traced, self.of_elements = place, value, traced, of_elements
        self.before: Any = None
        self._first = self._held(value)

    def _held(self, value: Any) -> Any:
        if self.of_elements or not isinstance(value, _CONTAINERS):
            return held(value)
        return instance_attributes(value)

    def begin(self) -> None:
        """Note what it holds when the trace begins."""
        self.before = self._held(self.traced)

    def now(self) -> Any:
        """Return what it holds now."""
        return self._held(self.traced)

    def is_untouched(self) -> bool:
        """Return whether it is no container, and its attributes are what they were when the trace began."""
        if self.of_elements:
            return False
        return is_unchanged(self.now(), self.before)

    def put_back(self) -> None:
        """Let it hold what it held at first."""
        value, now, first = self.value, self._held(self.value), self._first
        if not self.of_elements:
            for name in [name for name in now if name not in first]:
                take_away(value, name)
            for name, one in first.items():
                if now.get(name, NOTHING) is not one:
                    put(value, name, one)
            put_in_order(value, list(first))
        elif not is_unchanged(now, first):
            fill(value, first)


def holders_of(place: Place, value: Any, traced: Any) -> list[Holder]:
    """Return what notes the changes of something that may change: its attributes, its elements, or both."""
    if not isinstance(value, _CONTAINERS):
        return [Holder(place, value, traced, not isinstance(held(value), dict))]
    kinds = (True, False) if is_users_class(type(value)) else (True,)
    return [Holder(place, value, traced, one) for one in kinds]


def held(value: Any) -> Any:
    """Return a copy of what something holds: a list, set or dict, of an object its attributes."""
    if isinstance(value, types.SimpleNamespace) or hasattr(type(value), "__dataclass_fields__"):
        return instance_attributes(value)
    found = contents(value)
    return instance_attributes(value) if found is None else found


def is_unchanged(now: Any, first: Any) -> bool:
    """Return whether something holds the very objects that it held; both are copies of what it holds."""
    if isinstance(now, dict):
        return list(now) == list(first) and all(one is first[key] for key, one in now.items())
    if isinstance(now, list):
        return len(now) == len(first) and all(one is other for one, other in zip(now, first))
    return bool(now == first)


class World:
    """What stands in the places of a trace before, during and after it.

    Parameters
    ----------
    reached : Reached
    call : tuple
        The arguments.
    receiver : callable or None
        Gives the instance of a method.
    """

    def __init__(self, reached: Reached, call: tuple[Any, ...], receiver: Callable[[], Any] | None) -> None:
        self.reached, self.call, self.receiver = reached, call, receiver
        self.holders: list[Holder] = []
        self.variables: list[tuple[dict[str, Any], str, Any]] = []
        self.cells: list[tuple[Place, types.CellType, Any]] = []
        self._first: list[tuple[dict[str, Any], str, Any]] = []
        self._first_cells: list[tuple[types.CellType, Any]] = []
        #: where tracers, and tuples of them, were put, and what stood there
        self._placed: list[tuple[Place, Any, Any]] = []
        #: what stands for the arguments in the trace
        self.traced_call: tuple[Any, ...] = ()
        self._known: set[int] | None = None
        self._standing = state.Standing(reached.generators) if reached.generators else None
        roots = _roots_of(reached)
        self._libraries = state.Libraries(roots) if roots else None

    def leave_drawn(self) -> None:
        """Leave a function to Python of which code that no run knows has drawn random numbers while it was traced."""
        for name in self._standing.moved() if self._standing is not None else ():
            leave(f"code that is not converted draws random numbers from {name!r}", "")

    def knows(self, value: Any) -> bool:
        """Return whether an object is there before the trace, as what it is or as what stands for it."""
        if self._known is None:
            self._known = {*self.reached.seen, *[id(one.traced) for one in self.holders]}
        return id(value) in self._known

    def is_settable(self, place: Place) -> bool:
        """Return whether another value can stand at a place."""
        if place.kind in ("global", "cell", "member"):
            return True
        owner = place.parent.find(self.call, self.receiver) if place.parent is not None else None
        if place.kind in ("attribute", "own"):
            if isinstance(owner, types.FunctionType):
                return str(place.key) != "__kwdefaults__"
            if isinstance(owner, functools.partial):
                return str(place.key) == "args"
            is_pythons = type(owner).__module__ in ("functools", "builtins") and not is_nameless(type(owner))
            return not is_pythons and not isinstance(owner, SentByName)
        if isinstance(owner, tuple):
            return place.parent is not None and place.parent is not CALL and self.is_settable(place.parent)
        return isinstance(owner, (list, dict, deque))

    def enter(self, tracers: Sequence[tuple[Place, Any]], traced_call: tuple[Any, ...]) -> None:
        """Let tracers stand in their places."""
        self.traced_call = traced_call
        every = [holders_of(place, one, self._traced(place, one)) for place, one in self.reached.holders]
        self.holders = [*itertools.chain(*every)]
        used = list(self.reached.variables.values())
        self._first = [(namespace, name, namespace.get(name, NOTHING)) for namespace, name in used]
        self._first_cells = [(cell, value_in(cell, NOTHING)) for _, cell in self.reached.cells]
        self._place([*tracers, *self._given_twice()])
        self.variables = [(namespace, name, namespace.get(name, NOTHING)) for namespace, name in used]
        self.cells = [(place, cell, value_in(cell, NOTHING)) for place, cell in self.reached.cells]
        for one in self.holders:
            one.begin()

    def joined(self, traced_call: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what stands for the arguments, with one list or dict where the arguments have one twice."""
        given = {id(place) for _, place in self.reached.given.values()}
        twice = any(one.kind == "same" and id(one.known) in given for one in self.reached.guards)
        joined: tuple[Any, ...] = _joined(self.call, traced_call, {}) if twice else traced_call
        return joined

    def _given_twice(self) -> list[tuple[Place, Any]]:
        """Return where containers among the arguments stand besides, and what stands for them in the trace."""
        given, twice = {id(place) for _, place in self.reached.given.values()}, []
        for guard in self.reached.guards if given else ():
            if guard.place.parent is CALL or id(guard.place.parent) in given:  # see `joined`
                continue
            if guard.kind == "same" and id(guard.known) in given:
                if not self.is_settable(guard.place):
                    leave(f"{guard.place.name!r} is an argument, or part of one, too", "")
                twice.append((guard.place, guard.known.find(self.traced_call, self.receiver)))
            elif guard.kind == "is" and id(guard.place) in given:
                leave(f"{guard.place.name!r}, or a part of it, is also a key, or an element of a set", "")
        return twice

    def _traced(self, place: Place, value: Any) -> Any:
        """Return what the trace sees in place of a container: of one among the arguments another one."""
        root = place
        while root.parent is not None:
            root = root.parent
        if root is not CALL:
            return value
        return place.find(self.traced_call, self.receiver)

    def _place(self, tracers: Sequence[tuple[Place, Any]]) -> None:
        pending: dict[tuple[Any, ...], tuple[Place, Any, dict[int, Any]]] = {
            place.path: (place, tracer, {}) for place, tracer in tracers
        }
        owners = {
            path: place.parent.find(self.call, self.receiver) if place.parent is not None else None
            for path, (place, _, _) in pending.items()
        }
        while pending:
            path = max(pending, key=len)
            place, value, parts = pending.pop(path)
            if parts:
                elements = [parts.get(k, one) for k, one in enumerate(value)]
                value = nest.like(value, elements)
            owner, parent = owners[path], place.parent
            if isinstance(owner, tuple) and parent is not None:
                if parent.path not in pending:
                    owners[parent.path] = (
                        parent.parent.find(self.call, self.receiver) if parent.parent is not None else None
                    )
                    pending[parent.path] = (parent, owner, {})
                pending[parent.path][2][place.key] = value
            else:
                self._placed.append((place, owner, place.step(owner)))
                set_at(place, owner, value)

    def put_back(self) -> None:
        """Let everything be as it was before the trace."""
        if self._standing is not None:
            self._standing.put_back()
        for place, owner, first in reversed(self._placed):
            if place.kind in ("attribute", "own"):  # of functions too, which are no holders
                set_at(place, owner, first)
        for namespace, name, first in self._first:
            if first is NOTHING:
                namespace.pop(name, None)
            elif namespace.get(name, NOTHING) is not first:
                namespace[name] = first
        for cell, first in self._first_cells:
            if first is NOTHING:
                if value_in(cell, NOTHING) is not NOTHING:
                    del cell.cell_contents
            elif value_in(cell, NOTHING) is not first:
                cell.cell_contents = first
        for one in self.holders:
            one.put_back()
        if self._libraries is not None:
            self._libraries.put_back()

    def leave_kept(self, function: Any, needs_graph: bool) -> None:
        """Leave a function to Python of which a library has kept something while it was traced, now put back."""
        if self._libraries is not None:
            self._libraries.leave(function, needs_graph)

    def is_untouched(self) -> bool:
        """Return whether all that is in it, variables and attributes, is what it was when the trace began."""
        return (
            all(one.is_untouched() for one in self.holders)
            and all(namespace.get(name, NOTHING) is before for namespace, name, before in self.variables)
            and all(value_in(cell, NOTHING) is before for _, cell, before in self.cells)
        )

    def owner_of(self, place: Place) -> Any:
        """Return what a place is in the trace."""
        return self._traced(place, place.find(self.call, self.receiver))


def _roots_of(reached: Reached) -> list[tuple[str, Any]]:
    """Return where installed packages begin, see ``installed_packages``."""
    values = [(place.name, value) for place, value in reached.of_libraries]
    classes = [value for _, value in reached.holders if isinstance(value, type)]
    names = reached.names
    modules = [*reached.modules.values(), *map(sys.modules.get, names.imported)]
    return roots_of(values, classes, modules, lambda name: names.use(name) or name in names.stored)


def _joined(value: Any, traced: Any, known: dict[int, Any]) -> Any:
    """Return what stands for a structure, with the first that stands for a list or dict wherever it is; ``known``: by
    id, those so far."""
    if isinstance(value, (list, deque, dict)):
        if id(value) in known:
            return known[id(value)]
        known[id(value)] = traced
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            if (inner := _joined(one, traced[key], known)) is not traced[key]:
                traced[key] = inner
    elif isinstance(value, tuple):
        parts = [_joined(one, its, known) for one, its in zip(value, traced, strict=True)]
        return traced if all(one is its for one, its in zip(parts, traced)) else nest.like(traced, parts)
    elif hasattr(type(value), "__dataclass_fields__"):
        mine = instance_attributes(traced)
        for name, one in instance_attributes(value).items():
            if name in mine and (inner := _joined(one, mine[name], known)) is not mine[name]:
                put(traced, name, inner)
    return traced


class WorldInputs:
    """What of a world are the inputs of one trace, and what is guarded instead.

    Parameters
    ----------
    world : World
    by_reference : bool
        Whether arrays are inputs where that can be.
    numbers : frozenset
        The paths of the numbers that are inputs.

    Attributes
    ----------
    places, leaves : list
        Where the inputs stand, and what stands there.
    guards : list of Guard
    numbers : dict
        The numbers that are guarded, by their paths.
    """

    def __init__(self, world: World, by_reference: bool, numbers: frozenset[Any]) -> None:
        self.places: list[Place] = []
        self.leaves: list[Any] = []
        self.guards = list(world.reached.guards)
        self.numbers: dict[Any, Any] = {}
        for place, value in world.reached.numbers:
            if place.path in numbers and world.is_settable(place) and (number := _number(value)) is not None:
                self._add(place, number)
            else:
                self.guards.append(Guard("equal", place, value))
                self.numbers[place.path] = value
        constants: list[tuple[Place, Any]] = []
        for place, value in world.reached.arrays:
            if by_reference and world.is_settable(place):
                self._add(place, value)
            elif isinstance(value, Tensor):
                self.guards.append(Guard("is", place, value))
            elif value.size <= MOST_NUMBERS:
                self.guards.append(Guard("contents", place, value.copy()))
                constants.append((place, value))
            else:
                leave(f"the values are needed of the array {place.name!r}, too large to be compared at each call,", "")
        self.guards += guards_of_shared(constants)
        for place, value in world.reached.of_others:
            if not world.is_settable(place):
                leave(f"the array {place.name!r} of {value.namespace.name} is used, and stands where none can", "")
            self._add(place, value)

    def tell(self, graph: Graph, request: Request) -> None:
        """Tell a graph of the trace that fills it."""
        for name, setting in request.settings.items():
            setattr(graph, name, setting)
        if graph.theirs is not None:
            graph.theirs.forget()
        if self._has_foreign:
            state.let_be_theirs(graph, request, self.leaves, self.places)

    @property
    def _has_foreign(self) -> bool:
        return any(type(leaf) is ForeignArray for leaf in self.leaves)

    def _add(self, place: Place, leaf: Any) -> None:
        self.places.append(place)
        self.leaves.append(leaf)

    def related(
        self, arguments: Sequence[Any], same: Sequence[int]
    ) -> tuple[Relations, list[Related | state.SameForeign]]:
        """Return how the arrays of a call and of the world share memory, and what of that has to be seen at a call.

        ``same`` says which of the arguments is the same array as which.
        """
        related: list[Related | state.SameForeign] = []
        if self._has_foreign:
            self.leaves, told, firsts = state.joined_foreign(arguments, self.leaves)
            related += [told] if told is not None else []
            twice = [(k, first) for k, first in enumerate(firsts) if first != k]
            self.guards += [Guard("same", self.places[k], self.places[first]) for k, first in twice]
        every, count = [*arguments, *self.leaves], len(arguments)
        found = Relations(every, count, list(same), self.places)
        self.leaves = every[count:]
        parts = {**{k: (first, None) for k, first in enumerate(found.first) if first != k}, **found.parts}
        for k, (whole, part) in parts.items():
            if k >= count and whole >= count:
                place, other = self.places[k - count], self.places[whole - count]
                # what the trace has taken for one object: one put where the other stood anyhow is no change
                kind = "same" if every[k] is every[whole] else "memory"
                self.guards.append(Guard(kind, place, other) if part is None else Guard("part", place, (other, part)))
            elif k >= count or whole >= count:
                argument, place_of = min(k, whole), max(k, whole) - count
                inputs = sum(is_input(one) for one in every[:argument])
                related.append(Related(inputs, place_of, part, whole < count, every[k] is every[whole]))
        return found, related


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value
    try:
        return Number(value)
    except OverflowError:
        return None
