"""``ops.starred_call(f)(*args, **kwargs)``: calls in which the interpreter itself may refuse the arguments.

What it says then, that a keyword comes twice or that something is no mapping, names what is called.
"""

from __future__ import annotations

import functools
from typing import Any

from autoloop_runtime.ir.graph import current_graph

from .call_expression import call


class _Standing(functools.partial[Any]):
    """What is called in place of something, and named as that is."""

    stands_for: Any

    def __getattr__(self, name: str) -> Any:  # of __qualname__, too, which objects do not find in their class
        return getattr(self.__dict__["stands_for"], name)

    def __str__(self) -> str:
        return str(self.stands_for)


# a class has a text under this name, which would be found first
_Standing.__module__ = property(lambda self: self.stands_for.__module__)  # type: ignore[assignment]


def starred_call(f: Any) -> Any:
    """Return what to call in place of ``f`` with arguments that an iterable or a mapping gives."""
    made = call(f)
    if made is f or current_graph() is None:
        return made
    standing = _Standing(made)
    standing.stands_for = f
    return standing
