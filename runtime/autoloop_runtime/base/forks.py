"""Locks, threads, and what becomes of them in a forked process.

A forked child has one thread: the one that called ``fork``. What another held stays locked there for ever, and what
another was doing stays half done. So nobody makes a lock or a thread but through a ``Kind``, which says why a child can
do without what was in the middle; and there the locks are free again that the forking thread does not hold itself.

Where half done would be wrong (an import, LLVM), the work stands in ``with undivided():``, and a fork waits for its
end. Such work calls nothing of the user's and waits for no other thread.

``threading`` is loaded when there is to be a thread, or one waits: most programs have only locks.

All locks are re-entrant. A signal handler, or a finaliser that the collector runs, may call the very function that it
interrupted, on the same thread: what a lock guards must bear that at every point.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import threading

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

    def lock(self) -> _thread.RLock:
        """Return a re-entrant lock; in a child it is free unless the thread that forked holds it."""
        made = _thread.RLock()
        self._living.add(weakref.ref(made, self._living.discard))
        return made

    def condition(self, lock: _thread.RLock) -> threading.Condition:
        """Return a condition over such a lock; nobody waits on it in a child."""
        with undivided():
            import threading

        return threading.Condition(lock)

    def gate(self) -> threading.Lock:
        """Return a lock that one thread takes and another releases; a child leaves it as it is."""
        return _thread.allocate_lock()

    def event(self) -> threading.Event:
        """Return an event; a child leaves it as it is."""
        with undivided():
            import threading

        return threading.Event()

    def thread(
        self, target: Callable[..., Any], args: tuple[Any, ...] = (), *, name: str | None = None, daemon: bool = True
    ) -> threading.Thread:
        """Return a thread, not started; a child does not have it, unless it has no other."""
        with undivided():
            import threading

        return threading.Thread(target=_run, args=(target, args), name=name, daemon=daemon)

    def living(self) -> list[Any]:
        """Return the locks there are."""
        return [lock for lock in [reference() for reference in self._living.copy()] if lock is not None]


#: all there are, in the order in which their modules were imported; nothing is added after that
KINDS: list[Kind] = []


#: what a thread holds while it is at something undivided: a lock of its own, so that nobody waits but a fork
_SECTIONS = Kind(
    "undivided", "a fork waits for it, with a limit; it is a thread's own, and the thread is not in a child"
)
#: the lock of each thread
_own = _thread._local()
_beginning = Kind(
    "undivided, first time", "it guards the making of a lock, which a thread of the parent will not use"
).lock()
#: what the fork that is under way holds; ``_beginning`` is the first of it, so there is one such fork at a time
_waited_for: list[Any] = []
#: what is called in a child; filled while modules are imported
_in_child: list[Callable[[], None]] = []
#: changed in the one thread of a process that was just forked
_generation = 0


def file_of(descriptor: int) -> tuple[int, int, int] | None:
    """Return what tells the files apart that a descriptor stands for at one time and another; ``None`` if there is
    none.

    Device and number of the file, and how many names it has: a file system gives the number of a file that is gone to
    the next one, which has a name where the other had none.
    """
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_nlink


def is_mine(lock: Any) -> bool:
    """Return whether this thread holds ``lock``."""
    held: bool = lock._is_owned()
    return held


def undivided() -> _thread.RLock:
    """Return ``with undivided():`` around what a fork must not find half done; any number of threads may be at it."""
    found: _thread.RLock | None = getattr(_own, "lock", None)
    if found is None:
        with _beginning:
            found = _own.lock = _SECTIONS.lock()
    return found


def _before_fork() -> None:
    """Wait for those who are at something undivided, and let nobody begin."""
    end = time.monotonic() + LIMIT
    for lock in [_beginning, *_SECTIONS.living()]:
        if not is_mine(lock) and lock.acquire(timeout=max(0.0, end - time.monotonic())):
            _waited_for.append(lock)


def _after_fork_in_parent() -> None:
    while _waited_for:
        _waited_for.pop().release()


def in_child(f: Callable[[], None]) -> Callable[[], None]:
    """Have ``f`` called in a child, in the one thread there is, once the locks are free."""
    _in_child.append(f)
    return f


def generation() -> int:
    """Return a number that a process forked from this one does not share."""
    return _generation


def _run(target: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Live the life of a thread.

    In a child that it has forked nobody waits for it: what it did would end without a sign.
    """
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
    _after_fork_in_parent()
    for f in _in_child:
        f()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
