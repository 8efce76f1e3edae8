"""A task goes to a worker that has the large chunk that it takes.

Of each worker that has anything of what a task takes Dask's scheduler asks when the task could begin there, by how long
such tasks have taken and how fast the network was. In a loop over chunks that stay where they are, all tasks take a few
numbers as well, which were just made on every worker. Where a worker has two chunks, and such tasks are not known yet
or take longer than a chunk is under way, the second goes to another worker, with its chunk: of which there are two from
then on. A preference ends that. It is no more: a worker that has nothing to do takes over what is worth it, and of a
worker that is gone nobody asks.
"""

from __future__ import annotations

import importlib
import weakref
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .fused_chunks import SMALL, Source


class ChunkPlaces:
    """Where the chunks are that tasks take again and again.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._dask: Any = importlib.import_module("dask")
        #: by future: the workers that have its chunk, as far as that was asked for
        self._known: weakref.WeakKeyDictionary[Any, Sequence[str]] = weakref.WeakKeyDictionary()
        #: what was sent, and nobody has taken yet
        self._new: weakref.WeakSet[Any] = weakref.WeakSet()

    def note(self, futures: Iterable[Any]) -> None:
        """Note what was sent: what is made in one iteration for the next is never asked for."""
        self._new.update(futures)

    def preferring(self, takes: Mapping[Any, Any]) -> AbstractContextManager[Any]:
        """Return what has tasks that are sent inside of it go to where the futures are that they take, by key."""
        if not takes or "workers" in self._dask.get_annotations():  # the user's own
            return nullcontext()
        places = self._of(dict.fromkeys(takes.values()))
        where = {key: places[future] for key, future in takes.items() if future in places}
        if not where:
            return nullcontext()
        found: defaultdict[Any, Sequence[str]] = defaultdict(tuple, where)
        preferred: AbstractContextManager[Any]
        preferred = self._dask.annotate(workers=found.__getitem__, allow_other_workers=True)
        return preferred

    def _of(self, futures: Collection[Any]) -> dict[Any, Sequence[str]]:
        """Return the workers that have what futures stand for, asked for once, as soon as it is there."""
        asked = [f for f in futures if f not in self._known and f not in self._new and f.status == "finished"]
        self._new.difference_update(futures)
        if asked:
            held = self._client.who_has(asked)
            self._known.update([(future, held[future.key]) for future in asked if held.get(future.key)])
        return {future: self._known[future] for future in futures if future in self._known}


def largest_taken(tasks: Mapping[Any, Any], known: Mapping[Any, Source], given: Collection[Any]) -> dict[Any, Any]:
    """Return for tasks the largest chunk that each takes of those that are ``given``, if that is large."""
    found = {}
    for key, task in tasks.items():
        taken = [one for one in task.dependencies if one in given and one in known and known[one].size > SMALL]
        if taken:
            found[key] = max(taken, key=lambda one: (known[one].size, str(one)))
    return found
