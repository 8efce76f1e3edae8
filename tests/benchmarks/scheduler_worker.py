"""One program of ``scheduler_programs`` in one library and way of calling it: what ``scheduler.py`` starts."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scheduler_programs
from worker import answering, serve, timed


def in_a_function(tf, program, executor):
    inputs = [tf.constant(value) for value in program.inputs]
    build = lambda *args: program.build(tf, *args)
    # tensors in loops of library calls: nothing is to be converted
    function = tf.function(build, autograph=False, **({"executor": executor} if executor else {}))
    return lambda: function(*inputs)


def in_a_session(tf, program, executor):
    v1 = tf.compat.v1
    graph = v1.Graph()
    with graph.as_default():
        places = [v1.placeholder(value.dtype, value.shape) for value in program.inputs]
        fetches = program.build(v1, *places)
    options = {}
    if not executor:
        options["config"] = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=program.threads)
    session = v1.Session(graph=graph, **options)
    feeds = dict(zip(places, program.inputs))
    return lambda: session.run(fetches, feeds)


def in_halves(tf, program, executor):
    """Two functions of one half each, on a thread each: what the machine gives to the same machine code by hand."""
    tf.config.set_num_threads(1)
    inputs, pool = [tf.constant(value) for value in program.inputs], ThreadPoolExecutor(1)
    first, second = [
        tf.function(lambda *args, build=build: build(tf, *args), autograph=False, executor=executor)
        for build in program.halves
    ]

    def run():
        other = pool.submit(second, *inputs)
        return [np.concatenate(pair) for pair in zip(first(*inputs), other.result(), strict=True)]

    return run


def settling(run, library):
    """What answers as ``answering`` does, and a request to make runs for some time before any counts: until all machine
    code is there that they wait for, or it is given up."""
    answer = answering(run)

    def answered(request):
        if "before" not in request:
            return answer(request)
        is_settled = settled_autoloop() if library == "autoloop" else lambda: True
        begin, seconds = time.perf_counter(), []
        while (since := time.perf_counter() - begin) < request["before"] or not is_settled():
            if since > request["settled"]:
                break
            seconds.append(timed(run)[0])
        return {"estimate": min(seconds[-3:]), "is_settled": is_settled()}

    return answered


def settled_autoloop():
    """Return what tells whether no run of this process waits for machine code any more; if it is being made, it is
    waited for."""
    executable = importlib.import_module("autoloop_runtime.dataflow.executable").Executable
    background = importlib.import_module("autoloop_runtime.base.background")
    found = [one for one in gc.get_objects() if isinstance(one, executable)]

    def is_settled():
        background.wait()
        return all(one._faster is None and one._loops is None for one in found)

    return is_settled


def prepared():
    """The program of the command line; gives what answers requests."""
    name, library, way, quick = sys.argv[1:5]
    program = scheduler_programs.programs(bool(int(quick)))[name]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: program.threads])
    if library == "numpy":
        run = lambda: program.hand(*[int(value) if value.ndim == 0 else value for value in program.inputs])
    else:
        module = importlib.import_module(library)
        if library == "autoloop":
            module.config.set_num_threads(program.threads)
        else:
            module.config.threading.set_inter_op_parallelism_threads(program.threads)
            module.config.threading.set_intra_op_parallelism_threads(1)
            if way == "session":
                module.compat.v1.disable_control_flow_v2()
        make = {"session": in_a_session, "halves": in_halves}.get(way, in_a_function)
        run = make(module, program, "dataflow" if library == "autoloop" else None)
    return settling(run, library)


if __name__ == "__main__":
    serve(prepared)
