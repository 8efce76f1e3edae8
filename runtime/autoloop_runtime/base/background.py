"""Work that nobody waits for, on one thread that lives only while there is some.

The thread is no daemon: it is joined when the interpreter ends, and takes no further job from then on. A child begins
without jobs, also without the one that was running; who asked for them sees a new ``forks.generation``.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING

from .forks import Kind, in_child, undivided

if TYPE_CHECKING:
    import threading

Job = Callable[[], None]

_KIND = Kind("background", "a child has a queue of its own, which is empty")

#: seconds that a busy thread runs, and that it then leaves to the job; without it the job, which reads many small files
#: and has to win the interpreter's lock back each time, takes several times as long
BUSY, LEFT = 0.001, 0.0005


class _Queue:
    """The jobs of one process; ``lock`` guards the rest, but for ``turn``, of which any recent value will do."""

    #: of the thread, made before it
    idle: threading.Event

    def __init__(self) -> None:
        self.lock = _KIND.lock()
        self.jobs: deque[Job] = deque()
        self.thread: threading.Thread | None = None
        #: when a busy thread last gave way
        self.turn = 0.0

    def submit(self, job: Job) -> bool:
        """See the function."""
        with self.lock:
            self.jobs.append(job)
            if self.thread is None:
                self.idle = _KIND.event()
                self.thread = _KIND.thread(self._work, name="autoloop background", daemon=False)
                try:
                    self.thread.start()
                except RuntimeError:  # no threads any more: the interpreter ends, or there are too many
                    self.thread = None
                    self.jobs.clear()
                    return False
        return True

    def _work(self) -> None:
        while True:
            with self.lock:
                if not self.jobs or is_ending():
                    self.jobs.clear()
                    self.thread = None
                    self.idle.set()
                    return
                job = self.jobs.popleft()
            Context().run(job)


# one reference, replaced as a whole, and only in the one thread of a process that was just forked
_queue = _Queue()


def submit(job: Job) -> bool:
    """Let the thread do ``job``, which must not raise; False if there can be no thread."""
    return _queue.submit(job)


def give_way() -> None:
    """Leave the job the interpreter for a moment; for a thread that is busy while one is done for it."""
    queue, now = _queue, time.perf_counter()
    if queue.thread is not None and now - queue.turn > BUSY:
        queue.idle.wait(LEFT)
        queue.turn = time.perf_counter()


def is_ending() -> bool:
    """Return true once the main thread is over: what has not begun need not be done any more."""
    with undivided():
        import threading

    return not threading.main_thread().is_alive()


def is_here() -> bool:
    """Return true on the thread that does the jobs."""
    with undivided():
        import threading

    return threading.current_thread() is _queue.thread


def wait(timeout: float | None = None) -> None:
    """Return when all jobs are done, or after ``timeout`` seconds."""
    with _queue.lock:
        thread = _queue.thread
    if thread is not None:
        thread.join(timeout)


@in_child
def _forget() -> None:
    global _queue
    _queue = _Queue()
