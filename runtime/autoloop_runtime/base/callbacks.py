"""Which functions call functions that they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: the attribute of such a function: the names of the parameters that take them
CALLS_BACK = "__autoloop_calls_back__"


def calls_back(*names: str) -> Callable[[F], F]:
    """Mark a function that traces, or calls, what it is given as ``names``: converted code hands it converted ones."""

    def mark(f: F) -> F:
        setattr(f, CALLS_BACK, names)
        return f

    return mark
