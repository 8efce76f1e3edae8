"""The attributes that an object itself holds, whatever its class says of their names: nothing of the user's runs.

``o.k`` asks a property of the class, or another descriptor that sets, before it looks into ``o``; such a one often
keeps its value in ``o`` under the very same name. What is held there is found and set here, not what ``o.k`` gives.
"""

from __future__ import annotations

import types
from typing import Any


def in_class(kind: type, name: str) -> Any:
    """Return what a class has under a name, or None; asking runs nothing of the user's."""
    for cls in kind.__mro__:
        if name in cls.__dict__:
            return cls.__dict__[name]
    return None


def is_data_descriptor(value: Any) -> bool:
    """Return whether what stands in a class is called where the attribute is set or deleted."""
    return hasattr(type(value), "__set__") or hasattr(type(value), "__delete__")


def is_property(kind: type, name: str) -> bool:
    """Return whether an attribute of a class comes before that of its objects."""
    return is_data_descriptor(in_class(kind, name))


def is_covered(owner: Any, name: str) -> bool:
    """Return whether an attribute that an object itself holds is not what it is asked for under its name."""
    found = in_class(type(owner), name)
    if type(found) is types.MemberDescriptorType or isinstance(owner, type | types.ModuleType):
        return False
    return is_data_descriptor(found) or _slot(owner, name) is not None


def own_attribute(owner: Any, name: str) -> Any:
    """Return an attribute that an object itself holds.

    Raises
    ------
    KeyError, AttributeError
        If it does not.
    """
    slot = _slot(owner, name)
    return owner.__dict__[name] if slot is None else slot.__get__(owner)


def set_own(owner: Any, name: str, value: Any) -> None:
    """Let an object hold something under a name."""
    slot = _slot(owner, name)
    if slot is not None:
        slot.__set__(owner, value)
    elif type(held := getattr(owner, "__dict__", None)) is dict:
        held[name] = value
    else:
        object.__setattr__(owner, name, value)


def delete_own(owner: Any, name: str) -> None:
    """Let an object hold nothing under a name."""
    if name in getattr(owner, "__dict__", ()):
        del owner.__dict__[name]
    elif (slot := _slot(owner, name)) is not None:
        slot.__delete__(owner)
    else:
        object.__delattr__(owner, name)


def _slot(owner: Any, name: str) -> Any:
    """Return the slot, of a class of an object, in which it holds an attribute; None if there is none."""
    for cls in type(owner).__mro__:
        if type(found := cls.__dict__.get(name)) is types.MemberDescriptorType:
            return found
    return None
