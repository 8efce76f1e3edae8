"""Doing something at a chosen moment of a call: at the points where CPython runs signal handlers.

These are the entry of a Python function and the return from one written in C; a profiler is told of both.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any

from api import forks


def steps_of(f: Callable[[], Any]) -> int:
    """How many such points a call has."""
    return at_step(f, -1, lambda: None)[1]


def at_step(f: Callable[[], Any], step: int, action: Callable[[], Any]) -> tuple[Any, int]:
    """What ``f()`` gives with ``action()`` done at its point number ``step``, and how many points there were."""
    count = 0

    def profiler(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        if event in ("call", "c_return"):
            count += 1
            if count == step:
                sys.setprofile(None)
                action()

    sys.setprofile(profiler)
    try:
        return f(), count
    finally:
        sys.setprofile(None)


def interrupted(f: Callable[[], Any], step: int) -> bool:
    """Call ``f`` with Ctrl-C at a point; False if it ended before, or something dealt with the exception.

    In a context of its own: no ``with`` statement over a tape can be left if Ctrl-C comes in the middle of leaving it.
    """

    def interrupt() -> None:
        raise KeyboardInterrupt

    try:
        contextvars.copy_context().run(at_step, f, step, interrupt)
    except KeyboardInterrupt:
        return True
    return False


def left_locked() -> list[str]:
    """The kinds of which a lock is held by this thread, or by one that does not let it go."""
    found: list[str] = []

    def look() -> None:
        for kind in forks.KINDS:
            for lock in kind.living():
                if lock.acquire(timeout=5.0):
                    lock.release()
                else:
                    found.append(kind.name)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return found
