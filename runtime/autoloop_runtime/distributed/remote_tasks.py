"""What runs on a worker, and what is said here where it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .lost_clusters import lost_of_call


def run_region(program: Callable[..., Any], places: Sequence[int | None], *given: Any) -> Any:
    """Run a program on the values of other tasks, or one each of the tuples that they gave."""
    return program(*[value if place is None else value[place] for value, place in zip(given, places)])


def told(error: BaseException) -> BaseException:
    """Return an error that came from the cluster: the user's own as it is, what befell the cluster in our words."""
    return lost_of_call(error, "a part of the function")
