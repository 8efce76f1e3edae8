"""Attributes that a program has given to objects of libraries, and of Python's own: ``cached.calls = 0``."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator, Set
from typing import Any

from autoloop_runtime.base.callbacks import attribute_of

from ..conversion.callables import is_users_class
from .noted import Reached


def foreign(value: Any, names: Set[str]) -> set[str]:
    """Return which of ``names`` are attributes of an object that its class, if it is a library's, does not speak of."""
    held: Any = getattr(value, "__dict__", None) if names else None
    if type(held) is not dict or (found := names & held.keys()) == set():
        return set()
    kind: Any = type(value)
    return set(found) if is_users_class(kind) else {name for name in found if name not in _spoken_of(kind)}


def given_attributes(reached: Reached) -> list[str]:
    """Take away from objects of libraries the attributes that a trace has given them; say which, of what."""
    said, settable = [], reached.names.settable()
    for place, value, before in reached.strangers:
        held = vars(value)
        for name in settable & (held.keys() | before.keys()):
            if held.get(name, before) is before.get(name, before):
                continue
            said.append(f"{place.name!r}, a {type(value).__name__}, is given the attribute {name!r}")
            if name in before:
                held[name] = before[name]
            else:
                del held[name]
    return said


@functools.lru_cache(maxsize=1024)
def _spoken_of(kind: type) -> frozenset[str]:
    """Return the names in the code of a class, of those that it extends and of others in their modules."""
    modules = [sys.modules.get(cls.__module__) for cls in kind.__mro__]
    held = [one for module in modules for one in getattr(module, "__dict__", {}).values()]
    found: set[str] = set()
    for one in (*kind.__mro__, *(other for other in held if isinstance(other, type))):
        for member in vars(one).values():
            found.update(*(code.co_names for code in _codes(member)))
    return frozenset(found)


def _codes(value: Any) -> Iterator[types.CodeType]:
    for one in (value, attribute_of(value, "__func__"), *(getattr(value, name, None) for name in ("fget", "fset"))):
        if isinstance(one, types.FunctionType):
            yield one.__code__
