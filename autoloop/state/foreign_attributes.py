"""Attributes that a program has given to what is not its own: ``cached.calls = 0``.

That is functions, classes, modules and objects of libraries and of Python's own, and decorated functions. What code in
reach asks them for is state as that of the user's objects. What it sets nobody watches: plain Python runs it.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator, Set
from typing import Any

from autoloop_runtime.base.callbacks import attribute_of, file_of, module_of
from autoloop_runtime.base.locations import is_own_file

from ..conversion.callables import is_users_class, is_users_module
from ..conversion.known_effects import is_pythons_own
from ..operators.mutation.parts_of_objects import is_setting
from ..operators.staging.container_contents import in_class, is_data_descriptor
from .noted import Reached
from .places import NAMED, Place, name_at, put, take_away

_SET = "an attribute of the {} {!r}, which is not the user's, is set"
_FIXED = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


def changed(place: Place, value: Any, names: Set[str]) -> list[str]:
    """Return what is to be said of what is not the user's, and of which code sets attributes.

    ``names`` are those of what code sets attributes of.
    """
    if place.kind not in NAMED or name_at(place) not in names:
        return []
    if isinstance(value, types.ModuleType) and is_users_module(value):
        return []
    return [_SET.format(type(value).__name__, place.name)]


def look_at_attributes(reached: Reached, place: Place, value: Any) -> None:
    """Look at the attributes of an object or function of a library, or of Python's own."""
    names = reached.names
    reached.hidden += changed(place, value, names.changed) or _given(place, value, names.settable())
    held = reached.note_stranger(place, value)
    for name in sorted(names.read & held.keys()):
        reached.visit(place.attribute(name), held[name])
    guard_ungiven(reached, place, value)


def look_at_class(reached: Reached, place: Place, value: type) -> None:
    """Look at a class of a library, or of Python's own, that code has by a name."""
    if not value.__flags__ & _FIXED:
        reached.hidden += changed(place, value, reached.names.changed) or _given(place, value, reached.names.settable())
        reached.note_stranger(place, value)


def look_at_settings(reached: Reached, cls: type) -> None:
    """Look at what a program may have set in such a class, be it one that a class of the user's extends."""
    if cls.__flags__ & _FIXED or id(cls) in reached.libraries:
        return
    reached.libraries[id(cls)] = cls
    place, held, names = Place("value", None, cls, cls.__name__), vars(cls), reached.names
    for name in sorted(names.read & held.keys()):
        if is_setting(name, held[name]):
            reached.visit(place.member(name), held[name])
    if (names.catches or names.computed) and not (is_pythons_own(cls) and id(cls) not in reached.seen):
        reached.guard("names", place, (len(held), next(reversed(held))))


def look_into_module(reached: Reached, module: types.ModuleType) -> None:
    """Look at the modules in one of a library that code asks for something, and at what it sets attributes of."""
    held, names = vars(module), reached.names
    for name in sorted(names.read & held.keys()):
        one = held[name]
        if isinstance(one, types.ModuleType):
            if not is_users_module(one):
                reached.modules.setdefault(id(one), one)
            reached.hidden += changed(Place("global", None, (held, name), name), one, names.changed)
        elif name in names.changed or _is_given(one, names.asked.get(name, frozenset())):
            reached.visit(Place("global", None, (held, name), name), one)
    if (names.catches or names.computed) and not is_own_file(held.get("__file__") or ""):
        called = reached.called.get(id(module))
        asked = names.read if called is None else names.texts.union(*(names.asked.get(name, ()) for name in called))
        known = reached.absent.setdefault(id(module), set())
        if absent := asked - held.keys() - known:
            known |= absent
            reached.guard("missing", Place("value", None, module, module.__name__), frozenset(absent))


def _is_given(value: Any, asked: Set[str]) -> bool:
    """Return whether a function or class of a library has one of the attributes that code asks it for, and which may be
    set."""
    if isinstance(value, types.FunctionType):
        return not asked.isdisjoint(vars(value))
    held = vars(value) if isinstance(value, type) and not value.__flags__ & _FIXED else {}
    return any(is_setting(name, held[name]) for name in asked & held.keys())


def guard_ungiven(reached: Reached, place: Place, value: Any) -> None:
    """Guard that an object or function has none of the attributes that code asks it for, and finds in its class or does
    without: a program may give it such later."""
    held: Any = getattr(value, "__dict__", None)
    if type(held) is not dict:
        return
    names, kind = reached.names, type(value)
    if names.computed and not _is_own(kind):
        reached.guard("attributes", place, frozenset(held))
        return
    absent = names.read - held.keys()
    if not (names.catches or names.computed):
        absent = {name for name in absent if not _stands_in(kind, name)}
    if absent:
        reached.guard("missing" if held else "bare", place, frozenset(absent))


def _stands_in(kind: type, name: str) -> bool:
    """Return whether an attribute is what the class says, whatever its objects have, or asking for it raises."""
    found = in_class(kind, name)
    return found is None or is_data_descriptor(found)


def _is_own(kind: type) -> bool:
    return is_own_file(file_of(kind))


def _given(place: Place, value: Any, stored: Set[str]) -> list[str]:
    """Return what is to be said of one that has attributes of a program's, if code sets such of one of these names."""
    return [_SET.format(type(value).__name__, place.name)] if foreign(value, stored) else []


def foreign(value: Any, names: Set[str]) -> set[str]:
    """Return which of ``names`` are attributes of an object that its class, if it is a library's, does not speak of."""
    held: Any = getattr(value, "__dict__", None) if names else None
    if isinstance(value, type) and names and not is_users_class(value):
        return {name for name in names & held.keys() if is_setting(name, held[name])} - _spoken_of(value)
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
            if held.get(name, before) is before.get(name, before) or isinstance(held.get(name), types.ModuleType):
                continue
            said.append(f"{place.name!r}, a {type(value).__name__}, is given the attribute {name!r}")
            if isinstance(value, type | types.FunctionType):
                take_away(value, name) if name not in before else put(value, name, before[name])
            elif name in before:
                held[name] = before[name]
            else:
                del held[name]
    return said


@functools.lru_cache(maxsize=1024)
def _spoken_of(kind: type) -> frozenset[str]:
    """Return the names in the code of a class, of those that it extends and of others in their modules."""
    modules = [sys.modules.get(module_of(cls)) for cls in kind.__mro__]
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
