"""One run of a loop whose tokens are moved in native memory, on several threads.

The calling thread works from the beginning to the end and waits only when nothing is ready; members of the pool come
when they are called, as in ``workers``. All that they share is in words, under a lock that no
thread holds when it comes back to Python. Each comes back from time to time, so that signals are heard, and that who
is wanted elsewhere can go there.

Kernels that have no code are called by the thread that comes back with them, and so is one whose code has not done it.
Where one raises, or gives what was not said, ``run`` gives None, and somebody goes on from there with tokens that
Python moves (``core_handover``), which tells what stands first in the program. Where there is no room, or a run was not
even begun, nothing is known, and the loop is run from its beginning.
"""

from __future__ import annotations

import contextvars
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ..base.forks import Kind
from ..base.threads import call_workers, forget_work, others_call
from ..ir.run_state import EAGER, RunState
from . import core_kernels as ck
from . import core_workers as cw
from . import token_core as tc
from .core_calls import CalledStep, Values, arguments, call, order_of
from .core_memory import address_of, aligned, whole_lines
from .core_tables import Enter, LoopTables
from .kernels import Arguments, Seen, Unwanted

_RUN = Kind("CoreRun.wake", "a run that was going on when a child was forked is given up there")
#: seconds that a worker stays in a run while others call for workers
TURN = 0.001
#: what workers come back with that have not left: their words are theirs
_STAYING = (cw.TIME, cw.CALLS, ck.BUFFERS, cw.KERNELS)


