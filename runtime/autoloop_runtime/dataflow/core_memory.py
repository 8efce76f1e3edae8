"""Words that tables of ``token_core`` are made of, and the buffers that a run begins with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.aligned_memory import LINE
from . import token_core as tc
from .core_calls import UNKNOWN

#: buffers of each that a kernel gives, at first; of small ones, as a counter may be ahead of what it counts, one more
#: for so many iterations at most
AT_FIRST, AHEAD = 2, 10
#: bytes of small ones
SMALL = 4 * LINE


class Words:
    """Words that tables are made of."""

    def __init__(self) -> None:
        self._words = [0] * tc.HEAD

    def _set(self, **values: int) -> None:
        for name, value in values.items():
            self._words[getattr(tc, name)] = value

    def _room(self, words: int) -> int:
        """Return where there is room for so many words more."""
        place = len(self._words)
        self._words += [0] * words
        return place

    def _put(self, place: int, values: Sequence[int]) -> None:
        self._words[place : place + len(values)] = values

    def _add_areas(self, workers: int, record: int, parts: Sequence[int]) -> None:
        """Make room for what each worker has."""
        size = -(-sum([tc.WORKER, *parts]) // 8) * 8
        self._room(-len(self._words) % 8)
        areas = self._room(size * workers)
        self._set(AREAS=areas, AREA=size, WORKERS=workers, OPENINGS=workers - 1)
        for k in range(workers):
            at = areas + size * k
            place = at + tc.WORKER
            for word, part in zip((tc.W_GIVEN, tc.W_RECORDS, tc.W_STACK, tc.W_SETTLE), parts):
                self._words[at + word] = place
                place += part
            self._words[at + tc.W_ME], self._words[at + tc.W_RECORD] = k, record


class Buffers(Words):
    """Buffers: those that are known before, and how many others there may be."""

    def __init__(self) -> None:
        super().__init__()
        #: addresses by buffer: there is none of number 0
        self._addresses = [0]
        self.objects: list[Any] = [UNKNOWN]
        self.keep: list[Any] = []
        self._classes: dict[int, int] = {}
        self._wanted: list[int] = []
        #: where the memory of buffers is that are there at first, and how much that is
        self._offsets: list[int] = []
        #: memory of runs that are over, for the next ones; changed by single operations, which are atomic
        self.kept: list[Any] = []
        self._memory = 0

    def _kept(self, memory: Any, value: Any = UNKNOWN) -> int:
        self.keep.append(memory)
        self._addresses.append(address_of(memory))
        self.objects.append(value)
        return len(self._addresses) - 1

    def _class(self, size: int, ahead: int) -> int:
        """Return the class of a buffer, of which one more is wanted, and so many iterations may have one; of none that
        has memory if ``size`` is 0."""
        size = whole_lines(size)
        number = self._classes.setdefault(size, len(self._classes))
        if number == len(self._wanted):
            self._wanted.append(0)
        self._wanted[number] += AT_FIRST + (size <= SMALL) * min(ahead, AHEAD)
        return number

    def _add_buffers(self, held: int) -> None:
        """Make room for buffers of which so many are held at most; as many may be free as are added."""
        known = len(self._addresses)
        limit = known + held + 2 * sum(self._wanted)
        self._set(COUNTED=known, UNUSED=known, LIMIT=limit, ADDRESSES=self._room(limit))
        # of those that are known there is nothing else to note, and each run has a copy of all words
        self._set(**{name: self._room(limit - known) - known for name in ("USES", "CLASSES", "FOLLOWING")})
        self._set(FREE=self._room(len(self._classes)))
        self._put(self._words[tc.ADDRESSES], self._addresses)
        self._add_first(known)

    def _add_first(self, buffer: int) -> None:
        """Let those be free that there are at first, of which a run has only to say where their memory is."""
        words = self._words
        for number, (size, count) in enumerate(zip(self._classes, self._wanted)):
            for _ in range(count):
                words[words[tc.CLASSES] + buffer] = number
                words[words[tc.FOLLOWING] + buffer] = words[words[tc.FREE] + number]
                words[words[tc.FREE] + number] = buffer
                self._offsets.append(self._memory)
                self._memory += size
                buffer += 1
        words[tc.UNUSED] = buffer


def whole_lines(size: int) -> int:
    """Return the bytes of the lines of the cache in which so many are."""
    return -(-size // LINE) * LINE


def aligned(size: int) -> Any:
    """Return memory at the beginning of a line of the cache."""
    block = np.empty(size + LINE, np.uint8)
    start = -address_of(block) % LINE
    return block[start : start + size]


def address_of(memory: Any) -> int:
    """Return where an array is."""
    found: int = memory.__array_interface__["data"][0]
    return found
