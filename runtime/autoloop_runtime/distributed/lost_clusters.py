"""One error for all the ways in which a program loses its cluster.

Dask tells each of its own: a future was cancelled, a connection or a client closed, a task has killed its workers, the
event loop is there no more. They come out wherever somebody waits.
"""

from __future__ import annotations

from typing import Any

from .remote_cluster import LostCluster, NoCluster, dask_client

_PACKAGES = ("distributed", "tornado", "asyncio", "concurrent")
#: what says that a value, a connection, a client or workers are gone
_NAMES = frozenset(
    (
        "CancelledError", "FutureCancelledError", "FuturesCancelledError", "CommClosedError", "ClosedClientError",
        "RPCClosed", "StreamClosedError", "KilledWorker", "NoSchedulerError", "FatalCommClosedError",
        "NoWorkerError", "NoValidWorkerError",
    )
)  # fmt: skip


def is_of_cluster(error: BaseException, is_running: bool) -> bool:
    """Return whether an error says that something of the cluster is gone, and nothing of the program.

    While the client *is running*, what else goes wrong in Dask is none: a graph that cannot be read there.
    """
    kind = type(error)
    if kind.__module__.split(".")[0] in _PACKAGES and (kind.__name__ in _NAMES or isinstance(error, OSError)):
        return True
    if not is_running and isinstance(error, Exception) and _where(error) == "distributed":
        return True  # any kind, where an event loop ends or a connection is taken away in the middle
    # Python's own, raised where Dask waits: also for a scheduler that does not answer, in an event loop that has ended
    kinds = (TimeoutError, OSError) if is_running else (TimeoutError, OSError, RuntimeError)
    return isinstance(error, kinds) and _where(error) in _PACKAGES


def _where(error: BaseException) -> str:
    """Return the package that has raised an error, here."""
    traceback, found = error.__traceback__, ""
    while traceback is not None:
        found, traceback = str(traceback.tb_frame.f_globals.get("__name__", "")).split(".")[0], traceback.tb_next
    return found


def lost_of(error: BaseException, client: Any, what: str) -> BaseException:
    """Return what is said of an error that ends a call: the program's own as it is, what befell the cluster in ours.

    Parameters
    ----------
    error : BaseException
    client : distributed.Client or None
    what : str
        What was run there.
    """
    is_running = client is not None and client.status == "running"
    if isinstance(error, LostCluster) or not is_of_cluster(error, is_running):
        return error
    words = " ".join(str(error).split())
    told = f"{type(error).__name__}: {words}" if words else type(error).__name__
    if type(error).__name__ == "KilledWorker":
        said = f"workers died while they ran {what}: {words}"
    elif not is_running:
        said = f"the scheduler of the cluster is gone, or its client was closed, while it ran {what} ({told})"
    else:
        said = f"what the cluster had of {what} is lost ({told})"
    made = LostCluster(f"{said} [AL616]")
    made.__cause__ = error.with_traceback(None)  # its frames have what is there still
    return made


def lost_of_call(error: BaseException, what: str = "the function") -> BaseException:
    """Return what is said of an error that ends a call on the cluster of the current client, see ``lost_of``."""
    try:
        client = dask_client()
    except NoCluster:
        client = None
    return lost_of(error, client, what)
