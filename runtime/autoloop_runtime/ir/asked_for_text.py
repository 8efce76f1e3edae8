"""Who is told when Python asks what stands for a value of a run for its text, its hash or the value.

``str(obj)``, ``f'{x}'``, ``repr([x])``; ``d[x]``, ``set(x)``. While a function is traced there is no value to show, or
to find, yet. Converted code makes such texts at run time; here arrive the others, of a method of the user's that runs
as it is, or of a library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

#: told of the value and of the frame that wants its text, before that is made; may raise. Only imports add to it, under
#: Python's lock of imports
_TOLD: list[Callable[[Any, FrameType], None]] = []
_TOLD_OF_KEYS: list[Callable[[Any, FrameType], None]] = []
_TOLD_OF_VALUES: list[Callable[[Any, FrameType], None]] = []
_TOLD_OF_ARRAYS: list[Callable[[FrameType], None]] = []


def tell_of_texts(told: Callable[[Any, FrameType], None]) -> None:
    """Let ``told`` know of each text that is asked for (called once, at import)."""
    _TOLD.append(told)


def tell_of_keys(told: Callable[[Any, FrameType], None]) -> None:
    """Let ``told`` know of each hash that is asked for (called once, at import)."""
    _TOLD_OF_KEYS.append(told)


def tell_of_values(told: Callable[[Any, FrameType], None]) -> None:
    """Let ``told`` know of each value that is asked for (called once, at import)."""
    _TOLD_OF_VALUES.append(told)


def tell_of_arrays(told: Callable[[FrameType], None]) -> None:
    """Let ``told`` know where an array is asked of what has no value yet (called once, at import)."""
    _TOLD_OF_ARRAYS.append(told)


def array_is_asked() -> None:
    """Tell that the method of a value that calls this was asked for an array."""
    frame = sys._getframe(2)
    for told in _TOLD_OF_ARRAYS:
        told(frame)


def value_is_asked(value: Any, depth: int) -> None:
    """Tell that ``value`` is asked for what it is by who called the function ``depth`` calls before this one."""
    frame = sys._getframe(depth + 1)
    for told in _TOLD_OF_VALUES:
        told(value, frame)


def hash_is_asked(value: Any) -> None:
    """Tell that ``value``, whose ``__hash__`` calls this, is looked for in a dict or set."""
    frame = sys._getframe(2)
    for told in _TOLD_OF_KEYS:
        told(value, frame)


def text_is_asked(value: Any) -> None:
    """Tell that a method of ``value``, which calls this, was asked for its text."""
    frame = sys._getframe(2)
    for told in _TOLD:
        told(value, frame)
