"""The walk through installed libraries: where their code may put things, by the names in it and what objects hold."""

from __future__ import annotations

import functools
import gc
import sys
import types
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import module_of, origin_of
from autoloop_runtime.base.locations import is_own_file
from autoloop_runtime.ir.tensor import Tensor

from ..staging.container_contents import in_class
from .heap_snapshot import is_random
from .held_in_libraries import (
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
    is_bare,
)
from .installed_packages import KEEPING_NOTHING, is_installed, package_of
from .parts_of_objects import MOST_ELEMENTS

#: so many objects are looked at before a trace, the nearest first
_MOST_OBJECTS = 2_000
#: larger containers are not copied
_MOST_COPIED = 1_000_000
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
        kind = type(value)  # objects may say that they are of another, by code of their own
        if is_bare(kind) or id(value) in self._seen or len(self._seen) > _MOST_OBJECTS:
            return
        if issubclass(kind, Tensor) or (issubclass(kind, np.ndarray) and not value.dtype.hasobject):
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
        if is_installed(vars(module).get("__name__")):
            self._globals(vars(module), names)

    def _globals(self, namespace: dict[str, Any], names: Collection[str]) -> None:
        known = self._variables.setdefault(id(namespace), set())
        new = [name for name in names if name not in known and name[:2] != "__"]
        if not new:
            return
        known.update(new)
        package = namespace.get("__name__", "")
        self.found.append(Variables(package, (namespace, new)))
        if id(namespace) not in self._seen and not (_BY_TEXT.isdisjoint(new) and _BY_TEXT.isdisjoint(names)):
            self._seen[id(namespace)] = namespace
            self.found.append(Dict(package, namespace))
        for name in new:
            value = namespace.get(name, NOTHING)
            if value is NOTHING:  # perhaps of a module that a function imports
                value = sys.modules.get(name) or sys.modules.get(f"{namespace.get('__package__')}.{name}")
            if issubclass(type(value), types.ModuleType):
                self.module(value, [one for one in names if one in vars(value)])
                self._random(value, names)
            else:
                self.visit(f"{package}.{name}", value)

    def _random(self, module: types.ModuleType, names: Collection[str]) -> None:
        """Look at the generator behind the functions of ``random``, or ``np.random``."""
        name = vars(module).get("__name__")
        if name == "random":
            self.visit("random", vars(module).get("_inst"))
        elif name == "numpy.random" or (module is np and "random" in names):
            self.visit("np.random", vars(np.random.mtrand).get("_rand"))

    def _open(self, name: str, value: Any) -> None:
        kind = type(value)
        if kind is types.FunctionType:
            self._function(name, value)
        elif issubclass(kind, type):
            self._class(value)
        elif issubclass(kind, CONTAINERS):
            self._container(name, value)
            self._object(name, value)
        elif is_random(value):
            self.found.append(Random(name, value))
        elif issubclass(kind, functools._lru_cache_wrapper):
            self._note(Cache(name, value))
        elif issubclass(kind, ContextVar):
            self._note(Context(name, value))
        elif issubclass(kind, np.ndarray) or _is_of(kind, "_queue", "SimpleQueue"):
            self._note(Elements(name, value))
        elif _is_local(kind) or kind.__flags__ & MADE_IN_PYTHON:
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
        self._note(Class(kind.__name__, kind))
        for base in (*kind.__mro__[1:], type(kind)):
            self.visit(base.__name__, base)

    def _container(self, name: str, value: Any) -> None:
        base: Any = next(one for one in CONTAINERS if issubclass(type(value), one))
        if base.__len__(value) > _MOST_COPIED or (type(value) is dict and "__builtins__" in value):  # of a module
            return
        held: Held = Dict(name, value) if base is dict else Elements(name, value)
        self.found.append(held)
        parts = held.before.values() if isinstance(held.before, dict) else held.before
        if len(parts) <= MOST_ELEMENTS:
            for one in parts:
                self.visit(name, one)

    def _object(self, name: str, value: Any) -> None:
        kind = type(value)
        if origin_of(kind) in KEEPING_NOTHING:
            return
        if slots := _slots_of(kind):
            self._note(Slots(name, (value, slots)))
        own = _attributes_of(value)
        if own is not None and id(own) not in self._seen:
            self._seen[id(own)] = own
            self._note(Dict(name, own))
        elif own is None and not slots and not issubclass(kind, CONTAINERS):  # of C
            for one in gc.get_referents(value):
                self.visit(name, one)
        self.visit(kind.__name__, kind)


def _slots_of(kind: type) -> tuple[Any, ...]:
    """Return the descriptors of the slots that the objects of a class written in Python have."""
    found = [one for cls in kind.__mro__ if cls.__flags__ & MADE_IN_PYTHON for one in vars(cls).values()]
    return tuple([one for one in found if type(one) is types.MemberDescriptorType])


def _attributes_of(value: Any) -> dict[str, Any] | None:
    """Return what holds the attributes of an object, of which no code is run; None if it has none."""
    slot = in_class(type(value), "__dict__")
    found = slot.__get__(value) if type(slot) is types.GetSetDescriptorType else None
    return found if type(found) is dict else None


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
