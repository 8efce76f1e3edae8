"""Where the lineage of a loop begins: its state as data that the cluster has, instead of tasks that go back for ever.

Dask keeps each task that something in memory was computed from, so that it can be computed again when a worker dies: of
a loop, all iterations since the first. An *anchor* cuts that. Of each chunk of the state three are made::

    chunk of iteration k  ->  chunk that the loop goes on from     on the same worker: the same memory
                          ->  the same again                       there too: what nobody takes never moves
                          ->  copy                                 on another worker
          token  ->  all three, and is forgotten as soon as they are there

Dask never goes back beyond what has lost a dependency. So when a worker dies, what was computed since the anchor is
lost with it, and whoever runs the loop goes on from what is left of the anchor. The one before stays until this one is
whole; with it goes all that was computed in between.

What a loop gives is with nobody who would go on: there Dask itself has to find its way. So of its chunks three are
made::

    chunk  ->  origin  ->  copy  ->  chunk that is given
                 |           |       there too: the same memory
                 |         on another worker
               on the same worker, of a token as well; both are held as long as what is given

When the worker of the origin dies, what was made of it stays; when the other one does, Dask makes it again. Nobody
takes the first two, so they never move: of what is taken Dask has two for a while and drops any, so that it and its
origin could come to lie on one worker. So are the elements of lists, and checkpoints for a gradient, from the first
anchor behind them on: none is made a second time.
"""

from __future__ import annotations

import importlib
import itertools
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ..base.dataclass import dataclass
from ..namespaces.chunk_kernels import dask_array
from .apart_errors import apart, spent
from .fresh_names import FreshNames
from .remote_cluster import LostCluster, check_open
from .stopped_runs import wait_for

#: how often an anchor is made again when workers die while it is
TRIES = 5
#: how the names of arrays begin that outlive a worker by themselves
_GIVEN = "autoloop-given-"


class LostError(LostCluster):
    """What the cluster had is on no worker any more, and nothing there is to make it of."""


@dataclass(frozen=True, eq=False)
class _Anchor:
    """The futures of one anchor, for each chunk all that hold it, and the arrays they are the chunks of."""

    chunks: list[tuple[Any, ...]]
    forms: list[Any]


