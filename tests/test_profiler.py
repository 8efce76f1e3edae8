"""What a trace tells of each line of a run, and the timeline that the report page draws."""

from __future__ import annotations

import itertools
import json

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
import pytest
from api import recorded_calls
from autoloop.cli import main
from autoloop.profiler import summarize, timeline_data
from autoloop.viewing.report import run_timelines
from autoloop.viewing.report.seen_stages import Source
from autoloop.viewing.report.trace_pages import trace_data
from executors import EXECUTORS, needs_native
from test_viewing import whole


def chains(a, b, n):
    i = 0
    while i < n:
        a = np.tanh(a @ a)
        if i > 1:
            b = np.sin(b)
        i += 1
    return a, b


FIRST = chains.__code__.co_firstlineno
ARGS = np.ones((4, 4)), np.ones(3), np.int64(5)


def traced(executor, f=chains, args=ARGS, threads=2):
    function = al.function(f, executor=executor)
    expected = f(*args)
    al.config.set_num_threads(threads)
    try:
        function(*args)
        with al.profiler.trace() as trace:
            result = function(*args)
    finally:
        al.config.set_num_threads(None)
    np.testing.assert_allclose(result[0], expected[0])
    return trace


def by_number(summary):
    return {one.line.lineno - FIRST: one for one in summary.lines if one.line is not None}


@pytest.mark.parametrize("executor", ["dataflow", "sequential"])
def test_time_and_count_of_each_line(executor):
    trace = traced(executor)
    summary = trace.summary()
    lines, (loop,) = by_number(summary), summary.loops
    assert {k: lines[k].count for k in (3, 5)} == {3: 5, 5: 3}
    assert lines[3].source == "a = np.tanh(a @ a)" and lines[3].place == f"test_profiler.py:{FIRST + 3}"
    assert (loop.line.lineno - FIRST, loop.iterations) == (2, 5)
    assert sum(one.share for one in summary.lines) == pytest.approx(1)
    (told,) = summary.executors
    assert told.executor == executor and told.kernels == len(trace.slices)
    assert sum(one.critical for one in summary.lines) == pytest.approx(told.critical)
    assert told.critical <= told.busy <= told.seconds and 1 <= told.parallelism <= 2
    text = str(summary)
    assert "a = np.tanh(a @ a)" in text and "timed" in text and f"{executor}: 1 run on" in text
    assert "a = np.tanh(a @ a)" in "".join(whole(summary._repr_html_()).itertext())
    assert json.loads(json.dumps(summary.as_dict()))["lines"][0]["file"] == __file__


@needs_native
def test_calls_beside_one_that_is_watched_are_not():
    f = al.function(lambda x: x + 1, executor="native")
    with al.profiler.trace():
        f(np.ones(2))
    (known,) = f.get_concrete_function(np.ones(2)).runner.run._watched.values()
    marks = known.free.pop()
    with al.profiler.trace() as trace:
        assert f(np.ones(2)).tolist() == [2.0, 2.0]
    known.free.append(marks)
    assert "could not be watched" in str(trace.summary()) and known.free == [marks]


def rescheduled(trace, times, place):
    """Let kernels have begun at other times: ``place(op, iteration)`` gives the thread, when, and if one waited."""
    slices = []
    for name, op, _, _, _, loops, run, of, _ in trace.slices:
        thread, start, held = place(op, loops[0][1] if loops else 0)
        begin = trace.start + start
        slices.append((name, op, thread, begin, begin + times.get(op, 1), loops, run, of, held))
    trace.slices = slices
    run = trace.runs[0]
    run.begin, run.threads = trace.start, 2
    run.end = max(one[4] for one in slices)
    trace.threads = {1: "one", 2: "two"}
    trace.added.clear()
    return by_number(trace.summary()), trace


def two(a, b, n):
    for _ in range(n):
        a = a @ a
        b = np.sin(b)
    return a, b


def shifted(executor_trace, place, times):
    lines, trace = rescheduled(executor_trace, times, place)
    start = two.__code__.co_firstlineno - FIRST
    return lines[start + 2], lines[start + 3], trace


TIMES = {"matmul": 1_000_000, "sin": 400_000}


