"""``ops.call(f)``: what converted code calls in place of ``f``."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import TRACES, attribute_of, module_of, origin_of, owner_of
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.locations import is_own_file
from autoloop_runtime.base.parsing import signature_of
from autoloop_runtime.ir.graph import current_graph, theirs_here
from autoloop_runtime.ir.records import CallRecord, record_call
from autoloop_runtime.ir.text_operators import refused_by_numpy
from autoloop_runtime.ir.tracers import ArrayTracer, TextTracer, Tracer

from ... import operators
from ...conversion.callables import (
    calls_what_it_is_given,
    computes_with_values,
    function_parameters,
    is_foreign,
    makes_generator,
)
from ...conversion.known_effects import consumes, has_known_effect
from ...conversion.known_names import OF_NAMESPACES
from ...conversion.pipeline import convert_callee, mutated_parameters_of
from ...errors import programs_own
from ...left_to_python import is_followed, traced_anyway, weigh_trace
from ..mutation import lifted_arrays
from ..mutation.heap_snapshot import is_random
from ..mutation.outside_world import leave
from ..mutation.rebinding import ask_namespace, inside, refuse_untold_inside
from ..staging.maybe_same import are_some, lose_changed, watched
from ..staging.mixed_numbers import settled
from ..staging.staged_blocks import called, in_staged_block
from ..staging.staged_values import full_name, is_staged, stands_for
from ..staging.standins import is_growing
from ..staging.taken_containers import grown_of
from .constructions import constructing
from .door import guarded, is_outside, shielded
from .library_functions import staged_for
from .numpy_settings import setting_inside
from .pythons_words import in_pythons_words
from .stateful_calls import consumed, left_to_python, of_library

#: functions of NumPy's that make its arrays of whatever they are given
_MAKING_ARRAYS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


def call(f: Any) -> Any:
    """Return what to call in place of ``f``.

    The user's functions, methods, partials and callable objects are converted (once); builtins with a meaning
    for tensors are exchanged; everything else is ``f`` itself.
    """
    if isinstance(f, Tracer):
        raise programs_own(TypeError(f"{full_name(stands_for(f))!r} object is not callable"))
    if current_graph() is not None and (setting := setting_inside(f)) is not None:
        return setting
    if isinstance(f, types.MethodType) and owner_of(f) is None:  # a callable object, or a partial, that is bound
        return call(functools.partial(f.__func__, f.__self__))
    owner: Any = f.__self__ if isinstance(f, types.BuiltinMethodType) else None
    if grown_of(owner) is not None:
        owner[0].refuse()
    if _may_draw(f) and (drawn := operators.drawing(f)) is not None:
        return drawn
    made = _called(f)
    if (theirs := theirs_here()) is not None and (isinstance(owner, np.ndarray) or origin_of(f) == "numpy"):
        made = functools.partial(_asked_of_theirs, theirs, f, made)
    return _changing(made) if are_some() else made


def _asked_of_theirs(theirs: Any, f: Any, made: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call what stands for a function of NumPy's, unless that would make NumPy's arrays of another library's; of arrays
    that are computed later it may, where it makes an array of a list, or is told to make one."""
    if any(f is one for one in _MAKING_ARRAYS) or (isinstance(f, type) and issubclass(f, np.generic)):
        return theirs.taken_over(f, args, made(*args, **kwargs))
    if not theirs.are_asked(f, args):
        args = tuple([_array_of_list(theirs, one) for one in args])
    if not isinstance(f, np.ufunc):  # which ask
        args, kwargs = theirs.fetched(f, args, kwargs)
        theirs.check_function(f, args, kwargs)
    return theirs.check_joined(f, made(*args, **kwargs))


