"""``assert`` and ``raise`` under conditions that only a run can decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoloop_runtime.registry import call

from autoloop.operators.values import is_staged, truth


def checked(test: Any, message: Callable[[], Any] | None = None) -> Any:
    """Return the test of an ``assert``; a staged one becomes a check at run time and counts as true."""
    if not is_staged(test):
        return test
    data = [] if message is None else [message()]
    call("Assert", truth(test), data)
    return True


def raised(error: Any) -> Any:
    """Return what a ``raise`` statement in a loop or branch raises."""
    return error
