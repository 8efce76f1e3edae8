"""Several threads on one run, several runs at once, runs inside runs; failures and interrupts leave nothing behind."""

from __future__ import annotations

import contextvars
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from api import (
    SCALAR,
    Executable,
    Graph,
    Op,
    TensorShape,
    Watch,
    current_graph,
    lower,
    profiler,
    threads,
    workers,
)
from children import run_imported, run_python
from each_case import each
from flow import ADD, call, const, counted, heavy, priced, probe, scalar

#: no test should ever wait this long; it turns a hang into a failure
LONG = 30.0


class Meeting:
    """A barrier inside kernels: nobody passes unless ``parties`` kernels run at the same time."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties, timeout=LONG)
        self.threads: set[int] = set()

    def kernel(self, x, *_):
        self.threads.add(threading.get_ident())
        self.barrier.wait()
        return x


def quiet_pool() -> None:
    """Block until every worker of the pool is idle: each takes part in one run of its own."""
    size = threads._pool.size
    if size:
        meeting = Meeting(size + 1)
        graph = Graph()
        outs = [call(heavy(meeting.kernel), const(graph, i)) for i in range(size + 1)]
        Executable(lower(graph, outs)).run([], threads=size + 1, timeout=LONG)


# -- overlap ----------------------------------------------------------------------------------------------


@each([2, 4])
def test_independent_kernels_run_at_once(parties):
    graph = Graph()
    x = scalar(graph)
    meeting = Meeting(parties)
    outs = [call(heavy(meeting.kernel), x) for _ in range(parties)]
    assert Executable(lower(graph, outs, [x])).run([7], threads=parties) == [7] * parties
    assert len(meeting.threads) == parties
    assert threading.get_ident() in meeting.threads


def test_two_chains_of_one_loop_overlap_in_every_iteration():
    graph = Graph()
    x = scalar(graph)
    meeting = Meeting(2)
    _, a, b = counted(
        graph, 20, lambda g, i, a, b: [call(heavy(meeting.kernel), a), call(heavy(meeting.kernel), b)], [x, x]
    )
    assert Executable(lower(graph, [a, b], [x])).run([1], threads=2) == [1, 1]


def test_iterations_overlap_up_to_the_window():
    graph = Graph()
    meeting = Meeting(3)
    _, s = counted(
        graph, 9, lambda g, i, s: [call(ADD, s, call(heavy(meeting.kernel), i))], [const(graph, 0)], window=3
    )
    assert Executable(lower(graph, [s])).run([], threads=3) == [36]


def test_arrays_whose_size_shows_only_at_run_time_are_shared_out():
    graph = Graph()
    x = graph.parameter(np.dtype(np.float64), TensorShape([None]), "x")
    meeting = Meeting(2)
    outs = [call(probe(meeting.kernel), x) for _ in range(2)]
    run = Executable(lower(graph, outs, [x])).run
    run([np.zeros(100_000)], threads=2)
    assert len(meeting.threads) == 2


def test_light_kernels_stay_on_their_thread():
    graph = Graph()
    x = scalar(graph)
    seen = set()
    light = probe(lambda v, *_: seen.add(threading.get_ident()) or v)
    _, y = counted(graph, 50, lambda g, i, y: [call(light, call(light, y), i)], [x])
    Executable(lower(graph, [y], [x])).run([1], threads=4)
    assert seen == {threading.get_ident()}


def test_a_heavy_kernel_is_not_kept_waiting_by_an_endless_supply_of_light_ones():
    graph = Graph()
    done = threading.Event()

    def loop_until(i):
        return np.bool_(not done.is_set() and i < 2_000_000)

    from api import dtypes
    from flow import loop

    until = Op("until", lambda i: (dtypes.bool_, SCALAR), loop_until)
    (i,) = loop(graph, lambda g, i: call(until, i), lambda g, i: [call(ADD, i, const(g, 1))], [const(graph, 0)])
    outs = [call(heavy(lambda v: done.set() or v), const(graph, k)) for k in range(2)]
    values = Executable(lower(graph, [i, *outs])).run([], threads=2)
    assert values[0] < 2_000_000


# -- several runs -----------------------------------------------------------------------------------------


def sums(n=30):
    graph = Graph()
    x = scalar(graph)
    add, mix = heavy(lambda a, b: a + b), heavy(lambda a, b: a * b % 97)
    _, s, t = counted(graph, n, lambda g, i, s, t: [call(add, s, i), call(mix, t, s)], [x, x])
    return Executable(lower(graph, [s, t], [x]))


def test_one_plan_runs_on_several_threads_at_once():
    executable = sums()
    want = {x: executable.run([x], threads=1) for x in range(40)}
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda x: executable.run([x], threads=3), range(40)))
    assert got == list(want.values())


def test_runs_inside_runs():
    inner = sums()
    want = inner.run([5], threads=1)[0]

    def nested(depth):
        graph = Graph()
        x = scalar(graph)
        below = inner if depth == 0 else nested(depth - 1)
        kernel = heavy(lambda v, *_: below.run([v], threads=2)[0])
        outs = [call(kernel, x) for _ in range(3)]
        return Executable(lower(graph, outs, [x]))

    assert nested(2).run([5], threads=2) == [want] * 3
    assert nested(2).run([5], threads=4) == [want] * 3


def test_a_run_from_inside_its_own_kernel():
    graph = Graph()
    x = scalar(graph)

    def kernel(v):
        return np.int64(0) if v == 0 else executable.run([v - 1], threads=2)[0] + 1

    outs = [call(heavy(kernel), x), call(heavy(lambda v: v), x)]
    executable = Executable(lower(graph, outs, [x]))
    assert executable.run([5], threads=2) == [5, 5]


def test_kernels_see_the_callers_context_on_every_thread_and_build_nothing():
    variable = contextvars.ContextVar("variable", default="none")
    graph = Graph()
    x = scalar(graph)
    meeting = Meeting(2)
    seen = []

    def kernel(v):
        meeting.kernel(v)
        seen.append((variable.get(), current_graph(), np.geterr()["divide"]))
        return v

    executable = Executable(lower(graph, [call(heavy(kernel), x) for _ in range(2)], [x]))
    token = variable.set("mine")
    with Graph().as_default():
        executable.run([1], threads=2)
    variable.reset(token)
    assert seen == [("mine", None, "ignore")] * 2


def test_a_trace_follows_runs_inside_runs():
    inner = sums(2)
    graph = Graph()
    x = scalar(graph)
    meeting = Meeting(2)
    kernel = heavy(lambda v: inner.run([meeting.kernel(v)], threads=1)[0])
    executable = Executable(lower(graph, [call(kernel, x) for _ in range(2)], [x]))
    with profiler.trace() as recorder:
        executable.run([1], threads=2)
    slices = [e for e in recorder.as_events() if e["ph"] == "X"]
    assert sum(e["name"] == "while/cond/less" for e in slices) == 2 * 3
    assert {e["tid"] for e in slices} == {0, 1}


# -- failures ---------------------------------------------------------------------------------------------


def test_an_error_on_any_thread_reaches_the_caller_and_leaves_the_pool_clean():
    graph = Graph()
    x = scalar(graph)
    barrier = threading.Barrier(2, timeout=LONG)
    caller = threading.get_ident()

    def kernel_for(fails_on_caller):
        def kernel(v):
            barrier.wait()
            if (threading.get_ident() == caller) == fails_on_caller:
                raise LookupError("on purpose")
            return v

        return kernel

    for fails_on_caller in (True, False):
        graph = Graph()
        x = scalar(graph)
        outs = [call(heavy(kernel_for(fails_on_caller)), x) for _ in range(2)]
        executable = Executable(lower(graph, outs, [x]))
        for _ in range(5):
            with pytest.raises(LookupError, match="on purpose"):
                executable.run([1], threads=2)
        quiet_pool()
        assert not threads._pool.calls
    assert sums().run([5], threads=2) == sums().run([5], threads=1)


def test_kernels_in_flight_are_waited_for_before_an_error_is_raised():
    graph = Graph()
    x = scalar(graph)
    both = threading.Barrier(2, timeout=LONG)
    failed, finished = threading.Event(), threading.Event()

    def fails(v):
        both.wait()
        failed.set()
        raise LookupError("on purpose")

    def takes_longer(v):
        both.wait()
        assert failed.wait(LONG)
        # the failing thread now needs the run's lock and then waits for us
        time.sleep(0.05)
        finished.set()
        return v

    after = []
    outs = [call(heavy(fails), x)]
    outs.append(call(heavy(lambda v: after.append(v) or v), call(heavy(takes_longer), x)))
    with pytest.raises(LookupError):
        Executable(lower(graph, outs, [x])).run([1], threads=2)
    assert finished.is_set()
    assert after == []


def test_an_error_in_a_nested_run_is_told_once():
    graph = Graph()
    x = scalar(graph)

    def fails(v):
        raise LookupError("deep")

    inner = Executable(lower(graph, [call(heavy(fails), x)], [x]))
    outer_graph = Graph()
    y = scalar(outer_graph)
    out = call(heavy(lambda v: inner.run([v])[0]), y)
    with pytest.raises(LookupError) as info:
        Executable(lower(outer_graph, [out, call(heavy(lambda v: v), y)], [y])).run([1], threads=2)
    assert len(info.value.__notes__) == 1


@each([1, 2])
def test_an_interrupt_stops_the_run_and_the_next_one_works(threads):
    graph = Graph()
    x = scalar(graph)
    stop = threading.Event()

    def interrupts(v):
        if threading.current_thread() is threading.main_thread() and not stop.is_set():
            stop.set()
            signal.raise_signal(signal.SIGINT)
        return v

    _, a, b = counted(graph, 50, lambda g, i, a, b: [call(heavy(interrupts), a), call(heavy(interrupts), b)], [x, x])
    executable = Executable(lower(graph, [a, b], [x]))
    with pytest.raises(KeyboardInterrupt):
        executable.run([1], threads=threads)
    assert executable.run([1], threads=threads) == [1, 1]
    quiet_pool()


def test_an_interrupt_reaches_a_caller_that_waits_for_a_worker(monkeypatch):
    graph = Graph()
    x = scalar(graph)
    both = threading.Barrier(2, timeout=LONG)
    caller = threading.main_thread()
    about_to_block = threading.Event()
    sleep = workers.SharedRun._sleep

    def announced_sleep(self):
        about_to_block.set()
        sleep(self)

    def kernel(v):
        both.wait()
        if threading.current_thread() is not caller:
            assert about_to_block.wait(LONG)
            signal.pthread_kill(caller.ident, signal.SIGINT)
        return v

    monkeypatch.setattr(workers.SharedRun, "_sleep", announced_sleep)
    outs = [call(heavy(kernel), x) for _ in range(2)]
    executable = Executable(lower(graph, outs, [x]))
    with pytest.raises(KeyboardInterrupt):
        executable.run([1], threads=2)
    monkeypatch.undo()
    quiet_pool()
    assert sums().run([5], threads=2) == sums().run([5], threads=1)


def test_the_time_limit_holds_while_the_caller_waits_for_a_worker(monkeypatch):
    graph = Graph()
    x = scalar(graph)
    both = threading.Barrier(2, timeout=LONG)
    caller, over = threading.current_thread(), threading.Event()
    timed_out = Watch.timed_out

    def announced(self, tokens):
        over.set()
        return timed_out(self, tokens)

    def kernel(v):
        both.wait()
        if threading.current_thread() is not caller:
            assert over.wait(LONG)
        return v

    monkeypatch.setattr(Watch, "timed_out", announced)
    outs = [call(heavy(kernel), x) for _ in range(2)]
    with pytest.raises(TimeoutError):
        Executable(lower(graph, outs, [x])).run([1], threads=2, timeout=0.02)
    quiet_pool()


def test_a_failure_of_the_scheduler_itself_is_raised_on_any_thread():
    graph = Graph()
    x = scalar(graph)
    both = threading.Barrier(2, timeout=LONG)
    two = Op(
        "two",
        lambda x: [(x.dtype, x.shape)] * 2,
        lambda v: (both.wait(), (v,))[1],
        several=True,
        traits=priced(1e9),
    )
    outs = [t for _ in range(2) for t in graph.add(two, [x]).outputs]
    with pytest.raises(ValueError, match="zip"):
        Executable(lower(graph, outs, [x])).run([1], threads=2, timeout=LONG)
    quiet_pool()


# -- the process ------------------------------------------------------------------------------------------


def test_the_pool_grows_no_further_than_was_asked_for():
    for _ in range(5):
        sums().run([3], threads=3)
    size = threads._pool.size
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda x: sums().run([x], threads=3), range(12)))
    assert threads._pool.size <= max(size, threads._pool.most)


def test_idle_workers_hold_nothing():
    sums().run([3], threads=2)
    quiet_pool()
    with threads._pool.lock:
        assert not threads._pool.calls


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_its_own_workers():
    out = run_imported(
        f"""
        import os, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import warnings; warnings.simplefilter("ignore")
        from test_scheduler_threads import sums
        want = sums().run([4], threads=2)
        child = os.fork()
        if child == 0:
            ok = sums().run([4], threads=2) == want
            os._exit(0 if ok else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert out.strip() == "0"


def test_importing_starts_no_thread():
    assert run_python("import threading, autoloop_runtime.dataflow; print(threading.active_count())").strip() == "1"


def test_blas_is_limited_only_while_workers_do_matrix_products():
    from threadpoolctl import threadpool_info, threadpool_limits

    def blas_threads():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    seen = []
    both = threading.Barrier(2, timeout=LONG)

    def kernel(v):
        both.wait()
        seen.append(blas_threads())
        both.wait()
        return v

    matmul = Op("product", lambda x: (x.dtype, x.shape), kernel, traits=priced(1e9).but(blas=True))
    graph = Graph()
    x = scalar(graph)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        Executable(lower(graph, [call(matmul, x), call(matmul, x)], [x])).run([1], threads=2)
        assert blas_threads() == before == [2] * len(before)
    assert seen == [[1] * len(before)] * 2
