"""What the command line says when something is wrong: one line for the caller, or the user's own traceback."""

from __future__ import annotations

import sys
import traceback
from difflib import get_close_matches

from autoloop_runtime.base.env_switches import switch
from autoloop_runtime.base.locations import is_own_file


class UsageError(Exception):
    """The command cannot be carried out as it was given; the message is for the person who typed it."""


def did_you_mean(name: str, known: list[str]) -> str:
    """Return ``"; did you mean 'x'?"`` if a known name is near, else an empty string."""
    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def report_failure(error: BaseException) -> None:
    """Print the traceback of the user's code: no frame of autoloop, none of the import system.

    A failure that no line of the user's is part of is one line.
    """
    shown = traceback.TracebackException.from_exception(error)
    if not switch("AUTOLOOP_FULL_TRACEBACK"):
        todo: list[traceback.TracebackException | None] = [shown]
        while todo:
            one = todo.pop()
            if one is not None:
                one.stack = traceback.StackSummary.from_list([f for f in one.stack if not _is_hidden(f.filename)])
                todo += [one.__cause__, one.__context__]
    if shown.stack or isinstance(error, SyntaxError):
        sys.stderr.write("".join(shown.format()))
    elif type(error).__module__.partition(".")[0] in ("autoloop", "autoloop_runtime"):  # whose names say nothing
        sys.stderr.write(f"autoloop: {error}\n")
    else:
        sys.stderr.write("autoloop: " + "".join(shown.format_exception_only()))


def _is_hidden(filename: str) -> bool:
    return is_own_file(filename) or filename.startswith("<frozen ")
