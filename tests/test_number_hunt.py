"""Looking for what went wrong: nan and inf that are hunted, the debugger, and everything as plain Python."""

from __future__ import annotations

import gc
import sys

import autoloop as al
import numpy as np
import pytest
from autoloop import debugging
from autoloop.known_traces import _OPEN
from executors import EXECUTORS


def inverted(x, n):
    for _ in range(n):
        x = x - 1 / (x - 1)
        x[0] = 4.0
    return x


def lowered(u, n):
    for _ in range(n):
        u[1:-1] = np.sqrt(u[1:-1]) - 1


def mean_log(x):
    return np.log(x).mean()


class Model:
    def __init__(self):
        self.w, self.seen = np.array([1.0, 2.0]), []

    def step(self, rate):
        i = 0
        while i < rate:
            self.w = np.log(self.w)
            i += 1
        self.seen.append(self.w.sum())


def told(f, *args):
    with pytest.raises(FloatingPointError) as raised, debugging.check_numerics():
        f(*args)
    return " ".join([str(raised.value), *getattr(raised.value, "__notes__", ())]), raised


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_first_bad_number_is_told_with_operands_line_and_iteration(executor):
    f = al.function(inverted, executor=executor)
    good = f(np.array([1.5, 5.0, 4.0]), np.int64(2))
    for _ in range(2):
        said, raised = told(f, np.array([1.5, 2.0, 0.5]), np.int64(20))
        assert "divide gives inf of 1.0, 0.0 at [1] of float64[3]" in said and "iteration 1 of the loop 'while" in said
        assert raised.traceback[-1].path.samefile(__file__)
    with debugging.check_numerics():
        again = f(np.array([1.5, 5.0, 4.0]), np.int64(2))
    assert again.tobytes() == good.tobytes()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_is_written_in_place_is_computed_again_from_what_it_was(executor):
    f, u = al.function(lowered, executor=executor), np.linspace(0, 4, 8)
    said, _ = told(f, u, np.int64(4))
    assert "sqrt gives nan of -0.244" in said and "iteration 1" in said
    with debugging.check_numerics():
        for _ in range(3):
            f(u := np.linspace(0, 4, 8), np.int64(1))
    lowered(v := np.linspace(0, 4, 8), 1)
    np.testing.assert_array_equal(u, v)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_nan_that_is_given_is_told_by_name_and_inf_is_none_of_the_functions(executor):
    f = al.function(inverted, executor=executor)
    said, _ = told(f, np.array([1.5, 5.0, np.nan]), np.int64(2))
    assert "'x', which it is given, holds nan at [2] of float64[3]" in said
    g = al.function(lambda x: x * 2, executor=executor)
    with debugging.check_numerics():
        assert g(np.array([np.inf]))[0] == np.inf


def test_without_a_loop_and_by_an_object_that_keeps_what_it_has():
    said, _ = told(al.function(mean_log), np.array([1.0, -2.0, 3.0]))
    assert "log gives nan of -2.0 at [1] of float64[3]" in said and f"{__file__}:" in said
    model = Model()
    said, _ = told(al.function(Model.step), model, np.int64(2))
    assert "log gives -inf of 0.0" in said and "iteration 1" in said
    assert model.seen == [] and model.w.tolist() == [1.0, 2.0]


def test_gradients_tensors_loops_by_hand_and_plain_python():
    root = al.function(lambda x: np.sqrt(x).sum())
    assert "divide gives inf of 1.0, 0.0" in told(al.grad(root), np.array([0.0, 1.0]))[0]
    assert "log gives -inf of 0.0" in told(al.function(lambda x: al.log(x)), al.constant([0.0, 1.0]))[0]
    loop = lambda: al.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, al.log(x)), (0, al.constant([1.0, 2.0])))
    assert "iteration 1" in told(loop)[0]
    x = np.array([1.0, -1.0])
    assert "where x = float64[2]" in told(lambda: np.sqrt(x))[0]


