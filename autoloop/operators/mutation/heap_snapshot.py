"""The mutable objects that a traced block can get at, and what it has changed of them.

The walk goes everywhere: what a block may change is another question than on which places a trace depends, which
``autoloop.state.reached`` asks. What objects hold both are told by ``parts_of_objects``.

A block is traced once, whatever its condition says and however often it runs. So whatever it changes in place
must be noticed: it is put back, and either carried by the graph (a slot can be read and set, see ``slots``) or refused.
"""

from __future__ import annotations

import gc
import itertools
import operator
import sys
import types
from collections import ChainMap, defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import module_of
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.locations import is_library_file
from autoloop_runtime.ir.tensor import Tensor

from ...conversion.callables import is_users_class, is_users_module
from ..staging.container_contents import dict_class, instance_attributes
from ..staging.standins import StandIn, is_growing, opened
from .installed_packages import roots_of
from .parts_of_objects import (
    DESCRIPTORS,
    MOST_ELEMENTS,
    MOST_OBJECTS,
    changes_unseen,
    has_state,
    held_by,
    names_by_text,
    names_of_state,
    names_of_values,
    own_names,
    parts_of,
)
from .slots import Attribute, Cell, Global, Slot

#: the contents of arrays larger than this are not kept
MOST_NUMBERS = 4_000_000
_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
#: of these classes are most values: none is a class of the user's
_NOBODYS = frozenset((tuple, list, dict, set, frozenset, deque, np.ndarray, type, object))
_EXACTLY_PLAIN = frozenset((*_PLAIN, np.float64, np.int64, np.bool_))
# Generators of random numbers: whoever has one has imported its module, which is not small.
_RANDOM = (("random", "Random"), ("numpy.random", "Generator"), ("numpy.random", "RandomState"))
# The generators behind the functions of these modules.
_HIDDEN_RANDOM = {"random": "_inst", "numpy.random": "_rand"}


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A container, or the attributes of an object, as they were.

    Attributes
    ----------
    value : object
        The object.
    old : object
        A copy of what it held.
    name : str
        What messages call it.
    slot : Slot or None
        The variable that holds it.
    """

    value: Any
    old: Any
    name: str
    slot: Slot | None


def snapshots(
    functions: Sequence[Any], values: Sequence[Any], names: Sequence[str], made: Sequence[Any] = ()
) -> tuple[list[Snapshot], list[tuple[Slot, Any]]]:
    """Take a snapshot of all that functions, called with ``values``, can get at.

    Parameters
    ----------
    functions : sequence of callable
        The generated functions of a block.
    values, names : sequence
        The values of their parameters.
    made : sequence
        What is looked at besides, whatever holds it.

    Returns
    -------
    list of Snapshot
        Of containers and of objects with attributes.
    list of (slot, value)
        The variables of closures and modules, and their values.
    """
    walker = _Walker(of_libraries=True)
    for function in functions:
        walker.visit(function, "", None)
    for name, value in zip_longest(names[: len(values)], values, fillvalue=""):
        walker.visit(value, name, None)
    walker.run()
    for value in made:
        walker.visit(value, "", None)
    walker.run()
    return walker.found, walker.variables


def without_arrays(roots: Sequence[Any]) -> _Walker:
    """Return the walk of ``snapshots``, but for what arrays hold, begun at some objects."""
    walker = _Walker(of_arrays=False)
    _walk(walker, roots)
    return walker


def stand_ins(roots: Sequence[Any]) -> tuple[list[tuple[StandIn, str]], list[tuple[Tensor, str]]]:
    """Return the stand-ins and the symbolic tensors that can be got at from some objects, with a name for messages of
    what holds each."""
    walker = _walked(roots)
    return walker.stand_ins, walker.symbolic


def reached_from(roots: Sequence[Any]) -> dict[int, tuple[Any, str]]:
    """Return by id the objects that can be got at from some, with a name for messages of what holds each."""
    return _walked(roots).known()


def _walked(roots: Sequence[Any]) -> _Walker:
    walker = _Walker()
    _walk(walker, roots)
    return walker


def _walk(walker: _Walker, roots: Sequence[Any]) -> None:
    for root in roots:
        walker.visit(root, "", None)
    walker.run()


class _Walker:
    def __init__(self, of_arrays: bool = True, of_libraries: bool = False) -> None:
        self._of_arrays, self._of_libraries = of_arrays, of_libraries
        self.names: dict[int, str] = {}
        self.stand_ins: list[tuple[StandIn, str]] = []
        self.symbolic: list[tuple[Tensor, str]] = []
        self.found: list[Snapshot] = []
        self.variables: list[tuple[Slot, Any]] = []
        self.seen: dict[int, Any] = {}  # objects by id; holding them keeps the ids theirs
        self._todo: deque[tuple[Any, str, Slot | None]] = deque()
        # names in the code in reach, the modules that it has a name for, and what was known of both at the last look
        self._names: set[str] = set()
        self._modules: dict[int, types.ModuleType] = {}
        # names that code uses as values, those that modules have, and modules that something without a name holds
        self._values: set[str] = set()
        self._codes: list[types.CodeType] = []
        self._called: dict[int, set[str]] = {}
        self._opened: set[int] = set()
        self._looked = (0, 0, 0, 0)
        self._slots: set[Any] = set()

    def known(self) -> dict[int, tuple[Any, str]]:
        """Return what ``reached_from`` does."""
        return {key: (value, self.names[key]) for key, value in self.seen.items()}

    def libraries(self) -> list[tuple[str, Any]]:
        """Return where installed packages begin, see ``installed_packages``."""
        classes = [one for one in self.seen.values() if isinstance(one, type)]
        values = [(self.names[key], value) for key, value in self.seen.items()]
        return roots_of(values, classes, self._modules.values(), self._names.__contains__)

    def visit(self, value: Any, name: str, slot: Slot | None) -> None:
        kind = type(value)
        if kind is types.ModuleType:
            self._module(value, slot.name.rpartition(".")[2] if slot is not None and name == slot.name else None)
            return
        if kind in _EXACTLY_PLAIN or id(value) in self.seen or len(self.seen) > MOST_OBJECTS:
            return
        if isinstance(value, _PLAIN):
            if is_users_class(kind):  # whose methods may change something
                self.visit(kind, kind.__name__, None)
            if isinstance(value, np.void) and value.dtype.hasobject:  # an element with fields
                self.seen[id(value)], self.names[id(value)] = value, name
                self.visit(value.item(), name, None)
            return
        self.seen[id(value)] = value
        self.names[id(value)] = name
        if isinstance(value, StandIn):
            self.stand_ins.append((opened(value), name))
        elif isinstance(value, Tensor):
            if value.is_symbolic:
                self.symbolic.append((value, name))
            return
        self._todo.append((value, name, slot))

    def run(self) -> None:
        while self._todo or (self._look_at_modules() and self._todo):
            self._open(*self._todo.popleft())

    def _open(self, value: Any, name: str, slot: Slot | None) -> None:
        old: Any = contents(value) if self._of_arrays or not isinstance(value, np.ndarray) else None
        if old is None and self._of_libraries and changes_unseen(value):
            old = mark_in_library(value)
        if old is not None:
            self.found.append(Snapshot(value, old, name, slot))
        if isinstance(value, types.FunctionType):
            self._function(value, name, old if type(old) is dict else {})
        elif isinstance(value, tuple):
            self._elements(list(tuple.__iter__(value)), name, slot)
            self._class(type(value))
        elif isinstance(value, dict | list | set | deque):
            self._elements(old, name, slot if type(value) in (dict, list) else None)
            if isinstance(value, dict):
                self._elements(list(old), name, None)
            if isinstance(value, defaultdict):
                self.visit(value.default_factory, name, None)
            self._class(type(value))
        elif isinstance(value, frozenset):
            self._elements(list(frozenset.__iter__(value)), name, None)
            self._class(type(value))
        elif isinstance(value, types.GeneratorType):
            self._elements(old, name, None)
        elif isinstance(value, slice):
            self._elements([value.start, value.stop, value.step], name, None)
        elif isinstance(value, ChainMap):
            self._elements(list(vars(value).values()), name, None)
        elif module_of(type(value)) in ("builtins", "itertools") and hasattr(value, "__next__"):
            self._elements(gc.get_referents(value), name, None)
        elif isinstance(value, types.ModuleType):
            self._module(value, None)
        elif isinstance(value, type):
            self._class(value)
        elif has_state(value):
            self._object(value)
        elif isinstance(value, np.ndarray):
            if value.dtype.hasobject and value.size <= MOST_ELEMENTS:
                self._elements(np.asarray(value).ravel().tolist(), name, None)
            self._class(type(value))
        else:
            self._parts(value, name)

    def _parts(self, value: Any, name: str) -> None:
        for _, inner in held_by(value):
            self.visit(inner, name, None)

    def _elements(self, value: Any, name: str, slot: Slot | None) -> None:
        if len(value) > MOST_ELEMENTS:
            return
        for key, element in value.items() if isinstance(value, dict) else enumerate(value):
            self.visit(element, f"{name}[{nest.key_text(key)}]", slot)

    def _function(self, value: Any, name: str, attributes: dict[str, Any]) -> None:
        for key, one in attributes.items():
            self.visit(one, f"{name}.{key}", Attribute(value, key))
        if is_library_file(value.__code__.co_filename):  # a gradient, say, of a function of the user's
            self._parts(value, name)
        else:
            for one, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
                self._variable(Cell(one, cell))
            self.visit(value.__defaults__, name, None)
            self.visit(value.__kwdefaults__, name, None)
            self._globals(value.__code__, value.__globals__)

    def _globals(self, code: types.CodeType, namespace: dict[str, Any]) -> None:
        used = set(_names_in(code))
        self._names |= used
        self._codes += _nested(code)
        for name in sorted(used):
            value = namespace.get(name)
            if isinstance(value, types.ModuleType):
                self._module(value, name)
            elif name in namespace:
                self._variable(Global(name, namespace))
            elif (imported := sys.modules.get(name)) is not None and is_users_module(imported):
                self._module(imported, name)

    def _module(self, module: types.ModuleType, name: str | None) -> None:
        """Note a module to be looked at, and what holds it: a variable or attribute of a name, or something else."""
        self._modules[id(module)] = module
        if name is None:
            self._opened.add(id(module))
        else:
            self._called.setdefault(id(module), set()).add(name)

    def _look_at_modules(self) -> bool:
        """Look at what code uses of the modules that it has a name for, once all else was looked at. Return whether
        there was more to look at than the last time."""
        users = [module for module in self._modules.values() if is_users_module(module)]
        while users and self._codes:
            self._values |= names_of_values(self._codes.pop())
        known = len(self._names), len(self._modules), len(self._values), len(self._opened)
        if known == self._looked:
            return False
        self._looked = known
        for module in list(self._modules.values()):
            self._hidden_random(module, self._names)
            used = names_of_state(module, self._names)
            if is_users_module(module) and self._is_open(module):
                used = own_names(module)
            for name in sorted(used):
                self._variable(Global(name, vars(module)))
        return True

    def _is_open(self, module: types.ModuleType) -> bool:
        return id(module) in self._opened or not self._values.isdisjoint(self._called.get(id(module), ()))

    def _variable(self, slot: Slot) -> None:
        if slot.key in self._slots:
            return
        self._slots.add(slot.key)
        value = slot.get()
        self.variables.append((slot, value))
        self.visit(value, slot.name, slot)

    def _hidden_random(self, module: types.ModuleType, used: set[str]) -> None:
        inner = getattr(module, "random", None) if module is np and "random" in used else module
        name = _HIDDEN_RANDOM.get(getattr(inner, "__name__", ""))
        if name is not None:
            self.visit(getattr(getattr(inner, "mtrand", inner), name, None), "random", None)

    def _object(self, value: Any) -> None:
        kind = type(value)
        for name, one in instance_attributes(value).items():
            self.visit(one, f"{kind.__name__}.{name}", Attribute(value, name))
        if isinstance(value, BaseException):
            self.visit(value.args, kind.__name__, None)
        self._class(kind)

    def _class(self, kind: type) -> None:
        """Look at what the user's classes hold, of which a class is made, and at how it is called."""
        if kind in _NOBODYS or not is_users_class(kind):
            return
        for cls in (*kind.__mro__, type(kind)):
            if cls is not kind and is_users_class(cls):
                self.visit(cls, cls.__name__, None)
        if id(kind) not in self.seen:
            self.visit(kind, kind.__name__, None)
            return
        for name, one in _attributes_of_class(kind).items():
            self.visit(one, f"{kind.__name__}.{name}", Attribute(kind, name))
        for one in vars(kind).values():
            for _, _, inner in parts_of(one) if isinstance(one, DESCRIPTORS) else (("", "", one),):
                self.visit(inner, kind.__name__, None)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _nested(one)


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Yield the global names and attributes that a function, with those inside it, uses."""
    for one in _nested(code):
        yield from one.co_names
        yield from names_by_text(one)


# -- what containers hold -----------------------------------------------------------------------------------


def contents(value: Any) -> Any:
    """Return a copy of what an object holds and may change, or None if there is nothing of the kind."""
    if isinstance(value, types.FunctionType):  # which most objects in reach of a branch are
        return _attributes_of_function(value)
    if isinstance(value, type):
        return _attributes_of_class(value) if is_users_class(value) else None
    # Methods of the built-in classes: those of a class of the user's may have effects.
    if isinstance(value, list):
        return list.copy(value)
    if isinstance(value, dict):
        return dict(dict_class(value).items(value))
    if isinstance(value, set):
        return set.copy(value)
    if isinstance(value, deque):
        return list(deque.__iter__(value))
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if is_growing(value):
        return value.alike()
    if isinstance(value, np.ndarray):
        return value.copy() if value.size <= MOST_NUMBERS else None
    if isinstance(value, types.GeneratorType):
        return _state_of(value)
    if is_random(value):
        return (random_state(value),)
    if module_of(type(value)) == "builtins" and hasattr(value, "__length_hint__"):
        return operator.length_hint(value)
    if isinstance(value, itertools.count):
        return repr(value)
    return instance_attributes(value) if has_state(value) else None


def _attributes_of_function(value: types.FunctionType) -> dict[str, Any] | None:
    """Return what the user has set on a function; None for one of a library."""
    own = None if is_library_file(value.__code__.co_filename) else value.__dict__
    return None if own is None else {name: one for name, one in own.items() if name[:2] != "__"}


def _state_of(generator: types.GeneratorType[Any, Any, Any]) -> dict[str, Any]:
    frame = generator.gi_frame
    return {} if frame is None else {**frame.f_locals, "": frame.f_lasti}


def is_random(value: Any) -> bool:
    """Return whether a value is a generator of random numbers."""
    kinds = tuple([getattr(sys.modules.get(module), name, ()) for module, name in _RANDOM])
    return issubclass(type(value), kinds)  # an object may say by code of its own of which class it is


def random_state(generator: Any) -> Any:
    """Return where a generator of random numbers stands, as what compares and what the generator takes back."""
    if module_of(type(generator)) == "random":  # numbers, which are many
        return generator.getstate()
    if hasattr(generator, "getstate"):  # of a class of the user's
        state = generator.getstate()
    else:
        is_new = hasattr(generator, "bit_generator")
        state = generator.bit_generator.state if is_new else generator.get_state(legacy=False)
    return nest.map_structure(lambda one: one.tolist() if isinstance(one, np.ndarray) else one, state)


def _attributes_of_class(value: type) -> dict[str, Any]:
    """Return the attributes of a class that a program may set: methods too, of those that Python names only methods."""
    methods = (types.FunctionType, *DESCRIPTORS)
    return {
        name: one
        for name, one in vars(value).items()
        if isinstance(one, methods)
        or not (name[:2] == name[-2:] == "__" or hasattr(type(one), "__set__") or name.startswith("_abc_"))
    }


def mark_in_library(value: Any) -> bytes | None:
    """Return what is known of an object of a library, of which only that tells whether it changes."""
    with undivided():  # which few functions need
        from .library_objects import mark_of
    return mark_of(value)
