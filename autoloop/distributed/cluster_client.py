"""The client of a cluster: what ``executor="dask"`` sends to, and maps and sweeps of functions over arguments."""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from autoloop_runtime.base.asked_checkpoints import asking, checked
from autoloop_runtime.base.config import REMOTE, check_executor
from autoloop_runtime.base.forks import Kind
from autoloop_runtime.base.parsing import signature_of
from autoloop_runtime.distributed.apart_errors import apart
from autoloop_runtime.distributed.lost_clusters import lost_of
from autoloop_runtime.distributed.remote_cluster import Cluster, Network, dask_client, of, set_current

#: iterations between two checkpoints
_EVERY = 100
_LOCK = Kind("clients", "a child has no connection of its parent's").lock()


class Client:
    """A cluster of Dask.

    Inside ``with`` loops over arrays of Dask's run on it, functions with ``executor="dask"`` send their heavy parts
    to it, and for the calls of this thread it is Dask's current client. A client that was made here is closed at the
    end: what is to be kept is computed inside.

    Parameters
    ----------
    client : distributed.Client or str, optional
        A client of Dask's, or the address of a scheduler. By default that of the block around or else Dask's current
        client, and if there is none a new one with processes of this machine.
    checkpoint_to : path, optional
        Keep the loops of calls in the ``with`` block in this folder, as ``autoloop.keep_checkpoints`` does. The workers
        write to it, so they have to see it, too.
    checkpoint_every : int
        How many iterations of a loop there are between two checkpoints.
    resume : bool or path
        Go on from what is in that folder, or in another.
    **options
        Of a client that is made; see ``distributed.Client``.

    Attributes
    ----------
    dask_client : distributed.Client

    Examples
    --------
    >>> from autoloop.distributed import Client
    >>> @al.function
    ... def root(x, n):
    ...     guess = x
    ...     for _ in range(n):
    ...         guess = (guess + x / guess) / 2
    ...     return guess
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     futures = client.map(root, [4.0, 9.0, 16.0], n=8)
    ...     client.gather(futures)
    [2.0, 3.0, 4.0]
    """

    def __init__(
        self, client: Any = None, *, checkpoint_to: str | os.PathLike[str] | None = None,
        checkpoint_every: int = _EVERY, resume: bool | str | os.PathLike[str] = False, **options: Any,
    ) -> None:  # fmt: skip
        check_executor(REMOTE)  # refuses where the extra is missing
        if checkpoint_to is None and (resume is not False or checkpoint_every != _EVERY):
            what = "resume goes on from" if resume is not False else "checkpoint_every says how often there are"
            raise TypeError(f"{what} checkpoints; say with checkpoint_to where they are kept [AL715]")
        self._asked = None if checkpoint_to is None else checked(checkpoint_to, checkpoint_every, resume)
        dask: Any = importlib.import_module("distributed")
        self._owns = False
        if isinstance(client, dask.Client):
            made = client
        elif client is None and not options:
            made = dask_client()
        else:
            made = None
        if made is None:
            made, self._owns = dask.Client(*(() if client is None else (client,)), **options), True
        self.dask_client = made
        self._cluster: Cluster = of(made)
        #: by thread, the blocks that were entered and not left yet, the last entered last; guarded by ``_LOCK``
        self._entered: defaultdict[int, list[ExitStack]] = defaultdict(list)

    @property
    def network(self) -> Network:
        """What the cluster is like: latency, seconds a task, bytes a second; measured when it is first asked."""
        return self._cluster.network

    @property
    def submitted(self) -> int:
        """How many tasks were sent for parts of functions with ``executor="dask"``."""
        return self._cluster.submitted

    def submit(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function on a worker.

        Parameters
        ----------
        f : callable
            It is called each time, also with the same arguments.
        *args, **kwargs
            Its arguments, futures among them.

        Returns
        -------
        distributed.Future
        """
        f, kwargs = _own_arguments(self.dask_client.submit, f, kwargs)
        return self.dask_client.submit(f, *args, pure=False, **kwargs)

    def map(self, f: Callable[..., Any], *iterables: Iterable[Any], **kwargs: Any) -> list[Any]:
        """Call a function for each element of some iterables, as the builtin ``map`` does.

        Parameters
        ----------
        f : callable
            A decorated function is traced and compiled on each worker once.
        *iterables : iterable
            Its arguments; the shortest decides.
        **kwargs
            The same for all calls.

        Returns
        -------
        list of distributed.Future
            In their order; ``gather`` gives their values.
        """
        lists = [list(one) for one in iterables]
        shortest = min(map(len, lists), default=0)
        if not shortest:
            return []
        f, kwargs = _own_arguments(self.dask_client.map, f, kwargs)
        found: list[Any] = self.dask_client.map(f, *[one[:shortest] for one in lists], pure=False, **kwargs)
        return found

    def sweep(self, f: Callable[..., Any], grid: Mapping[str, Iterable[Any]], **kwargs: Any) -> list[Any]:
        """Call a function for each combination of values of some parameters.

        Parameters
        ----------
        f : callable
        grid : mapping
            Name of a parameter -> its values.
        **kwargs
            The other arguments, the same for all calls.

        Returns
        -------
        list of (dict, result)
            In the order of nested loops, the last parameter the innermost: its values, and what the function gave.

        Examples
        --------
        >>> from autoloop.distributed import Client
        >>> @al.function
        ... def power(base, n):
        ...     made = 1.0
        ...     for _ in range(n):
        ...         made = made * base
        ...     return made
        >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
        ...     found = client.sweep(power, {"base": [2.0, 3.0], "n": [1, 2]})
        >>> found[-1]
        ({'base': 3.0, 'n': 2}, 9.0)
        """
        names, values = _checked(grid)
        points = list(itertools.product(*values))
        futures = self.map(_Named(f, names), *zip(*points), **kwargs) if names else [self.submit(f, **kwargs)]
        try:
            found = self.gather(futures)
        finally:
            for future in futures:  # after a failure the other calls are not wanted, also by who keeps the error
                future.release()
        return [(dict(zip(names, point)), value) for point, value in zip(points, found)]

    def gather(self, futures: Any) -> Any:
        """Wait for the values of futures.

        Parameters
        ----------
        futures : distributed.Future, or a structure of them

        Returns
        -------
        object
            The values, in the same structure. What a call raised is raised.
        """
        try:
            return self.dask_client.gather(futures)
        except Exception as error:
            failure = lost_of(error, self.dask_client, "calls")
        failure = apart(failure)
        try:
            raise failure
        finally:
            del failure  # its traceback has this frame

    def close(self) -> None:
        """Close the client, if it was made here, and the processes that were started for it."""
        if self._owns:
            self.dask_client.close()

    def __enter__(self) -> Client:
        with ExitStack() as block:
            block.enter_context(set_current(self.dask_client))
            block.enter_context(self.dask_client.as_current())
            if self._asked is not None:
                block.enter_context(asking(self._asked))
            with _LOCK:
                self._entered[threading.get_ident()].append(block.pop_all())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        thread = threading.get_ident()
        with _LOCK:
            block = self._entered[thread].pop()
            if not self._entered[thread]:
                del self._entered[thread]
            is_last = not self._entered
        block.__exit__(kind, error, traceback)
        if is_last:
            self.close()

    def __repr__(self) -> str:
        return f"<autoloop.distributed.Client of {self.dask_client!r}>"


class _Named:
    """Calls a function with its first arguments by their names."""

    def __init__(self, f: Callable[..., Any], names: Sequence[str]) -> None:
        self._f, self._names = f, names
        self.__name__ = getattr(f, "__name__", "call")  # Dask's dashboard shows it

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._f(**dict(zip(self._names, args)), **kwargs)


def _checked(grid: Any) -> tuple[list[str], list[list[Any]]]:
    """Return the names of a grid's parameters, and the values of each."""
    if not isinstance(grid, Mapping) or not all(isinstance(name, str) for name in grid):
        raise TypeError(
            "sweep goes through the values of parameters by their names, as in "
            f"sweep(f, {{'rate': [1.0, 2.0]}}); this is {grid!r}: for calls with one argument each there is map [AL623]"
        )
    single = [name for name in grid if not isinstance(grid[name], Iterable)]
    if single:
        raise TypeError(
            f"sweep goes through several values of each parameter, and {single[0]!r} has one, {grid[single[0]]!r}: "
            f"give [{grid[single[0]]!r}], or {single[0]}={grid[single[0]]!r} as an argument of all calls [AL623]"
        )
    return list(grid), [list(values) for values in grid.values()]


def _own_arguments(
    send: Callable[..., Any], f: Callable[..., Any], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return a function and its arguments without those whose names Dask would take for its own."""
    known = signature_of(send).parameters
    taken = {name: value for name, value in kwargs.items() if name in known}
    if not taken:
        return f, kwargs
    return functools.partial(f, **taken), {name: value for name, value in kwargs.items() if name not in known}
