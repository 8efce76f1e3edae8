"""Rows of texts in columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap

#: so many characters wide is a table, and a column at least, if there is as much to say
WIDTH, _LEAST = 120, 12


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, in which the cells of a column begin below each other."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths)).rstrip() for row in rows]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int = WIDTH) -> list[str]:
    """Return rows below their heads as lines of so many characters; long cells go on in further lines."""
    needed = [max(map(len, column)) for column in zip(heads, *rows)]
    room, most = width - 2 * (len(heads) - 1), max(needed)
    while sum(min(size, most) for size in needed) > room and most > _LEAST:  # the widest columns give way
        most -= 1
    columns = [min(size, most) for size in needed]
    lines = [*_wrapped(heads, columns), ["-" * size for size in columns]]
    for row in rows:
        lines += _wrapped(row, columns)
    return aligned(lines)


def _wrapped(row: Sequence[str], columns: Sequence[int]) -> list[list[str]]:
    cells = [wrap(cell, size, break_on_hyphens=False) or [""] for cell, size in zip(row, columns)]
    return [list(one) for one in zip_longest(*cells, fillvalue="")]
