"""Where in the user's own files something was written.

Every node remembers the chain of user frames it was made from, so that a failure in any thread at any
iteration can still be shown at the user's line.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from types import CodeType, FrameType, TracebackType
from typing import Any

from .dataclass import dataclass
from .forks import undivided

#: how the names of the system's own files begin, as Python spells them when it imports, and of code that it writes; the
#: front end adds its own (set under the lock of imports)
_OWN: tuple[str, ...] = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep, "<autoloop ")
_internal_files: dict[str, bool] = {}  # memo of a pure function of the file name; races only repeat work


def mark_internal(directory: str) -> None:
    """Count the files below ``directory`` as the system's own (called once, at import)."""
    global _OWN
    _OWN += (os.path.abspath(directory) + os.sep,)
    _internal_files.clear()
    is_library_file.cache_clear()


def is_own_file(filename: str) -> bool:
    """Return whether a file belongs to the system itself."""
    return filename.startswith(_OWN)


def is_internal(filename: str) -> bool:
    """Return whether a file belongs to the system, or to Python's imports, rather than to the user."""
    known = _internal_files.get(filename)
    if known is None:
        known = is_own_file(filename) or filename.startswith("<frozen")
        _internal_files[filename] = known
    return known


#: where the standard library and installed packages are
_LIBRARY_FOLDERS = (os.path.join(os.path.dirname(os.__file__), ""), os.path.join(sys.prefix, "lib", "python"))
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


@functools.lru_cache(maxsize=4096)
def is_library_file(filename: str) -> bool:
    """Return whether a file belongs to the standard library, an installed package or the system itself."""
    if filename.startswith("<frozen "):
        return True
    if is_own_file(filename) or any(folder in filename for folder in _PACKAGES):
        return True
    return filename.startswith(_LIBRARY_FOLDERS)


def shown_name(filename: str) -> str:
    """Return how a file is called where people read it: ``In[3]`` if IPython knows it as a cell, else by its name."""
    ipython: Any = sys.modules.get("IPython")
    try:
        cell = ipython.get_ipython().compile.format_code_name(filename)
        return filename if cell is None else str(cell[1])
    except AttributeError:  # no IPython, or none that says so
        return filename


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the user's source."""

    filename: str
    lineno: int
    function: str

    def __str__(self) -> str:
        return f"{shown_name(self.filename)}:{self.lineno}"

    @property
    def short(self) -> str:
        """The line without folders, as ``file.py:12``."""
        return str(self).replace("\\", "/").rpartition("/")[2]


#: innermost line last
Location = tuple[Line, ...]
#: a function of ours with this name ends the walk: what called it is not part of what is being traced
TRACE_ENTRY = "_trace_entry_"
DEPTH = 24
#: bytes of a code's table of lines from which on it is searched: some hundred lines
LONG = 4000
#: identity of a code that is alive -> the code, and the lines of the places in it where calls stood; graph after graph
#: is made from the same. A memo of a pure function of the code; races only repeat work
_LINES: dict[int, tuple[weakref.ref[CodeType], dict[int, Line]]] = {}


def _lines_of(code: CodeType) -> dict[int, Line]:
    """Return the lines of ``code`` that are known by now, by offset."""
    identity = id(code)
    known = _LINES.get(identity)
    if known is None or known[0]() is not code:
        known = _LINES[identity] = (weakref.ref(code, lambda _: _LINES.pop(identity, None)), {})
    return known[1]


class Places:
    """Finds the lines that the nodes of one graph are made from, each of them once.

    Not thread-safe, like the building of a graph. Python finds the line of a frame by reading the code's table of
    lines from its beginning; a function of many thousand lines needs a table that can be searched.
    """

    __slots__ = ("_codes", "_known", "_tables")

    def __init__(self) -> None:
        #: where the frames of the user stand, as (identity of the code, offset) in a row -> their lines
        self._known: dict[tuple[int, ...], Location] = {}
        #: identity of a code -> the code, which lives as long as the identity is in use
        self._codes: dict[int, CodeType] = {}
        #: identity of a long code -> where its lines begin, and which
        self._tables: dict[int, tuple[list[int], list[int]]] = {}

    def capture(self) -> Location:
        """Return the user's lines that lead to the caller, outermost first, up to the start of the trace."""
        frames: list[FrameType] = []
        key: list[int] = []
        known = _internal_files  # asked here, as a call for each frame would be most of what a node costs
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            internal = known.get(code.co_filename)
            if internal is None:
                internal = is_internal(code.co_filename)
            if not internal:
                frames.append(frame)
                key.append(id(code))
                key.append(frame.f_lasti)
                if len(frames) == DEPTH:
                    break
            elif code.co_name == TRACE_ENTRY:
                break
            frame = frame.f_back
        place = tuple(key)
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = tuple([self._line(one) for one in reversed(frames)])
        return found

    def _line(self, frame: FrameType) -> Line:
        code, offset = frame.f_code, frame.f_lasti
        self._codes[id(code)] = code
        lines = _lines_of(code)
        found = lines.get(offset)
        if found is None:
            line = self._searched(code, offset) if len(code.co_linetable) > LONG else frame.f_lineno
            found = lines[offset] = Line(code.co_filename, line or code.co_firstlineno, code.co_name)
        return found

    def _searched(self, code: CodeType, offset: int) -> int:
        table = self._tables.get(id(code))
        if table is None:
            rows = [(start, line) for start, _, line in code.co_lines() if line is not None]
            table = self._tables[id(code)] = ([start for start, _ in rows], [line for _, line in rows])
        with undivided():
            from bisect import bisect_right

        starts, lines = table
        return lines[max(bisect_right(starts, offset) - 1, 0)]


def capture() -> Location:
    """Do what ``Places.capture`` does, for once."""
    return Places().capture()


#: the file of code that has no text
GENERATED = "<string>"


def users_line(location: Location) -> Line | None:
    """Return the last line of the user's own that leads somewhere, through the code of a library perhaps, or through
    code that was generated, as the methods of dataclasses are."""
    last = location[-1] if location else None
    lines = [one for one in reversed(location) if not is_library_file(one.filename)]
    return next((one for one in lines if one.filename != GENERATED), lines[0] if lines else last)


def raised_at(traceback: TracebackType | None) -> Location:
    """Return the user's lines that lead to the place where an exception was raised, from the caller's own down."""
    lines = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_internal(code.co_filename):
            lines.append(Line(code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return (*capture(), *lines)[-DEPTH:]
