"""Where everything goes: a layered layout of every cluster, from the innermost outwards.

A cluster is laid out by itself and is then one item of the cluster around it. A line that crosses a border
does so at a point of the cluster's upper or lower edge, which is an item of the inner level and a port of the
outer one; its route is the chain of its routes on each level.

It is ours because it is lighter than Graphviz, a program that the system has to have, with about a hundred packages on
Debian 12 (``apt-cache depends --recurse --no-recommends --no-suggests graphviz``). Who has it can let it lay out
``--format dot``, and see what either takes (``python tests/benchmarks/own_parts.py pictures``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoloop_runtime.base.dataclass import dataclass, field

from .layers import Item, Level, Link, Route
from .picture import Box, Cluster, Edge, Picture, Port
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


#: room for the lines between constants and the box below that takes them
_SILL = 16.0
#: the share of a side of a box where lines come in or leave
_SIDE = 0.7


def text_width(text: str, size: int) -> float:
    """Return about how wide ``text`` is."""
    return len(text) * _LETTER[size]


def box_size(box: Box) -> tuple[float, float]:
    """Return width and height of a box with its text."""
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


@dataclass(frozen=True, slots=True)
class _Place:
    """A box together with the constants that it takes, which stand right above it.

    Attributes
    ----------
    item : Item
        What the level sees of it: room for all.
    width, height : float
        Of the box itself, which stands at the bottom of the item.
    slots : tuple of float
        With constants: where each input comes in at the top of the item, as offsets from its centre.
    pills : dict of int to (str, float, float)
        The constants: input number to id, width and height.
    """

    item: Item
    width: float
    height: float
    slots: tuple[float, ...] = ()
    pills: dict[int, tuple[str, float, float]] = field(default_factory=dict)

    def port(self, end: Port) -> float:
        """Return the offset from the centre of one of the inputs or outputs along the side of the box."""
        index, count = end
        return ((index + 0.5) / count - 0.5) * self.width * _SIDE


def _place(box: Box, constants: dict[int, Box], inputs: int, words: Sequence[str]) -> _Place:
    """Return a box with room for its constants above it, and for the words on the lines that leave it."""
    width, height = box_size(box)
    if len(words) > 1:
        widest = max(text_width(one, 9) for one in words)
        width = max(width, (widest + 8.0) * len(words) / _SIDE)
    rank = STYLES[box.style].rank
    if not constants:
        return _Place(Item(width, height, rank), width, height)
    pills = {i: (pill.id, *box_size(pill)) for i, pill in constants.items()}
    widths = [pills[i][1] if i in pills else 8.0 for i in range(inputs)]
    total = sum(widths) + 4.0 * (inputs - 1)
    slots, x = [], -total / 2
    for one in widths:
        slots.append(x + one / 2)
        x += one + 4.0
    sill = _SILL + max(pill[2] for pill in pills.values())
    return _Place(Item(max(width, total), height + sill, rank), width, height, tuple(slots), pills)


#: what a line is known by on a level: the source box and its output; its branches share one line across a border
_Wire = tuple[str, int]
#: one end of a line on a level: ("box", id, port), ("area", cluster, wire) or, at its own border, ("border", wire)
_End = tuple[Any, ...]


@dataclass(slots=True)
class _Area:
    """A cluster while it is laid out."""

    cluster: Cluster
    item: Item | None = None  # in the level around it
    boxes: dict[str, _Place] = field(default_factory=dict)
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
        # where lines come in from above, the title has a place between them
        title = [Item(text_width(self.cluster.title, 12), 0.0, "before")] if self.entries else []
        items = [*title, *self.entries.values(), *(p.item for p in self.boxes.values()), *self.exits.values()]
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
        place, port = self.boxes[end[1]], end[2]
        return place.item, place.port(port) if tail or not place.slots else place.slots[port[0]]

    def origin(self) -> tuple[float, float]:
        """Return where the level's own (0, 0) is on the sheet."""
        return self.corner[0] + self.inset[0], self.corner[1] + self.inset[1]


class _Sheet:
    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.areas = {c.index: _Area(c) for c in picture.clusters}
        self.home = {box.id: box.cluster for box in picture.boxes}
        for cluster in picture.clusters[1:]:
            self.areas[cluster.parent].inner[cluster.index] = self.areas[cluster.index]
        self._place_boxes()
        self.lines = [self._line(edge) for edge in picture.edges]
        for cluster in reversed(picture.clusters):
            self.areas[cluster.index].arrange()

    def _place_boxes(self) -> None:
        boxes = {box.id: box for box in self.picture.boxes}
        constants: dict[str, dict[int, Box]] = {}
        for edge in self.picture.edges:
            source = boxes[edge.source]
            if source.style == "const" and source.cluster == self.home[edge.target] and edge.style == "data":
                constants.setdefault(edge.target, {})[edge.head[0]] = source
        inputs = {edge.target: edge.head[1] for edge in self.picture.edges}
        words: dict[str, list[str]] = {}
        for edge in self.picture.edges:
            named = words.setdefault(edge.source, [""] * edge.tail[1])
            named[edge.tail[0]] = named[edge.tail[0]] or edge.label
        self.attached = {pill.id: target for target, pills in constants.items() for pill in pills.values()}
        for box in self.picture.boxes:
            if box.id not in self.attached:
                place = _place(box, constants.get(box.id, {}), inputs.get(box.id, 0), words.get(box.id, ()))
                self.areas[box.cluster].boxes[box.id] = place

    def _around(self, index: int) -> list[int]:
        found = [index]
        while self.areas[found[-1]].cluster.parent >= 0:
            found.append(self.areas[found[-1]].cluster.parent)
        return found

    def _line(self, edge: Edge) -> list[tuple[_Area, tuple[_End, _End]]]:
        """Return the links that make up an edge: in each cluster it leaves, in one that it crosses,
        in each it enters."""
        if edge.source in self.attached:
            return []
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
        """Return everything in the coordinates of the sheet."""
        boxes: dict[str, Rect] = {}
        clusters: dict[int, Rect] = {}
        for index, area in self.areas.items():  # parents before children
            assert area.item is not None
            left, top = area.origin()
            clusters[index] = Rect(*area.corner, area.item.width, area.item.height)
            for inner in area.inner.values():
                assert inner.item is not None
                inner.corner = (left + inner.item.x - inner.item.width / 2, top + inner.item.top)
            for name, place in area.boxes.items():
                x, y, item = left + place.item.x, top + place.item.top, place.item
                boxes[name] = Rect(x - place.width / 2, y + item.height - place.height, place.width, place.height)
                for number, (pill, width, height) in place.pills.items():
                    boxes[pill] = Rect(x + place.slots[number] - width / 2, y, width, height)
        routes = [self._route(edge, line, boxes) for edge, line in zip(self.picture.edges, self.lines)]
        return Layout(boxes, clusters, routes)

    def _route(self, edge: Edge, line: list[tuple[_Area, tuple[_End, _End]]], boxes: dict[str, Rect]) -> Route:
        target = boxes[edge.target]
        place = self.areas[self.home[edge.target]].boxes[edge.target]
        points: Route = []
        for area, key in line:
            left, top = area.origin()
            points += [(left + x, top + y, way) for x, y, way in area.level.route(area.links[key])]
        if not line:
            pill = boxes[edge.source]
            points = [(pill.x + pill.width / 2, pill.y + pill.height, 1)]
        if place.slots:
            points.append((target.x + target.width / 2 + place.port(edge.head), target.y, 1))
        return points
