"""Attributes that say what an object is: its class, the code of a function, the bases of a class, the arguments of an
exception, the factory of a ``defaultdict``; and what members of enumerations, which are constants, have not had.

A trace asks for them wherever it goes, and puts none of them back: plain Python sets them, at each call.
"""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np
from autoloop_runtime.ir.tensor import Tensor

from ...conversion.callables import is_users_class
from ...left_to_python import is_followed
from ..staging.container_contents import in_class
from ..staging.staged_blocks import in_staged_block
from ..staging.standins import StandIn
from .outside_world import found_outside, leave

_IN_PYTHON = (types.GetSetDescriptorType, types.MemberDescriptorType)
_NAMED = (types.FunctionType, type)
_SETTING = (types.WrapperDescriptorType, types.MethodWrapperType)


def leave_what_it_is(owner: Any, name: str) -> None:
    """Let plain Python run a function that is about to set, or delete, such an attribute of what it has not made.

    Raises
    ------
    LeftToPython
    TypeError
        In a loop or branch, if plain Python cannot.
    """
    if isinstance(owner, (np.ndarray, Tensor, StandIn)) or not is_followed():
        return
    is_new = isinstance(owner, enum.Enum) and name not in vars(owner)
    if not (is_new or _is_not_followed(owner, name)):
        return
    is_everywhere = is_new or (in_staged_block() and not isinstance(owner, BaseException))
    if is_everywhere or found_outside(owner) is not None:
        whose = owner.__qualname__ if isinstance(owner, _NAMED) and name != "__class__" else type(owner).__name__
        leave(f"'{whose}.{name}' is set", "all that is traced would find it set; name another object there")


def _is_not_followed(owner: Any, name: str) -> bool:
    """Return whether an attribute is in no namespace and no slot of a class of the user's."""
    if name == "__class__":
        return True
    if isinstance(owner, types.FunctionType):
        return name.startswith("__")
    found = in_class(type(owner), name)
    return isinstance(found, _IN_PYTHON) and name != "__dict__" and not is_users_class(found.__objclass__)


def sets_attributes(f: Any) -> bool:
    """Return whether it is ``object.__setattr__``, or one of its kind, of a class or of an object."""
    return isinstance(f, _SETTING) and f.__name__ in ("__setattr__", "__delattr__")


def set_by_name(f: Any, *args: Any) -> Any:
    """Call one of these."""
    given = (f.__self__, *args) if isinstance(f, types.MethodWrapperType) else args
    if len(given) > 1 and type(given[1]) is str:
        leave_what_it_is(given[0], given[1])
    return f(*args)
