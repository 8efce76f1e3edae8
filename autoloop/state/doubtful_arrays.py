"""Arrays, lists and dicts that a trace leaves in the world without knowing which they are.

After a staged loop or branch a name may hold one array or another, as the run decides, as after ``self.u, self.v =
self.v, self.u``. A graph gives the values. As long as nobody else has a name for any of the arrays in question that
is all there is to see; where somebody has, what is written through one name later would not be seen through the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_storage import Storage, kept
from autoloop_runtime.ir.tensor import Tensor

from ..conversion.cells import value_in
from ..given_arrays import whole_of
from ..operators.mutation.outside_world import leave
from ..operators.staging.maybe_same import are_some, forget, maybe_same
from ..operators.staging.standins import Maybe, opened
from ..operators.staging.told_arrays import are_told
from .world import World


def leave_doubtful(world: World, left: Sequence[tuple[Any, str, Any, list[Any]]]) -> None:
    """Leave a function to plain Python that leaves an array behind which may be one that others may know.

    Parameters
    ----------
    world : World
        With what the trace has left in it.
    left : sequence of (Tensor, str, object, list)
        What the trace leaves in it, the names of the places, what stood there, and which objects the run tells it from.
    """
    doubtful = [
        (one, name, kept(before), firsts)
        for one, name, before, firsts in left
        if (_others(one) or _sources(one)) and not are_told((one, firsts), with_views=True)
    ]
    if not doubtful:
        return
    storages, arrays = _held(world)
    storages |= {storage for one, *_ in left if (storage := _memory(one)) is not None}
    for one, name, before, firsts in doubtful:
        # what stood there at first is told apart, but not other handles of the same memory
        again, known = _handled(one, firsts) & storages, [kept(first) for first in firsts]
        others = [other for other in _others(one) if other not in known or other in again]
        is_held = any(other in storages or not (other.argument is None or other is before) for other in others)
        if is_held or any(id(whole_of(array)) in arrays for array in _sources(one)):
            leave(
                f"which array {name!r} is left holding depends on a loop or branch, and others may hold it",
                "assign a copy, x.copy()",
            )


def leave_doubtful_containers(
    left: Sequence[tuple[Any, str, Any]],
    given: Sequence[Any],
    others: Sequence[Any],
    is_of_world: Callable[[int], bool],
) -> None:
    """Do so for a list or dict: a new one is left where the world's own, or another one that is left, may be meant.

    Parameters
    ----------
    left : sequence of (object, str, sequence)
        The new ones, the names of their places, and what surely stays there where it is not left.
    given : sequence
        Those that the function gives back.
    others : sequence
        What else is left: in what may not be there.
    is_of_world : callable
        Tells of an id whether it is that of something in the world.
    """
    if not are_some():
        return
    new = {id(one) for one, *_ in left}
    results = [(one, "what the function gives", ()) for one in given if id(one) not in new]
    new |= {id(one) for one in (*given, *others)}
    for one, name, firsts in (*left, *results):
        same = maybe_same(one) - {id(one), *map(id, firsts)}
        if any(other in new or is_of_world(other) for other in same):
            leave(
                f"which {type(one).__name__} {name!r} is left holding depends on a loop or branch, and others may hold "
                f"it",
                "assign a copy, x.copy()",
            )
    forget()


def _others(value: Any) -> list[Storage]:
    """Return the memory that an array may be, beside its own."""
    storage = _memory(value)
    return storage.origins()[1:] if storage is not None else []


def _handled(value: Any, firsts: list[Any]) -> set[Storage]:
    """Return the memory of what an array may be, beside some objects."""
    found: set[Storage] = set()
    todo, seen = [value], set()
    while todo:
        storage = _memory(todo.pop())
        if storage is not None and storage not in seen:
            seen.add(storage)
            others = [
                one for one, is_known in storage.handles if not is_known or not any(one is first for first in firsts)
            ]
            found.update(inner for one in others if (inner := _memory(one)) is not None)
            todo += others
    return found


def _sources(value: Any) -> list[Any]:
    storage = _memory(value)
    return storage.sources if storage is not None else []


def _memory(value: Any) -> Storage | None:
    while isinstance(value, Maybe):
        value = opened(value).value
    return kept(value)


def _held(world: World) -> tuple[set[Storage], set[int]]:
    """Return the memory that names of the world and the arguments hold for sure: of tracers, and of real arrays."""
    storages: set[Storage] = set()
    arrays: set[int] = set()
    for value in values_of(world):
        if isinstance(value, Tensor):
            if (storage := kept(value)) is not None and not _others(value):
                storages.add(storage)
        elif isinstance(value, np.ndarray):
            arrays.add(id(whole_of(value)))
    return storages, arrays


def values_of(world: World) -> Iterator[Any]:
    """Yield the arguments, and what is held by variables and by what may change."""
    yield from nest.flatten(world.traced_call)
    for namespace, name, _ in world.variables:
        yield namespace.get(name)
    for _, cell, _ in world.cells:
        yield value_in(cell)
    for holder in world.holders:
        now = holder.now()
        yield from now.values() if isinstance(now, dict) else now if isinstance(now, (list, set)) else ()