class Anchors:
    """The anchors of one run of a loop.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client, self._names = client, FreshNames(client)
        self._distributed: Any = importlib.import_module("distributed")
        self._array = dask_array()
        self._last: _Anchor | None = None
        #: names of arrays that were given, and of which a chunk is in one place only
        self._hurt: set[str] = set()
        #: the workers that there were when somebody looked for those
        self._workers: set[str] | None = None
        self._name, self._numbers = uuid.uuid4().hex, itertools.count()

    def anchored(self, arrays: Sequence[Any]) -> list[Any]:
        """Return arrays of Dask's with the same chunks, from which a loop goes on.

        It waits until they are there. Whoever goes on lets go of what it has given.

        Raises
        ------
        LostError
            If too many workers die meanwhile; the last anchor is there as long as its data is.
        Exception
            What a task has raised.
        """
        self._last, made = self._anchor(arrays)  # and nobody has the one before
        return made

    def is_to_be_given(self, array: Any) -> bool:
        """Return whether an array is on the cluster, and would be lost with a worker, or goes back for ever."""
        if array.name.startswith(_GIVEN) and array.name not in self._hurt:
            return False
        return self._is_there(array)  # what nobody has asked for yet goes back to what it was given as

    def _is_there(self, array: Any) -> bool:
        """Return whether an array is nothing but chunks that are computed, or being computed."""
        layers = array.dask.layers
        nodes = next(iter(layers.values())) if len(layers) == 1 else None
        future = self._distributed.Future
        return nodes is not None and all(
            isinstance(one, future) and one.client is self._client for one in nodes.values()
        )

    def find_hurt(self, arrays: Sequence[Any]) -> None:
        """Find out which of these would be lost with one more worker, if one was lost since it was asked before."""
        workers, before = set(self._client.scheduler_info(n_workers=-1)["workers"]), self._workers
        if before is None or not before <= workers:
            given = [array for array in arrays if array.name.startswith(_GIVEN)]
            found = [
                (array.name, one) for array in given for nodes in array.dask.layers.values() for one in nodes.values()
            ]
            pairs = [(name, *getattr(one, "sources", (one, one))) for name, one in found]
            there = [one for pair in pairs for one in pair[1:] if one.status == "finished"]
            held = self._client.who_has(there) if there else {}
            for name, *two in pairs:
                one, other = [{*held.get(future.key, ())} for future in two]
                # of two copies of one the scheduler drops any
                if not one or not other or (one & other and len(workers) > 1):
                    self._hurt.add(name)
        self._workers = workers

    def check_given(self, arrays: Sequence[Any]) -> None:
        """Wait until arrays are there again that were given, after a worker was lost.

        Raises
        ------
        LostError
            If a chunk and all that it was made of are gone.
        """
        given = [array for array in arrays if array.name.startswith(_GIVEN)]
        nodes = [node for array in given for layer in array.dask.layers.values() for node in layer.values()]
        self._wait([node for node in nodes if node.status != "finished"])

    def given(self, arrays: Sequence[Any]) -> list[Any]:
        """Return arrays of Dask's with the same chunks, of which none is lost when a worker dies after the run.

        Raises
        ------
        LostError, Exception
            As ``anchored`` does.
        """
        anchor, made = self._anchor(arrays, True)
        for given, *sources in anchor.chunks:
            given.sources = sources  # whoever has the array has them, too, also one that is not computed of it yet
        return made

    def _anchor(self, arrays: Sequence[Any], is_end: bool = False) -> tuple[_Anchor, list[Any]]:
        """Return an anchor, and the arrays that it holds."""
        there = [self._is_there(array) for array in arrays]
        persisted = iter(self._names.persist([array for array, is_there in zip(arrays, there) if not is_there]))
        made = [array if is_there else next(persisted) for array, is_there in zip(arrays, there)]
        for _ in range(TRIES):
            futures = [future for array in made for future in self._chunks(array)]
            self._wait(futures)
            anchor = self._try(futures, made, is_end)
            if anchor is not None:
                return anchor, list(_arrays(self._array, anchor.forms, [futures[0] for futures in anchor.chunks]))
        raise LostError("workers die more often than an anchor can be made [AL616]")

    def again(self) -> list[Any]:
        """Return the arrays of the last anchor, made of what is left of it.

        Raises
        ------
        LostError
            If a chunk and its copy are both gone, or there is no anchor.
        """
        if self._last is None:
            raise LostError("there is no anchor [AL616]")
        return self.anchored(list(_arrays(self._array, self._last.forms, _whole(self._last.chunks))))

    def close(self) -> None:
        """Let go of the last anchor."""
        self._last = None

    def _chunks(self, array: Any) -> list[Any]:
        """Return the futures of the chunks of an array, in the order of its keys."""
        nodes = dict(array.dask)
        return [nodes[key] for key in _keys(array)]

    def _wait(self, futures: Sequence[Any]) -> None:
        """Wait for futures; raises what a task has raised, ``LostError`` if something is gone."""
        if futures:
            try:
                wait_for(self._client, futures)
            except self._distributed.CancelledError as error:  # told below
                spent(error)
        for future in futures:
            if future.status == "error":
                raise apart(future.exception())
            if future.status != "finished":
                raise LostError(f"{future.key!r} is {future.status} [AL616]")

    def _try(self, futures: Sequence[Any], arrays: Sequence[Any], is_end: bool) -> _Anchor | None:
        """Return an anchor, None if a worker has died meanwhile."""
        name = f"{_GIVEN if is_end else 'anchor-'}{self._name}-{next(self._numbers)}"
        try:
            made = (self._ends if is_end else self._copies)(name, futures, self._client.scatter(name, hash=False))
        except (LostError, OSError) as error:  # a connection to a worker has ended
            if self._client.status != "running":
                raise
            spent(error)
            return None
        meta = self._array.utils.meta_from_array
        forms = [(f"{name}-{k}", array.chunks, array.dtype, meta(array)) for k, array in enumerate(arrays)]
        return None if made is None else _Anchor(list(zip(*made)), forms)  # the token is let go of

    def _copies(self, name: str, futures: Sequence[Any], token: Any) -> list[list[Any]] | None:
        here, there = self._places(futures)
        made = [
            self._made(f"{name}{kind}", places, futures, token)
            for kind, places in (("", here), ("-kept", here), ("-copy", there))
        ]
        self._wait([future for one in made for future in one])
        if len(set(there)) > 1 and not self._are_apart(*made[1:]):
            return None
        # what these were made of is still held: when it is let go of, workers have nothing left that goes back
        self._client.run(_without_past, [future.key for one in made for future in one], on_error="ignore")
        return made

    def _ends(self, name: str, futures: Sequence[Any], token: Any) -> list[list[Any]] | None:
        here, there = self._places(futures)
        origins = self._made(f"{name}-origin", here, futures, token)
        self._wait(origins)
        copies = self._made(f"{name}-copy", there, origins, None)
        given = self._made(name, there, copies, None)
        self._wait([*copies, *given])
        self._client.run(_without_past, [future.key for future in origins], on_error="ignore")
        moved: dict[str, list[Any]] = defaultdict(list)
        for origin, first, last in zip(origins, here, there):
            if first != last and last is not None:
                moved[last].append(origin.key)
        for place, keys in moved.items():
            # the scheduler drops one of two that are the same, and must not choose the only one that is elsewhere
            self._client.run(_without_copies, keys, workers=[place], on_error="ignore")
        return None if moved and not self._are_apart(origins, copies) else [given, origins, copies]

    def _are_apart(self, kept: Sequence[Any], copies: Sequence[Any]) -> bool:
        """Return whether each copy is on another worker than what it is of."""
        held = self._client.who_has([*kept, *copies])
        return all({*held[a.key]} != {*held[b.key]} for a, b in zip(kept, copies))

    def _places(self, futures: Sequence[Any]) -> tuple[list[str | None], list[str | None]]:
        """Return the worker that has each future, and another one for its copy; None where it does not matter."""
        workers = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        held: dict[Any, Sequence[str]] = self._client.who_has(list(futures)) if len(workers) > 1 else {}
        here: list[str | None] = []
        there: list[str | None] = []
        for k, future in enumerate(futures):
            owners = [one for one in held.get(future.key, ()) if one in workers]
            others = [one for one in workers if one not in owners[:1]]
            here.append(owners[0] if owners else None)
            there.append(others[k % len(others)] if owners and others else None)
        return here, there

    def _made(self, name: str, places: Sequence[str | None], futures: Sequence[Any], token: Any) -> list[Any]:
        """Return futures of the same values, where they should be if that is possible."""
        made: list[Any] = [None] * len(futures)
        by_place: dict[str | None, list[int]] = defaultdict(list)
        for k, place in enumerate(places):
            by_place[place].append(k)
        for place, those in by_place.items():
            # a worker that dies must not be waited for
            where = {} if place is None else {"workers": [place], "allow_other_workers": True}
            keys, given = [(name, k) for k in those], ([futures[k] for k in those], [token] * len(those))
            results = self._client.map(_same, *given, key=keys, pure=False, **where)
            for k, result in zip(those, results):
                made[k] = result
        check_open(self._client)
        return made


def _whole(chunks: Sequence[Sequence[Any]]) -> list[Any]:
    """Return for each chunk a future that has it."""
    found = [next((one for one in futures if one.status == "finished"), None) for futures in chunks]
    if None in found:
        raise LostError("a chunk and its copy are gone [AL616]")
    return found


def _without_past(keys: Sequence[Any], dask_worker: Any) -> None:
    """Have a worker forget what keys that it has were made of.

    It remembers each task that another one was made of, as long as it remembers that: of a loop, all iterations. The
    scheduler does not tell it that there is an end. Runs on the event loop of the worker, which alone changes its
    tasks. They are no public part of Dask: were they other than here, a worker would remember, a kilobyte a task.
    """
    with suppress(AttributeError, TypeError):
        for task in [dask_worker.state.tasks.get(key) for key in keys]:
            if task is not None and task.state == "memory":
                for needed in task.dependencies:
                    needed.dependents.discard(task)
                task.dependencies.clear()


def _without_copies(keys: Sequence[Any], dask_worker: Any) -> None:
    """Have a worker forget values that it was sent; those that other workers have not are none of them.

    As a scheduler tells it to, on the event loop of the worker.
    """
    with suppress(AttributeError, TypeError, ImportError):
        machine = importlib.import_module("distributed.worker_state_machine")
        dask_worker.handle_stimulus(machine.RemoveReplicasEvent(keys=keys, stimulus_id=f"autoloop-{uuid.uuid4().hex}"))


def _same(value: Any, token: Any) -> Any:
    """Return the value; on another worker than it was on that is a copy."""
    return value


def _keys(array: Any) -> Iterator[Any]:
    """Yield the keys of the chunks of an array, those of the last axis first."""
    for place in itertools.product(*map(range, array.numblocks)):
        yield (array.name, *place)


def _arrays(da: Any, forms: Sequence[Any], futures: Sequence[Any]) -> Iterator[Any]:
    """Yield arrays over the futures of their chunks."""
    left = iter(futures)
    for name, chunks, dtype, meta in forms:
        keys = [(name, *place) for place in itertools.product(*[range(len(sizes)) for sizes in chunks])]
        yield da.Array({key: next(left) for key in keys}, name, chunks, dtype=dtype, meta=meta)
