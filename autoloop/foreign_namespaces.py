"""``x.__array_namespace__()`` and ``x.dtype`` of another library's array in a trace: that library's names.

Functions are traced as NumPy's of the same name. What they make of no array is what the library makes, and is its array
again where the function gives it back.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.foreign_values import Theirs
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.namespaces import Namespace, NamespaceRefusal
from autoloop_runtime.namespaces.array_namespace import numpys_dtype


def names_of(namespace: Namespace, theirs: Theirs) -> Names:
    """Return what stands for the functions of a library in a trace."""
    return Names(namespace.xp, np, theirs)


class Names:
    """The names of a library, or of a part of one such as ``linalg``, in a trace.

    Parameters
    ----------
    library : module or object
        The library's own.
    numpys : module
        What has functions of these names that are traced.
    theirs : Theirs
        Of the trace.
    """

    def __init__(self, library: Any, numpys: Any, theirs: Theirs) -> None:
        self._library, self._numpys, self._theirs = library, numpys, theirs

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._library, name)
        if _dtype_of(value) is not None or isinstance(value, (int, float, str, type(None))):
            return value
        counterpart = getattr(self._numpys, name, None)
        if isinstance(value, types.ModuleType) and counterpart is not None:
            return Names(value, counterpart, self._theirs)
        if counterpart is None or not callable(value):
            self._theirs.refuse(f"{name!r} in the namespace")
        return functools.partial(_called, self._theirs, name, value, counterpart)

    def __dir__(self) -> list[str]:
        return dir(self._library)


def _dtype_of(value: Any) -> Any:
    """Return NumPy's dtype of one of a library, None of anything else."""
    if isinstance(value, (Tensor, np.ndarray)) or not (
        isinstance(value, np.dtype) or "dtype" in str(type(value)).lower()
    ):
        return None
    return numpys_dtype(value)


def _numpys(value: Any) -> Any:
    """Return an argument as NumPy's functions take it."""
    found = _dtype_of(value)
    return value if found is None else found


def _called(
    theirs: Theirs, name: str, function: Callable[..., Any], numpys: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    leaves = nest.flatten([args, kwargs])
    arrays = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if not arrays:
        made = function(*args, **kwargs)
        if not theirs.namespace.holds(made):
            return made
        return theirs.made(np.asarray(made, _of(theirs, made)))
    if kwargs.pop("descending", False):
        raise UnknownWhileTracing(f"{name}(..., descending=True): sort the negative of the array")
    kwargs.pop("device", None)
    made = theirs.called(numpys, [*map(_numpys, args)], {key: _numpys(one) for key, one in kwargs.items()})
    theirs.check_result(name, kwargs, arrays, made)
    theirs.note_said(name, kwargs, made)
    if isinstance(made, np.dtype):
        return theirs.namespace.dtype(made)
    return theirs.given(arrays, made)


def _of(theirs: Theirs, made: Any) -> Any:
    """Return NumPy's dtype of an array that a library has made."""
    try:
        return theirs.namespace.spec(made)[0]
    except NamespaceRefusal as refusal:
        raise UnknownWhileTracing(str(refusal)) from None
