"""Variables that a loop or branch changes other than by taking and returning them.

Shared variables live in cells (or are global), places are attributes of objects. A staged loop or branch
reads them before, sets them for each trace, and writes the results when it is done. Attributes that are
changed by a method called from the loop are found by watching the objects in reach during a trace; the loop
or branch is then traced again with them as places.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from autoloop.conversion.callables import is_library_file
from autoloop.operators.undefined import Undefined

Places = Callable[[], tuple[tuple[Any, str], ...]]


class NewPlaces(Exception):
    """A trace has changed attributes that were not known as places; they are now."""


class _Cell:
    def __init__(self, name: str, cell: types.CellType) -> None:
        self.name, self.cell = name, cell

    def get(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return Undefined(self.name)

    def set(self, value: Any) -> None:
        if type(value) is Undefined:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = value


class _Global:
    def __init__(self, name: str, namespace: dict[str, Any]) -> None:
        self.name, self.namespace = name, namespace

    def get(self) -> Any:
        return self.namespace.get(self.name, Undefined(self.name))

    def set(self, value: Any) -> None:
        if type(value) is Undefined:
            self.namespace.pop(self.name, None)
        else:
            self.namespace[self.name] = value


class _Attribute:
    def __init__(self, owner: Any, attribute: str) -> None:
        self.name, self.owner, self.attribute = f"{type(owner).__name__}.{attribute}", owner, attribute

    def get(self) -> Any:
        return getattr(self.owner, self.attribute, Undefined(self.name))

    def set(self, value: Any) -> None:
        current = self.get()
        if type(value) is Undefined:
            if type(current) is not Undefined:
                delattr(self.owner, self.attribute)
        elif value is not current:
            setattr(self.owner, self.attribute, value)


class Outside:
    """The shared variables and places of one loop or branch.

    Parameters
    ----------
    functions : sequence of callable or None
        The generated functions, in whose closures the cells are found.
    shared : sequence of str
        Names of the shared variables.
    places : callable, optional
        Gives ``(object, attribute)`` pairs.
    values : sequence
        The variables that the functions take: what objects among them change is noticed too.
    """

    def __init__(
        self,
        functions: Sequence[Any],
        shared: Sequence[str],
        places: Places | None,
        values: Sequence[Any] = (),
    ) -> None:
        known = [f for f in functions if isinstance(f, types.FunctionType)]
        self._slots: list[_Cell | _Global | _Attribute] = [_variable(name, known) for name in shared]
        if places is not None:
            # What the setter of a property changes is found by watching.
            self._slots += [_Attribute(owner, name) for owner, name in places() if not _is_property(owner, name)]
        self._watched = _objects_in_reach(known, values)

    @property
    def names(self) -> tuple[str, ...]:
        """What messages call them."""
        return tuple(slot.name for slot in self._slots)

    def read(self) -> tuple[Any, ...]:
        """Return the present values, with markers for those that have none."""
        return tuple(slot.get() for slot in self._slots)

    def write(self, values: Iterable[Any]) -> None:
        """Set the values."""
        for slot, value in zip(self._slots, values, strict=True):
            slot.set(value)

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that notices attributes which its call changes.

        It raises :class:`NewPlaces`, with the old values put back, so that the caller can start again.
        """

        def watching(*values: Any) -> Any:
            before = [(one, dict(vars(one))) for one in self._watched]
            lists = [(value, list(value)) for _, old in before for value in old.values() if type(value) is list]
            result = function(*values)
            known = {(id(slot.owner), slot.attribute) for slot in self._slots if isinstance(slot, _Attribute)}
            changed = {id(one) for one, old in lists if not _same_elements(one, old)}
            new = [
                (_Attribute(owner, name), old.get(name, Undefined(name)))
                for owner, old in before
                for name in dict.fromkeys([*vars(owner), *old])
                if (vars(owner).get(name, self) is not old.get(name, self) or id(old.get(name)) in changed)
                and (id(owner), name) not in known
            ]
            if new:
                for one, old_elements in lists:
                    one[:] = old_elements
                for slot, value in new:
                    slot.set(value)
                self._slots += [slot for slot, _ in new]
                raise NewPlaces
            return result

        return watching

    def around(self, function: Callable[..., Any], count: int) -> Callable[..., tuple[Any, ...]]:
        """Return a function that takes and returns these variables after the first ``count``."""

        def explicit(*values: Any) -> tuple[Any, ...]:
            self.write(values[count:])
            result = self.watch(function)(*values[:count]) or ()
            return (*result, *self.read())

        return explicit


def _same_elements(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _is_property(owner: Any, name: str) -> bool:
    return hasattr(getattr(type(owner), name, None), "__set__") and not hasattr(type(owner), "__slots__")


def _variable(name: str, functions: Sequence[types.FunctionType]) -> _Cell | _Global:
    for function in functions:
        free = function.__code__.co_freevars
        for one in (name, *(full for full in free if full.endswith(name) and full.startswith("_"))):
            if one in free and function.__closure__ is not None:
                return _Cell(name, function.__closure__[free.index(one)])
    return _Global(name, functions[0].__globals__)


def _objects_in_reach(functions: Sequence[types.FunctionType], values: Sequence[Any]) -> list[Any]:
    """Return the user's objects that generated functions take, or that their closures hold."""
    found: dict[int, Any] = {}
    for content in (*values, *_contents(functions)):
        content = getattr(content, "__self__", content)
        if hasattr(content, "__dict__") and _is_users_object(content):
            found[id(content)] = content
    return list(found.values())


def _contents(functions: Sequence[types.FunctionType]) -> Iterator[Any]:
    for function in functions:
        for cell in function.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # a variable that has no value yet
                continue


def _is_users_object(value: Any) -> bool:
    if isinstance(value, type | types.ModuleType | types.FunctionType):
        return False
    module = sys.modules.get(type(value).__module__)
    return not is_library_file(getattr(module, "__file__", None) or "<unknown>")
