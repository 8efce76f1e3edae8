"""Daemon threads that are in machine code when the interpreter ends: it is there until the process is gone."""

from __future__ import annotations

import pytest
from children import run_file, run_python
from executors import needs_native

pytestmark = needs_native

#: taken down after the modules, and lets other threads have time then
LATE = """
import builtins, threading, time
class Late:
    def __del__(self, sleep=time.sleep):
        sleep(0.05)
builtins.late = Late()
"""
LOCKED = """
import numpy as np
from autoloop_runtime.dataflow import core_workers
from autoloop_runtime.native import core_code
words = np.zeros(4096, np.int64)
words[0] = 1
enter = core_code.entered(core_workers.core)
threading.Thread(target=enter, args=(words.ctypes.data, 1024, 0, 0, 0), daemon=True).start()
time.sleep(0.05)
print("ends")
"""


def test_a_thread_that_waits_for_the_lock_of_a_run():
    assert run_python(LATE + LOCKED) == "ends\n"


RUNS = """
import sys
import autoloop as al
import numpy as np
from autoloop_runtime.dataflow import core_runs

def solved(x, w, n):
    return al.while_loop(lambda j, _: j < n, lambda j, x: (j + 1, al.tanh(x @ w)), (0, x))[1]

def nest(a, b, n):
    body = lambda i, a, b: (i + 1, solved(a, V, 5), solved(b, W, 5))
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b))

def shared(a, b, n):
    def body(i, a, b):
        (b,) = al.py_function(lambda b: [b * 0.5], [b], [al.float32])
        return i + 1, al.tanh(a @ V), al.tanh(al.reshape(b, A.shape) @ W)
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b))

def light(a, b, n):
    return al.while_loop(lambda i, *_: i < n, lambda i, a, b: (i + 1, al.tanh(a), b), (0, a, b))

al.config.set_num_threads(2)
A, B, V, W = np.full((4, 128, 128), 0.01, np.float32)
program, executor, how, count = sys.argv[1:]
f = al.function(globals()[program], executor=executor, autograph=False)
begun, run = threading.Event(), core_runs.CoreRun.run
core_runs.CoreRun.run = lambda self, args: begun.set() or run(self, args)
f(A, B, al.constant(3))
while executor == "dataflow" and not begun.is_set():
    f(A, B, al.constant(50))
begun.clear()

def go():
    if executor != "dataflow":
        begun.set()
    if how == "traced":
        al.profiler.trace().__enter__()
    f(A, B, al.constant(10**9))

for _ in range(int(count)):
    threading.Thread(target=go, daemon=True).start()
assert begun.wait(30)
time.sleep(0.02)
"""


@pytest.mark.nightly
@pytest.mark.parametrize(("how", "count"), [("", 1), ("", 4), ("traced", 1)])
@pytest.mark.parametrize(
    ("program", "executor"),
    [("nest", "dataflow"), ("shared", "dataflow"), ("nest", "native"), ("light", "sequential")],
)
def test_runs(program, executor, how, count, tmp_path):
    for _ in range(3):
        assert run_file(LATE + RUNS, tmp_path, arguments=[program, executor, how, str(count)]) == ("", "")
