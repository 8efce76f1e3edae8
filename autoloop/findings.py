"""What ``explain`` has found: what, why, and what to do about it."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass

from autoloop_runtime.base.locations import Line

#: where nothing needs to be done
NOTHING = "nothing"
#: so many rows of a table are shown
MOST_ROWS = 40


@dataclass(frozen=True)
class Finding:
    """One thing that became of a function.

    Attributes
    ----------
    what, why : str
    advice : str
        What to do about it.
    line : Line or None
        Where it stands, if that is one line.
    """

    what: str
    why: str
    advice: str
    line: Line | None = None

    @property
    def place(self) -> str:
        """The file and line; empty if it has none."""
        return place_of(self.line)

    @property
    def source(self) -> str:
        """That line."""
        return source_of(self.line)


@dataclass(frozen=True)
class Table:
    """Rows below heads.

    Attributes
    ----------
    title : str
    heads, rows : sequence
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def rows_of(found: Sequence[Finding]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the heads of a table of findings, and its rows, the first of many; of what stands nowhere no places."""
    heads, shown = ("what", "why", "what to do"), found[:MOST_ROWS]
    rows: list[tuple[str, ...]] = [(one.what, one.why, one.advice) for one in shown]
    if len(found) > len(shown):
        rows.append((f"and {len(found) - len(shown)} more", "", ""))
    if all(one.line is None for one in shown):
        return heads, rows
    places = [(one.place, one.source) for one in shown] + [("", "")]
    return ("line", "source", *heads), [(*place, *row) for place, row in zip(places, rows)]


def place_of(line: Line | None, unknown: str = "") -> str:
    """Return the file and number of a line."""
    return unknown if line is None else line.short


def source_of(line: Line | None) -> str:
    """Return the text of a line."""
    return "" if line is None else linecache.getline(line.filename, line.lineno).strip()
