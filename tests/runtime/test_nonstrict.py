"""Non-strict loops, measured through the public door: what runs, what overlaps, how far ahead, how much memory."""

from __future__ import annotations

import threading
import tracemalloc

import autoloop as al
import numpy as np
import pytest
from api import Graph
from each_case import each

tf = al.compat.v1
LONG = 20
EXECUTORS = ("auto", "dataflow", "sequential")


def probe(log, name, shape=()):
    """An operation that notes ``(name, iteration)`` and gives its value plus one."""

    def see(i, v):
        log.append((name, int(i)))
        return v + 1

    def made(i, v):
        out = tf.py_function(see, [i, v], v.dtype)
        out.set_shape(shape)
        return out

    return made


@each(["i", "x", "both", "y"])
def test_only_what_the_fetches_need_runs(fetched):
    log = []
    with Graph().as_default(), al.Session() as session:
        see_x, see_y = probe(log, "x"), probe(log, "y")
        body = lambda i, x, y: (i + 1, see_x(i, x), see_y(i, y))
        i, x, y = al.while_loop(lambda i, x, y: i < 5, body, (0, 0.0, 0.0))
        got = session.run({"i": i, "x": x, "both": (i, x), "y": y}[fetched])
    assert got == {"i": 5, "x": 5, "both": (5, 5), "y": 5}[fetched]
    assert {name for name, _ in log} == {"i": set(), "x": {"x"}, "both": {"x"}, "y": {"y"}}[fetched]
    assert len(log) == (0 if fetched == "i" else 5)


@pytest.mark.parametrize("window", [1, 2, 4, 10])
def test_the_counter_runs_ahead_within_the_window_and_x_never_ahead_of_it(two_threads, window):
    log = []
    with Graph().as_default(), al.Session() as session:
        count, see = probe(log, "i"), probe(log, "x")
        # x needs the counter's value after its step, so it can never be ahead
        body = lambda i, x: (lambda j: (j, see(j, x)))(count(i, i))
        i, x = al.while_loop(lambda i, x: i < 30, body, (0, 0.0), parallel_iterations=window)
        assert session.run((i, x)) == (30, 30)
    leads, counted, moved = [], 0, 0
    for name, _ in log:
        counted, moved = counted + (name == "i"), moved + (name == "x")
        assert counted >= moved
        leads.append(counted - moved)
    assert max(leads) <= window


@pytest.mark.parametrize("window", [1, 2, 4])
def test_at_most_the_window_is_alive(two_threads, window):
    live, most, first, lock, beyond = set(), [0], [], threading.Lock(), threading.Event()

    def begin(i, v):
        with lock:
            live.add(int(i))
            most[0] = max(most[0], max(live) - min(live) + 1)
        if most[0] > window:
            beyond.set()
        return v

    def end(i, v):
        if not first:  # time enough for the other thread to begin what it may
            first.append(i)
            beyond.wait(0.05)
        with lock:
            live.discard(int(i))
        return v

    def op(f, i, v):
        made = tf.py_function(f, [i, v], tf.float64)
        made.set_shape([])
        return made

    with Graph().as_default(), al.Session() as session:
        body = lambda i, s: (i + 1, s + op(end, i, op(begin, i, tf.cast(i, tf.float64))))
        out = al.while_loop(lambda i, s: i < 40, body, (0, np.float64(0)), parallel_iterations=window)[1]
        assert session.run(out) == sum(range(40))
    assert most[0] <= window


def test_two_slow_chains_overlap(two_threads):
    both = threading.Barrier(2, timeout=LONG)

    def meet(v):
        both.wait()  # passes only if the other chain is in the same place at the same time
        return v + 1

    def step(v):
        made = tf.py_function(meet, [v], tf.float64)
        made.set_shape([])
        return made

    with Graph().as_default(), al.Session() as session:
        loop = al.while_loop(
            lambda i, a, b: i < 20, lambda i, a, b: (i + 1, step(a), step(b)), (0, np.float64(0), np.float64(5))
        )
        assert session.run(loop[1:]) == (20, 25)


def test_iterations_of_one_loop_overlap(two_threads):
    both = threading.Barrier(2, timeout=LONG)

    def meet(i):
        both.wait()  # two iterations at a time
        return i * i

    with Graph().as_default(), al.Session() as session:
        squares = al.map_fn(lambda i: tf.py_function(meet, [i], tf.int32), tf.range(10))
        assert session.run(squares).tolist() == [i * i for i in range(10)]


def test_the_counter_itself_is_never_incremented_in_parallel(two_threads):
    steps, busy = [], threading.Lock()

    def increment(i):
        assert busy.acquire(blocking=False)
        steps.append(int(i))
        busy.release()
        return i + 1

    def step(i):
        made = tf.py_function(increment, [i], tf.int32)
        made.set_shape([])
        return made

    with Graph().as_default(), al.Session() as session:
        body = lambda i, x: (step(i), tf.py_function(lambda x: x + 1, [x], tf.float32))
        out = al.while_loop(lambda i, x: i < 50, body, (0, 0.0), ([], al.TensorShape(None)))
        assert session.run(out) == (50, 50)
    assert steps == list(range(50))


def test_iterations_of_a_window_of_one_do_not(two_threads):
    busy, lock = [], threading.Lock()

    def alone(i):
        assert lock.acquire(blocking=False)
        busy.append(int(i))
        lock.release()
        return i

    with Graph().as_default(), al.Session() as session:
        out = al.map_fn(lambda i: tf.py_function(alone, [i], tf.int32), tf.range(10), parallel_iterations=1)
        assert session.run(out).tolist() == list(range(10)) == busy


def peak_of_a_loop(iterations, executor, window=4):
    """The most memory that a loop over 1 MB values has at once, in MB."""

    @al.function(executor=executor)
    def f(x, n):
        def body(i, x):
            y = x + 1.0
            return i + 1, al.maximum(y, x) - 0.5

        return al.while_loop(lambda i, x: i < n, body, (0, x), parallel_iterations=window)[1]

    x = al.zeros([1 << 17], al.float64)
    f(x, al.constant(2))
    tracemalloc.start()
    try:
        out = f(x, al.constant(iterations))
        return tracemalloc.get_traced_memory()[1] / 2**20, out.numpy()
    finally:
        tracemalloc.stop()


@each(EXECUTORS)
def test_memory_is_bounded_by_the_window(executor):
    peak, out = peak_of_a_loop(200, executor)
    assert (out == 100).all()
    assert peak < 16


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_ten_thousand_iterations_of_a_megabyte_stay_below_32(executor):
    peak, out = peak_of_a_loop(10_000, executor)
    assert (out == 5000).all()
    assert peak < 32


def test_memory_of_a_session_loop_is_bounded_by_the_window(two_threads):
    with Graph().as_default(), al.Session() as session:
        x = tf.placeholder(tf.float64, [1 << 17])
        out = al.while_loop(lambda i, x: i < 200, lambda i, x: (i + 1, tf.sqrt(x) + tf.exp(-x)), (0, x),
                            parallel_iterations=4)[1]  # fmt: skip
        value = np.ones(1 << 17)
        session.run(out, {x: value})
        tracemalloc.start()
        try:
            session.run(out, {x: value})
            assert tracemalloc.get_traced_memory()[1] < 32 * 2**20
        finally:
            tracemalloc.stop()
