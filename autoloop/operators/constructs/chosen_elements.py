"""``map`` and ``filter`` over what a staged loop runs over: functions of the user's make, or choose, its elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..mutation.outside_world import stays
from ..staging.standins import opened
from .boolean_operators import and_
from .iterables import StagedIterable, as_staged, iterable_of, run_over
from .side_by_side import part_of, staged_zip


def staged_filter(function: Callable[..., Any] | None, iterable: Any) -> Any:
    """Return ``filter`` over a staged iterable: a loop over it passes by the elements that are not wanted."""
    inner = _kept(iterable)
    before = inner.keep
    keep: Callable[[Any], Any] = function if function is not None else lambda item: item
    made = StagedIterable(
        inner.length, inner.get, "a filter over tensors", number=inner.number,
        keep=keep if before is None else _both(before, keep),
    )  # fmt: skip
    return made.by(*([] if function is None else [function]), parts=[inner]).seen_as(filter)


def _both(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda item: and_(first(item), lambda: second(item))


def staged_map(function: Callable[..., Any], *iterables: Any) -> Any:
    """Return ``map`` over iterables of which one is staged; one of Python's, if each step is written out."""
    inner = opened(staged_zip(*iterables)) if len(iterables) > 1 else _kept(iterables[0])
    if not isinstance(inner, StagedIterable):
        return map(lambda args: function(*args), inner)  # noqa: C417  # as which it shows itself
    get, made = inner.get, inner.made
    if inner.keep is not None:
        then = function if made is None else lambda item: function(made(item))
        mapped = StagedIterable(inner.length, get, "a map over tensors", keep=inner.keep, number=inner.number)
        mapped.made = then
        return mapped.by(function, parts=[inner]).seen_as(map)
    each = (lambda k: function(*get(k))) if len(iterables) > 1 else lambda k: function(get(k))
    return StagedIterable(
        inner.length, each, "a map over tensors", number=inner.number, written_out=inner.written_out
    ).by(function, parts=[inner]).seen_as(map)  # fmt: skip


def _kept(iterable: Any) -> StagedIterable:
    """Return one sequence, which may be one that passes by elements, unless it makes others of those it keeps."""
    staged = as_staged(stays(iterable)) if iterable_of(iterable) is not None else None
    is_one = staged is not None and staged.made is None
    return run_over(staged) if is_one else part_of(iterable)  # type: ignore[return-value]  # which is one
