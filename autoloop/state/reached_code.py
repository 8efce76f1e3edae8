"""The walk over code in reach: what modules hold, global variables, and classes."""

from __future__ import annotations

import abc
import builtins
import contextlib
import importlib.util
import os
import sys
import types
from collections.abc import Set
from enum import Enum
from typing import Any

from autoloop_runtime.base.locations import is_library_file

from ..conversion.callables import is_users_class, is_users_module
from ..conversion.known_effects import BY_NAME
from ..operators.mutation.parts_of_objects import (
    DESCRIPTORS,
    has_state,
    names_of_state,
    own_names,
)
from ..operators.staging.container_contents import instance_attributes, is_data_descriptor
from .foreign_attributes import look_at_settings, look_into_module
from .places import Place, held_at
from .reached_functions import FunctionWalk
from .unchanging import LISTS, is_constant

#: what each member of an enumeration has
_OF_MEMBERS = ("_name_", "__objclass__", "_sort_order_")
#: what Python keeps of classes, and a program may set
_OF_NAMED_CLASSES = frozenset(("__name__", "__qualname__"))
#: what classes have that nobody asks for but by its name
_OF_CLASSES = frozenset(
    ("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__")
    + ("__static_attributes__", "__annotate_func__", "__annotations_cache__", "__orig_bases__", "__parameters__")
    + ("__type_params__", "__slots__", "__slotnames__", "__dataclass_params__", "__dataclass_fields__")
    + ("__abstractmethods__", "__classcell__", "__classdictcell__", "__non_callable_proto_members__")
    + ("__protocol_attrs__", "__final__")
)
#: what asks a dataclass for its fields
_ASKING_FIELDS = frozenset(("fields", "asdict", "astuple", "replace"))


