"""Machine code for shapes that numbers of the call decide: made for each of them, the values those of plain NumPy."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import NativeRefusal, decided_calls, native_call, prepare
from each_case import each
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

pytest.importorskip("llvmlite")


def made(x, n):
    return np.zeros(n + 1), np.arange(n) * 2.0, np.ones((n, 2)), np.full(n, x[0]), np.empty((2, n)).shape, np.eye(n)


def parts(x, n):
    m = n // 2 + 1
    return np.repeat(x, n), np.tile(x, n), np.roll(x, n), np.linspace(0, 1, n), np.zeros(m)[:n], np.pad(x, n)


def filled_in_a_loop(x, n):
    steps = int(np.ceil(n / 0.3)) + 1
    track = np.zeros(steps)
    for i in range(steps - 1):
        track[i + 1] = track[i] + x[i % 3]
        x[i % 3] = track.max() / 2
    return track


def inside_a_loop(x, n):
    total = np.zeros(n)
    for i in range(3):
        fresh = np.ones(n) * i
        total += fresh[::-1] + np.arange(n)
    return total, [x * k for k in range(n)]


def of_a_counter(x, n):
    total, i = 0.0, 0
    for i in range(n):
        fresh = np.zeros(i + 1)
        fresh[i] = x[i % 3]
        total += fresh.sum() + np.arange(i - 2).sum() + np.ones((i, 2)).sum()
    while total < 30:
        i = (i + 3) % 5
        total += np.concatenate([np.ones(i), np.zeros(5 - i), x]).sum()
    return total


def same(found, wants):
    if isinstance(wants, list | tuple):
        return len(found) == len(wants) and all(map(same, found, wants))
    form = [(type(one), np.shape(one), np.asarray(one).dtype) for one in (found, wants)]
    return form[0] == form[1] and np.array_equal(found, wants)


@each([made, parts, filled_in_a_loop, inside_a_loop, of_a_counter])
def test_as_plain_numpy(f):
    decorated = al.function(f, executor="native")
    for n in (3, 0, 1, 7, 3):
        ours, plain = np.arange(3.0), np.arange(3.0)
        assert same(decorated(ours, np.int64(n)), f(plain, np.int64(n))) and np.array_equal(ours, plain), n


@drawn(sizes=st.lists(st.integers(0, 4), min_size=1, max_size=4), dtype=st.sampled_from(["i4", "u1", "i8"]))
@settings(max_examples=4, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_any_sizes_after_each_other(sizes, dtype):
    def f(x, n):
        y = np.zeros(n * 2)
        y[n:] = x[0]
        return y, np.arange(n + 1).sum()

    decorated = al.function(f, executor="native")
    for n in sizes:
        n = np.dtype(dtype).type(n)
        assert same(decorated(np.ones(2), n), f(np.ones(2), n))


def test_code_is_made_once_for_each_and_not_kept_for_ever(monkeypatch):
    calls = []
    make = native_call.make
    monkeypatch.setattr(native_call, "make", lambda *given: (calls.append(given), make(*given))[1])
    monkeypatch.setattr(decided_calls, "MOST_SIZES", 2)
    decorated = al.function(lambda n: np.zeros(n), executor="native")
    for n in (3, 4, 3, 4, 4):
        assert len(decorated(np.int64(n))) == n
    before = len(calls)
    assert len(decorated(np.int64(5))) == 5 and len(decorated(np.int64(4))) == 4 and len(calls) == before + 1
    assert len(decorated(np.int64(3))) == 3 and len(calls) == before + 2


@each([
    (lambda x, n: np.zeros(int(x.sum()) + n), "depends on values"),
    (lambda x, n: (al.print(n), np.zeros(n - 9)), "cannot be negative"),
    (lambda x, n: np.ones(int(x[0])), "not known how large"),
])  # fmt: skip
def test_what_stays_refused(f, words):
    with pytest.raises(NativeRefusal, match=words):
        al.function(f, executor="native")(np.ones(3), np.int64(3))


@each([
    lambda x, n: np.zeros(n - 9),
    lambda x, n: x + np.ones((n, n - 4)),
    lambda x, n: np.arange(5) + np.zeros(n - n // 2 - 8).sum(),
])  # fmt: skip
def test_what_fails_for_a_size_fails_as_in_numpy(f):
    decorated = al.function(f, executor="native")
    for n in (3, 2):
        with pytest.raises(ValueError, match="negative") as found:
            decorated(np.ones(3), np.int64(n))
        assert not isinstance(found.value, NativeRefusal) and "test_native_decided" in "".join(found.value.__notes__)


def doubled(a, b):
    size = b
    while size < a:
        size *= 2
    return np.ones(size)


def test_what_no_number_would_help_is_refused_before_it_is_called():
    concrete = al.function(doubled).get_concrete_function(al.constant(3, al.int64), al.constant(2, al.int64))
    with pytest.raises(NativeRefusal, match="not known how large"):
        prepare(concrete.runner.graph, "native")


def extremes_of_some(x, n):
    a = np.zeros((n, n)).reshape(-1)[::2].reshape(-1, 1)
    return (a.max(), a.argmax(), a.max(axis=0)[0], a.argmin(axis=0)[0]) if n > 0 else (x[0], 1, x[1], 2)


def test_extremes_of_nothing_are_an_error_only_where_they_are_come_to():
    decorated = al.function(extremes_of_some, executor="native")
    for n in (3, 0):
        assert decorated(np.ones(3), np.int64(n)) == extremes_of_some(np.ones(3), n)
    for f in (np.max, np.min, np.argmax, np.argmin):
        for shape, axis in (((0, 3), 0), ((0, 0), 1), ((2, 0), None)):
            with pytest.raises(ValueError, match="zero-size|empty") as found:
                al.function(lambda x: f(x, axis=axis), executor="native")(np.ones(shape))  # noqa: B023
            assert not isinstance(found.value, NativeRefusal)


def test_ends_that_the_run_decides():
    f = lambda x: (np.linspace(x[0], x[1], 7), np.linspace(0, x.max(), 2), np.linspace(x[1], x[0], 11))  # noqa: E731
    decorated = al.function(f, executor="native")
    for ends in ((0, 1), (1, 1), (-0.0, 0.0), (3, -7.3), (np.inf, 1), (np.nan, 1), (0.1, 0.7), (1e308, -1e308)):
        with np.errstate(all="ignore"):
            for found, want in zip(decorated(np.array(ends, float)), f(np.array(ends, float))):
                np.testing.assert_array_equal(found, want)
    with pytest.raises(NativeRefusal, match="too close"):
        decorated(np.array([0, 5e-324]))
