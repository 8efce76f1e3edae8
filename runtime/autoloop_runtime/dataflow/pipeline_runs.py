"""One run of the stages of a loop on several threads.

A stage is a generator: where it has to wait it gives what it waits for. Its thread then goes on with the stage of those
that need not wait which is least far; if there is none it sleeps, or leaves if it is a worker that others call for. Who
hands on what a stage waits for wakes a thread, or calls a worker. So no thread is bound to a stage, and a pipeline ends
with any number of threads: of the stages that are least far the first has all that it needs. Somebody is always at
work, who sees in each iteration whether the loop is still wanted, and wakes those that sleep if not.

An iteration is live while any stage is in it, or has to come to it: there are at most ``window``.
"""

from __future__ import annotations

import contextvars
import time
from _thread import get_ident
from collections import deque
from collections.abc import Callable, Generator, Sequence
from math import inf
from typing import Any

from ..base.dataclass import Protocol
from ..base.forks import Kind
from ..base.threads import call_workers, forget_work, others_call
from .caller_waits import FORKED
from .kernels import Unwanted

_RUN = Kind("PipelineRun.lock", "who works on a run in a child is alone there, see ``left_alone``")
#: seconds that a worker stays in a run while others call for workers
TURN = 0.001


class Awaited(Protocol):
    """What a stage may wait for."""

    def is_there(self) -> bool: ...


StageRun = Generator[Awaited, None, tuple[Any, ...]]


class Channel:
    """Hands values of one stage on to another one."""

    __slots__ = ("_heed", "_values")

    def __init__(self, heed: Callable[[], None]) -> None:
        #: one thread at a time puts values in and one takes them, by single operations
        self._values = deque[Any]()
        self._heed = heed

    def put(self, value: Any) -> None:
        """Hand a value on."""
        self._values.append(value)
        self._heed()

    def is_there(self) -> bool:
        """Return whether there is a value to be taken, which nobody else does."""
        return len(self._values) > 0

    def take(self) -> Any:
        """Return the next value."""
        return self._values.popleft()


class Turns:
    """Lets one stage begin its iterations."""

    __slots__ = ("_next", "_number", "_run")

    def __init__(self, run: PipelineRun, number: int) -> None:
        self._run, self._number, self._next = run, number, 0

    def begins(self, n: int) -> bool:
        """Return whether it may begin iteration ``n`` now, and all before are over.

        Raises
        ------
        Unwanted
            If nobody waits for it any more.
        """
        self._next = n
        return self._run.begins(self._number, n)

    def is_there(self) -> bool:
        """Return whether it may begin the iteration that it has asked for last. The lock of the run is held."""
        return self._run.is_within(self._next)


