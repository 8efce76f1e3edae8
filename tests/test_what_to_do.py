"""``explain``: branches, guards, retraces and fallbacks, each with what to do about it, and that this is right."""

from __future__ import annotations

import json
import statistics
import sys
from typing import Any

import autoloop as al
import numpy as np
import pytest
from autoloop.cli import main
from autoloop.explanation import tables_of
from autoloop.findings import NOTHING
from autoloop.text_tables import table
from executors import needs_native

DAMPING = 0.5
PARTS = [1, 2]


class Box:
    def __init__(self) -> None:
        self.name, self.held = "box", 3.0


def damped(x: Any, n: Any, box: Any = None) -> Any:
    total = x * 0
    for i in range(n):
        if x[i % 3] > 0:
            total = total + x * DAMPING
        elif n > 2:
            total = total - 1
    return total + (PARTS[0] if box is None else box.held)


def advice(found: Any) -> dict[str, str]:
    return {one.what: one.advice for one in found}


def test_branches_are_of_the_run_or_of_the_trace() -> None:
    first = damped.__code__.co_firstlineno
    known = {(one.line.lineno - first, one.what) for one in al.explain(damped, np.ones(3), 3).branches if one.line}
    assert known == {
        (3, "in the graph"), (5, "decided while tracing, the `if` side"), (7, "decided while tracing, the `if` side"),
    }  # fmt: skip
    staged = al.explain(damped, np.ones(3), np.int64(3)).branches
    assert [one.what for one in staged][:2] == ["in the graph"] * 2
    assert al.explain(damped, np.ones(3), 2).branches[1].what == "decided while tracing, the `else` side"

    def jumps(x: Any) -> Any:
        while True:
            x = x + 1
            if x.sum() > 30:
                break
            if x[0] > 100:
                return x
        return -x

    assert [one.source for one in al.explain(jumps, np.ones(3)).branches] == ["if x.sum() > 30:", "if x[0] > 100:"]

    def sometimes(x: Any) -> Any:
        for k in range(2):
            y = x if k == 0 else x.sum()
            if y[0] > 0 if k == 0 else k > 0:
                x = x + 1
        return x

    told = al.explain(sometimes, np.ones(3)).branches
    assert {one.what for one in told} == {"decided while tracing, either side", "in the graph where it has to be"}


def test_guards_and_what_does_away_with_them() -> None:
    global DAMPING
    report = al.explain(damped, np.ones(3), 3, Box())
    told = advice(report.guards)
    assert "np.int64(n)" in told["n is 3"] and "DAMPING = np.array(0.5)" in told["DAMPING is 0.5"]
    assert told["box.name is 'box'"] == NOTHING and "box.held = np.array(3.0)" in told["box.held is 3.0"]
    assert "Box.__init__" in next(one for one in told if one.startswith("functions, classes"))
    assert "n is 3" not in advice(al.explain(damped, np.ones(3), np.int64(3)).guards)
    f = al.function(damped)
    DAMPING = np.array(0.5)  # as it was told
    try:
        first = f(np.ones(3), np.int64(3))
        DAMPING = np.array(1.0)
        again = f(np.ones(3), np.int64(3))
        assert (first[0], again[0], f.tracing_count) == (2.5, 4.0, 1)
    finally:
        DAMPING = 0.5


@pytest.mark.filterwarnings("ignore:.* was traced")
def test_why_it_was_traced_again() -> None:
    f = al.function(damped)
    x = np.ones(3)
    f(x, 1)
    for again in (lambda: f(x, 2), lambda: f(np.ones(4), 1), lambda: f(x.astype("f4"), 1), lambda: f(x, np.int64(1)),
                  lambda: f(al.ones([3]), 1), lambda: f(x, True), lambda: f(x, 1, Box())):  # fmt: skip
        again()
    told = al.explain(f, x, 1).retraces
    assert [one.why for one in told] == [
        "n was 1, is 2", "x was float64[3], is float64[4]", "x was float64[3], is float32[3]",
        "n was 2, is int64[]", "x was float32[3], is float32[3] tensor", "n was 2, is True",
        "box was None, is object of Box",
    ]  # fmt: skip
    words = ["np.int64(n)", "TensorSpec([None], float64)", "x.astype(np.float64)", "one way each time", "as a tensor",
             "int(n)", NOTHING]  # fmt: skip
    assert all(word in one.advice for word, one in zip(words, told, strict=True))


