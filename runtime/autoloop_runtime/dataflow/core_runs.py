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
from typing import Any

from ..base.forks import Kind
from ..base.threads import call_workers, forget_work, others_call
from ..ir.run_state import EAGER, RunState
from . import core_kernels as ck
from . import core_workers as cw
from . import token_core as tc
from .core_called import CalledKernels
from .core_calls import Values, deadline_of
from .core_memory import address_of, aligned
from .core_tables import Enter, LoopTables
from .core_words import clock
from .kept_memory import memory_for
from .kernels import Arguments, Seen

_RUN = Kind("CoreRun.wake", "a run that was going on when a child was forked is given up there")
#: seconds that a worker stays in a run while others call for workers
TURN = 0.001
#: added to what workers come back with
_TOLD = cw.WOKEN | cw.AGAIN
#: nanoseconds that no clock counts
_NEVER = 2.0**62
#: what workers come back with that have not left: their words are theirs
_STAYING = (cw.TIME, cw.CALLS, ck.BUFFERS, cw.KERNELS)


class CoreRun(CalledKernels):
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
        self._memory = memory = memory_for(tables, self.most, 0 if self._seen is None else self._seen.words)
        #: what changes is under the lock that is its first word; Python writes to it before others can see it
        self._m = memory.words
        self._m[tc.UNTIL] = _until(unwanted)
        if self._seen is not None:
            self._seen.start(self._m)
        self._address, self._enter = memory.address, enter  # not changed
        #: guards the next, whether others may have the memory, while somebody asks for anything who is not in the run
        self._door, self._is_over = _RUN.lock(), False
        #: locked but between a call to wake up and the caller's doing so
        self._wake = _RUN.gate()
        self._wake.acquire()
        #: memory of buffers; only added to, by single operations, which are atomic
        self._blocks: list[Any] = [memory.block]
        self.values = Values(memoryview(memory.words), memory.objects, memory.seen)
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

    def _from_outside(self, what: int) -> int:
        """Ask for what those may ask for who are not in the run, which may have given its memory to another one."""
        with self._door:
            return 0 if self._is_over else self._core(0, what)

    def _take_in(self, args: Sequence[Any]) -> bool:
        """Let the run have what it is given; False if that is not what was said."""
        return self._memory.take_in(args, self.tables)

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
        words = self.values.words
        first = words[tc.RESULTS]
        buffers = words[first : first + len(self.tables.leaving)].tolist()
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
            self._from_outside(cw.STOP)
        return why & ~_TOLD

    # -- its end ----------------------------------------------------------------------------------------

    def _end(self, w: int, behind: tuple[int, ...] = (-1, -1)) -> None:
        """End the run, and loops that are called and stand behind a kernel."""
        self._from_outside(cw.STOP)
        for order, given in list(self._inside.values()):
            if behind < order:
                given.unwanted.append(True)

    # -- members ------------------------------------------------------------------------------------------

    def assist(self) -> None:
        """Work on this run as a member of the pool, as long as there is something to do."""
        self._context.copy().run(self._assist)

    def _assist(self) -> None:
        w = self._from_outside(cw.JOIN)
        if not w:
            return
        begun, is_in = time.monotonic(), True
        try:
            while True:
                why = self._core(w, cw.WORK)
                is_in = why & ~_TOLD not in (cw.ENDED, cw.IDLE, cw.STUCK)
                self._heed(w, why)
                if not is_in:
                    return
                if others_call(self) and time.monotonic() - begun >= TURN:
                    break
        except BaseException as error:  # no kernel's failure; the caller must not wait in vain
            self._error = error
            self._end(w)
        if is_in:
            self._heed(w, self._core(w, cw.LEAVE))

    def _drain(self, w: int) -> None:
        """End the run, and wait for the workers that are in it."""
        while self._core(w, cw.DRAIN):
            self._wake.acquire()
        forget_work(self)

    def left_alone(self) -> None:
        """In a forked child: what the other threads were computing will never be there, and any may have had the
        lock."""
        if self._is_over:
            return
        m = self._m
        m[tc.LOCK] = m[tc.PRESENT] = m[tc.OPENINGS] = 0
        m[tc.STOPPED] = m[tc.FAILED] = 1
        with suppress(RuntimeError):
            self._wake.release()


def keep_memory(run: CoreRun) -> None:
    """Leave the memory of a run to later ones; it has ended with results, and is not asked anything any more."""
    with run._door:
        run._is_over = True
    run._memory.keep(run.tables)


def narrow(run: CoreRun, window: int) -> None:
    """Let there be so many iterations at once, no more than others have: the run has not begun. 0: as many."""
    place = run._m[tc.ROOT] + tc.F_WINDOW
    run._m[place] = window or run._m[place]


def _until(unwanted: Sequence[bool]) -> int:
    """Return when a run is to end, by the clock that workers look at; 0 if nobody says."""
    deadline = deadline_of(unwanted)
    return 0 if deadline is None else int(min(clock() + 1e9 * (deadline - time.monotonic()), _NEVER))
