"""Iterables that a loop runs over side by side, of which the graph has a say in one: ``zip``, ``enumerate``.

An iterator of Python's among them is asked for one element in each step, as long as Python knows how many steps there
are, and these are few. Else its elements are made before the loop, if nobody can see that.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.ir.number_operators import as_number
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import join

from ... import operators
from ...conversion.callables import is_users_class
from ...errors import mark_programs_own
from ..mutation.outside_world import leave, stays
from ..staging.clauses import clauses_of
from ..staging.growing_list import GrowingList
from ..staging.raising import Raising, raise_unless
from ..staging.staged_values import is_staged
from ..staging.standins import StandIn
from ..staging.users_methods import method_of
from .comprehensions import elements
from .iterables import (
    RangeFace,
    StagedIterable,
    as_staged,
    counting,
    iterable_of,
    known_range,
    listed,
    of_clauses,
    repeating,
    run_over,
)
from .named_iterators import refuse_named
from .stateful_calls import iterated
from .unwanted_elements import drawn, made_unseen

#: so many steps beside an iterator of Python's are written out
_FEW = 32


def part_of(value: Any, most: int | None = None) -> StagedIterable:
    """Return one of several sequences that run side by side; ``most`` are asked for, if that is known."""
    clauses = clauses_of(value)
    staged = run_over(stays(value)) if clauses is None else of_clauses(clauses)
    if staged is not None and staged.keep is not None:
        raise TypeError(
            f"{staged.describe} has no length to count or pair its elements by: make a list of it, list(filter(...))"
            " [AL018]"
        )
    if staged is not None:
        return staged
    if isinstance(value, range) and len(value) > _FEW:
        return known_range(value)
    if not _is_iterator(value):
        return listed(values := list(value), functools.partial(_check_same, value, values))
    refuse_named(value, "runs side by side with a tensor: how far it is then is not followed")
    endless = counting(value) if most is None else None
    if endless is None and (endless := repeating(value)) is None:
        return listed(*drawn(value, most, "runs beside what only the run counts and"))
    return endless


def _check_same(iterable: Any, values: list[Any], first: int = 0) -> None:
    """Leave to Python a loop that changes what it runs over, from a place on."""
    now = list(iterable)
    if len(now) != len(values) or not all(map(_is_same, now[first:], values[first:])):
        leave(f"a {type(iterable).__name__} changes that a loop runs over", "run over a copy")


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two elements are one object; the items of a dict are new ones each time."""
    if type(one) is tuple is type(other) and len(one) == len(other):
        return all(map(operator.is_, one, other))
    return one is other


def _is_iterator(value: Any) -> bool:
    return hasattr(type(value), "__next__") and not isinstance(value, StandIn | Tensor)


def _run_over(value: Any) -> Any:
    """Return what gives the elements of an object of the user's; anything else as it is."""
    iterated(value)
    method = method_of(value, "__iter__")
    if method is None:
        is_own = is_users_class(type(value)) and not isinstance(value, StandIn | Tensor | list | tuple | dict | set)
        return iter(value) if is_own else value
    made = method()
    return made if isinstance(made, StandIn | Tensor) else iter(made)


def staged_enumerate(iterable: Any, start: Any = 0) -> Any:
    """Return ``enumerate`` over a staged iterable."""
    inner = part_of(iterable)
    operators.tried(enumerate, (), start) if is_staged(start) else enumerate((), start)  # which say what is no integer
    first = as_number(start)
    return StagedIterable(
        inner.length, lambda k: (first + k, inner.get(k)), "an enumerate over tensors", number=inner.number,
        written_out=inner.written_out,
    ).by(parts=[inner]).seen_as(enumerate)  # fmt: skip


