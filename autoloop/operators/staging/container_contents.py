"""Changing the user's containers without running anything of the user's."""

from __future__ import annotations

import operator
from collections import OrderedDict, deque
from typing import Any

from autoloop_runtime.base import nest

from .instances import Whole, assembled, is_instance, whole
from .standins import Rows, is_growing

#: what a staged block takes a copy of
CONTAINERS = (list, dict, set, Rows)


def dict_class(value: dict[Any, Any]) -> type[dict[Any, Any]]:
    """Return the class whose methods change a dict: one with an order of its own is broken by those of dict."""
    return OrderedDict if isinstance(value, OrderedDict) else dict


def fill(value: Any, elements: Any) -> None:
    """Let a container hold other elements."""
    if isinstance(value, list):
        list.__setitem__(value, slice(None), elements)
    elif isinstance(value, bytearray):
        bytearray.__setitem__(value, slice(None), elements)
    elif isinstance(value, dict):
        kind = dict_class(value)
        kind.clear(value)
        for key, one in elements.items():
            kind.__setitem__(value, key, one)
    elif isinstance(value, set):
        set.clear(value)
        set.update(value, elements)
    elif isinstance(value, deque):
        deque.clear(value)
        deque.extend(value, elements)


def copied(value: Any) -> Any:
    """Return a structure with containers of its own, so that tracing one side does not change the other."""
    if is_growing(value):
        return value.copy()
    if is_instance(value):
        return value  # whose attributes are places of their own
    if isinstance(value, list | dict | tuple) or nest.is_nested(value):
        leaves, structure = nest.flatten_with_structure(whole(value))
        made = nest.unflatten(
            structure, [one.copy() if isinstance(one, set) or is_growing(one) else one for one in leaves]
        )
        return assembled(made, [])
    return value.copy() if type(value) is set else value


def is_as(copy: Any, original: Any) -> bool:
    """Return whether a copy still holds what it was made of."""
    if is_growing(copy):
        mine, its = copy.arrays, original.arrays if is_growing(original) else None
        return type(mine) is list and type(its) is list and all(map(operator.is_, mine, its))
    if isinstance(copy, set):
        return bool(copy == original)
    mine, structure = nest.flatten_with_structure(whole(copy))
    others, other = nest.flatten_with_structure(whole(original))
    return bool(structure == other) and all(map(_is_one, mine, others))


def _is_one(leaf: Any, other: Any) -> bool:
    return leaf is other or (type(leaf) is type(other) is Whole and leaf.value is other.value)
