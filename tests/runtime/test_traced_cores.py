"""Traced runs whose tokens are moved in native memory: each kernel once an iteration, as where Python moves them."""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict

import autoloop as al
import numpy as np
import pytest
from api import CoreRun, Executable, core_events, core_workers, profiler, seen_cores, seen_runs, token_core
from executors import needs_native
from test_called_in_loops import functions, sorts, sorts_light
from test_machine_kernels import at_once as at_once
from test_overlapped_loops import PROGRAMS, A, B, flat, with_numbers, with_places
from test_overlapped_loops import runs as runs
from test_token_core import lowered_of, register

sys.path.append(os.path.join(os.path.dirname(__file__), "model"))
from core_model import given, tables_of  # noqa: E402

pytestmark = needs_native


def traced(f, *args):
    """What is recorded of a call, and what it gives."""
    with al.profiler.trace() as recorder:
        results = flat(f(*args))
    return recorder, results


def ran(recorder):
    """How often each kernel ran in which iterations."""
    return Counter([(name, loops) for name, _, _, _, _, loops, *_ in recorder.slices])


def check_threads(recorder):
    """No thread is in two kernels at once, and all are within the run."""
    last = defaultdict(int)
    for _, _, thread, begin, end, *_ in sorted(recorder.slices, key=lambda one: (one[3], one[4])):
        assert last[thread] <= begin <= end
        last[thread] = end
    [run] = recorder.runs
    assert run.begin <= min(one[3] for one in recorder.slices) and max(last.values()) <= run.end
    assert set(last) <= set(recorder.threads) and all(one[6] is run for one in recorder.slices)


DAILY = (with_numbers,)
OTHERS = [one for one in (*PROGRAMS, sorts, sorts_light, functions) if one not in DAILY]
CASES = [(one, 10) for one in DAILY]
CASES += [pytest.param(one, 10, marks=pytest.mark.nightly) for one in OTHERS]
CASES += [pytest.param(one, 1, marks=pytest.mark.nightly) for one in (*DAILY, *OTHERS)]


@pytest.mark.parametrize(("program", "window"), CASES)
def test_each_kernel_is_told_once_an_iteration(program, window, runs):
    f = al.function(lambda a, b, n: program(a, b, n, window), executor="dataflow", autograph=False)
    n = al.constant(7)
    by_node, wanted = traced(f, A, B, n)
    for _ in range(5):
        f(A, B, n)
    runs.clear()
    recorder, found = traced(f, A, B, n)
    assert runs and None not in runs
    assert ran(recorder) == ran(by_node)
    check_threads(recorder)
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    assert recorder.runs[0].is_joined and not by_node.runs[0].is_joined
    one, other = [{k.place: k.count for k in r.summary().lines} for r in (recorder, by_node)]
    assert one == other
    assert [(k.iterations, k.window) for k in recorder.summary().loops] == [
        (k.iterations, k.window) for k in by_node.summary().loops
    ]


def called_often(f, *args):
    for _ in range(5):
        f(*args)


def test_explain_tells_that_traced_runs_go_as_others(runs):
    f = al.function(with_numbers, executor="dataflow", autograph=False)
    n = al.constant(7)
    by_node, _ = traced(f, A, B, n)
    assert "kernel by kernel" in str(by_node.summary())
    called_often(f, A, B, n)
    others = "; without a trace: 1 batch, 1 loop moved in native memory"
    assert al.explain(f, A, B, n).scheduler.endswith(others)
    recorder, _ = traced(f, A, B, n)
    told = al.explain(f, A, B, n).scheduler
    assert told.startswith(f"{len(recorder.slices)} kernels in ")
    assert told.endswith("; as" + others[1:])
    assert "loops moved in native memory, as without a trace" in str(recorder.summary())
    names = {one["name"] for one in recorder.as_events() if one["ph"] == "C"}
    assert {"busy (%)", "ready kernels", "live bytes"} <= names
    live = [value for curve, _, value in recorder.samples if curve == "live bytes"]
    assert A.nbytes <= max(live) <= 100 * A.nbytes


def test_what_a_worker_has_no_more_room_for_python_takes_before(runs, monkeypatch):
    """Also where there is room for one alone."""
    f = al.function(with_numbers, executor="dataflow", autograph=False)
    called_often(f, A, B, al.constant(7))
    wanted, _ = traced(f, A, B, al.constant(20))
    for room in (1, 3):
        monkeypatch.setattr(seen_cores, "ROOM", room)
        recorder, _ = traced(f, A, B, al.constant(20))
        assert ran(recorder) == ran(wanted) and len(recorder.slices) > 100
        check_threads(recorder)


