"""A loop over arrays of Dask that outlives workers: it is run some iterations at a time, with an anchor in between.

How many is a matter of time and of tasks: an anchor takes as long as a few iterations do, and the scheduler keeps each
task since the one before the last. When what the cluster had is lost the loop goes on from the last anchor, or from its
entry; the same iterations with the same values give the same numbers.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any

from ..collections.checkpoint_store import NoCheckpoints
from ..namespaces.array_namespace import Namespace
from ..namespaces.chunk_kernels import dask_array
from ..namespaces.foreign_arrays import ForeignArray
from ..namespaces.foreign_collections import may_hold
from .anchors import Anchors, LostError
from .apart_errors import spent
from .fresh_names import FreshNames
from .remote_cluster import LostCluster, dask_client
from .unwanted_tasks import forget_unwanted

#: iterations before the first anchor, and at most between two
FIRST, MOST = 64, 500
#: more than any loop has
_ALL = 1 << 62
#: how many times as long as an anchor takes the iterations between two
SHARE = 30
#: how often a loop goes on after a loss without having come further
TRIES = 5


class RecoveredLoop:
    """One run of a loop.

    Parameters
    ----------
    namespace : Namespace
        Dask's.
    client : distributed.Client
    values : sequence
        Of the loop variables on entry: numbers and arrays of NumPy's and of Dask's.
    done : int
        How many iterations it has done already.

    Attributes
    ----------
    size : int
        How many iterations to do before the next anchor.
    """

    def __init__(self, namespace: Namespace, client: Any, values: Sequence[Any], done: int = 0) -> None:
        self._namespace, self._client, self._anchors = namespace, client, Anchors(client)
        self._array = dask_array().Array
        self._future: Any = importlib.import_module("distributed").Future
        self._names = FreshNames(client)
        self._entry = done, [copied(value) for value in values]
        #: what stands where there is an array of Dask's in the last anchor, and how many iterations were done then
        self._held: tuple[int, list[Any]] | None = None
        self.size, self._losses, self._mark = FIRST, 0, perf_counter()
        #: something was lost in this run
        self._is_hurt = False

    @property
    def last(self) -> int:
        """How many iterations were done at the last anchor."""
        return self._entry[0] if self._held is None else self._held[0]

    def anchored(self, done: int, values: Sequence[Any]) -> list[Any]:
        """Return the values to go on from after ``done`` iterations.

        What is saved for a gradient is none, but for checkpoints: it is computed from all iterations before. Then Dask
        goes back through these. What lists hold, and checkpoints, is anchored once.
        """
        others = [one for one in values if not isinstance(one, (self._array, NoCheckpoints, ForeignArray))]
        if any(may_hold(self._namespace, one) for one in others):
            self.size = _ALL
            return list(values)
        begin = perf_counter()
        arrays = [value for value in values if isinstance(value, self._array)]
        before = self.last
        self._give(values)  # first: it changes no value, and what is held goes with the last anchor
        made = self._anchors.anchored(arrays) if arrays else []
        self._held = done, [None if isinstance(value, self._array) else copied(value) for value in values]
        self._losses = 0
        end = perf_counter()
        if done > before:
            rate = (begin - self._mark) / (done - before)
            self.size = max(FIRST, min(MOST, int(SHARE * (end - begin) / max(rate, 1e-9))))
        self._mark = end
        return self._filled(values, made)

    def given(self, values: Sequence[Any]) -> list[Any]:
        """Return the values that the loop ends with; of one that was anchored they outlive a worker, as anchors do.

        So do the checkpoints among them: the way back of a gradient begins without an anchor of its own.
        """
        if self._held is None:
            return list(values)  # Dask goes back to what they were computed from
        return self._filled(values, self._give(values, [value for value in values if isinstance(value, self._array)]))

    def after(self, error: BaseException) -> tuple[int, list[Any]] | None:
        """Return what to go on from after an error: iterations that were done, and the values then.

        None if it is no loss of what was on the cluster.

        Raises
        ------
        LostCluster
            If there is no cluster to go on with.
            Or if workers die again and again.
        """
        is_gone = self._client.status != "running"
        if not is_gone and not is_loss(error):
            return None
        if is_gone or not self._is_there():
            raise LostCluster(
                "the scheduler of the cluster is gone, with all that was computed there; autoloop.keep_checkpoints "
                "keeps loops in a folder, to go on from with another cluster [AL616]"
            ) from error
        self._losses += 1
        self._is_hurt = True
        forget_unwanted(self._client)
        if self._losses > TRIES:
            raise lost() from error
        spent(error)
        self._mark = perf_counter()
        if self._held is not None:
            done, values = self._held
            try:
                return done, self._filled(self._checked(values), self._anchors.again())
            except LostError as gone:
                spent(gone)
                self._anchors.close()
                self._held = None
        return self._entry[0], [copied(value) for value in self._entry[1]]

    def held(self, values: Sequence[Any]) -> list[Any]:
        """Return values, what is lazy of them computed once for all iterations to come, and held on the cluster."""
        lazy = [k for k, value in enumerate(values) if isinstance(value, self._array) and not self._is_computed(value)]
        made = dict(zip(lazy, self._names.persist([values[k] for k in lazy]) if lazy else ()))
        return [made.get(k, value) for k, value in enumerate(values)]

    def _is_computed(self, array: Any) -> bool:
        """Return whether the chunks of an array are computed, or being computed."""
        nodes = [node for layer in array.dask.layers.values() for node in layer.values()]
        return all(isinstance(node, self._future) for node in nodes)

    def close(self) -> None:
        """Let go of the last anchor."""
        self._anchors.close()
        if self._is_hurt:  # workers may have died while an anchor was made again
            forget_unwanted(self._client)

    def _give(self, values: Sequence[Any], arrays: Sequence[Any] = ()) -> list[Any]:
        """Have what values hold outlive a worker, as of now; return such arrays in the place of others.

        What they hold is exchanged in place: it is the same for whoever has it.
        """
        held = list(self._elements(values))
        if held:
            self._anchors.find_hurt([array for array, _ in held])
        held = [(array, put) for array, put in held if self._anchors.is_to_be_given(array)]
        new = {array.name: array for array, _ in held}
        made = self._anchors.given([*arrays, *new.values()]) if arrays or new else []
        by_name = dict(zip(new, made[len(arrays) :]))
        for array, put in held:
            put(by_name[array.name])
        return made[: len(arrays)]

    def _elements(self, values: Sequence[Any]) -> Iterator[tuple[Any, Callable[[Any], None]]]:
        """Yield the arrays of Dask's that lists and stores among values hold, and what puts others in their places."""
        for value in values:
            if isinstance(value, ForeignArray):
                for k, one in value.elements().items():
                    if isinstance(one, self._array):
                        yield one, partial(value.exchange, k)
            elif holds_arrays(value):
                for k, one in enumerate(value.values):
                    if isinstance(one, self._array):
                        yield one, partial(value.values.__setitem__, k)

    def _checked(self, values: Sequence[Any]) -> list[Any]:
        """Return values with new stores, after a look at what is left of what they hold."""
        self._anchors.check_given([one for one, _ in self._elements(values)])
        return [copied(value) for value in values]

    def _is_there(self) -> bool:
        """Return whether the scheduler answers."""
        try:
            self._client.sync(self._client.scheduler.identity, callback_timeout=10)
        except Exception as error:  # Dask's own of any kind where its client is closed meanwhile
            spent(error)
            return False
        return True

    def _filled(self, values: Sequence[Any], made: Sequence[Any]) -> list[Any]:
        left = iter(made)
        return [next(left) if value is None or isinstance(value, self._array) else value for value in values]


