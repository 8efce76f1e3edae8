"""What the code of installed libraries may get at, and what is held there: read, compared and put back."""

from __future__ import annotations

import contextlib
import gc
import sys
import types
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
from autoloop_runtime.base.locations import is_own_file
from autoloop_runtime.ir.tensor import Tensor

from ..conversion.cells import value_in
from ..operators.mutation.parts_of_objects import MOST_ELEMENTS
from ..operators.staging.container_contents import dict_class, fill
from .installed_packages import KEEPING_NOTHING, is_installed, package_of

#: so many objects are looked at before a trace, the nearest first
_MOST_OBJECTS = 2_000
#: larger containers are not copied
_MOST_COPIED = 10_000
_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_NOTHING: Any = object()
_BARE = frozenset(
    (type(None), bool, int, float, complex, str, bytes, range, slice, np.ufunc, types.CodeType, types.ModuleType)
    + (np.float64, np.int64, np.bool_, types.GetSetDescriptorType, types.MemberDescriptorType)
    + (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, type(...))
)
#: code with one of these names may set any name of its module
_BY_TEXT = frozenset(("globals", "setattr", "delattr", "vars", "__dict__", "exec", "eval", "modules"))
_CONTAINERS = (list, dict, set, deque)


def inside(value: Any) -> Iterable[Any]:
    """Return what something holds that nobody else can get at by a name: not what a function's module holds."""
    kind = type(value)
    if kind in _BARE or isinstance(value, type):
        return ()
    if isinstance(value, types.FunctionType):
        cells = [value_in(cell) for cell in value.__closure__ or ()]
        return (*cells, value.__defaults__, value.__kwdefaults__, vars(value))
    if isinstance(value, types.FrameType):
        return list(value.f_locals.values())
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype.hasobject else ()
    if isinstance(value, dict) and "__builtins__" in value:  # of a module
        return ()
    return gc.get_referents(value)


class Held:
    """A place in which something is held.

    Parameters
    ----------
    name : str
        What messages call it.
    value : object
    """

    __slots__ = ("before", "name", "value")

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value
        self.before = self.now()

    def now(self) -> Any:
        """Return a copy of what it holds: a list, or a dict by keys."""
        raise NotImplementedError

    def set(self, key: Any, value: Any) -> None:
        """Let another value, or none, stand under a key."""
        raise NotImplementedError

    def changed(self, now: Any) -> list[tuple[str, Any, Any]] | None:
        """Return names of places in it, what stands there now, and what stood there; None if nothing has changed."""
        before = self.before
        if len(now) == len(before) and all(before.get(key, _NOTHING) is one for key, one in now.items()):
            return None
        pairs = [(key, one, before.get(key, _NOTHING)) for key, one in now.items()]
        return [(self.called(key), one, old) for key, one, old in pairs if one is not old]

    def called(self, key: Any) -> str:
        """Return what messages call what stands under a key."""
        return self.name

    def has_grown(self, now: Any) -> bool:
        """Return whether it is a list that has another length."""
        return False

    def hold(self, wanted: Any, now: Any) -> None:
        """Let it hold what it held at another time, in place of what it holds now; both as ``now`` gives it."""
        for key in now.keys() - wanted.keys():
            self.set(key, _NOTHING)
        for key, one in wanted.items():
            if now.get(key, _NOTHING) is not one:
                self.set(key, one)


class _Dict(Held):
    __slots__ = ()

    def now(self) -> Any:
        value = self.value
        return dict.copy(value) if type(value) is dict else dict(dict.items(value))

    def set(self, key: Any, value: Any) -> None:
        kind = dict_class(self.value)
        if value is _NOTHING:
            kind.pop(self.value, key, None)
        else:
            kind.__setitem__(self.value, key, value)


class _Variables(Held):
    """Global names of a module: the value is its namespace, and the names."""

    __slots__ = ()

    def now(self) -> Any:
        namespace, names = self.value
        return {name: namespace[name] for name in names if name in namespace}

    def called(self, key: Any) -> str:
        return f"{self.name}.{key}"

    def set(self, key: Any, value: Any) -> None:
        if value is _NOTHING:
            self.value[0].pop(key, None)
        else:
            self.value[0][key] = value


class _Cell(Held):
    __slots__ = ()

    def now(self) -> Any:
        found = value_in(self.value, _NOTHING)
        return {} if found is _NOTHING else {"": found}

    def set(self, key: Any, value: Any) -> None:
        if value is _NOTHING:
            del self.value.cell_contents
        else:
            self.value.cell_contents = value


class _Class(Held):
    __slots__ = ()

    def now(self) -> Any:
        return dict(vars(self.value))

    def set(self, key: Any, value: Any) -> None:
        with contextlib.suppress(AttributeError, TypeError):
            if value is _NOTHING:
                type.__delattr__(self.value, key)
            else:
                type.__setattr__(self.value, key, value)


class _Slots(Held):
    """An object with slots: the value is that and their descriptors."""

    __slots__ = ()

    def now(self) -> Any:
        value, slots = self.value
        found = {}
        for slot in slots:
            with contextlib.suppress(AttributeError):  # not set
                found[slot] = slot.__get__(value)
        return found

    def set(self, key: Any, value: Any) -> None:
        if value is _NOTHING:
            key.__delete__(self.value[0])
        else:
            key.__set__(self.value[0], value)


