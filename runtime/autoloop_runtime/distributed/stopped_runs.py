"""How a run of loops is stopped by another thread, which has found that nobody wants what it gives."""

from __future__ import annotations

from contextvars import ContextVar

from ..base.contexts import Setting
from ..base.forks import Kind
from .mailbox import Mailbox

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
