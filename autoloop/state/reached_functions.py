"""The walk over functions in reach: what they are closed over, their defaults and what else they hold.

A function that is made in another one is made anew at each call of that: what is guarded is its code, and what differs
is looked at where it stands, as that of an object. Of all others the function itself is.
"""

from __future__ import annotations

import types
from collections.abc import Set
from typing import Any

from autoloop_runtime.base.locations import is_library_file

from ..conversion.callables import is_written
from ..operators.mutation.parts_of_objects import parts_of
from ..operators.staging.container_contents import in_class, is_property
from .closures_of_libraries import note_closure
from .foreign_attributes import guard_ungiven, look_at_attributes
from .noted import Reached
from .places import CALL, Place
from .unchanging import LISTS

#: what Python keeps of functions, and a program may set
_OF_FUNCTIONS = frozenset(("__annotations__", "__doc__", "__module__", "__name__", "__qualname__"))


class FunctionWalk(Reached):
    """The part of the walk that looks at functions."""

    def look_at_globals(self, namespace: dict[str, Any], used: Set[str]) -> None:
        """Look at the global variables that code of a module uses."""
        raise NotImplementedError

    def open_module(self, module: types.ModuleType, name: str | None) -> None:
        """Note that code holds a module, as a variable or an attribute or, without a name, in something else."""
        raise NotImplementedError

    def walk_function(self, place: Place, value: types.FunctionType) -> None:
        if _may_be_made_anew(place, value):
            self._walk_one_of_code(place, value)
            return
        self.guard("is", place, value)
        if value.__name__[:2] == "__" and not is_written(value):  # a dataclass's: another one may be put there
            return
        if is_library_file(value.__code__.co_filename):  # a decorator's wrapper may hold a function of the user's
            self.of_libraries.append((place, value))
            self.walk_parts(place, value)
            look_at_attributes(self, place, value)
            note_closure(self, place.name, value)
        else:
            self.guard("is", place.attribute("__code__"), value.__code__)  # which who reloads modules sets anew
            for name in ("__defaults__", "__kwdefaults__"):
                if (given := getattr(value, name)) is not None:
                    self.visit(place.attribute(name), given)
            self.attributes_of(place, value)
            self.walk_code(value)

    def _walk_one_of_code(self, place: Place, value: types.FunctionType) -> None:
        """Look at a function of which another of the same code may stand in its place: made in a function, that is
        another at each call of it."""
        self.made_anew.append((place, value))
        self.guard("type", place, types.FunctionType)
        self.guard("is", place.attribute("__code__"), value.__code__)
        self.guard("is", place.attribute("__globals__"), value.__globals__)
        for name in ("__defaults__", "__kwdefaults__"):
            given = place.attribute(name)
            if getattr(value, name) is None:
                self.guard("is", given, None)
            else:
                self.one_by_one.add(given.path)
                self.visit(given, getattr(value, name))
        self.attributes_of(place, value)
        if (inner := vars(value).get("__wrapped__")) is not None:
            self.visit(place.attribute("__wrapped__"), inner)
        self.walk_code(value, place)

    def walk_parts(self, place: Place, value: Any) -> None:
        """Look at what something of a library holds that is, or leads to, the user's."""
        for kind, key, one in parts_of(value):
            part = place.part(kind, key, one)
            self.unnamed.add(part.path)
            if key == "args":
                self.one_by_one.add(part.path)
            self.visit(part, one)

    def attributes_of(self, place: Place, function: types.FunctionType) -> None:
        """Look at what a function itself holds."""
        held = vars(function)
        self.hold(place, function)
        for name, one in held.items():
            if self.names.use(name):
                self.visit(place.attribute(name), one)
        self.told_by_name(place, function, _OF_FUNCTIONS)
        guard_ungiven(self, place, function)

    def guard_absent(self, place: Place, value: Any, held: dict[str, Any]) -> None:
        """Guard that an object has no attributes but those that it holds, of those that are asked for, and those that
        code deletes."""
        for name in sorted(self.names.deleted & getattr(value, "__dict__", {}).keys()):
            self.guard("holds", place, name)
        if self.names.every and hasattr(value, "__dict__"):
            self.guard("attributes", place, frozenset(vars(value)))
        elif hasattr(value, "__dict__"):
            absent = frozenset([name for name in self.names.read - held.keys() if not is_property(type(value), name)])
            if absent:
                self.guard("missing", place, absent)
        else:
            for name in sorted(self.names.read - held.keys()):
                if isinstance(in_class(type(value), name), types.MemberDescriptorType):
                    self.guard("unset", place, name)

    def told_by_name(self, place: Place, value: Any, names: Set[str]) -> None:
        """Look at what Python keeps of a function or class, where code asks for it by its name."""
        for name in sorted(self.names.read & names):
            self.visit(place.attribute(name), getattr(value, name))

    def walk_code(self, function: types.FunctionType, where: Place | None = None) -> None:
        """Look at the variables of a function's code; ``where`` each call finds that, if it may be another one."""
        used = self.names.add(function.__code__)
        for k, (name, cell) in enumerate(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        ):  # fmt: skip
            place = Place("cell", None, cell, name) if where is None else where.closed_over(k, name)
            if self._is_seen_cell(place, cell):
                continue
            self.cells.append((place, cell))
            try:
                value = cell.cell_contents
            except ValueError:
                self.guard("empty", place.parent or Place("value", None, cell, name), None)
                continue
            if self.names.use(name) or issubclass(type(value), (*LISTS, set)):
                self.visit(place, value)
        namespace = function.__globals__
        self.look_at_globals(namespace, used)
        for name in used:
            if issubclass(type(one := namespace.get(name)), types.ModuleType):
                self.open_module(one, name)  # type: ignore[arg-type]
                self.modules[id(one)] = one  # type: ignore[assignment]
        self.packages.add(namespace.get("__package__") or "")

    def _is_seen_cell(self, place: Place, cell: types.CellType) -> bool:
        """Return whether a cell was looked at, and note where it stands; that it is the same one is guarded."""
        here, (_, known) = place.parent, self.seen.get(id(cell), (cell, None))
        if known is None:
            self.seen[id(cell)] = cell, here or CALL
            return False
        if here is not None and known is not CALL:
            self.guard("same", here, known)
        elif here is not None or known is not CALL:
            self.guard("is", here or known, cell)
        return True


def _may_be_made_anew(place: Place, value: types.FunctionType) -> bool:
    """Return whether another function of the same code may well stand at a place: one that is made in a function."""
    if place.kind in ("value", "member") or is_library_file(value.__code__.co_filename):
        return False
    return bool(value.__closure__) or "<" in value.__code__.co_qualname or place.parent is CALL
