"""The way from a function to its converted twin: the cache, the front door.

The rooms that convert are loaded when something is converted that no process before has kept.
"""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
from autoloop_runtime.base.callbacks import attribute_of
from autoloop_runtime.base.collector import NoCollection
from autoloop_runtime.base.forks import Kind, undivided

from ..errors import ConversionError, SourceNotFoundError, user_stacklevel, user_traceback
from .callables import (
    DO_NOT_CONVERT,
    is_converted,
    is_convertible_function,
    is_generator_code,
    is_marked,
)
from .kept_conversions import Conversion, KeptConversion
from .loading import instantiate

P = ParamSpec("P")
R = TypeVar("R")
#: what takes no mark, and needs none: it is called as it is
_COMPILED = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, np.ufunc)


def _converted(function: types.FunctionType) -> Conversion:
    """Return the conversion of a function, which a process before may have made."""
    kept = KeptConversion(function)
    made = kept.load()
    if made is None:
        with undivided(), NoCollection():
            from .converting import convert_code

        made = convert_code(function)
        kept.store(made)
    made.meanings.settle()
    return made


_KIND = Kind("conversion", "a conversion is added when it is there; one that was being made is made again")


class _Cache:
    """Conversions by code object, converted functions by function object.

    Code objects compare equal across files, so both are told apart by identity; entries go away with the
    objects they belong to.
    """

    def __init__(self) -> None:
        # Held while a conversion is made or an entry is added, by any thread; re-entrant, because reading
        # a source file may run the import hooks of user code. Reading an entry needs no lock: a single
        # dictionary lookup either finds a complete entry or none.
        self._lock = _KIND.lock()
        self._codes: dict[int, tuple[weakref.ref[Any], Conversion | None]] = {}
        self._functions: dict[int, tuple[weakref.ref[Any], types.CodeType, types.FunctionType]] = {}

    def function(self, function: types.FunctionType) -> types.FunctionType:
        """Return the converted twin of a function; the function itself if it has no source."""
        entry = self._functions.get(id(function))
        if (
            entry is not None
            and entry[0]() is function
            and entry[1] is function.__code__
            and entry[2].__defaults__ is function.__defaults__
            and entry[2].__kwdefaults__ is function.__kwdefaults__
        ):
            return entry[2]
        with self._lock:
            conversion = self.conversion(function)
            if conversion is None:
                return function
            new = instantiate(conversion.code, function, conversion.ops)
            key = id(function)
            reference = weakref.ref(function, lambda _: self._functions.pop(key, None))
            self._functions[key] = (reference, function.__code__, new)
            return new

    def conversion(self, function: types.FunctionType) -> Conversion | None:
        """Return the conversion of a function's code; None, after one warning, if it has no source."""
        code = function.__code__
        key = id(code)
        with self._lock:
            entry = self._codes.get(key)
            if entry is not None and entry[0]() is code:
                conversion = entry[1]
                if conversion is None or conversion.meanings.holds(function.__globals__):
                    return conversion
            try:
                conversion = _converted(function)
            except SourceNotFoundError as error:
                conversion = None
                warnings.warn(
                    f"{function.__qualname__} runs as plain Python, without conversion: {error}",
                    stacklevel=user_stacklevel(),
                )
            reference = weakref.ref(code, lambda _: self._codes.pop(key, None))
            self._codes[key] = (reference, conversion)
            return conversion

    def is_sourceless(self, function: Any) -> bool:
        """Return whether a function was to be converted and has no source, of which there was a warning."""
        code = getattr(function, "__code__", None)
        entry = self._codes.get(id(code))
        return entry is not None and entry[0]() is code and entry[1] is None

    def mutated(self, function: types.FunctionType) -> tuple[str, ...]:
        """Return the parameters whose elements a function sets for its caller; none if it is not converted yet."""
        code = function.__code__
        entry = self._codes.get(id(code))
        return entry[1].mutated if entry is not None and entry[0]() is code and entry[1] is not None else ()


_CACHE = _Cache()

is_sourceless = _CACHE.is_sourceless


