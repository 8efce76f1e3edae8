"""A process that answers questions, and on which no wait depends: it may end, be stopped or be killed at any moment.

One socket lies between the two. Who asks looks every moment whether there is still something to wait for: a process
that is stopped, or has none of the processor's time for long, counts as ended.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import TypeVar

from ...base import forks
from ...base.dataclass import dataclass

_T = TypeVar("_T")
#: seconds of one wait, and between two looks at what the process does
SLICE, LOOK = 0.05, 0.5
#: seconds that an answer may take, and that the process may go without any of the processor's time
LONGEST, IDLE = 600.0, 20.0
#: seconds for what was killed to be gone
GONE = 2.0

_FORKS = forks.Kind("compiler", "the process is the parent's; a child closes its copy of the socket and starts its own")


class Ended(Exception):
    """The process has ended, or will not answer any more."""


class TooLate(Ended):
    """It was at work all the time that there was for the answer."""


class Unwanted(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class _Doing:
    """What a process does: the letter of its state, and the processor's time that it had, in ticks."""

    state: str
    ticks: int


def _doing(pid: int) -> _Doing | None:
    """Return what the process does; ``None`` where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
        return _Doing(words[0].decode(), int(words[11]) + int(words[12]))
    except (OSError, ValueError, IndexError):
        return None


class _Patience:
    """How long it makes sense to wait for a process."""

    def __init__(self, pid: int, longest: float) -> None:
        self._pid = pid
        self._begin = self._worked = self._looked = monotonic()
        self._longest = longest
        self._before: _Doing | None = None

    def look(self) -> None:
        """Raise ``Ended`` if there is nothing to wait for."""
        now = monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if now - self._begin > self._longest:
            raise TooLate(f"it gave no answer in {self._longest:.0f} seconds")
        before, doing = self._before, _doing(self._pid)
        self._before = doing
        if doing is None:
            return
        if doing.state in "ZX":
            raise Ended("it has ended")
        if before is None or doing.ticks != before.ticks:
            self._worked = now
        elif doing.state in "tT" and before.state in "tT":
            raise Ended("it was stopped")
        elif now - self._worked > IDLE:
            raise Ended(f"it did nothing for {IDLE:.0f} seconds")


class Child:
    """A running process; one thread at a time asks it, any may stop it.

    Parameters
    ----------
    command : sequence of str
    environment : dict of str to str

    Attributes
    ----------
    is_over : bool
        It need not be asked any more.

    Raises
    ------
    OSError
        If it cannot be started.
    """

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self.is_over = False
        self._owner = os.getpid()
        self._lock = _FORKS.lock()
        with forks.undivided():  # a process that is forked in between would hold its end of the socket, too
            self._socket, theirs = socket.socketpair()
            with theirs:
                try:
                    # a session of its own: Ctrl-C is for this process, which stops it then
                    self._process = subprocess.Popen(
                        command, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.DEVNULL,
                        env=environment, cwd="/", start_new_session=True,
                    )  # fmt: skip
                except BaseException:
                    self._socket.close()
                    raise
            self._mark = forks.file_of(self._socket.fileno())
            _alive.append(self)
        with contextlib.suppress(RuntimeError):  # no threads any more
            _FORKS.thread(self._await_end, name="autoloop-compiler").start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def ask(self, question: bytes, longest: float = LONGEST, is_wanted: Callable[[], bool] = lambda: True) -> Answer:
        """Send ``question``; what is read from the answer is waited for only as long as there is something to wait for.

        Raises
        ------
        Ended
            If there is nothing to wait for. As all that follows, it leaves the process in no state to be asked again.
        Unwanted
            If ``is_wanted`` says so.
        """
        answer = Answer(self, _Patience(self.pid, longest), is_wanted)
        answer.send(question)
        return answer

    def connection(self) -> socket.socket:
        """Return the socket, if its number still means what it meant: the user may have closed all there are."""
        if forks.file_of(self._socket.fileno()) != self._mark:
            raise Ended("its socket was closed")
        return self._socket

    def stop(self) -> int | None:
        """End it, if it is this process's own; gives its exit code if there is one."""
        self._close()
        if self._owner != os.getpid():
            self._process.returncode = 0  # nobody is waited for
            return None
        with self._lock:
            self._process.kill()  # looks first whether it is there
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GONE)
        return self._process.returncode

    def _close(self) -> None:
        self.is_over = True
        with contextlib.suppress(ValueError):
            _alive.remove(self)
        try:
            self.connection().close()
        except Ended:
            self._socket.detach()  # the number is somebody else's by now, who would not like to have it closed

    def _await_end(self) -> None:
        """Wait for its end, so that nothing is left of it; on a thread of its own."""
        with contextlib.suppress(OSError):  # somebody waited for all there are
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            self._process.poll()
        self.is_over = True


class Answer:
    """What a process sends back."""

    def __init__(self, child: Child, patience: _Patience, is_wanted: Callable[[], bool]) -> None:
        self._child = child
        self._patience = patience
        self._is_wanted = is_wanted
        #: what came and was not read yet
        self._left = b""

    def send(self, data: bytes) -> None:
        """Send all of ``data`` to it."""
        view = memoryview(data)
        while view:
            sent = self._transfer(select.POLLOUT, partial(_send, view))
            view = view[sent:]

    def line(self) -> bytes:
        """Return all up to the end of the line."""
        parts = [self._left]
        while b"\n" not in parts[-1]:
            parts.append(self._some())
        line, _, self._left = b"".join(parts).partition(b"\n")
        return line

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes."""
        parts, count = [self._left], len(self._left)
        while count < size:
            parts.append(self._some())
            count += len(parts[-1])
        data = b"".join(parts)
        self._left = data[size:]
        return data[:size]

    def _some(self) -> bytes:
        data = self._transfer(select.POLLIN, lambda s: s.recv(1 << 20, socket.MSG_DONTWAIT))
        if not data:
            raise Ended("it has ended")
        return data

    def _transfer(self, event: int, transfer: Callable[[socket.socket], _T]) -> _T:
        while True:
            connection = self._when(event)
            try:
                return transfer(connection)
            except BlockingIOError:
                continue
            except OSError as error:
                raise Ended(f"{type(error).__name__}: {error}") from None

    def _when(self, event: int) -> socket.socket:
        """Return the socket, when it is ready."""
        while True:
            connection, poll = self._child.connection(), select.poll()
            poll.register(connection, event)
            if poll.poll(1e3 * SLICE):
                return self._child.connection()  # a signal handler may have run
            if not self._is_wanted():
                raise Unwanted
            self._patience.look()


def _send(data: memoryview, connection: socket.socket) -> int:
    # whoever lets broken pipes end the program does not mean this one
    return connection.send(data, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)


#: those that were not stopped; adding and removing are atomic, and who goes through them takes a copy
_alive: list[Child] = []


@forks.in_child
def _forget() -> None:
    """Close a forked process's copies of the sockets, as long as they are what they were."""
    for child in _alive.copy():
        child.stop()


def stop_all() -> None:
    """End all there are."""
    for child in _alive.copy():
        child.stop()
