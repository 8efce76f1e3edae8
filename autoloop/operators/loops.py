"""``while`` and ``for`` statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Values = tuple[Any, ...]
Places = Callable[[], tuple[tuple[Any, str], ...]]
Options = Callable[[], dict[str, Any]]


def while_stmt(
    test: Callable[..., Any],
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    *,
    until: tuple[str, ...] = (),
    shared: tuple[str, ...] = (),
    places: Places | None = None,
    options: Options | None = None,
) -> Values:
    """Run a ``while`` loop."""
    stops = [names.index(name) for name in until]
    while not any(values[stop] for stop in stops) and test(*values):
        values = body(*values) or ()
    return values


def for_stmt(
    iterable: Any,
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    *,
    until: tuple[str, ...] = (),
    shared: tuple[str, ...] = (),
    places: Places | None = None,
    options: Options | None = None,
) -> Values:
    """Run a ``for`` loop."""
    stops = [names.index(name) for name in until]
    for item in iterable:
        values = body(item, *values) or ()
        if any(values[stop] for stop in stops):
            break
    return values
