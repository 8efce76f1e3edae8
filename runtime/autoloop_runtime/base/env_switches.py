"""Switches of the environment: variables that are 0 or 1."""

from __future__ import annotations

import os
import warnings

#: what was warned of; adding to it is atomic
_told: set[tuple[str, str]] = set()


def switch(name: str, default: bool = False) -> bool:
    """Return whether the environment has ``name`` on: 1; 0 is off, and nothing the default.

    Anything else counts as on, and one warning says so.
    """
    value = os.environ.get(name, "")
    if value in ("", "0", "1"):
        return value == "1" if value else default
    if (name, value) not in _told:
        _told.add((name, value))
        warnings.warn(f"the environment has {name}={value!r}: it is 0 or 1, and this counts as 1 [AL609]", stacklevel=2)
    return True
