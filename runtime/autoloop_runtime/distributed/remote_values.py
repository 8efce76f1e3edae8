"""What regions give that were sent: where it lies, and what of it is brought here.

A task that gives several values gives a tuple. Who wants a small one of them must not get the large ones besides, so
it is picked there, by a task of its own.

Dask keeps each task that something in memory was computed from: of a loop whose state stays elsewhere all iterations
since the first. So a long chain is *cut*: its end is given once more by a task that also needs a token, which is
forgotten at once. Dask never goes back beyond what has lost a dependency, and forgets what only led there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..analysis.sizes import LARGE
from .apart_errors import apart
from .remote_cluster import Cluster, check_open

#: so many tasks may follow each other before a chain is cut
LONGEST = 256


class Sent:
    """A task that was sent for a region.

    Parameters
    ----------
    cluster : Cluster
    name : str
        Of the operation, for Dask's dashboard.
    future : distributed.Future
    sizes : sequence of int
        About how many bytes each of its values has.
    depth : int
        How many tasks it follows, since the last cut.
    worker : str or None
        Where it is likely to run.
    """

    __slots__ = ("_cluster", "_name", "_picked", "depth", "future", "sizes", "total", "worker")

    def __init__(
        self, cluster: Cluster, name: str, future: Any, sizes: Sequence[int], depth: int, worker: str | None
    ) -> None:  # fmt: skip
        self.worker = worker
        self._cluster, self._name, self._picked = cluster, name, dict[int, Any]()
        self.future, self.sizes, self.total, self.depth = future, sizes, sum(sizes), depth

    def bringing(self, place: int | None) -> Any:
        """Return the future that brings one of its values here, without the others where these are large."""
        if place is None or self.total - self.sizes[place] < LARGE:
            return self.future
        if place not in self._picked:
            self._picked[place] = self._cluster.submit(self._name, picked, self.future, place)
        return self._picked[place]

    def given(self) -> Any:
        """Return the future for tasks that follow."""
        if self.depth >= LONGEST:
            token = self._cluster.put("")
            self.future, self.depth = self._cluster.submit(self._name, same, self.future, token), 0
        return self.future


class Held:
    """A value that lies on a worker.

    Attributes
    ----------
    sent : Sent
        The task that gives it.
    place : int or None
        Which one of the tuple that the task gives.
    nbytes : int
        About how large it is.
    """

    __slots__ = ("_coming", "nbytes", "place", "sent")

    def __init__(self, sent: Sent, place: int | None) -> None:
        self.sent, self.place = sent, place
        self.nbytes = sent.total if place is None else sent.sizes[place]
        #: what brings it here, and whether that brings the whole tuple
        self._coming: tuple[Any, bool] | None = None

    def coming(self) -> Any:
        """Return the future that brings it here."""
        if self._coming is None:
            future = self.sent.bringing(self.place)
            self._coming = future, future is self.sent.future
        return self._coming[0]

    def of(self, result: Any) -> Any:
        """Return the value, of what the future has brought."""
        return self.out_of(result) if self._coming is None or self._coming[1] else own(result)

    def out_of(self, whole: Any) -> Any:
        """Return the value, of all that the task has given."""
        return own(whole if self.place is None else whole[self.place])


#: is told the key of a task, what was raised, the value
Tell = Callable[[Any, BaseException | None, Any], None]


def picked(values: Sequence[Any], place: int) -> Any:
    """Return one of the values of a task; runs on a worker."""
    return values[place]


def same(value: Any, token: str) -> Any:
    """Return the value; runs on a worker."""
    return value


def own(value: Any) -> Any:
    """Return an array that may be written to: one that came over the network may lie in a message."""
    if type(value) is np.ndarray and not value.flags.writeable:
        return value.copy()
    return value


def size_of(value: Any) -> int:
    """Return how many bytes there are to move of a value."""
    return value.nbytes if type(value) is Held else int(getattr(value, "nbytes", 0))


def bring(cluster: Cluster, values: Sequence[Any]) -> list[Any]:
    """Return values, those that lie elsewhere fetched all at once.

    Raises
    ------
    BaseException
        What a task has raised, or befell the cluster.
    """
    held = [value for value in values if type(value) is Held]
    if not held:
        return list(values)
    asked: dict[Sent, int] = {}
    for value in {(one.sent, one.place): one for one in held}.values():
        asked[value.sent] = asked.get(value.sent, 0) + value.nbytes
    most = {sent for sent, count in asked.items() if 2 * count >= sent.total}  # then it all comes, in one
    futures = [one.sent.future if one.sent in most else one.coming() for one in held]
    found = iter(cluster.client.gather(futures))
    made = []
    for value in values:
        if type(value) is Held:
            result = next(found)
            made.append(value.out_of(result) if value.sent in most else value.of(result))
        else:
            made.append(value)
    return made


def tell_of(client: Any, future: Any, is_wanted: bool, tell: Tell) -> None:
    """Have ``tell(key, error, result)`` called when a task is done, with its value if that is wanted.

    It is called by a thread of Dask's. Values are fetched by the client's event loop, several at a time.
    """
    if is_wanted:
        client.loop.add_callback(_fetch, client, future, tell)
    else:
        future.add_done_callback(lambda done: tell(done.key, _error_of(done), None))
    check_open(client)  # its event loop may have ended


async def _fetch(client: Any, future: Any, tell: Tell) -> None:
    """Bring a value, on the client's event loop."""
    try:
        (result,) = await client.gather([future], asynchronous=True)
    except BaseException as error:
        tell(future.key, apart(error.with_traceback(None)), None)
        if not isinstance(error, Exception):
            raise
    else:
        tell(future.key, None, result)


def _error_of(future: Any) -> BaseException | None:
    if future.status == "finished":
        return None
    try:
        future.result()
    except BaseException as error:
        return apart(error)
    return None
