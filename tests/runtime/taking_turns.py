"""Threads of which one goes on at a time: a chooser says which, at each of the points where they may be held up.

So what several threads do can be done again, by a seed, or in every order. Locks that are made meanwhile know of it:
who waits for one is not chosen.
"""

from __future__ import annotations

import _thread
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import pytest
from api import forks

#: seconds after which a thread that is to go on is taken for stuck
LONG = 60


class Stuck(Exception):
    """Nobody can go on."""


class Over(BaseException):
    """Ends a thread whose run was given up."""


class Turns:
    """Some threads.

    Parameters
    ----------
    choose : callable
        Is given how many threads could go on, the one that has come to a point first if it could, and whether it could;
        gives which does.

    Attributes
    ----------
    errors : list of Exception
        What threads have ended with.
    """

    def __init__(self, choose: Callable[[int, bool], int]) -> None:
        self._choose = choose
        self._batons: list[_thread.LockType] = []
        #: those that have not ended, and what those wait for that do
        self._there: list[int] = []
        self._waits: dict[int, Callable[[], bool]] = {}
        self._over = _held()
        self._stuck = False
        self.errors: list[BaseException] = []

    def start(self, function: Callable[[], Any]) -> None:
        """Add a thread; it goes on when it is chosen."""
        number = len(self._batons)
        self._batons.append(_held())
        self._there.append(number)

        def live() -> None:
            _here.turns, _here.number = self, number
            try:
                self._await(number)
                function()
            except Over:
                pass
            except BaseException as error:
                self.errors.append(error)
            finally:
                self._there.remove(number)
                self._next(number)

        _thread.start_new_thread(live, ())

    def run(self) -> None:
        """Let all threads go on to their ends, and those that they start."""
        self._next(-1)
        assert self._over.acquire(timeout=LONG), "a thread waits for what is not known here"
        if self._stuck:
            raise Stuck("nobody can go on")
        if self.errors:
            raise self.errors[0]

    def point(self, ready: Callable[[], bool] | None = None) -> None:
        """Let another thread go on, perhaps; ``ready``: when this one can."""
        number: int = _here.number
        if self._stuck:
            if ready is not None and not ready():
                raise Over
            return
        if ready is not None:
            self._waits[number] = ready
        if self._next(number) != number:
            self._await(number)
        self._waits.pop(number, None)

    def _await(self, number: int) -> None:
        assert self._batons[number].acquire(timeout=LONG), "nobody lets this thread go on"
        if self._stuck:
            raise Over

    def _next(self, me: int) -> int:
        """Choose who goes on."""
        able = [k for k in self._there if k not in self._waits or self._waits[k]()]
        able.sort(key=lambda k: k != me)
        if not able:
            self._stuck |= bool(self._there)
            if me in self._there:
                raise Over
            if self._there:  # each lets the next one end
                self._batons[self._there[0]].release()
            else:
                self._over.release()
            return -1
        chosen = able[self._choose(len(able), able[0] == me) if len(able) > 1 else 0]
        if chosen != me:
            self._batons[chosen].release()
        return chosen


def _held() -> _thread.LockType:
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock


_here = _thread._local()


def point(ready: Callable[[], bool] | None = None) -> None:
    """A point where the thread may be held up, if it is one of such."""
    turns = getattr(_here, "turns", None)
    if turns is not None:
        turns.point(ready)


class Lock:
    """A re-entrant lock, or a gate, of threads that take turns."""

    def __init__(self, reentrant: bool = True) -> None:
        self._reentrant, self._owner, self._count = reentrant, -1, 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        me = getattr(_here, "number", -2)
        free = lambda: not self._count or (self._reentrant and self._owner == me)
        if blocking:
            point(free)
        if not free():
            assert not blocking
            return False
        self._owner, self._count = me, self._count + 1
        return True

    def release(self) -> None:
        self._count -= 1
        assert self._count >= 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()

    def _is_owned(self) -> bool:
        return bool(self._count) and self._owner == getattr(_here, "number", -2)


@contextmanager
def known_locks() -> Iterator[None]:
    """Locks and gates that are made inside are of those that take turns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forks.Kind, "lock", lambda self: Lock())
        patch.setattr(forks.Kind, "gate", lambda self: Lock(reentrant=False))
        yield


def by_die(seed: int) -> Callable[[int, bool], int]:
    """Choose by a seeded die."""
    return lambda count, _, die=random.Random(seed): die.randrange(count)  # type: ignore[misc]


# -- every order ------------------------------------------------------------------------------------------


def every_order(
    functions: Callable[[], Sequence[Callable[[], Any]]], codes: Sequence[CodeType], check: Callable[[], Any],
    changes: int = 2, each_operation: bool = False,
) -> int:  # fmt: skip
    """Let threads do things in every order in which one is held up ``changes`` times for another; gives how many.

    Parameters
    ----------
    functions : callable
        Makes what each thread does, of new objects.
    codes : sequence of code
        The functions before each of whose lines a thread may be held up.
    check : callable
        Asserts what must hold when all have ended.
    each_operation : bool
        Before each operation in place of each line.
    """
    done = 0
    todo: list[list[int]] = [[]]
    while todo:
        prefix = todo.pop()
        taken: list[tuple[int, bool]] = []

        def choose(count: int, could: bool, prefix: list[int] = prefix, taken: list[tuple[int, bool]] = taken) -> int:
            k = len(taken)
            taken.append((count, could))
            return prefix[k] if k < len(prefix) else 0

        with known_locks():
            turns = Turns(choose)
            for function in functions():
                turns.start(_stepping(function, codes, each_operation))
            turns.run()
            check()
        done += 1
        spent = sum(could and k < len(prefix) and prefix[k] > 0 for k, (_, could) in enumerate(taken))
        for k in range(len(prefix), len(taken)):
            count, could = taken[k]
            if not could or spent < changes:  # who cannot go on is not held up
                todo += [[*prefix, *[0] * (k - len(prefix)), other] for other in range(1, count)]
    return done


def _stepping(function: Callable[[], Any], codes: Sequence[CodeType], each_operation: bool) -> Callable[[], None]:
    """Return what has a point before each line, or operation, of some functions."""
    wanted = set(codes)
    event = "opcode" if each_operation else "line"

    def within(frame: FrameType, what: str, arg: Any) -> Any:
        if what == event:
            point()
        return within

    def entered(frame: FrameType, what: str, arg: Any) -> Any:
        if frame.f_code not in wanted:
            return None
        frame.f_trace_opcodes = each_operation
        return within

    def run() -> None:
        sys.settrace(entered)
        try:
            function()
        finally:
            sys.settrace(None)

    return run
