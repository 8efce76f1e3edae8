"""Attributes that say what an object is: its class, the code and defaults of a function, the bases of a class.

A trace asks for them wherever it goes, and puts none of them back: plain Python sets them, at each call.
"""

from __future__ import annotations

import types
from typing import Any

from ...left_to_python import is_followed
from ..staging.container_contents import in_class
from ..staging.staged_blocks import in_staged_block
from .outside_world import found_outside, leave

_IN_PYTHON = (types.GetSetDescriptorType, types.MemberDescriptorType)
_SETTING = (types.WrapperDescriptorType, types.MethodWrapperType)


def leave_what_it_is(owner: Any, name: str) -> None:
    """Let plain Python run a function that is about to set, or delete, such an attribute of what it has not made.

    Raises
    ------
    LeftToPython
    TypeError
        In a loop or branch, if plain Python cannot.
    """
    if not (name.startswith("__") and is_followed() and _says_what_it_is(owner, name)):
        return
    if in_staged_block() or found_outside(owner) is not None:
        whose = type(owner).__name__ if name == "__class__" else owner.__qualname__
        leave(
            f"'{whose}.{name}' is set", "all that is traced would find it set; call another function, or class, there"
        )


def _says_what_it_is(owner: Any, name: str) -> bool:
    if name == "__class__":
        return True
    return isinstance(owner, types.FunctionType | type) and isinstance(in_class(type(owner), name), _IN_PYTHON)


def sets_attributes(f: Any) -> bool:
    """Return whether it is ``object.__setattr__``, or one of its kind, of a class or of an object."""
    return isinstance(f, _SETTING) and f.__name__ in ("__setattr__", "__delattr__")


def set_by_name(f: Any, *args: Any) -> Any:
    """Call one of these."""
    given = (f.__self__, *args) if isinstance(f, types.MethodWrapperType) else args
    if len(given) > 1 and type(given[1]) is str:
        leave_what_it_is(given[0], given[1])
    return f(*args)
