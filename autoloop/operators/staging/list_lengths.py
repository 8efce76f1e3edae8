"""Lists that are longer at one end of a staged block than at the other: what holds them gets growing lists."""

from __future__ import annotations

from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided

from .standins import is_growing


def has_grown(one: Any, other: Any) -> bool:
    """Return whether two values of a variable are lists of different, or of unknown, lengths."""
    if type(one) is list and type(other) is list:
        return len(one) != len(other)
    if is_growing(one) and is_growing(other):
        return one.several != other.several
    return (type(one) is list or is_growing(one)) and (type(other) is list or is_growing(other))


def lengths_differ(one: Any, other: Any) -> bool:
    """Return whether two values of a variable are, or hold at the same places, lists of different lengths."""
    if has_grown(one, other):
        return True
    if type(one) is not type(other) or type(one) not in (dict, list, tuple) or len(one) != len(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and any(lengths_differ(one[key], other[key]) for key in one)
    return any(map(lengths_differ, one, other))


def with_growing(name: str, before: Any, after: Any) -> Any:
    """Return ``before`` with a growing list for each list in it that is longer or shorter in ``after``.

    ``before`` itself is returned if there is none.
    """
    if is_growing(before):
        return before.with_types_of(after) if is_growing(after) else before
    if has_grown(before, after):
        with undivided():
            from .begun_lists import example_of, growing

        return growing(name, before, example_of(after, before), after)
    if type(before) is not type(after) or type(before) not in (dict, list, tuple) or len(before) != len(after):
        return before
    keys = list(before) if type(before) is dict else range(len(before))
    if type(before) is dict and before.keys() != after.keys():
        return before
    parts = [with_growing(f"{name}[{nest.key_text(key)}]", before[key], after[key]) for key in keys]
    if all(part is before[key] for part, key in zip(parts, keys, strict=True)):
        return before
    return dict(zip(keys, parts, strict=True)) if type(before) is dict else type(before)(parts)


def as_growing(name: str, value: Any, like: Any) -> Any:
    """Return a list as a growing one, with the types of its numbers, if ``like``, the other value, is one."""
    if not is_growing(like):
        return value
    if is_growing(value):
        return value.with_types_of(like)
    if type(value) is not list:
        return value
    with undivided():
        from .begun_lists import growing

    return growing(name, value, like)
