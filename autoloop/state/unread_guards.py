"""Guards of a trace of which the values that it has read say nothing.

Objects that a trace takes for several: at each call they have to be.

Two lists that are only added to, two dicts that hold the same, two arrays that a test compares by ``is``, two objects
that it compares by ``==`` or looks for in a set: when they become one between two calls, all that is guarded of them
may stand as it did.

Places that a function sets and never reads: ``self.best = None``.

They are not guarded, for what stands there does not matter. Where the trace has put there what stood there anyhow, it
looks as if nothing had been set: then it has to stand there at each call, or the function is traced again.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Sequence
from typing import Any

from ..conversion.cells import value_in
from ..operators.staging.container_contents import in_class
from ..sent_by_name import SentByName
from .noted import Guard, Reached
from .places import Place, held_at
from .unchanging import PLAIN
from .world import NOTHING, World


def guards_of_several(reached: Reached, written: Sequence[Place], arrays: Sequence[Place]) -> list[Guard]:
    """Return the guards of objects that have to be several.

    Parameters
    ----------
    reached : Reached
    written : sequence of Place
        The places of containers and objects that the trace changes.
    arrays : sequence of Place
        The places of arrays that are inputs, each another one.
    """
    asked = reached.names.identities
    paths = {place.path for place in written}
    kinds: dict[type[Any], list[Place]] = {}
    for place, value in reached.holders:
        if not isinstance(value, type):
            kinds.setdefault(type(value), []).append(place)
    for kind, around in _around(reached).items():
        if any(place.path[0] not in ("value", "global") for place in around):
            kinds[kind] = around
    groups = [
        places
        for kind, places in kinds.items()
        if asked or _is_compared_by_identity(kind) or not paths.isdisjoint(place.path for place in places)
    ]
    if asked:
        groups.append([*arrays])
    # a variable that one function sets, and another one reads or sets
    if any(place.parent and place.name in reached.names.stored for place, _ in reached.cells):
        groups.append([place.parent or Place("value", None, cell, place.name) for place, cell in reached.cells])
    return [Guard("apart", first, others) for first, *others in filter(None, groups) if others]


def _around(reached: Reached) -> dict[type[Any], list[Place]]:
    """Return what stands around functions, by its types, and is told by what it holds alone."""
    kinds: dict[type[Any], list[Place]] = {}
    for value, place in reached.seen.values():
        if isinstance(value, (functools.partial, SentByName, types.MethodType)):
            kinds.setdefault(type(value), []).append(place)
    return kinds


def _is_compared_by_identity(kind: type[Any]) -> bool:
    """Return whether ``==``, ``in``, sets and dicts ask which objects of a class are one: there is no telling what code
    does that."""
    return in_class(kind, "__eq__") is object.__eq__


def guards_of_unread(world: World) -> list[Guard]:
    """Return the guards of what the trace has left where it stood, and may have set: of constants, and of others."""
    names = world.reached.names
    known = {id(value): place for value, place in world.reached.seen.values()}
    known.update((id(value), place) for place, value in world.reached.arrays)
    guards = []
    for name, place, before, now in _places(world):
        if now is before and name in names.stored and name not in names:
            if isinstance(now, PLAIN):
                guards.append(Guard("equal", place, before))
            elif (other := known.get(id(now))) is not None:
                guards.append(Guard("same", place, other))
    return guards


def _places(world: World) -> Iterator[tuple[str, Place, Any, Any]]:
    for namespace, name, before in world.variables:
        yield name, Place("global", None, (namespace, name), name), before, namespace.get(name, NOTHING)
    for place, cell, before in world.cells:
        yield place.name, place, before, value_in(cell, NOTHING)
    stored = world.reached.names.stored
    for one in world.holders:
        if not one.of_elements:
            now = one.now()
            for name in stored & one.before.keys():
                inner = held_at(one.place, one.traced, name)
                yield name, inner, one.before[name], now.get(name, NOTHING)