def test_what_was_in_the_way():
    """Of runs on two threads whose kernels have begun at these times."""
    whole_chain = lambda op, i: (1, i * 1_000_000, False) if op == "matmul" else (2, i * 1_000_000, False)
    matmul, sin, trace = shifted(traced("dataflow", two), whole_chain, TIMES)
    assert matmul.limited_by == "one chain: each waits for the one before"
    assert matmul.critical == pytest.approx(5e-3) and sin.critical == 0 and matmul.parallelism == pytest.approx(1.4)
    assert trace.summary().executors[0].critical == pytest.approx(5e-3)

    full = lambda op, i: (1, i * 1_400_000, True) if op == "matmul" else (1, i * 1_400_000 + 1_000_000, True)
    matmul, sin, trace = shifted(traced("dataflow", two), full, {"matmul": 600_000, "sin": 400_000})
    assert matmul.limited_by == sin.limited_by == "the window was full: parallel_iterations=10"

    busy = lambda op, i: ((1 if op == "matmul" else 2), i * 1_000_000, False)
    matmul, sin, _ = shifted(traced("dataflow", two), busy, {"matmul": 1_000_000, "sin": 1_000_000})
    assert sin.limited_by == "all 2 threads were busy"

    apart = lambda op, i: (1, i * 1_000_000 + 10_000 * (op == "sin"), False)
    matmul, sin, _ = shifted(traced("dataflow", two), apart, {"matmul": 5_000, "sin": 100})
    assert sin.limited_by == "kernels too short for another thread"


def test_chains_go_through_nested_loops():
    def nested(a, b, n):
        for _ in range(n):
            for _ in range(n):
                a = a @ a
            a = np.sin(a)
        return a, b

    trace = traced("dataflow", nested, (np.eye(2), np.ones(1), np.int64(3)))
    clock = itertools.count(0, 2_000_000)
    rescheduled(trace, TIMES, lambda op, i: (1, next(clock), False))
    seen = summarize.Seen(trace)
    ops = [seen.kernels[k].op for k in sorted(seen.chain)]
    assert ops.count("matmul") == 9 and ops.count("sin") == 3
    for one in (trace, traced("sequential", nested, (np.eye(2), np.ones(1), np.int64(3)))):
        assert sorted(loop.iterations for loop in one.summary().loops) == [3, 9]


@needs_native
def test_lines_of_machine_code_are_counted():
    trace = traced("native")
    summary = trace.summary()
    lines, (told,) = by_number(summary), summary.executors
    assert {k: lines[k].count for k in (3, 5)} == {3: 5, 5: 3}
    assert sum(one.share for one in summary.lines) == pytest.approx(1)
    assert told.executor == "native" and told.threads == 1 and "lines counted, times shared out" in told.how
    assert trace.timeline()["nodes"] == [["machine code", "", -1, None, ()]]


@needs_native
def test_long_machine_code_is_looked_at(monkeypatch):
    monkeypatch.setattr(recorded_calls, "_ENOUGH", 2)

    def busy(x, n):
        for _ in range(n):
            x = np.tanh(x @ x)
        return x, n

    summary = traced("native", busy, (np.ones((200, 200)) / 200, np.int64(20))).summary()
    assert " looks" in summary.executors[0].how
    lines = {one.line.lineno - busy.__code__.co_firstlineno: one for one in summary.lines if one.line}
    assert lines[2].count == 20 and lines[2].share > 0.5


@needs_native
def test_machine_code_that_is_watched_fails_as_it_does_otherwise():
    def part(x, n):
        for i in range(n):
            x[i] = 1.0
        return x

    f, x = al.function(part, executor="native"), np.zeros(3)
    for _ in range(2):
        with al.profiler.trace() as trace, pytest.raises(IndexError):
            f(x, np.int64(4))
        assert [(one.line.lineno, one.count) for one in trace.summary().lines if one.count == 4]
    with al.profiler.trace():
        assert f(np.zeros(5), np.int64(4)).tolist() == [1.0] * 4 + [0.0]


def test_the_timeline_has_what_the_page_draws(monkeypatch):
    monkeypatch.setattr(timeline_data, "MOST_SLICES", 20)
    made = json.loads(json.dumps(traced("dataflow").timeline()))
    slices = made["slices"]
    assert {len(column) for column in slices.values()} == {20} and made["total"] > 20
    assert made["files"] == [__file__]
    names = {op: (line, loops) for _, op, _, line, loops in made["nodes"]}
    assert names["matmul"] == (FIRST + 3, ["while"])
    later = [k for k, after in enumerate(slices["after"]) if after]
    assert later
    for k in later:
        one, other = [made["iterations"][slices["iteration"][j]] for j in (k, k - slices["after"][k])]
        assert one[0] == other[0] + 1
    curves = {one["name"]: one["points"] for one in made["curves"]}
    assert {"live iterations of while", "ready kernels"} <= curves.keys()
    assert all(0 <= at <= made["span"] for points in curves.values() for at, _ in points)
    assert made["summary"]["lines"][0]["file"] == 0
    assert al.profiler.Trace().timeline() is None
    assert "no run was traced: a trace sees the runs that its own thread starts" in str(al.profiler.Trace().summary())


