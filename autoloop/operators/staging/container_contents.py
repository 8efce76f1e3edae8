"""Changing the user's containers without running anything of the user's."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any


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
