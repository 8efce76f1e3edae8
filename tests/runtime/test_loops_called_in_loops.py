"""Loops whose tokens are moved in native memory with loops in them that are one step, beside NumPy."""

from __future__ import annotations

import signal
import threading

import autoloop as al
import numpy as np
import pytest
from api import Kind, overlapped_loops
from executors import needs_native
from test_called_in_loops import loop
from test_machine_kernels import at_once as at_once
from test_overlapped_loops import TABLE, A, B, N, V, W, flat
from test_overlapped_loops import runs as runs

pytestmark = needs_native


@pytest.fixture(autouse=True)
def short_ones(monkeypatch):
    """Loops that take little time, too."""
    monkeypatch.setattr(overlapped_loops, "SHORT", 0.0)


def inner(x, w, count, window=10):
    body = lambda k, x: (k + 1, al.tanh(x @ w))
    return al.while_loop(lambda k, _: k < count, body, (0, x), parallel_iterations=window)[1]


def beside_a_loop(a, b, n, window=10):
    """A loop whose kernels cannot overlap, beside a kernel."""
    return loop(lambda i, a, b: (i + 1, al.tanh(a @ V), inner(b, W, 3)), a, b, n, window=window)


def two_loops(a, b, n, window=10):
    """Of which one goes on for as long as the number of the iteration."""
    return loop(lambda i, a, b: (i + 1, inner(a, V, i), inner(b, W, 2)), a, b, n, window=window)


def two_chains(a, b, n, window=10):
    """A loop whose kernels overlap, beside a kernel."""

    def body(i, a, b, c):
        _, a, b = loop(lambda k, a, b: (k + 1, al.tanh(a @ V), al.tanh(b @ W)), a, b, 2, window=window)
        return i + 1, a, b, al.tanh(c @ V)

    return loop(body, a, b, n, B, window=window)


def three_deep(a, b, n, window=10):
    def body(i, a, b, d):
        _, a, c = two_chains(a, b, 2, window)[:3]
        return i + 1, a, c * 0.5, al.tanh(d @ W)

    return loop(body, a, b, n, B, window=window)


@pytest.mark.parametrize("program", [beside_a_loop, two_loops, two_chains, three_deep], ids=lambda p: p.__name__)
def test_loops_in_them_are_steps(program, runs):
    for window in (1, 10):
        wanted = al.function(lambda a, b, n: program(a, b, n, window), executor="sequential", autograph=False)
        f = al.function(lambda a, b, n: program(a, b, n, window), executor="dataflow", autograph=False)
        for k in range(9):
            for n in (4, 0) if k == 8 else (4,):
                for x, y in zip(flat(f(A, B, al.constant(n))), flat(wanted(A, B, al.constant(n))), strict=True):
                    np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
        plan = f.get_concrete_function(A, B, al.constant(4)).runner.run.__self__.plan
        assert not [node for node in plan.nodes if node.frame and node.kind is not Kind.GONE]
        assert runs and None not in runs


def test_what_fails_in_a_loop_in_them_is_told_as_elsewhere(runs):
    table = np.ones(9, np.float32)
    log = []

    def program(a, b, n):
        def turn(k, x, s):
            return k + 1, al.tanh(x @ W), s + table[k] * x[0, 0]

        def body(i, a, b, s):
            (told,) = al.py_function(lambda i: [log.append(int(i)) or i], [i], [al.int32])
            _, b, s = al.while_loop(lambda k, *_: k < 4 + 2 * i, turn, (0, b, s))
            return i + 1, al.tanh(a @ V) + al.cast(al.reshape(told, ()), al.float32), b, s

        return loop(body, a, b, n, np.float32(1))

    f = al.function(program, executor="dataflow", autograph=False)
    wanted = al.function(program, executor="sequential", autograph=False)
    for _ in range(8):
        f(A, B, al.constant(2))
    runs.clear()
    told = []
    for one in (f, wanted):
        log.clear()
        with pytest.raises(IndexError) as caught:
            one(A, B, al.constant(7))
        told.append((str(caught.value), caught.value.__notes__, log[:4]))
        assert log[:4] == [0, 1, 2, 3]
    assert told[0] == told[1]
    assert None in runs


def test_a_loop_that_stands_behind_a_failure_ends(runs):
    """It would go on for ever."""

    def program(a, b, n, fails):
        def body(i, a, b):
            is_last = fails & (i == 1)
            step = al.where(is_last, 0, 1)
            a = al.tanh(a @ V)
            a = a + TABLE[al.where(is_last, N, 0) + al.cast(a[0, 0] * 0, al.int32)]
            turn = lambda k, x: (k + step, np.sort(al.tanh(x @ W), axis=0))
            return i + 1, a, al.while_loop(lambda k, _: k < 3, turn, (0, b))[1]

        return loop(body, a, b, n)

    f = al.function(program, executor="dataflow", autograph=False)
    for _ in range(8):
        f(A, B, al.constant(2), al.constant(False))
    runs.clear()
    with pytest.raises(IndexError):
        f(A, B, al.constant(2), al.constant(True))
    assert None in runs


def test_an_interrupt_ends_a_loop_in_them(runs):
    turning = threading.Event()

    def program(a, b, n, count):
        def turn(k, x):
            (told,) = al.py_function(lambda k: [turning.set() or k], [k], [al.int32])
            return k + 1 + al.reshape(told, ()) * 0, al.tanh(x @ W)

        body = lambda i, a, b: (i + 1, al.tanh(a @ V), al.while_loop(lambda k, _: k < count, turn, (0, b))[1])
        return loop(body, a, b, n)

    f = al.function(program, executor="dataflow", autograph=False)
    for _ in range(8):
        f(A, B, al.constant(2), al.constant(3))
    turning.clear()

    def interrupt():
        turning.wait()
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        f(A, B, al.constant(2), al.constant(10**9))
    thread.join()
    assert f(A, B, al.constant(2), al.constant(3))[0] == 2
