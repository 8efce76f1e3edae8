"""Objects of installed libraries, and a few of Python's own, that hold what converted code does not see change."""

from __future__ import annotations

import gc
import hashlib
import pickle
import sys
import types
import weakref
from collections import ChainMap, UserDict, UserList
from enum import Enum
from typing import Any

import numpy as np

from ...conversion.callables import is_users_class
from ...conversion.known_effects import is_pythons_own
from ...errors import is_own_file
from .parts_of_objects import in_class, parts_of

#: those of Python's own
_HIDING: tuple[type, ...] = (
    *(UserDict, UserList, ChainMap, types.MappingProxyType),
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet),
    *(weakref.ProxyType, weakref.CallableProxyType, type({}.keys()), type({}.values()), type({}.items())),
)
#: what classes of a library have whose objects hold numbers that a program may set
OF_ARRAYS = ("__array__", "__array_interface__", "__dlpack__", "__setitem__")
_OF_VALUE: Any = object.__hash__


def changes_unseen(value: Any) -> bool:
    """Return whether an object is such a one, or an array of a subclass: whether it holds what may be set.

    What says itself to which others it is equal, and has a hash, is a value; what its own module holds under a name is
    a part of the library. What is called has values where it holds arrays or containers, and nothing of the user's.
    """
    kind = type(value)
    if isinstance(value, np.ndarray):
        return kind is not np.ndarray
    if kind in _HIDING or isinstance(value, np.void):
        return True
    if isinstance(value, np.generic | Enum | type) or not is_of_library(kind):
        return False
    if kind.__hash__ is None or any(hasattr(kind, name) for name in OF_ARRAYS):
        return True
    if in_class(kind, "__hash__") is not _OF_VALUE or kind.__module__.partition(".")[0] == "numpy":
        return False
    if any(one is value for one in getattr(sys.modules.get(kind.__module__), "__dict__", {}).values()):
        return False
    return not callable(value) or (next(parts_of(value), None) is None and _holds_values(value))


def is_of_library(kind: type) -> bool:
    """Return whether a class is of an installed package, not Python's own, the user's, or one of ours."""
    if kind.__module__ == "builtins" or is_pythons_own(kind) or is_users_class(kind):
        return False
    return not is_own_file(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")


def _holds_values(value: Any) -> bool:
    own = getattr(value, "__dict__", {})
    held = [*gc.get_referents(value), *own.values()]
    return any(isinstance(one, (np.ndarray, list, dict, set)) and one is not own for one in held)


def mark_of(value: Any) -> bytes | None:
    """Return what tells whether such an object has changed; None if nothing does."""
    parts: list[Any] = []
    try:
        digest = hashlib.blake2b(pickle.dumps(value, 5, buffer_callback=parts.append))
        for one in parts:
            digest.update(one.raw())
    except Exception:  # not all can be written down
        own = getattr(value, "__dict__", None)
        if not isinstance(own, dict):
            return None
        digest = hashlib.blake2b()
        for name, one in own.items():
            held = one.tobytes() if isinstance(one, np.ndarray) and not one.dtype.hasobject else str(id(one)).encode()
            digest.update(name.encode() + held)
    return digest.digest()
