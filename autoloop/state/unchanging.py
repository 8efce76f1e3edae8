"""What never changes, what is looked into, and what changes where nobody sees it."""

from __future__ import annotations

import datetime as dt
import functools
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from enum import Enum
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import file_of
from autoloop_runtime.base.shapes import TensorShape

from ..conversion.callables import is_users_class
from ..keys import is_of_python
from ..operators.mutation.heap_snapshot import contents
from ..operators.mutation.parts_of_objects import OF_ARRAYS, changes_unseen, is_of_library

#: values that never change, compared by type and value
PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, np.generic, np.dtype, type(...), TensorShape)
EXACTLY_PLAIN = frozenset((*PLAIN, np.float64, np.int64, np.bool_, np.ndarray, tuple, list, dict, types.FunctionType))
#: containers whose elements are places
DICTS = (dict, OrderedDict, defaultdict, Counter)
LISTS = (list, deque)
#: those whose elements have no place
SETS = (set, frozenset, bytearray)
FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
#: the flag of classes that are made while a program runs, as Python's are
_OF_PYTHON = 1 << 9
#: how classes look into their items
ITEMS = ("__getitem__", "__setitem__", "__iter__", "__len__", "__contains__", "__missing__")


def is_constant(value: Any) -> bool:
    """Return whether a value never changes."""
    if isinstance(value, (*PLAIN, Enum, type, *FUNCTIONS, types.BuiltinFunctionType, np.ufunc)):
        return True
    return isinstance(value, (tuple, frozenset)) and all(map(is_constant, value))


def holds_functions(values: Iterable[Any]) -> bool:
    """Return whether one of some constants is, or holds, a function of which there may be others of the same code."""
    return any(
        isinstance(one, FUNCTIONS) or (isinstance(one, (tuple, frozenset)) and holds_functions(one)) for one in values
    )


def is_hiding(value: Any) -> bool:
    """Return whether an object holds what changes unseen: such a one of a library, or an array of such."""
    if type(value) is np.ndarray:
        return value.dtype.kind == "O" and not all(map(is_constant, value.ravel().tolist()))
    if issubclass(type(value), (dt.datetime, dt.time)):
        return value.tzinfo is not None and not is_of_python(type(value.tzinfo))
    return changes_unseen(value)


def is_shown_by_library(value: Any, names: Iterable[str]) -> bool:
    """Return whether an object of a class of the user's is read and set by code of a library, whose class it extends.

    Parameters
    ----------
    value : object
    names : iterable of str
        The attributes asked for that it does not have itself.
    """
    bases = [base for base in type(value).__mro__ if is_of_library(base)]
    if any(name in vars(base) for base in bases for name in OF_ARRAYS):
        return True
    if any(name in vars(base) for base in bases if _is_compiled(base) for name in names if name[:2] != "__"):
        return True
    return any("__getattr__" in vars(base) for base in bases) and any(
        hasattr(value, name) and not hasattr(type(value), name) for name in names
    )


def _is_compiled(kind: type) -> bool:
    """Return whether a class is of compiled code, which changes its objects where nobody sees it."""
    file = file_of(kind)
    return not kind.__flags__ & _OF_PYTHON or file.endswith(tuple(EXTENSION_SUFFIXES))


def is_followed(value: Any) -> bool:
    """Return whether the items of a container of a user's class are found and set as those of its base class are."""
    kind = type(value)
    return not any(name in ITEMS for cls in kind.__mro__ if is_users_class(cls) for name in vars(cls))


def is_constant_inside(value: Any) -> bool:
    """Return whether nothing that a container holds can change; none of its own methods is called."""
    held = contents(value)
    return all(map(is_constant, held.values() if isinstance(held, dict) else held))
