"""What a trace records of a run whose tokens are moved in native memory: what its workers have noted (``core_events``),
and the kernels that Python calls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ..base.dataclass import Protocol
from ..base.profiler import Recorder, TracedRun
from ..base.trace_curves import LIVE, LOCK_WAITS, READY, STEALS
from ..ir.graph import Node
from . import core_events as ce
from . import token_core as tc
from .core_calls import CalledStep
from .core_tables import LoopTables
from .seen_steps import Around, SeenStep, is_last

#: kernels that a worker notes before it comes back, and those that it may run before it looks at the time once more
ROOM, MORE = 2048, 16
#: bytes of a large buffer
LARGE = 8192


class Seen(Protocol):
    """``seen_runs.Seen``."""

    recorder: Recorder
    run: TracedRun
    around: tuple[tuple[Node, int], ...]

    def within(self, loops: Any) -> Seen: ...
    def step(self, flat: Any) -> SeenStep: ...
    def made(self, step: Any, made: Any) -> None: ...
    def live(self) -> int: ...


class SeenCore:
    """What is recorded of one run.

    Parameters
    ----------
    seen : Seen
        Of the run that it is part of.
    tables : LoopTables
    threads : int
        How many may work on it.

    Attributes
    ----------
    words : int
        That it needs behind those of the tables.
    """

    def __init__(self, seen: Seen, tables: LoopTables, threads: int) -> None:
        self._seen, self._tables, self._threads = seen, tables, threads
        self.words = len(tables.sizes) + threads * (ROOM + MORE) * ce.EVENT
        #: what threads have noted; appended to by single operations, read when the run is over
        self._taken: list[tuple[int, Any]] = []

    def start(self, m: Any) -> None:
        """Let workers note what they do: the run has not begun."""
        self._m, at = m, self._tables.words.size
        m[ce.EVENTS], m[ce.SIZES] = ROOM, at
        for size, _ in self._tables.sizes:
            m[at] = size if size >= LARGE else 0
            at += 1
        for k in range(self._threads):
            m[m[tc.AREAS] + k * m[tc.AREA] + ce.W_EVENTS] = at
            at += (ROOM + MORE) * ce.EVENT

    def take(self, w: int) -> None:
        """Take what the calling thread has noted, whose words are ``w``."""
        m = self._m
        count = int(m[w + ce.W_TOLD])
        if count:
            m[w + ce.W_TOLD] = 0
            at = m[w + ce.W_EVENTS]
            self._taken.append(
                (self._seen.recorder.thread(), m[at : at + count * ce.EVENT].reshape(-1, ce.EVENT).copy())
            )
            # a kernel that it has come back with is noted behind those
            m[at : at + ce.EVENT] = m[at + count * ce.EVENT : at + (count + 1) * ce.EVENT]
            self._seen.recorder.coming(sum([len(events) for _, events in self._taken]))

    # -- kernels that Python calls ------------------------------------------------------------------------

    def inside(self, it: int, one: CalledStep) -> Seen:
        """Return what a loop is given that is called in an iteration, of which ``it`` is the place."""
        m, numbers = self._m, list[int]()
        while it:
            numbers.append(int(m[it + tc.INDEX]))
            it = m[m[it + tc.WITHIN] + tc.F_PARENT]
        return self._within(one.step.flat.frame, numbers)

    def _within(self, frame: int, numbers: Sequence[int]) -> Seen:
        """Return what is seen in an iteration of a loop; ``numbers``: its own, and of those around it."""
        found, frames = list[tuple[Node, int]](), self._seen.run.graph.frames
        for number in numbers:
            source = frames[frame].source if frame < len(frames) else None  # of what is no loop there is none
            if source is not None:
                found.append((source, number))
            if frame == self._tables.frame:
                break
            frame = frames[frame].parent
        return self._seen.within(found)

    def call(self, w: int, record: int, one: CalledStep, kernel: Any) -> Any:
        """Call a kernel, the one of a record of a worker."""
        m, recorder = self._m, self._seen.recorder
        it = int(m[record + tc.R_IT])
        what, around = ce.HELD * bool(m[m[it + tc.WITHIN] + tc.F_LATERS]), self.inside(it, one)
        if record == m[w + tc.W_RECORDS]:  # of the first it is known where it comes from
            what = int(m[m[w + ce.W_EVENTS] + ce.EVENT * m[w + ce.W_TOLD] + ce.V_WHAT])
        recorder.sample(READY, int(m[tc.HEAVIES if self._threads > 1 else tc.READY]))
        made, start = None, time.perf_counter_ns()
        if what & ce.STOLEN:
            recorder.added.append((STEALS, start, 1))
        try:
            made = kernel()
        finally:
            times, step = (start, time.perf_counter_ns()), self._seen.step(one.step.flat)
            recorder.add_slices(
                step.slices(times, recorder.thread(), _names(around), self._seen.run, bool(what & ce.HELD),
                            is_last(one.step.flat, made))
            )  # fmt: skip
        self._seen.made(one.step, made)
        return made

    # -- when the run is over -----------------------------------------------------------------------------

    def tell(self) -> None:
        """Record all that has been noted: nobody is in the run any more."""
        (taken, self._taken), live = (self._taken, []), self._seen.live()
        recorder, found, around = self._seen.recorder, list[tuple[str, int, float]](), dict[tuple[int, ...], Around]()
        ready = ce.V_HEAVY if self._threads > 1 else ce.V_READY
        for thread, events in taken:
            for event in events.tolist():
                begin, end, what = event[ce.V_BEGIN], event[ce.V_END], event[ce.V_WHAT]
                flat = self._tables.called[event[ce.V_STEP]].step.flat
                place = flat.frame, event[ce.V_INDEX], *event[ce.V_AROUND :]
                if place not in around:
                    around[place] = _names(self._within(flat.frame, place[1:]))
                step = self._seen.step(flat)
                recorder.add_slices(
                    step.slices((begin, end), thread, around[place], self._seen.run, bool(what & ce.HELD),
                                bool(what & ce.LAST))
                )  # fmt: skip
                found += [(READY, begin, event[ready]), (LIVE, end, live + event[ce.V_LIVE])]
                if what & ce.STOLEN:
                    recorder.added.append((STEALS, begin, 1))
                if event[ce.V_WAITED]:
                    recorder.added.append((LOCK_WAITS, end, event[ce.V_WAITED] / 1000))
        recorder.samples.extend(sorted(found, key=lambda one: one[1]))


def _names(seen: Seen) -> Around:
    """Return the names of the loops around what is seen."""
    return tuple([(loop.name, number) for loop, number in seen.around])
