"""Layered layout of one level: rows from top to bottom, few crossings, straight lines where possible.

After Sugiyama: rows by longest path, long links split at every row they pass, orders by barycentres. Orders and
coordinates come from the same step: each item wishes to stand below (above) its neighbours, and the wishes of a
row are reconciled by isotonic regression, which keeps the order and the gaps and moves everything the least.
A link back (to the next iteration) is a lane that runs up beside the rows it spans.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import copysign, inf

from .turns import FIRST, depths

GAP = 26.0
LANE_GAP = 13.0
ROW_GAP = 34.0
#: between the turn of a link back and what is beyond it
_BEYOND = 9.0
#: sweeps for the order of the rows, and passes for the coordinates, by the number of items and bends
_CARE = ((2_000, 14, 8), (20_000, 6, 3), (inf, 2, 1))
#: sides of the lanes of the first and the second half of the links back: -1 left, 1 right
_SIDES = ((-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))
#: levels with fewer items get more care
_SMALL = 150
#: levels with more bends than this let the lines from one output share theirs
_MANY_BENDS = 4_000
#: a line that misses its port by less is drawn straight
_SNAP = 7.0


class Item:
    """Something with a place in a row: a box, a cluster, a bend of a long link, the end of a link from outside."""

    __slots__ = ("above", "below", "height", "is_bend", "rank", "row", "side", "top", "width", "x")

    def __init__(self, width: float, height: float, rank: str = "", is_bend: bool = False) -> None:
        self.width = width
        self.height = height
        #: "top" and "bottom": in the first or last row; "before" and "after": in a row beyond those
        self.rank = rank
        self.is_bend = is_bend
        self.row = 0
        self.x = 0.0  # of the centre
        self.top = 0.0
        # neighbours: (item, its port, my port, weight); ports are offsets from the centres
        self.above: list[tuple[Item, float, float, float]] = []
        self.below: list[tuple[Item, float, float, float]] = []
        #: neighbours in the same row, of a bend of a link back
        self.side: list[tuple[Item, float]] = []

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height


class Link:
    """A line from ``a`` to ``b``; a link back leads to an item in the same row or above."""

    __slots__ = ("a", "a_port", "b", "b_port", "back", "bends", "turns")

    def __init__(self, a: Item, a_port: float, b: Item, b_port: float, back: bool = False) -> None:
        self.a, self.a_port = a, a_port
        self.b, self.b_port = b, b_port
        self.back = back
        self.bends: list[Item] = []
        #: of a link back: how far below the row of ``a`` it turns, and above that of ``b``
        self.turns = (FIRST, FIRST)

    @property
    def start(self) -> float:
        """Where it leaves ``a``."""
        return self.a.x + self.a_port

    @property
    def end(self) -> float:
        """Where it comes in: a link back on the side of its lane, beside the line from above."""
        end = self.b.x + self.b_port
        if self.back and not self.b_port:
            end += copysign(self.b.width * 0.25, self.bends[0].x - self.b.x)
        return end


#: points of a line, each with the vertical direction it is passed in: 1 down, -1 up, 0 where it turns
Route = list[tuple[float, float, int]]


class Level:
    """A laid out level; coordinates start at (0, 0).

    Attributes
    ----------
    width, height : float
    """

    def __init__(self, items: Sequence[Item], links: Sequence[Link]) -> None:
        self.links = links
        _assign_rows(items, links)
        plain: list[list[Item]] = [[] for _ in range(1 + max((i.row for i in items), default=-1))]
        for item in items:
            plain[item.row].append(item)
        spans = (link.b.row - link.a.row - 1 for link in links if not link.back)
        self.bundles = sum(spans) > _MANY_BENDS
        # which side its lane takes is tried out for all links back together; large levels get one try
        back = sum(link.back for link in links)
        best, lowest = 0, inf
        for number, sides in enumerate(_SIDES if back and len(items) < _SMALL else ()):
            cost = self._set_up(plain, sides)
            if cost < lowest:
                best, lowest = number, cost
        self._set_up(plain, _SIDES[best])
        if sum(map(len, self.rows)) < _SMALL:
            _exchange(self.rows)
        self._finish_x()
        self._finish_y()

    def _set_up(self, plain: list[list[Item]], sides: tuple[float, float]) -> float:
        """Return rows with bends, in a good order, and its cost."""
        self.rows = [list(row) for row in plain]
        for item in (i for row in plain for i in row):
            item.above, item.below, item.side = [], [], []
        back = [link for link in self.links if link.back]
        for number, link in enumerate(back):
            self._lane(link, sides[2 * number >= len(back)])
        wires: dict[object, list[Item]] = {}
        for link in self.links:
            if not link.back:
                wire = (link.a, link.a_port) if self.bundles else link
                self._lead(link, wires.setdefault(wire, []))
        return _order(self.rows)

    def _lead(self, link: Link, bends: list[Item]) -> None:
        """Lead a link down along ``bends``, which other links may have made before; more are added as needed."""
        span = link.b.row - link.a.row - 1
        while len(bends) < span:
            bend = self._bend(link.a.row + 1 + len(bends))
            _join(*((bends[-1], 0.0) if bends else (link.a, link.a_port)), bend, 0.0)
            bends.append(bend)
        link.bends = bends[:span]
        _join(*((link.bends[-1], 0.0) if span else (link.a, link.a_port)), link.b, link.b_port)

    def _lane(self, link: Link, side: float) -> None:
        link.bends = [self._bend(row) for row in range(link.b.row, link.a.row + 1)]
        for upper, lower in pairwise(link.bends):
            _join(upper, 0.0, lower, 0.0)
        for bend, end in ((link.bends[0], link.b), (link.bends[-1], link.a)):
            beside = side * (end.width / 2 + LANE_GAP)
            bend.side.append((end, beside))
            end.side.append((bend, -beside))

    def _bend(self, row: int) -> Item:
        bend = Item(4.0, 0.0, is_bend=True)
        bend.row = row
        self.rows[row].append(bend)
        return bend

    def _finish_x(self) -> None:
        passes = _care(self.rows)[1]
        for _ in range(passes):
            for row in self.rows:
                _place(row, [_wish(i, i.above) for i in row])
            for row in reversed(self.rows):
                _place(row, [_wish(i, i.below) for i in row])
        for _ in range(passes):
            for row in (*self.rows, *reversed(self.rows)):
                _place(row, [_wish(i, (*i.above, *i.below)) for i in row])
        self._straighten()
        left = min((i.x - i.width / 2 for row in self.rows for i in row), default=0.0)
        for row in self.rows:
            for item in row:
                item.x -= left
        self.width = max((i.x + i.width / 2 for row in self.rows for i in row), default=0.0)

    def _straighten(self) -> None:
        """Make the bends of each link stand exactly below each other as far as their neighbours leave room."""
        around = {}
        for row in self.rows:
            for left, item, right in zip([None, *row], row, [*row[1:], None]):
                around[item] = (left, right)
        longest: dict[Item, Link] = {}  # by the first bend, which others may share
        for link in self.links:
            if link.bends and len(link.bends) > len(longest.setdefault(link.bends[0], link).bends):
                longest[link.bends[0]] = link
        for link in (*longest.values(), *longest.values()):
            first = link.a.x + link.a_port if not link.back else None
            run: list[Item] = []
            low, high = -inf, inf
            for bend in (*link.bends, None):
                if bend is not None:
                    left, right = around[bend]
                    least = -inf if left is None else left.x + _apart(left, bend)
                    most = inf if right is None else right.x - _apart(bend, right)
                    if max(low, least) <= min(high, most):
                        low, high = max(low, least), min(high, most)
                        run.append(bend)
                        continue
                wish = sum(i.x for i in run) / len(run) if first is None and run else first or 0.0
                for item in run:
                    item.x = min(max(wish, low), high)
                if bend is not None:
                    run, low, high, first = [bend], least, most, None

    def _finish_y(self) -> None:
        below, above = self._turns()
        y = above[0] + _BEYOND if above and above[0] else 0.0
        self.tops, self.bottoms = [], []
        for number, row in enumerate(self.rows):
            height = max((i.height for i in row), default=0.0)
            for item in row:
                if item.is_bend:
                    item.height = height
                # near what it is linked to: in a row with a tall cluster the middle may be far from both
                share = 0.0 if not item.below else 1.0 if not item.above else 0.5
                item.top = y + (height - item.height) * share
            self.tops.append(y)
            self.bottoms.append(y + height)
            y += height
            if number + 1 < len(self.rows):
                y += max(self._gap_below(row), below[number] + above[number + 1] + 2 * _BEYOND)
            elif below[number]:
                y += below[number] + _BEYOND
        self.height = y

    def _turns(self) -> tuple[list[float], list[float]]:
        """Choose where each link back turns; return how far that is below and above each row."""
        back = [link for link in self.links if link.back]
        below, above = [0.0] * len(self.rows), [0.0] * len(self.rows)
        for number in range(len(self.rows)):
            leave = [link for link in back if link.a.row == number]
            for link, depth in zip(leave, depths((link.start, link.bends[-1].x) for link in leave)):
                link.turns = (depth, link.turns[1])
                below[number] = max(below[number], depth)
            enter = [link for link in back if link.b.row == number]
            for link, depth in zip(enter, depths((link.bends[0].x, link.end) for link in enter)):
                link.turns = (link.turns[0], depth)
                above[number] = max(above[number], depth)
        return below, above

    @staticmethod
    def _gap_below(row: Iterable[Item]) -> float:
        """Return room for the lines between two rows: more where they run far to the side."""
        border = all(i.rank == "before" for i in row) or all(n.rank == "after" for i in row for n, *_ in i.below)
        far = max((abs(i.x + mine - n.x - port) for i in row for n, port, mine, _ in i.below), default=0.0)
        return (ROW_GAP / 2 if border else ROW_GAP) + min(36.0, far * 0.12)

    def route(self, link: Link) -> Route:
        """Return the points of a link, from its source to its target."""
        a, b = link.a, link.b
        start, end = link.start, link.end
        points: Route = [(start, a.bottom, 1), (start, self.bottoms[a.row], 1)]
        if link.back:
            points.append(((start + link.bends[-1].x) / 2, self.bottoms[a.row] + link.turns[0], 0))
            for bend in reversed(link.bends):
                points += [(bend.x, bend.bottom, -1), (bend.x, bend.top, -1)]
            points.append(((link.bends[0].x + end) / 2, self.tops[b.row] - link.turns[1], 0))
        else:
            for bend in link.bends:
                points += [(bend.x, bend.top, 1), (bend.x, bend.bottom, 1)]
        if not link.bends and abs(end - start) < _SNAP:
            end = start
        return [*points, (end, self.tops[b.row], 1), (end, b.top, 1)]


def _join(upper: Item, upper_port: float, lower: Item, lower_port: float) -> None:
    weight = (1.0, 2.0, 8.0)[upper.is_bend + lower.is_bend]
    upper.below.append((lower, lower_port, upper_port, weight))
    lower.above.append((upper, upper_port, lower_port, weight))


# -- rows ---------------------------------------------------------------------------------------------------


def _assign_rows(items: Sequence[Item], links: Sequence[Link]) -> None:
    """Assign rows by the longest path from the sources; sources then go down to what they feed, ranks are enforced."""
    order = _topological(items, links)
    forward = [link for link in links if not link.back]
    below: dict[Item, list[Item]] = {i: [] for i in items}
    fed = set()
    for link in forward:
        below[link.a].append(link.b)
        fed.add(link.b)
    first = 1 if any(i.rank == "before" for i in items) else 0
    for item in items:
        item.row = 0 if item.rank == "before" else first
    for item in order:
        for lower in below[item]:
            lower.row = max(lower.row, item.row + 1)
    for item in reversed(order):
        if item not in fed and item.rank == "" and below[item]:
            item.row = min(lower.row for lower in below[item]) - 1
    last = max((i.row for i in items if i.rank != "after"), default=0)
    for item in items:
        if item.rank == "bottom" and not any(lower.rank != "after" for lower in below[item]):
            item.row = last
        elif item.rank == "after":
            item.row = last + 1


def _topological(items: Sequence[Item], links: Sequence[Link]) -> list[Item]:
    """Return items before what they feed; a link that would close a circle becomes a link back."""
    out: dict[Item, list[Link]] = {i: [] for i in items}
    for link in links:
        if not link.back:
            out[link.a].append(link)
    state: dict[Item, int] = {}  # 1: on the path that is being followed, 2: done
    order: list[Item] = []
    for start in items:
        if start in state:
            continue
        state[start] = 1
        stack = [(start, iter(out[start]))]
        while stack:
            item, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[item] = 2
                order.append(item)
                stack.pop()
            elif state.get(following.b) == 1:
                following.back = True
            elif following.b not in state:
                state[following.b] = 1
                stack.append((following.b, iter(out[following.b])))
    return order[::-1]


# -- orders -------------------------------------------------------------------------------------------------


def _care(rows: list[list[Item]]) -> tuple[int, int]:
    size = sum(map(len, rows))
    return next((sweeps, passes) for most, sweeps, passes in _CARE if size < most)


def _order(rows: list[list[Item]]) -> float:
    """Sort every row so that few lines cross; the best of several sweeps is kept, and its cost given."""
    born = {item: number for number, item in enumerate(i for row in rows for i in row)}
    for row in rows:
        _pack(row)
    best, lowest = [list(row) for row in rows], _cost(rows, born)
    for sweep in range(_care(rows)[0]):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            wishes = {i: _wish(i, i.above if down else i.below) for i in row}
            row.sort(key=lambda i: wishes[i][0])
            _place(row, [wishes[i] for i in row])
        cost = _cost(rows, born)
        if cost < lowest:
            lowest, best = cost, [list(row) for row in rows]
    rows[:] = best
    for row in rows:
        _pack(row)
    return lowest


def _exchange(rows: list[list[Item]]) -> None:
    """Swap neighbours as long as that helps."""
    born = {item: number for number, item in enumerate(i for row in rows for i in row)}
    lowest = _cost(rows, born)
    for _ in range(4):
        before = lowest
        for row in rows:
            for place in range(len(row) - 1):
                row[place], row[place + 1] = row[place + 1], row[place]
                _pack(row)
                cost = _cost(rows, born)
                if cost < lowest:
                    lowest = cost
                else:
                    row[place], row[place + 1] = row[place + 1], row[place]
                    _pack(row)
        if lowest == before:
            return


def _pack(row: list[Item]) -> None:
    x = 0.0
    for before, item in zip([None, *row], row):
        x += 0.0 if before is None else _apart(before, item)
        item.x = x
    for item in row:
        item.x -= x / 2


def _cost(rows: list[list[Item]], born: dict[Item, int]) -> float:
    """Return the crossings of lines, what stands in the way of the turns of links back, and a little for lost order."""
    total = 0.0
    for row in rows:
        places = {item: place for place, item in enumerate(row)}
        total += sum(abs(places[i] - places[end]) - 1 for i in row if i.is_bend for end, _ in i.side)
        lines = sorted((i.x + mine, n.x + port) for i in row for n, port, mine, _ in i.below)
        total += _inversions([end for _, end in lines])
        total += 0.01 * _inversions([float(born[i]) for i in row if not i.is_bend])
    return total


def _inversions(values: Iterable[float]) -> int:
    total = 0
    seen: list[float] = []
    for value in values:
        total += len(seen) - bisect_right(seen, value + 0.5)
        insort(seen, value)
    return total


# -- coordinates --------------------------------------------------------------------------------------------


def _wish(item: Item, neighbours: Iterable[tuple[Item, float, float, float]]) -> tuple[float, float]:
    """Return where an item would like to stand, and how much."""
    total = weight = 0.0
    for other, port, mine, strength in neighbours:
        total += strength * (other.x + port - mine)
        weight += strength
    for other, offset in item.side:
        total += 3.0 * (other.x + offset)
        weight += 3.0
    return (total / weight, weight) if weight else (item.x, 0.05)


def _apart(left: Item, right: Item) -> float:
    gap = LANE_GAP if left.is_bend or right.is_bend else GAP
    return (left.width + right.width) / 2 + gap


def _place(row: list[Item], wishes: list[tuple[float, float]]) -> None:
    """Return the coordinates nearest to the wishes (weighted squares) that keep the order and the gaps of ``row``."""
    shifts: list[float] = []
    for before, item in zip([None, *row], row):
        shifts.append(0.0 if before is None else shifts[-1] + _apart(before, item))
    # isotonic regression by pooling neighbours that push each other: blocks of [wish, weight, how many]
    blocks: list[list[float]] = []
    for (wish, weight), shift in zip(wishes, shifts):
        blocks.append([wish - shift, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            value, heavy, count = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + value * heavy) / (last[1] + heavy)
            last[1] += heavy
            last[2] += count
    places = [block[0] for block in blocks for _ in range(int(block[2]))]
    for item, place, shift in zip(row, places, shifts):
        item.x = place + shift