def test_what_changed_outside_the_arguments() -> None:
    global DAMPING
    f = al.function(damped)
    f(np.ones(3), 1)
    DAMPING = 0.75
    f(np.ones(3), 1)
    PARTS.append(3)
    f(np.ones(3), 1)
    DAMPING = 0.5
    PARTS.pop()
    told = [(one.why, one.advice) for one in al.explain(f, np.ones(3), 1).retraces]
    assert [why for why, _ in told] == ["DAMPING was 0.5, is 0.75", "PARTS had 2 elements, has 3"]
    assert "DAMPING = np.array(0.75)" in told[0][1] and "in an array" in told[1][1]


@pytest.mark.filterwarnings("ignore:.* was traced")
def test_numbers_and_extents_that_became_inputs() -> None:
    @al.function
    def more(x: Any, n: float) -> Any:
        return x * n

    for k in range(7):
        more(np.ones(3), k + 0.5)
    assert al.explain(more, np.ones(3), 1.5).retraces[-1].why == (
        "n had other values in some traces, and this one is made for all"
    )
    assert "n is 99.5" not in advice(al.explain(more, np.ones(3), 99.5).guards)
    for k in range(5):
        more(np.ones(3 + k), 1.5)
    assert any("extents" in one.why for one in al.explain(more, np.ones(3), 1.5).retraces)


def test_the_traces_of_a_signature() -> None:
    more = al.function(lambda x: x + 1, input_signature=[al.TensorSpec([None], al.float64)])
    more(np.ones(2))
    report = al.explain(more, al.ones([2], al.float64))
    assert report.traces == ("its input_signature (array)", "its input_signature (tensor)")
    assert [one.advice for one in report.retraces] == ["pass always the one or the other"]


def plainly(x: Any) -> Any:
    with open("/dev/null") as file:
        file.read()
    return x


def recursive(x: Any, n: Any) -> Any:
    return x if n <= 0 else recursive(x, n - 1) * 2


def of_a_library(x: Any) -> Any:
    return x + statistics.median(x)


def of_kinds(x: Any) -> Any:
    out = []
    i = 0
    while i < x.sum():
        out.append(x * i if i % 2 else "a")
        i += 1
    return out


@pytest.mark.parametrize("f, args, words", [
    (plainly, (), "before or after the function is called"),
    (recursive, (np.int64(3),), "write the recursion as a loop"),
    (of_a_library, (), "use functions of NumPy's in its place"),
    (of_kinds, (), "numbers or arrays of one kind"),
])  # fmt: skip
def test_what_to_do_about_plain_python(f: Any, args: Any, words: str) -> None:
    report = al.explain(f, np.ones(3), *args)
    (one,) = report.fallbacks
    assert report.executor == "plain Python" and words in one.advice and words not in one.why
    assert "fallbacks\nwhat" in str(report)


@needs_native
def test_what_machine_code_refuses_is_told_and_not_raised() -> None:
    def counted(x: Any) -> Any:
        while x.sum() < 10:
            x = x + np.unique(x).size
        return x

    class Held:
        @al.function(executor="native")
        def step(self, x: Any) -> Any:
            return counted(x)

    for f in (al.function(counted, executor="native"), Held().step):
        report = al.explain(f, np.ones(3))
        assert report.executor == "native" and "refused: it cannot take the operation" in report.reason
        (one,) = report.fallbacks
        assert one.what == "executor='native' refuses every call" and "executor='auto'" in one.advice
        assert report.loops[0].converted
    told = al.explain(al.function(plainly, executor="native"), np.ones(3)).fallbacks
    assert [one.what[:15] for one in told] == ["executor='nativ", "the whole funct"] and "before" in told[1].advice
    with pytest.raises(ValueError, match="broadcast"):
        al.explain(al.function(lambda x: x + np.ones(2), executor="native"), np.ones(3))


