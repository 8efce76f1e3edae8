"""What a run has its words and its first buffers in: the next run of the same loop goes on with it.

To get memory and to touch it for the first time takes as long as much of what else a run begins and ends with, during
which the other threads wait.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..base.forks import generation
from . import token_core as tc
from .core_calls import UNKNOWN
from .core_memory import address_of, aligned, whole_lines
from .core_tables import LoopTables

#: bytes that are kept, at most, and how often, for threads that run a loop at the same time
LARGEST, MOST_KEPT = 1 << 20, 2


class RunMemory:
    """Memory of one run at a time.

    Parameters
    ----------
    tables : LoopTables
    most : int
        Workers beside the caller for which there is room.
    more : int
        Words behind those of the tables, for runs that are traced.

    Attributes
    ----------
    words : array
    address : int
        Of the words.
    block : array
        Values that a run is given, what workers have for themselves, buffers.
    objects : list
        Of Python's, by buffers.
    seen : dict
        Arrays on the memory of buffers.
    """

    __slots__ = (
        "_counted", "_first", "_windows", "address", "block", "generation", "more", "most", "objects", "seen", "words",
    )  # fmt: skip

    def __init__(self, tables: LoopTables, most: int, more: int) -> None:
        self.most, self.more, self.generation = most, more, generation()  # not changed
        count = len(tables.words)
        self.words = aligned(8 * (count + more)).view(np.int64)
        self.address = address_of(self.words)
        given = [0 if form is None else whole_lines(form.bytes) for form in tables.entering]
        self.block = aligned(sum(given) + tables.scratch * (most + 1) + tables.memory + 1)
        places = list(itertools.accumulate(given, initial=address_of(self.block)))
        self._windows = [None if form is None else form.windows(at) for form, at in zip(tables.entering, places)]
        self._counted = int(tables.words[tc.COUNTED])
        room = int(tables.words[tc.LIMIT]) - len(tables.objects)
        self.objects = [*tables.objects, *[UNKNOWN] * room]
        self.seen: dict[tuple[int, int], Any] = {}
        #: with which a run begins
        self._first = tables.words.copy()
        self._place(tables, places)

    def _place(self, tables: LoopTables, places: Sequence[int]) -> None:
        """Note where everything is: what a run is given, what workers have for themselves, buffers."""
        m, at = self._first, places[-1]
        first = int(m[tc.ADDRESSES])
        m[first + 1 : first + len(places)] = places[:-1]
        for k in range(self.most + 1):
            m[m[tc.AREAS] + k * m[tc.AREA] + tc.W_SCRATCH] = at + k * tables.scratch
        first += self._counted
        m[first : first + len(tables.offsets)] = tables.offsets + at + (self.most + 1) * tables.scratch
        m[tc.OPENINGS] = self.most

    def begin(self) -> None:
        """Let a run begin in it."""
        self.words[: len(self._first)] = self._first

    def take_in(self, args: Sequence[Any], tables: LoopTables) -> bool:
        """Let the run have what it is given; False if that is not what was said."""
        for k, (value, form, windows) in enumerate(zip(args, tables.entering, self._windows, strict=True)):
            self.objects[1 + k] = value
            if form is not None and windows is not None and not form.put(value, windows):
                return False
        return True

    def keep(self, tables: LoopTables) -> None:
        """Leave it to the next run: this one is over, and nobody is in it."""
        if self.more or self.words.nbytes + self.block.nbytes > LARGEST or len(tables.kept) >= MOST_KEPT:
            return
        objects, first = self.objects, self._counted
        objects[1 : 1 + len(self._windows)] = [UNKNOWN] * len(self._windows)
        objects[first:] = [UNKNOWN] * (len(objects) - first)
        self.seen.clear()
        tables.kept.append(self)


def memory_for(tables: LoopTables, most: int, more: int) -> RunMemory:
    """Return memory for a run with so many workers beside the caller, which nobody else has; ``more``: words that
    only traced runs want."""
    with suppress(IndexError):
        found: RunMemory | None = None if more else tables.kept.pop()
        # in a child, what was going on in the parent when it was forked has not ended
        if found is not None and found.most == most and found.generation == generation():
            found.begin()
            return found
    made = RunMemory(tables, most, more)
    made.begin()
    return made
