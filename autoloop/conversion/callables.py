"""Which callables are converted, which are left alone: one policy, asked at conversion and at run time."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import sys
import types
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import CALLS_BACK, attribute_of, file_of, module_of, origin_of, owner_of
from autoloop_runtime.base.locations import is_library_file, is_own_file

from .known_effects import (
    calls_later,
    factories_of,
    is_nameless,
    is_one_of,
    is_watched,
    looks_at_arguments,
)

# Libraries whose functions take anything and look at none of it, or know what to do with it, or look at their caller.
_KNOWN = frozenset(("builtins", "numpy", "autoloop", "autoloop_runtime", "operator", "_operator", "itertools"))
_HANDS_ON = frozenset(("abc", "collections", "contextlib", "copy", "dataclasses", "enum", "functools", "inspect"))
_HANDS_ON |= {"numpy", "scipy", "optree", "typing", "types", "unittest", "warnings"}
# The last constant of every code object made by a conversion.
CONVERTED_MARK = "<converted by autoloop>"
DO_NOT_CONVERT = "__autoloop_do_not_convert__"

# Builtins that mean something else when an argument is, or gives, a tensor; and what runs over its argument as they do.
STAGED_BUILTINS: frozenset[Any] = frozenset(
    (
        abs,
        all,
        any,
        bin,
        bool,
        callable,
        chr,
        complex,
        delattr,
        dict,
        dir,
        divmod,
        enumerate,
        filter,
        float,
        format,
        frozenset,
        getattr,
    )
    + (hasattr, hash, hex, id, int, isinstance, len, list, map, max, min, oct, pow, print, range, repr, reversed, round)
    + (set, setattr, sorted, str, sum, tuple, type, vars, zip)
    + (operator.contains, operator.index, operator.not_, operator.truth, np.fromiter)
)
# Library functions that look into their arguments before a tensor can take over.
STAGED_FUNCTIONS: frozenset[Any] = frozenset(
    [one for name, one in vars(math).items() if callable(one) and name[0] != "_" and name not in ("sumprod", "fma")]
    + [np.apply_along_axis, np.apply_over_axes, np.isscalar, np.concatenate, np.piecewise, np.stack, np.finfo, np.iinfo]
    + [np.block, np.bmat, np.shape, np.size]
    + [np.dtype, np.issubdtype, np.promote_types, np.frombuffer, np.may_share_memory, np.shares_memory]
)
# Classes of NumPy's that are called as functions are, and functions that ask the elements of an argument, not itself.
_ASKING_NOBODY: frozenset[Any] = frozenset(
    (np.vectorize, np.broadcast, np.ndindex, np.ndenumerate, np.nditer, np.errstate, np.poly, np.roots)
    + (np.ravel_multi_index, np.vstack, np.hstack, np.dstack, np.column_stack)
)
DESCRIBING = ("__get__", "__set__", "__delete__")
#: where functions are that mean something else for what is staged
_LIBRARIES = ("numpy.", "scipy.special.", "scipy.linalg.")
_REDUCE: dict[Any, tuple[str, ...]] = {functools.reduce: ("function",)}
#: what calls a function that it is given, at once or later, and gives what that gave, by module and name
_CALLING = {
    "itertools": ("starmap", "accumulate", "takewhile", "dropwhile", "filterfalse", "groupby"),
    "functools": ("cmp_to_key",), "operator": ("call",), "heapq": ("nsmallest", "nlargest", "merge"),
    "bisect": ("bisect_left", "bisect_right", "insort_left", "insort_right"),
}  # fmt: skip
# What makes generators of random numbers.
_GENERATORS = {("random", "Random"), ("numpy", "Generator"), ("numpy", "RandomState"), ("numpy", "default_rng")}
_ASYNCHRONOUS = 0x80 | 0x200  # coroutine, asynchronous generator
_GENERATOR_FLAGS = 0x20 | _ASYNCHRONOUS


def is_convertible_function(function: types.FunctionType) -> bool:
    """Return whether a plain function is the user's and not yet converted."""
    code = function.__code__
    if code.co_flags & _ASYNCHRONOUS or is_converted(code) or is_library_file(code.co_filename):
        return False
    return not is_marked(function)


def is_generator_code(code: types.CodeType) -> bool:
    """Return whether a function is a generator or asynchronous."""
    return bool(code.co_flags & _GENERATOR_FLAGS)


def is_marked(function: Any) -> bool:
    """Return whether a callable was marked with ``do_not_convert``."""
    return bool(getattr(function, "__dict__", {}).get(DO_NOT_CONVERT, False))


def is_converted(code: types.CodeType) -> bool:
    """Return whether a code object came out of a conversion."""
    constants = code.co_consts
    return bool(constants) and isinstance(constants[-1], str) and constants[-1] == CONVERTED_MARK


def function_parameters(f: Any) -> tuple[str, ...]:
    """Return the parameters of a library function that take functions of the user's, which it calls."""
    if isinstance(f, types.BuiltinFunctionType):
        return _REDUCE.get(f, ())
    return getattr(f, CALLS_BACK, ()) if isinstance(f, types.FunctionType) else ()


def calls_what_it_is_given(f: Any) -> bool:
    """Return whether a library's callable calls the functions that it is given."""
    if isinstance(f, types.MethodType) and isinstance(f.__self__, contextlib.ExitStack):
        return True
    if not isinstance(f, type | types.BuiltinFunctionType | types.FunctionType):
        return False
    return f.__name__ in _CALLING.get(str(f.__module__).removeprefix("_"), ())


