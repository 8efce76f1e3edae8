"""What the methods of a library's class do to the objects of it, as far as their code says."""

from __future__ import annotations

import dis
import functools
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

#: what Python calls while an object is made, copied or let go of
_OF_MAKING = frozenset(
    ("__init__", "__new__", "__del__", "__init_subclass__", "__set_name__", "__setstate__", "__reduce__")
    + ("__getstate__", "__copy__", "__deepcopy__", "__post_init__", "__reduce_ex__", "__class_getitem__")
)
_SETTING = frozenset(("STORE_ATTR", "DELETE_ATTR"))
_ITEMS = frozenset(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"))
#: methods that change the container they are of: those that its like has not which never changes
_CHANGING = (
    {*dir(list), *dir(dict), *dir(set), *dir(deque), *(np.ndarray.fill.__name__, np.ndarray.put.__name__)}
    - {*dir(tuple), *dir(types.MappingProxyType), *dir(frozenset)}
    - {dict.fromkeys.__name__, list.copy.__name__, dict.copy.__name__}
)


@functools.lru_cache(maxsize=512)
def written_by(kind: type) -> tuple[bool, bool]:
    """Return whether methods of a class that others call set attributes, and whether they change items of containers.

    Methods whose names begin with an underscore count where one of the others, or one of Python's, names them.
    """
    methods = {name: one for base in reversed(kind.__mro__) for name, one in vars(base).items()}
    todo = [name for name in methods if name not in _OF_MAKING and (name[0] != "_" or name[-2:] == "__")]
    seen: set[str] = set()
    sets = changes = False
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for code in _codes(methods[name]):
            used = {one.opname for one in dis.get_instructions(code)}
            sets |= not _SETTING.isdisjoint(used) or "setattr" in code.co_names
            changes |= not (_ITEMS.isdisjoint(used) and _CHANGING.isdisjoint(code.co_names))
            todo += [one for one in code.co_names if one in methods and one not in _OF_MAKING]
    return sets, changes


def _codes(method: Any) -> Iterator[types.CodeType]:
    """Yield the codes of a method, or of the functions of a property, with those of functions inside."""
    if isinstance(method, property):
        for one in (method.fget, method.fset, method.fdel):
            yield from _codes(one)
        return
    code = getattr(getattr(method, "__func__", method), "__code__", None)
    todo = [code] if isinstance(code, types.CodeType) else []
    while todo:
        code = todo.pop()
        yield code
        todo += [one for one in code.co_consts if isinstance(one, types.CodeType)]
