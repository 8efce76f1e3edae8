"""``explain``: what became of each loop, and why."""

from __future__ import annotations

import json
import re
import statistics
from typing import Any

import autoloop as al
import numpy as np
from api import Graph, LoopRecord, call_records, loop_records, record_call, record_loop
from autoloop.explanation import Explanation, explain
from executors import needs_native


def sums(x, rounds):
    for k in range(rounds):
        total = al.constant(0.0)
        while total < x:
            total += 1.0
        x += total
    return x


def test_converted_and_unrolled_loops_are_told_apart():
    report = explain(sums, np.float32(2.5), 2)
    assert isinstance(report, Explanation)
    outer, inner = report.loops
    assert (outer.kind, outer.converted, outer.names) == ("for", False, ())
    assert "range" in outer.reason
    assert (inner.kind, inner.converted) == ("while", True)
    assert len(inner.names) == 2  # traced once per round of the unrolled loop
    assert inner.line.lineno == sums.__code__.co_firstlineno + 3
    (variable,) = inner.variables
    assert (variable.name, variable.dtype, variable.changes) == ("total", "float32", True)
    assert inner.invariants == ("x: float32",)


def test_the_report_speaks_of_the_users_lines():
    text = str(explain(sums, np.float32(2.5), 2))
    first = sums.__code__.co_firstlineno
    assert f"test_explain.py:{first + 1}  for k in range(rounds):\n  unrolled: " in text
    assert f"test_explain.py:{first + 3}  while total < x:\n  converted: the condition is a tensor" in text
    assert text.startswith("sums\nexecutor: ")
    assert "traced 1 time, for\n  float32[], 2" in text


def test_executor_and_traces_of_a_decorated_function():
    f = al.function(sums, executor="dataflow")
    f(np.float32(1), 1)
    report = explain(f, np.float32(1), 2)
    assert (report.executor, report.reason) == ("dataflow", "asked for")
    assert report.traces == ("float32[], 1", "float32[], 2")
    assert f.tracing_count == 2
    explain(f, np.float32(1), 2)
    assert f.tracing_count == 2


def test_a_loop_that_was_asked_for():
    @al.function
    def f(x):
        return al.while_loop(lambda i, x, c: i < 5, lambda i, x, c: (i + 1, al.concat([x, x]), c), (0, x, 1.0),
                             shape_invariants={"x": [None]}, parallel_iterations=3)  # fmt: skip

    (loop,) = explain(f, np.ones(2, "f4")).loops
    assert (loop.kind, loop.converted, loop.parallel_iterations) == ("call", True, 3)
    assert [v.name for v in loop.variables] == ["i", "x", "c"]
    assert [v.changes for v in loop.variables] == [True, True, False]
    assert (loop.variables[1].entry, loop.variables[1].invariant) == ("(2,)", "(None,)")
    assert "never changes" in str(loop)


def test_methods_and_functions_without_loops():
    class Model:
        @al.function
        def double(self, x):
            return x * 2

    text = str(explain(Model().double, np.float32(1)))
    assert "no loop was reached" in text and "float32[]" in text
    assert "no arguments" in str(explain(lambda: al.constant(1)))


def test_records_are_kept_once_with_the_root_graph():
    root = Graph()
    record = LoopRecord("for", False, None, "it iterates over a Python list")
    record_loop(Graph("inner", root), record)
    record_loop(root, record)
    record_loop(None, record)
    assert loop_records(root) == (record,)
    assert "unrolled" in str(explain(lambda x: sums(x, 1), np.float32(1)))


RNG = np.random.default_rng(1)


def test_calls_that_no_graph_holds():
    def drawn(x, n):
        x = x + statistics.mean([1.0, 2.0]) * np.random.default_rng(3).random()
        for _ in range(n):
            x = x + RNG.normal()
        return x

    report = explain(drawn, np.float64(1.0), np.int64(2))
    first = drawn.__code__.co_firstlineno
    assert [(one.name, one.line.lineno - first, one.each) for one in report.calls] == [
        ("statistics.mean", 1, False), ("default_rng", 1, False), ("Generator.normal", 3, True),
    ]  # fmt: skip
    text = str(report)
    assert text.index("called in every run:\n  Generator.normal") < text.index("called once, while tracing:")
    record_call(None, report.calls[0])
    graph = Graph()
    record_call(graph, report.calls[0])
    record_call(graph, report.calls[0])
    assert call_records(graph) == report.calls[:1]
    assert not explain(lambda x: x + 1, 1.0).calls


