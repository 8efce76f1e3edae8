"""Which program the compiler may run in: an interpreter that is surely Python's, and nothing that only looks like it.

A frozen application is its own ``sys.executable``. Started as if it were an interpreter it runs once more, and may want
a compiler too. So its name and its marks are looked at before anything is started, what was started must say who it is
(see ``process``), and a mark in the environment tells a program that it was started in this way.
"""

from __future__ import annotations

import os
import sys
from typing import Any

#: set in the environment of the compiler's process; a program that finds it there starts no other
STARTED = "AUTOLOOP_COMPILER"
#: what interpreters are called, before the version, and behind it
_NAMES, _BUILDS = ("python", "pypy"), ("-dbg", "-intel64", "-arm64")
#: what tools that freeze applications leave in ``sys``
_MARKS = ("frozen", "_MEIPASS", "oxidized")
#: what was started as an interpreter and is none, and how that showed; two threads at the same time note the same
_rejected: dict[str, str] = {}


def reject(why: str) -> str:
    """Start ``sys.executable`` never again; give what ``why_not`` says from now on."""
    told = f"{sys.executable} is not the interpreter that runs this program: {why}"
    _rejected[sys.executable] = told
    return told


def why_not() -> str:
    """Return why no other process can be started as an interpreter; empty if one may be tried."""
    if sys.executable in _rejected:
        return _rejected[sys.executable]
    if os.environ.get(STARTED):
        return f"{STARTED} is set: this process was started to be a compiler"
    main: Any = sys.modules.get("__main__")
    if any(getattr(sys, mark, None) for mark in _MARKS) or hasattr(main, "__compiled__"):
        return "the application is frozen"
    if not _is_named_so(os.path.basename(sys.executable or "")):
        return f"sys.executable is {sys.executable!r}"
    return ""


def _is_named_so(file: str) -> bool:
    """Return whether an interpreter's file may be called so: ``python3.13t-dbg.exe``.

    By hand: at a first call, a regular expression would take a millisecond to compile.
    """
    name = file.lower().removesuffix(".exe")
    name = next((name[: -len(build)] for build in _BUILDS if name.endswith(build)), name)
    start = next((start for start in _NAMES if name.startswith(start)), None)
    return start is not None and not name[len(start) :].lstrip("0123456789.").strip("tdmuw")


def command(program: str) -> list[str]:
    """Return how this interpreter is started to run the file ``program``: at least as isolated as this process.

    Nothing that the environment, the working folder or the user's site can name gets in; where this process writes no
    byte code, or writes it elsewhere, so does that one.
    """
    flags = ["-I", "-S"]
    if sys.dont_write_bytecode:
        flags.append("-B")
    if sys.pycache_prefix:
        flags += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    return [sys.executable, *flags, os.path.abspath(program)]


def environment() -> dict[str, str]:
    """Return the environment of such a process."""
    return {**os.environ, STARTED: "1"}
