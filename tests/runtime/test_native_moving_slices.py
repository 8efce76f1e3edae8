"""Machine code: slices whose extent the run decides, read, computed with, written to, and where they do not fit."""

from __future__ import annotations

import itertools
import traceback

import autoloop as al
import numpy as np
import pytest
from api import NativeRefusal, decided_calls, native_call
from each_case import each

pytest.importorskip("llvmlite")

ENDS = (-9, -7, -6, -3, -1, 0, 1, 2, 5, 6, 7, 9)


def given():
    """Arrays of 7, 7, 6 and 5 times 6 numbers, and integers within the bounds of the first."""
    rng = np.random.default_rng(3)
    return [rng.random(7), rng.random(7), rng.random(6), rng.random((5, 6)), rng.integers(-7, 7, 6)]


def reads(x, y, z, a, j, k, m):
    return (
        np.sum(x[k:m]), np.sum(x[m:k:-1]), np.sum(x[k::-1] * 2.0), np.sum(x[:k:2]), np.sum(x[k:m:3] > 0.5),
        np.sum(x[k:][:m]), np.sum(x[::-1][k:]), np.sum(a[:, k:m]), np.sum(a[k:, m % 6]),
        x[k:m] @ y[k:m], np.dot(np.flip(x[:k]), y[:k]), np.any(x[k:m] > 0.9), np.prod(y[m:]), np.sum(x[j[k:m]]),
        np.sum(a[:, :k] @ z[:k]), np.sum(z[2:] [:1] * a[k:m, 1]), np.sum(a[:k, m:] @ a.T[m:, k:]), np.sum(a[k:] @ z),
        np.sum(z[:5][:k] @ a[:k]), np.sum(np.where(x[k:m] > y[k:m], np.sqrt(x[k:m]), y[k:m] - x[k % 7] ** 2)),
        np.sum(np.max(a[:, k:m], axis=0)), np.sum(np.sum(a[k:m], axis=1)), np.sum(np.sum(a[k:m, m:], axis=0)),
        np.sum(x[k:m].astype(np.int32) + j[0]), np.max(np.abs(x[k:m])) if 0 <= k < min(m, 7) else 0.0,
        len(x[k:m]) + 2 * a[k:, :m].size + 30 * a[k:m, 1:].shape[0] + 300 * a[1:, k:m].shape[-1],
        np.vdot(x[k:m], y[k:m]),
        np.sum(np.outer(x[k:m], y[:k])), np.sum(np.expand_dims(a[k:m], 1) * a[:, None, :3][k:m, :, :1]),
        np.sum(a[k:m, ::-1].reshape(1, -1, 1, 6) * z), np.std(x[:k]) if 0 < k < 7 else 0.0,
    )  # fmt: skip


def writes(x, y, z, a, j, k, m):
    x[k:m] = 1.5 * y[k:m]
    x[:k] += 2.0
    x[m::-1] *= y[m::-1]
    x[k:m] = np.flip(x[k:m]).copy()
    x[1:][k:m] = x[:-1][k:m].copy()
    y[k:m:2] = y[k:m:2] - x[0]
    a[:k, m:] -= a[:k, m:] * 0.5
    a[1, k:m] = z[k:m]
    a[k:m] *= z
    z[:k] = a[2, :k] + a[:, :k].T @ y[:5]
    part = z[k:m].copy()
    z[k:m] = 0.0
    y[0] += np.sum(part)
    y[j[k:m]] = 4.0
    return x[0]


def triangular(x, y, z, a, j, k, m):
    total = 0.0
    for i in range(k, m):
        for n in range(i):
            a[i % 5, n] -= a[i % 5, :n] @ a[:5, n][:n] if n <= 5 else 0.25
        if i > 2:
            x[:i] = x[:i] + y[:i]
            total += np.sum(x[:i])
        else:
            total -= np.sum(x[:i])
        total += np.sum(x[:i] * x[:i][::-1])
    return total


def same(function, k, m, decorated):
    """A decorated function does what the plain one does, to its arguments too."""
    ours, plain = given(), given()
    want = function(*plain, np.int64(k), np.int64(m))
    got = decorated(*ours, np.int64(k), np.int64(m))
    for g, w in [*zip(np.atleast_1d(got), np.atleast_1d(want)), *zip(ours, plain)]:
        assert np.asarray(g).dtype == np.asarray(w).dtype
        np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-13, err_msg=f"k = {k}, m = {m}")


@each([reads, writes])
def test_slices_are_cut_as_numpy_cuts_them(function):
    decorated = al.function(function, executor="native")
    for k in ENDS:
        for m in ENDS:
            same(function, k, m, decorated)


LINES = [
    lambda x, y, k, m: np.vdot(x[k:], y[m:]),
    lambda x, y, k, m: np.vdot(x, y[m:]),
    lambda x, y, k, m: np.vdot(x[k:], y),
    lambda x, y, k, m: x[k:][::-2].reshape(len(y[m:])) + 1,
    lambda x, y, k, m: x[k::2].reshape(1) + y,
    lambda x, y, k, m: x[k:].reshape(m) + 1,
    lambda x, y, k, m: (x + 1).reshape(m) * 2,
]


