"""A function that arrives by value again, with every task of a map, say, goes on with the traces of the first.

That is not seen where nothing in reach of the function can change: what it reads of globals and closures are numbers,
texts, tuples of these, modules, and functions of the same kind; and no line of it binds a global, a variable around it
or an attribute. Any other function is traced anew each time, for it arrives with state of its own.
"""

from __future__ import annotations

import dis
import sys
import types
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from autoloop_runtime.base.forks import Kind

from .sent_by_value import found_by_name

#: so many functions are remembered, those that were wanted last
_MOST = 64
_CONSTANTS = (type(None), bool, int, str, bytes, type(Ellipsis), type(NotImplemented))
_BINDS = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"}
#: names by which a function may come at what it could change unseen
_REACHES = {
    "globals", "locals", "vars", "setattr", "delattr", "exec", "eval", "__dict__", "__globals__", "__closure__",
    "__code__", "__defaults__", "__kwdefaults__", "__setattr__", "__delattr__",
}  # fmt: skip
#: guards the next
_lock = Kind("arrived functions", "an entry is complete when it is added").lock()
_arrived: OrderedDict[Hashable, Any] = OrderedDict()


class _Other(Exception):
    """Something in reach may change."""


def first_like(function: Any, kind: type[Any]) -> Any:
    """Return the decorated function that arrived before and is like it, None if none is: then it is remembered itself.

    Decorated functions are instances of ``kind``.
    """
    try:
        key = _key(function, {}, kind, is_asked=True)
    except (_Other, ValueError, RecursionError):  # ValueError: a cell is empty
        return None
    with _lock:
        first = _arrived.setdefault(key, function)
        _arrived.move_to_end(key)
        if len(_arrived) > _MOST:
            _arrived.popitem(last=False)
    return None if first is function else first


def _key(value: Any, seen: dict[int, int], decorated: type[Any], is_asked: bool = False) -> Hashable:
    """Return what is equal for two values that cannot be told apart, and stay so."""
    kind = type(value)
    if kind in _CONSTANTS:
        return kind, value
    if kind in (float, complex):
        return kind, repr(value)
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return kind, value.dtype.str, value.tobytes()
    if kind is tuple:
        return kind, tuple([_key(one, seen, decorated) for one in value])
    if isinstance(value, types.ModuleType) and sys.modules.get(value.__name__) is value:
        return kind, value.__name__
    if not is_asked and _is_of_a_module(value, decorated):
        return kind, value.__module__, value.__qualname__
    if id(value) in seen:
        return "again", seen[id(value)]
    seen[id(value)] = len(seen)
    if kind is types.FunctionType:
        return _function_key(value, seen, decorated)
    if isinstance(value, decorated) and value.instance is None:
        options = value.options()
        values = [_key(options[name], seen, decorated) for name in sorted(options)]
        return kind, tuple(values), _key(value.python_function, seen, decorated)
    raise _Other


def _is_of_a_module(value: Any, decorated: type[Any]) -> bool:
    """Return whether a function or class is the one of its name: there is one of it here, as where it came from."""
    if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, decorated)):
        return False
    name = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and found_by_name(module, name) is value


def _function_key(function: types.FunctionType, seen: dict[int, int], decorated: type[Any]) -> Hashable:
    code = function.__code__
    if function.__dict__ or not _changes_nothing(code):
        raise _Other
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [function.__defaults__, *(function.__kwdefaults__ or {}).values()]
    known = function.__globals__
    names = sorted({name for one in _with_inner(code) for name in one.co_names if name in known})
    return (
        code, code.co_filename, code.co_firstlineno, function.__module__, function.__qualname__,
        tuple(function.__kwdefaults__ or ()), tuple([_key(one, seen, decorated) for one in held]),
        tuple([(name, _key(known[name], seen, decorated)) for name in names]),
    )  # fmt: skip


def _changes_nothing(code: types.CodeType) -> bool:
    """Return whether no line of the code binds what outlives a call."""
    around = set(code.co_freevars)
    for one in _with_inner(code):
        if not _REACHES.isdisjoint(one.co_names):
            return False
        for line in dis.get_instructions(one):
            if line.opname in _BINDS or (line.opname in ("STORE_DEREF", "DELETE_DEREF") and line.argval in around):
                return False
    return True


def _with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _with_inner(one)