def test_it_says_what_becomes_of_each_argument():
    def f(a, b, c, n):
        i = 0
        while i < n:
            a[i] = c[i]
            i += 1
        np.matmul(np.eye(4), c, out=b)

    given = np.zeros(4), np.ones(4), np.arange(4.0), np.int64(2)
    report = al.explain(f, *given)
    assert [one.use for one in report.arguments] == ["written in place", "written by a copy", "read", "read"]
    text = str(report)
    assert "it is given:\n  a (float64(4,)): written in place\n  b (float64(4,)): written by a copy (it holds" in text
    assert "in the end an array that matmul makes" in text and "  c (float64(4,)): read\n" in text


def test_it_says_why_there_is_a_copy_and_where_an_array_is_found():
    class Box:
        def __init__(self):
            self.total = np.zeros(4)

    box = Box()

    def f(a):
        box.total += a
        return a

    def g(a, b):
        held = a * 1
        a[0] = 5
        np.add(a, b, out=b)
        return held

    def h(a, b):
        np.multiply(a, 2, out=b)

    assert "b (float64(9000,)): written in place" in str(al.explain(h, np.ones(9000), np.ones(9000)))
    assert "b (float64(4,)): written by a copy (it is small, and holds in the end what multiply makes)" in str(
        al.explain(h, np.ones(4), np.ones(4))
    )
    text = str(al.explain(f, np.ones(4)))
    assert "  box.total (float64(4,)): written in place" in text
    assert "  a (float64(4,)): read" in text and "  box.total" in text.partition("state:")[2]
    assert "  a (float64(4,)): written in place" in str(al.explain(g, np.ones(4), np.ones(4)))


@needs_native
def test_a_loop_is_not_said_to_become_machine_code_that_cannot():
    def f(x):
        s = 0.0
        for i in range(int(x[0])):
            s += np.median(x) * i
        for i in range(int(x[0])):
            s += x[i % 3]
        return s

    report = al.explain(al.function(f), np.array([5.0, 2.0, 3.0]))
    assert "would call NumPy for" in report.loops[0].why and "(numpy_median) at" in report.loops[0].why
    assert "takes it over" not in report.loops[0].why
    assert "takes it over once" in report.loops[1].why


def test_what_an_argument_holds_and_another_one_of_a_like_name_are_told_apart() -> None:
    class Held:
        def __init__(self, shape: int) -> None:
            self.n = np.ones(shape)

    told = str(al.explain(lambda p, p_n: (p.n * 2, p_n * 2), Held(3), np.ones(4)))
    assert "  p.n (float64(3,)): read" in told
    assert "  p_n (float64(4,)): read" in told


def test_what_arguments_hold_is_called_by_the_names_of_the_parameters() -> None:
    class Held:
        def __init__(self) -> None:
            self.n = np.ones(3)

    def f(p: Any, *more: Any, k: Any, **named: Any) -> Any:
        p.n = p.n + k.n + more[0].n + named["z"].n
        return p.n

    told = str(al.explain(f, Held(), Held(), k=Held(), z=Held()))
    assert "argument" not in told.replace("arguments", "")
    for name in ("p.n", "more_0.n", "k.n", "z.n"):
        assert f"  {name} (float64(3,)): read" in told
    assert re.search(r"^  p\.n +written$", told, re.MULTILINE)


def test_calls_are_in_its_json():
    def drawn(x):
        return x + np.random.rand()

    (call,) = json.loads(json.dumps(al.explain(drawn, np.ones(2)).as_dict()))["calls"]
    assert call["each"] and call["line"]["file"] == __file__


KEPT: dict[str, int] = {}


def test_calls_that_plain_python_runs_this_time_are_explained():
    def keeping(x):
        if x.sum() > 0:
            KEPT["a"] = 1
        return x

    report = al.explain(keeping, np.ones(2))
    assert report.executor == "plain Python" and "KEPT" in report.reason and len(report.fallbacks) == 1
    assert "traced 0 times\n" in str(report) and not KEPT
