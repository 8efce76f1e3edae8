"""Which arrays may be one, behind loops and branches that decide which array a name holds.

A graph gives values. Where two of the arrays that others see at the end of a trace are one in some runs, and two in
others, plain Python runs the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_storage import Choice, Storage, kept
from autoloop_runtime.ir.graph import Graph

from ...given_arrays import whole_of
from .container_contents import instance_attributes, objects_in
from .told_arrays import are_told, is_array, there

#: that of an array of the trace, or which real array it is, by id
Memory: TypeAlias = Storage | int


def memory_of(value: Any) -> Storage | None:
    """Return the memory of an array with axes, or another library's, be it one that may not be there."""
    value = there(value)
    return kept(value) if is_array(value) else None


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


def every_memory(value: Any) -> set[Memory]:
    """Return all that an array may be, in any iteration, real arrays included."""
    found, todo = set[Memory](), [place_of(value)]
    while todo:
        one = todo.pop()
        if one is None or one in found:
            continue
        found.add(one)
        if isinstance(one, Storage):
            todo += [] if one.choice is None else map(place_of, one.choice.arrays())
            todo += [*one.origins(), *map(place_of, one.own_sources)]
    return found


def is_inside(graph: Graph | None, around: Graph | None) -> bool:
    """Return whether a graph is another one, or in it."""
    while graph is not None and graph is not around:
        graph = graph.parent
    return graph is not None


def is_new(storage: Storage, loop: Graph | None, around: tuple[Storage, ...] = ()) -> bool:
    """Return whether each iteration of a loop has memory of its own there."""
    if storage.argument is not None or storage.own_sources or storage in around:
        return False
    choice = storage.choice
    if choice is None:
        others = storage.origins()[1:]
        is_of_loop = loop is None or is_inside(storage.graph, loop)
        return is_of_loop and all(is_new(one, loop, (*around, storage)) for one in others)
    arrays = choice.arrays()
    if choice.begun is not None:
        if choice.begun is not loop:
            return False
        arrays = arrays[-1:]  # what the iteration before has left
    elif loop is not None and not is_inside(storage.graph, loop):
        return False
    inner = [memory_of(array) for array in arrays]
    return all(one is not None and is_new(one, loop, (*around, storage)) for one in inner)


def may_be_one(one: Any, other: Any) -> bool:
    """Return whether two arrays, one of which loops and branches have chosen, may be one: only the run knows."""
    mine, its = place_of(one), place_of(other)
    if mine is None or its is None:
        return False
    return _Asked(()).may_be_one(mine, its) or any(map(_may_become, (mine, its), (its, mine)))


def _may_become(memory: Memory, other: Memory) -> bool:
    """Return whether an iteration began with some of which it is not known what it leaves there: the other, maybe."""
    choice = _choice(memory)
    if choice is None or choice.begun is None or choice.arrays()[-1] is not None:
        return False
    return _choice(other) is not None or not _is_made_in(other, choice.begun)  # since it has begun


def arrays_in(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the arrays in some values, and those that objects in these hold."""
    for value in values:
        holders = [value, *[instance_attributes(one) for one in objects_in(value)]]
        for leaf in nest.flatten(holders):
            if memory_of(leaf) is not None or (isinstance(leaf, np.ndarray) and leaf.ndim):
                yield leaf


class _Asked:
    """A question, whether two names are one array at one moment of a run, and those that it leads to.

    Parameters
    ----------
    told : collection of object
        Arrays that the run tells apart itself.
    """

    def __init__(self, told: Sequence[Any]) -> None:
        self._told = {id(one) for one in told}
        self._pairs: set[tuple[Memory, Memory]] = set()

    def may_be_one(self, one: Memory | None, other: Memory | None) -> bool:
        """Return whether memory may be one."""
        if one is None or other is None:
            return False
        if one == other:
            return True
        if (one, other) in self._pairs or (other, one) in self._pairs:
            return False
        self._pairs.add((one, other))
        mine, its = _choice(one), _choice(other)
        if mine is None and its is None:
            return not _origins(one).isdisjoint(_origins(other))
        if mine is None or (its is not None and its.number > mine.number):
            one, other, mine, its = other, one, its, mine
        assert mine is not None
        arrays = self._arrays(mine)
        if its is not None and its.decided == mine.decided:
            return any(map(self.may_be_one, arrays, self._arrays(its)))
        if mine.begun is not None and its is None and _is_made_in(other, mine.begun):
            return False  # since the iteration has begun
        return any(self.may_be_one(array, other) for array in arrays)

    def _arrays(self, choice: Choice) -> list[Memory | None]:
        return [None if id(array) in self._told else place_of(array) for array in choice.arrays()]


def _is_made_in(memory: Memory, graph: Graph) -> bool:
    return isinstance(memory, Storage) and is_inside(memory.graph, graph)


def _choice(memory: Memory) -> Choice | None:
    return memory.choice if isinstance(memory, Storage) else None


def _origins(memory: Memory) -> set[Memory]:
    """Return what memory may be, but for what the order of elements decides."""
    if not isinstance(memory, Storage):
        return {memory}
    known = [memory] if memory.by_order else memory.origins()
    return {*known, *[id(whole_of(array)) for one in known for array in one.own_sources]}


def place_of(value: Any) -> Memory | None:
    """Return the memory of an array; of a real one by what it is a view of."""
    return id(whole_of(value)) if isinstance(value, np.ndarray) and value.ndim else memory_of(value)


def some_may_be_one(value: Any, left: Iterable[Any], firsts: Callable[[Any], Sequence[Any]]) -> bool:
    """Return whether two arrays that others see are one in some runs, and two in others.

    Parameters
    ----------
    value : object
    left : iterable
        What else others see.
    firsts : callable
        Returns of an array which ones the run tells it from.
    """
    arrays = arrays_in([*left, value])
    known = list({memory: array for array in arrays if (memory := place_of(array)) is not None}.items())
    for place, (one, array) in enumerate(known):
        for other, its in known[:place]:
            asked = _Asked([*firsts(array), *firsts(its)])
            is_asked = (_is_several(one) or _is_several(other)) and asked.may_be_one(one, other)
            if is_asked and not are_told((array, firsts(array)), (its, firsts(its))):
                return True
    return False


def _is_several(memory: Memory) -> bool:
    return isinstance(memory, Storage) and (memory.choice is not None or len(_origins(memory)) > 1)
