"""What ``token_core`` does beside arithmetic, where it is run as Python: of one thread, so there is nothing to lock.

In machine code each of these is an instruction or two, see ``native.core_code``.
"""

from __future__ import annotations

import ctypes
import time
from functools import partial
from typing import Any, Protocol


class Memory(Protocol):
    """The words of a run: an array."""

    ctypes: Any

    def __getitem__(self, word: int, /) -> int: ...
    def __setitem__(self, word: int, value: int, /) -> None: ...


#: the clock that machine code looks at
_nanoseconds = (
    partial(time.clock_gettime_ns, time.CLOCK_MONOTONIC) if hasattr(time, "CLOCK_MONOTONIC") else time.monotonic_ns
)
_STEP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def acquire(m: Memory) -> int:
    """Take the lock; who has to wait for long lets others have the processor. Returns whether it had to wait."""
    return 0


def release(m: Memory) -> None:
    """Give back the lock."""


def peek(m: Memory, word: int) -> int:
    """Return a word that others may change meanwhile."""
    return int(m[word])


def pause() -> None:
    """Let the other thread of this processor go on."""


def clock() -> int:
    """Return nanoseconds."""
    return _nanoseconds()


def byte(address: int) -> int:
    """Return the byte at an address."""
    return ctypes.c_uint8.from_address(int(address)).value


def call_step(m: Memory, code: int, given: int, made: int, scratch: int) -> int:
    """Call a kernel with the addresses at two places, and that of memory of its own; 0 if it has done it."""
    start: int = m.ctypes.data
    found: int = _STEP(int(code))(start + 8 * int(given), start + 8 * int(made), int(scratch))
    return found
