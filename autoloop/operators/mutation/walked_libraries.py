"""The walk through installed libraries: where their code may put things, by the names in it and what objects hold."""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import types
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import module_of, origin_of
from autoloop_runtime.base.locations import is_own_file
from autoloop_runtime.ir.tensor import Tensor

from .heap_snapshot import is_random
from .held_in_libraries import (
    BARE,
    CONTAINERS,
    MADE_IN_PYTHON,
    NOTHING,
    Cache,
    Cell,
    Class,
    Context,
    Dict,
    Elements,
    Held,
    Random,
    Slots,
    Variables,
)
from .installed_packages import KEEPING_NOTHING, is_installed, package_of
from .parts_of_objects import MOST_ELEMENTS

#: so many objects are looked at before a trace, the nearest first
_MOST_OBJECTS = 2_000
#: larger containers are not copied
_MOST_COPIED = 10_000
#: code with one of these names may set any name of its module
_BY_TEXT = frozenset(("globals", "setattr", "delattr", "vars", "__dict__", "exec", "eval", "modules"))


def walked(roots: Iterable[tuple[str, Any]]) -> list[Held]:
    """Return the places that libraries may get at.

    Parameters
    ----------
    roots : iterable of (str, object)
        Names and objects, or a module and the names in it that are used.
    """
    walk = _Walk()
    for name, value in roots:
        if type(value) is tuple and isinstance(value[0], types.ModuleType):
            walk.module(*value)
        else:
            walk.visit(name, value)
    return walk.run()


