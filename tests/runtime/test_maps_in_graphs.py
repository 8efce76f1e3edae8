"""Maps, scans and folds over Dask's arrays in decorated functions: by chunks, computed later, what they are outside."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each

da = pytest.importorskip("dask.array")
pytest.importorskip("array_api_compat")
dask = pytest.importorskip("dask")
X = np.random.default_rng(3).random((7, 2)) * 9
W = np.array([2.0, 3.0])


def lazy(value, chunks=(3, 1)):
    return da.from_array(value, chunks=chunks[: value.ndim])


def forbidden(*args, **kwargs):
    raise AssertionError("something was computed")


def check(f, *given, cut=True, chunks=(3, 1)):
    """Compare what ``f``, decorated, gives of NumPy's arrays and of Dask's, the first of ``given``."""
    wants = al.function(f)(*given)
    with dask.config.set(scheduler=forbidden):
        gots = al.function(f)(lazy(given[0], chunks), *given[1:])
    wants, gots = (one if isinstance(one, tuple) else (one,) for one in (wants, gots))
    for want, got, value in zip(wants, gots, dask.compute(*gots, scheduler="threads"), strict=True):
        np.testing.assert_allclose(value, want, rtol=1e-14)
        assert got.dtype == value.dtype == want.dtype
        assert got.shape == want.shape
        if cut:
            assert got.chunks[0] == lazy(given[0], chunks).chunks[0]
    return gots


def halvings(row, by):
    n = 0
    while row.max() > 1.0:
        row = row / by
        n += 1
    return n, row


@each([al.map_fn, al.vectorized_map])
def test_rows_go_by_chunks(transform):
    def f(x, w):
        counts, rows = transform(lambda row: halvings(row, w), x)
        return counts * 2, rows

    for chunks in ((3, 1), ((1, 4, 2), 2)):
        check(f, X, W, chunks=chunks)


def test_dtypes_and_single_rows():
    check(lambda x: al.map_fn(lambda row: halvings(row, np.float32(3))[1], x), X.astype(np.float32), chunks=(1, 2))


def test_what_is_read_besides():
    def f(x, w):
        k = w * 2
        return al.map_fn(lambda row: halvings(row, k)[1] + 1 if row[0] > 3 else row, x)

    (made,) = check(f, X, W)
    got = al.function(f)(lazy(X), lazy(W, (1,)))  # an array of Dask's that is small goes to each chunk
    assert got.chunks[0] == made.chunks[0]
    np.testing.assert_array_equal(got, made)


def test_several_arrays_of_rows():
    def f(x, y):
        found = al.map_fn(lambda p: (halvings(p[0] * p[1], 2.0)[1], p[1] + 1), (x, y))
        return found[0], found[1]

    check(f, X, np.arange(7))
    check(f, X, lazy(np.arange(7)))


def test_rows_that_are_numpys_beside_what_is_dasks():
    def f(w, x):
        return al.map_fn(lambda row: halvings(row, w)[1], x)

    (made,) = check(f, W + 0.5, X, cut=False, chunks=(1,))
    assert made.numblocks == (1, 1)


def test_maps_in_loops_and_in_maps():
    def f(x, w, n):
        s = w
        for _ in range(n):
            rows = al.map_fn(lambda row: halvings(row, s)[1], x)
            s = s + rows.sum(axis=0)
        return s

    check(f, X, W, 4, cut=False)

    def g(x, w):
        return al.map_fn(lambda row: al.map_fn(lambda one: halvings(one * w, 2.0)[1], row), x)

    check(g, X, W)


CHUNKS = ((3, 1), (1, 2), (7, 2), ((1, 4, 2), 2))


@each([{}, {"reverse": True}])
def test_scans(options):
    def f(x):
        return al.scan(lambda state, row: state * 0.5 + row, x, **options)

    def from_a_value(x, start):
        return al.scan(lambda state, row: state * 0.5 + row.sum(), x, start, **options)

    def of_two(x):
        return al.scan(lambda s, row: (s[0] - row, s[1] * row.max()), x, (np.zeros(2), np.float64(1)), **options)

    for chunks in CHUNKS:
        check(f, X, chunks=chunks, cut=False)
        check(from_a_value, X, np.float64(2), chunks=chunks)
        check(of_two, X, chunks=chunks)
    check(f, X[:2], chunks=(1, 2), cut=False)


@each([al.foldl, al.foldr])
def test_folds(transform):
    def f(x):
        return transform(lambda state, row: state * 0.5 - row, x)

    def from_a_value(x, w):
        return transform(lambda state, row: halvings(state * 0.5 - row.sum() * w, 2.0)[1], x, w)

    for chunks in CHUNKS:
        (made,) = check(f, X, chunks=chunks, cut=False)
        assert made.ndim == 1
        check(from_a_value, X, W, chunks=chunks, cut=False)


def test_loops_of_the_users_that_are_folds():
    def f(x, w):
        s = np.zeros(2)
        for row in x:
            s = s * w + row
        return s

    def backwards(x, n):
        s = np.ones(2)
        k = n - 1
        while k >= 0:
            s = s * 0.5 + x[k]
            k -= 1
        return s

    (made,) = check(f, X, W, cut=False)
    assert tasks_of(made) < 22
    np.testing.assert_array_equal(np.asarray(al.function(backwards)(lazy(X), 7)), backwards(X, 7))


def tasks_of(*arrays):
    return len({key for one in arrays for key in dict(one.__dask_graph__())})


def test_tasks_are_as_many_as_chunks():
    rows = da.from_array(np.ones((3000, 2)), chunks=(1000, 2))

    @al.function
    def scanned(x):
        return al.scan(lambda state, row: state + row, x, np.zeros(2))

    @al.function
    def folded(x):
        return al.foldl(lambda state, row: state + row, x)

    assert tasks_of(scanned(rows)) < 24
    assert tasks_of(folded(rows)) < 32
    np.testing.assert_array_equal(scanned(rows)[-1], [3000.0, 3000.0])
    np.testing.assert_array_equal(folded(rows), [3000.0, 3000.0])


def counted_beside(x):
    return al.foldl(lambda s, row: (s[0] + row, s[1] + 1), x, (np.zeros(2), np.int64(0)))


def by_falling_steps(x, w):
    rate, t = 1.0, 0
    for row in x:
        t += 1
        w = w - rate * (row @ w - 1.0) * row / t
        rate = rate * 0.5
    return w, rate, t


def by_alternating_steps(x, w):
    up, down = 0.25, 0.5
    for row in x:
        w = w * up + row
        up, down = down, up
    return w, up


def begun_anew(x, w):
    for _ in range(3):
        w, rate = w * 0.5, 1.0
        for row in x:
            w, rate = w * 0.5 + row * rate, rate * 0.9
    return w, rate


@each([(counted_beside, ()), (by_falling_steps, (W,)), (by_alternating_steps, (W,)), (begun_anew, (W,))])
def test_what_is_carried_and_no_row_has_a_part_in_stays_numpys(f, given):
    large = np.concatenate([X] * 40)
    got, want = al.function(f)(lazy(large, (140, 2)), *given), f(large, *given)
    np.testing.assert_allclose(np.asarray(got[0]), want[0], rtol=1e-13)
    assert tasks_of(got[0]) < 80
    for one, other in zip(got[1:], want[1:], strict=True):
        assert not isinstance(one, da.Array)
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_what_computes_with_the_place_of_a_row_goes_row_by_row():
    @al.function
    def at_places(x):
        s = np.zeros(2)
        for k in range(len(x)):
            s = s + x[k] * k
        return s

    np.testing.assert_allclose(at_places(lazy(X)), at_places(X))


def test_scans_in_loops_and_scans_in_scans():
    def f(x, n):
        s = np.zeros(2)
        for _ in range(n):
            s = al.foldl(lambda state, row: state * 0.5 + row, x, s) / 2
        return s

    check(f, X, 4, cut=False)

    def g(x):
        return al.scan(lambda s, row: s * 0.5 + al.foldr(lambda t, one: t * 0.5 + one, row, np.float64(0)), x,
                       np.float64(1))  # fmt: skip

    check(g, X)


def test_the_end_of_a_fold_decides():
    def f(x):
        s, n = np.zeros(2), 0
        while s.max() < 40.0:
            s = al.foldl(lambda state, row: state * 0.5 + row, x, s)
            n += 1
            x = x + 1.0
        return s, n

    want, got = al.function(f)(X), al.function(f)(lazy(X))
    np.testing.assert_allclose(np.asarray(got[0]), want[0], rtol=1e-14)
    assert got[1] == want[1]


def test_numbers_of_rows_decide():
    def f(x, w):
        counts, rows = al.map_fn(lambda row: halvings(row, w), x)
        while counts[0] < 9:
            counts = counts + 1
        return counts, rows[counts.max() % 7]

    want, got = al.function(f)(X, W), al.function(f)(lazy(X), W)
    for one, other in zip(want, got, strict=True):
        np.testing.assert_array_equal(np.asarray(other), one)


def test_gradients_are_what_they_were():
    def f(x, w):
        return al.map_fn(lambda row: halvings(row, w)[1], x).sum()

    for k in range(2):
        want = al.grad(al.function(f), argnums=k)(X, W)
        got = al.grad(al.function(f), argnums=k)(lazy(X), lazy(W, (1,)))
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)


def test_what_does_more_than_compute_goes_row_by_row():
    seen = []

    def f(x):
        def noted(row):
            al.py_function(lambda: seen.append(1), [], [])
            return row * 2

        return al.map_fn(noted, x)

    got = al.function(f)(lazy(X))
    np.testing.assert_array_equal(np.asarray(got), X * 2)


def test_a_large_array_of_dasks_is_not_put_together():
    large = da.ones(1 + (1 << 20), chunks=1 << 18, dtype=np.float32)

    def f(x, a):
        return al.map_fn(lambda row: halvings(row, 2.0)[1] * (a + row[0]).min(), x)

    made = al.function(f)(lazy(X[:3]), large)
    np.testing.assert_array_equal(np.asarray(made), [halvings(row, 2.0)[1] * (1 + row[0]) for row in X[:3]])


def test_on_a_cluster():
    distributed = pytest.importorskip("distributed")

    @al.function
    def f(x, s, n):
        for _ in range(n):
            rows = al.map_fn(lambda row: halvings(row, s)[1], x)
            s = s + rows.sum(axis=0)
        return s

    want = f(X, W, 40)
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"):
        np.testing.assert_allclose(np.asarray(f(lazy(X), W, 40)), want, rtol=1e-14)
