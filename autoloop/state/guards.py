"""Generated code that reads the places of a trace at each call, and tells whether the trace fits what it finds.

Constants are compared by identity first, which is what they nearly always have; then by type and value. One function of
straight lines does all of it: a guard costs some 30 ns, an array 100.
"""

from __future__ import annotations

import abc
import operator
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CellType, CodeType
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.array_layouts import lying
from autoloop_runtime.ir.number_operators import CARRIERS
from autoloop_runtime.ir.tensor import Tensor, value_of

from .. import state
from ..given_arrays import ForeignArray, is_same
from ..keys import Number, constant_key
from ..operators.mutation.heap_snapshot import contents
from .noted import Guard
from .places import Place, text_of

#: gives the values of a trace's inputs, the arrays among what was found, and owners; None if the trace does not fit
Reader = Callable[[tuple[Any, ...], Any], tuple[list[Any], list[Any], tuple[Any, ...]] | None]


@dataclass(frozen=True, eq=False)
class Input:
    """A place whose value is an input of a graph.

    Attributes
    ----------
    place : Place
    kind : str
        ``array``, ``tensor``, ``scalar`` (NumPy's), ``number``, or ``foreign``: an array of another library.
    known : object
        Dtype, the type of a number, or what a trace depends on of another library's array.
    shape : tuple of int
    layout : object
        How it has to lie in memory; None if that does not matter.
    """

    place: Place
    kind: str
    known: Any
    shape: tuple[int, ...] = ()
    layout: Any = None


def input_at(place: Place, value: Any, exactly: bool = False) -> Input:
    """Return what a place is read as that holds ``value`` now."""
    if isinstance(value, Number):
        return Input(place, "number", value.type)
    if isinstance(value, Tensor):
        return Input(place, "tensor", value.dtype, tuple(value_of(value).shape))
    if isinstance(value, ForeignArray):
        return Input(place, "foreign", state.key_of(value.value))
    if isinstance(value, np.ndarray):
        return Input(place, "array", value.dtype, value.shape, lying(value) if exactly else None)
    return Input(place, "scalar", value.dtype)


def alike(one: Any, known: Any) -> bool:
    """Return whether two constants are of one type and equal, to the last bit."""
    if one is known:
        return True
    if type(one) is not type(known):
        return False
    if isinstance(known, tuple):
        return len(one) == len(known) and all(map(alike, one, known))
    if isinstance(known, (range, slice)):
        return alike((one.start, one.stop, one.step), (known.start, known.stop, known.step))
    if isinstance(known, frozenset):
        return _same_elements(one, known)
    if isinstance(known, (float, complex, np.generic)):
        return repr(one) == repr(known)
    return bool(one == known)


def _same_elements(one: Any, known: Any) -> bool:
    """Return whether a container holds what it held."""
    if isinstance(known, dict):
        return len(one) == len(known) and all(map(alike, one, known)) and all(map(alike, one.values(), known.values()))
    if isinstance(known, bytearray):
        return bool(one == known)
    if isinstance(known, (set, frozenset)):
        return bool(one == known) and set(map(constant_key, one)) == set(map(constant_key, known))
    return len(one) == len(known) and (all(map(operator.is_, one, known)) or all(map(alike, one, known)))


def same_contents(one: Any, known: np.ndarray[Any, Any]) -> bool:
    if type(one) is not np.ndarray or (one.dtype, one.shape) != (known.dtype, known.shape):
        return False
    if known.dtype.hasobject:
        return _same_elements(one.ravel().tolist(), known.ravel().tolist())
    return one.tobytes() == known.tobytes()


def _same_held(one: Any, known: Any) -> bool:
    """Return whether a container of a user's class holds what it held; none of its own methods is called."""
    return _same_elements(contents(one), known)


class _Source:
    """The text of a reader, and the objects that it names."""

    def __init__(self, gives_tensors: bool) -> None:
        self._gives_tensors = gives_tensors
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = {
            "_alike": alike, "_elements": _same_elements, "_contents": same_contents, "_held": _same_held,
            "_array": np.ndarray, "_tensor": Tensor, "_value": value_of, "_lying": lying, "_is_same": is_same,
        }  # fmt: skip
        self._variables: dict[tuple[Any, ...], str] = {}

    def bind(self, value: Any) -> str:
        name = f"k{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def need(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): return None")

    def read(self, place: Place) -> str:
        """Return the variable that holds what stands at a place."""
        if place.kind in ("call", "receiver"):
            return place.kind
        known = self._variables.get(place.path)
        if known is not None:
            return known
        if place.kind == "value":
            self._variables[place.path] = name = self.bind(place.key)
            return name
        if place.kind == "member" and place.parent is not None and place.parent.kind == "value":
            text = f"{self.names_of(place.parent)}[{place.key!r}]"
        else:
            owner = "" if place.parent is None else self.read(place.parent)
            text = text_of(place, owner, self.bind)
        name = f"v{len(self._variables)}"
        self.lines.append(f"{name} = {text}")
        self._variables[place.path] = name
        return name

    def names_of(self, place: Place) -> str:
        """Return the variable that holds what a class has by name, which always is the same one: it takes longer to
        ask the class for it than to look into it."""
        path = (*place.path, "names")
        if path not in self._variables:
            self._variables[path] = self.bind(vars(place.key))
        return self._variables[path]

    def guard(self, one: Guard) -> None:
        if one.kind == "names":
            names, (count, last) = self.names_of(one.place), one.known
            latest = self.bind(self.namespace[names].__reversed__)
            self.need(f"len({names}) == {count} and next({latest}()) is {self.bind(last)}")
        else:
            self.need(_CONDITIONS[one.kind](self, self.read(one.place), one.known))

    def input(self, one: Input) -> str:
        here, known = self.read(one.place), self.bind(one.known)
        if one.kind == "number":
            self.need(f"type({here}) is {known}")
            return f"{self.bind(CARRIERS[one.known].type)}({here})"
        if one.kind == "foreign":
            self.need(f"{self.bind(state.key_of)}({here}) == {known}")
            return here
        if one.kind == "scalar":
            self.need(f"type({here}) is {self.bind(one.known.type)}")
            return here
        if one.kind == "tensor":
            self.need(f"type({here}) is _tensor and {here}.node is None and {here}.dtype == {known}")
            self.lines.append(f"t{here} = _value({here})")
            self.need(f"t{here}.shape == {self.bind(one.shape)}")
            return here if self._gives_tensors else f"t{here}"
        self.need(f"type({here}) is _array and {here}.shape == {self.bind(one.shape)} and {here}.dtype == {known}")
        if one.layout is not None:
            self.need(f"_lying({here}) == {self.bind(one.layout)}")
        return here if one.shape else f"{here}[()]"


