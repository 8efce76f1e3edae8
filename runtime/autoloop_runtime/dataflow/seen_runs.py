"""What a trace records of a run beside its kernels; runs that nobody traces know nothing of it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from copy import copy
from threading import get_ident
from typing import Any

from ..base.profiler import Recorder
from ..base.trace_curves import LIVE, LOCK_WAITS, READY, STEALS, marked, summary
from ..ir.graph import Node
from .core_tables import LoopTables
from .execution_plan import Step
from .flat_graph import FlatNode, Kind, Lowered
from .frames import Item, Iteration, loops_around
from .memory_limit import MemoryLimit
from .seen_cores import SeenCore
from .seen_steps import SeenStep, is_last
from .workers import SharedRun


class Seen:
    """What is seen of one run.

    Parameters
    ----------
    recorder : Recorder
    lowered : Lowered, optional
        What is run, node by node.
    threads : int
        How many threads may work on it.

    Attributes
    ----------
    recorder : Recorder
    run : TracedRun
    around : tuple of (Node, int)
        The loops around it, if it is a loop in another, innermost first.
    """

    def __init__(self, recorder: Recorder, lowered: Lowered | None = None, threads: int = 1) -> None:
        self.recorder = recorder
        self.around: tuple[tuple[Node, int], ...] = ()
        #: by node; added to by single operations: two threads make the same
        self._steps: dict[int, SeenStep] = {}
        self.run = recorder.begin("dataflow", lowered, threads)
        self._mark = marked(recorder, time.perf_counter_ns())
        #: counts what the kernels of all runs have made
        self._memory: MemoryLimit = recorder.shared.setdefault("memory", MemoryLimit(0))

    def ready(self, count: int) -> None:
        """Note how many kernels are ready."""
        self.recorder.sample(READY, count)

    def call(self, it: Iteration, step: Step, kernel: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Call a kernel, and note that."""
        held, flat, made = bool(it.frame.waiting), step.flat, None
        start = time.perf_counter_ns()
        try:
            made = kernel(*args, **named)
        finally:
            loops = [*loops_around(it), *self.around]
            if flat.kind is Kind.BATCH:
                times, names = (start, time.perf_counter_ns()), tuple([(loop.name, number) for loop, number in loops])
                parts = self.step(flat).slices(
                    times, self.recorder.thread(), names, self.run, held, is_last(flat, made)
                )
                self.recorder.add_slices(parts)
            else:
                name = "" if flat.op is None else flat.op.name
                self.recorder.record(flat.name, name, start, loops, self.run, flat, held)
        self.made(step, made)
        return made

    def made(self, step: Step, made: Any) -> None:
        """Note what a kernel has made, and how much there is now."""
        if step.allocates:
            for one in made if type(made) is tuple else (made,):
                self._memory.note(one)
        self.recorder.sample(LIVE, self._memory.live())

    def live(self) -> int:
        """Return how much there is now."""
        return self._memory.live()

    def step(self, flat: FlatNode) -> SeenStep:
        """Return what is shown of a step."""
        found = self._steps.get(flat.index)
        if found is None:
            found = self._steps[flat.index] = SeenStep(self.run.graph, flat)
        return found

    def within(self, loops: Iterable[tuple[Node, int]]) -> Seen:
        """Return what is seen of a loop in iterations of others."""
        made = copy(self)
        made.around = (*loops, *self.around)
        return made

    def core(self, tables: LoopTables, threads: int) -> SeenCore:
        """Return what is noted of a run in native memory."""
        return SeenCore(self, tables, threads)

    def ended(self) -> str:
        """Note that the run is over; gives one line of what the trace has recorded since this was made."""
        self.run.ended()
        return summary(self.recorder, self._mark, self.run.end)


class SeenRun(SharedRun):
    """A run on several threads that is traced."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        assert self.watch is not None and self.watch.seen is not None
        self._seen = self.watch.seen
        self.lock = SeenLock(self.lock, self._seen.recorder)
        #: the threads that have made kernels ready, by the identity of what stands for the kernel
        self._makers: dict[int, int] = {}
        self._append = self.heavy.append
        self.heavy.append = self._noted

    def run(self, feeds: list[Any]) -> None:
        try:
            super().run(feeds)
        finally:
            del self.heavy.append  # it refers to us

    def _noted(self, item: Item, *maker: int) -> None:
        self._makers[id(item)] = get_ident()
        self._append(item, *maker)

    def _take(self, light: deque[Item], member: bool, own: list[Item]) -> tuple[Item | None, int]:
        item, wanted = super()._take(light, member, own)
        if item is not None and self._makers.pop(id(item), get_ident()) != get_ident():
            self._seen.recorder.add(STEALS, 1)
        self._seen.ready(len(self.heavy))
        return item, wanted


class SeenLock:
    """A lock that tells how long threads have waited for it."""

    def __init__(self, lock: Any, recorder: Recorder) -> None:
        self._lock, self._recorder = lock, recorder

    def __enter__(self) -> None:
        if not self._lock.acquire(False):
            start = time.perf_counter_ns()
            self._lock.acquire()
            self._recorder.add(LOCK_WAITS, (time.perf_counter_ns() - start) / 1000)

    def __exit__(self, *error: object) -> None:
        self._lock.release()
