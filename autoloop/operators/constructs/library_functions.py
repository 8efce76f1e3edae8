"""What takes tensors in place of library functions, and of builtins, which are loaded with the first that is called."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import operators
from ...conversion.callables import STAGED_BUILTINS, STAGED_FUNCTIONS, asks_nobody, is_numpys
from ...conversion.known_effects import is_one_of
from ..mutation import lifted_arrays
from ..mutation.outside_world import stays
from ..staging.mixed_numbers import holds_mixed
from . import library_calls as libraries
from .dispatching import dispatching

#: what NumPy calls if it is given that
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


#: parameters of NumPy's functions that are dtypes, which NumPy would ask what stands for a number for
_DTYPES = frozenset(("dtype", "otypes", "to"))


def staged_for(f: Any) -> Any:
    """Return what takes tensors in place of a builtin or library function, None if there is nothing."""
    found = operators.STAGED[f] if is_one_of(f, STAGED_BUILTINS) else None
    if is_one_of(f, STAGED_FUNCTIONS):
        found = operators.OF_LIBRARIES[f]
    if isinstance(f, type) and issubclass(f, np.generic):
        return library(f, libraries.as_scalar(f))
    if (chosen := dispatching(f)) is not None:
        return chosen
    if f is np.ndarray:
        return library(f, libraries.new_array)
    if isinstance(f, np.vectorize):
        again = np.vectorize(called(f.pyfunc), f.otypes, f.__doc__, f.excluded, f.cache, f.signature)
        return library(again, libraries.vectorized(f))
    if found is None and asks_nobody(f):
        return library(f, libraries.by_numpy(f))
    if found is None and libraries.of_ufunc(f):
        return libraries.giving_arrays(library(f, libraries.by_numpy(f), libraries.elements_not_asked))
    return library(f, libraries.by_numpy(f), libraries.not_asked) if found is None and is_numpys(f) else found


def called(function: Any) -> Any:
    """Return what is called in place of a function that a builtin or a library is given."""
    return operators.call(function) if callable(function) else function


def _handed(value: Any) -> Any:
    """Return what a function of NumPy's is given in place of a function that it calls, or of a list of such."""
    if type(value) is list and any(isinstance(one, _FUNCTIONS) for one in value):
        return list(map(_handed, value))
    return called(value) if isinstance(value, _FUNCTIONS) else value


def library(
    plain: Callable[..., Any],
    staged: Callable[..., Any],
    unasked: Callable[[tuple[Any, ...], dict[str, Any]], bool] = libraries.any_staged,
) -> Any:
    """Return a library function that takes another way when an argument is staged, which it does not ask itself."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if holds_mixed(given, {}):
            return operators.of_mixed(plain, chosen, args, kwargs)
        for name in _DTYPES & kwargs.keys():
            libraries.refuse_dtype(plain, kwargs[name])
        if unasked(args, kwargs):
            lifted_arrays.skipped()
            return staged(*args, **kwargs)
        for one in given:
            stays(one)
        named = {name: _handed(value) for name, value in kwargs.items()}
        return lifted_arrays.called(plain, tuple(map(_handed, args)), named)

    return chosen