@each(LINES)
def test_lines_have_as_many_elements_as_they_are_asked_for(function):
    x, y = np.arange(7.0), np.arange(7.0) + 3
    graph = al.function(function).trace_for(x, y, np.int64(1), np.int64(1)).graph
    decorated = al.function(function, executor="native")
    assert not isinstance(native_call._made(graph, [(7,), (7,), (), ()]), decided_calls.Decided)
    for k, m in itertools.product((0, 1, 6, 7), (-2, -1, 0, 1, 6, 7)):
        try:
            want = function(x, y, k, m)
        except ValueError as error:
            with pytest.raises(ValueError, match="reshape|one unknown") as found:
                decorated(x, y, np.int64(k), np.int64(m))
            assert str(found.value) == str(error)
        else:
            np.testing.assert_allclose(decorated(x, y, np.int64(k), np.int64(m)), want, rtol=1e-12)


def test_slices_in_loops_and_branches():
    decorated = al.function(triangular, executor="native")
    for k in range(8):
        for m in range(8):
            same(triangular, k, m, decorated)


@each([np.float64, np.float32])
def test_long_sums_are_as_precise_as_of_known_extent(dtype):
    x = np.random.default_rng(0).random(10_000).astype(dtype)
    total = al.function(lambda x, k: (np.sum(x[:k]), x[:k] @ x[:k]), executor="native")
    for k in (0, 1, 2047, 2048, 2049, 9_999, 10_000, 20_000):
        part = x[:k].astype(np.float64)
        np.testing.assert_allclose(total(x, np.int64(k)), (part.sum(), part @ part), rtol=16 * np.finfo(dtype).eps)


def products(a, k, m):
    return a[:k, :m] @ a[:m, k:], a[:k, m:] @ a[m:, 0], a[1, k:] @ a[k:, :m], a.T[:k] @ a[0], a[:, k:] @ a.T[m:, k:].T


def weighed(a, k, m):
    return [np.sum(np.cos(part)) for part in products(a, k, m)]


@each([30, 500])
def test_products_of_matrices(size):
    """Large ones are those of BLAS, to which 500 rows are many."""
    a = np.random.default_rng(1).random((size, size))
    decorated = al.function(weighed, executor="native")
    for k, m in [(0, 5), (5, 0), (1, 1), (1, 7), (size - 1, size), (20, 28), (size, 3)]:
        np.testing.assert_allclose(decorated(a, np.int64(k), np.int64(m)), weighed(a, k, m), rtol=1e-9, atol=1e-9)


def extremes(x, k):
    return (
        np.max(x[:k]),
        np.min(x[k - 1 :: -1]),
        np.max(x[:, None][:k], axis=0)[0],
        np.mean(x[:k]),
        np.argmax(x[:k]),
        x[39 - k :].argmin(),
    )


@each([np.float64, np.float32, np.float16, np.int32])
def test_extremes_and_means(dtype):
    x = (np.random.default_rng(1).random(40) * 100 - 50).astype(dtype)
    x[[7, 20]] = 0.0, -0.0
    decorated = al.function(extremes, executor="native")
    for k in (1, 2, 8, 9, 17, 39, 40):
        for g, w in zip(decorated(x, np.int64(k)), extremes(x, k)):
            np.testing.assert_allclose(g, w, rtol=0, atol=200 * np.finfo(w.dtype).eps if w.dtype.kind == "f" else 0)
            assert g.dtype == w.dtype
    if x.dtype.kind == "f":
        for at, k in [(3, 5), (12, 30)]:
            x[at] = np.nan
            got = decorated(x, np.int64(k))
            assert np.isnan(got[:4]).all() and got[4:] == extremes(x, k)[4:]


def test_the_sum_of_nothing_is_positive():
    x = -np.zeros(3)
    total = al.function(lambda x, k: (np.sum(x[k:]), np.sum(x[:, None][k:], axis=0)[0]), executor="native")
    for k in (1, 3):
        got, want = total(x, np.int64(k)), (np.sum(x[k:]), np.sum(x[:, None][k:], axis=0)[0])
        assert list(map(np.signbit, got)) == list(map(np.signbit, want))


@each([
    (lambda x, y, z, a, j, k, m: np.sum(x[:k] + y[:m]), 3, 4),
    (lambda x, y, z, a, j, k, m: np.sum(x[:k] * z), 3, 0),
    (lambda x, y, z, a, j, k, m: x[k:] @ y[m:], 1, 2),
    (lambda x, y, z, a, j, k, m: np.sum(a[:, :k] @ z), 1, 0),
    (lambda x, y, z, a, j, k, m: np.max(x[k:m]), 4, 4),
    (lambda x, y, z, a, j, k, m: np.argmin(x[k:m]), 3, 3),
    (lambda x, y, z, a, j, k, m: x[k:][m], 4, 3),
    (lambda x, y, z, a, j, k, m: x[k:][0], 7, 0),
    (lambda x, y, z, a, j, k, m: np.sum(x[:5][j[k:m] * 2]), 0, 6),
    (lambda x, y, z, a, j, k, m: np.sum(a[m, :k]), 2, 5),
])  # fmt: skip
def test_what_does_not_fit_fails_as_in_numpy(function, k, m):
    decorated = al.function(function, executor="native")
    with pytest.raises((ValueError, IndexError)) as plain:
        function(*given(), k, m)
    with pytest.raises(type(plain.value)) as ours:
        decorated(*given(), np.int64(k), np.int64(m))
    assert str(ours.value).splitlines()[0] == str(plain.value)
    assert function.__code__.co_firstlineno in [f.lineno for f in traceback.extract_tb(ours.value.__traceback__)]


