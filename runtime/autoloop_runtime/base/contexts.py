"""Context variables that are put back, whatever interrupts the work that they were set for.

Ctrl-C and signal handlers may raise between any two calls: also after a variable was set and before the ``with``
statement was entered that would put it back. So whole traces run in a copy of the context.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

R = TypeVar("R")
#: what the names of this package's own context variables begin with
OURS = "autoloop_"


class Setting(Generic[R]):
    """A context manager in which variables have other values; gives ``result``.

    A generator that was interrupted in it leaves it when it is collected, in whatever context: where the variables have
    other values than were set here, they stay. What is left to Ctrl-C is the moment before the first instruction of
    ``__exit__``.
    """

    __slots__ = ("before", "result", "values")

    def __init__(self, result: R, *values: tuple[ContextVar[Any], Any]) -> None:
        self.result = result
        self.values = values

    def __enter__(self) -> R:
        self.before = [(variable, variable.get()) for variable, _ in self.values]
        try:
            for variable, value in self.values:
                variable.set(value)
        except BaseException:
            self._put_back()
            raise
        return self.result

    def __exit__(self, *exc: object) -> None:
        if exc and exc[0] is GeneratorExit and any(variable.get() is not value for variable, value in self.values):
            return
        try:
            for variable, value in self.before:
                variable.set(value)
        except BaseException:
            self._put_back()
            raise

    def _put_back(self) -> None:
        for variable, value in self.before:
            variable.set(value)


class Entered(Generic[R]):
    """The settings that an object which is a context manager itself is in force by, the last entered last.

    It may be entered again inside; each ``leave`` undoes the newest ``enter`` that is left.
    """

    __slots__ = ("_settings",)

    def __init__(self) -> None:
        self._settings: list[Setting[R]] = []

    def enter(self, setting: Setting[R]) -> R:
        """Enter ``setting``; gives its result."""
        self._settings.append(setting)
        try:
            return setting.__enter__()
        except BaseException:
            self._settings.pop()
            raise

    def leave(self, *exc: object) -> None:
        """Leave the setting that was entered last."""
        try:
            self._settings[-1].__exit__(*exc)
        finally:
            self._settings.pop()

    def __bool__(self) -> bool:
        return bool(self._settings)


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
