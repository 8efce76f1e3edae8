"""One run on several threads.

The calling thread always works on its own run, so a run never depends on a worker of the pool (``threads``) being
free; that is why runs may be nested (a kernel that calls a function) without any danger of waiting for each other in a
circle.

Order of locks: a thread holds at most one of the locks of this file, or of the pool, at a time. No lock is held while
a kernel runs.
"""

from __future__ import annotations

import contextvars
import time
from _thread import get_ident
from collections import deque
from typing import TYPE_CHECKING, Any

from ..base.forks import Kind, in_child, undivided
from ..base.threads import call_workers, forget_work, others_call
from ..ir.run_state import RunState
from .batch_parts import BatchParts
from .caller_waits import CallerWaits
from .critical_path import CriticalPaths
from .execution_plan import LOOP
from .first_failure import FirstFailure
from .frames import Item, State
from .kernels import Watch, call
from .ready_kernels import Bulk, ByPath
from .running_loops import RunningLoops

if TYPE_CHECKING:
    from .memory_limit import Budget

_RUN = Kind("SharedRun.lock", "who works on a run in a child is alone there, see ``left_alone``")
_BLAS = Kind("BlasLimit.lock", "the limit is taken back where nobody is left who wants it")

#: after this many light kernels, a thread calls for help with the heavy ones it has not got to yet
PATIENCE = 8
#: seconds that a worker stays in a run while others call for workers
TURN = 0.001


