"""What a trace records beside kernels: how busy threads are, queues, what is taken from others, locks, memory."""

from __future__ import annotations

import gc
import json
import threading
import time
import weakref

import autoloop as al
import numpy as np
from api import (
    EAGER,
    MADE,
    Executable,
    Graph,
    Op,
    State,
    TensorShape,
    Watch,
    config,
    lower,
    profiler,
    seen_runs,
    trace_curves,
    workers,
)
from each_case import each
from flow import call, counted, heavy, scalar

LONG = 30.0


def told(recorder, curve):
    """The values of a curve."""
    return [e["args"]["value"] for e in recorder.as_events() if e["ph"] == "C" and e["name"] == curve]


def side_by_side(kernel, count=2):
    graph = Graph()
    x = scalar(graph)
    return Executable(lower(graph, [call(heavy(kernel), x) for _ in range(count)], [x]))


def test_curves_of_a_run_on_two_threads():
    meeting = threading.Barrier(2, timeout=LONG)
    executable = side_by_side(lambda v: meeting.wait() and v or v, 4)
    with profiler.trace() as recorder:
        executable.run([1], threads=2)
    assert told(recorder, "ready kernels")[0] == 3  # one of four is taken
    assert told(recorder, "ready kernels")[-1] == 0
    taken = told(recorder, "steals")
    assert taken and taken == list(range(1, len(taken) + 1))  # the other thread had made none of them ready
    assert len(next(e for e in recorder.as_events() if e["name"] == "busy (%)")["args"]) == 2


def test_nobody_takes_from_others_where_there_is_one_chain_each():
    meeting = threading.Barrier(2, timeout=LONG)
    kernel = heavy(lambda v: meeting.wait() and v or v)
    graph = Graph()
    x = scalar(graph)
    outs = counted(graph, 20, lambda g, i, a, b: [call(kernel, a), call(kernel, b)], [x, x])[1:]
    with profiler.trace() as recorder:
        Executable(lower(graph, list(outs), [x])).run([1], threads=2)
    assert told(recorder, "steals")[-1] <= 4  # the first of a chain, and where a thread has come late


def test_queue_of_a_run_on_one_thread():
    with profiler.trace() as recorder:
        side_by_side(lambda v: v, 5).run([1], threads=1)
    assert told(recorder, "ready kernels") == [4, 3, 2, 1, 0]


@each([1, 2])
def test_bytes_that_are_alive(count):
    rows = (np.dtype(np.float64), TensorShape([100_000]))
    filled = Op("filled", lambda v: rows, lambda v: np.full(100_000, v), traits=MADE.but(price=lambda *_: 1e9))
    graph = Graph()
    x = graph.parameter(np.dtype(np.float64), TensorShape([]), "x")
    executable = Executable(lower(graph, [call(filled, x) for _ in range(3)], [x]))
    with profiler.trace() as recorder:
        results = executable.run([np.float64(1)], threads=count)
        assert max(told(recorder, "live bytes")) == sum(one.nbytes for one in results) == 2_400_000
        results = executable.run([np.float64(1)], threads=1)
        del results
        executable.run([np.float64(1)], threads=1)
    alive = told(recorder, "live bytes")
    assert count > 1 or (
        max(alive) == 4_800_000 and alive[-1] == 2_400_000
    )  # another thread may hold them a little longer


def test_a_traced_run_goes_away_by_itself():
    graph = Graph()
    x = scalar(graph)
    executable = Executable(lower(graph, [call(heavy(lambda v: v), x) for _ in range(3)], [x]))
    left = []
    gc.disable()
    try:
        with profiler.trace() as recorder:
            made = seen_runs.Seen(recorder)
            watch = Watch(None, recorder)
            watch.seen = made
            tokens = State(executable.plan)
            run = seen_runs.SeenRun(tokens, EAGER, watch, 2)
            left.append(weakref.ref(run))
            run.run([1])
            del run
        for _ in range(200):
            if left[0]() is None:
                break
            time.sleep(0.01)  # a worker may be about to let go of it
        assert left[0]() is None
    finally:
        gc.enable()


def test_waits_for_a_lock_are_told():
    recorder, inner = profiler.Recorder(), threading.Lock()
    lock = seen_runs.SeenLock(inner, recorder)
    with lock:
        assert inner.locked()
    assert not recorder.added  # nobody was in the way
    inner.acquire()
    threading.Timer(0.02, inner.release).start()
    with lock:
        assert inner.locked()
    [(curve, _, waited)] = recorder.added
    assert curve == "lock waits (µs)" and waited > 1000
    assert not inner.locked()