class CodeWalk(FunctionWalk):
    """The part of the walk that looks at modules and classes, too."""

    def walk_modules(self) -> bool:
        """Look at what code uses of the modules that it names or imports, once all else was looked at: thousands of
        functions name the same ones. Return whether there was more to look at than the last time."""
        names = self.names
        known = names.count, len(names.stored), len(names.imported), len(self.modules), len(self.packages)
        if self.looked == known:
            return False
        self.looked = known
        count = 0
        while count < len(self.modules):  # to which those in others come
            self.walk_module(list(self.modules.values())[count])
            count += 1
        for one, name in ((sys, "modules"), (os, "environ")):
            if id(one) in self.modules and name in self.names.read:
                self.hidden.append(f"{one.__name__}.{name} is used")
        for package in sorted(self.packages):
            for name in sorted(self.names.imported):
                self._imported(name, package)
        return True

    def walk_module(self, module: types.ModuleType) -> None:
        """Look at what code uses of a module: of one of a library, of what a program has set there."""
        held, stored = vars(module), self.names.stored
        is_open = id(held) in self.names.opened
        known = self.names.version, is_open, len(self.called.get(id(module), ()))
        before, were_stored = self.walked.get(id(module), (None, frozenset()))
        if before == known:  # thousands of functions in many packages import the same ones
            return
        self.look_at_globals(held, own_names(module) if is_open else names_of_state(module, self.names.spoken()))
        if is_users_module(module):
            if len(stored) != len(self.stored):
                self.stored = frozenset(stored)
            for name in stored - were_stored - held.keys():  # which perhaps are set here
                self.variables.setdefault((id(held), name), (held, name))
            self._guard_absent_in(module)
            self._look_at_class_of(module)
        else:
            look_into_module(self, module)
        self.walked[id(module)] = known, self.stored

    def _look_at_class_of(self, module: types.ModuleType) -> None:
        """Look at what answers for the names that a module of the user's has not."""
        held, key = vars(module), (id(vars(module)), "__getattr__")
        if key in self.variables:
            return
        self.variables[key] = held, "__getattr__"
        place = Place("value", None, module, module.__name__)
        self.guard("type", place, type(module))
        self.walk_class(type(module))
        if "__getattr__" in held:
            self.visit(Place("global", None, (held, "__getattr__"), "__getattr__"), held["__getattr__"])

    def _guard_absent_in(self, module: types.ModuleType) -> None:
        """Guard that a module of the user's has none of the names that code asks it for, and it has not."""
        held, place = vars(module), Place("value", None, module, module.__name__)
        known = self.absent.setdefault(id(module), set())
        if id(held) not in self.names.opened:
            asked = [self.names.asked.get(name, ()) for name in self.called.get(id(module), self.names.asked)]
            names = {name for some in asked for name in some}
        elif not self.names.every:
            names = self.names.read
        elif None in known:
            return
        else:
            known.add(None)
            self.guard("attributes", place, frozenset(held))
            return
        if new := names - held.keys() - known:
            new |= {"__getattr__"} - held.keys()
            known |= new
            self.guard("missing", place, frozenset(new))

    def open_module(self, module: types.ModuleType, name: str | None) -> None:
        """Note that code holds a module, as a variable or an attribute or, without a name, in something else."""
        if name is not None:
            self.called.setdefault(id(module), set()).add(name)
        if is_users_module(module) and (name is None or name in self.names.values):
            self.names.opened[id(vars(module))] = module

    def _imported(self, name: str, package: str) -> None:
        """Look at a module that code imports when it runs."""
        first = name.partition(".")[0]
        known = [one for one in (name, first, f"{package}.{name}") if one in sys.modules]
        for one in known:
            self.open_module(sys.modules[one], name)
            self.walk_module(sys.modules[one])
        if name not in known and f"{package}.{name}" not in known and not _is_of_library(first, self.specs):
            self.hidden.append(f"the module {name!r} is imported")

    def look_at_globals(self, namespace: dict[str, Any], used: Set[str]) -> None:
        """Look at the global variables that code of a module uses."""
        for name in sorted(name for name in used if (id(namespace), name) not in self.variables):
            key = id(namespace), name
            self.variables[key] = namespace, name
            value = namespace.get(name, self)
            self.hidden += _finding(name, vars(builtins).get(name) if value is self else value)
            if value is self and name in self.names and not hasattr(builtins, name):
                self.guard("absent", Place("value", None, namespace, name), name)
            is_used = self.names.use(name) or id(namespace) in self.names.opened
            if value is not self and (is_used or issubclass(type(value), (*LISTS, set))):
                self.visit(Place("global", None, (namespace, name), name), value)

    def walk_class(self, kind: type) -> None:
        """Look at what the user's classes that a class is made of hold, and guard that they get nothing new.

        Methods that Python itself asks for, ``__bool__``, are named nowhere: any may be added, to any of the classes.
        """
        if len(kind.__mro__) > 2 and id(kind.__mro__) not in self.seen:
            place = Place("value", None, kind, kind.__name__).attribute("__mro__")
            self.seen[id(kind.__mro__)] = kind.__mro__, place
            self.guard("is", place, kind.__mro__)
        for cls in kind.__mro__:
            if not is_users_class(cls):
                look_at_settings(self, cls)
                continue
            if id(cls) in self.seen and cls is not kind:
                continue
            if self.is_held(cls):
                continue
            place = Place("value", None, cls, cls.__name__)
            self.seen.setdefault(id(cls), (cls, place))
            self.hold(place, cls)
            self.guard("names", place, (len(vars(cls)), next(reversed(vars(cls)))))
            self.told_by_name(place, cls, _OF_NAMED_CLASSES)
            if "__subclasses__" in self.names.read:
                self.hidden.append(f"{cls.__name__!r} is asked for its subclasses")
            if isinstance(cls, abc.ABCMeta):
                self.guard("registered", place, abc.get_cache_token())
            called = _named_by_libraries(cls)
            for name, one in vars(cls).items():
                if not issubclass(cls, Enum) or isinstance(one, (types.FunctionType, *DESCRIPTORS)):
                    self._member(place.member(name), name, one, name in called)
            for name, one in vars(cls).get("_member_map_", {}).items() if issubclass(cls, Enum) else ():
                self._of_enum(Place("value", None, one, f"{cls.__name__}.{name}"), one)
            if type(cls) is not type and is_users_class(type(cls)):  # what calling the class, say, does
                self.guard("type", place, type(cls))
                self.walk_class(type(cls))

    def _of_enum(self, place: Place, value: Enum) -> None:
        """Look at what a member of an enumeration holds: it is the same one always, but that may change."""
        held = instance_attributes(value)
        if "value" in self.names and not is_constant(held.get("_value_")):  # which Enum's own property gives
            self.names.read.add("_value_")
        asked = {name: held[name] for name in held if name not in _OF_MEMBERS and self.names.use(name)}
        if asked and id(value) not in self.seen:
            self.seen[id(value)] = value, place
            self.hold(place, value)
            for name, one in asked.items():
                self.visit(held_at(place, value, name), one)

    def _member(self, place: Place, name: str, one: Any, is_called: bool) -> None:
        special = name[:2] == "__" == name[-2:]
        if isinstance(one, types.FunctionType):
            if special or is_called or name in self.names:
                self.visit(place, one)
        elif isinstance(one, DESCRIPTORS):
            if special or is_called or name in self.names or name in self.names.stored:
                self.guard("is", place, one)
                self.walk_parts(Place("value", None, one, name), one)
        elif hasattr(type(one), "__set__") and not has_state(one):  # a slot, say
            if (special and name not in _OF_CLASSES) or name in self.names:
                self.guard("is", place, one)
        elif special and name != "__match_args__":
            is_asked = name == "__dataclass_fields__" and not self.names.read.isdisjoint(_ASKING_FIELDS)
            if name not in _OF_CLASSES or name in self.names.read or is_asked:
                self.visit(place, one)
        elif self.names.use(name) or (name in self.names.stored and is_data_descriptor(one)):
            self.visit(place, one)


def _is_of_library(name: str, known: dict[str, bool]) -> bool:
    """Return whether a module that is not loaded is one of a library; of what cannot be asked for nothing is said."""
    if name not in known:
        known[name] = True
        with contextlib.suppress(ImportError, ValueError, AttributeError):
            found = importlib.util.find_spec(name)
            known[name] = found is not None and is_library_file(found.origin or "<frozen ")
    return known[name]


def _finding(name: str, value: Any) -> list[str]:
    """Return what is to be said of a variable by which code finds anything.

    What leads there by other ways is found when it is called.
    """
    if issubclass(type(value), types.BuiltinFunctionType | types.FunctionType) and value in BY_NAME:
        return [f"{name}() is used"]
    if value is os.environ or value is sys.modules:
        return [f"{name!r}, the {type(value).__name__} of the process, is used"]
    return []


def _named_by_libraries(cls: type) -> set[str]:
    """Return the names that classes of libraries, and of Python's own, have which a class of the user's extends: their
    code calls what stands in their place, as that of ``datetime`` calls ``utcoffset``."""
    return {name for base in cls.__mro__[1:-1] if not is_users_class(base) for name in vars(base)}
