"""The containers that arrays of other libraries are given in: a trace sees others, and these are as it leaves those."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoloop_runtime.base import nest

from .concrete import CalledPlain
from .given_arrays import ForeignArray


def given_again(function: Callable[[Any], Any], call: tuple[Any, ...], used: Sequence[Any]) -> Any:
    """Return what a call gives with other leaves, *used* in place of its own; an argument that holds none of them is
    given itself, and what is changed in the containers of others is changed in the caller's."""
    made = _with_leaves(call, used)
    pairs = [pair for one, other in zip(call, made, strict=True) for pair in _pairs(one, other)]
    if not pairs:
        return function(made)
    caller = {id(copy): original for original, copy in pairs}
    try:
        result = function(made)
    except CalledPlain:
        raise  # plain Python is given the caller's
    except BaseException:
        _write_back(pairs, caller)
        raise
    _write_back(pairs, caller)
    return _restored(result, caller, set())


def _with_leaves(call: tuple[Any, ...], used: Sequence[Any]) -> tuple[Any, ...]:
    made, begin = [], 0
    for one in call:
        leaves, structure = nest.flatten_with_structure(one, expand_composites=True)
        mine = list(used[begin : begin + len(leaves)])
        begin += len(leaves)
        is_same = all(leaf is other for leaf, other in zip(leaves, mine, strict=True))
        made.append(one if is_same else nest.unflatten(structure, mine))
    return tuple(made)


def _pairs(original: Any, copy: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container of the caller's that is another in the trace, with that."""
    if original is copy or isinstance(copy, ForeignArray):
        return
    yield original, copy
    mine, others = _parts(original), _parts(copy)
    for one, other in zip(mine.values(), others.values(), strict=True):
        yield from _pairs(one, other)


def _parts(value: Any) -> dict[Any, Any]:
    """Return what a container holds, by where."""
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    return dict(vars(value)) if dataclasses.is_dataclass(value) else {}


def _write_back(pairs: Sequence[tuple[Any, Any]], caller: dict[int, Any]) -> None:
    """Let the caller's containers hold what those of the trace hold."""
    for original, copy in pairs:
        before = _parts(original)
        after = {key: _restored(one, caller, set()) for key, one in _parts(copy).items()}
        is_same = list(before) == list(after) and all(before[key] is after[key] for key in before)
        if is_same or isinstance(original, tuple):
            continue
        if isinstance(original, list):
            original[:] = after.values()
        elif isinstance(original, dict):
            original.clear()
            original.update(after)
        else:
            vars(original).clear()
            vars(original).update(after)


def _restored(value: Any, caller: dict[int, Any], seen: set[int]) -> Any:
    """Return a value with the caller's containers and arrays in place of those of the trace."""
    if isinstance(value, ForeignArray):
        return value.value
    if id(value) in caller:
        return caller[id(value)]
    if not isinstance(value, (list, dict, tuple)) or id(value) in seen:
        return value
    seen.add(id(value))
    parts = _parts(value)
    made = {key: _restored(one, caller, seen) for key, one in parts.items()}
    changed = [key for key in parts if made[key] is not parts[key]]
    if not changed:
        return value
    if isinstance(value, tuple):
        return type(value)._make(made.values()) if hasattr(value, "_make") else type(value)(made.values())
    for key in changed:
        value[key] = made[key]
    return value