def test_curves_are_bounded_and_keep_their_peaks():
    points = [(k, float(k % 7 + 50 * (k == 5000))) for k in range(10_000)]
    made = timeline_data._curve("c", points, 0, 10_000)["points"]
    assert len(made) <= timeline_data.MOST_POINTS and max(v for _, v in made) > 50


def test_the_command_prints_the_summary(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.py").write_text("def job(x):\n    for _ in range(x):\n        x = x * 2\n    return x\n")
    assert main(["trace", "job.py:job", "--args", "tensor(3)", "-o", "t.json", "--executor", "sequential"]) == 0
    assert "job.py:3" in capsys.readouterr().err
    assert json.loads((tmp_path / "t.json").read_text())["autoloop"]["files"][0].endswith("job.py")


def test_the_page_of_a_trace(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = traced("sequential")
    page = al.report(trace, path="page.html")
    data = page.data
    assert repr(page) == "<Report on trace: timeline>" and data["source"]["file"] == "test_profiler.py"
    assert data["timeline"]["summary"]["lines"][0]["line"] in range(FIRST, FIRST + 7)
    (tmp_path / "t.json").write_text(json.dumps(trace.as_document()))
    assert main(["report", "--trace", "t.json", "-o", "other.html"]) == 0
    assert '"title":"t.json"' in (tmp_path / "other.html").read_text()
    (tmp_path / "old.json").write_text('{"traceEvents": []}')
    for argv, words in (
        (["--trace", "old.json"], "is no file that autoloop.profiler.trace has written"),
        (["--trace", "none.json"], "cannot read 'none.json'"),
        ([], "which function?"),
    ):
        capsys.readouterr()
        assert main(["report", *argv, "-o", "p.html"]) != 0 and words in capsys.readouterr().err
    with pytest.raises(ValueError, match="no run was recorded"):
        al.report(al.profiler.Trace())


def test_the_page_does_not_show_a_source_that_has_changed(tmp_path):
    document = traced("sequential").as_document()
    document["autoloop"]["summary"]["lines"][0]["source"] = "another line"
    (tmp_path / "t.json").write_text(json.dumps(document))
    data = trace_data(tmp_path / "t.json")
    assert data["source"] is None and "changed" in data["note"] and data["timeline"]["rows"]


def counted(x, n):
    for _ in range(n):
        x[0] = np.tanh(x[0])
        print(x[0])
    return x


def seen(f, *args):
    """The timeline on the page of a function."""
    return run_timelines.timeline_of(f, args, {}, Source.of(f))


def test_the_page_of_a_function_has_a_timeline(capsys):
    x = np.ones(2)
    made = seen(al.function(counted, executor="dataflow"), x, np.int64(3))
    assert made["note"] == "" and {one["line"] for one in made["summary"]["lines"]} == {
        counted.__code__.co_firstlineno + k for k in (1, 2, 3)
    }
    assert capsys.readouterr().out == "" and x[0] == 1.0
    assert seen(al.function(counted), al.TensorSpec([2], float), np.int64(3)) is None
    called = []
    f = al.function(lambda x: al.py_function(lambda v: called.append(1) or v, [x], al.float64))
    assert seen(f, al.ones([2], al.float64)) is None and not called


def test_the_page_of_a_session_has_a_timeline():
    with v1.Graph().as_default():
        x = v1.placeholder(al.float64)
        y = v1.while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, v1.tanh(a)], [v1.constant(0), x])[1]
        page = al.report(v1.Session().run, y, {x: 1.0})
    assert page.data["timeline"]["summary"]["loops"][0]["iterations"] == 3


@pytest.mark.parametrize("executor", ["dataflow", "sequential"])
def test_a_long_run_for_a_page_ends_early(executor, monkeypatch):
    monkeypatch.setattr(run_timelines, "MOST_KERNELS", 50)
    made = seen(al.function(chains, executor=executor), *ARGS[:2], np.int64(10**9))
    assert made["total"] >= 50 and "the run was ended after" in made["note"]


def whole_turns(x):
    for _ in range(20):
        al.set_loop_options(unroll=False)
        x = np.tanh(x)
    return x


@pytest.mark.parametrize("executor", EXECUTORS)
def test_turns_before_a_loop_are_counted(executor):
    summary = traced(executor, whole_turns, (np.ones(3),)).summary()
    lines = {one.line.lineno - whole_turns.__code__.co_firstlineno: one.count for one in summary.lines if one.line}
    assert lines[3] == 20 and all(loop.iterations == 20 for loop in summary.loops)
