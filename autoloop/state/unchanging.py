"""What never changes, what is looked into, and what changes where nobody sees it."""

from __future__ import annotations

import functools
import gc
import sys
import types
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy as np

from ..conversion.callables import is_users_class
from ..conversion.known_effects import is_pythons_own
from ..errors import is_own_file
from ..operators.mutation.heap_snapshot import contents, is_random
from ..operators.mutation.parts_of_objects import in_class, parts_of

#: values that never change, compared by type and value
PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, np.generic, np.dtype, type(...))
EXACTLY_PLAIN = frozenset((*PLAIN, np.float64, np.int64, np.bool_, np.ndarray, tuple, list, dict, types.FunctionType))
#: containers whose elements are places
DICTS = (dict, OrderedDict, defaultdict, Counter)
LISTS = (list, deque)
#: those whose elements have no place
SETS = (set, frozenset, bytearray)
FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
#: classes of the library whose objects hold what nobody sees change, and how classes look into their items
HIDING: tuple[type, ...] = (
    *(UserDict, UserList, ChainMap, types.MappingProxyType),
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet),
    *(weakref.ProxyType, weakref.CallableProxyType, type({}.keys()), type({}.values()), type({}.items())),
)
#: what classes of a library have whose objects hold numbers that a program may set
_OF_ARRAYS = ("__array__", "__array_interface__", "__dlpack__", "__setitem__")
ITEMS = ("__getitem__", "__setitem__", "__iter__", "__len__", "__contains__", "__missing__")


def is_constant(value: Any) -> bool:
    """Return whether a value never changes."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_constant, value))
    return isinstance(value, (*PLAIN, Enum, type, *FUNCTIONS, types.BuiltinFunctionType, np.ufunc))


def is_hiding(value: Any) -> bool:
    """Return whether an object holds what changes unseen: such a one of a library, or an array of such."""
    if type(value) is np.ndarray:
        return value.dtype.kind == "O" and not all(map(is_constant, value.ravel().tolist()))
    return type(value) in HIDING or _may_change(value)


def _may_change(value: Any) -> bool:
    """Return whether an object of an installed library, or an array of a subclass, holds what may be set.

    What says itself to which others it is equal, and has a hash, is a value; what its own module holds under a name is
    a part of the library. What is called has values where it holds arrays or containers, and nothing of the user's.
    """
    kind = type(value)
    if isinstance(value, np.ndarray | np.void):
        return True
    if isinstance(value, (*PLAIN, Enum)) or not _is_of_library(kind) or is_random(value):
        return False
    if kind.__hash__ is None or any(hasattr(kind, name) for name in _OF_ARRAYS):
        return True
    if in_class(kind, "__hash__") is not vars(object)["__hash__"] or kind.__module__.partition(".")[0] == "numpy":
        return False
    if any(one is value for one in getattr(sys.modules.get(kind.__module__), "__dict__", {}).values()):
        return False
    return not callable(value) or (next(parts_of(value), None) is None and _holds_values(value))


def _is_of_library(kind: type) -> bool:
    """Return whether a class is of an installed package, not Python's own, the user's, or one of ours."""
    if kind.__module__ == "builtins" or is_pythons_own(kind) or is_users_class(kind):
        return False
    return not is_own_file(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")


def _holds_values(value: Any) -> bool:
    own = getattr(value, "__dict__", {})
    held = [*gc.get_referents(value), *own.values()]
    return any(isinstance(one, (np.ndarray, list, dict, set)) and one is not own for one in held)


def is_shown_by_library(value: Any, names: Iterable[str]) -> bool:
    """Return whether an object of a class of the user's is read and set by code of a library, whose class it extends.

    Parameters
    ----------
    value : object
    names : iterable of str
        The attributes asked for that neither it nor its class has.
    """
    bases = [base for base in type(value).__mro__ if _is_of_library(base)]
    if any(name in vars(base) for base in bases for name in _OF_ARRAYS):
        return True
    return any("__getattr__" in vars(base) for base in bases) and any(
        hasattr(value, name) and not hasattr(type(value), name) for name in names
    )


def is_followed(value: Any) -> bool:
    """Return whether the items of a container of a user's class are found and set as those of its base class are."""
    kind = type(value)
    return not any(name in ITEMS for cls in kind.__mro__ if is_users_class(cls) for name in vars(cls))


def is_constant_inside(value: Any) -> bool:
    """Return whether nothing that a container holds can change; none of its own methods is called."""
    held = contents(value)
    return all(map(is_constant, held.values() if isinstance(held, dict) else held))
