"""``map_fn`` and its like over Dask's arrays: NumPy's values, computed later, a task for each chunk."""

from __future__ import annotations

import pickle

import autoloop as al
import numpy as np
import pytest
from each_case import each

da = pytest.importorskip("dask.array")
pytest.importorskip("array_api_compat")
dask = pytest.importorskip("dask")
X = np.random.default_rng(3).random((7, 2))


@al.function
def total(row):
    found = 0.0
    for value in row:
        found += value
    return found


def lazy(value, chunks=(3, 1)):
    return da.from_array(value, chunks=chunks[: value.ndim])


def forbidden(*args, **kwargs):
    raise AssertionError("something was computed")


def check(transform, fn, *given, chunks=(3, 1), **options):
    """Compare what is made of NumPy's arrays and of Dask's, the first of ``given``."""
    want = transform(fn, *given, **options)
    with dask.config.set(scheduler=forbidden):
        got = transform(fn, lazy(given[0], chunks), *given[1:], **options)
    wants, gots = (want, got) if isinstance(want, tuple) else ((want,), (got,))
    assert isinstance(got, tuple) == isinstance(want, tuple)
    for one, other in zip(dask.compute(*gots, scheduler="threads"), wants, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.asarray(other).dtype
    for one, other in zip(gots, wants, strict=True):
        assert (one.shape, one.dtype) == (np.shape(other), np.asarray(other).dtype)
        if not transform.__name__.startswith("fold"):
            assert one.chunks[0] == lazy(given[0], chunks).chunks[0]
    return gots


@each([al.map_fn, al.vectorized_map])
def test_maps(transform):
    check(transform, lambda row: row * 2, X)
    check(transform, lambda row: (row[0] + 1, row.sum()), X)
    check(transform, total, X, chunks=(7, 2))
    check(transform, lambda row: 3, X)
    check(transform, total, X, chunks=(1, 2))


@each([{}, {"reverse": True}])
def test_scans(options):
    for chunks in ((3, 1), (1, 2), (7, 2), ((1, 4, 2), 2)):
        check(al.scan, lambda state, row: state * 0.5 + row, X, chunks=chunks, **options)
        check(al.scan, lambda state, row: state * 0.5 + row.sum(), X, np.float64(2), chunks=chunks, **options)
    start = (np.zeros(2), np.float64(1))
    check(al.scan, lambda state, row: (state[0] - row, state[1] * 2), X, start, **options)


@each([al.foldl, al.foldr])
def test_folds(transform):
    (made,) = check(transform, lambda state, row: state * 0.5 - row, X)
    assert made.ndim == 1
    (made,) = check(transform, lambda state, row: state * 0.5 - row.sum(), X, np.float64(2))
    assert made.chunks == ()


def test_structures_and_numpy_arrays_beside():
    beside = np.arange(7.0)
    made = al.map_fn(lambda p: {"a": p[0] * p[1], "b": [p[1]]}, (lazy(X), beside))
    beside[:] = -1.0  # the call has read it
    np.testing.assert_array_equal(made["a"].compute(), X * np.arange(7.0)[:, None])
    np.testing.assert_array_equal(made["b"][0].compute(), np.arange(7.0))
    one, other = lazy(X, (2, 2)), lazy(X, (4, 1))
    assert al.map_fn(lambda p: p[0] + p[1], (one, other)).chunks[0] == (2, 2, 2, 1)
    made = al.scan(lambda state, row: state + row, lazy(X), lazy(X)[0])
    np.testing.assert_array_equal(made.compute(), al.scan(lambda state, row: state + row, X, X[0]))


def test_what_the_function_reads_is_read_in_the_call():
    factor = np.ones(2)
    made = al.map_fn(lambda row: row * factor, lazy(X))
    factor[:] = 5.0
    np.testing.assert_array_equal(made.compute(), X)


def test_tasks_are_as_many_as_chunks():
    rows = np.ones((3000, 2))
    for transform, fn in ((al.map_fn, total), (al.scan, lambda state, row: state + row)):
        made = transform(fn, da.from_array(rows, chunks=(1000, 2)))
        assert len(dict(made.__dask_graph__())) < 20


def test_no_rows():
    none = lazy(X[:0])
    assert al.map_fn(total, none).compute().shape == (0,)
    assert al.scan(lambda state, row: state + row, none, np.zeros(2)).compute().shape == (0, 2)
    np.testing.assert_array_equal(al.foldl(lambda state, row: state + row, none, np.ones(2)).compute(), [1.0, 1.0])
    with pytest.raises(ValueError, match="AL113"):
        al.scan(lambda state, row: state + row, none)
    first, rest = lazy(X[:0]), lazy(X)
    made = al.scan(lambda state, row: state + row, da.concatenate([first, rest]))
    np.testing.assert_array_equal(made.compute(), al.scan(lambda state, row: state + row, X))


def test_what_is_refused():
    with pytest.raises(NotImplementedError, match=r"length of chunks.*AL622"):
        al.map_fn(total, lazy(X)[lazy(X)[:, 0] > 0.5])
    with pytest.raises(NotImplementedError, match=r"map_fn .*py_function.*AL622"):
        al.map_fn(lambda row: al.py_function(np.sin, [row], al.float64), lazy(X))
    with pytest.raises(NotImplementedError, match=r"only a run tells which shape.*AL622"):
        al.map_fn(al.function(lambda row: row[row > 0.5]), lazy(X))
    number = al.Variable(2.0, dtype=al.float64)
    with pytest.raises(NotImplementedError, match="AL622"):
        al.map_fn(lambda row: row * number, lazy(X))
    with pytest.raises(ValueError, match="AL113"):
        al.map_fn(lambda p: p[0], (lazy(X), np.ones(3)))
    with pytest.raises(ValueError, match="AL113"):
        al.map_fn(lambda p: p[0], (lazy(X), np.float64(1)))
    with pytest.raises(ValueError, match="AL115"):
        al.vectorized_map(lambda row: al.map_fn(al.sin, row), lazy(X), fallback_to_while_loop=False)


def test_an_error_has_the_line_of_the_function():
    table = np.arange(3.0)

    @al.function
    def looked_up(k):
        return table[k]

    made = al.map_fn(looked_up, da.from_array(np.array([0, 2, 9]), chunks=2))
    with pytest.raises(IndexError, match="index 9") as caught:
        made.compute(scheduler="threads")
    assert "looked_up" in [entry.name for entry in caught.traceback]


def test_on_a_cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"):
        x = lazy(X)
        mapped, scanned = al.map_fn(total, x), al.scan(lambda state, row: state + row, x)
        sums, states = dask.compute(mapped, scanned)
    np.testing.assert_array_equal(sums, al.map_fn(total, X))
    np.testing.assert_array_equal(states, al.scan(lambda state, row: state + row, X))


def test_it_can_be_pickled():
    made = pickle.loads(pickle.dumps(al.map_fn(lambda row: row + 1, lazy(X))))
    np.testing.assert_array_equal(made.compute(), X + 1)
