"""Locks, threads, and what becomes of them in a forked process.

A forked child has one thread: the one that called ``fork``. What another held stays locked there for ever, and what
another was doing stays half done. So nobody makes a lock or a thread but through a ``Kind``, which says why a child can
do without what was in the middle; and there the locks are free again that the forking thread does not hold itself.

Where half done would be wrong (an import, LLVM), the work stands in ``with undivided():``, and a fork waits for its
end. Such work calls nothing of the user's and waits for no other thread.

All locks are re-entrant. A signal handler, or a finaliser that the collector runs, may call the very function that it
interrupted, on the same thread: what a lock guards must bear that at every point.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any

#: seconds that a fork waits at most for work that should not be divided
LIMIT = 10.0

#: said by a child when there is nothing left that it could do
FORKED_IN_THREAD = (
    "autoloop: this process was forked by a function that a graph called on another thread; the thread that runs the "
    "graph does not exist here, so the program cannot go on after the function. End such a child with os._exit.\n"
)


class Kind:
    """The locks, signals and threads that one class, or module, makes.

    Parameters
    ----------
    name : str
        Where they are.
    in_child : str
        Why a forked process is right whatever a thread that it does not have was doing with them.
    """

    __slots__ = ("_living", "in_child", "name")

    def __init__(self, name: str, in_child: str) -> None:
        self.name = name
        self.in_child = in_child
        #: references to the locks there are; they leave by themselves
        self._living: set[weakref.ref[Any]] = set()
        KINDS.append(self)

    def lock(self) -> threading.RLock:
        """A re-entrant lock; in a child it is free unless the thread that forked holds it."""
        made = threading.RLock()
        self._living.add(weakref.ref(made, self._living.discard))
        return made

    def condition(self) -> threading.Condition:
        """A condition over such a lock; nobody waits on it in a child."""
        return threading.Condition(self.lock())

    def gate(self) -> threading.Lock:
        """A lock that one thread takes and another releases; a child leaves it as it is."""
        return threading.Lock()

    def event(self) -> threading.Event:
        """An event; a child leaves it as it is."""
        return threading.Event()

    def thread(
        self, target: Callable[..., Any], args: tuple[Any, ...] = (), *, name: str | None = None, daemon: bool = True
    ) -> threading.Thread:
        """A thread, not started; a child does not have it, unless it has no other."""
        return threading.Thread(target=_run, args=(target, args), name=name, daemon=daemon)

    def living(self) -> list[Any]:
        """The locks there are."""
        return [lock for lock in [reference() for reference in self._living.copy()] if lock is not None]


#: all there are, in the order in which their modules were imported
KINDS: list[Kind] = []


class _Undivided:
    """Work in progress that a fork waits for: how deep each thread is in it."""

    def __init__(self) -> None:
        #: guards ``inside``; a fork holds it
        self.changed = threading.Condition()
        self.inside: dict[int, int] = {}

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self.changed:
            self.inside[me] = self.inside.get(me, 0) + 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        me = threading.get_ident()
        with self.changed:
            depth = self.inside.pop(me) - 1
            if depth:
                self.inside[me] = depth
            else:
                self.changed.notify_all()

    def before_fork(self) -> None:
        """Wait for the others, and let nobody begin."""
        self.changed.acquire()
        me, end = threading.get_ident(), time.monotonic() + LIMIT
        while self.inside.keys() - {me} and time.monotonic() < end:
            self.changed.wait(end - time.monotonic())

    def after_fork_in_child(self) -> None:
        """Forget the others."""
        me = threading.get_ident()
        self.inside = {me: self.inside[me]} if me in self.inside else {}
        self.changed.release()


_undivided = _Undivided()
_in_child: list[Callable[[], None]] = []
_generation = 0


def is_mine(lock: Any) -> bool:
    """True if this thread holds ``lock``."""
    held: bool = lock._is_owned()
    return held


def undivided() -> _Undivided:
    """``with undivided():`` around what a fork must not find half done; any number of threads may be at it."""
    return _undivided


def in_child(f: Callable[[], None]) -> Callable[[], None]:
    """Have ``f`` called in a child, in the one thread there is, once the locks are free."""
    _in_child.append(f)
    return f


def generation() -> int:
    """A number that a process forked from this one does not share."""
    return _generation


def _run(target: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """The life of a thread. In a child that it has forked nobody waits for it: what it did would end without a sign."""
    begun = _generation
    try:
        target(*args)
    finally:
        if _generation != begun:
            sys.stderr.write(FORKED_IN_THREAD)
            sys.stderr.flush()
            os._exit(1)


def _after_fork_in_child() -> None:
    global _generation
    _generation += 1
    for kind in KINDS:
        for lock in kind.living():
            if not is_mine(lock):
                lock._at_fork_reinit()  # what ``threading`` itself does with its own
    _undivided.after_fork_in_child()
    for f in _in_child:
        f()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_undivided.before_fork,
        after_in_parent=_undivided.changed.release,
        after_in_child=_after_fork_in_child,
    )
