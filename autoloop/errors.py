"""The errors of the front end, and tracebacks that show the user's own lines.

Converted code is compiled with the user's file name and line numbers, so the frames of a converted function
already point at the user's source. What is left to do is to take the frames of autoloop itself out of a
traceback, so that nothing stands between the user's lines.
"""

from __future__ import annotations

import os
import types
from pathlib import Path
from typing import TypeVar

_E = TypeVar("_E", bound=BaseException)

_FULL_TRACEBACK = "AUTOLOOP_FULL_TRACEBACK"
_OWN_FOLDERS: tuple[str, ...] = (
    str(Path(__file__).resolve().parent) + os.sep,
    str(Path(__file__).resolve().parent.parent / "runtime" / "autoloop_runtime") + os.sep,
    str(Path(__file__).resolve().parent.parent / "autoloop_runtime") + os.sep,
    "<autoloop ",  # generated code
)


class ConversionError(NotImplementedError):
    """A construct that cannot be converted, told with its file, line, source text and a way out."""


class SourceNotFoundError(OSError):
    """The source text of a function cannot be found, so it cannot be converted."""


def is_own_file(filename: str) -> bool:
    """Whether a file belongs to autoloop or its runtime."""
    return filename.startswith(_OWN_FOLDERS)


def user_traceback(error: _E) -> _E:
    """Take autoloop's own frames out of an exception's traceback, in place.

    Set ``AUTOLOOP_FULL_TRACEBACK=1`` in the environment to keep them. If no frame of the user is left, the
    traceback stays whole: it is then the only clue to the place of the failure.

    Parameters
    ----------
    error : BaseException
        The exception; its ``__cause__`` and ``__context__`` are cleaned as well.

    Returns
    -------
    BaseException
        The same exception.
    """
    if os.environ.get(_FULL_TRACEBACK, "") not in ("", "0"):
        return error
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _without_own_frames(one.__traceback__)
        todo += [one.__cause__, one.__context__]
    return error


def _without_own_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    kept: list[types.TracebackType] = []
    link = traceback
    while link is not None:
        if not is_own_file(link.tb_frame.f_code.co_filename):
            kept.append(link)
        link = link.tb_next
    if not kept:
        return traceback
    for one, following in zip(kept, [*kept[1:], None], strict=True):
        one.tb_next = following
    return kept[0]


def describe_place(filename: str, line: int, text: str) -> str:
    """Return ``File "f.py", line 3`` and the source text below it, as tracebacks print them."""
    shown = f'  File "{filename}", line {line}'
    return f"{shown}\n    {text.strip()}" if text.strip() else shown
