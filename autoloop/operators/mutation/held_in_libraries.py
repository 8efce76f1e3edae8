"""What the code of installed libraries may get at, and what is held there: read, compared and put back."""

from __future__ import annotations

import contextlib
import gc
import operator
import sys
import types
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.random_streams import Stand

from ...conversion.cells import value_in
from ..staging.container_contents import dict_class, fill
from .heap_snapshot import random_state

#: of a class that was made while a program ran: Py_TPFLAGS_HEAPTYPE
MADE_IN_PYTHON = 1 << 9
#: no value stands there
NOTHING: Any = object()
#: what holds nothing that is looked at
_BARE = (
    (type(None), bool, int, float, complex, str, bytes, range, slice, np.ufunc, types.CodeType, types.ModuleType)
    + (np.float64, np.int64, np.bool_, types.GetSetDescriptorType, types.MemberDescriptorType)
    + (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, type(...))
)
#: by id: a class may have a hash of its own, or none
_IDS_OF_BARE = frozenset(map(id, _BARE))
CONTAINERS = (list, dict, set, deque)


def is_bare(kind: type) -> bool:
    """Return whether what is of a class holds nothing that is looked at."""
    return id(kind) in _IDS_OF_BARE


def inside(value: Any) -> Iterable[Any]:
    """Return what something holds that nobody else can get at by a name: not what a function's module holds."""
    kind = type(value)
    if is_bare(kind) or issubclass(kind, type):
        return ()
    if kind is types.FunctionType:
        cells = [value_in(cell) for cell in value.__closure__ or ()]
        return (*cells, value.__defaults__, value.__kwdefaults__, vars(value))
    if kind is types.FrameType:
        return list(value.f_locals.values())
    if issubclass(kind, np.ndarray):
        return np.ndarray.tolist(np.ndarray.ravel(value)) if value.dtype.hasobject else ()
    if kind is dict and "__builtins__" in value:  # of a module
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
        if now.keys() == before.keys() and all(map(operator.is_, now.values(), map(before.__getitem__, now))):
            return None
        pairs = [(key, one, before.get(key, NOTHING)) for key, one in now.items()]
        return [(self.called(key), one, old) for key, one, old in pairs if one is not old]

    def called(self, key: Any) -> str:
        """Return what messages call what stands under a key."""
        return self.name

    def has_grown(self, now: Any) -> bool:
        """Return whether it is a list that has another length, or something else has been counted in it."""
        return False

    def hold(self, wanted: Any, now: Any) -> None:
        """Let it hold what it held at another time, in place of what it holds now; both as ``now`` gives it."""
        for key in now.keys() - wanted.keys():
            self.set(key, NOTHING)
        for key, one in wanted.items():
            if now.get(key, NOTHING) is not one:
                self.set(key, one)


class Dict(Held):
    """A dict, that of an object's attributes too."""

    __slots__ = ()

    def now(self) -> Any:
        value = self.value
        return dict.copy(value) if type(value) is dict else dict(dict.items(value))

    def has_grown(self, now: Any) -> bool:
        kind = type(self.value)
        is_counted = issubclass(kind, defaultdict) and self.value.default_factory in (int, float)
        return is_counted or issubclass(kind, Counter)

    def set(self, key: Any, value: Any) -> None:
        kind = dict_class(self.value)
        if value is NOTHING:
            kind.pop(self.value, key, None)
        else:
            kind.__setitem__(self.value, key, value)


class Variables(Held):
    """Global names of a module: the value is its namespace, and the names."""

    __slots__ = ()

    def now(self) -> Any:
        namespace, names = self.value
        return {name: namespace[name] for name in names if name in namespace}

    def called(self, key: Any) -> str:
        return f"{self.name}.{key}"

    def set(self, key: Any, value: Any) -> None:
        if value is NOTHING:
            self.value[0].pop(key, None)
        else:
            self.value[0][key] = value


class Cell(Held):
    """A variable that functions share."""

    __slots__ = ()

    def now(self) -> Any:
        found = value_in(self.value, NOTHING)
        return {} if found is NOTHING else {"": found}

    def set(self, key: Any, value: Any) -> None:
        if value is NOTHING:
            del self.value.cell_contents
        else:
            self.value.cell_contents = value


class Class(Held):
    """The attributes of a class."""

    __slots__ = ()

    def now(self) -> Any:
        return dict(vars(self.value))

    def set(self, key: Any, value: Any) -> None:
        with contextlib.suppress(AttributeError, TypeError):
            if value is NOTHING:
                type.__delattr__(self.value, key)
            else:
                type.__setattr__(self.value, key, value)