def holds_arrays(value: Any) -> bool:
    """Return whether a value is a store of checkpoints that may hold some."""
    return isinstance(value, NoCheckpoints) and hasattr(value, "values")


def copied(value: Any) -> Any:
    """Return a value that does not change when a loop goes on: stores are added to in place."""
    if not holds_arrays(value):
        return value
    made = copy.copy(value)
    for name in ("values", "segments", "levels"):
        if hasattr(made, name):
            setattr(made, name, list(getattr(made, name)))
    return made


def recovered(namespace: Namespace, values: Sequence[Any], done: int = 0) -> RecoveredLoop | None:
    """Return what runs a loop with such values; None where there is no cluster, or nothing of it is there."""
    client = dask_client()
    return None if client is None else RecoveredLoop(namespace, client, values, done)


def is_loss(error: BaseException) -> bool:
    """Return whether an error says that what was on the cluster is gone, and nothing of the program."""
    cancelled = importlib.import_module("concurrent.futures").CancelledError
    return isinstance(error, (LostError, OSError, cancelled)) and (
        isinstance(error, LostError) or type(error).__module__.split(".")[0] in ("distributed", "concurrent", "tornado")
    )


def lost() -> LostError:
    """Return what is said when workers die again and again."""
    return LostError("workers die again and again in the same iterations: have they memory enough? [AL616]")
