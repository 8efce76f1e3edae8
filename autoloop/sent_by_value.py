"""Functions that cloudpickle, and those who pickle with it, send by value: as code, whose text they leave behind.

Without its text a function is not converted, nor are those that it calls. So it is sent with the lines of all that go
with it, each of which stands in a file of its own where they arrive, by which tracebacks show it, too.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import inspect
import linecache
import operator
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .conversion.kept_conversions import SENT
from .conversion.source import find_source
from .errors import SourceNotFoundError

#: how the modules end that pickle by value what cannot be imported elsewhere; they are also found inside other packages
_PICKLERS = ("cloudpickle", "cloudpickle_fast", "_dill")
#: so many functions of a program go with one that is sent, and so long are lists and dicts that are searched for them
_MOST = 500


class Text(NamedTuple):
    """The lines of a function that is sent with them; of a lambda also the columns that it begins and ends at."""

    function: types.FunctionType
    filename: str
    lines: tuple[str, ...]
    columns: tuple[int, int] | None

    @property
    def alone(self) -> list[str]:
        """The lines without what else stands in them, each column where it was."""
        lines = list(self.lines)
        if self.columns is not None:
            begin, end = self.columns
            lines[-1] = _columns(lines[-1], 0, end) + ")\n"
            lines[0] = "(" + " " * (begin - 1) + _columns(lines[0], begin, None)
        return lines


class ByValue:
    """What goes by value in the pickle that is being made: its methods say what, as the pickler would."""

    def __init__(self, modules: Iterable[str]) -> None:
        self._modules = frozenset(modules)

    @classmethod
    def asked(cls) -> ByValue | None:
        """Return what goes by value where somebody who pickles by value has called the calling method; else None."""
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__") == "pickle":
            frame = frame.f_back
        name = str(frame.f_globals.get("__name__")) if frame is not None else ""
        if name.rpartition(".")[2] not in _PICKLERS:
            return None
        package = sys.modules.get(name.rpartition(".")[0])
        registered: Callable[[], Iterable[str]] = getattr(package, "list_registry_pickle_by_value", tuple)
        return cls(["__main__", *registered()])

    def holds(self, one: Any) -> bool:
        """Return whether a function or class, or what stands for one, goes by value."""
        module = str(getattr(one, "__module__", None))
        parts = module.split(".")
        if any(".".join(parts[: k + 1]) in self._modules for k in range(len(parts))):
            return True
        return found_by_name(module, getattr(one, "__qualname__", "")) is not one

    def texts(self, f: Any, arrived: Iterable[Text] = ()) -> tuple[Text, ...]:
        """Return the lines of what goes by value together with ``f``; of one that came so, also of what it came with:
        the class of a method is in reach only where it was written."""
        found = self._with([f, *[text.function for text in arrived]])
        return tuple([text for one in found if (text := _text_of(one)) is not None])

    def _with(self, todo: list[Any]) -> list[types.FunctionType]:
        """Return the functions that go by value together with some, as far as can be told before they are called."""
        found: dict[int, types.FunctionType] = {}
        seen = {id(one): one for one in todo}
        while todo and len(found) < _MOST:
            one = todo.pop()
            if isinstance(one, (types.FunctionType, type)) and not self.holds(one):
                continue
            if isinstance(one, types.FunctionType):
                found[id(one)] = one
            for other in _reached(one):
                if id(other) not in seen:
                    seen[id(other)] = other
                    todo.append(other)
        return list(found.values())


def found_by_name(module: str, name: str) -> Any:
    """Return what a module has under a qualified name; None if nothing is."""
    try:
        return operator.attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError):
        return None


def _reached(one: Any) -> Iterator[Any]:
    if isinstance(one, types.FunctionType):
        cls = one.__globals__.get(one.__qualname__.partition(".")[0])  # of a method, which may call others
        for code in _with_inner(one.__code__):
            yield from [one.__globals__[name] for name in code.co_names if name in one.__globals__]
            yield from [inspect.getattr_static(cls, name, None) for name in code.co_names if isinstance(cls, type)]
        for cell in one.__closure__ or ():
            with contextlib.suppress(ValueError):  # an empty one
                yield cell.cell_contents
        yield from [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
    elif isinstance(one, type):
        yield from [*vars(one).values(), *one.__bases__]
    elif isinstance(one, (staticmethod, classmethod)):
        yield one.__func__
    elif isinstance(one, types.MethodType):
        yield from (one.__func__, type(one.__self__))
    elif isinstance(one, property):
        yield from (one.fget, one.fset, one.fdel)
    elif isinstance(one, functools.partial):
        yield one.func
    elif isinstance(one, (list, tuple, dict)) and len(one) <= _MOST:
        yield from one.values() if isinstance(one, dict) else one


def _with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _with_inner(one)


def _text_of(function: types.FunctionType) -> Text | None:
    code = function.__code__
    try:
        found = find_source(code)
    except SourceNotFoundError:  # nor has it one here
        return None
    node: ast.Lambda = found.node
    columns = (node.col_offset, node.end_col_offset or 0) if code.co_name == "<lambda>" else None
    return Text(function, code.co_filename, found.lines, columns)


def _columns(line: str, begin: int, end: int | None) -> str:
    """Return a part of a line, whose columns are bytes to Python."""
    return line.encode("utf-8", "surrogatepass")[begin:end].decode("utf-8", "surrogatepass")


def put(texts: Iterable[Text]) -> None:
    """Give functions that have arrived the lines that they were sent with."""
    for text in texts:
        code = text.function.__code__
        above = code.co_firstlineno - 1
        name = text.filename
        if tuple(linecache.getlines(name)[above : above + len(text.lines)]) != text.lines:  # another machine's, perhaps
            lines = ["\n"] * above + text.alone
            whole = "".join(lines)
            digest = hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
            name = f"{SENT}{os.path.basename(name).strip('<>')} {digest}>"
            linecache.cache[name] = (len(whole), None, lines, name)
        if name != code.co_filename:
            function: Any = text.function
            function.__code__ = _renamed(code, name)


def _renamed(code: types.CodeType, filename: str) -> types.CodeType:
    inner = [_renamed(one, filename) if isinstance(one, types.CodeType) else one for one in code.co_consts]
    return code.replace(co_filename=filename, co_consts=tuple(inner))
