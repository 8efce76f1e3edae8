"""How far running loops have come, for whoever shows it: it is read from outside, while they run.

No loop counts for it. One of generated Python goes through a range, which can say how much of it is left; the
scheduler's frames have their iterations; machine code leaves its counter where it asks for signals anyway. Loops that
stand in others are not looked at, but for one beside the outermost, where it is known.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any

from .dataclass import Protocol, dataclass, replace
from .locations import Line, Location
from .profiler import boards

#: more iterations than any loop does
ENDLESS = 1 << 62


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a loop is.

    Attributes
    ----------
    name : str
        Of its node.
    line : Line or None
    count : int
        How many iterations are over.
    over : bool
        Whether the loop is.
    trips : int or None
        How many iterations there are, if that is known of the form in which it runs.
    inner : tuple of (str, int) or None
        A loop in it, and how far that is.
    """

    name: str
    line: Line | None
    count: int
    over: bool = False
    trips: int | None = None
    inner: tuple[str, int] | None = None


def reading(loop: Looped, count: int, over: bool = False, trips: int | None = None) -> Reading:
    """Return how far the loop of a node is, of which a trace may have begun some iterations itself."""
    line = loop.location[-1] if loop.location else None
    return Reading(loop.name, line, count + loop.attrs.get("begun", 0), over, trips)


class Odometer(Protocol):
    """What tells of loops that run; any thread may ask."""

    def readings(self) -> list[Reading]: ...


class Looped(Protocol):
    """The node of a loop."""

    @property
    def name(self) -> str: ...
    @property
    def location(self) -> Location: ...
    @property
    def attrs(self) -> Mapping[str, Any]: ...


class Board:
    """The odometers of one run, which the thread begins that makes this.

    Changed by single operations, so that threads need no lock; those that look take copies.
    """

    def __init__(self) -> None:
        self._thread = get_ident()
        #: by thread; what begins while another is at work on the same thread is part of that one's loop
        self._running: dict[int, list[Odometer]] = {}
        #: what the loops that are over read in the end
        self._ended: dict[str, Reading] = {}

    def begin(self, odometer: Odometer) -> None:
        """Take an odometer that works on this thread from now on."""
        me = get_ident()
        if me != self._thread and any(one.readings() for one in self._running.get(self._thread, [])):
            return  # a worker's, which helps with the body of a loop
        self._running.setdefault(me, []).append(odometer)

    def end(self, odometer: Odometer) -> None:
        """Put an odometer of this thread away."""
        running = self._running.get(get_ident(), [])
        if odometer in running:
            place = running.index(odometer)
            if not any(one.readings() for one in running[:place]):
                self._ended.update([(one.name, replace(one, over=True)) for one in odometer.readings()])
            del running[place:]

    def restart(self) -> None:
        """Forget what this thread has begun: it begins anew."""
        self._running.pop(get_ident(), None)
        self._ended.clear()

    def readings(self) -> dict[str, Reading]:
        """Return how far the outermost loops are, of those that are over, too, by name."""
        running = [one for every in list(self._running.values()) for one in _together(every.copy())]
        return {one.name: one for one in running} | self._ended


def _together(running: list[Odometer]) -> list[Reading]:
    """Return what the odometers of one thread tell of the outermost loops."""
    every = [told for one in running if (told := one.readings())]
    if len(every) < 2 or len(every[0]) != 1:
        return every[0] if every else []
    (outer,), deeper = every[0], every[-1][-1]
    if deeper.name == outer.name:  # another executor goes on with it
        return [replace(outer, count=max(outer.count, deeper.count))]
    return [replace(outer, inner=(deeper.name, deeper.count))]


def board_here() -> Board | None:
    """Return the board of the run that this thread works for."""
    found = boards.get(get_ident())
    if found is None:  # a worker's: of the newest run, which in most programs is the only one
        found = next(iter(list(boards.values())[::-1]), None)
    return found


class Beginning:
    """A loop of generated Python that may be shown: called when a run of it begins."""

    __slots__ = ("_loop",)

    def __init__(self, loop: Looped) -> None:
        self._loop = loop

    def __call__(self, turns: Any = None) -> Turning:
        """Return the odometer of the run; ``turns``: the chunks that it is run in."""
        return Turning(self._loop, board_here(), turns)


class Turning:
    """A loop that goes through ranges."""

    __slots__ = ("_before", "_board", "_length", "_loop", "_over", "_turns")

    def __init__(self, loop: Looped, board: Board | None, turns: Any) -> None:
        self._loop, self._board, self._turns = loop, board, turns
        self._over: Any = iter(range(0))
        self._before = self._length = 0
        if board is not None:
            board.begin(self)

    def over(self, some: Iterable[Any] | None = None, before: int = 0) -> Iterator[Any]:
        """Return an iterator over all that the loop goes through, or over the next chunk; without ``some`` over what
        has no end and costs least. ``before``: how many iterations there were."""
        iterator: Any = repeat(None, ENDLESS) if some is None else iter(some)
        # in this order: who reads meanwhile reads too little
        self._before = before if self._turns is None else self._turns.some.start
        self._length = iterator.__length_hint__()
        self._over = iterator
        return iterator  # type: ignore[no-any-return]

    def counting(self, before: int = 0) -> Iterator[int]:
        """Return what counts iterations, of which there were so many."""
        return self.over(range(before, ENDLESS), before)

    def reach(self, count: int) -> None:
        """Note that so many iterations are over, before those that it is gone through here."""
        self._before = count

    def readings(self) -> list[Reading]:
        """See ``Odometer``; the iteration that has begun is not over."""
        taken = self._length - self._over.__length_hint__()
        return [reading(self._loop, self._before + max(0, taken - 1))]

    def end(self) -> None:
        """Note that the loop is over."""
        if self._board is None:
            return
        left = self._over.__length_hint__()
        if self._turns is not None and not self._turns.left:  # it ended in machine code
            count = self._turns.some.start
        else:
            count = self._before + self._length - left - bool(left)
        self._over, self._length, self._before = iter(range(0)), 0, count
        self._board.end(self)
