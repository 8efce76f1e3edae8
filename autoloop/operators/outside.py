"""Variables that a loop or branch changes other than by taking and returning them.

Shared variables live in cells (or are global), places are attributes of objects. A staged loop or branch
reads them before, sets them for each trace, and writes the results when it is done.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autoloop.operators.undefined import Undefined

Places = Callable[[], tuple[tuple[Any, str], ...]]


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
    """

    def __init__(self, functions: Sequence[Any], shared: Sequence[str], places: Places | None) -> None:
        known = [f for f in functions if isinstance(f, types.FunctionType)]
        self._slots: list[_Cell | _Global | _Attribute] = [_variable(name, known) for name in shared]
        if places is not None:
            self._slots += [_Attribute(owner, attribute) for owner, attribute in places()]

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

    def around(self, function: Callable[..., Any], count: int) -> Callable[..., tuple[Any, ...]]:
        """Return a function that takes and returns these variables after the first ``count``."""

        def explicit(*values: Any) -> tuple[Any, ...]:
            self.write(values[count:])
            result = function(*values[:count]) or ()
            return (*result, *self.read())

        return explicit


def _variable(name: str, functions: Sequence[types.FunctionType]) -> _Cell | _Global:
    for function in functions:
        free = function.__code__.co_freevars
        for one in (name, *(full for full in free if full.endswith(name) and full.startswith("_"))):
            if one in free and function.__closure__ is not None:
                return _Cell(name, function.__closure__[free.index(one)])
    return _Global(name, functions[0].__globals__)
