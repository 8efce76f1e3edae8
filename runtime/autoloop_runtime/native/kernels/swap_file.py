"""Stacks of loops with ``swap_memory=True`` that do not stay in memory: past a budget a stack goes to a file.

Machine code asks here whenever such a stack is to become larger. A signal handler may raise anywhere in the answer, at
its first step and its last; so the answer is written where 0 was before, and what the stack had lives until then.

The file is mapped, so what reads the stack need not know; it has no name, so nobody else can read it and nothing is
left of it. All of it is there on the disk before anything is written, so a full disk is an exception and not a signal.

Who forks while the code runs, in a signal handler, has the file in two processes. What the child writes is then its
own, and its results, for which it may have read what its parent wrote since, are refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
import threading

from ...base import config
from ...base.forks import Kind, file_of, in_child, undivided

#: smaller stacks stay in memory and do not count
SMALLEST = 1 << 20
#: what machine code calls these functions
GROW, RELEASE = "autoloop_swap_grow", "autoloop_swap_release"
#: of ``mmap``, on Linux
_FIXED = 0x10
#: answer: it may stay in memory
STAYS = 1
_KIND = Kind("native.swapped", "stacks belong to the thread that runs the code; a child without it counts none")


class _Mapped:
    """A file without a name, in memory at ``address``."""

    _descriptor = -1
    #: where the elements were that machine code may not have left yet
    before: _Mapped | None = None

    def __init__(self, count: int) -> None:
        with undivided():  # ``tempfile`` has a lock of its own
            from tempfile import TemporaryFile  # few loops swap

            file = TemporaryFile(prefix="autoloop-swap-", buffering=0)  # noqa: SIM115
        with file:
            reserve(file.fileno(), count)
            self._map = mmap.mmap(file.fileno(), count)
            self._identity = file_of(file.fileno())
            self._descriptor = os.dup(file.fileno())
        self.count = count
        self.thread = threading.get_ident()
        self._first = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._first)

    def fill(self, source: int, count: int) -> None:
        """Take over ``count`` bytes; they are the first that memory may be taken of."""
        ctypes.memmove(self.address, source, count)
        if hasattr(mmap, "MADV_DONTNEED") and count >= mmap.PAGESIZE:
            self._map.madvise(mmap.MADV_DONTNEED, 0, count)

    def become_own(self) -> None:
        """Keep what is written from now on in this process."""
        if sys.platform != "linux" or file_of(self._descriptor) != self._identity:
            return
        put = ctypes.CDLL(None).mmap
        words = ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
        put.restype, put.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, *words]
        rights = mmap.PROT_READ | mmap.PROT_WRITE
        put(self.address, self.count, rights, mmap.MAP_PRIVATE | _FIXED, self._descriptor, 0)

    def close(self) -> None:
        """Give the file up."""
        del self._first
        self._map.close()
        self.__del__()

    def __del__(self) -> None:
        # whom Ctrl-C kept from being closed, the collector closes
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0 and file_of(descriptor) == self._identity:
            os.close(descriptor)


def reserve(descriptor: int, count: int) -> None:
    """Make a file of ``count`` bytes that are there on the disk."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, count)
        return
    zeros, done = bytes(1 << 20), 0
    while done < count:
        done += os.write(descriptor, zeros[: count - done])


class _Space:
    """The larger stacks by their addresses: the bytes of each that is in memory, or its file; ``lock`` guards them."""

    def __init__(self) -> None:
        self.lock = _KIND.lock()
        self.stacks: dict[int, int | _Mapped] = {}
        #: what went wrong on each thread, which raises it at once
        self.failed: dict[int, BaseException] = {}

    def grow(self, stack: int, data: int, used: int, count: int) -> int:
        """Return where a stack with ``used`` bytes at ``data`` has room for ``count``: an address, ``STAYS``; 0:
        it failed."""
        try:
            with self.lock:
                before = self.stacks.get(stack)
                others = sum(n for k, n in self.stacks.items() if k != stack and isinstance(n, int))
                if not isinstance(before, _Mapped) and others + count <= config.get_swap_budget():
                    self.stacks[stack] = count
                    return STAYS
                made = _mapped(count)
                made.fill(data, used)
                made.before = before if isinstance(before, _Mapped) else None
                self.stacks[stack] = made
        except BaseException as error:  # it cannot leave through machine code
            self.failed[threading.get_ident()] = error
            return 0
        return made.address

    def settle(self, stack: int) -> None:
        """Machine code has the answer: what its stack had before is not needed."""
        mapped = self.stacks.get(stack)
        if isinstance(mapped, _Mapped) and mapped.before is not None:
            before, mapped.before = mapped.before, None
            before.close()

    def release(self, stack: int) -> None:
        """Release a stack that is not needed any more."""
        with contextlib.suppress(Exception), self.lock:
            mapped = self.stacks.pop(stack, None)
            if isinstance(mapped, _Mapped):
                mapped.close()

    def after_fork_in_child(self) -> None:
        """Forget the threads that had the stacks, but for this one, which may be in the middle of a run."""
        me = threading.get_ident()
        self.stacks = {k: m for k, m in self.stacks.items() if isinstance(m, _Mapped) and m.thread == me}
        for mapped in self.stacks.values():
            assert isinstance(mapped, _Mapped)
            mapped.become_own()


def _mapped(count: int) -> _Mapped:
    try:
        return _Mapped(count)
    except OSError as error:
        with undivided():
            from tempfile import gettempdir

        raise OSError(
            error.errno,
            f"swap_memory: {os.strerror(error.errno or 0)} while saving values of a loop in {gettempdir()} "
            f"({count >> 20} MiB are needed); set TMPDIR to a larger disk, or raise config.set_swap_budget [AL605]",
        ) from None


space = _Space()
in_child(space.after_fork_in_child)
_Words = ctypes.c_int64 * 5


def _grow(address: int) -> None:
    words = _Words.from_address(address)
    stack, data, used, count, _ = words
    words[4] = space.grow(stack, data, used, count)
    space.settle(stack)


def _release(stack: int) -> None:
    space.release(stack)


def addresses() -> dict[str, int]:
    """Return the functions as objects of Python, for the linker."""
    return {GROW: id(_grow), RELEASE: id(_release)}


def forked() -> BaseException:
    """Return why there are no results for who was forked in the middle of a run."""
    return RuntimeError(
        "this process was forked while machine code ran whose saved values were in a file (swap_memory), which its "
        "parent has gone on writing to; so the graph cannot be run to its end here. Fork outside of graphs [AL606]"
    )


def failure() -> BaseException:
    """Return why a stack on this thread could not become larger."""
    error = space.failed.pop(threading.get_ident(), None)
    return (
        error if error is not None else MemoryError("there is no memory for the values that the gradient needs [AL604]")
    )
