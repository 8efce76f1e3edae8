"""Tables in a terminal, as ``rich`` draws them, which the extra ``viewer`` brings."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any

from .findings import NOTHING, Table

#: what leads a row, and what is said of most rows
_FIRST, _FAINT = "bold", "dim"


def has_rich() -> bool:
    """Return whether ``rich`` is installed."""
    return importlib.util.find_spec("rich") is not None


def print_rich(value: Any) -> None:
    """Print something on the terminal as ``rich`` does."""
    importlib.import_module("rich").get_console().print(value)


def rendered(title: str, lines: Sequence[str], tables: Sequence[Table]) -> Iterator[Any]:
    """Yield what a console of ``rich``'s prints: a title, lines and tables."""
    text, drawn, boxes = [importlib.import_module(f"rich.{name}") for name in ("text", "table", "box")]
    yield text.Text(title, "bold")
    yield from map(text.Text, lines)
    for one in tables:
        heads, rows = _with_one_place(one)
        made = drawn.Table(title=one.title, title_justify="left", title_style="bold", box=boxes.SIMPLE_HEAD,
                           show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))  # fmt: skip
        for k, head in enumerate(heads):
            made.add_column(head, overflow="fold", style="" if k else _FIRST)
        for row in rows:
            made.add_row(*[text.Text(cell, _FAINT if cell == NOTHING else "") for cell in row])
        yield text.Text("")
        yield made


def _with_one_place(table: Table) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the heads and rows of a table with line and source in one column."""
    if tuple(table.heads[:2]) != ("line", "source"):
        return table.heads, table.rows
    return ("where", *table.heads[2:]), [(f"{row[0]}\n{row[1]}".strip(), *row[2:]) for row in table.rows]