def _is(source: _Source, here: str, known: Any) -> str:
    if not isinstance(known, type | CodeType):
        try:
            return f"{here} is {source.bind(weakref.ref(known))}() and {here} is not None"
        except TypeError:  # no weak references to it
            pass
    return f"{here} is {source.bind(known)}"


def _equal(source: _Source, here: str, known: Any) -> str:
    name = source.bind(known)
    return f"{here} is {name} or _alike({here}, {name})"


def _missing(source: _Source, here: str, known: Any) -> str:
    if len(known) > 2:  # the shorter is gone through
        return f"{here}.__dict__.keys().isdisjoint({source.bind(known)})"
    return " and ".join(f"{name!r} not in {here}.__dict__" for name in sorted(known))


def _apart(source: _Source, here: str, places: Any) -> str:
    every = [here, *map(source.read, places)]
    return f"len({{{', '.join(f'id({name})' for name in every)}}}) == {len(every)}"


#: kind of guard -> the condition on what stands there, by the variable that holds it; what a guard knows is another
#: place, or several, or a value
_CONDITIONS: Mapping[str, Callable[[_Source, str, Any], str]] = {
    "same": lambda source, here, place: f"{here} is {source.read(place)}",
    "memory": lambda source, here, place: f"_is_same({here}, {source.read(place)})",
    "apart": _apart,
    "part": lambda source, here, known: f"{source.bind(known[1])}.is_of({source.read(known[0])}, {here})",
    "is": _is,
    "equal": _equal,
    "type": lambda source, here, known: f"type({here}) is {source.bind(known)}",
    "length": lambda source, here, known: f"len({here}) == {known}",
    "keys": lambda source, here, known: f"len({here}) == {len(known)} and _alike(tuple({here}), {source.bind(known)})",
    "elements": lambda source, here, known: f"_elements({here}, {source.bind(known)})",
    "contents": lambda source, here, known: f"_contents({here}, {source.bind(known)})",
    "held": lambda source, here, known: f"_held({here}, {source.bind(known)})",
    "bare": lambda source, here, known: f"not {here}.__dict__",
    "missing": _missing,
    "attributes": lambda source, here, known: f"{here}.__dict__.keys() == {source.bind(known)}",
    "registered": lambda source, here, known: f"{source.bind(abc.get_cache_token)}() == {known!r}",
    "absent": lambda source, here, known: f"{known!r} not in {here}",
    "holds": lambda source, here, known: f"{known!r} in {here}.__dict__",
    "unset": lambda source, here, known: f"not hasattr({here}, {known!r})",
    "empty": lambda source, here, known: f"{here} == {source.bind(CellType())}",  # which asks no contents
}


@lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    """Return the code of a reader: that of functions which ask the world for nothing is one, and of many others."""
    return compile(text, "<autoloop state>", "exec")


def reader(
    guards: Sequence[Guard], inputs: Sequence[Input], owners: Sequence[Place], gives_tensors: bool = False
) -> Reader:
    """Return the reader of a trace.

    Parameters
    ----------
    guards : sequence of Guard
        What has to hold.
    inputs : sequence of Input
        What the graph takes besides the arguments.
    owners : sequence of Place
        What is written to after a run.
    gives_tensors : bool
        Give tensors where the world holds tensors, and not their values.
    """
    source = _Source(gives_tensors)
    for guard in guards:
        source.guard(guard)
    values = [source.input(one) for one in inputs]
    arrays = [source.read(one.place) for one in inputs if one.kind == "array"]
    found = [source.read(place) for place in owners]
    source.lines.append(f"return [{', '.join(values)}], [{', '.join(arrays)}], ({''.join(f'{o}, ' for o in found)})")
    body = "".join(f"        {line}\n" for line in source.lines)
    text = f"def read(call, receiver):\n    try:\n{body}    except _absent:\n        return None\n"
    source.namespace["_absent"] = (KeyError, IndexError, AttributeError, ValueError, TypeError, OverflowError)
    exec(_code(text), source.namespace)
    made: Reader = source.namespace["read"]
    return made
