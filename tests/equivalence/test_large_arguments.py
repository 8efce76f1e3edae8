"""Programs that write in place to large arguments need no more memory than under NumPy."""

import gc
import os
import signal
import sys
import tracemalloc

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from programs_in_place import NO_CACHE, PROGRAMS

#: what NumPy needs, besides the arguments, may be exceeded by this part of both
MORE = 1.1
#: where machine code computes elsewhere what it then puts there, as the page on arrays says
ELSEWHERE = {
    "turned": 1.6, "branches": 2.1, "all_of_a_transpose": 1.6,
    "other_arrays_as_out": 1.6, "products_as_out": 2.1,
}  # fmt: skip


def _of_python(function, make, size):
    """Return what two calls have asked NumPy for at most, besides the arguments, and the size of these, in bytes."""
    arguments = make(size)
    function(*make(size))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        function(*arguments)
        function(*arguments)
        return tracemalloc.get_traced_memory()[1] - before, _bytes(arguments)
    finally:
        tracemalloc.stop()


def _bytes(arguments):
    return sum(one.nbytes for one in arguments if isinstance(one, np.ndarray))


@each(
    [(program, make, executor) for program, make in PROGRAMS for executor in ("sequential", "dataflow", "auto")],
    one_in=3,
)
def test_what_is_asked_of_numpy(program, make, executor):
    plain, size = _of_python(program, make, 800_000)
    al.config.set_native(False)  # the compiler, which comes when it likes, asks for memory, too
    al.config.set_num_threads(2)  # each has blocks of its own, small ones
    try:
        ours, _ = _of_python(al.function(program, executor=executor), make, 800_000)
    finally:
        al.config.set_native(None)
        al.config.set_num_threads(None)
    assert ours + size <= MORE * (plain + size), (ours / size, plain / size)


@each(NO_CACHE)
def test_what_is_asked_of_numpy_where_no_cache_holds_the_arrays(program, make):
    plain, size = _of_python(program, make, 400_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autoloop_runtime.analysis.weight.BULKY", 1 << 20)
        for executor, threads in (("sequential", 1), ("dataflow", 1), ("dataflow", 2)):
            al.config.set_num_threads(threads)
            try:
                ours, _ = _of_python(al.function(program, executor=executor), make, 400_000)
            finally:
                al.config.set_num_threads(None)
            assert ours + size <= MORE * (plain + size), (executor, threads, ours / size, plain / size)


def _status(name):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))


def _of_process(function, make, size):
    """Return, of a fork, what the process grows by at most in two calls, and the size of the arguments, in KB."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        signal.alarm(100)
        try:
            arguments = make(size)
            if function is not None:
                function(*make(20_000))  # what is imported, and made for any size, is there
            gc.collect()
            most = 0
            for _ in range(2):
                with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
                    file.write("5")  # the peak begins anew
                before = _status("VmRSS")
                function(*arguments)
                most = max(most, _status("VmHWM") - before)
            os.write(write, f"{most} {_bytes(arguments) // 1024}".encode())
        finally:
            os._exit(0)
    os.close(write)
    said = os.read(read, 100)
    os.close(read)
    os.waitpid(pid, 0)
    return tuple(map(int, said.split())) if said else None


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of a process")
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_program_on_100_mb_needs_what_numpy_needs(executor):
    found = []
    for program, make in PROGRAMS + NO_CACHE:
        plain, size = _of_process(program, make, 12_800_000)
        ours = _of_process(al.function(program, executor=executor), make, 12_800_000)
        most = ELSEWHERE.get(program.__name__, MORE) if executor == "native" else MORE
        if ours is not None and ours[0] + size > most * (plain + size):  # None where machine code refuses
            found.append((program.__name__, (ours[0] + size) / (plain + size)))
    assert not found
