"""What Python's own functions say of wrong arguments: they are asked where others take their place in a trace."""

from __future__ import annotations

import contextlib
import functools
import math
import types
from collections.abc import Callable
from typing import Any

from autoloop_runtime.base.parsing import signature_of
from autoloop_runtime.ir.tracers import TextTracer, ask_python

from ... import operators
from ...errors import mark_programs_own

_GIVEN: Any = object()
#: the parameters of functions that do not say them, in some version of Python
_PARAMETERS: dict[Any, Callable[..., Any]] = {
    bool: lambda x=_GIVEN, /: None,
    dict: lambda mapping=_GIVEN, /, **more: None,
    dir: lambda o=_GIVEN, /: None,
    filter: lambda function, iterable, /: None,
    frozenset: lambda iterable=_GIVEN, /: None,
    getattr: lambda o, name, default=_GIVEN, /: None,
    int: lambda x=_GIVEN, /, base=10: None,
    map: lambda function, iterable, /, *iterables, strict=False: None,
    max: lambda first, /, *others, key=None, default=_GIVEN: None,
    min: lambda first, /, *others, key=None, default=_GIVEN: None,
    next: lambda iterator, default=_GIVEN, /: None,
    range: lambda start, stop=_GIVEN, step=_GIVEN, /: None,
    set: lambda iterable=_GIVEN, /: None,
    str: lambda object=_GIVEN, encoding=_GIVEN, errors=_GIVEN: None,
    type: lambda name, bases=_GIVEN, namespace=_GIVEN, /: None,
    vars: lambda o=_GIVEN, /: None,
    zip: lambda *iterables, strict=False: None,
    math.hypot: lambda *coordinates: None,
    math.log: lambda x, base=_GIVEN, /: None,
}


def _parameters_of(plain: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return what can be called as a function can, and does nothing; ``None`` where nobody says how that is.

    ``inspect`` compiles patterns of all of Python's tokens before it reads the text in which a function written in C
    says it, which takes a tenth of a whole start. Nearly all such texts are the parameters of a ``lambda``.
    """
    if (known := _PARAMETERS.get(plain)) is not None:
        return known
    text = getattr(plain, "__text_signature__", None)
    if isinstance(plain, types.BuiltinFunctionType | type) and isinstance(text, str):
        first, _, others = text[1:-1].partition(", ")  # a module, or an object whose method it is, comes first
        taken = others.removeprefix("/").removeprefix(", ") if first in ("$module", "$self") else text[1:-1]
        with contextlib.suppress(SyntaxError, NameError):  # a default that only C has, or a name of its module
            made: Callable[..., Any] = eval(f"(lambda {taken}: None)")
            return made
    with contextlib.suppress(ValueError):  # it does not say
        return signature_of(plain).bind
    return None


@functools.cache
def _takes(plain: Callable[..., Any], count: int, names: tuple[str, ...]) -> bool:
    """Return whether a function has parameters for so many arguments by place, and these by name."""
    parameters = _parameters_of(plain)
    try:
        if parameters is not None:
            parameters(*[None] * count, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def _say(plain: Callable[..., Any], count: int, names: tuple[str, ...]) -> None:
    """Let a function say that it has no such parameters, which it does before it looks at values, but to run over."""
    try:
        plain(*[()] * count, **dict.fromkeys(names, ()))
    except TypeError as error:
        mark_programs_own(error)
        raise


def in_pythons_words(plain: Callable[..., Any], staged: Callable[..., Any]) -> Callable[..., Any]:
    """Return what takes the place of one of Python's functions, and of wrong arguments raises what that raises."""

    @functools.wraps(staged)
    def checked(*args: Any, **kwargs: Any) -> Any:
        of_text = plain.__module__ == "math" and any(isinstance(one, TextTracer) for one in args)
        if not _takes(plain, len(args), tuple(kwargs)):
            _say(plain, len(args), tuple(kwargs))
        elif of_text:
            operators.tried(plain, *args, **kwargs)
        try:
            return staged(*args, **kwargs)
        except Exception as error:
            if plain is not print:  # which does more than to answer
                ask_python(plain, args, kwargs, error)
            raise

    return checked