@pytest.mark.nightly
def test_a_trace_that_ends_its_run_does_so_in_native_memory(runs):
    class Full(BaseException):
        pass

    class Bounded(type(al.profiler.trace().__enter__())):
        def coming(self, count):
            if len(self.slices) + count > 300:
                raise Full

    f = al.function(with_numbers, executor="dataflow", autograph=False)
    called_often(f, A, B, al.constant(7))
    with profiler.trace(kind=Bounded) as recorder, pytest.raises(Full):
        f(A, B, al.constant(10**9))
    assert len(recorder.slices) > 300
    traced(f, A, B, al.constant(7))


def fails(a, b, n):
    return with_places(a, b, n, places=9)


def test_where_a_kernel_fails_all_is_recorded_that_ran(runs):
    f = al.function(fails, executor="dataflow", autograph=False)
    called_often(f, A, B, al.constant(2))
    runs.clear()
    with al.profiler.trace() as recorder, pytest.raises(IndexError):
        f(A, B, al.constant(7))
    assert None in runs
    counts = Counter(name for name, *_ in recorder.slices if "tanh" in name)
    assert all(3 <= count <= 8 for count in counts.values()) and len(counts) == 2


def test_python_records_what_machine_code_does():
    """The functions as they are, one thread: every kernel in an event, in order, and none is lost when it leaves."""
    lowered, feeds = lowered_of(register, 3)
    with profiler.trace() as recorder:
        seen = seen_runs.Seen(recorder, lowered, 1)
    tables = tables_of(lowered, 2)
    run = CoreRun(tables, lambda *_: 0, 1, seen=seen)
    m = run._m
    run._enter = lambda _, w, what, number, address: core_workers.core(m, w, what, number, address)
    assert run.run(given(lowered, feeds)) == tuple(Executable(lowered).run(feeds))
    calls = Counter(loops[0][1] for name, _, _, _, _, loops, *_ in recorder.slices)
    kernels = sum(step.step.call is not None for step in tables.called.values())
    assert set(calls) == set(range(13)) and all(calls[k] == kernels for k in range(12))
    begins = [one[3] for one in recorder.slices]
    assert begins == sorted(begins)


def test_a_worker_leaves_when_python_has_taken_what_it_noted():
    lowered, feeds = lowered_of(register, 3)
    with profiler.trace() as recorder:
        seen = seen_runs.Seen(recorder, lowered, 2)
    run = CoreRun(tables_of(lowered, 2), lambda *_: 0, 2, seen=seen)
    m = run._m
    run._enter = lambda _, w, what, number, address: core_workers.core(m, w, what, number, address)
    m[token_core.OPENINGS], m[token_core.SLICE] = 0, 1 << 60
    assert run._take_in(given(lowered, feeds))
    run._core(int(m[token_core.AREAS]), core_workers.START)
    w = run._core(0, core_workers.JOIN)
    assert m[token_core.PRESENT] == 1
    why = run._core(w, core_workers.WORK)  # all of it
    assert why == core_workers.TIME and m[token_core.OVER] and m[token_core.PRESENT] == 1
    count = int(m[w + core_events.W_TOLD])
    run._heed(w, why)
    assert m[w + core_events.W_TOLD] == 0 and m[token_core.PRESENT] == 1
    assert run._core(w, core_workers.WORK) & 7 == core_workers.ENDED and m[token_core.PRESENT] == 0
    run._seen.tell()
    assert len(recorder.slices) == count > 20


def test_what_is_noted_of_a_kernel_that_python_calls_is_its_own():
    """Not that of the first of those that Python has just taken."""
    lowered, feeds = lowered_of(register, 3)
    with profiler.trace() as recorder:
        seen = seen_runs.Seen(recorder, lowered, 1)
    run = CoreRun(tables_of(lowered, 1, lambda _: True), lambda *_: 0, 1, seen=seen)
    m = run._m
    run._enter = lambda _, w, what, number, address: core_workers.core(m, w, what, number, address)
    assert run._take_in(given(lowered, feeds))
    w = int(m[token_core.AREAS])
    run._core(w, core_workers.START)
    m[m[w + core_events.W_EVENTS] + core_events.V_WHAT] = core_events.STOLEN
    m[w + core_events.W_TOLD] = 1
    assert run._core(w, core_workers.WORK) == core_workers.KERNELS
    run._heed(w, core_workers.KERNELS)
    assert len(run._seen._taken) == 1
    assert "steals" not in {curve for curve, _, _ in recorder.added}, recorder.added