def is_foreign(f: Any) -> bool:
    """Return whether a callable is a Python function of a library that knows nothing of what converted code holds."""
    function = attribute_of(f, "__func__", f)
    if not isinstance(function, types.FunctionType) or is_own_file(function.__code__.co_filename):
        return False
    module = origin_of(function)
    return module not in _HANDS_ON and is_library_file(function.__code__.co_filename)


def computes_with_values(f: Any) -> bool:
    """Return whether a callable is a library's that knows nothing of what converted code holds, in Python or in C.

    Python's own classes and functions are not: what they say of such values they say by its name. Nor is what hands on
    what it is given.
    """
    module = origin_of(f) or "builtins"
    if module in _KNOWN or (isinstance(f, type) and (issubclass(f, BaseException) or is_users_class(f))):
        return False
    if isinstance(f, type | types.BuiltinFunctionType):
        return module not in _HANDS_ON or module == "scipy"
    return is_foreign(f) or (module == "scipy" and isinstance(f, types.FunctionType))


def is_numpys(f: Any) -> bool:
    """Return whether a callable is a function of NumPy's, or one of SciPy's that is known."""
    if isinstance(f, np.ufunc):
        return True
    return not isinstance(f, type) and f"{module_of(f)}.".startswith(_LIBRARIES)


def asks_nobody(f: Any) -> bool:
    """Return whether a function of NumPy's or SciPy's does not ask its arguments what it means for them."""
    if not isinstance(f, types.FunctionType | types.BuiltinFunctionType):
        named = isinstance(f, type | type(np.poly)) and is_one_of(f, _ASKING_NOBODY)
        return named or isinstance(f, np.vectorize) or (isinstance(f, type) and issubclass(f, np.generic))
    return f"{f.__module__}.".startswith(_LIBRARIES)


def makes_generator(f: Any) -> bool:
    """Return whether a callable makes a generator of random numbers."""
    if isinstance(f, types.FunctionType):  # one of the user's may be named as such: functools.wraps
        return False
    name = attribute_of(f, "__name__")
    return isinstance(name, str) and (origin_of(f), name) in _GENERATORS


def draws(f: Any) -> bool:
    """Return whether a callable is a method of a generator of random numbers."""
    return makes_generator(type(owner_of(f)))


#: functions of NumPy's that make arrays of no arrays: such an array may turn out to be the graph's
_MAKING_ARRAYS = {
    np.copy, np.empty_like, np.full, np.full_like, np.geomspace, np.linspace, np.logspace, np.ndarray, np.ones,
    np.ones_like, np.zeros_like,
}  # fmt: skip


def is_plain(target: Any) -> bool:
    """Return whether calling ``target`` never needs an operator: nothing to convert, no staged meaning."""
    if any(is_one_of(target, known) for known in (STAGED_FUNCTIONS, _REDUCE, _MAKING_ARRAYS)):
        return False
    if asks_nobody(target) or makes_generator(target) or draws(target) or is_watched(target):
        return False
    if looks_at_arguments(target) or calls_later(target) or factories_of(target) or calls_what_it_is_given(target):
        return False
    if isinstance(target, types.FunctionType):
        is_librarys = is_library_file(target.__code__.co_filename)
        return is_librarys and not (function_parameters(target) or computes_with_values(target))
    if isinstance(target, functools.partial | functools._lru_cache_wrapper):
        if isinstance(target, functools.partial):
            return "out" not in target.keywords and is_plain(target.func)
        return is_plain(target.__wrapped__)
    if is_one_of(target, STAGED_BUILTINS):
        return False
    if isinstance(target, type | types.BuiltinFunctionType):
        return initializer_of(target) is None and not computes_with_values(target)
    return is_library_file(file_of(type(target)))


def initializer_of(kind: Any) -> types.FunctionType | None:
    """Return the method by which the user begins an object of a class, if it is to be converted; None otherwise.

    That of a dataclass is ``__post_init__``.
    """
    if not isinstance(kind, type) or type(kind).__call__ is not type.__call__:
        return None
    made: Any = kind
    first = made.__init__
    if isinstance(first, types.FunctionType) and not is_written(first) and kind.__dictoffset__:
        first = getattr(kind, "__post_init__", None)
    return first if isinstance(first, types.FunctionType) and is_convertible_function(first) else None


def is_asked(kind: type) -> bool:
    """Return whether objects of a class are properties, or descriptors whose methods the user has written."""
    if issubclass(kind, property | functools.cached_property):
        return True
    written = (getattr(kind, name, None) for name in DESCRIBING)
    return is_users_class(kind) and any(isinstance(one, types.FunctionType) for one in written)


def is_written(function: types.FunctionType) -> bool:
    """Return whether a function was written by a person, and not made from text as the methods of dataclasses are."""
    return function.__code__.co_filename != "<string>"


def is_users_module(module: types.ModuleType) -> bool:
    """Return whether a module is the user's, or made by a program."""
    held = vars(module)  # what answers for what is not there may be the user's
    if held.get("__spec__") is None and held.get("__file__") is None:
        return True
    return not is_library_file(held.get("__file__") or "<frozen ")


def is_users_class(cls: type) -> bool:
    """Return whether a class is the user's, in Python: not one of a library, of autoloop itself, or compiled."""
    if cls.__module__ == "builtins":
        return is_nameless(cls)
    file = file_of(cls) or "<unknown>"
    is_compiled = module_of(cls) in sys.builtin_module_names or file.endswith(tuple(EXTENSION_SUFFIXES))
    return not (is_compiled or is_library_file(file))
