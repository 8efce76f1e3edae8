"""Where in the user's own files something was written.

Every node remembers the chain of user frames it was made from, so that a failure in any thread at any
iteration can still be shown at the user's line.
"""

from __future__ import annotations

import os
import sys
from types import FrameType

from .dataclass import dataclass

#: directories whose frames are not the user's; the front end adds its own
_INTERNAL: list[str] = [os.path.dirname(os.path.abspath(__file__)) + os.sep]
_internal_files: dict[str, bool] = {}  # memo of a pure function of the file name; races only repeat work


def mark_internal(directory: str) -> None:
    """Count the files below ``directory`` as the system's own (called once, at import)."""
    _INTERNAL.append(os.path.abspath(directory) + os.sep)
    _internal_files.clear()


def is_internal(filename: str) -> bool:
    """True if the file belongs to the system rather than to its user."""
    known = _internal_files.get(filename)
    if known is None:
        known = filename.startswith(("<frozen", *_INTERNAL))
        _internal_files[filename] = known
    return known


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the user's source."""

    filename: str
    lineno: int
    function: str

    def __str__(self) -> str:
        return f"{self.filename}:{self.lineno}"


#: innermost line last
Location = tuple[Line, ...]
#: a function with this name ends the walk: what called it is not part of what is being traced
TRACE_ENTRY = "_trace_entry_"
DEPTH = 24


def capture() -> Location:
    """The user's lines that lead to the caller, outermost first, up to the start of the trace."""
    lines: list[Line] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(lines) < DEPTH:
        code = frame.f_code
        if code.co_name == TRACE_ENTRY:
            break
        if not is_internal(code.co_filename):
            lines.append(Line(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    lines.reverse()
    return tuple(lines)