def staged_zip(*iterables: Any, strict: bool = False) -> Any:
    """Return ``zip`` over iterables of which one is staged; one of Python's, if each step is written out."""
    sources = list(map(_run_over, iterables))
    counts = [_count(one) for one in sources]
    known = [one for one in counts if isinstance(one, int)]
    most = min(known) if known and all(one is None or isinstance(one, int) for one in counts) else None
    late = [_is_asked_once_more(one, counts[k], counts[k + 1 :]) for k, one in enumerate(sources)]
    if most is not None and most <= _FEW and (None in counts or any(late)):
        return zip(*map(elements, sources), strict=strict)
    parts = [part_of(one, most) for one in sources]
    length = parts[0].length
    number = join(*[part.number for part in parts])
    lengths = [part.length for part in parts]
    for part in parts[1:]:
        both_known = isinstance(length, int) and isinstance(part.length, int)
        length = min(length, part.length) if both_known else as_number(ops.minimum(length, part.length), number)
    end: Any = None
    if strict and not (isinstance(length, int) and all(one == length for one in lengths)):
        # the element after the last is one more, which raises when it is asked for, if any is
        end, longest = length, functools.reduce(ops.maximum, lengths)
        every_known = all(isinstance(one, int) for one in lengths)
        length = end + 1 if every_known else as_number(ops.minimum(longest, ops.add(end, 1)), number)

    def element(k: Any) -> tuple[Any, ...]:
        if end is not None:
            _check_end(k, end, lengths)
        return tuple(_unseen(part, k) if is_late else part.get(k) for part, is_late in zip(parts, late, strict=True))

    written_out = any(part.written_out for part in parts)
    made = StagedIterable(length, element, "a zip over tensors", number=number, written_out=written_out)
    made.is_uneven = end is not None
    return made.by(parts=parts).seen_as(zip)


def _count(value: Any) -> Any:
    """Return how many elements something gives: an int, what the run knows, or None of an iterator of Python's."""
    if (clauses := clauses_of(value)) is not None:
        return None if clauses.generator is not None else _count(clauses.source)
    if (staged := as_staged(value)) is not None:
        return staged.length
    return None if _is_iterator(value) or not hasattr(value, "__len__") else len(value)


def _is_asked_once_more(value: Any, count: Any, others: Sequence[Any]) -> bool:
    """Return whether functions of the user's may make an element that nobody gets, as one of the others has ended."""
    items = iterable_of(value)
    if clauses_of(value) is None and not (items is not None and items.functions):
        return False
    return not all(isinstance(count, int) and isinstance(one, int) and one >= count for one in others)


def _unseen(part: StagedIterable, k: Any) -> Any:
    """Return an element of what is asked once more than the loop runs, if nobody can see that."""
    return made_unseen(lambda: part.get(k), part.functions, f"{part.describe} that runs beside what is shorter")


def _check_end(k: Any, end: Any, lengths: Sequence[Any]) -> None:
    """Raise, now or at run time, as ``zip(..., strict=True)`` does where the iterables end of which one is longer."""

    def error(*lengths: Any) -> ValueError:
        end = min(lengths)
        short = next((number for number, one in enumerate(lengths, 1) if one == end))
        number = short if short > 1 else next(number for number, one in enumerate(lengths, 1) if one > end)
        than = "argument 1" if number == 2 else f"arguments 1-{number - 1}"
        return ValueError(f"zip() argument {number} is {'shorter' if short > 1 else 'longer'} than {than}")

    if isinstance(k, int) and isinstance(end, int):
        if k < end:
            return
        try:
            raise error(*lengths)
        except ValueError as ended:
            mark_programs_own(ended)
            raise
    raise_unless(ops.less(k, end), Raising(ValueError, error), *lengths)


def staged_reversed(iterable: Any) -> Any:
    """Return ``reversed`` over a staged iterable."""
    inner = part_of(iterable)
    made = StagedIterable(
        inner.length, lambda k: inner.get(inner.length - 1 - k), "a reversed tensor", number=inner.number,
        written_out=inner.written_out,
    ).by(parts=[inner])  # fmt: skip
    plain: Any = [] if isinstance(iterable, GrowingList) else range(0) if isinstance(iterable, RangeFace) else ()
    return made.seen_as(type(reversed(plain)))
