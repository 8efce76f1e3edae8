"""What runs on a worker, and what is said here where it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .remote_cluster import LostCluster


def run_region(program: Callable[..., Any], places: Sequence[int | None], *given: Any) -> Any:
    """Run a program on the values of other tasks, or one each of the tuples that they gave."""
    return program(*[value if place is None else value[place] for value, place in zip(given, places)])


def told(error: BaseException) -> BaseException:
    """Return an error that came from the cluster: the user's own as it is, what befell the cluster in our words."""
    name = type(error).__name__
    if name == "KilledWorker":
        return LostCluster(f"workers died while they ran a part of the function: {error} [AL616]")
    if name in ("CancelledError", "FutureCancelledError", "CommClosedError", "ClosedClientError"):
        return LostCluster(
            f"the cluster was lost while it ran a part of the function, or its client was closed: {error} [AL616]"
        )
    return error
