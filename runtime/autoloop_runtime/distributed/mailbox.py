"""Where Dask's thread puts what it has to tell, and the driver takes it."""

from __future__ import annotations

from typing import Any

from ..base.forks import Kind

_MAILBOX = Kind("Mailbox.lock", "the run and the cluster's thread that it waits for are the parent's")


class Mailbox:
    """A queue of one reader. Each submission in flight puts two letters at most, so it cannot grow without end.

    ``_lock`` guards ``_letters`` and ``_waits``; ``_gate`` is held unless the reader, who waits, may go on.
    """

    def __init__(self) -> None:
        self._lock = _MAILBOX.lock()
        self._gate = _MAILBOX.gate()
        self._gate.acquire()
        self._letters: list[Any] = []
        self._waits = False

    def put(self, letter: Any) -> None:
        """Add a letter; any thread may."""
        with self._lock:
            self._letters.append(letter)
            if self._waits:
                self._waits = False
                self._gate.release()

    def take(self, wait: bool = True) -> list[Any]:
        """Return all letters there are, oldest first; if there are none, wait for one.

        Ctrl-C ends the waiting, as that of a lock on the main thread.
        """
        with self._lock:
            found, self._letters = self._letters, []
            if found or not wait:
                return found
            self._waits = True
        self._gate.acquire()
        return self.take(wait=False)
