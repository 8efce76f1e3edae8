"""What functions of libraries keep in variables of their own, as those that count the calls of what they are given.

No place leads there, and no run does it again: plain Python runs what changes it, and a trace leaves none of it behind.
"""

from __future__ import annotations

import types
from typing import Any

from autoloop_runtime.base.locations import is_library_file, is_own_file

from ..conversion.cells import value_in
from ..operators.mutation.heap_snapshot import Snapshot, contents
from ..operators.mutation.held_before import has_changed, is_cache, restore
from .foreign_attributes import given_attributes
from .noted import Reached
from .unchanging import DICTS, LISTS, PLAIN

#: so many functions inside one another are looked at
_MOST_STEPS = 4


def note_closure(reached: Reached, name: str, function: types.FunctionType, steps: int = _MOST_STEPS) -> None:
    """Note what a function of a library is closed over, and its attributes, and functions of libraries in there."""
    if is_own_file(function.__code__.co_filename) or not is_library_file(function.__code__.co_filename):
        return
    held = vars(function)
    reached.closures[id(function)] = None, function, Snapshot(held, held.copy(), name, None)
    for cell in function.__closure__ or ():
        if id(cell) not in reached.closures:
            value = value_in(cell)
            is_held = type(value) in (*LISTS, *DICTS, set, bytearray)
            inside = Snapshot(value, contents(value) if is_held else None, name, None)
            reached.closures[id(cell)] = cell, value, inside
            if isinstance(value, types.FunctionType) and steps:
                note_closure(reached, name, value, steps - 1)


def left_in_libraries(reached: Reached) -> list[str]:
    """Let objects and functions of libraries be as they were before a trace; say what it has given or changed."""
    said, changed = given_attributes(reached), set()
    for cell, value, snapshot in reached.closures.values():
        if cell is not None and value_in(cell) is not value:
            cell.cell_contents = value
            changed.add(snapshot.name)
        if snapshot.old is not None and has_changed(snapshot) and not is_cache(snapshot, _is_of_run):
            restore([snapshot], ())
            changed.add(snapshot.name)
    return [*said, *(f"{name!r}, a function of a library, changes what it keeps" for name in sorted(changed))]


def _is_of_run(value: Any) -> bool:
    return type(value) not in PLAIN and not callable(value)
