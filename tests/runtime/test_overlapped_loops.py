"""Loops of heavy kernels that can run beside each other, whose tokens are moved in native memory, beside NumPy."""

from __future__ import annotations

import signal
import threading
import time

import autoloop as al
import autoloop.compat.v1 as tf
import numpy as np
import pytest
from api import config, core_runs, core_workers
from executors import needs_native
from test_machine_kernels import at_once as at_once

pytestmark = needs_native
N = 128
TABLE = np.arange(float(N), dtype=np.float32) / N
RANDOM = np.random.default_rng(5)
A, B = [RANDOM.standard_normal((N, N)).astype(np.float32) for _ in range(2)]
V, W = [(0.9 / N**0.5 * RANDOM.standard_normal((N, N))).astype(np.float32) for _ in range(2)]


@pytest.fixture
def runs(at_once, monkeypatch):
    """The runs there are; code is made as soon as it is wanted."""
    found = []
    run = core_runs.CoreRun.run

    def noted(self, args):
        found.append(run(self, args))
        return found[-1]

    monkeypatch.setattr(core_runs.CoreRun, "run", noted)
    before = config.get_num_threads()
    config.set_num_threads(2)
    yield found
    config.set_num_threads(before)


def chains(a, b, n, window=10):
    body = lambda i, a, b: (i + 1, al.tanh(a @ V), al.tanh(b @ W))
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b), parallel_iterations=window)


def layers(a, b, n, window=10):
    body = lambda i, a, b: (i + 1, al.tanh(a @ V), al.tanh(b @ W + a))
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b), parallel_iterations=window)


def with_numbers(a, b, n, window=10):
    """Numbers beside them, some of which run ahead and some of which wait."""

    def body(i, a, b, s, t, u):
        return i + 1, al.tanh(a @ V), al.tanh(b @ W), s * 0.5 + al.cast(i, al.float32), t + s, u + b[0, 0]

    return al.while_loop(lambda i, *_: i < n, body, (0, a, b, 0.25, 1.0, 0.0), parallel_iterations=window)


def captured(a, b, n, window=10):
    c = a * 0.5
    body = lambda i, a, b: (i + 1, al.tanh(a @ V + c), al.tanh(b @ W) * c)
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b), parallel_iterations=window)


def taken_turns(a, b, n, window=10):
    """Variables that change places."""
    body = lambda i, a, b, c: (i + 1, al.tanh(b @ V), al.tanh(a @ W), a)
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b, a), parallel_iterations=window)


def in_a_loop(a, b, n, window=10):
    def body(k, a, b):
        _, a, b = chains(a, b, n + k, window)
        return k + 1, a + 0.5, b

    return al.while_loop(lambda k, *_: k < 3, body, (0, a, b), parallel_iterations=window)


def by_branch(a, b, n, window=10):
    """A branch with heavy kernels in it."""

    def body(i, a, b):
        return i + 1, al.cond(i % 2 == 0, lambda: al.tanh(a @ V), lambda: a * 0.5), al.tanh(b @ W)

    return al.while_loop(lambda i, *_: i < n, body, (0, a, b), parallel_iterations=window)


def with_places(a, b, n, window=10, places=N):
    """Elements at places that are known when it runs."""
    body = lambda i, a, b, s: (i + 1, al.tanh(a @ V), al.tanh(b @ W), s + TABLE[:places][2 * i] * b[0, 0])
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b, 0.0), parallel_iterations=window)


def until(a, b, n, window=10):
    """A condition that waits for a product."""
    body = lambda i, a, b: (i + 1, al.tanh(a @ V), al.tanh(b @ W))
    return al.while_loop(lambda i, a, b: (i < n) & (al.sum(a * a) > 1e-3), body, (0, a, b), parallel_iterations=window)


PROGRAMS = [by_branch, with_places, until, chains, layers, with_numbers, captured, taken_turns, in_a_loop]


def flat(results):
    return [np.asarray(t) for t in al.nest.flatten(results)]


