"""A function's source beside what was made of it: each line beside those that come of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import NamedTuple

from .highlight import Span

Line = list[Span]


class Row(NamedTuple):
    """What stands side by side.

    Attributes
    ----------
    number : int or None
        The line of the source, here or of what stands to the right.
    left : list of Span or None
        That line; None if it stands in a row above, or there is none.
    right : list of Span
        A line of what was made of it.
    """

    number: int | None
    left: Line | None
    right: Line


def without_gap(lines: Sequence[Line], comes_of: Sequence[int], first: int) -> tuple[list[Line], list[int]]:
    """Return converted source without the blank lines below its import, which stands beside a decorator if there is
    one in line ``first``; and of which lines of the source its lines come."""
    lines, numbers = list(lines), list(comes_of)
    if numbers[:3] == [0, 0, 0] and not any(lines[1:3]):
        del lines[1:3], numbers[1:3]
        if first not in numbers:
            numbers[0] = first
    return lines, numbers


def rows_of(left: Sequence[Line], first: int, right: Sequence[Line], comes_of: Sequence[int]) -> list[Row]:
    """Return the lines of a source, from number ``first`` on, beside others; each of these *comes of* a line of the
    source, by its number, or of none (0).

    A line of the source is shown once. What comes of it further down has its number only.
    """
    last = first + len(left) - 1
    known = [number if first <= number <= last else 0 for number in comes_of]
    begins = sorted({first, *known} - {0})  # a part of the source goes on to the next line of which something comes
    parts = {one: range(one, end) for one, end in zip(begins, [*begins[1:], last + 1])}
    rows: list[Row] = []
    for number, run in groupby(zip(known, right, strict=True), key=lambda one: one[0]):
        made = [line for _, line in run]
        for before in [one for one in parts if one < number]:
            rows += _rows(parts.pop(before), first, left, [])
        if number in parts:
            rows += _rows(parts.pop(number), first, left, made)
        else:
            rows += [Row(number if k == 0 and number else None, None, line) for k, line in enumerate(made)]
    for part in parts.values():
        rows += _rows(part, first, left, [])
    return rows


def _rows(part: range, first: int, left: Sequence[Line], right: Sequence[Line]) -> Iterator[Row]:
    for number, line in zip_longest(part, right):
        yield Row(number, None if number is None else left[number - first], line or [])


def rows_of_either(left: Sequence[Line], first: int, right: Sequence[Line]) -> list[Row]:
    """Return the lines of two texts side by side that have nothing to do with each other line by line."""
    numbers = range(first, first + len(left))
    return [Row(number, line, other or []) for number, line, other in zip_longest(numbers, left, right)]