def test_what_never_fits_fails_once_it_is_come_to():
    def widened(x, y, k):
        if k > 3:
            x[k : k + 1] *= y
        return x[0]

    def moved(x, y, k):
        if k > 3:
            x[k : k + 3] = x[:5]
        return x[0]

    for function in (widened, moved):
        decorated, x = al.function(function, executor="native"), np.arange(9.0)
        assert decorated(x, x[:5].copy(), np.int64(3)) == 0.0
        with pytest.raises(ValueError, match="broadcast"):
            decorated(x, x[:5].copy(), np.int64(4))
        assert np.array_equal(x, np.arange(9.0))


def written_to(x, y, z, a, j, k, m):
    x[:k] = y[:m]
    return x[0]


def test_what_is_assigned_must_fit_before_anything_is_written():
    decorated, ours = al.function(written_to, executor="native"), given()
    with pytest.raises(ValueError, match=r"could not broadcast input array from shape \(5,\) into shape \(4,\)"):
        decorated(*ours, np.int64(4), np.int64(5))
    assert np.array_equal(ours[0], given()[0])
    with pytest.raises(NativeRefusal, match="broadcast, for it is 1"):
        decorated(*ours, np.int64(4), np.int64(1))
    same(written_to, 4, 4, decorated)


def in_a_branch(x, k):
    k = k[0]
    if k > 3:
        x = x[:k]
    else:
        x = x[1:]
    return np.sum(x)


@each([
    lambda x, k: np.sum(x[::k[0]]),
    lambda x, k: np.roll(x[:k[0]], 1)[0],
    lambda x, k: np.sum(np.ravel(x[:4].reshape(2, 2)[:k[0]])),
    in_a_branch,
])  # fmt: skip
def test_what_others_would_take_for_an_extent_that_is_known_is_refused(function):
    with pytest.raises(NativeRefusal, match="depends on values|have the shapes"):
        al.function(function, executor="native")(np.ones(5), np.array([2]))


def of_equal_elements(v, k, m):
    ones, rows = np.ones(5), np.full((4, 3), v)
    return (
        np.sum(ones[:k]), ones[k:m].size, np.sum(rows[k:m]), np.sum(rows[m:, 1]), np.sum(np.expand_dims(v, 0)[k:]),
        np.sum((rows * 1.5)[k:m, ::-1]), len(np.zeros(7)[::2][k:m]),
    )  # fmt: skip


def test_slices_of_equal_elements_are_cut_as_others_are():
    machine = al.function(of_equal_elements, executor="native")
    for k in (-6, -1, 0, 1, 2, 5):
        for m in (-2, 0, 1, 3, 6):
            given = np.float64(2.5), np.int64(k), np.int64(m)
            assert machine(*given) == of_equal_elements(*given)
    cut_short = al.function(lambda n: np.expand_dims(n, 0)[n : n + 1], executor="native")
    assert cut_short(np.int64(0)).tolist() == [0]
    with pytest.raises(NativeRefusal, match="a slice is cut short where the array ends"):
        cut_short(np.int64(1))


def assigned(a, m, n):
    for i in range(n):
        a[i : i + 4] = i
        a[2 * i - 3 : 2 * i + 2 : 2] = 1.5 * i
        m[i : i + 3, i % 5] = 7
        m.T[i : i + 2] = a[0]
    a[n : n + 4] = 2
    m[-n : -n + 3, 1:4] = a[:3]


def test_what_is_assigned_to_slices_that_the_end_of_an_array_cuts_short():
    machine = al.function(assigned, executor="native")
    for n in (0, 1, 3, 4, 9, 12, 15):
        plain, ours = ([np.arange(12.0), np.arange(36.0).reshape(6, 6)] for _ in range(2))
        for _ in range(2):
            assigned(*plain, n)
            machine(*ours, np.int64(n))
        for one, other in zip(ours, plain, strict=True):
            np.testing.assert_array_equal(one, other)


def test_more_values_than_a_slice_that_is_cut_short_has_are_an_error():
    def f(a, n):
        for i in range(n):
            a[i : i + 3] = np.array([1.0, 2.0, 3.0])

    machine, ours, plain = al.function(f, executor="native"), np.zeros(5), np.zeros(5)
    machine(ours, np.int64(3))
    f(plain, 3)
    np.testing.assert_array_equal(ours, plain)
    with pytest.raises(ValueError, match=r"from shape \(3,\) into shape \(2,\)"):
        machine(ours, np.int64(4))
