"""Threads that help machine code with long loops over elements.

They are made when a loop first wants them, share one job at a time and block when there has been none for a while.
Who has a job does pieces of it all the time, from the front; helpers take pieces from behind as they come by, so that
each finds in its cache what it did the last time. So nothing waits for a helper that the system did not let run, a
second job at the same time is simply done by its own thread, and who does a piece makes no difference to what is
computed: pieces are cut the same whatever the number of threads.

Jobs may be as short as a few microseconds where one follows the other: helpers look for the next one for some time
before they block, and no thread takes a lock unless another is blocked. A job is told by a number, which is in the word
from which pieces are taken: a helper that comes too late finds another number there, and takes nothing. To wake a
helper takes as long as a short job, so that is done again and again only while it is of use.

A piece that a helper has begun is waited for, and the system may have taken the processor away from it. Where that
takes longer than the work did, the next jobs are done without helpers, for some times as long as was lost, and for
twice as long if it happens again: on a busy machine threads cost a part of what they gain elsewhere.

The code is LLVM IR because the threads never touch Python: ``share(task, frame, rounds, piece, cost)`` calls
``task(frame, first, count)`` until all rounds are done, which takes ``cost`` nanoseconds, roughly, and ``share(null,
...)`` gives the address of the state, whose first word is the number of threads to use.
"""

from __future__ import annotations

import ctypes
import platform
import time

from ...base.forks import Kind, in_child
from ...base.kept_entries import DiskCache
from ..toolchain.compile_ir import Code, compile_ir
from .ll_files import code

#: how often a thread looks whether there is something to do before it blocks, and after how many times it lets others
#: have the processor: a power of two
_SPINS, _YIELD = 2000, 128
#: nanoseconds that a helper may be waited for longer than its owner worked, and for how many times as long as was lost
#: there are none then
_LATE, _ALONE = 50_000, 8
#: nanoseconds of the longest time without helpers: it is twice as long each time, unless they were in time for long
_LONGEST = 200_000_000
#: nanoseconds of a job before which it does not look at the clock, and does not wake helpers each time; how many in a
#: row don't at most, and with how many of them helpers must have helped that it was worth it to wake them
_SHORT, _SKIPPED, _FEW = 40_000, 4096, 64
#: bytes of the stack of a helper; some systems give threads little more than what an iteration may have there
_STACK = 1 << 21
#: bytes of the state
_SIZE = 2048
_PAUSE = {"x86_64": "llvm.x86.sse2.pause()", "AMD64": "llvm.x86.sse2.pause()", "aarch64": "llvm.aarch64.hint(i32 1)"}
_PTHREADS = (
    "pthread_create", "pthread_detach", "pthread_attr_init", "pthread_attr_setstacksize", "pthread_attr_destroy",
    "pthread_mutex_init", "pthread_mutex_lock", "pthread_mutex_unlock",
    "pthread_cond_init", "pthread_cond_wait", "pthread_cond_signal", "pthread_cond_broadcast",
    "clock_gettime", "sched_yield",
)  # fmt: skip


#: words of the state; those that one thread writes while others look at them are in lines of memory of their own.
#: ``claims``: the job, and which of its units are left; ``finished``: how many of them helpers have done; ``waits``:
#: the owner is blocked; ``alone_until``: when there will be helpers again; ``distrust``: for how long there were
#: none; ``skip``, ``patience``: how many short jobs don't wake helpers, now and the next time; ``helped``: with how
#: many jobs they have helped since they were woken
_WORDS = {
    "wanted": 0, "started": 1, "busy": 2, "alone_until": 3, "skip": 4, "patience": 5, "distrust": 6, "helped": 7,
    "epoch": 16, "task": 17, "frame": 18, "rounds": 19, "piece": 20, "unit": 21, "most": 22, "shares": 23,
    "claims": 32, "finished": 48, "asleep": 64, "waits": 65, "mutex": 96, "work": 128, "done": 160,
}  # fmt: skip


def _text() -> tuple[str, dict[str, int]]:
    """Return the IR and the symbols it needs; without POSIX threads each job is done by its own thread."""
    addresses = {}
    try:
        library = ctypes.CDLL(None)
        for name in _PTHREADS:
            addresses[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except (OSError, TypeError, AttributeError):
        return _serial_text(), {}
    place = "getelementptr (i8, ptr @state, i64 {})"
    aliases = "\n".join(f"@{word} = internal alias i64, ptr {place.format(8 * n)}" for word, n in _WORDS.items())
    pause = _PAUSE.get(platform.machine())
    text = code(
        "helper_threads", SIZE=_SIZE, ALIASES=aliases, SPINS=_SPINS, name="{name}",
        PAUSE=f"call void @{pause}" if pause else "", CLOCK=time.CLOCK_MONOTONIC, LATE=_LATE, ALONE=_ALONE,
        STACK=_STACK, SHORT=_SHORT, SKIPPED=_SKIPPED, LONGEST=_LONGEST, FEW=_FEW,
        YIELD=_YIELD - 1,
    )  # fmt: skip
    return f"{code('serial_work')}\n{text}\n", addresses


def _serial_text() -> str:
    return code("serial_work") + "\n" + code("without_threads", SIZE=_SIZE, name="{name}") + "\n"


class Pool:
    """The threads of this process, see above; made once, by ``pool``."""

    def __init__(self, cache: DiskCache | None) -> None:
        text, addresses = _text()
        self._code = made = compile_ir(text, addresses, cache, as_written=True)
        self.address = made.address
        share = ctypes.PYFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 3)(made.address)
        self._state: int = share(None, None, 0, 0, 0)
        self._wanted = ctypes.c_int64.from_address(self._state)
        in_child(self._forget)

    def use(self, threads: int) -> None:
        """Let jobs have up to ``threads`` threads, the one that has the job included."""
        self._wanted.value = threads

    def _forget(self) -> None:
        """In a forked process there are no helpers, whatever they were doing in the other."""
        ctypes.memset(self._state, 0, _SIZE)


_lock = Kind("native.pool", "the pool is added when it is there; a child clears its state, as it has no helpers").lock()
#: made under ``_lock``, then never replaced
_made: list[Pool] = []
_serial: list[Code] = []


def pool(cache: DiskCache | None) -> Pool:
    """Return the threads of this process."""
    if not _made:
        with _lock:
            if not _made:
                _made.append(Pool(cache))
    return _made[0]


def without_threads(cache: DiskCache | None) -> Code:
    """Return what does all pieces of a job in the thread that has it."""
    if not _serial:
        with _lock:
            if not _serial:
                _serial.append(compile_ir(_serial_text(), {}, cache, as_written=True))
    return _serial[0]
