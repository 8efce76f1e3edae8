"""What stages are called, and were called, or are elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

_OTHERWISE = {"optimised": "optimized", "sequential": "python"}


def named(stage: str) -> str:
    """Return a stage by the name that it has here."""
    return _OTHERWISE.get(stage, stage)


def known(stage: str, among: Iterable[str]) -> str:
    """Return a stage by the name that it has here; ``ValueError`` if it is none of some."""
    name = named(stage)
    if name not in (stages := tuple(among)):
        raise ValueError(f"stage must be one of {', '.join(stages)}, got {stage!r} [AL703]")
    return name
