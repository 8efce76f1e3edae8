"""The time limit of a run, as the users' own functions in it feel it.

Kernels end by themselves, so the scheduler waits for them. A user's function may never end. Under a time limit it
is therefore called on a thread of its own, which is given up when the time is over.
"""

from __future__ import annotations

import contextvars
import ctypes
import time
from collections.abc import Callable
from typing import Any

from .forks import Kind

_KIND = Kind("deadlines", "each call has its own; a call that does not end there has a time limit")

#: when the run around us must end, in ``time.monotonic()``; set by whoever runs a graph with a time limit
DEADLINE: contextvars.ContextVar[float | None] = contextvars.ContextVar("autoloop_deadline", default=None)


class _GivenUp(SystemExit):
    """Raised in a function whose result nobody waits for any more; ends a thread without a message."""


class _Call:
    """One call on a thread of its own."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.f, self.args = f, args
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = _KIND.event()  # set after ``result`` or ``error``
        self.given_up = False
        self.thread = _KIND.thread(self._run, (contextvars.copy_context(),))

    def _run(self, context: contextvars.Context) -> None:
        try:
            if self.given_up:
                return
            self.result = context.run(self.f, *self.args)
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()

    def give_up(self) -> None:
        """End the thread at the next line of Python that it runs; what blocks in C ends when that returns.

        While such an exception waits for a thread that is blocked in C, CPython 3.11 makes no progress in threads that
        are traced (debugger, coverage): there, and only there, the caller waits until the call in C returns.
        """
        self.given_up = True
        if self.thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread.ident), ctypes.py_object(_GivenUp))


def call_in_time(f: Callable[..., Any], *args: Any, what: str) -> Any:
    """Return ``f(*args)``, if it is done before the time limit of the run.

    Raises
    ------
    TimeoutError
        When the time is over; names ``what``. The function may still be running then, on its own thread.
    """
    deadline = DEADLINE.get()
    if deadline is None:
        return f(*args)
    call = _Call(f, args)
    try:
        call.thread.start()
        in_time = call.done.wait(max(0.0, deadline - time.monotonic()))
    except BaseException:  # an interrupt
        call.give_up()
        raise
    if not in_time:
        call.give_up()
        raise TimeoutError(f"{what} was still running when the time limit of the run was over [AL603]")
    call.thread.join()
    error, call.error = call.error, None  # its traceback refers to us
    if error is not None:
        raise error
    return call.result
