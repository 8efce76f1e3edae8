"""Dicts, sets and deques of which only the run knows what they hold: which keys, which elements, in which order.

No graph carries those. A function that is traced to be called runs as plain Python then, which knows them; elsewhere
they are refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextvars import ContextVar
from enum import Enum
from typing import Any, NoReturn

from autoloop_runtime.base.locations import Line, capture
from autoloop_runtime.ir.graph import current_graph

from ...errors import LeftToPython
from .container_contents import Standing, has_objects, is_instance
from .standins import Maybe, is_growing, opened

#: the world of the function that is traced; None where there is none
WORLD: ContextVar[Any] = ContextVar("autoloop_world", default=None)

#: of a value that is looked for in a dict or set
KEY = "an element of a set, or a key of a dict, is for the run to tell"


def is_followed() -> bool:
    """Return whether a function is being traced whose calls have to change the world each time."""
    graph = current_graph()
    return graph is not None and graph.root.ordered and WORLD.get() is not None


def leave_unknown(what: str, line: Line | None = None) -> None:
    """Let plain Python run the function that is traced, if no tensors are among its arguments.

    With tensors it would give other kinds of values: numbers that they decide come back as tensors.

    Parameters
    ----------
    what : str
        What only the run knows.
    line : Line, optional
        Where that is asked for; the line that calls us if it is not given.

    Raises
    ------
    LeftToPython
    """
    if is_followed() and not WORLD.get().takes_tensors():
        location = (line,) if line is not None else capture()
        raise LeftToPython(what, location[-1] if location else None, of_values=True)


def refuse_unknown(what: str, instead: str) -> NoReturn:
    """Let plain Python run the function if it can, see :func:`leave_unknown`; raise elsewhere.

    Parameters
    ----------
    what : str
        What only the run knows.
    instead : str
        What to do about it.

    Raises
    ------
    LeftToPython
    TypeError
    """
    leave_unknown(f"{what}; {instead}")
    raise TypeError(f"{what}: {instead}")


def leave_held(name: str, element: Any) -> None:
    """Let plain Python run the function if a list or dict that it has found is put into a list that grows.

    A graph has its elements only: what the list of a run would hold is a copy.

    Parameters
    ----------
    name : str
        What messages call the list.
    element : object
        What is put in.

    Raises
    ------
    LeftToPython
    TypeError
        If plain Python cannot.
    """
    if (inner := containers_in(element)) and is_followed() and (found := WORLD.get().holds(inner)) is not None:
        refuse_unknown(
            f"{found!r} is put into the list {name!r}, which grows in a loop or branch on tensors",
            "append a copy of it",
        )


def containers_in(value: Any) -> list[Any]:
    """Return the lists, dicts, sets and deques in a value, itself included."""
    if isinstance(value, list | tuple | deque | dict):
        parts = value.values() if isinstance(value, dict) else value
        inner = [one for part in parts for one in containers_in(part)]
        return inner if isinstance(value, tuple) else [value, *inner]
    return [value] if isinstance(value, set) or is_growing(value) else []


def leave_objects_apart(name: str, one: Any, other: Any) -> None:
    """Let plain Python run the function if a name stands for other objects after a block: no run of a graph has such.

    Parameters
    ----------
    name : str
        What messages call them.
    one, other : object
        Members of an enumeration, frozen sets, or what stands for objects of the user's.
    """
    if any(isinstance(value, Enum | frozenset | Standing) or _is_object(value) for value in (one, other)):
        leave_unknown(f"{name!r} is {_told(one)} or {_told(other)} after a loop or branch on tensors")


def _there(value: Any) -> Any:
    while isinstance(value, Maybe):
        value = opened(value).value
    return value


def _is_object(value: Any) -> bool:
    """Return whether a value is, or may be, an object of a class of the user's."""
    return has_objects(_there(value))


def _told(value: Any) -> str:
    """Return what messages call one of two values."""
    value = _there(value)
    return f"an object of {type(value).__name__!r}" if is_instance(value) else repr(value)


def leave_containers(name: str, one: Any, other: Any) -> None:
    """Let plain Python run the function if containers hold other keys or elements after a block than before it, or
    after one side of a branch than after the other.

    Parameters
    ----------
    name : str
        What messages call the value.
    one, other : object
        The two values of it.
    """
    if (found := _differing(name, one, other)) is not None:
        what, one, other = found
        noun = "elements" if isinstance(one, set | deque) else "keys, or another order of them,"
        leave_unknown(
            f"the {type(one).__name__} {what!r} has other {noun} after a loop or branch on tensors, which may not run"
            f"{_advice(what, one, other)}"
        )


def _first(parts: Iterable[tuple[str, Any, Any]]) -> tuple[str, Any, Any] | None:
    return next((found for part in parts if (found := _differing(*part)) is not None), None)


def _differing(name: str, one: Any, other: Any) -> tuple[str, Any, Any] | None:
    """Return the first containers in two values that hold other keys or elements, after what messages call them."""
    if type(one) is not type(other):
        return None
    found = name, one, other
    if isinstance(one, dict):
        if list(one) != list(other):
            return found
        return _first((f"{name}[{key!r}]", one[key], other[key]) for key in one)
    if isinstance(one, set):
        return None if one == other else found
    if isinstance(one, deque) and len(one) != len(other):
        return found
    if type(one) in (list, tuple, deque) and len(one) == len(other):
        return _first((f"{name}[{k}]", *both) for k, both in enumerate(zip(one, other, strict=True)))
    return None


def check_order(name: str, before: dict[Any, Any], now: dict[Any, Any]) -> None:
    """Let plain Python run the function if the keys of a dict stand in another order after a block.

    Raises
    ------
    TypeError
        If it cannot.
    """
    if before.keys() == now.keys() and list(before) != list(now):
        message = (
            f"the keys of the dict {name!r} stand in another order after a loop or branch on tensors, which may not "
            f"have run: set {name}[key] without deleting the key before"
        )
        leave_unknown(message)
        raise TypeError(message)


def advice_on_keys(name: str, one: Any, other: Any) -> str:
    """Return what messages advise where only one of two branches sets a key of a dict; nothing of anything else."""
    advice = _advice(name, one, other)
    return advice and f"; which keys a dict has must not depend on the run{advice}"


def _advice(name: str, one: Any, other: Any) -> str:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return ""
    for key in [*one, *other]:
        if key not in one or key not in other:
            return f": set {name}[{key!r}] before that, too"
    return ""
