"""``autoloop show``: what a function became at a stage, by itself or beside its source."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from itertools import zip_longest

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.locations import Location

from ..derivative_functions import DerivativeFunction
from ..viewing.beside import Row, rows_of, rows_of_either, without_gap
from ..viewing.code_text import located_code_of
from ..viewing.commented_loops import with_loops
from ..viewing.highlight import Span, lines_of, spans_of, to_terminal, wants_colour, wrap
from ..viewing.page import listing, page
from ..viewing.stage_texts import OF_SOURCE, located_text_of
from .output import write
from .run_command import explain_target, trace_of
from .target import Target, load_target

_GUTTER = 5
HEADINGS = {"python": "generated Python", "llvm": "LLVM IR", "asm": "machine code"}


@dataclass(frozen=True)
class _Made:
    """What a function became.

    Attributes
    ----------
    text, heading : str
    comes_of : list of int
        Of which line of the source each of its lines comes; 0 if of none.
    """

    text: str
    heading: str
    comes_of: Sequence[int]


def print_source(options: argparse.Namespace) -> None:
    """Print, or write as a page, what the function became."""
    terminal = options.output is None and sys.stdout.isatty()
    colour = options.output is None and wants_colour(sys.stdout)
    target = load_target(options.target)
    made = _made(target, options)
    if options.html or options.side_by_side:
        lines, first = target.source()
        if options.html:
            sections = [listing(f"{target.path.name}:{first}", lines, first),
                        listing(made.heading, made.text, comes_of=made.comes_of)]  # fmt: skip
            write(options.output, page(target.name, str(target.path), sections, linked=True))
            return
        columns = shutil.get_terminal_size((200, 24)).columns if terminal else None
        text = _side_by_side((lines, first), made, colour, columns)
    else:
        text = "\n".join(to_terminal(spans, colour) for spans in spans_of(made.text)) + "\n"
    write(options.output, text)


def _made(target: Target, options: argparse.Namespace) -> _Made:
    """Return what is shown: of a derivative of which the arguments are known its graph, unless a stage is named."""
    stage = options.stage
    if stage is None:
        stage = "structured" if options.args and isinstance(target.found, DerivativeFunction) else "converted"
    heading = HEADINGS.get(stage, stage)
    if stage == "source":
        text, first = target.source()
        return _Made(text, heading, range(first, first + len(lines_of(text))))
    if stage not in OF_SOURCE:
        text, places = located_text_of(trace_of(target, options), stage)
        return _Made(text, heading, _numbers(target, places))
    text, numbers = located_code_of(target.found)
    if options.args is not None:
        text, numbers = with_loops(text, numbers, explain_target(target, options), target.filename())
    return _Made(text, heading, numbers)


def _numbers(target: Target, places: Sequence[Location]) -> list[int]:
    """Return of which line of a function's source something comes, the nearest to where it stands; 0 if of none."""
    (text, first), file = target.source(), target.filename()
    last = first + len(lines_of(text)) - 1
    return [
        next((one.lineno for one in reversed(place) if one.filename == file and first <= one.lineno <= last), 0)
        for place in places
    ]


def _side_by_side(original: tuple[str, int], made: _Made, colour: bool, columns: int | None) -> str:
    """Return the original with its first line number, and what was made of it beside the lines that it comes of.

    Lines that are too long for a terminal of ``columns`` characters go on in the next row.
    """
    (left, first), right = original, made
    left_lines = spans_of(left)
    right_lines, comes_of = without_gap(spans_of(right.text), made.comes_of, first)
    needed = [max((len(to_terminal(s, False)) for s in lines), default=0) for lines in (left_lines, right_lines)]
    room = sum(needed) if columns is None else columns - _GUTTER - 3
    if sum(needed) > room:  # the shorter side keeps what it needs, the other one takes the rest
        smaller = 0 if needed[0] <= needed[1] else 1
        needed[smaller] = min(needed[smaller], max(room // 2, 20))
        needed[1 - smaller] = max(room - needed[smaller], 20)
    width = _GUTTER + needed[0]
    rows = [f"{'original':<{width}} | {made.heading}", f"{'-' * width}-+-{'-' * needed[1]}"]
    related = rows_of(left_lines, first, right_lines, comes_of) if any(comes_of) else rows_of_either(
        left_lines, first, right_lines)  # fmt: skip
    nothing: list[Span] = []
    for row in related:
        for a, b in zip_longest(_left(row, needed[0]), wrap(row.right, needed[1]), fillvalue=nothing):
            pad = " " * (width - sum(len(text) for _, text in a))
            rows.append(f"{to_terminal(a, colour)}{pad} | {to_terminal(b, colour)}".rstrip())
    return "\n".join(rows) + "\n"


def _left(row: Row, width: int) -> list[list[Span]]:
    """Return the left of a row: a line with its number, or the number of one that stands above."""
    if row.left is None:
        return [] if row.number is None else [_numbered(row.number, [("comment", "...")])]
    return [_numbered(row.number if j == 0 else None, part) for j, part in enumerate(wrap(row.left, width))]


def _numbered(number: int | None, spans: list[Span]) -> list[Span]:
    shown = "" if number is None else str(number)
    return [("comment", f"{shown:>{_GUTTER - 1}} "), *spans]