class PipelineRun:
    """A run.

    Parameters
    ----------
    threads : int
    stages, channels : int
        How many there are.
    window : int
        How many iterations may be live.
    frame : int
        Of the loop.
    unwanted : sequence
        Has something in it when nobody waits for the loop any more.
    """

    def __init__(
        self, threads: int, stages: int, channels: int, window: int, frame: int, unwanted: Sequence[bool] = ()
    ) -> None:  # fmt: skip
        #: guards every field below that changes
        self.lock = _RUN.lock()
        self.caller = get_ident()  # not changed
        self._window, self._frame, self._unwanted = window, frame, unwanted  # not changed
        #: these two are not changed until nobody else is in the run; they refer to it
        self.channels = [Channel(self._heed) for _ in range(channels)]
        self.turns = [Turns(self, k) for k in range(stages)]
        self._codes: list[StageRun | None] = []  # of stages that have ended there is none
        self._results: list[Any] = [()] * stages
        #: how many iterations of each stage are over
        self._over = [0.0] * stages
        self._ready = list(range(stages))
        #: stages that have to wait
        self._waiting = dict[int, Awaited]()
        #: workers that may still join; those promised by the pool and those present are counted off
        self._openings = self.most = threads - 1  # of which ``most`` is not changed
        self._present = 0
        #: what those that sleep are blocked on, and nobody has released yet; who takes one out must release it
        self._asleep = list[Any]()
        #: that of the caller; locked but between a release by whoever took it out and the caller's waking up
        self._wake = _locked()
        self._left = stages  # those that have not ended
        self._error: BaseException | None = None
        self._stopped = False  # no stage may begin another iteration
        #: when workers came that are in the run, by thread
        self._since = dict[int, float]()
        #: what kernels see of context variables, whichever thread they run on; workers run in copies of it
        self._context = contextvars.copy_context()  # not changed

    def run(self, codes: Sequence[StageRun]) -> list[tuple[Any, ...]]:
        """Run stages to their ends; returns what each gives."""
        self._codes = list(codes)
        try:
            self._work(self._wake, False)
        finally:
            try:
                self._drain()
            except BaseException:  # Ctrl-C came before it had begun, perhaps
                self._drain()
                raise
        error, self._error = self._error, None
        if error is None:
            return self._results
        try:
            raise error
        finally:
            del error  # it refers to this frame

    def _drain(self) -> None:
        """Wait for the workers that are in a stage; whatever interrupted the caller, they must be out first."""
        with self.lock:
            self._stopped = True
            self._ready.clear()
            self._wake_up()
        forget_work(self)
        while True:
            with self.lock:  # an interrupt may have come between a release of ``_wake`` and our taking it
                self._asleep.clear()
                self._wake.acquire(blocking=False)
                if not self._present:
                    break
                self._asleep.append(self._wake)
            self._wake.acquire()
        for those in (self._codes, self.channels, self.turns, self._waiting):
            those.clear()

    # -- threads ------------------------------------------------------------------------------------------

    def assist(self) -> None:
        """Work on this run as a member of the pool, as long as there is something to do."""
        with self.lock:
            if self._stopped:
                return
            self._present += 1
            self._since[get_ident()] = time.monotonic()
        try:
            self._context.copy().run(self._work, _locked(), True)
        except BaseException as error:  # no stage's, ``_work`` deals with those; the caller must not wait in vain
            self._fail(error)
            with self.lock:
                self._leave()

    def _work(self, gate: Any, is_member: bool) -> None:
        """Run stages until all have ended; ``gate``: what this thread sleeps on. A member of the pool leaves sooner if
        others call."""
        while True:
            with self.lock:
                number = self._next()
                if number is None:
                    if self._stopped or not self._left or (is_member and others_call(self)):
                        if is_member:
                            self._leave()
                        return
                    self._asleep.append(gate)
                else:
                    code, wanted = self._codes[number], self._wanted()
            if number is None:
                gate.acquire()
                continue
            if wanted:
                call_workers(self, wanted)
            try:
                assert code is not None
                awaited = next(code)
            except StopIteration as end:
                self._ended(number, end.value)
            except BaseException as error:
                self._fail(error)
            else:
                self._waits(number, awaited)
                del awaited
            del code
            if is_member and self._is_others_turn() and self._leave_to_others():
                return

    def _next(self) -> int | None:
        """Return the stage that is least far of those that need not wait. The lock is held."""
        if self._stopped or not self._ready:
            return None
        found = min(self._ready, key=lambda k: (self._over[k], k))
        self._ready.remove(found)
        return found

    def _wanted(self) -> int:
        """Wake others if there is more to do than this thread does; returns how many workers to call for. The lock is
        held."""
        left = len(self._ready)
        wanted = min(left - self._wake_up(left), self._openings)
        self._openings -= wanted
        return wanted

    def _wake_up(self, most: int | None = None) -> int:
        """Let those go on that sleep, so many at most; returns how many. The lock is held."""
        count = len(self._asleep) if most is None else min(most, len(self._asleep))
        for _ in range(count):
            self._asleep.pop().release()
        return count

    def _leave(self) -> None:
        """Leave, as a member of the pool. The lock is held."""
        self._present -= 1
        self._openings += 1
        self._since.pop(get_ident(), None)
        if not self._present:
            self._wake_up()

    def _is_others_turn(self) -> bool:
        begun = self._since.get(get_ident(), inf)
        return others_call(self) and time.monotonic() - begun >= TURN

    def _leave_to_others(self) -> bool:
        """Leave though there is something to do; False: there is not."""
        with self.lock:
            if self._stopped or not self._ready:
                return False
            self._wake_up(1)
        call_workers(self, 1)  # in turn; until that is done it is not over
        with self.lock:
            self._openings -= 1
            self._leave()
        return True

    # -- stages -------------------------------------------------------------------------------------------

    def begins(self, number: int, n: int) -> bool:
        """Return whether a stage, whose iterations before are over, may begin iteration ``n`` now."""
        with self.lock:
            if self._stopped or self._unwanted:
                raise Unwanted(self._frame)
            self._over[number] = n
            wanted = self._heeded()
            may = self.is_within(n) and not self._is_behind(n)
        if wanted:
            call_workers(self, wanted)
        return may and not self._is_others_turn()

    def is_within(self, n: int) -> bool:
        """Return whether no more than ``window`` iterations are live with ``n``. The lock is held."""
        return n - min(self._over) < self._window

    def _is_behind(self, n: int) -> bool:
        """Return whether another stage, which no thread works on, has half of the window to go. The lock is held."""
        return any(2 * (n - self._over[k]) >= self._window for k in self._ready)

    def _heed(self) -> None:
        """See whether any stage need not wait any more."""
        with self.lock:
            wanted = self._heeded()
        if wanted:
            call_workers(self, wanted)

    def _heeded(self) -> int:
        """Do that; returns how many workers to call for. The lock is held."""
        if not self._waiting:
            return 0
        found = [k for k, awaited in self._waiting.items() if awaited.is_there()]
        for k in found:
            del self._waiting[k]
        self._ready += found
        return self._wanted() if found else 0

    def _waits(self, number: int, awaited: Awaited) -> None:
        """Note what a stage waits for, if that has not come meanwhile."""
        with self.lock:
            if awaited.is_there():
                self._ready.append(number)
            else:
                self._waiting[number] = awaited

    def _ended(self, number: int, result: tuple[Any, ...]) -> None:
        with self.lock:
            self._results[number], self._codes[number], self._over[number] = result, None, inf
            self._left -= 1
            if not self._left:
                self._wake_up()
        self._heed()

    def _fail(self, error: BaseException) -> None:
        """Stop because of ``error``, unless stopped already."""
        with self.lock:
            if not self._stopped:
                self._error, self._stopped = error, True
            self._wake_up()

    def left_alone(self) -> None:
        """In a forked child: what the other threads were computing will never be there."""
        alone = get_ident() == self.caller
        if not alone or self._present:
            self._fail(RuntimeError(FORKED))
        self._present, self._openings = int(not alone), 0
        self._wake_up()


def _locked() -> Any:
    gate = _RUN.gate()
    gate.acquire()
    return gate
