"""The files ``samples_*.py`` beside this one: one for each kind of function, all found by themselves."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any


def gathered(what: str) -> dict[str, Any]:
    """Return the dictionaries ``what`` of all files as one; a key stands in one file only."""
    made: dict[str, Any] = {}
    for path in sorted(Path(__file__).parent.glob("samples_*.py")):
        found = getattr(importlib.import_module(path.stem), what, {})
        assert not made.keys() & found.keys(), (path.name, made.keys() & found.keys())
        made.update(found)
    return made