class _Context(Held):
    __slots__ = ()

    def now(self) -> Any:
        found = self.value.get(_NOTHING)
        return {} if found is _NOTHING else {"": found}

    def set(self, key: Any, value: Any) -> None:
        self.value.set(None if value is _NOTHING else value)


class _Elements(Held):
    """A list, a deque, a set or a queue, or an array of objects."""

    __slots__ = ()

    def now(self) -> Any:
        value = self.value
        if isinstance(value, np.ndarray):
            return value.ravel().tolist()
        if isinstance(value, list):
            return list.copy(value)
        if isinstance(value, set):
            return list(set.copy(value))
        return list(deque.__iter__(value)) if isinstance(value, deque) else _queued(value)

    def changed(self, now: Any) -> list[tuple[str, Any, Any]] | None:
        before = self.before
        if len(now) == len(before):
            found = [(self.name, one, old) for one, old in zip(now, before) if one is not old]
            return found or None
        known = set(map(id, before))
        return [(self.name, one, _NOTHING) for one in now if id(one) not in known]

    def has_grown(self, now: Any) -> bool:
        return len(now) != len(self.before) and not isinstance(self.value, set)

    def hold(self, wanted: Any, now: Any) -> None:
        if isinstance(self.value, np.ndarray):
            for place, one in enumerate(wanted):
                self.value.flat[place] = one
        elif isinstance(self.value, _CONTAINERS):
            fill(self.value, wanted)
        else:
            while not self.value.empty():
                self.value.get_nowait()
            for one in wanted:
                self.value.put(one)


def _queued(value: Any) -> list[Any]:
    """Return the elements of a ``SimpleQueue``, which has no other way to tell them."""
    return [one for one in gc.get_referents(value) if one is not type(value)]


def slots_of(kind: type) -> tuple[Any, ...]:
    """Return the descriptors of the slots that the objects of a class written in Python have."""
    found = [one for cls in kind.__mro__ if cls.__flags__ & _MADE_IN_PYTHON for one in vars(cls).values()]
    return tuple([one for one in found if type(one) is types.MemberDescriptorType])


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
        if type(value) in _BARE or id(value) in self._seen or len(self._seen) > _MOST_OBJECTS:
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
        self.found.append(_Variables(package, (namespace, new)))
        if not _BY_TEXT.isdisjoint(new) or not _BY_TEXT.isdisjoint(names):
            self.found.append(_Dict(package, namespace))
        for name in new:
            value = namespace.get(name)
            if isinstance(value, types.ModuleType):
                self.module(value, [one for one in names if one in vars(value)])
            else:
                self.visit(f"{package}.{name}", value)

    def _open(self, name: str, value: Any) -> None:
        if isinstance(value, types.FunctionType):
            self._function(name, value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, _CONTAINERS):
            self._container(name, value)
            self._object(name, value)
        elif isinstance(value, ContextVar):
            self._note(_Context(name, value))
        elif isinstance(value, np.ndarray) or (
            type(value).__name__ == "SimpleQueue" and type(value).__module__ == "_queue"
        ):
            self._note(_Elements(name, value))
        elif _is_local(type(value)) or (
            type(value).__flags__ & _MADE_IN_PYTHON and type(value).__module__ != "builtins"
        ):
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
        self._note(_Dict(name, vars(value)))
        for free, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
            self._note(_Cell(f"{name}.{free}", cell))
        self.visit(name, value.__defaults__)
        self.visit(name, value.__kwdefaults__)
        if package_of(value.__globals__) not in sys.stdlib_module_names:
            self._globals(value.__globals__, dict.fromkeys(_names_in(value.__code__)))

    def _class(self, kind: type) -> None:
        package = kind.__module__.partition(".")[0]
        if not kind.__flags__ & _MADE_IN_PYTHON or package in KEEPING_NOTHING or package in sys.stdlib_module_names:
            return
        self._note(_Class(kind.__qualname__, kind))
        for base in kind.__mro__[1:]:
            self.visit(base.__qualname__, base)

    def _container(self, name: str, value: Any) -> None:
        if len(value) > _MOST_COPIED or (isinstance(value, dict) and "__builtins__" in value):
            return
        held = _Dict(name, value) if isinstance(value, dict) else _Elements(name, value)
        self.found.append(held)
        if len(value) <= MOST_ELEMENTS:
            parts: Sequence[Any] = list(held.before.values()) if isinstance(value, dict) else held.before
            for one in parts:
                self.visit(name, one)

    def _object(self, name: str, value: Any) -> None:
        kind = type(value)
        if kind.__module__.partition(".")[0] in KEEPING_NOTHING:
            return
        if slots := slots_of(kind):
            self._note(_Slots(name, (value, slots)))
        if (own := _attributes_of(value)) is not None and id(own) not in self._seen:
            self._seen[id(own)] = own
            self._note(_Dict(name, own))
        elif own is None and not slots and not isinstance(value, _CONTAINERS):  # of C
            for one in gc.get_referents(value):
                self.visit(name, one)
        self.visit(kind.__qualname__, kind)


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
    return kind.__module__ == module and kind.__name__ == name


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _names_in(one)
