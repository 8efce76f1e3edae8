"""Loops whose tokens are moved in native memory and some kernels of which only Python can call, beside NumPy."""

from __future__ import annotations

import contextvars
import itertools
import os
import signal
import sys
import threading

import autoloop as al
import numpy as np
import pytest
from api import (
    CoreRun,
    Executable,
    RunState,
    Watch,
    core_calls,
    core_code,
    core_workers,
    gone_on,
    one_thread,
    token_core,
)
from each_case import each
from executors import needs_native
from test_machine_kernels import at_once as at_once
from test_overlapped_loops import A, B, N, V, W, flat
from test_overlapped_loops import runs as runs
from test_token_core import CALLED, PROGRAMS, lowered_of, register

sys.path.append(os.path.join(os.path.dirname(__file__), "model"))
from core_model import given, tables_of  # noqa: E402

pytestmark = needs_native
WHERE = contextvars.ContextVar("WHERE", default="nowhere")


def loop(body, a, b, n, *rest, window=10):
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b, *rest), parallel_iterations=window)


def sorts(a, b, n, window=10):
    return loop(lambda i, a, b: (i + 1, al.tanh(a @ V), np.sort(al.tanh(b @ W), axis=0)), a, b, n, window=window)


def sorts_light(a, b, n, window=10):
    """Several light ones that are ready at once."""

    def body(i, a, b, *v):
        return i + 1, al.tanh(a @ V), al.tanh(b @ W), *[np.sort(x + b[k, :4]) for k, x in enumerate(v)]

    return loop(body, a, b, n, *[np.arange(4, dtype=np.float32)] * 5, window=window)


def solves(a, b, n, window=10):
    body = lambda i, a, b: (i + 1, al.tanh(a @ V), al.linalg.solve(W + 3 * np.eye(N, dtype=np.float32), b))
    return loop(body, a, b, n, window=window)


def functions(a, b, n, window=10):
    def body(i, a, b, c):
        (made,) = al.py_function(lambda x: [x * 0.5 + 1], [c], [al.float32])
        return i + 1, al.tanh(a @ V), al.tanh(b @ W), al.reshape(made, ())

    return loop(body, a, b, n, np.float32(1), window=window)


def unknown_shapes(a, b, n, window=10):
    """What only Python sees goes round."""

    def body(i, a, b, c):
        (made,) = al.py_function(lambda x: [x[:-1]], [c], [al.float32])
        return i + 1, al.tanh(a @ V), al.tanh(b @ W), made

    start = (0, a, b, np.arange(90, dtype=np.float32))
    options = {"parallel_iterations": window, "shape_invariants": {"c": al.TensorShape(None)}}
    return al.while_loop(lambda i, a, b, c: i < n, body, start, **options)


def by_branch(a, b, n, window=10):
    """A light branch, whose batch has no code, beside them."""

    def body(i, a, b, s):
        return i + 1, al.tanh(a @ V), np.sort(al.tanh(b @ W)), al.cond(i % 2 == 0, lambda: s + 1, lambda: s * 0.5)

    return loop(body, a, b, n, np.float32(1), window=window)


def writes(a, b, n, window=10):
    """An array that is written to."""

    def body(i, a, b, c, s):
        return i + 1, al.tanh(a @ V), al.tanh(b @ W), al.set_item(c, i, s), b[0, 0]

    return loop(body, a, b, n, np.zeros(60_000, np.float32), np.float32(0), window=window)


def large(a, b, n, window=10):
    """A product that is BLAS's."""
    wide = np.full((N, 520), 0.01, np.float32)
    return loop(lambda i, a, b: (i + 1, al.tanh((a @ wide) @ (wide.T @ V)), al.tanh(b @ W)), a, b, n, window=window)


