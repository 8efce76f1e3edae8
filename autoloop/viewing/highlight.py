"""Python source with colours, for a terminal or for a page. Python's own tokenizer tells the words apart."""

from __future__ import annotations

import builtins
import io
import keyword
import os
import sys
import tokenize
from html import escape
from typing import TextIO

#: the kind of a piece of text ("" for plain) and the text, which holds no line break
Span = tuple[str, str]

_ANSI = {
    "keyword": "\x1b[35m", "string": "\x1b[32m", "comment": "\x1b[90m", "number": "\x1b[36m", "name": "\x1b[1;34m",
    "builtin": "\x1b[34m", "decorator": "\x1b[33m",
}  # fmt: skip
_RESET = "\x1b[0m"
CSS = """\
.keyword { color: #8f2aa3; } .string { color: #2b7a3d; } .comment { color: #7a7a7a; font-style: italic; }
.number { color: #17707c; } .name { color: #1d4fa3; font-weight: 600; } .builtin { color: #2f62a8; }
.decorator { color: #a3631a; }
"""
_BUILTINS = frozenset(dir(builtins))
#: kinds of token that are parts of f-strings, where the Python version has them
_STRINGS = {tokenize.STRING} | {
    getattr(tokenize, f"{kind}_{part}")
    for kind in ("FSTRING", "TSTRING")
    for part in ("START", "MIDDLE", "END")
    if hasattr(tokenize, f"{kind}_{part}")
}


def spans_of(source: str) -> list[list[Span]]:
    """Return the lines of ``source`` as coloured pieces; plain if it is no Python."""
    lines = lines_of(source)
    try:
        marks = _marks(source)
    except (tokenize.TokenError, SyntaxError):
        marks = []
    found: list[list[Span]] = [[] for _ in lines]
    column = [0] * len(lines)
    for kind, (first, start), (last, end) in marks:
        for number in range(first - 1, min(last, len(lines))):
            line = lines[number]
            left = start if number == first - 1 else 0
            right = end if number == last - 1 else len(line)
            if left < column[number]:
                continue
            found[number] += [("", line[column[number] : left]), (kind, line[left:right])]
            column[number] = right
    for number, line in enumerate(lines):
        found[number].append(("", line[column[number] :]))
    return [[span for span in spans if span[1]] for spans in found]


def lines_of(source: str) -> list[str]:
    """Return the lines as Python counts them: a form feed, and what else ``splitlines`` ends a line at, ends none."""
    return source.removesuffix("\n").split("\n") if source else []


def _marks(source: str) -> list[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Return what is not plain: kind, start and end as (line, column)."""
    marks = []
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = _kind(token, before)
        if kind:
            marks.append((kind, token.start, token.end))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.string
    return marks


def _kind(token: tokenize.TokenInfo, before: str) -> str:
    if token.type == tokenize.COMMENT:
        return "comment"
    if token.type in _STRINGS:
        return "string"
    if token.type == tokenize.NUMBER:
        return "number"
    if token.type == tokenize.OP:
        return (
            "decorator" if token.string == "@" and token.line[: token.start[1]].isspace() | (not token.start[1]) else ""
        )
    if token.type != tokenize.NAME:
        return ""
    if keyword.iskeyword(token.string):
        return "keyword"
    if before in ("def", "class"):
        return "name"
    if before == "@":
        return "decorator"
    return "builtin" if token.string in _BUILTINS and before != "." else ""


def wants_colour(stream: TextIO) -> bool:
    """Return true for a terminal, unless NO_COLOR or TERM=dumb says otherwise."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty() and sys.platform != "emscripten"


def to_terminal(spans: list[Span], colour: bool) -> str:
    """Return one line as text, with escape sequences if ``colour``."""
    if not colour:
        return "".join(text for _, text in spans)
    return "".join(f"{_ANSI[kind]}{text}{_RESET}" if kind else text for kind, text in spans)


def to_html(spans: list[Span]) -> str:
    """Return one line as html."""
    return "".join(f'<span class="{kind}">{escape(text)}</span>' if kind else escape(text) for kind, text in spans)


def wrap(spans: list[Span], width: int) -> list[list[Span]]:
    """Return a line cut into pieces of at most ``width`` characters."""
    lines: list[list[Span]] = [[]]
    room = width
    for kind, text in spans:
        while text:
            if room == 0:
                lines.append([])
                room = width
            lines[-1].append((kind, text[:room]))
            text, room = text[room:], room - len(text[:room])
    return lines
