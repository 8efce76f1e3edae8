"""A new process that imports the library, defines a loop and calls it once; and what one more call costs."""

import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NEW, AGAIN = "new process: import, define and call a loop", "one more call of it, for 1 turn"
TITLE, UNIT = "", {NEW: "ms", AGAIN: "µs"}
CASES = {NEW: {"again": False}, AGAIN: {"again": True}}
CALLS = 1000

LOOP = """
def f(n):
    i = s = {zero}
    while i < n:
        s = s + i * i
        i = i + 1
    return s
"""
JAX = """
@jax.jit
def f(n):
    zero = jax.numpy.int32(0)
    return jax.lax.while_loop(lambda v: v[0] < n, lambda v: (v[0] + 1, v[1] + v[0] * v[0]), (zero, zero))[1]
"""


def measured(imports, definition, argument, again, wait=""):
    """What times a script in a new process, or more calls of its ``f`` in this one."""
    path = Path(tempfile.mkdtemp(), "script.py")
    path.write_text(f"{imports}\n{definition}\nif __name__ == '__main__':\n    print(int(f({argument.format(10)})))\n")
    if not again:

        def run():
            begin = time.perf_counter()
            done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
            return {"seconds": time.perf_counter() - begin, "result": int(done.stdout)}

        return run
    names = runpy.run_path(str(path))
    exec(f"def many(x):\n    for _ in range({CALLS}):\n        out = f(x){wait}\n    return out", names)
    x = eval(argument.format(1), names)

    def calls():
        begin = time.perf_counter()
        out = names["many"](x)
        return {"seconds": (time.perf_counter() - begin) / CALLS, "result": out}

    return calls


def autoloop_(_, again, variant):
    decorated = f"@al.function(executor={variant!r})" + LOOP.format(zero="al.constant(0)")
    return measured("import autoloop as al", decorated, "al.constant({})", again)


def numpy_(_, again):
    return measured("import numpy as np", LOOP.format(zero="np.int32(0)"), "np.int32({})", again)


def numba_(_, again):
    return measured("import numba, numpy as np", "@numba.njit" + LOOP.format(zero="np.int32(0)"), "np.int32({})", again)


def jax_(_, again):
    return measured("import jax", JAX, "jax.numpy.int32({})", again, ".block_until_ready()")


def tensorflow_(_, again, variant):
    decorated = f"@tf.function(jit_compile={variant == 'XLA'})" + LOOP.format(zero="tf.constant(0)")
    return measured("import tensorflow as tf", decorated, "tf.constant({})", again)


def torch_(_, again):
    defined = LOOP.format(zero="torch.tensor(0, dtype=torch.int32)")
    return measured("import torch", defined, "torch.tensor({}, dtype=torch.int32)", again)