@pytest.mark.parametrize(
    "program",
    [sorts, sorts_light, solves, functions, unknown_shapes, by_branch, writes, large],
    ids=lambda p: p.__name__,
)
def test_they_give_what_others_give(program, runs):
    for window in (1, 10):
        wanted = al.function(lambda a, b, n: program(a, b, n, window), executor="sequential", autograph=False)
        f = al.function(lambda a, b, n: program(a, b, n, window), executor="dataflow", autograph=False)
        runs.clear()
        for k in range(5):
            for n in (7, 0) if k == 4 else (7,):
                for x, y in zip(flat(f(A, B, al.constant(n))), flat(wanted(A, B, al.constant(n))), strict=True):
                    assert x.dtype == y.dtype and x.shape == y.shape
                    np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
        assert runs and None not in runs, "no run of that kind"


def made(program, *calls):
    """A function that runs so."""
    f = al.function(program, executor="dataflow", autograph=False)
    for _ in range(4):
        f(A, B, al.constant(3))
    return f


def noted(log, at=None):
    """A loop that tells each iteration, and may fail at one."""

    def tell(i, b):
        log.append((int(i), threading.current_thread().name, WHERE.get()))
        if i == at:
            raise ZeroDivisionError("of ours")
        return [b]

    def program(a, b, n):
        def body(i, a, b):
            (told,) = al.py_function(tell, [i, b], [al.float32])
            return i + 1, al.tanh(a @ V), al.tanh(al.reshape(told, (N, N)) @ W)

        return loop(body, a, b, n)

    return program


def test_effects_come_once_and_in_order(runs):
    log = []
    f = made(noted(log))
    log.clear()
    runs.clear()
    WHERE.set("here")
    f(A, B, al.constant(30))
    assert [i for i, *_ in log] == [*range(30)] and None not in runs
    assert {where for *_, where in log} == {"here"}


def test_what_fails_is_told_as_elsewhere_and_nothing_is_done_twice(runs):
    log = []
    f = made(noted(log, at=20))
    log.clear()
    runs.clear()
    with pytest.raises(ZeroDivisionError) as found:
        f(A, B, al.constant(30))
    assert runs == [None]
    assert [i for i, *_ in log] == [*range(21)]
    with pytest.raises(ZeroDivisionError) as wanted:
        al.function(noted([], at=20), executor="sequential", autograph=False)(A, B, al.constant(30))
    assert [found.value.args, len(found.value.__notes__)] == [wanted.value.args, len(wanted.value.__notes__)]
    assert [one.split(" of ")[0] for one in found.value.__notes__] == [
        one.split(" of ")[0] for one in wanted.value.__notes__
    ]
    assert f(A, B, al.constant(9))[0] == 9


