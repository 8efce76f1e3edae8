"""What a trace depends on, and why there are several, with what to do about it, for ``explain``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.analysis.inside import count_nodes
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import Protocol
from autoloop_runtime.base.parsing import signature_of
from autoloop_runtime.ir.graph import Graph

from .concrete import ConcreteFunction
from .findings import NOTHING, Finding
from .keys import OBJECTS, SCALARS, Number, describe_key, describe_trace
from .parameters import Form
from .state.noted import Guarded, guards_of

if TYPE_CHECKING:
    from .known_traces import KnownTraces

_ANOTHER = "another value is another trace"
_OF_NUMBER = "nothing if it stays; else pass {0}, an input: one trace serves all values"
_OF_PLACE = (
    "nothing if it stays; else keep an array there, {0} = np.array({1}), which each call reads, or pass an argument"
)
_OF_OBJECT = "nothing; another object there, or other code, is traced again"
_OF_ELEMENTS = "nothing if it stays; else keep what changes in an array, which each call reads"
_MOST_NAMED, _LONGEST = 6, 60
_WIDTHS: list[type] = [bool, int, float, complex]


class Traced(Protocol):
    """What is known of a decorated function that is traced."""

    name: str
    python_function: Callable[..., Any]
    known_traces: KnownTraces


# -- what a trace depends on ----------------------------------------------------------------------------------


def guards_on_arguments(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], key: Any) -> list[Finding]:
    """Return which arguments of a call are constants of its trace, which was made for ``key``."""
    leaves = list(_leaves(f, args, kwargs))
    kinds = key[1] if isinstance(key, tuple) and len(key) == 2 and len(key[1]) == len(leaves) else [None] * len(leaves)
    return [
        _of_argument(name, value)
        for (name, value), kind in zip(leaves, kinds)
        if isinstance(value, SCALARS) and not (isinstance(kind, tuple) and kind[0] is Number)
    ]


def _of_argument(name: str, value: Any) -> Finding:
    what = f"{name} is {_text(value)}"
    if isinstance(value, (bool, str, bytes, type(None))):
        return Finding(what, f"an argument of this type is a constant of the trace: {_ANOTHER}", NOTHING)
    why = f"a Python number among the arguments is a constant of the trace: {_ANOTHER}"
    return Finding(what, why, _OF_NUMBER.format(_as_scalar(name, value)))


def _as_scalar(name: str, value: complex) -> str:
    return f"np.{np.asarray(value).dtype}({name})"


def _leaves(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the leaves of a call with readable names."""
    try:
        bound = signature_of(f).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        leaves, structure = nest.flatten_with_structure(value)
        for path, leaf in zip(structure.paths(), leaves):
            yield name + "".join(f"[{part!r}]" for part in path), leaf


def guards_on_world(graph: Graph) -> list[Finding]:
    """Return what a trace needs to find outside its arguments: values, each by itself, and what seldom changes."""
    found, objects = [], []
    for one in dict.fromkeys(guards_of(graph)):
        if one.is_plain and "__" not in one.name:
            why = f"a constant of the trace, for it is no array: {_ANOTHER}"
            found.append(Finding(f"{one.name} is {_text(one.value)}", why, _advice_on_place(one)))
        elif one.kind in ("elements", "keys", "length") and "__" not in one.name:
            what = {"elements": "the elements of", "keys": "the keys of", "length": "the length of"}[one.kind]
            held = f" is {one.value}" if one.kind == "length" else ""
            found.append(
                Finding(f"{what} {one.name}{held}", "known while tracing: others are another trace", _OF_ELEMENTS)
            )
        elif not _is_ours(one.name) and one.name not in objects:
            objects.append(one.name)
    if objects:
        more = f" and {len(objects) - _MOST_NAMED} more" if len(objects) > _MOST_NAMED else ""
        what = f"functions, classes, modules and other objects: {', '.join(objects[:_MOST_NAMED])}{more}"
        found.append(Finding(what, "the trace is made of what they are and do", _OF_OBJECT))
    return found


def _is_ours(name: str) -> bool:
    """Return whether a place is no matter of the user's: what a function holds, or this library keeps with it."""
    return "__" in name.replace(".__init__", "").replace(".__call__", "") or name.endswith(".python_function")


