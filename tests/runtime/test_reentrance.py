"""Signal handlers that call the function they interrupt, and Ctrl-C: at any point of a call."""

from __future__ import annotations

import contextvars
import random
import signal

import autoloop as al
import autoloop.compat.v1 as tf
import numpy as np
import pytest
from api import config, current_graph
from each_case import each
from examples import examples
from executors import EXECUTORS
from forking import run_with
from stepping import at_step, interrupted, left_locked, steps_of

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
X = np.linspace(0.0, 1.0, 5)


@pytest.fixture(autouse=True)
def no_deadlock():
    def late(*_):
        raise TimeoutError("a lock is waited for that this thread holds")

    old = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


def updates(executor):
    """A call that adds to a variable, a check of what some calls have done, and a way back to the beginning."""
    v = al.Variable(np.float64(0.0))

    @al.function(executor=executor)
    def f(x):
        s = al.sum(x)
        for i in al.range(3):
            s = s * 0.5 + al.cast(i, al.float64)
        v.assign_add(s)
        return s

    once = float(f(X))

    def check(results):
        assert {float(r) for r in results} == {once}
        assert float(v.numpy()) == once * len(results)

    return lambda: f(X), check, lambda: v.assign(np.float64(0.0))


def saves(executor):
    def loss(x):
        for _ in al.range(12):
            al.set_loop_options(swap_memory=True)
            x = al.sin(x) * 1.01
        return al.sum(x)

    f = al.function(loss, executor=executor)
    x = np.linspace(0.5, 1.0, 1000)

    def call():
        with al.GradientTape() as tape:
            t = al.constant(x)
            tape.watch(t)
            y = f(t)
        return tape.gradient(y, t).numpy()

    want = call()

    def check(results):
        for found in results:
            np.testing.assert_array_equal(found, want)

    return call, check, lambda: None


def fetches(executor):
    graph = tf.Graph()
    with graph.as_default():
        p = tf.placeholder(np.float64, [])
        w = tf.Variable(np.float64(0.0))
        added = w.assign_add(p)
        init = w.initializer
    session = tf.Session(graph=graph)
    session.run(init)

    def check(results):
        assert sorted(results) == [2.0 * (k + 1) for k in range(len(results))]
        assert session.run(w) == 2.0 * len(results)

    return lambda: session.run(added, {p: 2.0}), check, lambda: session.run(init)


def writes(executor):
    array = al.TensorArray(al.float64, size=2, element_shape=[2], clear_after_read=False)
    grows = al.TensorArray(al.float64, size=0, dynamic_size=True, clear_after_read=False).write(0, np.ones(2))
    count = iter(range(1, 1_000_000))

    def call():
        k = float(next(count))
        a = array.write(0, np.full(2, k)).write(1, np.full(2, -k)).stack().numpy()
        b = grows.write(1, np.full(2, k)).write(3, np.full(2, k)).write(2, np.full(2, -k)).stack().numpy()
        return k, a, b

    def check(results):
        for k, a, b in results:
            assert a.tolist() == [[k, k], [-k, -k]]
            assert b.tolist() == [[1, 1], [k, k], [-k, -k], [k, k]]
        assert grows.stack().numpy().tolist() == [[1, 1]]

    return call, check, lambda: None


def shares(executor):
    from threadpoolctl import threadpool_info

    def threads():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    m = np.full((120, 120), 1e-3)

    @al.function(executor=executor)
    def f(x):
        y = x
        for _ in al.range(2):
            x, y = al.tanh(x @ x), al.tanh(y @ y)
        return al.sum(x) + al.sum(y)

    want, before = float(f(m)), threads()

    def check(results):
        assert {float(r) for r in results} == {want}
        assert threads() == before

    return lambda: f(m), check, lambda: None


def prints(executor):
    graph = tf.Graph()
    with graph.as_default():
        p = tf.placeholder(np.float64, [])
        out = tf.Print(p, [p], first_n=1_000_000)
    session = tf.Session(graph=graph)
    countdown = out.op.attrs["countdown"]

    def check(results):
        assert countdown.left == 1_000_000 - len(results)

    def restore():
        countdown.left = 1_000_000

    return lambda: session.run(out, {p: 1.0}), check, restore


CASES = [
    *[(updates, e) for e in EXECUTORS], *[(saves, e) for e in ("sequential", "dataflow")],
    (fetches, ""), (writes, ""), (shares, "dataflow"), (prints, ""),
]  # fmt: skip
cases = pytest.mark.parametrize(("make", "executor"), CASES, ids=[f"{m.__name__}-{e}" for m, e in CASES])


@pytest.fixture
def settings(monkeypatch):
    old = config.get_num_threads()
    config.set_num_threads(2)
    config.set_swap_budget(0)
    from api import swap
    from threadpoolctl import threadpool_limits

    monkeypatch.setattr(swap, "BLOCK", 40_000)
    with threadpool_limits(2, user_api="blas"):
        yield
    config.set_num_threads(old)
    config.set_swap_budget(None)


