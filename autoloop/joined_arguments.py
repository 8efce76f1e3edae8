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
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_layouts import is_writeable
from autoloop_runtime.ir.graph import default_graphs
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.tensor import Tensor

from .concrete import CalledPlain
from .errors import user_stacklevel
from .given_arrays import is_same
from .keys import leaf_key
from .parameters import Named
from .state.overlaps import Relations, made_parts
from .state.places import RECEIVER
from .written_arguments import OverlappingArguments

if TYPE_CHECKING:
    from .function import Function
    from .parameters import Parameters

#: functions for calls of so many kinds are kept
_MOST = 64


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
    return _with_arguments(result, [leaf for leaf in leaves if isinstance(leaf, np.ndarray)], set())


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
        return function(*args, **kwargs)

    return joined


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


def _with_arguments(value: Any, arrays: list[np.ndarray[Any, Any]], seen: set[int]) -> Any:
    """Return a result, with the very arguments in it where it has arrays like them; what others may hold, too, stays
    what it is."""
    if isinstance(value, np.ndarray):
        return next((array for array in arrays if is_same(array, value)), value)
    if isinstance(value, tuple):
        parts = [_with_arguments(one, arrays, seen) for one in value]
        return value if all(map(operator.is_, parts, value)) else nest.like(value, parts)
    if id(value) in seen:
        return value
    seen.add(id(value))
    if type(value) is list:
        value[:] = [_with_arguments(one, arrays, seen) for one in value]
    elif isinstance(value, dict):
        value.update({key: _with_arguments(one, arrays, seen) for key, one in value.items()})
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for name in [one.name for one in dataclasses.fields(value) if hasattr(value, one.name)]:
            object.__setattr__(value, name, _with_arguments(getattr(value, name), arrays, seen))
    return value
