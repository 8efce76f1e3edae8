"""Context variables that are put back, whatever interrupts the work that they were set for.

Ctrl-C and signal handlers may raise between any two calls: also after a variable was set and before the ``with``
statement was entered that would put it back. So whole traces run in a copy of the context.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
#: what the names of this package's own context variables begin with
OURS = "autoloop_"


class Setting(Generic[T, R]):
    """A context manager in which ``variable`` has this value; gives ``result``.

    No generator: one that was interrupted would put the variable back when it is collected, in whatever context.
    """

    __slots__ = ("before", "result", "value", "variable")

    def __init__(self, variable: ContextVar[T], value: T, result: R) -> None:
        self.variable = variable
        self.value = value
        self.result = result

    def __enter__(self) -> R:
        self.before = self.variable.get()
        self.variable.set(self.value)
        return self.result

    def __exit__(self, *exc: object) -> None:
        self.variable.set(self.before)


def undisturbed(f: Callable[..., R], *args: Any) -> R:
    """Return ``f(*args)``; this package's context variables are then as before, those of others as ``f`` left them."""
    inside = copy_context()
    try:
        return inside.run(f, *args)
    finally:
        outside = copy_context()
        for variable, value in inside.items():
            if not variable.name.startswith(OURS) and outside.get(variable) is not value:
                variable.set(value)
