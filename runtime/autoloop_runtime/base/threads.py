"""The worker threads of the process, which help whoever works on something that can be shared.

Workers are shared by all work of the process, made when first wanted, and block when idle. Who calls for them goes on
by itself, whether they come or not.
"""

from __future__ import annotations

from .dataclass import Protocol
from .forks import Kind, in_child

_POOL = Kind("Pool.changed", "a child has a pool of its own, without workers")


class Work(Protocol):
    """What workers can be called to.

    ``most``: how many at once; ``assist``: what each of them calls, once; ``left_alone``: called in a forked child,
    which has no workers, or only the one that forked.
    """

    most: int

    def assist(self) -> None: ...
    def left_alone(self) -> None: ...


class Pool:
    """The worker threads of the process."""

    def __init__(self) -> None:
        #: guards every field below; taken itself and not through ``changed``, whose methods Ctrl-C could divide
        self.lock = _POOL.lock()
        #: idle workers wait on it
        self.changed = _POOL.condition(self.lock)
        #: what wants help, and how many more workers for each; whoever gets one goes to the end
        self.calls: dict[Work, int] = {}
        #: what has wanted help and is not over
        self.shared: set[Work] = set()
        #: workers that are waiting
        self.idle = 0
        #: workers there are
        self.size = 0
        #: the most workers that any work has had openings for
        self.most = 0

    def call(self, work: Work, count: int) -> None:
        """Ask for ``count`` workers for ``work``; if none is free it goes on without."""
        with self.lock:
            self.shared.add(work)
            self.calls[work] = self.calls.get(work, 0) + count
            self.most = max(self.most, work.most)
            self.changed.notify(count)
            missing = min(sum(self.calls.values()) - self.idle, self.most - self.size)
            for _ in range(missing):
                try:
                    _POOL.thread(self._work, name=f"autoloop-{self.size}").start()
                except RuntimeError:
                    break  # no more threads to be had: the calling threads do the work
                self.size += 1

    def forget(self, work: Work) -> None:
        """Give no more help to ``work``, which has ended."""
        with self.lock:
            self.shared.discard(work)
            self.calls.pop(work, None)

    def _work(self) -> None:
        """Live the life of a worker; it ends in a child that it forked."""
        while self is _pool:
            work = self._next()
            work.assist()
            del work  # an idle worker must not keep arrays

    def _next(self) -> Work:
        """Wait for work."""
        with self.lock:
            while not self.calls:
                self.idle += 1
                self.changed.wait()
                self.idle -= 1
            work = next(iter(self.calls))
            wanted = self.calls.pop(work)
            if wanted > 1:
                self.calls[work] = wanted - 1  # behind the others
            return work


#: replaced in the one thread of a process that was just forked
_pool = Pool()


def call_workers(work: Work, count: int) -> None:
    """Ask for the help of ``count`` workers; those that are busy do not come."""
    _pool.call(work, count)


def others_call(work: Work) -> bool:
    """Return whether anything else than ``work`` calls for workers; read without the lock, so it may have changed."""
    calls = _pool.calls
    return len(calls) > (work in calls)


def forget_work(work: Work) -> None:
    """Give no more help to ``work``; workers that have begun are still in it."""
    _pool.forget(work)


@in_child
def _after_fork() -> None:
    """Forget the workers of the parent, none of which a forked child has."""
    global _pool
    old, _pool = _pool, Pool()
    for work in old.shared:
        work.left_alone()
