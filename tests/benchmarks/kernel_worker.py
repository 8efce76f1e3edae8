"""One kernel at one size, plain and made fast in one way, in a process of its own: what ``kernels.py`` starts.

It is told ``KERNEL SIZE WAY THREADS``; a way is one of autoloop's executors, or ``Numba`` or ``Numba parallel`` in an
interpreter that has it. It answers as ``worker.py`` does. Each call gets fresh arguments, which are made before the
clock starts; what a call leaves in them is compared with what plain NumPy leaves, as its results are.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import importlib
import os
import signal
import sys
import time
import types
from pathlib import Path

import numpy as np
import worker
from sizes_of_kernels import FUNCTIONS, SIZES

#: what Numba is asked for
NUMBA = {"Numba": {}, "Numba parallel": {"parallel": True}}
#: how far results may be apart, of what is largest in them: sums may be added in another order
APART = {4: 1e-4, 8: 1e-8, 16: 1e-8}
#: seconds of calls in which ``auto`` settles, and of measuring that are enough
PATIENCE, BUDGET = 4.0, 4.0
#: megabytes below which a peak says nothing
LEAST = 1.0


def made(function, way):
    """The kernel as it is called in this way."""
    if way in NUMBA:
        numba = importlib.import_module("numba")
        return with_helpers(function, lambda f: numba.njit(**NUMBA[way])(f))
    return importlib.import_module("autoloop").function(function, executor=way)


def with_helpers(function, change):
    """The function and all functions of its module that it calls, changed; those that are there stay as they are."""
    scope = dict(function.__globals__)
    todo, names = [function], []
    while todo:
        for name in todo.pop().__code__.co_names:
            found = scope.get(name)
            if isinstance(found, types.FunctionType) and found is not function and name not in names:
                todo.append(found)
                names.append(name)
    for name in names:
        scope[name] = change(copied(scope[name], scope))
    return change(copied(function, scope))


def copied(function, scope):
    """The same function with other globals."""
    return types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)


def what_differs(ours, plain):
    """How results and arguments are not those of the plain kernel; empty if they are."""
    ours, plain = (list(worker.leaves(both)) for both in (ours, plain))
    if len(ours) != len(plain):
        return f"gives {len(ours)} values, not {len(plain)}"
    for one, other in zip(map(np.asarray, ours), map(np.asarray, plain)):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"gives {one.dtype}{one.shape}, not {other.dtype}{other.shape}"
        inexact = other.dtype.kind in "fc"
        near = APART[other.real.dtype.itemsize] if inexact else 0
        most = near * np.max(np.abs(other), initial=0, where=np.isfinite(other)) if inexact else 0
        if not np.allclose(one, other, rtol=near, atol=most, equal_nan=True):
            return f"is {np.max(np.abs(one - other)):.3g} apart at most"
    return ""


class Kernel:
    """Answers requests about one kernel; ``now`` is the clock: the thread's own, if one does the work."""

    def __init__(self, name, size, way, threads):
        self.plain, self.way = FUNCTIONS[name], way
        self.given = SIZES[name].arguments(size)
        self.now = time.thread_time if threads == 1 else time.perf_counter
        if way not in NUMBA:
            importlib.import_module("autoloop").config.set_num_threads(threads)
        self.ours = self.wanted = None

    def fresh(self):
        return copy.deepcopy(self.given)

    def outcome(self, function):
        """Results, the arguments after the call, and seconds of one call."""
        args = self.fresh()
        begin = self.now()
        out = function(*args)
        seconds = self.now() - begin
        return (out, args), seconds

    def plainly(self):
        """The plain kernel: seconds of its second call."""
        self.wanted, _ = self.outcome(self.plain)
        return {"seconds": self.outcome(self.plain)[1]}

    def first(self, most):
        """The first call: processor time, and whether it does the same, or why it cannot be called.

        If the process works for more than ``most`` seconds, it ends.
        """
        self.ours = made(self.plain, self.way)
        # a call of machine code waits for the compiler, which is another process
        work = processors if self.way == "native" else time.process_time
        begin = work()
        signal.setitimer(signal.ITIMER_PROF, most)
        try:
            found, _ = self.outcome(self.ours)
        except Exception as error:
            return {"refused": worded(error)}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return {"seconds": work() - begin, "wrong": what_differs(found, self.wanted)}

    def settle(self):
        """Call it until ``auto`` has had its time to decide; what it decides is not asked, for that may take longer."""
        begin = self.now()
        while self.way == "auto" and self.now() - begin < PATIENCE:
            self.ours(*self.fresh())
        return {}

    def standing(self):
        """What runs it, and why."""
        if self.way in NUMBA:
            return {"executor": self.way, "reason": ""}
        try:
            runner = self.ours.get_concrete_function(*self.fresh()).runner
            return {"executor": runner.executor, "reason": runner.reason}
        except (NotImplementedError, TypeError) as error:  # what plain Python runs has nothing traced
            return {"executor": "plain Python", "reason": worded(error)}

    def rounds(self, count):
        """Seconds of the plain and of the other calls, in turns; and whether the last does the same."""
        plain, ours = [], []
        begin = time.perf_counter()
        while len(plain) < 3 or (len(plain) < count and time.perf_counter() - begin < BUDGET):
            gc.collect()
            plain.append(self.outcome(self.plain)[1])
            found, seconds = self.outcome(self.ours)
            ours.append(seconds)
        return {"plain": plain, "ours": ours, "wrong": what_differs(found, self.wanted)}

    def memory(self):
        """What arguments and a call have at the most, in megabytes; nothing where the system does not tell."""
        if not Path("/proc/self/clear_refs").exists():
            return {}
        given = sum(np.asarray(one).nbytes for one in self.given) / 1e6
        plain, ours = (min(given + self.peak(function) for _ in range(2)) for function in (self.plain, self.ours))
        return {"plain": plain, "ours": ours} if plain >= LEAST else {}

    def peak(self, function):
        """The megabytes that a call adds at its worst moment to what is there before it."""
        args = self.fresh()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = worker.resident()
        function(*args)
        lines = Path("/proc/self/status").read_text().splitlines()
        most = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
        return max(most * 1024 / 1e6 - before, 0.0)

    def answer(self, request):
        return getattr(self, request.pop("do"))(**request)


def processors():
    """Seconds that this process and those that it has started have worked."""
    done = os.times()
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may have ended
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + done.children_user + done.children_system + ticks / os.sysconf("SC_CLK_TCK")


def worded(error):
    """The kind of an exception and its first line."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {lines[0].strip()}"


def prepared():
    name, size, way, threads = sys.argv[1:5]
    return Kernel(name, size, way, int(threads)).answer


if __name__ == "__main__":
    worker.serve(prepared)