class Slots(Held):
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
        with contextlib.suppress(AttributeError, TypeError):  # nobody can
            if value is NOTHING:
                key.__delete__(self.value[0])
            else:
                key.__set__(self.value[0], value)


class Context(Held):
    """A context variable."""

    __slots__ = ()

    def now(self) -> Any:
        found = self.value.get(NOTHING)
        return {} if found is NOTHING else {"": found}

    def set(self, key: Any, value: Any) -> None:
        self.value.set(None if value is NOTHING else value)


class Elements(Held):
    """A list, a deque, a set or a queue, or an array of objects.

    While other threads run, of a list or deque only that is taken back which has been put there: what is gone these may
    have taken.
    """

    __slots__ = ()

    def now(self) -> Any:
        value = self.value
        if issubclass(type(value), np.ndarray):
            return np.ndarray.tolist(np.ndarray.ravel(value))
        if issubclass(type(value), list):
            return list.copy(value)
        if issubclass(type(value), set):
            return list(set.copy(value))
        return list(deque.__iter__(value)) if issubclass(type(value), deque) else _queued(value)

    def changed(self, now: Any) -> list[tuple[str, Any, Any]] | None:
        before = self.before
        if len(now) == len(before) and not issubclass(type(self.value), set):
            if all(map(operator.is_, now, before)):
                return None
            return [(self.name, one, old) for one, old in zip(now, before) if one is not old]
        known = set(map(id, before))
        found = [(self.name, one, NOTHING) for one in now if id(one) not in known]
        return found if found or len(now) != len(before) else None

    def has_grown(self, now: Any) -> bool:
        if issubclass(type(self.value), set):
            return False
        return len(now) > len(self.before) or (len(now) < len(self.before) and not _are_others())

    def hold(self, wanted: Any, now: Any) -> None:
        if issubclass(type(self.value), np.ndarray):
            for place, one in enumerate(wanted):
                self.value.flat[place] = one
        elif issubclass(type(self.value), list | deque) and _are_others() and not _stand(wanted, now):
            _take_out(self.value, wanted, now)
        elif issubclass(type(self.value), CONTAINERS):
            fill(self.value, wanted)
        else:
            while not self.value.empty():
                self.value.get_nowait()
            for one in wanted:
                self.value.put(one)


class Cache(Elements):
    """What a function keeps by ``functools.lru_cache``."""

    __slots__ = ()

    def now(self) -> Any:
        return gc.get_referents(self.value)

    def has_grown(self, now: Any) -> bool:
        return False

    def hold(self, wanted: Any, now: Any) -> None:
        self.value.cache_clear()


class Random(Held):
    """A generator of random numbers, and where it stands."""

    __slots__ = ()

    def now(self) -> Any:
        return [random_state(self.value), Stand(self.value)]

    def changed(self, now: Any) -> list[tuple[str, Any, Any]] | None:
        return None if now[0] == self.before[0] else []

    def has_grown(self, now: Any) -> bool:
        return True

    def hold(self, wanted: Any, now: Any) -> None:
        wanted[1]()


def _stand(wanted: Sequence[Any], now: Sequence[Any]) -> bool:
    """Return whether all that a list holds now stands where it did, or is new: others stood in the places of those."""
    known = set(map(id, wanted))
    return len(wanted) >= len(now) and all(one is old or id(one) not in known for one, old in zip(now, wanted))


def _take_out(value: Any, wanted: Sequence[Any], now: Sequence[Any]) -> None:
    """Take out of a list or deque what it holds more often now than is wanted: where that was put in, at its end or its
    beginning."""
    base: Any = list if issubclass(type(value), list) else deque
    new = Counter(map(id, now)) - Counter(map(id, wanted))
    is_before = bool(wanted) and all(map(operator.is_, reversed(now), reversed(wanted)))
    places = range(base.__len__(value))
    taken = 0
    for place in places if is_before else reversed(places):
        one = id(base.__getitem__(value, place - taken if is_before else place))
        if new[one] > 0:
            new[one] -= 1
            base.__delitem__(value, place - taken if is_before else place)
            taken += 1


def _are_others() -> bool:
    """Return whether other threads of Python's run."""
    threading = sys.modules.get("threading")  # which who starts one has loaded
    return threading is not None and threading.active_count() > 1


def _queued(value: Any) -> list[Any]:
    """Return the elements of a ``SimpleQueue``, which has no other way to tell them."""
    return [one for one in gc.get_referents(value) if one is not type(value)]