def convert(f: Callable[P, R]) -> Callable[P, R]:
    """Return the converted twin of a callable, without tracing it.

    Parameters
    ----------
    f : callable
        A function, lambda, method, partial, or object with a ``__call__`` of the user's.

    Returns
    -------
    callable
        Does the same with Python values; its loops and branches work on tensors too. A bound method stays
        bound. What has no source is returned as it is, with one warning.

    Raises
    ------
    ConversionError
        If the function is a generator or asynchronous.

    Notes
    -----
    Breakpoints, tracebacks, profilers and coverage work on the user's file. While a converted loop runs, the stack
    (``w`` in pdb) also holds the frames of the operators that run it: ``pdb.Pdb(skip=["autoloop*"])`` steps over
    them; pytest and IPython do not show them.

    Examples
    --------
    >>> @al.convert
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    try:
        function = _function_of(f)
        if function is not None and not is_marked(function) and is_generator_code(function.__code__):
            from .converting import refuse

            refuse(function)
        converted: Callable[..., Any] = convert_callee(f, explicit=True)
    except ConversionError as error:
        raise user_traceback(error)  # noqa: B904  (the same error; where it was found is of no interest)
    return converted


def convert_callee(f: Any, *, explicit: bool = False) -> Any:
    """Return what converted code calls in place of ``f``: its twin if it is the user's, else ``f`` itself."""
    if isinstance(f, types.FunctionType):
        convertible = is_convertible_function(f) or (explicit and _may_convert(f))
        return _CACHE.function(f) if convertible else f
    if isinstance(f, types.MethodType):
        function = convert_callee(f.__func__, explicit=explicit)
        return f if function is f.__func__ else types.MethodType(function, f.__self__)
    if isinstance(f, functools.partial):
        function = convert_callee(f.func, explicit=explicit)
        return f if function is f.func else functools.partial(function, *f.args, **f.keywords)
    if isinstance(f, staticmethod):
        return convert_callee(f.__func__, explicit=explicit)
    if isinstance(f, type | types.BuiltinFunctionType):
        return f
    method = _call_method(f)
    if isinstance(method, types.FunctionType) and (explicit or is_convertible_function(method)):
        function = convert_callee(method, explicit=explicit)
        return f if function is method else types.MethodType(function, f)
    return f


def mutated_parameters_of(f: Any) -> tuple[str, ...]:
    """Return the parameters whose elements a converted function or method sets for its caller."""
    function = attribute_of(f, "__func__", f)
    return _CACHE.mutated(function) if isinstance(function, types.FunctionType) else ()


def _call_method(f: Any) -> Any:
    """Return the ``__call__`` that an object's class, or a class above it, defines."""
    return next((vars(cls)["__call__"] for cls in type(f).__mro__ if "__call__" in vars(cls)), None)


def _may_convert(function: types.FunctionType) -> bool:
    """Return whether an explicit request reaches into library files: only marks and earlier conversions refuse."""
    code = function.__code__
    return not (is_converted(code) or is_marked(function) or is_generator_code(code))


def _function_of(f: Any) -> types.FunctionType | None:
    while isinstance(f, functools.partial):
        f = f.func
    f = attribute_of(f, "__func__", f)
    if isinstance(f, types.FunctionType):
        return f
    call = _call_method(f)
    return call if isinstance(call, types.FunctionType) else None


def to_code(f: Callable[..., Any]) -> str:
    """Return the converted source of a function as text, see ``viewing.to_code``."""
    return code_and_lines(f)[0]


def code_and_lines(f: Callable[..., Any]) -> tuple[str, list[int]]:
    """Return the converted source of a function, and of which line of the user's file each of its lines comes, or 0.

    Raises
    ------
    SourceNotFoundError
        If the source of ``f`` cannot be found.
    ConversionError
        If it holds something that cannot be converted.
    """
    inner = getattr(f, "python_function", f)
    function = _function_of(inner)
    if function is None:
        raise TypeError(f"to_code needs a Python function, got {f!r} of type {type(f).__name__} [AL001]")
    from .converting import convert_text

    return convert_text(function)


def do_not_convert(f: Callable[P, R]) -> Callable[P, R]:
    """Mark a function so that converted code calls it as it is; usable as a decorator.

    Parameters
    ----------
    f : callable
        The function.

    Returns
    -------
    callable
        The same object.

    Examples
    --------
    >>> @al.do_not_convert
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    target = attribute_of(f, "__func__", f)
    if not isinstance(target, _COMPILED):
        setattr(target, DO_NOT_CONVERT, True)
    return f
