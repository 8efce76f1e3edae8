"""Runs of which it is shown how far their loops are.

Who shows it is one thread of the process, that lives while there are such runs. It looks a few times a second; between
that it waits, and the runs know nothing of it. A run that is over soon is never looked at.
"""

from __future__ import annotations

import time
from _thread import get_ident
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..base.forks import Kind, in_child, undivided
from ..base.locations import Line
from ..base.odometers import Board
from ..base.profiler import boards
from ..ir.graph import Graph
from ..ir.run_state import EAGER, RunState
from .loop_totals import Totals

if TYPE_CHECKING:
    import threading

    from .progress_bars import Bars

#: seconds between two looks, and of a run before the first
INTERVAL, DELAY = 0.2, 0.5

_KIND = Kind("shown_runs", "a child shows what it begins itself")


class _Shown:
    """One run that is shown."""

    def __init__(self, totals: dict[str, tuple[Line | None, int | None]]) -> None:
        self.board = Board()
        self.begun = time.perf_counter()
        self._totals = totals
        self._lock = _KIND.lock()
        self._bars: Bars | None = None
        self._is_over = False

    def look(self, is_last: bool = False) -> bool:
        """Show how far it is; gives whether anything was shown."""
        with self._lock:
            if self._is_over or (self._bars is None and time.perf_counter() - self.begun < DELAY):
                return False
            self._is_over = is_last
            if self._bars is None:
                with undivided():
                    from .progress_bars import Bars
                self._bars = Bars(self._totals, self.begun)
            self._bars.show(self.board.readings())
            if is_last:
                self._bars.close()
        return True


class _Reporter:
    """The thread that looks; ``_lock`` guards the rest."""

    def __init__(self) -> None:
        self._lock = _KIND.lock()
        self._runs: list[_Shown] = []
        self._thread: threading.Thread | None = None
        self._wake: threading.Event | None = None

    def add(self, run: _Shown) -> None:
        """Show a run from now on."""
        with self._lock:
            self._runs.append(run)
            if self._thread is None:
                self._wake = _KIND.event()
                self._thread = _KIND.thread(self._work, name="autoloop progress")
                try:
                    self._thread.start()
                except RuntimeError:  # no more threads to be had
                    self._thread = None

    def remove(self, run: _Shown) -> None:
        """Show it for the last time. The thread is gone then, unless it has not been at work; then it will soon be."""
        with self._lock:
            if run in self._runs:
                self._runs.remove(run)
            thread, wake = self._thread, self._wake
            is_idle = not self._runs
        if run.look(is_last=True) and is_idle and thread is not None and wake is not None:
            wake.set()
            thread.join()

    def _work(self) -> None:
        idle, wake = 0, self._wake
        assert wake is not None
        while True:
            is_woken = wake.wait(INTERVAL)
            with self._lock:
                runs = self._runs.copy()
                idle = 0 if runs else idle + 1
                if not runs and (is_woken or idle > 1):  # runs that follow each other need not make it each time
                    self._thread = None
                    return
                wake.clear()
            for run in runs:
                run.look()
            del runs


# replaced in the one thread of a process that was just forked
_reporter = _Reporter()


@in_child
def _forget() -> None:
    global _reporter
    _reporter = _Reporter()
    boards.clear()


Run = Callable[..., list[Any]]


def shown(run: Run, graph: Graph) -> Run:
    """Return what runs ``graph`` as ``run`` does, and shows how far it is.

    Raises
    ------
    MissingProgress
        If the extra is not installed.
    """
    with undivided():
        from .progress_bars import check_extra

    check_extra()
    totals = Totals(graph)
    if not totals:
        return run

    def watched(values: Sequence[Any], state: RunState = EAGER, **limits: Any) -> list[Any]:
        me, one = get_ident(), _Shown(totals.of(values))
        outer, boards[me] = boards.get(me), one.board
        reporter = _reporter
        try:
            reporter.add(one)
            return run(values, state, **limits)
        finally:
            if outer is None:
                boards.pop(me, None)
            else:
                boards[me] = outer
            reporter.remove(one)

    return watched
