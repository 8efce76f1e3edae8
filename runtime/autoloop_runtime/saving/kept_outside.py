"""What a run finds outside of its graph, as checkpoints hold it: where generators stand, what variables are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from .file_form import Arrays
from .load_errors import damaged, refused, unsaid

#: no state is nested deeper
_DEPTH = 8


@dataclass(frozen=True)
class Outside:
    """The state of a program that a run may change, besides its values.

    Attributes
    ----------
    values : sequence
        Of its variables.
    states : sequence
        Of the generators that it asks, as they tell them.
    """

    values: Sequence[Any] = ()
    states: Sequence[Any] = ()


def form_of(state: Any, arrays: Arrays) -> Any:
    """Return the state of a generator as JSON; ``SaveError`` if it has no form."""
    kind = type(state)
    if kind is str:
        return state
    if kind is int:
        return ["int", f"{state:x}"]
    if kind is float:
        return ["float", state.hex()]
    if kind is tuple and len(state) > 64 and all(type(one) is int and 0 <= one < 1 << 64 for one in state):
        return ["ints", arrays.add(np.array(state, np.uint64))]
    if kind is tuple:
        return ["tuple", *[form_of(one, arrays) for one in state]]
    if kind is dict:
        return ["dict", *[[form_of(key, arrays), form_of(one, arrays)] for key, one in state.items()]]
    if kind is np.ndarray:
        return ["array", arrays.add(state)]
    if state is None:
        return ["none"]
    raise unsaid(f"the state of a random generator with a {kind.__name__!r} in it")


def state_of(form: Any, arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
    """Return the state that a form says."""
    with refused("where a random generator stood"):
        return _state_of(form, arrays, 0)


def _state_of(form: Any, arrays: Sequence[np.ndarray[Any, Any]], depth: int) -> Any:
    if type(form) is str:
        return form
    if type(form) is not list or not form or depth > _DEPTH:
        raise damaged("it is none")
    name, *rest = form
    if name in ("tuple", "dict"):
        if name == "tuple":
            return tuple([_state_of(one, arrays, depth + 1) for one in rest])
        return {_state_of(key, arrays, depth + 1): _state_of(one, arrays, depth + 1) for key, one in rest}
    if name == "none" and not rest:
        return None
    (one,) = rest
    if name in ("array", "ints"):
        array = arrays[one] if type(one) is int and one >= 0 else None
        if array is None:
            raise damaged("it is none")
        return tuple(array.tolist()) if name == "ints" else array.copy()
    if name == "int":
        return int(one, 16)
    if name == "float":
        return float.fromhex(one)
    raise damaged("it is none")
