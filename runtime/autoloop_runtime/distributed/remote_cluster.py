"""The cluster that heavy parts of functions go to: which it is, how fast it is, and what is sent to it.

It is measured once for each client, when it is first wanted: how long a task takes there and back, how long each of
many takes, and how many bytes a second go over. Nothing is imported of ``distributed`` before.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..base.contexts import Setting
from ..base.dataclass import dataclass, replace
from ..base.forks import Kind

#: what is sent, and how often, to measure
_BYTES, _TASKS, _TIMES = 4 << 20, 8, 3
#: seconds after which workers are counted again: they come and go
_COUNTED = 5.0
#: how the names of tasks end that are sent here, as a pattern
SENT = r"-autoloop-[0-9a-f]+-\d+$"
_lock = Kind("clusters", "a child has no connection of its parent's").lock()
#: guarded by ``_lock``
_clusters: WeakKeyDictionary[Any, Cluster] = WeakKeyDictionary()
#: the client that a block around has set
_CURRENT: ContextVar[Any] = ContextVar("autoloop_cluster", default=None)


class NoCluster(RuntimeError):
    """There is no cluster to send anything to."""


class LostCluster(ConnectionError):
    """Workers, or the whole cluster, are gone, with what was computed there.

    Examples
    --------
    >>> from autoloop.distributed import LostCluster
    >>> issubclass(LostCluster, ConnectionError)
    True
    """


@dataclass(frozen=True, slots=True)
class Network:
    """What was measured of a cluster.

    Attributes
    ----------
    latency : float
        Seconds from a task to its result, if it does nothing.
    overhead : float
        Seconds that each of several such tasks takes.
    bandwidth : float
        Bytes a second.
    slots : int
        How many tasks run at a time.
    """

    latency: float
    overhead: float
    bandwidth: float
    slots: int = 1

    def moving(self, count: float) -> float:
        """Return how long so many bytes take."""
        return count / self.bandwidth


class Cluster:
    """A client, and what is known of it.

    Attributes
    ----------
    client : distributed.Client
    submitted : int
        How many tasks were sent for regions; what was sent to measure does not count.
    """

    def __init__(self, client: Any) -> None:
        self.client, self.submitted = client, 0
        self._serial = itertools.count()
        self._network: Network | None = None
        #: when its workers were counted; None if somebody has said what it is like
        self._counted: float | None = None
        #: their addresses and threads then; replaced as a whole
        self.workers: dict[str, int] = {}

    @property
    def network(self) -> Network:
        """What it is like; measured when it is first asked. Two threads that ask at once both measure."""
        if self._network is None:
            self._counted = time.monotonic()
            self._network = _measured(self.client, self._count())
        return self._network

    @network.setter
    def network(self, known: Network | None) -> None:
        self._network, self._counted = known, None

    @property
    def known_network(self) -> Network | None:
        """What it is like; None if it was not asked yet."""
        return self._network

    def up_to_date(self) -> Network:
        """Return what it is like, with the workers that there are now, or were a few seconds ago."""
        network = self.network
        if self._counted is not None and time.monotonic() - self._counted > _COUNTED:
            self._counted = time.monotonic()
            network = self._network = replace(network, slots=self._count())
        return network

    def _count(self) -> int:
        """Return how many threads the workers have."""
        self.workers = self.client.nthreads()
        return max(sum(self.workers.values()), 1)

    def submit(self, name: str, call: Callable[..., Any], *args: Any, worker: str | None = None) -> Any:
        """Send a task, to a worker if there is nothing against it; gives its future."""
        self.submitted += 1
        there = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        key = f"{name.replace('/', '.')}-autoloop-{id(self):x}-{next(self._serial)}"
        made = self.client.submit(call, *args, key=key, pure=False, **there)
        check_open(self.client)
        return made

    def put(self, value: Any) -> Any:
        """Send an array; gives its future."""
        return self.client.scatter(value, hash=False)


def is_there() -> bool:
    """Return whether what clusters are reached with is installed."""
    return all(name in sys.modules or importlib.util.find_spec(name) is not None for name in ("dask", "distributed"))


def is_in_task() -> bool:
    """Return whether this is a task of a worker: what it runs stays there."""
    worker: Any = sys.modules.get("distributed.worker")
    if worker is None:
        return False
    try:
        return worker.get_worker() is not None and hasattr(worker.thread_state, "key")
    except ValueError:
        return False


def dask_client(given: Any = None) -> Any:
    """Return the client to use: the one that is given, that of the block around, or Dask's current one; ``None`` if
    there is none.

    Raises
    ------
    NoCluster
        If it is one that cannot be waited for.
    """
    given = _CURRENT.get() if given is None else given
    if given is not None:
        return _waiting(given)
    if sys.modules.get("distributed") is None:
        return None
    distributed: Any = importlib.import_module("distributed")
    try:
        return _waiting(distributed.default_client())
    except ValueError:
        return None


def _waiting(client: Any) -> Any:
    if client.asynchronous:
        raise NoCluster("a client with asynchronous=True cannot wait for what a call needs: make one without [AL620]")
    return client


def check_open(client: Any) -> None:
    """Raise ``LostCluster`` if nobody will be told of what was sent last.

    A client that closes says so first, and then tells all who wait for what it knows of. What it is given after that
    it takes, and nobody is told.
    """
    if client.status in ("closing", "closed"):
        raise LostCluster("the client of the cluster was closed while something was sent to it [AL616]")


def set_current(client: Any) -> Setting[None]:
    """Return a block inside which functions send to ``client``, by calls of this thread."""
    return Setting(None, (_CURRENT, client))


def current() -> Cluster:
    """Return the cluster of the client to use.

    Raises
    ------
    NoCluster
        If there is none.
    """
    client = dask_client()
    if client is None:
        raise NoCluster(
            "executor='dask' has no cluster to send heavy work to: make a client before the call, "
            "autoloop.distributed.Client() or distributed.Client() [AL620]"
        )
    return of(client)


def of(client: Any) -> Cluster:
    """Return what is known of a client."""
    with _lock:
        return _clusters.get(client) or _clusters.setdefault(_waiting(client), Cluster(client))


def _measured(client: Any, slots: int) -> Network:
    """Return how fast a cluster is: of several tries the best."""
    data = np.zeros(_BYTES, np.uint8)
    client.submit(_nothing, -1, pure=False).result()  # what the first task loads is loaded once
    latency = min(_timed(lambda: client.submit(_nothing, 0, pure=False).result()) for _ in range(_TIMES))
    several = min(_timed(lambda: client.gather(_many(client))) for _ in range(_TIMES))
    moving = min(_timed(lambda: client.gather(client.scatter(data, hash=False))) for _ in range(_TIMES))
    return Network(latency, min(several / _TASKS, latency), 2 * _BYTES / max(moving - latency, 1e-4), slots)


def _many(client: Any) -> Sequence[Any]:
    return [client.submit(_nothing, k, pure=False) for k in range(_TASKS)]


def _nothing(value: Any) -> Any:
    return value


def _timed(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin
