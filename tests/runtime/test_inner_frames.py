"""Loops in a loop whose tokens are moved in native memory, all in one run, beside what others give."""

from __future__ import annotations

import signal
import threading
import time

import autoloop as al
import autoloop.compat.v1 as tf
import numpy as np
import pytest
from executors import needs_native
from test_machine_kernels import at_once as at_once
from test_overlapped_loops import A, B, N, V, W, chains, flat
from test_overlapped_loops import runs as runs

pytestmark = needs_native


def solved(x, w, n, c=0.0):
    """A chain of heavy kernels."""
    return al.while_loop(lambda j, _: j < n, lambda j, x: (j + 1, al.tanh(x @ w + c)), (0, x))[1]


def side_by_side(a, b, n):
    """Two loops in a loop, one of which takes what does not change in it, and one more in a branch taken once."""

    def body(i, a, b):
        s = b[0, 0]
        a = al.cond(al.equal(i, 1), lambda: solved(a, V, n - 1), lambda: a * 0.5)
        return i + 1, solved(a, V, n), solved(b, W, n, s)

    return al.while_loop(lambda i, *_: i < 4, body, (0, a, b))


def three_deep(a, b, n):
    body = lambda i, a, b: (i + 1, *al.while_loop(lambda k, *_: k < 2, lambda k, a, b: middle(k, a, b), (0, a, b))[1:])
    middle = lambda k, a, b: (k + 1, *chains(a, b, n)[1:])
    return al.while_loop(lambda i, *_: i < 2, body, (0, a, b))


def made(program):
    """A function that has run so often that its tokens are moved so."""
    f = al.function(program, executor="dataflow", autograph=False)
    for _ in range(5):
        f(A, B, al.constant(3))
    return f


@pytest.mark.parametrize("program", [side_by_side, pytest.param(three_deep, marks=pytest.mark.nightly)])
def test_they_are_one_run_and_give_what_others_give(program, runs):
    f, wanted = made(program), al.function(program, executor="sequential", autograph=False)
    for n in (3, 0, 12):
        runs.clear()
        found = flat(f(A, B, al.constant(n)))
        assert len(runs) == 1 and None not in runs
        for x, y in zip(found, flat(wanted(A, B, al.constant(n))), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_a_trace_tells_in_which_iterations_kernels_run(runs):
    f = made(side_by_side)
    runs.clear()
    with al.profiler.trace() as recorder:
        f(A, B, al.constant(3))
    assert len(runs) == 1
    tanhs = [one for one in recorder.slices if one[1] == "tanh"]
    seen = {tuple([number for _, number in one[5]]) for one in tanhs}
    assert len(tanhs) == 2 * 4 * 3 + 2 and seen == {(j, i) for i in range(4) for j in range(3)}


def told(log, at=None):
    """Loops in a loop, one of which tells each iteration, and may fail at one."""

    def tell(i, j, b):
        log.append((int(i), int(j)))
        if (i, j) == at:
            raise ZeroDivisionError("of ours")
        return [b]

    def program(a, b, n):
        def body(i, a, b):
            def inner(j, b):
                (known,) = al.py_function(tell, [i, j, b], [al.float32])
                return j + 1, al.tanh(al.reshape(known, (N, N)) @ W)

            return i + 1, solved(a, V, n), al.while_loop(lambda j, _: j < n, inner, (0, b))[1]

        return al.while_loop(lambda i, *_: i < 4, body, (0, a, b))

    return program


def test_what_fails_is_told_as_elsewhere_and_nothing_is_done_twice(runs):
    log = []
    f = made(told(log, at=(2, 4)))
    log.clear()
    runs.clear()
    with pytest.raises(ZeroDivisionError) as found:
        f(A, B, al.constant(7))
    assert runs == [None]
    assert log == [*[(i, j) for i in range(2) for j in range(7)], *[(2, j) for j in range(5)]]
    with pytest.raises(ZeroDivisionError) as wanted:
        al.function(told([], at=(2, 4)), executor="sequential", autograph=False)(A, B, al.constant(7))
    of = lambda error: [one.split(" of ")[0] for one in error.value.__notes__]
    assert found.value.args == wanted.value.args and of(found) == of(wanted)
    log.clear()
    f(A, B, al.constant(3))
    assert log == [(i, j) for i in range(4) for j in range(3)] and None in runs and runs[-1] is not None


TABLE = np.ones(4, np.float32)


def opened_by_nothing_else(a, b, n):
    """A loop in a loop that needs nothing of the iteration around it but that there is one."""
    s = np.float32(0)
    for i in range(n):
        s = s + TABLE[i]
        c = b
        for _ in range(n):
            c = np.tanh(a @ V) * 0.5 + a
        a = np.tanh(a @ V)
        b = np.tanh(b @ W + a)
    return a, b, c, s


def test_python_goes_on_where_a_loop_is_opened_by_nothing_else(runs):
    f = al.function(opened_by_nothing_else, executor="dataflow")
    for _ in range(5):
        f(A, B, np.int64(3))
    runs.clear()
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        f(A, B, np.int64(6))
    assert runs == [None]


def test_an_interrupt_ends_them_and_the_next_call_works(runs):
    f = made(side_by_side)
    wanted = flat(f(A, B, al.constant(3)))
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f(A, B, al.constant(10**9))
    timer.join()
    for x, y in zip(flat(f(A, B, al.constant(3))), wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def with_steps(a, b, n):
    """A loop in a loop in which a function is called that a program has, and one more that is called as a whole."""
    tell, numbers = (lambda b: [b * 0.5]), (lambda j, s: (j + 1, s * 0.5 + 1.0))

    def body(i, a, b):
        (known,) = al.py_function(tell, [b], [al.float32])
        s = al.while_loop(lambda j, _: j < n, numbers, (0, b[0, 0]))[1]
        return i + 1, solved(a, V, n, s), solved(al.reshape(known, (N, N)), W, n)

    return al.while_loop(lambda i, *_: i < n, body, (0, a, b))


@pytest.mark.nightly
@pytest.mark.parametrize("program", [side_by_side, with_steps])
def test_where_the_time_is_over_is_told_of_each_loop_and_soon(program, runs):
    with tf.Graph().as_default() as graph:
        n = tf.placeholder(tf.int32, ())
        found = program(tf.constant(A), tf.constant(B), n)
    session = tf.Session(graph=graph)
    for _ in range(5):
        session.run(found, {n: 3})
    runs.clear()
    late, inner = [], r"(\n  'while/body/.*while(_\d)?' is in iteration \d+)+"
    while not late or (min(late) > 0.01 and len(late) < 20):  # a busy machine lets threads wait
        begin = time.monotonic()
        with pytest.raises(TimeoutError, match=rf"longer than 0\.03 s:\n  'while' is in iteration 0{inner} \["):
            session.run(found, {n: 10**8}, timeout=0.03)
        late.append(time.monotonic() - begin - 0.03)
    assert min(late) < 0.01 and set(runs) == {None}
