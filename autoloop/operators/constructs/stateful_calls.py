"""Calls that look at or change more than converted code can follow: found before they are made, and left to Python."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import attribute_of, owner_of
from autoloop_runtime.base.locations import is_library_file
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import Tracer

from ...conversion.callables import (
    draws,
    is_converted,
    is_convertible_function,
    is_generator_code,
    is_users_class,
)
from ...conversion.known_effects import (
    MANAGED,
    calls_later,
    effect_inside,
    factories_of,
    has_effect,
    hides_state,
    holds_for_a_while,
    is_made_by,
    is_of_the_process,
    is_pythons_own,
    looks_outside,
    shows_progress,
    takes_out,
)
from ...errors import passes_handlers
from ...left_to_python import is_followed, leave_unknown
from ..mutation.outside_world import found_outside, leave, stays
from ..mutation.what_objects_are import set_by_name, sets_attributes
from ..staging.staged_blocks import in_staged_block
from ..staging.standins import Rows, StandIn
from ..staging.users_methods import method_of
from .numpy_settings import is_found_setting

_ONCE = "it would be done once, not in every iteration; do it before or behind that"
_NO_DEFAULT = object()


def left_to_python(f: Any) -> Callable[..., Any] | None:
    """Return what takes the place of a call that only plain Python can make again; None if ``f`` may be called."""
    if not is_followed():
        return None
    if isinstance(f, functools.partial):
        return None if (inner := left_to_python(f.func)) is None else functools.partial(inner, *f.args, **f.keywords)
    if f is next:
        return advanced
    if calls_later(f):
        return functools.partial(_calling_later, f)
    if sets_attributes(f):
        return functools.partial(set_by_name, f)
    what = _looked_at(f)
    return None if what is None else lambda *args, **kwargs: leave(what, _ONCE)


def _calling_later(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Call ``iter`` or ``defaultdict``, whose result calls a function of the user's that is not converted."""
    called = args[0] if args and (f is not iter or len(args) == 2) else None
    told = told_of_effect(called)
    if told is None and called is not None and (has_effect(called) or draws(called)):
        told = f"{getattr(called, '__name__', called)!r} is called later"
    if told is not None:
        leave(told, _ONCE)
    return f(*args, **kwargs)


def _looked_at(f: Any) -> str | None:
    """Return what a call would do that no graph can do again; None if there is nothing."""
    if looks_outside(f):
        return f"{f.__name__}() is called"
    if shows_progress(f):
        return f"{f.__name__}() shows how far a loop is"
    if is_made_by(f, MANAGED):
        return f"{f.__name__}() is called inside a manager that it was decorated with"
    if (inside := _unconverted(f)) is not None:
        return inside
    if isinstance(f, weakref.ref):
        return "a weak reference is asked" if found_outside(f) is not None else None
    owner = owner_of(f)
    if owner is None or isinstance(owner, type | types.ModuleType):
        return None
    if isinstance(owner, functools._lru_cache_wrapper):
        return f"the cache of {owner.__name__!r} is asked"
    if in_staged_block() and not _QUEUES.isdisjoint(kind.__module__ for kind in type(owner).__mro__):
        return f"{_named(owner)} is used in a loop or branch: {f.__name__}() is called"
    # a block puts back what was taken out: a list is then as it was, but a set may give another element next
    is_put_back = in_staged_block() and not isinstance(owner, set)
    if takes_out(f) and not is_put_back and found_outside(owner) is not None:
        return f"{_named(owner)} is asked for an element, {f.__name__}(),"
    return state_of(owner, f"{f.__name__}() is called")


#: the modules of queues: what is put into one while a block is traced is there once, however often the block runs
_QUEUES = frozenset(("queue", "_queue", "asyncio.queues", "multiprocessing.queues"))


def _unconverted(f: Any) -> str | None:
    """Return what effect a generator, or the making of an object, has, whose code is not converted."""
    if isinstance(f, type):
        made, kind = vars(f).get("__init__"), f
        for factory in factories_of(f):
            if (told := told_of_effect(factory)) is not None:
                return told
    else:
        made, kind = attribute_of(f, "__func__", f), type(owner_of(f))
        if not (isinstance(made, types.FunctionType) and _runs_as_it_is(made)):
            return None
    return _told(made, kind)