def _array_of_list(theirs: Any, value: Any) -> Any:
    """Return what NumPy makes of an argument that is a list of another library's arrays, which it does not ask."""
    if not is_growing(value) and not (isinstance(value, list | tuple) and any(map(theirs.may_hold, value))):
        return value
    with undivided():  # which few programs need
        from .library_calls import by_numpy
    made = by_numpy(np.array)(value)
    return theirs.taken_over(np.array, (value,), made) if theirs.may_hold(made) else value


def _may_draw(f: Any) -> bool:
    """Return whether a callable is for what follows random numbers, which is loaded with the first such."""
    graph = current_graph()
    if graph is None or not graph.root.ordered:
        return False
    if module_of(f) == "numpy.random":
        return True
    owner = owner_of(f)
    return makes_generator(f) if owner is None or isinstance(owner, type) else is_random(owner)


def _changing(f: Any) -> Any:
    """Return ``f``, which may change a container that may be another one."""

    @functools.wraps(f)
    def changing(*args: Any, **kwargs: Any) -> Any:
        watched()
        result = f(*args, **kwargs)
        lose_changed()
        return result

    return changing


def _called(f: Any) -> Any:
    """Return what ``call`` does, of what sets nothing of NumPy's and draws no random numbers."""
    if is_followed() and has_known_effect(f) and (known := operators.known_call(f)) is not None:
        return known
    if f is next and current_graph() is not None:
        return operators.next_of
    if type(f) is functools.partial and (inner := call(f.func)) is not f.func:
        return functools.partial(inner, *f.args, **f.keywords)
    if current_graph() is not None and calls_what_it_is_given(f):
        return functools.partial(_handing_on, f)
    if (left := left_to_python(f)) is not None:
        return left
    staged = staged_for(f)
    if staged is not None:
        return staged if current_graph() is not None else f
    if isinstance(f, types.MethodType) and isinstance(f.__self__, Tracer):
        with undivided():
            from .called_special_methods import special_method

        if (method := special_method(f)) is not None:
            return method
    if names := function_parameters(f):
        return _calling_back(f, names)
    if isinstance(f, types.BuiltinFunctionType):
        if type(f.__self__) is str and f.__name__ == "format":
            return functools.partial(operators.formatted, f.__self__)
        if type(f.__self__) is str and f.__name__ == "join":
            return lambda parts: operators.joined(
                f.__self__, parts if is_growing(parts) else list(operators.elements(parts))
            )
        if type(f.__self__) is str:
            return functools.partial(operators.of_known_text, f)
        if isinstance(f.__self__, dict | set | frozenset) and not (type(f.__self__) is dict and f.__name__ == "get"):
            return in_pythons_words(f, _keyed_method(f))
        if type(f.__self__) is np.ndarray and f.__name__ in _WRITING:
            return functools.partial(_written_by_method, f)
        if type(f.__self__) is np.ndarray:
            return functools.partial(_method_of_array, f)
        if type(f.__self__) is list and f.__name__ in ("insert", "pop", "sort"):
            return in_pythons_words(f, _list_method(f))
        made = _looking(f, of_library(f) if computes_with_values(f) else operators.asking(f))
        return consumed(made) if is_followed() else made
    if isinstance(f, functools._lru_cache_wrapper):
        return _cached(f)
    if (construct := constructing(f, call)) is not None:
        return construct
    converted = convert_callee(f)
    if current_graph() is None:
        return converted
    if converted is f:
        if is_outside(f) or is_foreign(f):
            record_call(current_graph(), CallRecord(_full_name(f), None, False))
        made = guarded(f) if is_outside(f) else shielded(f) if is_foreign(f) else f
        made = _looking(f, of_library(made) if computes_with_values(f) else made)
        return consumed(made) if consumes(f) else made
    weigh_trace()
    if mutated := mutated_parameters_of(f):
        converted = _refusing_tensors(converted, mutated)
    return functools.partial(called, f, converted) if in_staged_block() else converted


def _full_name(f: Any) -> str:
    return ".".join(filter(None, (f.__module__, f.__qualname__)))