def test_what_cannot_be_done_twice_is_checked_at_once(capsys):
    @al.function
    def talkative(x):
        while x > -1.5:
            print("x", float(x))
            x = np.log(x)
        return x

    assert "log gives nan of" in told(talkative, np.float64(2.0))[0]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(set(lines)) > 1


def test_it_is_switched_on_and_off():
    before = np.geterr()
    f = al.function(mean_log)
    debugging.enable_check_numerics()
    try:
        with pytest.raises(FloatingPointError, match="log gives nan"):
            f(np.array([-1.0]))
    finally:
        debugging.disable_check_numerics()
    assert np.geterr() == before and np.geterrcall() is None
    assert np.isnan(f(np.array([-1.0])))


def stopped(x):
    i = 0
    while x.sum() < 10:
        x = x * 2
        i += 1
        if i == 2:
            debugging.breakpoint()
    return x


def test_a_breakpoint_stops_with_the_values_of_the_iteration(monkeypatch):
    seen = []
    monkeypatch.setattr(
        sys, "breakpointhook", lambda: seen.append((sys._getframe(1).f_locals["i"], sys._getframe(1).f_locals["x"]))
    )
    f = al.function(stopped)
    with pytest.warns(UserWarning, match="breakpoint"):
        for _ in range(3):
            np.testing.assert_array_equal(f(np.ones(2)), [8.0, 8.0])
    assert [(i, x.tolist()) for i, x in seen] == [(2, [4.0, 4.0])] * 3
    with pytest.raises(TypeError, match="breakpoint"):
        al.function(stopped, executor="native")(np.ones(2))


def test_everything_runs_as_python():
    calls = []

    @al.function
    def f(x):
        calls.append(type(x))
        return x + 1

    for k in range(40):
        f(k)
    count = f.tracing_count
    assert len(calls) == 40
    al.config.run_as_python()
    try:
        assert f("a" if False else 1) == 2 and f.tracing_count == count
        g = al.function(lambda x: [x, *map(str, x)])
        assert [type(one) for one in g(np.ones(1))] == [np.ndarray, str] and g.tracing_count == 0
        assert al.grad(al.function(lambda x: x * x))(3.0) == 6.0
    finally:
        al.config.run_as_python(None)
    for k in range(40):
        assert f(k) == k + 1
    with pytest.raises(TypeError, match="run_as_python takes"):
        al.config.run_as_python(1)


def test_fast_paths_that_are_closed_are_forgotten_with_their_functions():
    def made():
        f = al.function(lambda x: x + 1)
        for _ in range(40):
            f(2.0)

    made()
    gc.collect()
    before = len(_OPEN)
    made()
    gc.collect()
    assert len(_OPEN) <= before


def heated(u, n):
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.25 * (u[:-2] - 2 * u[1:-1] + u[2:])
    return u.sum()


def root(x, tolerance):
    turns = 0
    while abs(x * x - 2) > tolerance:
        x = x - (x * x - 2) / (2 * x)
        turns += 1
    return x, turns


@pytest.mark.parametrize("executor", [None, *EXECUTORS])
def test_a_recording_has_each_iteration_and_the_call_does_what_it_does(executor):
    u = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    made = debugging.record(heated, u, np.int64(3), executor=executor)
    plain, states = np.array([0.0, 0.0, 1.0, 0.0, 0.0]), []
    for _ in range(4):
        states.append(plain.copy())
        heated(plain, 1)
    np.testing.assert_array_equal(u, states[3])
    assert made.result == states[3].sum() and made.name == "heated"
    (loop,) = made.loops
    kept = {one.name: one for one in loop.variables}
    np.testing.assert_array_equal(np.array(kept["u"].values), states)
    assert kept["u"].line.lineno == heated.__code__.co_firstlineno + 2
    assert kept["u"].sparkline() == "█▃▁▁" and "█▃▁▁" in str(made) and "<pre>" in made._repr_html_()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_two_runs_that_part_are_told_where(executor):
    one = debugging.record(root, np.float64(1.0), np.float64(1e-9), executor=executor, variables=["x"])
    assert debugging.diff(one, debugging.record(root, np.float64(1.0), np.float64(1e-9)), rtol=1e-15) is None

    def other(x, tolerance):
        turns = 0
        while abs(x * x - 2) > tolerance:
            x = x - (x * x - 2) / (2 * x) + (turns == 2) * 1e-3
            turns += 1
        return x, turns

    parting = debugging.diff(one, debugging.record(other, np.float64(1.0), np.float64(1e-9)))
    assert (parting.iteration, parting.name) == ((2,), "x") and f":{root.__code__.co_firstlineno + 3}" in str(parting)
    assert "after iteration 2" in str(parting)
    entry = debugging.diff(one, debugging.record(root, np.float64(1.5), np.float64(1e-9)))
    assert entry.iteration == (-1,) and "is 1. and 1.5 on entry" in str(entry)
    longer = debugging.diff(one, debugging.record(root, np.float64(1.0), np.float64(1e-3), variables=["x"]))
    assert "4 iterations and 3" in str(longer) or "4 iterations and 2" in str(longer)


