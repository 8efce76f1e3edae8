"""Threads that help machine code with long loops over elements.

They are made when a loop first wants them, share one job at a time and block when there is none. Who has a job does
pieces of it all the time; helpers take pieces as they come by. So nothing waits for a helper that the system did not
let run, a second job at the same time is simply done by its own thread, and who does a piece makes no difference
to what is computed: pieces are cut the same whatever the number of threads. A piece that a helper has begun is waited
for, and the system may have taken the processor away from it. Where that takes longer than the work did, the next jobs
are done without helpers, for some times as long as was lost: on a busy machine threads cost a part of what they gain
elsewhere.

The code is LLVM IR because the threads never touch Python: ``share(task, frame, rounds, piece)`` calls
``task(frame, first, count)`` until all rounds are done, and ``share(null, ...)`` gives the address of the state, whose
first word is the number of threads to use. One mutex guards all of the state but ``next``, which is taken from
atomically, ``busy``, which is the right to have a job, and the words that are read while spinning.
"""

from __future__ import annotations

import ctypes
import platform
import time

from ...base.forks import Kind, in_child
from ..toolchain.cache import DiskCache
from ..toolchain.compile_ir import Code, compile_ir
from .ll_files import code

#: how often a thread looks whether there is something to do before it blocks
_SPINS = 2000
#: nanoseconds that a helper may be waited for longer than its owner worked, and for how many times as long as was lost
#: there are none then
_LATE, _ALONE = 50_000, 8
#: bytes of the stack of a helper; some systems give threads little more than what an iteration may have there
_STACK = 1 << 21
#: bytes of the state
_SIZE = 2048
_PAUSE = {"x86_64": "llvm.x86.sse2.pause()", "AMD64": "llvm.x86.sse2.pause()", "aarch64": "llvm.aarch64.hint(i32 1)"}
_PTHREADS = (
    "pthread_create", "pthread_detach", "pthread_attr_init", "pthread_attr_setstacksize", "pthread_attr_destroy",
    "pthread_mutex_init", "pthread_mutex_lock", "pthread_mutex_unlock",
    "pthread_cond_init", "pthread_cond_wait", "pthread_cond_signal", "pthread_cond_broadcast", "clock_gettime",
)  # fmt: skip


#: words of the state; ``open``: helpers may join; ``active``: helpers that did; ``waits``: the owner is blocked;
#: ``alone_until``: when there will be helpers again
_WORDS = {
    "wanted": 0, "started": 8, "busy": 16, "open": 24, "epoch": 32, "active": 40, "asleep": 48, "waits": 49,
    "alone_until": 56,
    "task": 64, "frame": 65, "rounds": 66, "piece": 67, "most": 68, "next": 80, "mutex": 96, "work": 128, "done": 160,
}  # fmt: skip


def _text() -> tuple[str, dict[str, int]]:
    """Return the IR and the symbols it needs; without POSIX threads each job is done by its own thread."""
    addresses = {}
    try:
        library = ctypes.CDLL(None)
        for name in _PTHREADS:
            addresses[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except (OSError, TypeError, AttributeError):
        return code("serial_work") + "\n" + code("without_threads", SIZE=_SIZE, name="{name}") + "\n", {}
    place = "getelementptr (i8, ptr @state, i64 {})"
    aliases = "\n".join(f"@{word} = internal alias i64, ptr {place.format(8 * n)}" for word, n in _WORDS.items())
    pause = _PAUSE.get(platform.machine())
    text = code(
        "helper_threads", SIZE=_SIZE, ALIASES=aliases, SPINS=_SPINS, name="{name}",
        PAUSE=f"call void @{pause}" if pause else "", CLOCK=time.CLOCK_MONOTONIC, LATE=_LATE, ALONE=_ALONE,
        STACK=_STACK,
    )  # fmt: skip
    return f"{code('serial_work')}\n{text}\n", addresses


class Pool:
    """The threads of this process, see above; made once, by ``pool``."""

    def __init__(self, cache: DiskCache | None) -> None:
        text, addresses = _text()
        made = compile_ir(text, addresses, cache)
        self.address = made.address
        share = ctypes.PYFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2)(made.address)
        self._state: int = share(None, None, 0, 0)
        self._wanted = ctypes.c_int64.from_address(self._state)
        _keep(made)
        in_child(self._forget)

    def use(self, threads: int) -> None:
        """Let jobs have up to ``threads`` threads, the one that has the job included."""
        self._wanted.value = threads

    def _forget(self) -> None:
        """In a forked process there are no helpers, whatever they were doing in the other."""
        ctypes.memset(self._state, 0, _SIZE)


def _keep(code: Code) -> None:
    """Helpers are in this code until the process ends, also while the interpreter is taken down."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code.engine))


_lock = Kind("native.pool", "the pool is added when it is there; a child clears its state, as it has no helpers").lock()
#: made under ``_lock``, then never replaced
_made: list[Pool] = []


def pool(cache: DiskCache | None) -> Pool:
    """Return the threads of this process."""
    if not _made:
        with _lock:
            if not _made:
                _made.append(Pool(cache))
    return _made[0]
