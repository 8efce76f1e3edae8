"""Conversions on disk, so that the next process need not make them again.

A conversion follows from the text of the file that a function stands in, from which of its functions that is, and from
the answers to what was asked of the world (``meanings``). An entry is found by the first two, for this Python and these
sources of the conversion; it is taken if every question is answered now as it was then.
"""

from __future__ import annotations

import contextlib
import linecache
import marshal
import os
import sys
import time
import types
from collections.abc import Iterable, Iterator
from importlib import util
from typing import Any

from autoloop_runtime.base.cache_folder import cache_folder
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.kept_entries import DiskCache

from .meanings import Meanings

#: of the room that is for machine code
_PART = 16
_BEGAN = time.time()
#: how the name of a text begins that came with a function from another process, which has that name in all others
SENT = "<sent "
#: file -> its lines, and their hash: a large file has many functions. Two threads put the same there
_texts: dict[str, tuple[list[str], bytes]] = {}


@dataclass(frozen=True)
class Conversion:
    """A converted function before it is given cells and globals.

    Attributes
    ----------
    code : types.CodeType
        The code object.
    ops : str
        The name of the operators in it.
    meanings : Meanings
        What was assumed about names.
    mutated : tuple of str
        The parameters whose elements it sets for its caller.
    named : tuple of str
        All the names in it.
    """

    code: types.CodeType
    ops: str
    meanings: Meanings
    mutated: tuple[str, ...]
    named: tuple[str, ...]


def enclosed(function: types.FunctionType, named: Iterable[str]) -> tuple[Any, ...]:
    """Return the modules that a function names, and the values of its free variables, as far as they have one."""
    values = function.__globals__
    found = [values[name] for name in named if issubclass(type(values.get(name)), types.ModuleType)]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):
            found.append(cell.cell_contents)
    return tuple(found)


def is_new(filename: str) -> bool:
    """Return whether a file, whose lines were just read, was written since the process began."""
    entry = linecache.cache.get(filename)
    if entry is None or len(entry) < 2 or entry[1] is None:  # the text of no file, as of a cell
        return False
    try:
        found = os.stat(entry[3])
    except OSError:
        return True
    return max(found.st_mtime, found.st_ctime) >= _BEGAN  # one that was moved there keeps the time of its text


class KeptConversion:
    """The entry of a function on disk, which need not be there.

    Parameters
    ----------
    function : types.FunctionType
        The function; its text is read here.
    """

    def __init__(self, function: types.FunctionType) -> None:
        self._function = function
        self._key = _key_of(function.__code__)

    def load(self) -> Conversion | None:
        """Return the conversion, if it is kept and what it rests on is what it was."""
        cache = _cache()
        content = cache.load(self._key) if cache is not None and self._key else None
        if content is None:
            return None
        code, ops, mutated, named, inner, answers = marshal.loads(content)
        meanings = Meanings(self._function.__globals__, enclosed(self._function, named), frozenset(inner))
        if not meanings.answers_are(answers):
            return None
        return Conversion(code, ops, meanings, mutated, named)

    def store(self, made: Conversion) -> None:
        """Keep a conversion that was just made, if the text that it was made of is still the same."""
        cache = _cache()
        if cache is None or not self._key or self._key != _key_of(self._function.__code__) or _sources() != _LOADED:
            return
        meanings = made.meanings
        inner, answers = sorted(meanings.inner_members), tuple(meanings.answers.items())
        with contextlib.suppress(ValueError):  # functions in functions, deeper than marshal goes
            cache.store(self._key, marshal.dumps((made.code, made.ops, made.mutated, made.named, inner, answers)))


def _cache() -> DiskCache | None:
    """Return the cache that the environment asks for; ``None`` if it wants none, or there is no place for it."""
    folder = cache_folder("conversions")
    return None if folder is None else DiskCache(folder, ".converted", _hash, _PART)


def _hash(data: bytes) -> bytes:
    """Return a hash of ``data``: 128 bits, for which nothing has to be loaded."""
    return util.source_hash(b"0" + data) + util.source_hash(b"1" + data)


def _key_of(code: types.CodeType) -> str:
    """Return what the entry of a function is found by; empty if nothing is to be kept, or there is no text."""
    if cache_folder("conversions") is None or _LOADED is None or not (text := _text_of(code.co_filename)):
        return ""
    told = (
        text, _LOADED, sys.version, util.MAGIC_NUMBER, sys.flags.optimize, _notes_columns(), code.co_filename,
        code.co_qualname, code.co_name, code.co_firstlineno, code.co_flags, code.co_freevars, code.co_varnames,
        code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_linetable,
    )  # fmt: skip
    return _hash(repr(told).encode()).hex()


def _text_of(filename: str) -> bytes:
    """Return the hash of the text of a file; empty if there is none, or it is no file's.

    What is no file's, as a cell of a notebook or a method that was made of a text, has another name in each process:
    nobody would find it again.
    """
    linecache.checkcache(filename)
    lines = linecache.getlines(filename)
    entry = linecache.cache.get(filename)
    if not lines or entry is None or len(entry) < 2 or (entry[1] is None and not filename.startswith(SENT)):
        return b""  # it has no time
    if is_new(filename):  # what runs need not be of this text
        return b""
    known = _texts.get(filename)
    if known is None or known[0] is not lines:  # which are others when the file has been read again
        known = _texts[filename] = lines, _hash("".join(lines).encode("utf-8", "surrogatepass"))
    return known[1]


def _notes_columns() -> bool:
    """Return whether Python notes columns in what it compiles (not with ``-X no_debug_ranges``); what it loads may."""
    return any(None not in position for position in compile("x", "<probe>", "eval").co_positions())


def _sources() -> str | None:
    """Return what tells the conversion, and the trees that it works on, from other versions of them."""
    try:
        found = util.find_spec("gast")
        if found is None or found.origin is None:
            return None
        return repr([*_files(os.path.dirname(__file__)), *_files(os.path.dirname(found.origin))])
    except (OSError, ValueError):  # no files, or somebody put something else in the place of gast
        return None


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield the sources in a folder, with the time and the size of each, as Python asks of them."""
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if entry.name.endswith(".py"):
            found = entry.stat()
            yield entry.path, found.st_mtime_ns, found.st_size


#: of the conversion that this process has: its files may be others by the time that something is converted
_LOADED = _sources()