class SharedRun(CallerWaits):
    """One run that several threads work on.

    A thread runs the light kernels that it made ready itself, oldest first, so that iterations
    have their effects in order where data lets them. Heavy ones go to ``heavy``, where it takes the first
    (``ready_kernels``) when it has nothing light left, or it goes on with what it has just made; if that leaves others
    behind it calls for help. So two chains that do not need each other end up on two threads, each staying with its own
    data, and a single chain never leaves its thread."""

    def __init__(
        self, tokens: State, state: RunState, watch: Watch | None, threads: int, budget: Budget | None = None
    ) -> None:
        #: guards every field below and ``tokens``
        self.lock = _RUN.lock()
        self.caller = get_ident()  # not changed
        self.tokens = tokens
        self.state = state  # not changed
        self.watch = watch  # not changed
        #: what kernels see of context variables, whichever thread they run on; workers run in copies of it
        self.context = contextvars.copy_context()  # not changed
        self.paths = CriticalPaths.of(tokens.plan)  # not changed
        #: what lets kernels that make large arrays wait; None where there are none
        self.bulk = budget if budget is not None else Bulk() if tokens.plan.makes else None
        first = ByPath(self.paths)
        self.heavy: Any = first if self.bulk is None else self.bulk.heavy(first)  # kernels that are ready
        self.budget = budget  # not changed
        #: workers that may still join; those promised by the pool and those present are counted off
        self.openings = self.most = threads - 1  # of which ``most`` is not changed
        self.present = 0  # workers that are in ``work``
        #: the caller is blocked on ``wake`` and nobody has released it yet; who clears this must release it
        self.waiting = False
        #: locked except between a release by whoever cleared ``waiting`` and the caller's waking up
        self.wake = _RUN.gate()
        self.wake.acquire()
        #: what ends the run at once: an interrupt, the end of its time
        self.error: BaseException | None = None
        #: the first failure of a kernel; only kernels that stand before it are started
        self.failure: FirstFailure | None = None
        self.stopped = False  # nobody may start another kernel, or join
        self.loops, self.parts = RunningLoops(), BatchParts(tokens)

    def run(self, feeds: list[Any]) -> None:
        """Run to the end; the caller's thread works like the others and waits only when nothing is ready."""
        light = _light_of(self)
        try:
            if self.tokens.plan.blas:
                # before the first call: its threads go on spinning for a while once they have been used
                _blas.limit(self)
            with self.lock:
                self.tokens.start(feeds, light, self.heavy)
            feeds.clear()
            while True:
                self.work(light)
                with self.lock:
                    if self.stopped or self.tokens.finished:
                        break
                    if self._startable():
                        continue
                    wait = self.waiting = self.present > 0
                if wait:
                    self._sleep()
                elif not _has_parts(self, light):
                    break  # nothing runs and nothing is ready: ``results_of`` tells what is missing
        finally:
            try:
                self._drain()
            except BaseException:  # Ctrl-C came before it had begun, perhaps
                self._drain()
                raise
        self.paths.ran()
        (error, self.error), (failure, self.failure) = (self.error, None), (self.failure, None)  # they refer to us
        if error is None and failure is not None:
            error = failure.explained()
        if error is not None:
            raise error

    def _drain(self) -> None:
        """Wait for the workers that are in a kernel; whatever interrupted the caller, they must be out first."""
        try:
            with self.lock:
                self.stopped = True
                self.loops.end(self)
                self.heavy.clear()
            forget_work(self)
            while True:
                with self.lock:  # an interrupt may have come between a release of ``wake`` and our taking it
                    self.waiting = False
                    self.wake.acquire(blocking=False)
                    if not self.present:
                        break
                    self.waiting = True
                self.wake.acquire()
        finally:
            if self.tokens.plan.blas:
                _blas.release(self)

    def assist(self) -> None:
        """Work on this run as a member of the pool, as long as there is something to do."""
        with self.lock:
            if self.stopped:
                return
            self.present += 1
        try:
            self.context.copy().run(self.work, _light_of(self), True)
        except BaseException as error:  # no kernel's, ``work`` deals with those; the caller must not wait in vain
            with self.lock:
                self._fail(error)
                self._leave(True)

    def work(self, light: deque[Item], member: bool = False) -> None:
        """Run kernels until none is ready for this thread.

        Parameters
        ----------
        light : deque
            Kernels for this thread to begin with.
        member : bool
            It belongs to the pool, and is counted off under the same lock under which it saw that there is nothing.
        """
        lock, heavy, tokens, state, watch = self.lock, self.heavy, self.tokens, self.state, self.watch
        bulk, patience, begun = self.bulk, PATIENCE, time.monotonic()
        own: list[Item] = []  # heavy kernels that this thread has just made ready; empty where the lock is not held
        with lock:
            item, wanted = self._take(light, member, own)
        while item is not None:
            if wanted:
                call_workers(self, wanted)
            it, step = item
            start = time.perf_counter_ns() if step.weight or step.kernels >= LOOP else 0
            try:
                out = call(it, step, state, watch, self)
            except BaseException as error:
                item, wanted = self._failed(error, item, light, member)
                continue
            if start:
                self.paths.took(step, time.perf_counter_ns() - start)
            if step.blank:
                it.values[step.first : step.last] = step.blank
            with lock:
                if bulk is not None:
                    bulk.ends(item, out)
                if not self.stopped:
                    tokens.complete(it, step, out, light, own)
                    if light or bulk is not None:
                        heavy.extend(own, get_ident())
                        own.clear()
                del out
                if watch is not None and watch.expired():
                    self._fail(watch.timed_out(tokens))
                if light and heavy and light[0][1].kernels <= patience and not (self.stopped or self.failure):
                    item, wanted = light.popleft(), 0
                    patience -= item[1].kernels
                    if bulk is not None:
                        bulk.begins(item)
                elif member and self._is_others_turn(begun) and self._leave_to_others(light, own):
                    break
                else:
                    patience = PATIENCE
                    item, wanted = self._take(light, member, own)
        else:
            return
        call_workers(self, 1)  # in turn; until that is done it is not over
        with lock:
            self.openings -= 1
            self._leave(True)

    def _failed(self, error: BaseException, item: Item, light: deque[Item], member: bool) -> tuple[Item | None, int]:
        """Note that a kernel has failed, or was interrupted; returns what ``_take`` does."""
        with self.lock:
            if self.bulk is not None:
                self.bulk.ends(item)
            if not isinstance(error, Exception):
                self._fail(error)
                self._leave(member)
                return None, 0
            failure = FirstFailure(error, *item).delivered(self.tokens, light, self.heavy)
            self.failure = failure if self.failure is None else self.failure.earlier(failure)
            self.loops.end(self)
            return self._take(light, member, [])

    def _is_others_turn(self, begun: float) -> bool:
        return others_call(self) and time.monotonic() - begun >= TURN

    def _leave_to_others(self, light: deque[Item], own: list[Item]) -> bool:
        """Put all that is ready where others find it; False: there is nothing to come back for. The lock is held."""
        self.heavy.extend((*light, *own))
        light.clear()
        own.clear()
        if self.stopped or self.failure is not None or not self._startable():
            return False
        self._wake_caller()
        return True

    def _take(self, light: deque[Item], member: bool, own: list[Item]) -> tuple[Item | None, int]:
        """Return the next kernel for this thread, and how many workers to call for; ``own``, which is then empty: heavy
        ones that it has just made ready. The lock is held."""
        heavy = self.heavy
        if self.failure is not None:
            heavy.extend(own)
            own.clear()
            self.failure.keep(light)
            self.failure.keep(heavy)
        item = None
        if not self.stopped:
            if light:
                item = light.popleft()
            elif self.bulk is None:
                item = heavy.take(own, get_ident())
            elif heavy:
                item = self.bulk.take(heavy)
        if item is None:
            self._leave(member)
            return None, 0
        if self.bulk is not None:
            self.bulk.begins(item)
        wanted = 0
        left = self._startable()
        if left:
            if self.waiting:
                self._wake_caller()
                left -= 1
            wanted = min(left, self.openings)
            self.openings -= wanted
        return item, wanted

    def _startable(self) -> int:
        """Return how many heavy kernels may be started. The lock is held."""
        return len(self.heavy) if self.bulk is None else self.bulk.startable(self.heavy)

    def _leave(self, member: bool) -> None:
        """Leave: this thread has nothing more to do here. The lock is held."""
        if member:
            self.present -= 1
            self.openings += 1
            if not self.present or self.tokens.finished:
                self._wake_caller()


