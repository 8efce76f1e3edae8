"""Failures through the public door: the caller gets them, nothing is left, and the next run works."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import autoloop as al
import numpy as np
import pytest
from api import Graph, config
from executors import EXECUTORS

tf = al.compat.v1
LONG = 20


@pytest.fixture(params=[1, 3], ids=["1 thread", "3 threads"])
def threads(request):
    before = config.get_num_threads()
    config.set_num_threads(request.param)
    yield request.param
    config.set_num_threads(before)


def open_files():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@pytest.fixture(scope="module", autouse=True)
def compiler():
    """What makes machine code is started once and then there to stay, like idle workers."""
    if "native" in EXECUTORS:
        al.function(lambda x: x * 2.0, executor="native")(1.0)


@pytest.fixture
def nothing_left():
    """Afterwards there are no more files and threads than before, but idle workers."""
    files, before = open_files(), set(threading.enumerate())  # a library's own, such as that of tqdm, may be there
    yield
    wait_until(lambda: all(t in before or t.name.startswith("autoloop-") for t in threading.enumerate()))
    assert open_files() <= files


def wait_until(what):
    end = time.monotonic() + LONG
    while not what():
        assert time.monotonic() < end
        time.sleep(0.002)


def session_loop(kernel, n=20, chains=3):
    """A session graph: ``chains`` loop variables that each go through ``kernel(chain, iteration, value)``."""
    graph = Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float64, [], name="x")

        def through(chain, i, v):
            made = tf.py_function(lambda i, v: kernel(chain, int(i), v), [i, v], tf.float64)
            made.set_shape([])
            return made

        body = lambda i, *vs: (i + 1, *[through(c, i, v) for c, v in enumerate(vs)])
        _, *finals = al.while_loop(lambda i, *_: i < n, body, (0, *[x] * chains))
    return al.Session(graph=graph), finals


@pytest.mark.parametrize("where", [0, 7, 19])
@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError, OSError])
def test_an_exception_at_iteration_k_of_any_chain(threads, nothing_left, where, error):
    broken = [True]

    def kernel(chain, i, v):
        if broken[0] and chain == 1 and i == where:
            raise error("here")
        return v + 1

    session, finals = session_loop(kernel)
    with pytest.raises(error, match="here") as caught:
        session.run(finals, {"x:0": 0.0})
    assert any(f"iteration {where} of the loop 'while'" in note for note in caught.value.__notes__)
    broken[0] = False
    assert session.run(finals, {"x:0": 1.0}) == [21, 21, 21]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_exception_in_a_function_leaves_the_function_working(executor, nothing_left):
    @al.function(executor=executor)
    def f(table, n):
        total = 0
        for i in range(n):
            total += table[i]
        return total

    table = np.arange(4)
    for _ in range(2):
        with pytest.raises(IndexError, match="index 4") as caught:
            f(table, al.constant(9))
        assert any("iteration 4 of the loop" in note for note in caught.value.__notes__)
        assert np.asarray(f(table, al.constant(4))) == 6


def test_memory_that_cannot_be_had(nothing_left):
    @al.function
    def f(n):
        x = al.zeros([1], al.float64)
        return al.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, al.zeros([n, n], al.float64)[0]), (0, x),
                             shape_invariants=([], [None]))[1]  # fmt: skip

    with pytest.raises(MemoryError):
        f(al.constant(1 << 24))
    assert f(al.constant(3)).shape == (3,)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_interrupt_stops_an_endless_loop(executor, nothing_left):
    @al.function(executor=executor)
    def f(x, n):
        while x < n:
            x = x * 0.5
        return x

    main = threading.main_thread().ident
    timer = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f(al.constant(1.0), al.constant(2.0))
    timer.join()
    assert np.asarray(f(al.constant(4.0), al.constant(2.0))) == 4


@pytest.mark.parametrize("blocks", ["in Python", "in C"])
def test_a_function_that_never_returns_is_given_up(threads, nothing_left, blocks):
    released, came_to_an_end = threading.Event(), threading.Event()

    def never(chain, i, v):
        if chain == 1 and i == 3 and v < 50:
            try:
                if blocks == "in C":
                    released.wait(LONG)
                while True:
                    sum(range(100))
            finally:
                came_to_an_end.set()
        return v + 1

    traced = sys.gettrace() is not None or threading.gettrace() is not None
    if blocks == "in C" and traced and sys.version_info < (3, 12):
        pytest.skip("CPython 3.11 makes no progress under a tracer while an exception waits for a blocked thread")
    session, finals = session_loop(never)
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match="was still running|longer than 0.2 s"):
        session.run(finals, {"x:0": 0.0}, timeout=0.2)
    assert time.monotonic() - begin < LONG / 2
    assert session.run(finals, {"x:0": 50.0}, timeout=LONG) == [70, 70, 70]
    released.set()
    assert came_to_an_end.wait(LONG)


def test_an_endless_loop_of_a_session_is_stopped(threads, nothing_left):
    with Graph().as_default(), al.Session() as session:
        limit = tf.placeholder(tf.int32, [])
        out = tf.while_loop(lambda i: i < limit, lambda i: tf.minimum(i + 1, 5), [tf.constant(0)])
        with pytest.raises(TimeoutError, match="longer than 0.1 s"):
            session.run(out, {limit: 6}, timeout=0.1)
        assert session.run(out, {limit: 5}, timeout=LONG) == 5


def test_what_a_function_raises_under_a_time_limit_is_what_the_caller_gets(threads, nothing_left):
    with Graph().as_default(), al.Session() as session:
        x = tf.placeholder(tf.float32, [])

        def raising(v):
            raise ValueError("from inside")

        y = tf.py_function(raising, [x], tf.float32)
        with pytest.raises(ValueError, match="from inside"):
            session.run(y, {x: 1.0}, timeout=LONG)
        z = tf.py_function(lambda v: v * 2, [x], tf.float32)
        assert session.run(z, {x: 2.0}, timeout=LONG) == 4


def test_an_interrupt_while_a_function_is_waited_for(nothing_left):
    main = threading.main_thread().ident
    with Graph().as_default(), al.Session() as session:

        def spin(v):
            signal.pthread_kill(main, signal.SIGINT)
            while True:
                sum(range(100))

        y = tf.py_function(spin, [1.0], tf.float32)
        with pytest.raises(KeyboardInterrupt):
            session.run(y, timeout=LONG)
        assert session.run(tf.constant(1) + 1) == 2


def test_fetches_of_many_failing_runs_leave_nothing(threads, nothing_left):
    def kernel(chain, i, v):
        raise ZeroDivisionError

    session, finals = session_loop(kernel, 2)
    for _ in range(50):
        with pytest.raises(ZeroDivisionError):
            session.run(finals, {"x:0": 0.0})
    assert sum(t.name.startswith("autoloop-") for t in threading.enumerate()) <= 8


def test_a_run_that_took_too_long_says_where_it_stands():
    with Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        y = al.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 7, [x])
        for _ in range(5):  # between two nodes, or while one waits for another
            with pytest.raises(TimeoutError, match=r"(?s)longer than 0.01 s:\n.*iteration \d+") as caught:
                session.run(y, {x: 0}, timeout=0.01)
            assert "nothing is waiting" not in str(caught.value)
