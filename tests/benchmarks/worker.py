"""One program in one library, in a process of its own: what ``peers.py`` starts in the interpreter of each library.

It is told what to do in lines of JSON and answers in such lines. Nothing but the standard library, NumPy and the
library that is measured is imported, and that before anything is timed.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

MODULES = {"numpy": "numpy", "autoloop": "autoloop", "tensorflow": "tensorflow", "jax": "jax", "torch": "torch",
           "numba": "numba"}  # fmt: skip


def build(program, library, variant, case):
    """The callable that is measured, and its arguments are bound in it."""
    module = importlib.import_module(MODULES[library])
    own = getattr(program, f"{library}_", None)
    if own is not None:
        return own(module, **case, **({} if variant is None else {"variant": variant}))
    # one source for TensorFlow and autoloop
    loop, params, rest = program.loop(module, **case)
    params, rest = ([module.constant(a) for a in group] for group in (params, rest))
    if library == "tensorflow":
        return in_tensorflow(module, program, loop, params, rest, variant)
    if getattr(program, "GRADIENT", False):
        loop = module.value_and_grad(loop, argnums=tuple(range(len(params))))
    function = module.function(loop, executor=variant)
    return lambda: function(*params, *rest)


def in_tensorflow(tf, program, loop, params, rest, variant):
    def with_gradient(params, rest):
        with tf.GradientTape() as tape:
            tape.watch(params)
            value = loop(*params, *rest)
        return value, tape.gradient(value, params)

    compiled = variant == "XLA"
    if getattr(program, "GRADIENT", False):
        function = tf.function(with_gradient, jit_compile=compiled)
        return lambda: function(params, rest)
    function = tf.function(loop, jit_compile=compiled)
    return lambda: function(*params, *rest)


def finished(out):
    """``out``, when it is there: some libraries hand out promises."""
    for leaf in leaves(out):
        if hasattr(leaf, "block_until_ready"):
            leaf.block_until_ready()
    return out


def leaves(out):
    if isinstance(out, (list, tuple)):
        for part in out:
            yield from leaves(part)
    elif out is not None:
        yield out


def array(leaf):
    return np.asarray(leaf.detach() if hasattr(leaf, "detach") else leaf)


def resident():
    """Megabytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def timed(run):
    begin = time.perf_counter()
    out = finished(run())
    elapsed = time.perf_counter() - begin
    # what measures by itself gives seconds and a result
    return (out["seconds"], out["result"]) if isinstance(out, dict) else (elapsed, out)


def first(run, path):
    """The first call: seconds, the megabytes that it added, and its results in a file."""
    gc.collect()
    before = resident()
    seconds, out = timed(run)
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6 - before
    np.savez(path, *[array(leaf) for leaf in leaves(out)])
    again, _ = timed(run)
    return {"first": seconds, "added": max(added, 0.0), "estimate": again}


def serve(prepare):
    """Answer the requests of standard input by what ``prepare`` gives, which is greeted with."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not come between
    answer = prepare()
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


def prepared():
    """The program of the command line; gives what answers requests."""
    name, library, case, variant = sys.argv[1:5]
    case = json.loads(case)
    if "threads" in case:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: case["threads"]])
    program = importlib.import_module(f"programs.{name}")
    return answering(build(program, library, variant or None, case))


def answering(run):
    """What answers requests for the first result of ``run``, put into a file, and for its times."""

    def answer(request):
        if "path" in request:
            return first(run, request["path"])
        gc.collect()
        return {"seconds": [timed(run)[0] for _ in range(request["repeats"])]}

    return answer


if __name__ == "__main__":
    serve(prepared)
