"""A picture as a standalone svg: no program beside Python is needed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from html import escape

from .layers import Route
from .layout import Layout, Rect, lay_out, text_width
from .picture import Box, Picture, Port
from .styles import CLUSTER_FILLS, CLUSTER_STROKE, EDGE_COLOURS, EDGE_DASHES, EDGE_WORDS, GREY, INK, STYLES
from .turns import turned

_MARGIN = 24.0
_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_LEGEND_ROW = 26.0
Point = tuple[float, float]


def to_svg(picture: Picture, *, legend: bool = True) -> str:
    """Return the picture as svg text.

    Parameters
    ----------
    picture : Picture
    legend : bool
        Explain the shapes and lines that occur below the drawing.
    """
    layout = lay_out(picture)
    sheet = layout.clusters[0]
    heading = _heading(picture)
    below = _legend(picture, sheet.width) if legend else ([], 0.0, 0.0)
    width = max(sheet.width, below[1], text_width(picture.title, 12) * 1.4, text_width(picture.note, 10)) + 2 * _MARGIN
    left, top = (width - sheet.width) / 2, _MARGIN + heading[1]
    height = top + sheet.height + (30.0 + below[2] if legend else 0.0) + _MARGIN
    body = _clusters(picture, layout) + _edges(picture, layout) + _boxes(picture, layout) + _labels(picture, layout)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{_FONT}" font-size="12">',
        f"<title>{escape(picture.title)}</title>",
        _markers(),
        f'<rect width="100%" height="100%" fill="{CLUSTER_FILLS[0]}"/>',
        *heading[0],
        f'<g transform="translate({left:.1f} {top:.1f})">',
        *body,
        "</g>",
        f'<g transform="translate({_MARGIN:.1f} {top + sheet.height + 30:.1f})">',
        *below[0],
        "</g>",
        "</svg>",
    ]) + "\n"  # fmt: skip


def _heading(picture: Picture) -> tuple[list[str], float]:
    lines, y = [], 0.0
    if picture.title:
        lines.append(_text(_MARGIN, _MARGIN + 12, picture.title, 'font-size="16" font-weight="bold"'))
        y = 26.0
    if picture.note:
        lines.append(_text(_MARGIN, _MARGIN + y + 6, picture.note, f'font-size="10" fill="{GREY}"'))
        y += 16.0
    return lines, y + (8.0 if y else 0.0)


def _markers() -> str:
    """Return one arrowhead per line style, in its colour."""
    made = [
        f'<marker id="head-{style}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0.8 L8 4 L0 7.2 z" fill="{colour}"/></marker>'
        for style, colour in EDGE_COLOURS.items()
    ]
    return f"<defs>{''.join(made)}</defs>"


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(text)}</text>'


# -- clusters -----------------------------------------------------------------------------------------------


def _clusters(picture: Picture, layout: Layout) -> list[str]:
    depth = {0: 0}
    lines = []
    for cluster in picture.clusters[1:]:
        depth[cluster.index] = depth[cluster.parent] + 1
        rect = layout.clusters[cluster.index]
        fill = CLUSTER_FILLS[min(depth[cluster.index], len(CLUSTER_FILLS) - 1)]
        lines.append(
            f'<rect class="cluster" data-cluster="{cluster.index}" {_rect(rect)} rx="12" fill="{fill}" '
            f'stroke="{CLUSTER_STROKE}"><title>{escape(f"{cluster.title} {cluster.note}".strip())}</title></rect>'
        )
    return lines


def _cluster_titles(picture: Picture, layout: Layout) -> list[str]:
    lines = []
    for cluster in picture.clusters[1:]:
        rect = layout.clusters[cluster.index]
        width = text_width(cluster.title, 12) + (text_width(cluster.note, 10) + 8.0 if cluster.note else 0.0)
        crossings = [x for route in layout.routes for x, y, _ in route if abs(y - rect.y) < 1.0]
        x, room = _free_place(rect, crossings, width)
        words = _shortened(cluster.note, room - text_width(cluster.title, 12) - 8.0)
        note = f'<tspan dx="8" font-size="10" font-weight="normal" fill="{GREY}">{escape(words)}</tspan>'
        lines.append(
            f'<text x="{x:.1f}" y="{rect.y + 17:.1f}" font-weight="bold" fill="#3b5578" {_HALO}>'
            f"{escape(cluster.title)}{note if words else ''}</text>"
        )
    return lines


def _free_place(rect: Rect, crossings: Sequence[float], width: float) -> tuple[float, float]:
    """Return where in the top of a cluster a text begins, and the room that it has: the place farthest to the left that
    no line crosses, else the widest."""
    ends = [rect.x + 6.0, *sorted(x for x in crossings if rect.x < x < rect.x + rect.width), rect.x + rect.width - 6.0]
    places = [(left + 6.0, right - left - 12.0) for left, right in itertools.pairwise(ends)]
    return next((one for one in places if one[1] >= width), max(places, key=lambda one: one[1]))


def _shortened(text: str, room: float) -> str:
    """Return a text, or its beginning, that fits; nothing where that says nothing."""
    if not text or text_width(text, 10) <= room:
        return text
    kept = text[: max(0, int(len(text) * (room - 10.0) / text_width(text, 10)))]
    return f"{kept.rstrip()}…" if len(kept) > 8 else ""


#: keeps text legible where a line passes behind it
_HALO = 'paint-order="stroke" stroke="#ffffff" stroke-width="4" stroke-linejoin="round"'


def _rect(rect: Rect) -> str:
    return f'x="{rect.x:.1f}" y="{rect.y:.1f}" width="{rect.width:.1f}" height="{rect.height:.1f}"'


# -- lines --------------------------------------------------------------------------------------------------


def _edges(picture: Picture, layout: Layout) -> list[str]:
    lines = []
    for edge, route in zip(picture.edges, layout.routes):
        dashes = f' stroke-dasharray="{EDGE_DASHES[edge.style]}"' if EDGE_DASHES[edge.style] else ""
        lines.append(
            f'<path class="edge" data-from="{escape(edge.source)}" data-to="{escape(edge.target)}" '
            f'd="{path_of(route)}" fill="none" stroke="{EDGE_COLOURS[edge.style]}" stroke-width="1.2"{dashes} '
            f'marker-end="url(#head-{edge.style})"/>'
        )
    return lines


def path_of(route: Route) -> str:
    """Return svg path data: vertical at every point of the route, curved between them, level where it turns."""
    x, y, way = route[0]
    parts = [f"M{x:.1f} {y:.1f}"]
    turn: float | None = None
    for x1, y1, way1 in route[1:]:
        if way1 == 0:
            turn = y1
            continue
        if turn is not None:
            parts.append(turned(x, y, x1, y1, turn))
        elif abs(x1 - x) < 0.5 and abs(y1 - y) < 0.5:
            continue  # the arrowhead of a line that ends in a point twice has no direction
        elif abs(x1 - x) < 0.5:
            parts.append(f"L{x1:.1f} {y1:.1f}")
        else:
            bend = abs(y1 - y) * 0.5
            parts.append(f"C{x:.1f} {y + way * bend:.1f} {x1:.1f} {y1 - way1 * bend:.1f} {x1:.1f} {y1:.1f}")
        x, y, way, turn = x1, y1, way1, None
    return " ".join(parts)


def _labels(picture: Picture, layout: Layout) -> list[str]:
    """Return the words on lines, in front of everything; sides of a Switch are bold."""
    lines = _cluster_titles(picture, layout)
    words: dict[tuple[str, Port, str], list[Route]] = {}
    for edge, route in zip(picture.edges, layout.routes):
        words.setdefault((edge.source, edge.tail, edge.label), []).append(route)
    for (_, tail, label), routes in words.items():
        if not label:
            continue
        x, y, _ = routes[0][0]
        side = label in ("T", "F")
        # beside lines, not on them
        left = label == "F" if side else tail[0] == 0 and all(map(_leads_right, routes))
        look = f'font-weight="bold" fill="{STYLES["switch"].stroke}"' if side else f'fill="{GREY}"'
        end = ' text-anchor="end"' if left else ""
        lines.append(
            _text(x + (-4 if left else 4), y + (10 if side else 12), label, f'font-size="9" {look}{end} {_HALO}')
        )
    return lines


def _leads_right(route: Route) -> bool:
    x = route[0][0]
    return next((other > x for other, _, _ in route if abs(other - x) > 2.0), False)


# -- boxes --------------------------------------------------------------------------------------------------


def _boxes(picture: Picture, layout: Layout) -> list[str]:
    lines = []
    for box in picture.boxes:
        line = f' data-line="{box.line.lineno}"' if box.line is not None else ""
        lines.append(f'<g class="node {box.style}" data-name="{escape(box.id)}"{line}>')
        lines.append(f"<title>{escape(box.tip or box.label)}</title>")
        lines.append(_outline(box.style, layout.boxes[box.id]))
        lines += _box_text(box, layout.boxes[box.id])
        lines.append("</g>")
    return lines


def _box_text(box: Box, rect: Rect) -> list[str]:
    shape = STYLES[box.style].shape
    size = 10 if shape == "plain" else 9 if shape == "circle" else 12
    x, y = rect.x + rect.width / 2, rect.y + rect.height / 2 + size * 0.35
    y += {"invhouse": -4.0, "house": 4.0}.get(shape, 0.0)
    ink = GREY if box.style == "unused" else INK
    if not box.note:
        return [_text(x, y, box.label, f'text-anchor="middle" font-size="{size}" fill="{ink}"')]
    return [
        _text(x, y - 5, box.label, f'text-anchor="middle" font-size="{size}" fill="{ink}"'),
        _text(x, y + 8, box.note, f'text-anchor="middle" font-size="9" fill="{GREY}"'),
    ]


def _outline(style: str, rect: Rect) -> str:
    look = STYLES[style]
    paint = f'fill="{look.fill}" stroke="{look.stroke}"'
    if look.shape in ("ellipse", "circle"):
        return (
            f'<ellipse cx="{rect.x + rect.width / 2:.1f}" cy="{rect.y + rect.height / 2:.1f}" '
            f'rx="{rect.width / 2:.1f}" ry="{rect.height / 2:.1f}" {paint}/>'
        )
    if look.shape in ("box", "plain"):
        return f'<rect {_rect(rect)} rx="{3 if look.shape == "box" else 8}" {paint}/>'
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in _POLYGONS[look.shape](rect))
    return f'<polygon points="{points}" stroke-linejoin="round" {paint}/>'


def _corners(*corners: tuple[float, float, float]) -> Callable[[Rect], list[Point]]:
    """Return a polygon from ``(fraction of the width, of the height, inset in points)`` per corner."""
    return lambda r: [(r.x + fx * r.width + inset, r.y + fy * r.height) for fx, fy, inset in corners]


_SLANT = 12.0
_POLYGONS: dict[str, Callable[[Rect], list[Point]]] = {
    "invtrapezium": _corners((0, 0, 0), (1, 0, 0), (1, 1, -_SLANT), (0, 1, _SLANT)),
    "trapezium": _corners((0, 0, _SLANT), (1, 0, -_SLANT), (1, 1, 0), (0, 1, 0)),
    "hexagon": _corners((0, 0.5, 0), (0, 0, _SLANT), (1, 0, -_SLANT), (1, 0.5, 0), (1, 1, -_SLANT), (0, 1, _SLANT)),
    "diamond": _corners((0.5, 0, 0), (1, 0.5, 0), (0.5, 1, 0), (0, 0.5, 0)),
    "invhouse": _corners((0, 0, 0), (1, 0, 0), (1, 0.72, 0), (0.5, 1, 0), (0, 0.72, 0)),
    "house": _corners((0.5, 0, 0), (1, 0.28, 0), (1, 1, 0), (0, 1, 0), (0, 0.28, 0)),
}


# -- legend -------------------------------------------------------------------------------------------------


def _legend(picture: Picture, wanted: float) -> tuple[list[str], float, float]:
    """Return a line per kind of box and line that occurs, in columns: ``(lines, width, height)``."""
    used = {box.style for box in picture.boxes}
    entries = [(_swatch(name), style.words) for name, style in STYLES.items() if name in used]
    lines_used = {edge.style for edge in picture.edges}
    entries += [(_stroke(name), words) for name, words in EDGE_WORDS.items() if name in lines_used]
    column = max((text_width(words, 10) for _, words in entries), default=0.0) + 62.0
    columns = max(1, min(3, int(max(wanted, 760.0) // column)))
    per_column = -(-len(entries) // columns)
    out = []
    for number, (mark, words) in enumerate(entries):
        x, y = (number // per_column) * column, (number % per_column) * _LEGEND_ROW
        out.append(f'<g transform="translate({x:.1f} {y:.1f})">{mark}')
        out.append(_text(44, 14, words, f'font-size="10" fill="{GREY}"') + "</g>")
    return out, columns * column, per_column * _LEGEND_ROW


def _swatch(style: str) -> str:
    return _outline(style, Rect(9, 1, 18, 18) if STYLES[style].shape == "circle" else Rect(0, 1, 36, 18))


def _stroke(style: str) -> str:
    dashes = f' stroke-dasharray="{EDGE_DASHES[style]}"' if EDGE_DASHES[style] else ""
    return (
        f'<path d="M0 10 L36 10" stroke="{EDGE_COLOURS[style]}" stroke-width="1.2"{dashes} '
        f'marker-end="url(#head-{style})"/>'
    )
