"""How the thread that has called a run waits for the others, and what ends it before its time."""

from __future__ import annotations

import time
from _thread import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .first_failure import FirstFailure
    from .frames import State
    from .kernels import Watch
    from .running_loops import RunningLoops

FORKED = (
    "this process was forked by a function that a graph called, while other threads were computing parts of the same "
    "graph; they do not exist here, so the graph cannot be run to its end. Fork outside of graphs, or run them with "
    "config.set_num_threads(1) [AL606]"
)


class CallerWaits:
    """What ``SharedRun`` says of its fields holds."""

    lock: Any
    caller: int
    tokens: State
    watch: Watch | None
    openings: int
    most: int
    present: int
    waiting: bool
    wake: Any
    error: BaseException | None
    failure: FirstFailure | None
    stopped: bool
    loops: RunningLoops

    def _sleep(self) -> None:
        """Block until there is something to do or the time is over."""
        watch = self.watch
        if watch is None or watch.deadline is None:
            self.wake.acquire()
        elif not self.wake.acquire(timeout=max(0.0, watch.deadline - time.monotonic())):
            with self.lock:
                if self.waiting:
                    self.waiting = False
                    self._fail(watch.timed_out(self.tokens))
                    return
            self.wake.acquire()  # it was released just after the time was over

    def _fail(self, error: BaseException) -> None:
        """Stop because of ``error``, unless stopped already. The lock is held."""
        if not self.stopped:
            self.error = error
            self.stopped = True
            self.loops.end(self)

    def _wake_caller(self) -> None:
        """Let the caller go on if it is blocked. The lock is held."""
        if self.waiting:
            self.waiting = False
            self.wake.release()

    def left_alone(self) -> None:
        """In a forked child: what the other threads were computing will never be there."""
        alone = get_ident() == self.caller
        if not alone or self.present:
            self._fail(RuntimeError(FORKED))
        self.present = 0 if alone else 1
        self.openings = 0
        self._wake_caller()
