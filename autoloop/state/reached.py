"""The walk over the world that a function reaches: arrays and numbers it may read, what is guarded, what may change."""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.array_kinds import is_plain
from autoloop_runtime.ir.tensor import Tensor

from ..conversion.callables import is_library_file, is_users_class, is_written
from ..errors import is_own_file
from ..operators.mutation.heap_snapshot import instance_attributes, is_random
from .code_names import Names
from .places import CALL, Place

#: values that never change, compared by type and value
PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, np.generic, np.dtype, type(...))
#: containers whose elements are places
DICTS = (dict, OrderedDict, defaultdict, Counter)
LISTS = (list, deque)
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
#: after so many objects nothing more is looked at; that many elements of a container are places of their own
_MOST_OBJECTS, _MOST_ELEMENTS = 5_000, 1_000


@dataclass(frozen=True, eq=False)
class Guard:
    """What has to hold at a place for a trace to fit.

    Attributes
    ----------
    kind : str
        ``equal``, ``is``, ``type``, ``same`` (as another place), ``length``, ``keys``, ``elements``, ``missing``
        (attributes), ``contents`` (of an array), ``unset`` (attribute of a class with slots).
    place : Place
    known : object
        What it is compared with.
    """

    kind: str
    place: Place
    known: Any


class Reached:
    """What a function reaches, besides its arguments.

    Attributes
    ----------
    guards : list of Guard
        Parents before what they hold.
    arrays, numbers : list of (Place, object)
        Arrays and tensors, and Python numbers and NumPy scalars, where another value can be put.
    holders : list of (Place, object)
        Containers, objects and classes, which may change.
    variables : dict
        ``(id of namespace, name)`` -> namespace and name, of the globals that code in reach uses.
    cells : list of (str, cell)
        The variables of closures.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.guards: list[Guard] = []
        self.arrays: list[tuple[Place, Any]] = []
        self.numbers: list[tuple[Place, Any]] = []
        self.holders: list[tuple[Place, Any]] = []
        self.variables: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
        self.cells: list[tuple[str, types.CellType]] = []
        #: objects by id, which stay theirs, and where they stand
        self.seen: dict[int, tuple[Any, Place]] = {}
        #: the containers, by id, that are only added to, so that what they hold is not guarded
        self.added_to: set[int] = set()

    def guard(self, kind: str, place: Place, known: Any) -> None:
        """Note what has to hold."""
        self.guards.append(Guard(kind, place, known))


class _Walk(Reached):
    """The walk that finds it."""

    def __init__(self, names: Names) -> None:
        super().__init__(names)
        self._todo: deque[tuple[Place, Any]] = deque()

    # -- where the walk begins ------------------------------------------------------------------------------

    def function(self, function: Any) -> None:
        """Walk from the function that is called."""
        while isinstance(function, functools.partial | types.MethodType):
            if isinstance(function, types.MethodType):
                self.visit(Place("value", None, function.__self__, "self"), function.__self__)
                function = function.__func__
            else:
                for part in (function.args, function.keywords):
                    self.visit(Place("value", None, part, "partial"), part)
                function = function.func
        if isinstance(function, types.FunctionType):
            place = Place("value", None, function, function.__name__)
            self.seen[id(function)] = function, place
            if is_own_file(function.__code__.co_filename):
                self._function(place, function)
            else:
                self._code(function)
        else:
            self.visit(Place("value", None, function, type(function).__name__), function)

    def call(self, place: Place, value: Any) -> None:
        """Walk the arguments: the containers among them, and what objects hold; their leaves are no places."""
        kind = type(value)
        if id(value) in self.seen and isinstance(value, (*LISTS, *DICTS)):
            return
        if isinstance(value, (tuple, *LISTS, *DICTS)) or hasattr(kind, "__dataclass_fields__"):
            self.seen[id(value)] = value, place
            if not isinstance(value, tuple):
                self.holders.append((place, value))
            if isinstance(value, (tuple, *LISTS)):
                for k, one in enumerate(value):
                    self.call(place.item(k) if place is not CALL else Place("item", CALL, k, f"argument {k}"), one)
            elif isinstance(value, dict):
                for key, one in value.items():
                    self.call(place.item(key), one)
            else:
                for name, one in instance_attributes(value).items():
                    self.call(place.attribute(name), one)
                self._class(kind)
        elif isinstance(value, _FUNCTIONS) or kind.__module__ == "autoloop.function" or has_state(value):
            self.visit(place, value)

    def run(self) -> None:
        """Look at everything that is in reach."""
        while self._todo:
            place, value = self._todo.popleft()
            self._look(place, value)

    def visit(self, place: Place, value: Any) -> None:
        """Look at a place later, when all before it were."""
        self._todo.append((place, value))

    # -- one place ------------------------------------------------------------------------------------------

    def _look(self, place: Place, value: Any) -> None:
        if isinstance(value, (*PLAIN, Enum)):
            if type(value) in (int, float, complex) or isinstance(value, np.number):
                self.numbers.append((place, value))
            else:
                self.guard("is" if isinstance(value, Enum) else "equal", place, value)
            return
        if isinstance(value, types.ModuleType):
            return  # of the user's own modules the names that code uses are places, see ``_globals``
        if isinstance(value, np.ndarray) and is_plain(value):
            self.arrays.append((place, value))
            return
        if type(value) is Tensor and value.node is None:
            self.arrays.append((place, value))
            return
        known = self.seen.get(id(value))
        if known is not None:
            if known[1].path != place.path and place.kind != "value":
                self.guard("same", place, known[1])
            if id(value) in self.added_to and not self._is_only_added_to(place):
                self.added_to.discard(id(value))
                self._elements(place, value)
            return
        if len(self.seen) > _MOST_OBJECTS:
            self.guard("is", place, value)
            return
        self.seen[id(value)] = value, place
        self._open(place, value)

    def _open(self, place: Place, value: Any) -> None:
        kind = type(value)
        if isinstance(value, tuple):
            self._elements(place, value)
        elif kind in LISTS or kind in DICTS or isinstance(value, set | frozenset | bytearray):
            if not isinstance(value, frozenset):
                self.holders.append((place, value))
            if self._is_only_added_to(place):
                self.added_to.add(id(value))
            else:
                self._elements(place, value)
        elif isinstance(value, types.FunctionType):
            self._function(place, value)
        elif isinstance(value, types.MethodType):
            self.guard("type", place, kind)
            self.visit(place.attribute("__func__"), value.__func__)
            self.visit(place.attribute("__self__"), value.__self__)
        elif isinstance(value, functools.partial):
            self.guard("type", place, kind)
            for name in ("func", "args", "keywords"):
                self.visit(place.attribute(name), getattr(value, name))
        elif isinstance(value, functools._lru_cache_wrapper):
            self.guard("is", place, value)
            self.visit(place.attribute("__wrapped__"), value.__wrapped__)
        elif kind.__module__ == "autoloop.function":
            self.guard("type", place, kind)
            self.visit(place.attribute("python_function"), value.python_function)
        elif isinstance(value, type):
            self.guard("is", place, value)
            self._class(value)
        elif has_state(value):
            self._object(place, value)
        elif not (place.kind == "global" and is_random(value)):  # which each run looks up
            self.guard("is", place, value)

    def _is_only_added_to(self, place: Place) -> bool:
        if place.kind not in ("global", "cell", "attribute", "member") or _name(place) in self.names:
            return False
        return _name(place)[:2] != "__" and _name(place) not in ("args", "keywords")

    def _elements(self, place: Place, value: Any) -> None:
        """Guard a container, and look at its elements."""
        self.guard("type", place, type(value))
        if isinstance(value, set | frozenset | bytearray):
            self.guard("elements", place, value.copy())
            return
        parts = value.values() if isinstance(value, dict) else value
        plain = all(isinstance(one, PLAIN) for one in parts)
        if len(value) > _MOST_ELEMENTS or (plain and (len(value) > 20 or isinstance(value, tuple))):
            self.guard("elements", place, dict(value) if isinstance(value, dict) else tuple(value))
        elif isinstance(value, dict):
            self.guard("keys", place, tuple(value))
            for key, one in value.items():
                self.visit(place.item(key), one)
        else:
            self.guard("length", place, len(value))
            for k, one in enumerate(value):
                self.visit(place.item(k), one)

    def _function(self, place: Place, value: types.FunctionType) -> None:
        file = value.__code__.co_filename
        self.guard("is", place, value)
        if is_own_file(file):
            for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
                inner = getattr(cell, "cell_contents", None)
                if callable(inner):
                    self.visit(Place("cell", None, cell, name), inner)
        elif not is_library_file(file):
            for name in ("__defaults__", "__kwdefaults__"):
                if (given := getattr(value, name)) is not None:
                    self.visit(place.attribute(name), given)
            self._code(value)

    def _code(self, function: types.FunctionType) -> None:
        """Look at the variables of a function's code."""
        used = self.names.add(function.__code__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if id(cell) in self.seen:
                continue
            self.seen[id(cell)] = cell, CALL
            self.cells.append((name, cell))
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            place = Place("cell", None, cell, name)
            if name in self.names or isinstance(value, (*LISTS, set)):
                self.visit(place, value)
        namespace = function.__globals__
        modules = [one for name in used if isinstance(one := namespace.get(name), types.ModuleType)]
        self._globals(namespace, used)
        for one in modules:
            if _is_users_module(one):
                self._globals(vars(one), frozenset(name for name in self.names.read if name in vars(one)))

    def _globals(self, namespace: dict[str, Any], used: frozenset[str]) -> None:
        for name in sorted(used):
            key = id(namespace), name
            if key in self.variables:
                continue
            self.variables[key] = namespace, name
            value = namespace.get(name, self)
            if value is self and name in self.names and not hasattr(builtins, name):
                self.guard("absent", Place("value", None, namespace, name), name)
            if value is not self and (name in self.names or isinstance(value, (*LISTS, set))):
                self.visit(Place("global", None, (namespace, name), name), value)

    def _object(self, place: Place, value: Any) -> None:
        kind = type(value)
        self.holders.append((place, value))
        self.guard("type", place, kind)
        self._class(kind)
        held = instance_attributes(value)
        for name, one in held.items():
            if name in self.names or isinstance(one, (*LISTS, set)):
                self.visit(place.attribute(name), one)
        if self.names.every and hasattr(value, "__dict__"):
            self.guard("attributes", place, frozenset(vars(value)))
        elif hasattr(value, "__dict__"):
            absent = frozenset([name for name in self.names.read - held.keys() if not _is_method(kind, name)])
            if absent:
                self.guard("missing", place, absent)
        else:
            for name in sorted(self.names.read - held.keys()):
                if hasattr(getattr(kind, name, None), "__set__"):
                    self.guard("unset", place, name)

    def _class(self, kind: type) -> None:
        for cls in kind.__mro__:
            if not is_users_class(cls) or issubclass(cls, Enum) or (id(cls) in self.seen and cls is not kind):
                continue
            if any(holder is cls for _, holder in self.holders):
                continue
            place = Place("value", None, cls, cls.__name__)
            self.seen.setdefault(id(cls), (cls, place))
            self.holders.append((place, cls))
            for name, one in vars(cls).items():
                self._member(place.member(name), name, one)

    def _member(self, place: Place, name: str, one: Any) -> None:
        special = name[:2] == "__" == name[-2:]
        if isinstance(one, types.FunctionType):
            if (special or name in self.names) and is_written(one):
                self.visit(place, one)
        elif isinstance(one, staticmethod | classmethod | property | functools.cached_property):
            if name in self.names:
                self.guard("is", place, one)
                for inner in ("__func__", "fget", "fset", "func"):
                    if isinstance(function := getattr(one, inner, None), types.FunctionType):
                        self.visit(Place("value", None, function, name), function)
        elif not special and name in self.names and not hasattr(type(one), "__set__"):
            self.visit(place, one)


def _name(place: Place) -> str:
    name: str = place.key[1] if place.kind == "global" else place.name if place.kind == "cell" else place.key
    return name


def _is_users_module(module: types.ModuleType) -> bool:
    if module.__spec__ is None and getattr(module, "__file__", None) is None:
        return True  # made by a program
    return not is_library_file(getattr(module, "__file__", None) or "<frozen ")


def _is_method(kind: type, name: str) -> bool:
    one = getattr(kind, name, None)
    return callable(one) or isinstance(one, property)


def has_state(value: Any) -> bool:
    """Return whether a value is an object whose attributes are places."""
    kind = type(value)
    if isinstance(value, (np.ndarray, type)):
        return False
    module = sys.modules.get("argparse")
    return is_users_class(kind) or kind is types.SimpleNamespace or (module is not None and kind is module.Namespace)


def reached_from(
    function: Any, call: tuple[Any, ...], receiver: tuple[Place, Any] | None, more: Sequence[Any] = ()
) -> Reached:
    """Return what a function reaches in a call: walked until the code in reach has no new names."""
    names = Names()
    if isinstance(function, types.FunctionType) and not is_own_file(function.__code__.co_filename):
        names.add(function.__code__)
    while True:
        found = _Walk(names)
        before = names.count
        found.call(CALL, call)
        if receiver is not None:
            found.visit(*receiver)
        found.function(function)
        for one in more:
            found.function(one)
        found.run()
        if names.count == before:
            return found
