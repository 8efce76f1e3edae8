"""Changing dicts without running anything of the user's."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any


def dict_class(value: dict[Any, Any]) -> type[dict[Any, Any]]:
    """Return the class whose methods change a dict: one with an order of its own is broken by those of dict."""
    return OrderedDict if isinstance(value, OrderedDict) else dict


def fill_dict(value: dict[Any, Any], items: dict[Any, Any]) -> None:
    """Let a dict hold other items, and run nothing of the user's."""
    kind = dict_class(value)
    kind.clear(value)
    for key, one in items.items():
        kind.__setitem__(value, key, one)
