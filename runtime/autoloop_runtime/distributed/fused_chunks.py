"""What is done to one chunk becomes one task: of a task graph that a template is made of.

Dask fuses what lies in a row. An iteration of a loop has more to be put together: a chunk is made into several things,
each of which is summed up with those of the other chunks, and what comes of it is a few numbers. Each node has an
*owner*, the place of the only large chunk that it is made of; what is made of chunks of several places has none::

    points[0] ─ distances ─ nearest ─┬─ sums     ─┐
    points[1] ─ distances ─ nearest ─┴┬─ counts  ─┴─ means ─ moved        a task for each owner,
                                                                          and one for what has none and is small

and a *level*: how often what it is made of was put together from several places. Levels never go down along a graph. So
nodes of the same owner and level, as far as they hang together, have no way out and in again, and can be one task.
"""

from __future__ import annotations

import importlib
import itertools
import operator
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..base.dataclass import dataclass
from .chunk_programs import Program, depth_first, program

#: bytes: what is no larger is a few numbers
SMALL = 1 << 16
#: what few numbers are made into is made again by each that takes it, if that is so few tasks and values
AGAIN, AGAIN_GIVEN = 16, 8
#: of more values than that nothing small is made at once: they are put together in several steps
MOST = 64

Graph: TypeAlias = Mapping[Any, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """What is known of a chunk.

    Attributes
    ----------
    owner : hashable or None
        Its place, if it is not made of other chunks; None of what is small and whole.
    size : int
        Bytes.
    """

    owner: Hashable
    size: int


def sources(chunks: Any, dtype: Any, keys: Sequence[Any]) -> dict[Any, Source]:
    """Return what is known of the chunks of an array, whose keys are given in order."""
    sizes, places = [dtype.itemsize], [()]
    for axis in chunks:
        sizes = [size * length for size in sizes for length in axis]
        place = [((len(axis), at),) if len(axis) > 1 else () for at in range(len(axis))]
        places = [(*before, *one) for before in places for one in place]
    whole = ("whole", keys[0])
    return {
        key: Source(place or (whole if size > SMALL else None), size)
        for key, size, place in zip(keys, sizes, places)
    }  # fmt: skip


def known_of(graph: Any) -> dict[Any, Source]:
    """Return what is known of the arrays of a graph of layers, and of futures that are their chunks."""
    found: dict[Any, Source] = {}
    futures: Any = importlib.import_module("dask._task_spec").TaskRef
    for name, layer in graph.layers.items():
        told = layer.collection_annotations or {}
        chunks, dtype = told.get("chunks"), told.get("dtype")
        if chunks is None or dtype is None or any(size != size for axis in chunks for size in axis):
            continue
        keys = [(name, *place) for place in np.ndindex(*map(len, chunks))]
        found.update(sources(chunks, np.dtype(dtype), keys))
        if layer.is_materialized():
            parts = {key: layer[key] for key in keys if key in layer}
            found.update((part.key, found[key]) for key, part in parts.items() if isinstance(part, futures))
    return found


def fused(tasks: Graph, known: Mapping[Any, Source], wanted: Collection[Any], threads: int) -> dict[Any, Any]:
    """Return a graph of fewer tasks, in which those that are ``wanted`` have their names.

    Parameters
    ----------
    tasks : mapping of key to task
    known : mapping of key to Source
        Chunks that it takes, and others that are known.
    wanted : collection of key
    threads : int
        How many tasks can be done at once: that many chunks are to be there before what is done to one is put into one
        task, where Dask would have several that need not wait for each other.
    """
    if any(getattr(task, "block_fusion", False) for task in tasks.values()):
        return dict(tasks)
    return _Fusing(tasks, known, wanted, threads).graph()


class _Fusing:
    """One graph on its way."""

    def __init__(self, tasks: Graph, known: Mapping[Any, Source], wanted: Collection[Any], threads: int) -> None:
        self._spec: Any = importlib.import_module("dask._task_spec")
        self._tasks, self._known, self._wanted = tasks, known, frozenset(wanted)
        self._order = depth_first(wanted, self._inside)
        #: by key: bytes, or where they are not known as many as the largest of what it is made of
        self._sizes: dict[Any, int] = {key: source.size for key, source in known.items()}
        #: by key: who takes it
        self._takers: dict[Any, list[Any]] = defaultdict(list)
        for key in self._order:
            needed = tasks[key].dependencies
            for one in needed:
                self._takers[one].append(key)
            if key not in known:
                of = [self._sizes.get(one, 0) for one in needed]
                self._sizes[key] = max(of) if of else self._size_of_root(key)
        owners = {key: source.owner for key, source in known.items() if key not in tasks or not tasks[key].dependencies}
        self._is_wide = len({*owners.values()} - {None}) >= threads
        #: what stays a task for itself
        self._alone: set[Any] = set()
        #: by key: the group that it is in, and by group its keys in order
        self._group: dict[Any, Any] = self._grouped(owners)
        self._members: dict[Any, list[Any]] = defaultdict(list)
        for key in self._order:
            self._members[self._group[key]].append(key)
        self._again = {group for group, keys in self._members.items() if self._is_made_again(keys)}
        #: by key that is in a pack: the pack that it is taken out of by whoever takes it, and its place there
        self._packed: dict[Any, tuple[Any, int]] = {}
        self._made: dict[Any, Any] = {}
        self._numbers = itertools.count()
        #: programs by what they are written down as
        self._programs: dict[bytes, Program] = {}

    def _size_of_root(self, key: Any) -> int:
        """Return how large what is made of nothing is taken to be."""
        return _sizeof(self._tasks[key]) if isinstance(self._tasks[key], self._spec.DataNode) else SMALL + 1

    def _inside(self, key: Any) -> list[Any]:
        """Return what a task takes of other tasks."""
        return [one for one in sorted(self._tasks[key].dependencies, key=str) if one in self._tasks]

    # -- groups -------------------------------------------------------------------------------------------

    def _grouped(self, given: Mapping[Any, Hashable]) -> dict[Any, Any]:
        """Return for each key one that stands for all of its group; ``given`` are the owners of what begins."""
        owners = dict(given)
        levels: dict[Any, int] = {}
        first: dict[Any, Any] = {}
        #: by key: how many values of others, at most, a task takes that is made of all its group before it
        counts: dict[Any, int] = {}
        for key in self._order:
            needed = self._tasks[key].dependencies
            several = {owners.get(one) for one in needed} - {None}
            if needed or key not in owners:
                owners[key] = next(iter(several)) if len(several) == 1 else None
            owner = owners[key]
            level = max([levels.get(one, 0) for one in needed], default=0)
            counts[key] = sum(1 if owner != owners.get(one) else counts.get(one, 1) for one in needed)
            is_alone = self._is_alone(key, owner, counts[key])
            if is_alone:
                counts[key] = 1
            levels[key] = level + (len(several) > 1 or is_alone)
            first[key] = key
            for one in () if is_alone else self._inside(key):
                if owners[one] == owner and levels[one] == levels[key] and one not in self._alone:
                    _join(first, one, key)
        return {key: _found(first, key) for key in self._order}

    def _is_alone(self, key: Any, owner: Hashable, count: int) -> bool:
        """Return whether a task stays as it is: many of what has no owner may be done at the same time where it is
        large or made of many, and what holds an array is not for a program, which is kept."""
        if (owner is None and (self._sizes[key] > SMALL or count > MOST)) or _sizeof(self._tasks[key]) > SMALL:
            self._alone.add(key)
        return key in self._alone

    def _is_made_again(self, keys: Sequence[Any]) -> bool:
        """Return whether each that takes what these tasks give does them itself: that is less than to wait for it."""
        if len(keys) > AGAIN or not self._wanted.isdisjoint(keys):
            return False
        taken = {one for key in keys for one in self._tasks[key].dependencies} - set(keys)
        small = all(self._sizes[key] <= SMALL for key in keys) and not any(one in self._tasks for one in taken)
        return small and len(taken) <= AGAIN_GIVEN and sum(self._sizes.get(one, 0) for one in taken) <= SMALL

    # -- tasks --------------------------------------------------------------------------------------------

    def graph(self) -> dict[Any, Any]:
        """Return the graph."""
        groups = [group for group in self._members if group not in self._again]
        roots: dict[Any, Any] = {}
        for group in groups:
            roots.update(self._rooted(group))
        by_root: dict[Any, list[Any]] = defaultdict(list)
        for key, root in roots.items():
            by_root[root].append(key)
        for root, outs in by_root.items():
            self._make(root, outs if type(root) is _Pack else [root], roots)
        return self._made

    def _rooted(self, group: Any) -> dict[Any, Any]:
        """Return for each key of a group what it is computed for: one that is kept, or several at once."""
        keys = self._members[group]
        outs = [key for key in keys if key in self._wanted or not self._takes_all(group, key)]
        roots: dict[Any, Any] = {}
        for key in reversed(keys):
            above = {roots[taker] for taker in self._takers[key]} if key not in outs else set()
            roots[key] = next(iter(above)) if len(above) == 1 else key
        kept = {*roots.values()}
        between = kept - set(outs)
        names = [key for key in outs if key in self._wanted]
        others = [key for key in outs if key not in self._wanted]
        whole = self._are_taken_together(names, others)
        count = 1 + len(names) + (0 if whole else len(others))
        is_short = len(kept) <= count and all(self._sizes[key] <= SMALL for key in between)
        if is_short or not self._is_wide:
            return roots
        pack = _Pack(f"chunk_{_kind(outs[0])}-{next(self._numbers)}", outs)
        for place, key in enumerate(outs):
            if whole and key not in self._wanted:
                self._packed[key] = pack.name, place
            else:
                ref = self._spec.TaskRef(pack.name)
                self._made[key] = self._spec.Task(key, operator.getitem, ref, place)
        return dict.fromkeys(keys, pack)

    def _takes_all(self, group: Any, key: Any) -> bool:
        """Return whether nobody outside of a group takes what a task gives."""
        return all(self._group[taker] == group for taker in self._takers[key])

    def _are_taken_together(self, names: Iterable[Any], others: Sequence[Any]) -> bool:
        """Return whether whoever takes one of ``others`` takes all, and what else would come with them is small."""
        takers = {frozenset(self._group[taker] for taker in self._takers[key]) for key in others}
        return len(takers) == 1 and sum(self._sizes[key] for key in names) <= SMALL

    def _make(self, root: Any, outs: Sequence[Any], roots: Mapping[Any, Any]) -> None:
        """Make the task that gives what is computed for ``root``."""
        is_pack = type(root) is _Pack
        name, outs = (root.name, root.outs) if is_pack else (root, outs)
        taken: dict[Any, None] = {}

        def needed(key: Any) -> list[Any]:
            found = []
            for one in sorted(self._tasks[key].dependencies, key=str):
                if one in self._tasks and (self._is_again(one) or roots[one] == root):
                    found.append(one)
                else:
                    taken[one] = None
            return found

        keys = depth_first(outs, needed)
        given: dict[Any, None] = {}
        opened: dict[Any, Any] = {}
        for one in taken:
            if one in self._packed:
                pack, place = self._packed[one]
                given[pack] = None
                opened[one] = self._spec.Task(one, operator.getitem, self._spec.TaskRef(pack), place)
            else:
                given[one] = None
        if len(keys) == 1 and not opened and not is_pack:
            self._made[name] = self._tasks[name]
            return
        made = program({**opened, **{key: self._tasks[key] for key in keys}}, outs, list(given))
        made = self._programs.setdefault(made.data, made)
        self._made[name] = self._spec.Task(name, made, *map(self._spec.TaskRef, given))

    def _is_again(self, key: Any) -> bool:
        return self._group[key] in self._again


class _Pack:
    """Several values that one task gives."""

    __slots__ = ("name", "outs")

    def __init__(self, name: str, outs: list[Any]) -> None:
        self.name, self.outs = name, outs


def _sizeof(task: Any) -> int:
    """Return the bytes of a task itself, with what it holds."""
    return int(importlib.import_module("dask.sizeof").sizeof(task))


def _kind(key: Any) -> str:
    return str(key[0] if type(key) is tuple else key).split("-")[0]


def _found(first: dict[Any, Any], key: Any) -> Any:
    while first[key] != key:
        first[key] = first[first[key]]
        key = first[key]
    return key


def _join(first: dict[Any, Any], a: Any, b: Any) -> None:
    first[_found(first, b)] = _found(first, a)