@pytest.mark.parametrize("program", [layers, until], ids=lambda p: p.__name__)
def test_on_one_thread_they_are_one_step(program, runs):
    """Nothing runs beside anything there."""
    f = al.function(program, executor="dataflow", autograph=False)
    for _ in range(5):
        wanted = flat(f(A, B, al.constant(7)))
    assert runs
    runs.clear()
    for threads in (1, 2):
        config.set_num_threads(threads)
        for x, y in zip(flat(f(A, B, al.constant(7))), wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
        assert len(runs) == threads - 1


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_they_give_what_others_give(program, runs):
    for window in (1, 10):
        wanted = al.function(lambda a, b, n: program(a, b, n, window), executor="sequential", autograph=False)
        f = al.function(lambda a, b, n: program(a, b, n, window), executor="dataflow", autograph=False)
        runs.clear()
        for k in range(5):
            for n in (al.constant(7), al.constant(0)) if k == 4 else (al.constant(7),):
                for x, y in zip(flat(f(A, B, n)), flat(wanted(A, B, n)), strict=True):
                    assert x.dtype == y.dtype
                    np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
        assert runs and None not in runs, "no run of that kind"


def told(f, *args):
    """What an error says."""
    with pytest.raises(IndexError) as caught:
        f(*args)
    return str(caught.value), caught.value.__notes__


def fails(a, b, n):
    return with_places(a, b, n, places=9)


def fails_in_a_loop(a, b, n):
    body = lambda k, s: (k + 1, s + with_places(a, b, n + k, places=9)[3])
    return al.while_loop(lambda k, s: k < 4, body, (0, 0.0))


@pytest.mark.parametrize(("program", "n"), [(fails, 7), (fails_in_a_loop, 3)])
def test_what_fails_is_told_as_elsewhere(program, n, runs):
    wanted = al.function(program, executor="sequential", autograph=False)
    f = al.function(program, executor="dataflow", autograph=False)
    for _ in range(5):
        f(A, B, al.constant(2 if program is fails else -2))
    runs.clear()
    assert told(f, A, B, al.constant(n)) == told(wanted, A, B, al.constant(n))
    assert None in runs
    for x, y in zip(flat(f(A, B, al.constant(1))), flat(wanted(A, B, al.constant(1))), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def behind_another(a, b, n):
    """A loop one chain of which is given what another loop makes, and the other is not."""
    a = al.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, al.tanh(a @ V)), (0, a))[1]
    return chains(a, b, n)


def behind_a_product(a, b, n):
    """A loop all of which waits for what takes long before it."""
    a = a @ V
    return chains(a, a * 0.5, n)


def two_loops(a, b, n):
    """Loops that do not need each other."""
    return chains(a, b, n), chains(a * 0.5, b * 0.5, n)


@pytest.mark.parametrize(("program", "is_one"), [(behind_another, False), (behind_a_product, True), (two_loops, True)])
def test_a_loop_waits_for_nothing_that_part_of_it_need_not_wait_for(program, is_one, runs):
    f = al.function(program, executor="dataflow", autograph=False)
    for _ in range(5):
        f(A, B, al.constant(3))
    assert any(len(one) > 1 for one in runs) is is_one  # the other loop gives one value


def test_where_floating_errors_are_asked_for_they_run_otherwise(runs):
    f = al.function(chains, executor="dataflow", autograph=False)
    for _ in range(5):
        wanted = flat(f(A, B, al.constant(7)))
    runs.clear()
    with np.errstate(over="raise"):
        found = flat(f(A, B, al.constant(7)))
    assert not runs
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_several_threads_call_them_at_once(runs):
    programs = (chains, with_numbers, in_a_loop)
    functions = [al.function(program, executor="dataflow", autograph=False) for program in programs]
    for _ in range(5):
        wanted = [flat(f(A, B, al.constant(7))) for f in functions]
    runs.clear()
    found = []

    def call():
        found.extend([flat(f(A, B, al.constant(7))) for f in functions])

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 9 and None not in runs
    for results, others in zip(found, wanted * 3):
        for x, y in zip(results, others, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_an_interrupt_ends_them_and_the_next_call_works(runs):
    f = al.function(chains, executor="dataflow", autograph=False)
    for _ in range(5):
        wanted = flat(f(A, B, al.constant(7)))
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f(A, B, al.constant(10**9))
    timer.join()
    for x, y in zip(flat(f(A, B, al.constant(7))), wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_the_end_of_its_time_ends_them_and_the_next_run_works(runs):
    with tf.Graph().as_default() as graph:
        n = tf.placeholder(tf.int32, ())
        made = chains(tf.constant(A), tf.constant(B), n)
    session = tf.Session(graph=graph)
    for _ in range(5):
        wanted = session.run(made, {n: 7})
    runs.clear()
    for x, y in zip(session.run(made, {n: 7}, timeout=60.0), wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    assert runs and None not in runs
    late = []
    while not late or (min(late) > 0.01 and len(late) < 20):  # a busy machine lets threads wait
        begin = time.monotonic()
        with pytest.raises(TimeoutError, match=r"longer than 0\.03 s:\n  'while' is in iteration \d+ \["):
            session.run(made, {n: 10**9}, timeout=0.03)
        late.append(time.monotonic() - begin - 0.03)
    assert min(late) < 0.01 and None in runs
    for x, y in zip(session.run(made, {n: 7}, timeout=60.0), wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("why", [core_workers.TIME, core_workers.CALLS, core_workers.IDLE])
def test_whatever_a_worker_comes_back_for_it_asks_whether_the_run_is_to_end(why):
    """One that comes back to wait, or to call others, may never use up its time."""
    run, asked = object.__new__(core_runs.CoreRun), []
    run._m, run._unwanted, run._seen = np.zeros(64, np.int64), [], None
    run._core = lambda w, what: asked.append(what)
    run._door, run._is_over = threading.RLock(), False
    assert run._heed(0, why) == why and not asked
    run._unwanted.append(True)
    assert run._heed(0, why) == why and asked == [core_workers.STOP]