class CoreRun:
    """A run.

    Parameters
    ----------
    tables : LoopTables
    enter : callable
    threads : int
    unwanted : sequence
        Has something in it when nobody waits for the loop any more.
    state : RunState
    seen : Seen, optional
        What is noted of it if it is traced, see ``seen_cores``.

    Attributes
    ----------
    failures : list of (Exception, int)
        What kernels have raised, and their records; only added to, as are the others.
    otherwise : list of (int, object)
        Records of kernels that have given what was not said, and what they gave.
    ended : list of (int, list of str)
        Of loops that were called, and ended as nobody waited for them: where the iteration is, and how far they were.
    is_left : bool
        Somebody may go on from where it has ended.
    """

    def __init__(
        self, tables: LoopTables, enter: Enter, threads: int, unwanted: Sequence[bool] = (), state: RunState = EAGER,
        seen: Seen | None = None,
    ) -> None:  # fmt: skip
        self.tables, self._unwanted, self._state = tables, unwanted, state  # not changed
        workers = int(tables.words[tc.WORKERS])
        self.most = min(threads, workers) - 1  # not changed
        self._seen = None if seen is None else seen.core(tables, self.most + 1)  # not changed
        #: what changes is under the lock that is its first word; Python writes to it before others can see it
        self._m = m = _memory(tables, self._seen)
        m[tc.OPENINGS] = self.most
        self._address = address_of(m)
        self._enter = enter  # not changed
        #: locked but between a call to wake up and the caller's doing so
        self._wake = _RUN.gate()
        self._wake.acquire()
        #: memory of buffers; only added to, by single operations, which are atomic
        self._blocks: list[Any] = []
        self.values = Values(memoryview(m), tables.objects)
        self.is_left = False
        self.failures: list[tuple[Exception, int]] = []
        self.otherwise: list[tuple[int, Any]] = []
        #: what has ended the run at once
        self._error: BaseException | None = None
        #: loops that are called, by their records: who ends the run either finds one here or is found by it
        self._inside: dict[int, tuple[tuple[int, ...], Arguments]] = {}
        self.ended: list[tuple[int, list[str]]] = []
        #: what kernels see of context variables, whichever thread they run on
        self._context = contextvars.copy_context()

    def run(self, args: Sequence[Any]) -> tuple[Any, ...] | None:
        """Run the loop; returns its results, or None if it is to be run otherwise."""
        own = int(self._m[tc.AREAS])
        try:
            if not self._take_in(args):
                return None
            self._core(own, cw.START)
            self.is_left = True
            self._work(own)
        except BaseException:
            self._end(own)
            raise
        finally:
            try:
                self._drain(own)
            except BaseException:  # Ctrl-C came before it had begun, perhaps
                self._drain(own)
                raise
            if self._seen is not None:
                self._seen.tell()
        error, self._error = self._error, None
        if error is not None:
            raise error
        over, failed = bool(self._m[tc.OVER]), bool(self._m[tc.FAILED])
        self.is_left = self.is_left and not (over or failed)
        return None if self._unwanted or failed or not over else self._results()

    def _core(self, w: int, what: int, number: int = 0, address: int = 0) -> int:
        return self._enter(self._address, w, what, number, address)

    def _take_in(self, args: Sequence[Any]) -> bool:
        """Let the run have what it is given; False if that is not what was said."""
        tables = self.tables
        given = sum([whole_lines(form.bytes) for form in tables.entering if form is not None])
        memory = aligned(given + tables.scratch * (self.most + 1) + tables.memory + 1)
        self._blocks.append(memory)
        at = _put(self.values, tables, args, address_of(memory))
        if not at:
            return False
        words = self.values.words
        for k in range(self.most + 1):
            words[words[tc.AREAS] + k * words[tc.AREA] + tc.W_SCRATCH] = at
            at += tables.scratch
        first = words[tc.ADDRESSES] + words[tc.COUNTED]
        self._m[first : first + len(tables.offsets)] = tables.offsets + at
        return True

    def _add(self, w: int, size_class: int, count: int) -> None:
        """Make buffers."""
        size, start = self.tables.sizes[size_class][0], 0
        if size:
            memory = aligned(size * count)
            self._blocks.append(memory)
            start = address_of(memory)
        for k in range(count):
            self._core(w, cw.ADD, size_class, start + size * k)

    def _results(self) -> tuple[Any, ...] | None:
        m = self._m
        buffers = [int(m[m[tc.RESULTS] + k]) for k in range(len(self.tables.leaving))]
        return tuple(map(self.values.value, buffers, self.tables.leaving)) if all(buffers) else None

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
        if self._seen is not None and (why in _STAYING or w == m[tc.AREAS]):
            self._seen.take(w)
        if why & cw.WOKEN or (why == cw.CALLS and m[w + tc.W_WAKE]):
            with suppress(RuntimeError):  # it has been told, and has not woken up yet
                self._wake.release()
        if why & cw.AGAIN:
            call_workers(self, 1)
        if why == cw.CALLS and m[w + tc.W_CALLS]:
            call_workers(self, int(m[w + tc.W_CALLS]))
        elif why == ck.BUFFERS:
            size_class = int(m[w + tc.W_CLASS])
            self._add(w, size_class, self.tables.sizes[size_class][1])
        elif why == cw.KERNELS:
            self._call_kernels(w)
        if self._unwanted:  # asked each time: who comes back for other reasons before may never use up its time
            self._core(w, cw.STOP)
        return why & ~(cw.WOKEN | cw.AGAIN)

    # -- kernels that Python calls ------------------------------------------------------------------------

    def _call_kernels(self, w: int) -> None:
        """Call those that a worker has come back with, up to one that raises."""
        words, called = self.values.words, self.tables.called
        record, size = words[w + tc.W_RECORDS], words[w + tc.W_RECORD]
        half = (size - tc.R_BUFFERS) >> 1
        for _ in range(words[w + tc.W_COUNT]):
            it, one = words[record + tc.R_IT], called[words[record + tc.R_STEP]]
            try:
                out = self._call(w, record, it, one)
            except Unwanted as error:  # it stands behind a failure, or nobody waits for this run
                self.ended.append((it, one.step.flat.value.reached(error)))
                self._core(w, cw.STOP)
                return
            except Exception as error:
                words[record + tc.R_DONE] = tc.GONE
                self.failures.append((error, record))
                self._end(w, self.order(record))
                return
            if not self.values.take(record, half, one, out):
                words[record + tc.R_DONE] = tc.GONE
                self.otherwise.append((record, out))
                self._core(w, cw.STOP)
                return
            words[record + tc.R_DONE] = tc.DONE
            del out
            record += size

    def _call(self, w: int, record: int, it: int, one: CalledStep) -> Any:
        args, seen = self.values.given(it, one), self._seen
        if not one.is_loop:
            kernel = partial(call, one, args, self._state)
            return kernel() if seen is None else seen.call(w, record, one, kernel)
        inside = None if seen is None else seen.inside(it, one)
        given = arguments(args, self.most + 1, self._unwanted, inside)
        del args
        order = self.order(record)
        self._inside[record] = order, given
        if any(self.order(other) < order for _, other in self.failures) or self._error is not None:
            given.unwanted.append(True)
        try:
            return call(one, given, self._state)
        finally:
            self._inside.pop(record, None)

    def order(self, record: int) -> tuple[int, ...]:
        """Return what is less for a kernel that stands, or runs, earlier in the program."""
        words = self.values.words
        return order_of(words, words[record + tc.R_IT], self.tables.called[words[record + tc.R_STEP]])

    def _end(self, w: int, behind: tuple[int, ...] = (-1, -1)) -> None:
        """End the run, and loops that are called and stand behind a kernel."""
        self._core(w, cw.STOP)
        for order, given in list(self._inside.values()):
            if behind < order:
                given.unwanted.append(True)

    # -- members ------------------------------------------------------------------------------------------

    def assist(self) -> None:
        """Work on this run as a member of the pool, as long as there is something to do."""
        self._context.copy().run(self._assist)

    def _assist(self) -> None:
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
        except BaseException as error:  # no kernel's failure; the caller must not wait in vain
            self._error = error
            self._end(w)
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


def _memory(tables: LoopTables, seen: Any) -> Any:
    """Return the words with which a run begins; behind them those for what is ``seen`` of it."""
    words = len(tables.words)
    made = aligned(8 * (words + (0 if seen is None else seen.words))).view(np.int64)
    made[:words] = tables.words
    if seen is not None:
        seen.start(made)
    return made


def _put(values: Values, tables: LoopTables, args: Sequence[Any], at: int) -> int:
    """Put what a run is given into memory from an address on; returns where it ends, 0 if that is not what was said."""
    words, objects = values.words, values.objects
    addresses = words[tc.ADDRESSES]
    for k, (value, form) in enumerate(zip(args, tables.entering, strict=True)):
        objects[1 + k] = value
        if form is not None:
            if not form.write(value, at):
                return 0
            words[addresses + 1 + k] = at
            at += whole_lines(form.bytes)
    return at


def narrow(run: CoreRun, window: int) -> None:
    """Let there be so many iterations at once, no more than others have: the run has not begun. 0: as many."""
    place = run._m[tc.ROOT] + tc.F_WINDOW
    run._m[place] = window or run._m[place]
