"""Fronts of calls with keyword arguments: generated code that puts these where the parameters are, and makes the call
with positional arguments only, for which there are fast paths.

A front takes the calls of one number of positional arguments and one set of names; all others go on as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from .parameters import Parameters

#: takes the arguments of any call
Call = Callable[[tuple[Any, ...], dict[str, Any]], Any]

_FRONT = """
def call(args, kwargs):
    if len(args) == {count} and len(kwargs) == {names}:
        try:
            given = ({placed},)
        except KeyError:
            return otherwise(args, kwargs)
        return placed(given, {{}})
    return otherwise(args, kwargs)
"""


def front(
    f: Callable[..., Any], parameters: Parameters, count: int, names: Sequence[str], placed: Call, otherwise: Call
) -> Call | None:
    """Return what takes calls with some of the parameters named; None where a call without names is another call.

    Parameters
    ----------
    f : callable
        The undecorated function.
    parameters : Parameters
        Of it, or of the method.
    count : int
        How many positional arguments the calls have.
    names : sequence of str
        Of the others.
    placed, otherwise : callable
        What takes those calls, then in canonical form, and what all others, as they are: globals of what is returned,
        so that others may take their place.
    """
    values = parameters.from_place(count, names)
    if values is None or not _is_plainly_called(f, parameters):
        return None
    namespace: dict[str, Any] = {"placed": placed, "otherwise": otherwise}
    parts = ["*args"] if count else []
    for k, (name, default) in enumerate(values):
        if name is not None:
            parts.append(f"kwargs[{name!r}]")
        else:
            namespace[f"d{k}"] = default
            parts.append(f"d{k}")
    exec(_code(_FRONT.format(count=count, names=len(names), placed=", ".join(parts))), namespace)
    made: Call = namespace["call"]
    return made


def _is_plainly_called(f: Callable[..., Any], parameters: Parameters) -> bool:
    """Return whether a function cannot tell a named argument from a positional one: its parameters are those of its own
    code, not those of another function that it says to be."""
    if type(f) is not FunctionType:
        return False
    code = f.__code__
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return False
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return not parameters.starred and own[len(own) - len(parameters.names) :] == parameters.names


@lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    return compile(text, "<autoloop call>", "exec")
