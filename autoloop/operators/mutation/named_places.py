"""The attributes that a converted loop or branch is said to set, found before it runs.

A line such as ``node.next.load += 1`` names a place that need not be there when the loop begins: its name may have no
value yet, ``node.next`` may be None for as long as the line does not run, or be found by code of the user's, which
would then run once too often. Such a place is left out here, and noticed as others are when a trace has changed it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.ir.tensor import Tensor

from ..staging.container_contents import in_class
from ..staging.standins import Maybe, opened

#: what gives the value of a name, and the attributes from there on: ``(lambda: node, 'next.load')``
Places = Sequence[tuple[Callable[[], Any], str]]
_NONE = object()


def named_places(places: Places) -> Iterator[tuple[Any, str]]:
    """Yield ``(object, attribute)`` for the places that are there."""
    for root, path in places:
        *way, name = path.split(".")
        try:
            owner = root()
            for step in way:
                owner = _held(owner, step)
        except (NameError, AttributeError):
            continue
        # ``a.T`` is no state but a view of an array
        if owner is not _NONE and not isinstance(_there(owner), Tensor | np.ndarray):
            yield owner, name


def _there(owner: Any) -> Any:
    return opened(owner).value if isinstance(owner, Maybe) else owner


def _held(owner: Any, name: str) -> Any:
    """Return what an object holds under a name, if nothing of the user's has to run for that."""
    if isinstance(owner, Maybe):
        return getattr(owner, name)
    kind = type(owner)
    of_class = in_class(kind, name)
    if isinstance(of_class, types.MemberDescriptorType):
        return of_class.__get__(owner, kind)
    if owner is _NONE or kind.__getattribute__ not in _PLAIN or hasattr(type(of_class), "__set__"):
        return _NONE
    held = in_class(owner, name) if isinstance(owner, type) else getattr(owner, "__dict__", {}).get(name, of_class)
    return _NONE if held is None or hasattr(type(held), "__get__") else held


_PLAIN: tuple[Any, ...] = (object.__getattribute__, type.__getattribute__, types.ModuleType.__getattribute__)
