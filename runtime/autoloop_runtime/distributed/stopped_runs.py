"""How a run of loops is stopped by another thread, which has found that nobody wants what it gives."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from ..base.contexts import Setting
from ..base.forks import Kind
from .mailbox import Mailbox
from .remote_cluster import check_open

_STOP = Kind("Stop.lock", "the runs are the parent's")


class StoppedRun(BaseException):
    """A run was stopped; nothing that goes on after errors goes on after it."""


class Stop:
    """Stops runs that are on their way, and those to come.

    ``_lock`` guards ``_mailboxes`` and ``_is_set``.
    """

    def __init__(self) -> None:
        self._lock = _STOP.lock()
        self._mailboxes: set[Mailbox] = set()
        self._is_set = False

    def enter(self, mailbox: Mailbox) -> None:
        """Let a run be woken, which reads a mailbox."""
        with self._lock:
            self._mailboxes.add(mailbox)

    def leave(self, mailbox: Mailbox) -> None:
        """Note that a run has ended."""
        with self._lock:
            self._mailboxes.discard(mailbox)

    def check(self) -> None:
        """Raise ``StoppedRun`` if it is to stop."""
        if self._is_set:
            raise StoppedRun

    def stop(self) -> None:
        """Stop them."""
        with self._lock:
            self._is_set = True
            for mailbox in self._mailboxes:
                mailbox.put(None)


#: what stops the runs of this thread
_CURRENT: ContextVar[Stop | None] = ContextVar("autoloop_stop", default=None)


def set_stop(stop: Stop) -> Setting[None]:
    """Return a block whose runs are stopped by ``stop``."""
    return Setting(None, (_CURRENT, stop))


def current_stop() -> Stop | None:
    """Return what stops the runs of this thread."""
    return _CURRENT.get()


def wait_for(client: Any, futures: Sequence[Any]) -> None:
    """Wait until futures are there, as ``distributed.wait``; a thread whose runs can be stopped waits no longer.

    Raises
    ------
    StoppedRun
        If they are stopped.
    Exception
        What Dask raises, of futures that were cancelled.
    """
    stop = current_stop()
    if stop is not None:
        mailbox, loop, tasks = Mailbox(), client.loop.asyncio_loop, list[Any]()

        def begin() -> None:  # on the event loop, as all that is done with the task
            tasks.append(loop.create_task(_tell(client, futures, mailbox)))

        stop.enter(mailbox)
        try:
            check_open(client)
            loop.call_soon_threadsafe(begin)
            check_open(client)
            stop.check()
            mailbox.take()
            stop.check()
        finally:
            stop.leave(mailbox)
            with suppress(RuntimeError):  # it is closed
                loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])  # it holds the futures
    importlib.import_module("distributed").wait(futures)


async def _tell(client: Any, futures: Sequence[Any], mailbox: Mailbox) -> None:
    """Put a letter when futures are there, or will not be. Runs on the client's event loop."""
    try:
        with client.as_current():  # ``wait`` asks for it
            waiting = importlib.import_module("distributed").wait(futures)
        await waiting
    except Exception:  # who waits finds out
        pass
    finally:
        mailbox.put(None)