def _text(value: Any) -> str:
    text = str(value) if isinstance(value, np.generic) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _advice_on_place(one: Guarded) -> str:
    if isinstance(one.value, (bool, str, bytes, type(None), np.bool_)):
        return NOTHING
    if one.name.endswith("]"):
        return _OF_ELEMENTS
    return _OF_PLACE.format(one.name, _text(one.value))


# -- why there are several ------------------------------------------------------------------------------------


def retraces(
    keys: Sequence[Any], f: Callable[..., Any], variants: Callable[[Any], Sequence[ConcreteFunction]]
) -> list[Finding]:
    """Return why each trace but the first was made.

    Parameters
    ----------
    keys : sequence
        What each trace was made for.
    f : callable
        The undecorated function, of which the arguments have their names.
    variants : callable
        Gives the traces of one key, the newest last.
    """
    return [retrace(keys, k, f, variants) for k in range(1, len(keys))]


def retrace(
    keys: Sequence[Any], k: int, f: Callable[..., Any], variants: Callable[[Any], Sequence[ConcreteFunction]]
) -> Finding:
    """Return why the trace at ``k`` was made, see ``retraces``."""
    key, earlier = keys[k], keys[:k]
    what = f"trace {k + 1}, for {describe_trace(key)}"
    if key in earlier:
        return Finding(what, *_of_world(variants(key), list(earlier).count(key), list(keys).count(key)))
    return Finding(what, *_of_arguments(earlier, key, f))


def traces_of_key(function: Traced, key: Any) -> list[ConcreteFunction]:
    """Return the traces of one key of a decorated function, the newest last."""
    own, shared = function.known_traces.variants(key)
    return [one.concrete for one in reversed(own or shared)]


def said_of_trace(function: Traced, keys: Sequence[Any], made: ConcreteFunction, seconds: float) -> str:
    """Return what is told of the trace that was made for the last of some keys, and why there was to be another."""
    told = f"{function.name}: trace {len(keys)}, for {describe_trace(keys[-1])}, made in {seconds:.3g} s"
    told += f" ({count_nodes(made.graph)} nodes)"
    if len(keys) == 1:
        return told
    why = retrace(keys, len(keys) - 1, function.python_function, lambda key: traces_of_key(function, key)).why
    return f"{told}; there is another because {why}"


def _of_arguments(earlier: Sequence[Any], key: Any, f: Callable[..., Any]) -> tuple[str, str]:
    """Return why a trace was made where those before do not do, and what to do about it."""
    if not isinstance(key, tuple) or len(key) != 2 or not isinstance(key[1], tuple):
        return "arrays, NumPy scalars and tensors have a trace each", "pass always the one or the other"
    alike = [one for one in earlier if isinstance(one, tuple) and len(one) == 2 and one[0] == key[0]]
    if not alike:
        why = "the arguments have another structure: other keys, lengths or types of what holds them"
        return why, "pass them in the same structure each time; one array instead of a list of numbers is one kind"
    best = min(reversed(alike), key=lambda one: sum(map(_distance, one[1], key[1])))
    names = _names_of_leaves(key[0], f)
    said, advice = [], []
    for k, (before, now) in enumerate(zip(best[1], key[1])):
        if before != now:
            name = names[k] if k < len(names) else f"argument {k}"
            said.append(_said(name, before, now))
            advice.append(_advice_on_leaf(name, before, now))
    return "; ".join(said), "; ".join(dict.fromkeys(advice))


def _distance(before: Any, now: Any) -> int:
    """Return how much two keys of an argument differ."""
    if before == now:
        return 0
    one, other = _Kind(before), _Kind(now)
    if one.is_array and other.is_array:
        pairs = ((one.dtype, other.dtype), (len(one.shape), len(other.shape)), (one.shape, other.shape))
        return 1 + sum([bool(a != b) for a, b in (*pairs, (one.of, other.of))])
    return 2 if one.python is other.python else 6 if one.is_array or other.is_array else 3