def test_an_interrupt_ends_them_and_the_next_call_works(runs):
    begun = threading.Event()

    def tell(b):
        begun.set()
        return [b]

    def program(a, b, n):
        def body(i, a, b):
            (told,) = al.py_function(tell, [b], [al.float32])
            return i + 1, al.tanh(a @ V), al.tanh(al.reshape(told, (N, N)) @ W)

        return loop(body, a, b, n)

    f = made(program)
    wanted = flat(f(A, B, al.constant(7)))
    begun.clear()

    def interrupt():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        f(A, B, al.constant(10**9))
    thread.join()
    for x, y in zip(flat(f(A, B, al.constant(7))), wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_what_a_function_keeps_stays_as_it_was(runs):
    kept = []

    def keep(b):
        kept.append(b)
        return [b[0]]

    def program(a, b, n):
        def body(i, a, b, s):
            b = al.tanh(b @ W)
            (row,) = al.py_function(keep, [b], [al.float32])
            return i + 1, al.tanh(a @ V), b, s + al.reshape(row, (N,))

        return loop(body, a, b, n, np.zeros(N, np.float32))

    f = made(program)
    kept.clear()
    runs.clear()
    result = f(A, B, al.constant(12))
    assert len(kept) == 12 and None not in runs
    np.testing.assert_allclose(sum([b[0] for b in kept]), np.asarray(result[3]), rtol=1e-4)


def test_an_array_that_nobody_else_sees_is_written_to(runs, monkeypatch):
    copied = []
    in_place = core_calls.in_place

    def noted(kernel, over, offers, takes, args):
        before = [id(one) for one in args]
        found = in_place(kernel, over, offers, takes, args)
        copied.append([id(one) for one in found[1][: len(before)]] != before)
        return found

    monkeypatch.setattr(core_calls, "in_place", noted)
    f = made(writes)
    copied.clear()
    f(A, B, al.constant(12))
    assert copied == [True] + [False] * 11  # the first is the caller's


# -- runs that somebody goes on with --------------------------------------------------------------------------


def gone(lowered, tables, feeds, threads):
    """The results of a run, moved by Python from where it has ended."""
    args = given(lowered, feeds)
    run = CoreRun(tables, core_code.entered(core_workers.core), threads)
    found = run.run(args)
    if found is not None:
        return list(found), False
    assert run.is_left
    return gone_on(run, RunState(), Watch(None, None), one_thread.by_itself_from), True


@each(itertools.product(CALLED, PROGRAMS, (1, 2), (1, 3, 10)), parts=2, one_in=2)
def test_python_goes_on_where_a_kernel_gives_something_else(called, program, threads, window):
    lowered, feeds = lowered_of(program, window)
    wanted = Executable(lowered).run(feeds)
    some = False
    for last in range(1, 40, 7):
        tables = tables_of(lowered, 2, CALLED[called])
        count = itertools.count()
        for one in tables.called.values():
            if one.step.flat.op.name == "twice":
                kernel = one.step.call
                one.step.call = lambda *args, kernel=kernel: (
                    kernel(*args) if next(count) != last else int(kernel(*args))  # which was not said
                )
        found, is_left = gone(lowered, tables, feeds, threads)
        some |= is_left
        assert found == wanted
    assert some or called != "heavy" or program is register  # of what Python alone sees nothing is said


def test_the_first_failure_is_told(runs):
    """Whichever thread fails first."""

    def program(a, b, n):
        def tell(i):
            if i == 5:
                raise ZeroDivisionError("second")
            return [i]

        def body(i, a, b, c, d):
            (one,) = al.py_function(lambda c: [1 / float(c)], [c], [al.float64])
            (two,) = al.py_function(tell, [i], [al.int32])
            b = al.tanh(b @ W)
            c = al.reshape(one, ()) * 0 + 5.0 - al.cast(i, al.float64)
            return i + 1, al.tanh(a @ V), b, c, d + al.reshape(two, ())

        return loop(body, a, b, n, np.float64(1), np.int32(0))

    f = made(program)
    wanted = al.function(program, executor="sequential", autograph=False)
    for _ in range(3):
        told = []
        for one in (f, wanted):
            with pytest.raises(ZeroDivisionError) as caught:
                one(A, B, al.constant(12))
            told.append((str(caught.value), caught.value.__notes__[:1]))
        assert told[0] == told[1]
    assert None in runs


@pytest.mark.parametrize(
    ("first", "second"),
    [(9, 7), *[pytest.param(*those, marks=pytest.mark.nightly) for those in ((7, 9), (8, 8))]],
)
def test_of_failures_that_do_not_need_each_other_the_first_in_the_program_is_told(first, second, runs):
    table = np.ones(first, np.float32)

    def program(a, b, n):
        def body(i, a, b, c):
            regular = al.cast(al.where(i == second, 0, 1), al.float32) * np.eye(N, dtype=np.float32)
            return i + 1, al.tanh(a @ V), al.linalg.solve(regular, b), c + table[i] * a[0, 0]

        return loop(body, a, b, n, np.float32(1))

    f = made(program)
    wanted = al.function(program, executor="sequential", autograph=False)
    runs.clear()
    for _ in range(3):
        told = []
        for one in (f, wanted):
            with pytest.raises((IndexError, np.linalg.LinAlgError)) as caught:
                one(A, B, al.constant(12))
            told.append((type(caught.value), str(caught.value), caught.value.__notes__))
        assert told[0] == told[1]
    assert runs == [None] * 3


def test_words_of_records_are_told():
    """A worker has room for as many as it comes back with."""
    lowered, _ = lowered_of(PROGRAMS[0], 3)
    words = tables_of(lowered, 2, CALLED["all"]).words
    w = words[token_core.AREAS]
    room = words[w + token_core.W_STACK] - words[w + token_core.W_RECORDS]
    assert room == core_workers.MOST * words[w + token_core.W_RECORD]