def test_what_a_recording_refuses():
    with pytest.raises(ValueError, match="no loop of root has a variable 'y'; there are turns, x"):
        debugging.record(root, np.float64(1.0), np.float64(1e-9), variables=["y"])
    with pytest.raises(MemoryError, match="bytes were kept, more than 20: name fewer variables, or raise limit="):
        debugging.record(root, np.float64(1.0), np.float64(1e-9), limit=20)
    with pytest.raises(TypeError, match="asks has no loops to record: "):
        debugging.record(asks, np.ones(2))


def asks(x):
    return len(input()) + x


def test_state_of_objects_is_recorded():
    model = Model()
    made = debugging.record(al.function(Model.step), model, np.int64(1))
    assert model.w.tolist() == [0.0, np.log(2.0)] and made.result is None
    names = {one.name for loop in made.loops for one in loop.variables}
    assert any("w" in name for name in names), names


def nested(x, n):
    for i in range(n):
        k = 0
        while k < i:
            x = x * 0.5 + i
            k += 1
    return x


@pytest.mark.parametrize("executor", ["sequential", "dataflow"])
def test_loops_in_loops_are_recorded_run_by_run(executor):
    made = debugging.record(nested, np.float64(1.0), np.int64(4), executor=executor)
    assert made.result == nested(1.0, 4)
    inner = made.loops[1]
    assert inner.iterations == ((0, -1), (1, -1), (1, 0), (2, -1), (2, 0), (2, 1), (3, -1), (3, 0), (3, 1), (3, 2))
    assert {one.name: one.values[-1] for one in inner.variables} == {"x": nested(1.0, 4), "k": 3}
    assert "3.entry  " in str(made) and "3.1  " in str(made)
    other = debugging.record(nested, np.float64(1.0), np.int64(6))
    parting = debugging.diff(made, other)
    assert (parting.loop, parting.iteration, parting.values) == (made.loops[0].name, (4,), (4, 6))
    none = debugging.record(lambda x, n: nested(x, n), np.float64(1.0), np.int64(0))
    assert debugging.diff(made, none).line is not None
    with pytest.raises(ValueError, match="the recordings are of other loops: while, and none"):
        debugging.diff(made, debugging.record(lambda x, n: x + n, np.float64(1.0), np.int64(3)))
    assert debugging.diff(made, made) is None
    parting = debugging.diff(made, debugging.record(lambda x, n: nested(x, n), np.float64(1.0), np.int64(4)))
    assert parting is None


def test_runs_of_no_trace_are_refused_with_words():
    def added(x, y, n):
        for _ in range(n):
            x += y
        return x

    x = np.ones(2)
    with pytest.raises(TypeError, match="the call has been made.*share an array"):
        debugging.record(added, x, x, np.int64(2))
    assert x.tolist() == [4.0, 4.0]
    al.config.run_as_python()
    try:
        with pytest.raises(TypeError, match="run_as_python"):
            debugging.record(added, x, x + 1, np.int64(2))
    finally:
        al.config.run_as_python(None)


def test_what_there_is_is_named():
    assert dir(debugging) == sorted(debugging.__all__) and all(hasattr(debugging, name) for name in dir(debugging))
