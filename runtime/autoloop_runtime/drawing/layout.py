"""Where everything goes: a layered layout of every cluster, from the innermost outwards.

A cluster is laid out by itself and is then one item of the cluster around it. A line that crosses a border
does so at a point of the cluster's upper or lower edge, which is an item of the inner level and a port of the
outer one; its route is the chain of its routes on each level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .layers import Item, Level, Link, Route
from .picture import Box, Cluster, Edge, Picture
from .styles import STYLES

#: width of a character by size of type; a little generous, because the reader's font is not known
_LETTER = {12: 6.9, 10: 5.9, 9: 5.3}
PADDING = 14.0
HEADING = 24.0


@dataclass(frozen=True, slots=True)
class Rect:
    """Left, top, width and height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is, in points from the upper left corner.

    Attributes
    ----------
    boxes : dict of str to Rect
        By the id of the box.
    clusters : dict of int to Rect
        By index; cluster 0 is the whole sheet.
    routes : list of Route
        One per edge of the picture.
    """

    boxes: dict[str, Rect]
    clusters: dict[int, Rect]
    routes: list[Route]


def text_width(text: str, size: int) -> float:
    """About how wide ``text`` is."""
    return len(text) * _LETTER[size]


def box_size(box: Box) -> tuple[float, float]:
    """Width and height of a box with its text."""
    shape = STYLES[box.style].shape
    if shape == "circle":
        return 24.0, 24.0
    if shape == "plain":
        return text_width(box.label, 10) + 10.0, 18.0
    text = max(text_width(box.label, 12), text_width(box.note, 9))
    slant = {"box": 16.0, "diamond": 44.0, "hexagon": 34.0, "ellipse": 26.0}.get(shape, 34.0)
    height = 30.0 if not box.note else 40.0
    return max(text + slant, 44.0), height + (8.0 if shape in ("invhouse", "house") else 0.0)


def lay_out(picture: Picture) -> Layout:
    """Place every box, cluster and edge of ``picture``."""
    return _Sheet(picture).result()


#: what a line is known by on a level: the source box and its output; its branches share one line across a border
_Wire = tuple[str, int]
#: one end of a line on a level: ("box", id, port), ("area", cluster, wire) or, at its own border, ("border", wire)
_End = tuple[Any, ...]


@dataclass(slots=True)
class _Area:
    """A cluster while it is laid out."""

    cluster: Cluster
    item: Item | None = None  # in the level around it
    boxes: dict[str, Item] = field(default_factory=dict)
    inner: dict[int, _Area] = field(default_factory=dict)
    entries: dict[_Wire, Item] = field(default_factory=dict)
    exits: dict[_Wire, Item] = field(default_factory=dict)
    #: the lines of the level, and whether each is a link back
    wanted: dict[tuple[_End, _End], bool] = field(default_factory=dict)
    links: dict[tuple[_End, _End], Link] = field(default_factory=dict)
    level: Level = field(default_factory=lambda: Level((), ()))
    #: corner of the level inside the cluster's rectangle, and of that rectangle on the sheet
    inset: tuple[float, float] = (0.0, 0.0)
    corner: tuple[float, float] = (0.0, 0.0)

    def arrange(self) -> None:
        """Lay the level out, once the clusters inside are."""
        for (source, target), back in self.wanted.items():
            self.links[source, target] = Link(*self._port(source, True), *self._port(target, False), back)
        items = [*self.entries.values(), *self.boxes.values(), *self.exits.values()]
        items += [area.item for area in self.inner.values() if area.item is not None]
        self.level = Level(items, list(self.links.values()))
        heading = text_width(self.cluster.title, 12) + text_width(self.cluster.note, 10) + 12.0
        width, height = self.level.width, self.level.height
        if self.cluster.parent >= 0:
            width = max(width, heading) + 2 * PADDING
            height += HEADING + PADDING
            self.inset = ((width - self.level.width) / 2, HEADING)
        self.item = Item(width, height)

    def _port(self, end: _End, tail: bool) -> tuple[Item, float]:
        if end[0] == "border":
            return (self.entries if tail else self.exits)[end[1]], 0.0
        if end[0] == "area":
            inner = self.inner[end[1]]
            assert inner.item is not None
            crossing = (inner.exits if tail else inner.entries)[end[2]]
            return inner.item, inner.inset[0] + crossing.x - inner.item.width / 2
        item, (index, count) = self.boxes[end[1]], end[2]
        return item, ((index + 0.5) / count - 0.5) * item.width * 0.7

    def origin(self) -> tuple[float, float]:
        """Where the level's own (0, 0) is on the sheet."""
        return self.corner[0] + self.inset[0], self.corner[1] + self.inset[1]


class _Sheet:
    def __init__(self, picture: Picture) -> None:
        self.areas = {c.index: _Area(c) for c in picture.clusters}
        self.home = {box.id: box.cluster for box in picture.boxes}
        for cluster in picture.clusters[1:]:
            self.areas[cluster.parent].inner[cluster.index] = self.areas[cluster.index]
        for box in picture.boxes:
            self.areas[box.cluster].boxes[box.id] = Item(*box_size(box), rank=STYLES[box.style].rank)
        self.lines = [self._line(edge) for edge in picture.edges]
        for cluster in reversed(picture.clusters):
            self.areas[cluster.index].arrange()

    def _around(self, index: int) -> list[int]:
        found = [index]
        while self.areas[found[-1]].cluster.parent >= 0:
            found.append(self.areas[found[-1]].cluster.parent)
        return found

    def _line(self, edge: Edge) -> list[tuple[_Area, tuple[_End, _End]]]:
        """The links that make up an edge: in each cluster it leaves, in one that it crosses, in each it enters."""
        up, down = self._around(self.home[edge.source]), self._around(self.home[edge.target])
        while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
            up.pop()
            down.pop()
        wire = (edge.source, edge.tail[0])
        across = len(up) - 1
        chain = up + down[-2::-1]
        line = []
        for position, index in enumerate(chain):
            source: _End = ("box", edge.source, edge.tail)
            target: _End = ("box", edge.target, edge.head)
            if position > 0:
                source = ("area", chain[position - 1], wire) if position <= across else ("border", wire)
            if position + 1 < len(chain):
                target = ("area", chain[position + 1], wire) if position >= across else ("border", wire)
            area = self.areas[index]
            if position < across:
                area.exits.setdefault(wire, Item(4.0, 0.0, "after", True))
            elif position > across:
                area.entries.setdefault(wire, Item(4.0, 0.0, "before", True))
            area.wanted.setdefault((source, target), edge.style == "back" and position == across)
            line.append((area, (source, target)))
        return line

    def result(self) -> Layout:
        """Everything in the coordinates of the sheet."""
        boxes: dict[str, Rect] = {}
        clusters: dict[int, Rect] = {}
        for index, area in self.areas.items():  # parents before children
            assert area.item is not None
            left, top = area.origin()
            clusters[index] = Rect(*area.corner, area.item.width, area.item.height)
            for inner in area.inner.values():
                assert inner.item is not None
                inner.corner = (left + inner.item.x - inner.item.width / 2, top + inner.item.top)
            for name, item in area.boxes.items():
                boxes[name] = Rect(left + item.x - item.width / 2, top + item.top, item.width, item.height)
        return Layout(boxes, clusters, [self._route(line) for line in self.lines])

    @staticmethod
    def _route(line: list[tuple[_Area, tuple[_End, _End]]]) -> Route:
        points: Route = []
        for area, key in line:
            left, top = area.origin()
            points += [(left + x, top + y, way) for x, y, way in area.level.route(area.links[key])]
        return points
