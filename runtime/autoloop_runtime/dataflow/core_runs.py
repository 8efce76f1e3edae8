"""One run of a loop whose tokens are moved in native memory, on several threads.

The calling thread works from the beginning to the end and waits only when nothing is ready; members of the pool come
when they are called, as in ``workers``. All that they share is in words, under a lock that no
thread holds when it comes back to Python. Each comes back from time to time, so that signals are heard, and that who
is wanted elsewhere can go there.

What such a loop does can be done again: it only computes. So whatever goes wrong, the run is given up and ``run`` gives
None; the loop is then run in program order, which tells what failed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..base.forks import Kind
from ..base.threads import call_workers, forget_work, others_call
from . import core_workers as cw
from . import token_core as tc
from .core_tables import Enter, LoopTables, address_of, aligned

_RUN = Kind("CoreRun.wake", "a run that was going on when a child was forked is given up there")
#: seconds that a worker stays in a run while others call for workers
TURN = 0.001


class CoreRun:
    """A run.

    Parameters
    ----------
    tables : LoopTables
    enter : callable
    threads : int
    unwanted : sequence
        Has something in it when nobody waits for the loop any more.
    """

    def __init__(self, tables: LoopTables, enter: Enter, threads: int, unwanted: Sequence[bool] = ()) -> None:
        self._tables, self._unwanted = tables, unwanted  # not changed
        workers = int(tables.words[tc.WORKERS])
        self.most = min(threads, workers) - 1  # not changed
        #: what changes is under the lock that is its first word; Python writes to it before others can see it
        self._m = m = aligned(tables.words.nbytes).view(np.int64)
        m[:] = tables.words
        m[tc.OPENINGS] = self.most
        self._address = address_of(m)
        self._enter = enter  # not changed
        #: locked but between a call to wake up and the caller's doing so
        self._wake = _RUN.gate()
        self._wake.acquire()
        #: memory of buffers; only added to, by single operations, which are atomic
        self._blocks: list[Any] = []
        self._begun = time.monotonic()

    def run(self, args: Sequence[Any]) -> tuple[Any, ...] | None:
        """Run the loop; returns its results, or None if it is to be run otherwise."""
        own = int(self._m[tc.AREAS])
        try:
            if not self._take_in(args):
                return None
            self._core(own, cw.START)
            self._work(own)
        finally:
            try:
                self._drain(own)
            except BaseException:  # Ctrl-C came before it had begun, perhaps
                self._drain(own)
                raise
        return None if self._unwanted or self._m[tc.FAILED] or not self._m[tc.OVER] else self._results()

    def _core(self, w: int, what: int, number: int = 0, address: int = 0) -> int:
        return self._enter(self._address, w, what, number, address)

    def _take_in(self, args: Sequence[Any]) -> bool:
        """Let the run have what it is given; False if that is not what was said."""
        m, tables = self._m, self._tables
        addresses = int(m[tc.ADDRESSES])
        for k, (value, form) in enumerate(zip(args, tables.entering, strict=True)):
            if form is None:
                continue
            memory = aligned(form.bytes)
            if not form.write(value, address_of(memory)):
                return False
            self._blocks.append(memory)
            m[addresses + 1 + k] = address_of(memory)
        for k in range(self.most + 1):
            w = int(m[tc.AREAS] + k * m[tc.AREA])
            scratch = aligned(max(tables.scratch, 1))
            self._blocks.append(scratch)
            m[w + tc.W_SCRATCH] = address_of(scratch)
        for size_class, (_, count) in enumerate(tables.sizes):
            self._add(int(m[tc.AREAS]), size_class, count)
        return True

    def _add(self, w: int, size_class: int, count: int) -> None:
        """Make buffers."""
        size = self._tables.sizes[size_class][0]
        memory = aligned(size * count)
        self._blocks.append(memory)
        for k in range(count):
            self._core(w, cw.ADD, size_class, address_of(memory) + size * k)

    def _results(self) -> tuple[Any, ...] | None:
        m = self._m
        buffers = [int(m[m[tc.RESULTS] + k]) for k in range(len(self._tables.leaving))]
        if not all(buffers):
            return None
        return tuple([form.read(int(m[m[tc.ADDRESSES] + b])) for b, form in zip(buffers, self._tables.leaving)])

    # -- workers ------------------------------------------------------------------------------------------

    def _work(self, w: int) -> None:
        """Work as the caller until the run is over."""
        while True:
            why = self._heed(w, self._core(w, cw.WORK))
            if why == cw.IDLE:
                self._wake.acquire()
            elif why in (cw.ENDED, cw.STUCK):
                return

    def _heed(self, w: int, why: int) -> int:
        """Do what the core has come back for, but for waiting; returns what that is.

        Words of ``w`` are those of who calls this unless it has left.
        """
        m = self._m
        if why & cw.WOKEN or (why == cw.CALLS and m[w + tc.W_WAKE]):
            with suppress(RuntimeError):  # it has been told, and has not woken up yet
                self._wake.release()
        if why == cw.CALLS and m[w + tc.W_CALLS]:
            call_workers(self, int(m[w + tc.W_CALLS]))
        elif why == tc.BUFFERS:
            size_class = int(m[w + tc.W_CLASS])
            self._add(w, size_class, self._tables.sizes[size_class][1])
        elif why == cw.TIME and self._unwanted:
            self._core(w, cw.STOP)
        return why & ~cw.WOKEN

    def assist(self) -> None:
        """Work on this run as a member of the pool, as long as there is something to do."""
        w = self._core(0, cw.JOIN)
        if not w:
            return
        begun = time.monotonic()
        try:
            while True:
                if self._heed(w, self._core(w, cw.WORK)) in (cw.ENDED, cw.IDLE, cw.STUCK):
                    return
                if others_call(self) and time.monotonic() - begun >= TURN:
                    break
        except BaseException:  # there is no memory; the caller must not wait in vain
            self._core(w, cw.STOP)
        self._heed(w, self._core(w, cw.LEAVE))

    def _drain(self, w: int) -> None:
        """End the run, and wait for the workers that are in it."""
        while self._core(w, cw.DRAIN):
            self._wake.acquire()
        forget_work(self)

    def left_alone(self) -> None:
        """In a forked child: what the other threads were computing will never be there, and any may have had the
        lock."""
        m = self._m
        m[tc.LOCK] = m[tc.PRESENT] = m[tc.OPENINGS] = 0
        m[tc.STOPPED] = m[tc.FAILED] = 1
        with suppress(RuntimeError):
            self._wake.release()
