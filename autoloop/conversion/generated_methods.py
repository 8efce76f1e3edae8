"""Methods of the user's classes that the standard library has written: comparisons of dataclasses, and of an order.

Their texts are nowhere, or in a library's file. What they compare may be for the run to tell, so there is one here for
those of dataclasses, of which a converted twin is made as of any other function.
"""

from __future__ import annotations

import dataclasses
import inspect
import linecache
import sys
import types
from typing import Any
from weakref import WeakKeyDictionary

from .callables import is_users_class, is_written
from .known_effects import COMPARISONS

#: needs no lock: two threads make the same, and either may stay
_made: WeakKeyDictionary[type, dict[str, types.FunctionType]] = WeakKeyDictionary()


def written_for(cls: type, function: types.FunctionType) -> types.FunctionType | None:
    """Return what has a text, and does what a method of a class of the user's does; None of any other method.

    Parameters
    ----------
    cls : type
        The class that has it.
    function : function
        The method.
    """
    if not is_users_class(cls):
        return None
    name = function.__name__
    of_dataclass = "__dataclass_fields__" in vars(cls) and not is_written(function)
    of_order = function.__module__ == "functools" and function.__code__.co_name.count("_from_") == 1
    if name not in COMPARISONS or not (of_dataclass or of_order):
        return None
    known = _made.setdefault(cls, {})
    if name not in known:
        known[name] = _made_from(_of_dataclass(cls, name) if of_dataclass else inspect.getsource(function), cls, name)
    return known[name]


def _of_dataclass(cls: Any, name: str) -> str:
    """Return the text of a comparison of a dataclass."""
    fields = [one.name for one in dataclasses.fields(cls) if one.compare]
    mine, theirs = ("".join(f"{whose}.{one}, " for one in fields) for whose in ("self", "other"))
    compared = f"({mine}) {COMPARISONS[name]} ({theirs})"
    if name == "__eq__" and sys.version_info >= (3, 13):
        compared = " and ".join(f"self.{one} == other.{one}" for one in fields) or "True"
    text = f"def {name}(self, other):\n    if other.__class__ is self.__class__:\n        return {compared}\n"
    return text + "    return NotImplemented\n"


def _made_from(text: str, cls: type, name: str) -> types.FunctionType:
    """Return the function of a text that knows the class, and so that its operators are the user's."""
    filename = f"<{name} of {cls.__qualname__} {id(cls)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    names: dict[str, Any] = {"__name__": cls.__module__, cls.__name__: cls}
    exec(compile(text, filename, "exec"), names)
    found: types.FunctionType = next(one for one in names.values() if isinstance(one, types.FunctionType))
    return found