class _Walk:
    """The walk through libraries."""

    def __init__(self) -> None:
        self.found: list[Held] = []
        self._seen: dict[int, Any] = {}
        self._variables: dict[int, set[str]] = {}
        self._todo: deque[tuple[str, Any]] = deque()

    def visit(self, name: str, value: Any) -> None:
        """Look at an object later."""
        if type(value) in BARE or id(value) in self._seen or len(self._seen) > _MOST_OBJECTS:
            return
        if isinstance(value, Tensor) or (isinstance(value, np.ndarray) and not value.dtype.hasobject):
            return
        self._seen[id(value)] = value
        self._todo.append((name, value))

    def run(self) -> list[Held]:
        """Look at all that there is; return the places."""
        while self._todo:
            self._open(*self._todo.popleft())
        return self.found

    def module(self, module: types.ModuleType, names: Collection[str]) -> None:
        """Look at what a module of an installed package holds under names."""
        if is_installed(module.__name__):
            self._globals(vars(module), names)

    def _globals(self, namespace: dict[str, Any], names: Collection[str]) -> None:
        known = self._variables.setdefault(id(namespace), set())
        new = [name for name in names if name not in known and name[:2] != "__"]
        if not new:
            return
        known.update(new)
        package = namespace.get("__name__", "")
        self.found.append(Variables(package, (namespace, new)))
        if not _BY_TEXT.isdisjoint(new) or not _BY_TEXT.isdisjoint(names):
            self.found.append(Dict(package, namespace))
        for name in new:
            value = namespace.get(name, NOTHING)
            if value is NOTHING:  # perhaps of a module that a function imports
                value = sys.modules.get(name) or sys.modules.get(f"{namespace.get('__package__')}.{name}")
            if isinstance(value, types.ModuleType):
                self.module(value, [one for one in names if one in vars(value)])
                self._random(value, names)
            else:
                self.visit(f"{package}.{name}", value)

    def _random(self, module: types.ModuleType, names: Collection[str]) -> None:
        """Look at the generator behind the functions of ``random``, or ``np.random``."""
        if module.__name__ == "random":
            self.visit("random", vars(module).get("_inst"))
        elif module.__name__ == "numpy.random" or (module is np and "random" in names):
            self.visit("np.random", vars(np.random.mtrand).get("_rand"))

    def _open(self, name: str, value: Any) -> None:
        if isinstance(value, types.FunctionType):
            self._function(name, value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, CONTAINERS):
            self._container(name, value)
            self._object(name, value)
        elif is_random(value):
            self.found.append(Random(name, value))
        elif isinstance(value, functools._lru_cache_wrapper):
            self._note(Cache(name, value))
        elif isinstance(value, ContextVar):
            self._note(Context(name, value))
        elif isinstance(value, np.ndarray) or _is_of(type(value), "_queue", "SimpleQueue"):
            self._note(Elements(name, value))
        elif _is_local(type(value)) or type(value).__flags__ & MADE_IN_PYTHON:
            self._object(name, value)
        else:  # methods, partials, properties, tuples, iterators
            for one in gc.get_referents(value):
                self.visit(name, one)

    def _note(self, held: Held) -> None:
        self.found.append(held)
        for one in held.before.values() if isinstance(held.before, dict) else held.before:
            self.visit(held.name, one)

    def _function(self, name: str, value: types.FunctionType) -> None:
        if is_own_file(value.__code__.co_filename) or package_of(value.__globals__) in KEEPING_NOTHING:
            return
        self._note(Dict(name, vars(value)))
        for free, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
            self._note(Cell(f"{name}.{free}", cell))
        self.visit(name, value.__defaults__)
        self.visit(name, value.__kwdefaults__)
        if package_of(value.__globals__) not in sys.stdlib_module_names:
            self._globals(value.__globals__, dict.fromkeys(_names_in(value.__code__)))

    def _class(self, kind: type) -> None:
        package = origin_of(kind)
        if not kind.__flags__ & MADE_IN_PYTHON or package in KEEPING_NOTHING or package in sys.stdlib_module_names:
            return
        self._note(Class(kind.__qualname__, kind))
        for base in (*kind.__mro__[1:], type(kind)):
            self.visit(base.__qualname__, base)

    def _container(self, name: str, value: Any) -> None:
        if len(value) > _MOST_COPIED or (isinstance(value, dict) and "__builtins__" in value):
            return
        held = Dict(name, value) if isinstance(value, dict) else Elements(name, value)
        self.found.append(held)
        if len(value) <= MOST_ELEMENTS:
            parts: Sequence[Any] = list(held.before.values()) if isinstance(value, dict) else held.before
            for one in parts:
                self.visit(name, one)

    def _object(self, name: str, value: Any) -> None:
        kind = type(value)
        if origin_of(kind) in KEEPING_NOTHING:
            return
        if slots := _slots_of(kind):
            self._note(Slots(name, (value, slots)))
        if (own := _attributes_of(value)) is not None and id(own) not in self._seen:
            self._seen[id(own)] = own
            self._note(Dict(name, own))
        elif own is None and not slots and not isinstance(value, CONTAINERS):  # of C
            for one in gc.get_referents(value):
                self.visit(name, one)
        self.visit(kind.__qualname__, kind)


def _slots_of(kind: type) -> tuple[Any, ...]:
    """Return the descriptors of the slots that the objects of a class written in Python have."""
    found = [one for cls in kind.__mro__ if cls.__flags__ & MADE_IN_PYTHON for one in vars(cls).values()]
    return tuple([one for one in found if type(one) is types.MemberDescriptorType])


def _attributes_of(value: Any) -> dict[str, Any] | None:
    """Return what holds the attributes of an object; None if it has none."""
    kind: Any = type(value) if _is_local(type(value)) else object  # no code of a class is run
    with contextlib.suppress(AttributeError):
        found = kind.__getattribute__(value, "__dict__")
        return found if type(found) is dict else None
    return None


def _is_local(kind: type) -> bool:
    """Return whether a class is ``threading.local``, whose objects hold other attributes in each thread."""
    return _is_of(kind, "_thread", "_local")


def _is_of(kind: type, module: str, name: str) -> bool:
    """Return whether a class is one of C's, which who uses it has loaded."""
    return kind.__name__ == name and module_of(kind) == module


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _names_in(one)
