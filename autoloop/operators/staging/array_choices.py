"""Which arrays may be one, behind loops and branches that decide which array a name holds.

A graph gives values. Where two of the arrays that others see at the end of a trace are one in some runs, and two in
others, plain Python runs the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_storage import Storage, kept
from autoloop_runtime.ir.graph import Graph

from .container_contents import instance_attributes, objects_in
from .standins import Maybe, opened


def memory_of(value: Any) -> Storage | None:
    """Return the memory of an array with axes, be it one that may not be there."""
    while isinstance(value, Maybe):
        value = opened(value).value
    storage = kept(value)
    return None if storage is None or value.shape.rank == 0 else storage


def _chosen_from(storage: Storage) -> list[Storage]:
    """Return the memory that some may be, as one decision says."""
    arrays = () if storage.choice is None else storage.choice.arrays()
    return [one for one in map(memory_of, arrays) if one is not None]


def may_be(storage: Storage) -> set[Storage]:
    """Return memory and all that it may be, in any iteration."""
    found, todo = set[Storage](), [storage]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += [*_chosen_from(one), *one.origins()]
    return found


def is_inside(graph: Graph | None, around: Graph | None) -> bool:
    """Return whether a graph is another one, or in it."""
    while graph is not None and graph is not around:
        graph = graph.parent
    return graph is not None


def arrays_in(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the arrays in some values, and those that objects in these hold."""
    for value in values:
        holders = [value, *[instance_attributes(one) for one in objects_in(value)]]
        for leaf in nest.flatten(holders):
            if memory_of(leaf) is not None or (isinstance(leaf, np.ndarray) and leaf.ndim):
                yield leaf


class _Asked:
    """A question, whether two names are one array at one moment of a run, and those that it leads to."""

    def __init__(self) -> None:
        self._pairs: set[tuple[Storage, Storage]] = set()

    def may_be_one(self, one: Storage | None, other: Storage | None) -> bool:
        """Return whether memory may be one."""
        if one is None or other is None:
            return False
        if one is other:
            return True
        if (one, other) in self._pairs or (other, one) in self._pairs:
            return False
        self._pairs.add((one, other))
        mine, its = one.choice, other.choice
        if mine is None and its is None:
            return other in one.origins() or one in other.origins()
        if mine is None or (its is not None and its.number > mine.number):
            one, other, mine, its = other, one, its, mine
        assert mine is not None
        arrays = [memory_of(array) for array in mine.arrays()]
        if its is not None and its.decided == mine.decided:
            return any(self.may_be_one(a, b) for a, b in zip(arrays, map(memory_of, its.arrays())))
        if mine.begun is not None and its is None and is_inside(other.graph, mine.begun):
            return False  # made since the iteration has begun
        return any(self.may_be_one(array, other) for array in arrays)


def some_may_be_one(value: Any, left: Iterable[Any], is_told: Callable[[Any], bool]) -> bool:
    """Return whether two arrays are one in some runs, and two in others, of which one at least is in a value.

    Parameters
    ----------
    value : object
    left : iterable
        What else others see.
    is_told : callable
        Returns of an array whether the run says which it is.
    """
    mine = dict.fromkeys(memory_of(one) for one in arrays_in([value]) if not is_told(one))
    known = [(storage, may_be(storage)) for storage in mine if storage is not None]
    others = [storage for one in arrays_in(left) if (storage := memory_of(one)) is not None]
    for place, (one, its) in enumerate(known):
        for other, found in (*known[:place], *[(storage, may_be(storage)) for storage in others]):
            if other is not one and not its.isdisjoint(found) and _Asked().may_be_one(one, other):
                return True
    return False