def points(total, count):
    """Some points of a call, half of them where only short tests run: those are among the others."""
    return random.Random(0).sample(range(1, total + 1), min(count, total))[: examples(count)]


@cases
def test_a_handler_calls_what_it_interrupts(make, executor, settings, capfd):
    call, check, restore = make(executor)
    restore()
    call()
    count = 0
    for step in points(steps_of(call), 40):
        restore()
        more = []
        results = [at_step(call, step, lambda: more.append(call()))[0]]
        check(results + more)
        count += len(more)
    assert count
    assert left_locked() == []


# a finaliser in which it comes ends, and Python says so
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@cases
def test_after_ctrl_c_at_any_point_the_next_call_works(make, executor, settings, capfd):
    call, check, restore = make(executor)
    restore()
    call()
    count = 0
    for step in points(steps_of(call), 40):
        count += interrupted(call, step)
        restore()
        check([call()])
    assert count
    assert left_locked() == []


def test_signals_that_come_at_any_time(tmp_path):
    out = run_with(
        """
v = al.Variable(np.float64(0.0))
calls = {"handler": 0, "main": 0}
def body(x):
    v.assign_add(1.0)
    for i in al.range(20): x = x * 0.5 + 1.0
    return x
fs = [al.function(body, executor=e) for e in EXECUTORS]
want = [float(f(np.float64(1.0))) for f in fs]
def use(who):
    for f, w in zip(fs, want):
        assert float(f(np.float64(1.0))) == w
        calls[who] += 1
inside = False
def handler(*_):
    global inside
    if not inside:
        inside = True
        use("handler")
        inside = False
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.002)
while calls["handler"] < 200: use("main")
signal.setitimer(signal.ITIMER_REAL, 0)
assert float(v.numpy()) == calls["handler"] + calls["main"] + len(fs), (v, calls)
print(calls["handler"] >= 200)
""",
        tmp_path,
    )
    assert out.strip() == "True"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@each(["sequential", "dataflow"])
def test_ctrl_c_in_a_first_call_and_in_a_first_gradient(executor):
    # what was traced, or split for its gradient, half way is begun again
    def body(x):
        y = x
        while al.sum(y) < 10.0:
            y = al.sin(y) + y * 1.5
        return al.sum(y * y)

    def slope(f):
        with al.GradientTape() as tape:
            x = al.constant(X)
            tape.watch(x)
            y = f(x)
        return float(y), tape.gradient(y, x).numpy().tolist()

    def made():
        f = al.function(body, executor=executor)
        f(X)
        return f

    want = slope(made())
    count = 0
    for step in points(steps_of(lambda: slope(al.function(body, executor=executor))), 25):
        f = al.function(body, executor=executor)
        count += interrupted(lambda: f(X), step)
        assert float(f(X)) == want[0]
        count += interrupted(lambda: slope(f), step)
        assert slope(f) == want
    assert count
    assert left_locked() == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@each(["function", "eager"])
def test_ctrl_c_leaves_no_graph_behind(way):
    # in this very context, which a trace that is interrupted must leave as it was
    def body(x):
        return al.while_loop(lambda x: x < 10.0, lambda x: x * 1.5 + 1.0, [x])

    def call():
        return al.function(body, autograph=False)(2.0) if way == "function" else body(2.0)

    def stop():
        raise KeyboardInterrupt

    stopped, before = 0, np.geterr()
    for step in points(steps_of(call), 150):
        try:
            at_step(call, step, stop)
        except KeyboardInterrupt:
            stopped += 1
        assert current_graph() is None and np.geterr() == before, step
    assert stopped > 20 and float(np.asarray(call()).ravel()[0]) > 10.0


def test_what_is_collected_elsewhere_leaves_no_graph_current():
    # Ctrl-C leaves generators half way that have made a graph current: they end when they are collected, in any context
    def building(graph):
        with graph.as_default():
            yield current_graph()

    outer, inner = tf.Graph(), tf.Graph()

    def begun():
        with outer.as_default():
            generator = building(inner)
            return generator, next(generator)

    generator, current = contextvars.copy_context().run(begun)
    generator.close()
    assert current is inner and current_graph() is None

    with outer.as_default():  # and one that ends where it began puts back what was there
        generator = building(inner)
        assert next(generator) is inner
        generator.close()
        assert current_graph() is outer


def test_a_trace_leaves_the_users_context_variables_as_the_function_does():
    seen = contextvars.ContextVar("seen")

    @al.function(autograph=False)  # else it is left to plain Python
    def f(x):
        seen.set("traced")
        return x + 1

    f(X)
    assert seen.get() == "traced"
