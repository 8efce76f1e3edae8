"""Curves as a standalone svg, both axes logarithmic; in the colours and letters of the pictures of graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_INK, _GREY, _RULE = "#2b2b2b", "#6b6b6b", "#dddddd"
_COLOURS = ("#1d7599", "#b4562c", "#4d8a3a", "#7a4fa3", "#a3812b", "#8a3a5a", "#4a4a4a")
_WIDTH, _HEIGHT = 620.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 120.0, 66.0, 52.0
#: letters at the ends of lines are at least so far apart
_APART = 14.0


@dataclass
class Line:
    """A curve: its name, its points, and where on it a dot marks something."""

    name: str
    points: list[tuple[float, float]]
    dot: float | None = None


class _Scale:
    """Numbers to places on the sheet, by their logarithms."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        self.low, self.high, self.begin, self.end = min(values), max(values), begin, end

    def __call__(self, value: float) -> float:
        part = math.log(value / self.low) / math.log(self.high / self.low) if self.high > self.low else 0.5
        return self.begin + part * (self.end - self.begin)

    def steps(self) -> Iterator[float]:
        """1, 1.5, 2, 3 ... within the scale."""
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            for digit in (1, 1.5, 2, 3, 5, 7):
                if self.low <= digit * 10.0**power <= self.high:
                    yield digit * 10.0**power


def chart(title: str, note: str, across: str, up: str, lines: list[Line], level: float | None = None) -> str:
    """Return the curves as svg text; ``level`` is a grey line across."""
    columns = sorted({x for line in lines for x, _ in line.points})
    heights = [y for line in lines for _, y in line.points] + ([level] if level else [])
    x = _Scale(columns, _LEFT, _WIDTH - _RIGHT)
    y = _Scale([0.9 * min(heights), 1.1 * max(heights)], _HEIGHT - _BOTTOM, _TOP)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" '
        f'viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" font-family="{_FONT}" font-size="12">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(24, 30, title, _INK, 'font-size="16" font-weight="bold"'),
        _text(24, 48, note, _GREY, 'font-size="10"'),
        *_axes(x, y, columns, across, up),
        *([_rule(_LEFT, y(level), _WIDTH - _RIGHT, y(level), "#9a9a9a", 2)] if level else []),
        *_curves(x, y, lines),
        "</svg>",
    ]) + "\n"  # fmt: skip


def _axes(x: _Scale, y: _Scale, columns: list[float], across: str, up: str) -> Iterator[str]:
    for value in columns:
        yield _rule(x(value), _TOP, x(value), _HEIGHT - _BOTTOM)
        yield _text(x(value), _HEIGHT - _BOTTOM + 16, f"{value:g}", _GREY, 'text-anchor="middle"')
    for value in y.steps():
        yield _rule(_LEFT, y(value), _WIDTH - _RIGHT, y(value))
        yield _text(_LEFT - 6, y(value) + 4, f"{value:g}", _GREY, 'text-anchor="end"')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield _text(middle, _HEIGHT - 14, across, _INK, 'text-anchor="middle"')
    height = (_TOP + _HEIGHT - _BOTTOM) / 2
    yield _text(18, height, up, _INK, f'text-anchor="middle" transform="rotate(-90 18 {height:.1f})"')


def _curves(x: _Scale, y: _Scale, lines: list[Line]) -> Iterator[str]:
    names = []
    for line, colour in zip(lines, _COLOURS * len(lines)):
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line.points)
        yield f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>'
        for a, b in line.points:
            if a == line.dot:
                yield f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4.5" fill="{colour}"/>'
        names.append((y(line.points[-1][1]), line.name, colour))
    above = 0.0
    for height, name, colour in sorted(names):
        above = max(height, above + _APART)
        yield _text(_WIDTH - _RIGHT + 8, above + 4, name, colour)


def _rule(x1: float, y1: float, x2: float, y2: float, colour: str = _RULE, width: float = 1) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'


def _text(x: float, y: float, text: str, colour: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" {attributes}>{escape(text)}</text>'
