"""From converted code to a function object that shares everything with the user's own.

The new function gets the user's own cells and globals: globals stay late-bound, and ``nonlocal`` variables are shared.
"""

from __future__ import annotations

import functools
import types
from typing import Any

IMPORT_LINE = "from autoloop import operators as {name}"


def instantiate(code: types.CodeType, function: types.FunctionType, ops: str) -> types.FunctionType:
    """Return a function of the converted code that shares cells, globals and attributes with ``function``."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[ops] = types.CellType(_operators(ops))
    closure = tuple(cells[name] for name in code.co_freevars)
    new = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    new.__kwdefaults__ = function.__kwdefaults__
    new.__qualname__ = function.__qualname__
    new.__doc__ = function.__doc__
    new.__annotations__ = function.__annotations__
    new.__module__ = function.__module__
    new.__dict__ = function.__dict__
    return new


@functools.cache
def _operators(ops: str) -> Any:
    """Run the import that heads the printed code, and return what it binds; once, as it is the same for all code."""
    namespace: dict[str, Any] = {}
    exec(IMPORT_LINE.format(name=ops), namespace)
    return namespace[ops]
