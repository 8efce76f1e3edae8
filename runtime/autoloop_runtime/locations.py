"""Where in the user's own files something was written.

Every node remembers the chain of user frames it was made from, so that a failure in any thread at any
iteration can still be shown at the user's line.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from types import CodeType, FrameType, TracebackType

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


class Places:
    """Finds the lines that the nodes of one graph are made from, each of them once.

    Not thread-safe, like the building of a graph. Python finds the line of a frame by reading the code's table of
    lines from its beginning; a function of many thousand lines needs a table that can be searched.
    """

    __slots__ = ("_known", "_tables")

    def __init__(self) -> None:
        #: where the frames of the user stand, as (identity of the code, offset) in a row -> their lines
        self._known: dict[tuple[int, ...], Location] = {}
        #: identity of a code -> the code, which lives as long as the identity is in use, and where its lines begin
        self._tables: dict[int, tuple[CodeType, list[int], list[int]]] = {}

    def capture(self) -> Location:
        """The user's lines that lead to the caller, outermost first, up to the start of the trace."""
        codes: list[CodeType] = []
        key: list[int] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and len(codes) < DEPTH:
            code = frame.f_code
            if code.co_name == TRACE_ENTRY:
                break
            if not is_internal(code.co_filename):
                codes.append(code)
                key += (id(code), frame.f_lasti)
            frame = frame.f_back
        found = self._known.get(tuple(key))
        if found is None:
            found = tuple([self._line(code, offset) for code, offset in zip(codes, key[1::2])][::-1])
            self._known[tuple(key)] = found
        return found

    def _line(self, code: CodeType, offset: int) -> Line:
        table = self._tables.get(id(code))
        if table is None:
            rows = [(start, line) for start, _, line in code.co_lines() if line is not None]
            table = self._tables[id(code)] = (code, [start for start, _ in rows], [line for _, line in rows])
        _, starts, lines = table
        row = bisect_right(starts, offset) - 1
        return Line(code.co_filename, lines[row] if row >= 0 else code.co_firstlineno, code.co_name)


def capture() -> Location:
    """As ``Places.capture``, for once."""
    return Places().capture()


def raised_at(traceback: TracebackType | None) -> Location:
    """The user's lines that lead to the place where an exception was raised, from the caller's own down."""
    lines = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_internal(code.co_filename):
            lines.append(Line(code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return (*capture(), *lines)[-DEPTH:]
