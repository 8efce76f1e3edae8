"""The extra ``native``: whether llvmlite is there, and new enough. It is looked for and not imported.

What is imported here is little, so what users are to know of machine code, and most never need, has its name here too.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
from functools import lru_cache

#: what people install, and how
NAME = "autoloop[native]"
INSTALL = f"pip install '{NAME}'"
UPGRADE = f"pip install -U '{NAME}'"
#: the oldest llvmlite that will do: it is the first with LLVM 20, before which intrinsics had to be declared
OLDEST = (0, 45)


class UnusableCacheWarning(UserWarning):
    """The folder that ``AUTOLOOP_CACHE_DIR`` names cannot be used, so nothing is kept; said once for each folder.

    Examples
    --------
    >>> issubclass(al.UnusableCacheWarning, UserWarning)
    True
    """


def folder() -> str | None:
    """Return the folder of the package llvmlite; ``None`` without it."""
    try:
        spec = importlib.util.find_spec("llvmlite")
    except ValueError:  # somebody put something else in its place
        return None
    return None if spec is None or spec.origin is None else os.path.dirname(os.path.abspath(spec.origin))


def version(package: str | os.PathLike[str], file: str = "_version.py") -> tuple[int, ...] | None:
    """Return the version that a file of the package in a folder tells; ``None`` if it does not."""
    try:
        with open(os.path.join(package, file), errors="replace") as source:
            text = source.read()
    except OSError:
        return None
    for line in text.splitlines():  # by hand: at a first call, a regular expression would take a millisecond to compile
        name, _, value = line.rpartition("=")
        value = value.strip()
        if value[:1] in ("'", '"') and name.rstrip().endswith(("version", "version__")):
            parts = value[1:].partition(value[0])[0].split(".")
            numbers = tuple(map(int, itertools.takewhile(str.isdecimal, parts)))
            if numbers:
                return numbers
    return None


def missing() -> str:
    """Return what machine code needs of Python itself and this one is built without; empty if nothing."""
    try:
        found = [name for name in ("ctypes", "mmap") if importlib.util.find_spec(name) is None]
    except (ImportError, ValueError) as error:  # somebody answers for it, or put something else in its place
        return f"Python's own modules for it: {error}"
    return f"the module {found[0]}, which this Python is built without" if found else ""


def why_not() -> str:
    """Return why machine code cannot be made; empty if it can."""
    if lacking := missing():
        return f"it needs {lacking}"
    package = folder()
    if package is None:
        return "llvmlite is not installed"
    found = version(package)
    if found is not None and found < OLDEST:
        return f"the llvmlite that is installed is {_dotted(found)}, and {_dotted(OLDEST)} is the oldest that will do"
    return ""


@lru_cache(maxsize=1)
def remedy() -> str:
    """Return what to do to have machine code; empty if there is nothing to be done. Found out once."""
    if not why_not() or missing():
        return ""
    return INSTALL if folder() is None else UPGRADE


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