@pytest.mark.filterwarnings("ignore:unseen runs as plain Python")
def test_calls_that_only_the_trace_makes() -> None:
    space: dict[str, Any] = {}
    exec("def unseen(x):\n    return x * 2", space)
    unseen = space["unseen"]

    def calls(x: Any) -> Any:
        return unseen(x) + statistics.mean([1.0, 2.0])

    told = al.explain(calls, np.ones(3)).fallbacks
    assert [one.what for one in told] == [
        f"{name} was called once, while tracing" for name in ("unseen", "statistics.mean")
    ]
    assert all("autoloop.py_function" in one.advice for one in told)


def test_what_to_do_about_loops() -> None:
    numbers = [0.5] * 20

    def loops(x: Any) -> Any:
        for _ in range(5):
            x = x + 1
        for one in numbers:
            x = np.sin(x) * one
        i = 0
        while i < 40:
            x = x + 1
            i += 1
        return x

    def as_told(x: Any) -> Any:
        for _ in range(5):
            al.set_loop_options(unroll=False)
            x = x + 1
        for one in al.constant(numbers):
            x = np.sin(x) * one
        i = 0
        while i < 40:
            al.set_loop_options(unroll=False)
            x = x + 1
            i += 1
        return x

    before, after = al.explain(loops, np.ones(3)).loops, al.explain(as_told, np.ones(3)).loops
    assert [one.converted for one in before] == [False] * 3 and [one.converted for one in after] == [True] * 3
    words = ["set_loop_options(unroll=False)", "autoloop.constant(...)", "set_loop_options(unroll=False)"]
    assert all(word in one.advice for word, one in zip(words, before, strict=True))
    assert all(one.advice == NOTHING for one in after)


def test_every_row_is_in_json_and_the_notebook(tmp_path: Any, capsys: Any) -> None:
    (tmp_path / "job.py").write_text("def f(x, n):\n    if n > 1:\n        x = x + n\n    return x\n")
    assert main(["explain", f"{tmp_path}/job.py:f", "--args", "np.ones(3), 2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"loops", "branches", "guards", "retraces", "fallbacks"} <= set(told)
    assert told["branches"][0]["line"]["line"] == 2 and told["guards"][0]["what"] == "n is 2"
    report = al.explain(damped, np.ones(3), 3)
    page = report._repr_html_()
    assert {"loops", "branches", "guards"} <= {one.title for one in tables_of(report)}
    assert "what to do" in page and "decided while tracing, the `if` side" in page


def test_tables_are_as_wide_as_there_is_room() -> None:
    lines = table(("a", "b"), [("short", "word " * 40), ("x", "y")], 60)
    assert max(map(len, lines)) <= 60 and lines[0].split() == ["a", "b"] and lines[-1].split() == ["x", "y"]
    assert " ".join(lines).count("word") == 40
    assert table(("a",), [("b",)]) == ["a", "-", "b"]


def test_a_terminal_has_tables_of_rich(monkeypatch: Any, tmp_path: Any, capsys: Any) -> None:
    rich = pytest.importorskip("rich.console")
    with open(tmp_path / "out", "w+") as file:
        rich.Console(file=file, width=100).print(al.explain(damped, np.ones(3), 3))
        file.seek(0)
        text = file.read()
    assert "what to do" in text and "set_loop_options" in text and "─" in text
    (tmp_path / "job.py").write_text("def f(x):\n    return x\n")
    call = ["explain", f"{tmp_path}/job.py:f", "--args", "1.5"]
    with monkeypatch.context() as patch:
        patch.setattr("autoloop.cli.run_command.wants_colour", lambda stream: True)
        assert main(call) == 0 and "─" in capsys.readouterr().out
        patch.setattr("autoloop.cli.run_command.has_rich", lambda: False)
        assert main(call) == 0 and "─" not in capsys.readouterr().out
    assert main(call) == 0 and "─" not in capsys.readouterr().out
    assert sys.modules.get("rich") is not None
