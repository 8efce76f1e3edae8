"""Calls that look at or change more than converted code can follow: found before they are made, and left to Python."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from ...conversion.callables import is_generator_code, is_library_file, is_users_class
from ...conversion.known_effects import (
    effect_inside,
    hides_state,
    holds_for_a_while,
    is_of_the_process,
    is_pythons_own,
    looks_outside,
    shows_progress,
    takes_out,
)
from ..mutation.outside_world import found_outside, is_followed, leave, stays
from .effect_statements import in_staged_block
from .overloads import method_of

_ONCE = "it would be done once, not in every iteration; do it before or behind that"
_NO_DEFAULT = object()


def left_to_python(f: Any) -> Callable[..., Any] | None:
    """Return what takes the place of a call that only plain Python can make again; None if ``f`` may be called."""
    if not is_followed():
        return None
    if f is next:
        return _next
    what = _looked_at(f)
    return None if what is None else lambda *args, **kwargs: leave(what, _ONCE)


def _looked_at(f: Any) -> str | None:
    """Return what a call would do that no graph can do again; None if there is nothing."""
    if looks_outside(f):
        return f"{f.__name__}() is called"
    if shows_progress(f):
        return f"{f.__name__}() shows how far a loop is"
    if (
        isinstance(f, types.FunctionType)
        and is_generator_code(f.__code__)
        and not is_library_file(f.__code__.co_filename)
    ):
        inside = effect_inside(f)
        return None if inside is None else f"the generator {f.__name__!r}, which is not converted, uses {inside!r}"
    if isinstance(f, weakref.ref):
        return "a weak reference is asked" if found_outside(f) is not None else None
    owner = getattr(f, "__self__", None)
    if owner is None or isinstance(owner, type | types.ModuleType):
        return None
    if isinstance(owner, functools._lru_cache_wrapper):
        return f"the cache of {owner.__name__!r} is asked"
    if takes_out(f) and not in_staged_block() and found_outside(owner) is not None:
        return f"{_named(owner)} is asked for an element, {f.__name__}(),"
    return state_of(owner, f"{f.__name__}() is called")


def state_of(value: Any, doing: str) -> str | None:
    """Return what is done with the hidden state of an object that the traced function finds; None if it has none."""
    if not hides_state(value):
        return None
    if not is_pythons_own(type(value)) and is_users_class(type(value)):
        return None
    if found_outside(value) is None and not is_of_the_process(value):
        return None
    return f"{_named(value)} is used: {doing}"


def used(value: Any, doing: str) -> Any:
    """Return an object that is about to be asked or changed, if that is none of plain Python's affairs."""
    if is_followed() and (what := state_of(value, doing)) is not None:
        leave(what, _ONCE)
    return value


def entered(manager: Any) -> Any:
    """Return the manager of a ``with`` statement that is about to be entered."""
    if is_followed() and holds_for_a_while(manager):
        leave(f"{type(manager).__name__} is entered", _ONCE)
    return used(manager, "it is entered")


def _named(value: Any) -> str:
    name = found_outside(value)
    return f"the {type(value).__name__}{f' {name!r}' if name else ''}"


def _next(iterator: Any, default: Any = _NO_DEFAULT) -> Any:
    """Return ``next``, of an iterator that begins anew at each call."""
    if not is_users_class(type(iterator)) or not in_staged_block():
        stays(iterator)
    method = method_of(iterator, "__next__")
    if method is None:
        return next(iterator) if default is _NO_DEFAULT else next(iterator, default)
    if default is _NO_DEFAULT:
        return method()
    try:
        return method()
    except StopIteration:
        return default


def consumed(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of C's that may run over its arguments."""

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for one in (*args, *kwargs.values()):
            stays(one)
        return f(*args, **kwargs)

    return checked
