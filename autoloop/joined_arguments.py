"""Calls with arrays that overlap, one of which is written to: ``f(x[:-1], x[1:])``.

Such a call is one of another function, which takes the arrays that the others are parts of, makes the parts, and calls
the first function with them. In its trace they are views of one storage. Where there is no such trace, or a list, dict
or dataclass is given, which that function would have to be given itself, plain Python runs the call.
"""

from __future__ import annotations

import dataclasses
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_layouts import is_writeable
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import default_graphs
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer

from .concrete import CalledPlain
from .errors import user_stacklevel
from .given_arrays import is_same
from .keys import leaf_key
from .left_to_python import refuse_unknown
from .operators.staging.told_arrays import chosen_from
from .parameters import Named
from .state.overlaps import Relations, made_parts
from .state.places import RECEIVER
from .written_arguments import OverlappingArguments

if TYPE_CHECKING:
    from .function import Function
    from .parameters import Parameters

#: functions for calls of so many kinds are kept
_MOST = 64


class _Given(NamedTuple):
    """A result in which there are views that are none of the arguments, be they like one or not (``a[:]``)."""

    result: Any
    views: tuple[tuple[Any, ...], ...]


def called_joined(function: Function, parameters: Parameters, call: tuple[Any, ...], refusal: Exception) -> Any:
    """Return what a call, in canonical form, gives whose arrays overlap.

    Raises
    ------
    CalledPlain
        If one of two arrays is no part, and both are no parts, of one that a trace can follow; or if plain Python has
        to run the function when it is known that they are.
    OverlappingArguments
        The *refusal*, where that is no way.
    """
    leaves, structure = nest.flatten_with_structure(call, expand_composites=True)
    every = list(leaves)
    found = Relations(every, 0, [], [RECEIVER] * len(leaves))  # who gives an array has it in no place
    related = [every[k] for k in {*found.parts, *[whole for whole, _ in found.parts.values()]}]
    refused = not found.parts or function.input_signature is not None or recorders() or _has_containers(call)
    if refused or not all(map(is_writeable, related)):
        _leave_to_python(function, every, refusal)
    passed = [k for k, first in enumerate(found.first) if first == k and k not in found.parts]
    forms = tuple([(k, whole, part) for k, (whole, part) in found.parts.items()])
    key = structure, tuple(map(leaf_key, every)), tuple(found.first), repr(forms)
    joined = function.joined.get(key)
    if joined is None:
        joined = function.derived(_joining(function, parameters, structure, found, len(leaves), passed), False)
        joined.needs_graph, joined.told = function.needs_graph, function.told
        if len(function.joined) < _MOST:
            joined = function.joined.setdefault(key, joined)
    try:
        result = joined(*[every[k] for k in passed])
    except OverlappingArguments:
        _leave_to_python(function, every, refusal)
    result, views = result if type(result) is _Given else (result, ())
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]

    def argument(value: Any, place: tuple[Any, ...]) -> Any:
        alike = None if place in views else next((array for array in arrays if is_same(array, value)), None)
        return value if alike is None else alike

    return _with(argument, result, (), set())


def _has_containers(call: tuple[Any, ...]) -> bool:
    """Return whether something is given that is made anew with its leaves: others would not see what changes it."""
    parts = [*call]
    for one in parts:  # which grows
        if isinstance(one, tuple | Named):
            parts += one.values() if isinstance(one, Named) else one
        elif one is not None and nest.is_nested(one):
            return True
    return False


def _joining(
    function: Function, parameters: Parameters, structure: Any, found: Relations, count: int, passed: list[int]
) -> Callable[..., Any]:  # fmt: skip
    """Return the function of what is *passed* that calls another with the leaves that this makes."""

    def joined(*given: Any) -> Any:
        if not default_graphs():  # plain Python has to run it, with the very arrays of the call
            raise CalledPlain
        leaves: list[Any] = [None] * len(found.first)
        for place, value in zip(passed, given):
            leaves[place] = value
        found.make_parts(leaves)
        made_parts([leaves[k] for k in range(count) if k not in passed])
        args, kwargs = parameters.split(nest.unflatten(structure, leaves[:count]))
        result = function(*args, **kwargs)
        views: list[tuple[Any, ...]] = []

        def note(value: Any, place: tuple[Any, ...]) -> Any:
            if not isinstance(value, ArrayTracer) or any(value is one for one in leaves[:count]):
                return value
            if value.view_of is not None:
                views.append(place)
            elif (storage := kept(value)) is not None and storage.choice is not None:
                _check_choice(value, leaves[:count])
            return value

        _with(note, result, (), set())
        return _Given(result, tuple(views)) if views else result

    return joined


def _check_choice(value: Any, given: Sequence[Any]) -> None:
    """Raise if a result is, for all that is known before the run, an argument or a view of it that may be like it."""
    every = chosen_from(value)
    if any(one.view_of is not None and not any(one is mine for mine in given) for one in every):
        refuse_unknown(
            "whether the function returns one of its arguments, which overlap, or a view of it is for the run to tell",
            "return a copy, or give arrays that do not overlap",
        )


def _leave_to_python(function: Function, leaves: Sequence[Any], refusal: Exception) -> NoReturn:
    """Let plain Python run a call, and warn of that once; raise the *refusal* where a graph is needed."""
    needs_graph = function.needs_graph or function.executor == "native" or function.input_signature is not None
    if needs_graph or recorders() or any(isinstance(one, Tensor) for one in leaves):
        raise refusal from None
    said = f"{function.name} runs as plain Python: {str(refusal).removeprefix(f'{function.name}: ')}"
    if said not in function.told:
        warnings.warn(said, stacklevel=user_stacklevel())
        function.told.add(said)
    raise CalledPlain


def _with(made: Callable[[Any, tuple[Any, ...]], Any], value: Any, place: tuple[Any, ...], seen: set[int]) -> Any:
    """Return a result with what is *made* of each array in it, and of its place; what others may hold, too, stays what
    it is."""
    if isinstance(value, np.ndarray | ArrayTracer):
        return made(value, place)
    if isinstance(value, tuple):
        parts = [_with(made, one, (*place, k), seen) for k, one in enumerate(value)]
        return value if all(map(operator.is_, parts, value)) else nest.like(value, parts)
    if id(value) in seen:
        return value
    seen.add(id(value))
    for k, (key, one) in enumerate(_held_by(value)):
        if (new := _with(made, one, (*place, k), seen)) is one:
            continue
        if isinstance(value, list | dict):
            value[key] = new
        else:
            object.__setattr__(value, key, new)
    return value


def _held_by(value: Any) -> list[tuple[Any, Any]]:
    """Return what lists, dicts and dataclasses hold, and under which index, key or name."""
    if type(value) is list:
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return []
    names = [one.name for one in dataclasses.fields(value)]
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]