def _names_of_leaves(structure: Any, f: Callable[..., Any]) -> list[str]:
    """Return readable names of the leaves of a call in canonical form."""
    parameters = list(signature_of(f).parameters.values())
    names = [one.name for one in parameters]
    starred = next((k for k, one in enumerate(parameters) if one.kind is one.VAR_POSITIONAL), None)
    structure = structure.structure if isinstance(structure, Form) else structure
    made = []
    for first, *rest in structure.paths():
        is_named = isinstance(first, int) and first < len(names) and (starred is None or first < starred)
        name = names[first] if is_named else f"argument {first}"
        made.append(name + "".join(f"[{part!r}]" for part in rest))
    return made


def _advice_on_leaf(name: str, before: Any, now: Any) -> str:
    one, other = _Kind(before), _Kind(now)
    if Number in (one.python, other.python):
        return NOTHING
    if one.is_array and other.is_array:
        return _advice_on_arrays(name, one, other)
    if one.is_array or other.is_array:
        return f"pass {name} in one way each time, as an array or NumPy scalar where one trace is to serve all values"
    if one.python is other.python and one.python in (int, float, complex):
        return _OF_NUMBER.format(_as_scalar(name, one.python()))
    if one.python in _WIDTHS and other.python in _WIDTHS:
        return f"pass {name} as one type, {max(one.python, other.python, key=_WIDTHS.index).__name__}({name})"
    if isinstance(now, OBJECTS) or isinstance(before, OBJECTS):
        return f"keep one object for {name}, and change what it holds: it is told from others by which object it is"
    return NOTHING


def _said(name: str, before: Any, now: Any) -> str:
    if (kind := _Kind(now)).is_array and None in kind.shape:
        return f"{name} had other extents in some traces, and this one is made for all"
    if kind.python is Number:
        return f"{name} had other values in some traces, and this one is made for all"
    return f"{name} was {describe_key(before)}, is {describe_key(now)}"


def _advice_on_arrays(name: str, one: _Kind, other: _Kind) -> str:
    if None in other.shape:
        return NOTHING
    if one.dtype != other.dtype:
        return f"pass {name} with one dtype, {name}.astype(np.{np.result_type(one.dtype, other.dtype)})"
    if one.shape == other.shape:
        return f"pass {name} always as an array, or always as a tensor"
    if len(one.shape) == len(other.shape):
        extents = ", ".join("None" if a != b else str(a) for a, b in zip(one.shape, other.shape))
        return (
            f"nothing where there are few shapes; else input_signature=[...] with TensorSpec([{extents}], "
            f"{one.dtype}) for {name}"
        )
    return f"pass {name} with one number of axes"


class _Kind:
    """What a key says of one argument."""

    def __init__(self, key: Any) -> None:
        self.is_array = isinstance(key, tuple) and isinstance(key[0], np.dtype)
        self.dtype: Any = key[0] if self.is_array else None
        self.shape: tuple[int | None, ...] = tuple(key[1]) if self.is_array else ()
        self.of = key[2:] if self.is_array else ()
        self.python: Any = key[0] if isinstance(key, tuple) and isinstance(key[0], type) else None


def _of_world(made: Sequence[ConcreteFunction], place: int, count: int) -> tuple[str, str]:
    """Return why a trace was made for arguments of which there was one: the ``place``-th of ``count``."""
    if len(made) != count:
        return "what the function finds outside its arguments was different", _OF_PLACE.format("x", "x")
    before, now = [{(one.name, one.kind): one for one in guards_of(made[k].graph)} for k in (place - 1, place)]
    said, advice = [], []
    for key, one in now.items():
        was = before.get(key)
        if was is None or (was.value == one.value and type(was.value) is type(one.value)):
            continue
        if one.is_plain and was.is_plain:
            said.append(f"{one.name} was {_text(was.value)}, is {_text(one.value)}")
            advice.append(_advice_on_place(one))
        elif one.kind == "length":
            said.append(f"{one.name} had {was.value} elements, has {one.value}")
            advice.append(_OF_ELEMENTS)
        else:
            said.append(f"another object stands at {one.name}")
            advice.append("nothing if that is seldom; an object that stays, and changes, is not traced again for that")
    if not said:
        return "what the function finds outside its arguments was different, or lay otherwise in memory", NOTHING
    return "; ".join(said[:_MOST_NAMED]), "; ".join(dict.fromkeys(advice[:_MOST_NAMED]))
