"""``autoloop show``: the converted source of a function, or the straight-line Python that runs its graph."""

from __future__ import annotations

import argparse
import shutil
import sys

from ..conversion.pipeline import to_code
from ..viewing.highlight import Span, spans_of, to_terminal, wants_colour, wrap
from ..viewing.page import listing, page
from ..viewing.stage_texts import OF_SOURCE, text_of
from .output import write
from .run_command import trace_of
from .target import Target, load_target

_GUTTER = 5
HEADINGS = {"python": "generated Python", "llvm": "LLVM IR", "asm": "machine code"}


def print_source(options: argparse.Namespace) -> None:
    """Print, or write as a page, what the function became."""
    terminal = options.output is None and sys.stdout.isatty()
    colour = options.output is None and wants_colour(sys.stdout)
    target = load_target(options.target)
    made, heading = _text(target, options)
    if options.html or options.side_by_side:
        lines, first = target.source()
        if options.html:
            sections = [listing(f"{target.path.name}:{first}", lines, first), listing(heading, made)]
            write(options.output, page(target.name, str(target.path), sections))
            return
        columns = shutil.get_terminal_size((200, 24)).columns if terminal else None
        text = _side_by_side((lines, first), (made, heading), colour, columns)
    else:
        text = "\n".join(to_terminal(spans, colour) for spans in spans_of(made)) + "\n"
    write(options.output, text)


def _text(target: Target, options: argparse.Namespace) -> tuple[str, str]:
    """Return the text to show, and its heading."""
    if options.stage in OF_SOURCE:
        return (target.source()[0] if options.stage == "source" else to_code(target.found)), options.stage
    return text_of(trace_of(target, options), options.stage), HEADINGS.get(options.stage, options.stage)


def _side_by_side(original: tuple[str, int], made: tuple[str, str], colour: bool, columns: int | None) -> str:
    """Return the original with its first line number, and what was made of it with its heading, in two columns.

    Lines that are too long for a terminal of ``columns`` characters go on in the next row.
    """
    (left, first), (right, heading) = original, made
    left_lines, right_lines = spans_of(left), spans_of(right)
    needed = [max((len(to_terminal(s, False)) for s in lines), default=0) for lines in (left_lines, right_lines)]
    room = sum(needed) if columns is None else columns - _GUTTER - 3
    if sum(needed) > room:  # the shorter side keeps what it needs, the other one takes the rest
        smaller = 0 if needed[0] <= needed[1] else 1
        needed[smaller] = min(needed[smaller], max(room // 2, 20))
        needed[1 - smaller] = max(room - needed[smaller], 20)
    left_rows = [_numbered(first + i if j == 0 else None, part)
                 for i, line in enumerate(left_lines) for j, part in enumerate(wrap(line, needed[0]))]  # fmt: skip
    right_rows = [part for line in right_lines for part in wrap(line, needed[1])]
    width = _GUTTER + needed[0]
    rows = [f"{'original':<{width}} | {heading}", f"{'-' * width}-+-{'-' * needed[1]}"]
    for i in range(max(len(left_rows), len(right_rows))):
        a = left_rows[i] if i < len(left_rows) else []
        b = right_rows[i] if i < len(right_rows) else []
        pad = " " * (width - sum(len(text) for _, text in a))
        rows.append(f"{to_terminal(a, colour)}{pad} | {to_terminal(b, colour)}".rstrip())
    return "\n".join(rows) + "\n"


def _numbered(number: int | None, spans: list[Span]) -> list[Span]:
    shown = "" if number is None else str(number)
    return [("comment", f"{shown:>{_GUTTER - 1}} "), *spans]