def _has_parts(run: SharedRun, light: deque[Item]) -> bool:
    """Go on with batches that can only run in part, when nothing else does; returns whether there are any."""
    moved = False
    if run.failure is not None:
        moved, run.failure = run.parts.go_on(run.failure, light, run.heavy)
    return moved


def _light_of(run: SharedRun) -> deque[Item]:
    return deque() if run.budget is None else run.budget.light(run.heavy)


class BlasLimit:
    """Leaves processors to our threads while runs do matrix products side by side: two layers of threads get in
    each other's way. BLAS has one setting for the process, so the limit is shared and counted."""

    def __init__(self) -> None:
        #: guards every field below
        self.lock = _BLAS.lock()
        #: runs that want the limit
        self.users: set[SharedRun] = set()
        #: the loaded libraries; looked for, which takes a millisecond, when first wanted
        self.libraries: list[Any] | None = None
        #: how many threads each library had before, while there is a limit
        self.before: list[int] = []

    def limit(self, run: SharedRun) -> None:
        """Note that ``run`` wants the limit; the number of threads of the first that does counts."""
        with self.lock:
            # before the rest, so that a run of a signal handler that comes in between does not end the limit
            self.users.add(run)
            if not self.before:
                if self.libraries is None:
                    with undivided():
                        from threadpoolctl import ThreadpoolController

                        self.libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                before = [library.get_num_threads() for library in self.libraries]
                self.before = self.before or before
                for library, count in zip(self.libraries, self.before):
                    _set_threads(library, max(1, count // (run.most + 1)))

    def release(self, run: SharedRun) -> None:
        """Note that ``run`` wants it no more; also after a ``limit`` that was interrupted half-way."""
        with self.lock:
            self.users.discard(run)
            self._settle()

    def after_fork_in_child(self) -> None:
        """Forget the runs of other threads."""
        me = get_ident()
        self.users = {run for run in self.users if run.caller == me}
        self._settle()

    def _settle(self) -> None:
        """Give back the threads if nobody wants the limit. The lock is held."""
        if not self.users:
            for library, count in zip(self.libraries or (), self.before):
                _set_threads(library, count)
            self.before = []


def _set_threads(library: Any, count: int) -> None:
    """Set it whatever thread we are: the public setter obeys only the first thread that ever called it."""
    getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


_blas = BlasLimit()


@in_child
def _after_fork() -> None:
    _blas.after_fork_in_child()
