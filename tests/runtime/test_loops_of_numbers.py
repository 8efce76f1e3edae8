"""Loops over numbers that the scheduler runs as one, once they are machine code: nothing but time shows it."""

from __future__ import annotations

import threading
import time
from _thread import interrupt_main

import autoloop as al
import numpy as np
import pytest
from api import Kind, Unwanted, loop_code
from executors import needs_native
from test_machine_kernels import at_once as at_once

pytestmark = needs_native

X = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int64)


def loops_of(f, *args):
    """The loops of a function that are machine code, after a few calls."""
    for _ in range(3):
        f(*args)
    nodes = f.get_concrete_function(*args).runner.run.__self__.plan.nodes
    runs = [node.value._run for node in nodes if node.kind is Kind.WHOLE]
    values = [value for run in runs if run is not None for value in run.__globals__.values()]
    return [value for value in values if isinstance(value, loop_code.Advance)]


def counter(n):
    i = al.constant(0)
    while i < n:
        i += 1
    return i


def scalars(n, x):
    total, up, flag = x, x * 0, n > 3
    while n > 0:
        if n % 3 == 0:
            total = total * 0.5 + x
        else:
            up = up - x
        n -= 1
        flag = not flag
    return total, up, flag, n


def nested(n, m, x):
    total = x * 0
    for i in range(n):
        j = al.constant(0)
        while j < m:
            total += x * i
            j += 1
        total -= j
    return total


def looked_up(x, n):
    i, found = 0, 0
    while i < n:
        found = found * 3 + x[i % 8]
        i += 1
    return found, i


def wrapping(x, n):
    while n > 0:
        x = x * np.int32(48271) + np.int32(1)
        n -= 1
    return x


def functions(x, n):
    while n > 0:
        x = np.sin(x) + np.exp(-x * x)
        n -= 1
    return x


def swapped(a, b, n):
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a, b


CASES = {
    "counter": (counter, [np.int32(20)]),
    "scalars, float32": (scalars, [np.int32(25), np.float32(0.7)]),
    "scalars, complex": (scalars, [np.int64(25), np.complex128(0.7 + 1j)]),
    "nested": (nested, [np.int32(6), np.int32(9), np.float64(1.5)]),
    "an array that is looked into": (looked_up, [X, np.int64(23)]),
    "integers that wrap": (wrapping, [np.int32(7), np.int32(40)]),
    "functions": (functions, [np.float64(0.3), np.int32(12)]),
    "variables that change places": (swapped, [np.int64(1), np.int64(2), np.int32(11)]),
}


@pytest.mark.parametrize("most", [7, *[pytest.param(n, marks=pytest.mark.nightly) for n in (1, 10_000)]])
@pytest.mark.parametrize("name", CASES)
def test_they_give_what_they_gave(name, most, at_once, monkeypatch):
    """Also where they come back in the midst of it, and after the last iteration."""
    monkeypatch.setattr(loop_code, "at_a_time", lambda _: most)
    program, args = CASES[name]
    f = al.function(program, executor="dataflow")
    want = f(*args)
    assert len(loops_of(f, *args)) == 1
    for _ in range(2):
        found = f(*args)
        al.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), found, want)
        al.nest.map_structure(lambda a, b: np.testing.assert_equal(type(a), type(b)), found, want)


def growing(x, n):
    while n > 0:
        x = np.concatenate([x, x[:1]])
        n -= 1
    return x


def printing(n):
    while n > 0:
        print(n)
        n -= 1


def short(x):
    i = al.constant(0)
    while i < 3:
        x = x * x
        i += 1
    return x


@pytest.mark.parametrize(
    ("program", "args"), [(growing, [X, np.int32(3)]), (printing, [np.int32(2)]), (short, [np.float32(2)])]
)
def test_others_are_as_they_were(program, args, at_once):
    f = al.function(program, executor="dataflow")
    for _ in range(3):
        np.testing.assert_array_equal(f(*args), program(*args))
    assert not loops_of(f, *args)


def test_a_failure_is_told_as_ever(at_once, monkeypatch):
    """With the line, and the iteration as counted from the beginning."""
    monkeypatch.setattr(loop_code, "at_a_time", lambda _: 3)

    def program(x, n):
        i, total = al.constant(0), x[0] * 0
        while i < n:
            total += al.gather(x, i)
            i += 1
        return total

    f, told = al.function(program, executor="dataflow"), []
    for _ in range(3):
        assert f(X, np.int32(8)) == X.sum()
        with pytest.raises(IndexError) as failed:
            f(X, np.int32(20))
        told.append([str(failed.value), *failed.value.__notes__])
    assert loops_of(f, X, np.int32(8))
    assert told[0] == told[1] == told[2] and "iteration 8 of the loop" in " ".join(told[0])


def test_who_waits_for_an_endless_one_can_stop(at_once):
    def program(n):
        i = al.constant(0)
        while i < n:
            i = (i + 1) % 1000
        return i

    f = al.function(program, executor="dataflow")
    for _ in range(2):
        f(np.int32(900))
    assert loops_of(f, np.int32(900))
    timer = threading.Timer(0.1, interrupt_main)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        f(np.int32(2000))
    timer.join()
    assert time.monotonic() - begin < 10
    assert f(np.int32(900)) == 900


def test_one_that_nobody_waits_for_ends():
    """Another kernel has failed meanwhile, say."""
    advance = loop_code.Advance(1, lambda most, x: (most, x), 1, 1)
    with pytest.raises(Unwanted):
        advance((advance.most, 1), [True], None, 1)
    calls = iter([None, (np.int64(2), 5)])
    other = loop_code.Advance(1, lambda most, x: next(calls), 1, 1)
    assert other(None, [], None, np.array(3)) == (0, 3), "it cannot do it: nothing is done"
    assert other(None, [], None, np.array(3)) == (2, 5)