def recorded(slices, start=1000):
    """A recorder that two threads have recorded slices with: (thread, begin, end)."""
    recorder = profiler.Recorder()
    recorder.start = start
    recorder.threads = {1: "one", 2: "two"}
    recorder.slices = [("k", "op", thread, begin, end, ()) for thread, begin, end in slices]
    return recorder


def test_how_busy_threads_are():
    """A kernel that runs others is counted once; what lies across two points belongs to both."""
    recorder = recorded([(1, 1000, 1300), (1, 1100, 1200), (2, 1350, 1400), (1, 1390, 1400)])
    points = [e for e in trace_curves.curves(recorder) if e["name"] == "busy (%)"]
    each_takes = (points[1]["ts"] - points[0]["ts"]) * 1000
    time_in = lambda name: sum(e["args"][name] for e in points) / 100 * each_takes
    assert round(time_in("one")) == 310 and round(time_in("two")) == 50
    assert points[0]["args"] == {"one": 100.0, "two": 0.0} and points[0]["ts"] == 0


def test_one_line():
    recorder = recorded([(1, 0, 10), (1, 1000, 1800), (2, 1000, 1500)])
    mark = (1, 0, 0, 1000)
    recorder.samples = [("ready kernels", 1, 3), ("ready kernels", 2, 2), ("live bytes", 3, 2_000_000)]
    recorder.added = [("steals", 1, 1), ("lock waits (µs)", 2, 1500.0), ("steals", 3, 1)]
    assert trace_curves.summary(recorder, mark, 2000) == (
        "2 kernels in 0.001 ms; in kernels: one 80 %, two 50 %; at most 3 more ready; 2 taken from another thread; "
        "1 waits for a lock, 1.5 ms; at most 2 MB live"
    )


def test_long_runs_are_told_without_powers_of_ten():
    recorder = recorded([(1, 1000, 2_345_678_000)])
    recorder.samples = [("live bytes", 3, 12_345_600_000)]
    line = trace_curves.summary(recorder, (0, 0, 0, 1000), 2_345_679_000)
    assert line.startswith("1 kernels in 2,346 ms;") and line.endswith("at most 12,346 MB live")


def test_the_file_has_the_curves(tmp_path):
    path = tmp_path / "trace.json"
    with profiler.trace(path):
        side_by_side(lambda v: v, 3).run([1], threads=2)
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    curves = {e["name"] for e in events if e["ph"] == "C"}
    assert {"ready kernels", "live bytes", "busy (%)"} <= curves
    assert all(isinstance(v, (int, float)) for e in events if e["ph"] == "C" for v in e["args"].values())


def test_who_does_not_trace_pays_nothing(monkeypatch):
    kinds = []
    before = workers.SharedRun.run

    def run(self, feeds):
        kinds.append(type(self))
        before(self, feeds)

    monkeypatch.setattr(workers.SharedRun, "run", run)
    executable = side_by_side(lambda v: v)
    executable.run([1], threads=2)
    executable.run([1], threads=2, timeout=LONG)
    with profiler.trace():
        executable.run([1], threads=2)
    assert kinds == [workers.SharedRun, workers.SharedRun, seen_runs.SeenRun]
    assert Watch.needed(None) is None and Watch.needed(LONG).seen is None


def test_explain_tells_how_runs_go_that_nobody_traces():
    def f(n):
        i = 0
        while i < n:
            i = i + 1
        return i

    function = al.function(f, executor="dataflow")
    with al.profiler.trace():
        function(np.int64(5))
    assert al.explain(function, np.int64(5)).scheduler.endswith(" live; without a trace: 1 loop run as one")


def test_explain_has_one_line_of_the_last_run():
    def f(a, b):
        for _ in range(12):
            a, b = np.tanh(a @ a), np.tanh(b @ b)
        return a, b

    before = config.get_num_threads()
    config.set_num_threads(2)
    try:
        function, x = al.function(f, executor="dataflow"), np.zeros((120, 120))
        function(x, x)
        assert "profiler.trace()" in al.explain(function, x, x).scheduler
        with al.profiler.trace() as recorder:
            function(x, x)
        report = al.explain(function, x, x)
    finally:
        config.set_num_threads(before)
    assert report.scheduler.startswith(f"{len(recorder.slices)} kernels in ")
    assert str(report).splitlines()[2] == f"scheduler: {report.scheduler}"
    assert al.explain(al.function(f, executor="sequential"), x, x).scheduler == ""
