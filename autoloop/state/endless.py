"""What a function finds otherwise at each call, so that each would be traced: it is left to plain Python then.

That is a container that grows and is looked into, or a number that the function itself changes and of which the trace
needs the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..left_to_python import LeftToPython
from .noted import Guard, Reached

if TYPE_CHECKING:
    from .stateful import Variant

#: so many lengths of one container, or values of one number, are traced
MOST_LENGTHS = 8
MOST_NUMBERS = 12


def lengths_of(guards: Sequence[Guard]) -> dict[Any, int]:
    """Return how long the containers are that are guarded."""
    found = {}
    for one in guards:
        if one.kind == "length":
            found[one.place.path] = int(one.known)
        elif one.kind == "names":
            found[one.place.path] = int(one.known[0])
        elif one.kind in ("keys", "elements", "held"):
            found[one.place.path] = len(one.known)
    return found


def check_ends(known: Sequence[Variant], walk: Callable[[], Reached]) -> None:
    """Raise ``LeftToPython`` if there is no end of the traces of one call.

    Parameters
    ----------
    known : sequence of Variant
        Those that there are.
    walk : callable
        Gives what is in reach now.
    """
    if len(known) < MOST_LENGTHS:
        return
    reached = walk()
    for guard in reached.guards:
        length = lengths_of([guard]).get(guard.place.path)
        if length is not None:
            lengths = {one.lengths.get(guard.place.path) for one in known} - {None, length}
            if len(lengths) >= MOST_LENGTHS:
                raise _left(f"{guard.place.name!r}, which it looks into, has another length at each call")
    for place, value in reached.numbers:
        path = place.path
        values = {repr(one.numbers[path]) for one in known if path in one.numbers and path in one.changed}
        if len(values - {repr(value)}) >= MOST_NUMBERS:
            raise _left(f"{place.name!r}, of which it needs the value, is another number at each call")


def _left(reason: str) -> LeftToPython:
    return LeftToPython(reason, is_endless=True, instead="keep it in an array, which each call reads, or pass it")