def _looking(f: Any, made: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``made``, which stands for a function of a library that may look at all attributes of what it is given."""
    if isinstance(f, types.WrapperDescriptorType | types.MethodWrapperType):
        return functools.partial(_of_object, f, made) if f.__name__ in ("__get__", "__getattribute__") else made
    is_ours = isinstance(f, types.FunctionType) and is_own_file(f.__code__.co_filename)
    is_pythons = isinstance(f, types.BuiltinFunctionType) and f.__module__ in (None, "builtins")
    is_function = isinstance(f, types.FunctionType | types.BuiltinFunctionType) and not (is_ours or is_pythons)
    # a method of SciPy's hands on what it is given, and draws random numbers besides: stats.norm.rvs
    is_method = isinstance(f, types.MethodType) and (is_foreign(f) or origin_of(f) == "scipy")
    if is_function or is_method:
        return functools.wraps(f)(functools.partial(_of_objects, made))
    return made


def _of_objects(made: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    given = (*args, *kwargs.values())
    refuse_untold_inside(*given)
    operators.leave_generators(inside(given), "a library's own code is given a generator of random numbers")
    with operators.unless_drawn():
        result = made(*args, **kwargs)
    # whether it has made one, or has had it, nobody can tell
    operators.leave_generators(nest.flatten(result), "a library's own code gives a generator of random numbers")
    return result


def _of_object(f: Any, made: Callable[..., Any], /, *args: Any) -> Any:
    """Ask an object for its namespace, ``object.__getattribute__(o, '__dict__')``, or for another attribute."""
    name = getattr(owner_of(f), "__name__", "") if f.__name__ == "__get__" else args[-1]
    if name in OF_NAMESPACES:
        for one in (owner_of(f), *args):
            ask_namespace(one)
    return made(*args)


def _calling_back(f: Any, names: tuple[str, ...]) -> Any:
    """Return ``f``, which calls what it is given as ``names``, handed converted functions."""
    positions = [name in names for name in _parameters(f)]
    made = _giving_tensors if isinstance(f, types.FunctionType) else _converted
    traces = getattr(f, TRACES, False)

    @functools.wraps(f)
    def handing_on(*args: Any, **kwargs: Any) -> Any:
        given = [made(v) if takes else v for v, takes in zip(args, positions, strict=False)]
        given += args[len(given) :]
        if f is functools.reduce and len(given) > 1:
            return operators.reduced(*given)
        named = {name: made(value) if name in names else value for name, value in kwargs.items()}
        with traced_anyway() if traces else nullcontext():
            return f(*given, **named)

    return handing_on


@functools.lru_cache(maxsize=64)
def _parameters(f: Any) -> tuple[str, ...]:
    try:
        return tuple(signature_of(f).parameters)
    except ValueError:  # functools.reduce, in versions of Python that do not say
        return ("function",)


def _handing_on(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a library's callable that calls functions: it is given what converted code calls in their place."""
    named = {name: call(value) if isinstance(value, _FUNCTIONS) else value for name, value in kwargs.items()}
    return f(*[call(value) if isinstance(value, _FUNCTIONS) else value for value in args], **named)


def _converted(value: Any) -> Any:
    """Return a function, or one in a list of branches, converted; anything else as it is."""
    if type(value) in (list, tuple):
        return type(value)([_converted(v) for v in value])
    if type(value) is dict:
        return {key: _converted(v) for key, v in value.items()}
    return call(value) if callable(value) else value


def _giving_tensors(value: Any) -> Any:
    """Return what ``_converted`` does, for a function of ours, which makes tensors of what it is given."""
    converted = _converted(value)
    if not callable(converted):
        return converted
    return functools.wraps(converted)(lambda *args, **kwargs: settled(converted(*args, **kwargs)))


def _refusing_tensors(f: Any, mutated: tuple[str, ...]) -> Any:
    """Return ``f``, refusing tensors where it would set elements for its caller, who would not see it."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        function = attribute_of(f, "__func__", f)
        given = args if function is f else (f.__self__, *args)
        code = function.__code__
        values = dict(zip(code.co_varnames[: code.co_argcount], given, strict=False)) | kwargs
        for name in mutated:
            array = values.get(name)
            if is_staged(array) and not isinstance(array, ArrayTracer):  # of which the caller sees what is set
                raise TypeError(
                    f"{function.__name__!r} sets elements of {name!r} and does not return it, but tensors do not "
                    f"change, so its caller would keep the old values: let it return {name!r}, and assign what it "
                    f"returns [AL009]"
                )
        return f(*args, **kwargs)

    return checked


#: methods of dicts and sets whose first argument is a key, and those that take all keys that their arguments hold
_OF_A_KEY = frozenset(("get", "pop", "setdefault", "add", "remove", "discard", "__getitem__", "__contains__"))
_OF_KEYS = frozenset(
    ("update", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint")
    + ("intersection_update", "difference_update", "symmetric_difference_update")
)


def _keyed_method(f: Any) -> Any:
    """Return a method of a dict or a set that refuses keys which only the run knows."""

    def of_a_key(*given: Any, **named: Any) -> Any:
        return f(*map(operators.hashed, given[:1]), *given[1:], **named)

    def of_keys(*holders: Any, **named: Any) -> Any:
        found = [
            one if isinstance(one, dict | set) else set(map(operators.hashed, operators.elements(one)))
            for one in holders
        ]
        return f(*found, **named)

    if f.__name__ in _OF_A_KEY:
        return of_a_key
    return of_keys if f.__name__ in _OF_KEYS and isinstance(f.__self__, set | frozenset) else f


def _method_of_array(method: Any, *args: Any, **kwargs: Any) -> Any:
    if any(isinstance(one, TextTracer) for one in (*args, *kwargs.values())):
        refused_by_numpy()
    return (consumed(operators.asking(method)) if is_followed() else operators.asking(method))(*args, **kwargs)


#: methods of arrays that write to them what they are given, or where that tells
_WRITING = ("fill", "partition", "put")


def _written_by_method(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Do ``array.fill(value)`` and its like; given what only the run knows, the array is one of the graph's."""
    if any(map(is_staged, nest.flatten((args, kwargs)))):
        lifted_arrays.refuse(f.__self__)
    return f(*args, **kwargs)


def _list_method(f: Any) -> Any:
    """Return ``insert`` or ``pop`` of a Python list that takes a tensor as index, or its ``sort``."""
    elements: list[Any] = f.__self__

    def in_order(*, key: Any = None, reverse: Any = False) -> None:
        elements[:] = call(sorted)(elements, key=key, reverse=reverse)

    def at_index(*args: Any) -> Any:
        if not (args and is_staged(args[0])):
            return f(*args)
        if not elements:
            return f(0, *args[1:])
        rows = operators.growing("list", elements, operators.example_of(elements))
        result = getattr(rows, f.__name__)(*args)
        elements[:] = [rows[index] for index in range(len(elements) + (1 if f.__name__ == "insert" else -1))]
        return result

    return in_order if f.__name__ == "sort" else at_index


def _cached(f: Any) -> Any:
    """Return a cached function that keeps its cache for Python values, and is converted and called with tensors.

    What its cache tells of hits and misses only calls of it change, and so plain Python has to make them.
    """
    inner = convert_callee(f.__wrapped__)
    if inner is f.__wrapped__:
        return f

    @functools.wraps(f)
    def cached(*args: Any, **kwargs: Any) -> Any:
        staged = [one for one in (*args, *kwargs.values()) if is_staged(one)]
        if is_followed() and not in_staged_block() and all(isinstance(one, Tracer) for one in staged):
            leave(f"the cache of {f.__name__!r} is asked", "its cache would be asked once")
        if staged:
            return inner(*args, **kwargs)
        return f(*args, **kwargs)

    return cached
