"""Texts that Python keeps in no file and in no cache of lines: a cell that IPython's ``%%time`` runs, the program of
``python -c``, a file that ``python -`` reads. A text is taken if the function is compiled of it."""

from __future__ import annotations

import itertools
import os
import stat
import sys
import types
from collections.abc import Iterator
from typing import Any

from ..errors import SourceNotFoundError
from .changed_files import as_it_stands

#: so many cells back
_MOST = 50


def lines_of(code: types.CodeType) -> list[str]:
    """Return the lines of the text that a function is from; none where it is not found."""
    texts = _TEXTS.get(code.co_filename)
    for text in texts() if texts is not None else ():
        lines = text.splitlines(True)
        try:
            if as_it_stands(code, lines).co_firstlineno == code.co_firstlineno:
                return lines
        except SourceNotFoundError:
            continue
    return []


def _timed() -> Iterator[str]:
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    history: list[str] = [] if shell is None else shell.history_manager.input_hist_raw[-_MOST:]
    for cell in reversed(history):
        lines = cell.splitlines(True)
        while lines and (lines[0].startswith("%%") or not lines[0].strip()):
            del lines[0]
        yield shell.transform_cell("".join(lines))


def _given() -> Iterator[str]:
    for word, text in itertools.pairwise(sys.orig_argv):
        if word[:1] == "-" and word[-1:] == "c":
            yield text


def _read() -> Iterator[str]:
    try:
        found = os.fstat(0)
        if stat.S_ISREG(found.st_mode):  # what comes through a pipe is gone
            yield os.pread(0, found.st_size, 0).decode("utf-8")
    except (OSError, ValueError, AttributeError):  # closed, of another encoding, or no such call on this system
        return


#: file name -> where its text may be
_TEXTS = {"<timed exec>": _timed, "<string>": _given, "<stdin>": _read}