def _runs_as_it_is(function: types.FunctionType) -> bool:
    """Return whether a function is a generator that is not converted."""
    return is_generator_code(function.__code__) and not is_convertible_function(function)


def told_of_effect(f: Any) -> str | None:
    """Return what effect a function of the user's has, one inside partials too, that runs as it is, in words."""
    while isinstance(f, functools.partial):
        f = f.func
    return _told(attribute_of(f, "__func__", f), type(owner_of(f)))


def _told(function: Any, kind: type) -> str | None:
    """Return what effect a function of the user's has that runs as it is, in words."""
    if not isinstance(function, types.FunctionType) or is_library_file(function.__code__.co_filename):
        return None
    if is_converted(function.__code__):
        return None
    inside = effect_inside(function, kind)
    return None if inside is None else f"{function.__qualname__!r}, which is not converted, uses {inside!r}"


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
    if is_followed() and (holds_for_a_while(manager) or is_found_setting(manager)):
        leave(f"{type(manager).__name__} is entered", _ONCE)
    if is_followed():
        kind, generator = type(manager), getattr(manager, "func", None)  # of ``contextlib.contextmanager``
        for one in (getattr(kind, "__enter__", None), getattr(kind, "__exit__", None), generator):
            if (told := _told(one, kind)) is not None:
                leave(told, _ONCE)
        if generator is not None and found_outside(manager) is not None:
            leave(f"{_named(manager)} is entered", _ONCE)
    return used(manager, "it is entered")


def _named(value: Any) -> str:
    name = found_outside(value)
    return f"the {type(value).__name__}{f' {name!r}' if name else ''}"


def advanced(iterator: Any, default: Any = _NO_DEFAULT) -> Any:
    """Return ``next``, of an iterator that begins anew at each call."""
    if not is_followed():
        return next(iterator) if default is _NO_DEFAULT else next(iterator, default)
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


def iterated(iterable: Any) -> Any:
    """Return what a loop is about to run over."""
    if is_followed():
        kind = type(iterable)
        method = getattr(kind, "__iter__", None)
        made = isinstance(method, types.FunctionType) and _runs_as_it_is(method)
        if made and (told := _told(method, kind)) is not None:
            leave(told, _ONCE)
    return stays(iterable)


def consumed(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of C's that may run over its arguments."""

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        for one in given:
            stays(one)
        try:
            return f(*args, **kwargs)
        except TypeError:
            if (grown := next((one for one in given if isinstance(one, Rows)), None)) is not None:
                grown.refuse_leaving("code that is not converted would get")
            raise

    return checked


def of_library(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return what is called in place of ``f``, which calls a function or class of a library: it computes with values.

    What it raises of something that stands for them it might not raise of them: no handler of the user's gets to see
    that, and plain Python runs the function if it can. So it does where it tells a constant of them, as of what
    ``type(x)`` is: SciPy's alone know what stands for an array.
    """

    def call_library(*args: Any, **kwargs: Any) -> Any:
        try:
            result = f(*args, **kwargs)
        except Exception as error:
            if any(map(_knows_no_value, nest.flatten((args, kwargs)))):
                passes_handlers(error)
                _leave_to_library(f)
            raise
        is_given = any(isinstance(one, Tracer) for one in nest.flatten((args, kwargs)))
        if is_given and _is_told(result) and not str(f.__module__).startswith("scipy"):
            _leave_to_library(f)
        return result

    return call_library


def _leave_to_library(f: Callable[..., Any]) -> None:
    name = f"{f.__module__}.{f.__qualname__}"
    leave_unknown(f"{name!r} is a library's own, which computes with values, and is given one of the run")


def _is_told(result: Any) -> bool:
    """Return whether all of a result are constants, which what it was made of must have told."""
    leaves = nest.flatten(result)
    return bool(leaves) and all(isinstance(one, _CONSTANTS) for one in leaves)


_CONSTANTS = (bool, int, float, complex, str, bytes, types.ModuleType, type, np.dtype)


def _knows_no_value(given: Any) -> bool:
    """Return whether an argument is what only the run knows, or may give that when it is called."""
    return isinstance(given, Tensor | StandIn | types.FunctionType | types.MethodType)
