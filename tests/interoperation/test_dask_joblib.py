"""dask and joblib run decorated functions in threads and processes, and keep what they give."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

pytestmark = pytest.mark.nightly
X = np.random.default_rng(0).normal(size=(40, 3))


@al.function
def distance(u, v):
    total = 0.0
    for i in range(len(u)):
        total += (u[i] - v[i]) ** 2
    return total**0.5


doubled = al.function(lambda x: x * 2)
WANTED = [distance.python_function(X[k], X[k + 1]) for k in range(6)]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_in_parallel(backend):
    joblib = pytest.importorskip("joblib")
    run = joblib.Parallel(n_jobs=2, backend=backend)
    assert np.allclose(run(joblib.delayed(distance)(X[k], X[k + 1]) for k in range(6)), WANTED, rtol=1e-12)
    assert np.array_equal(run(joblib.delayed(doubled)(row) for row in X[:3]), X[:3] * 2)


def test_joblib_keeps_results(tmp_path):
    joblib = pytest.importorskip("joblib")
    kept = joblib.Memory(tmp_path, verbose=0).cache(distance)
    assert kept(X[0], X[1]) == kept(X[0], X[1]) == distance(X[0], X[1])
    assert kept.check_call_in_cache(X[0], X[1]) and joblib.hash(distance) == joblib.hash(distance)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask(scheduler):
    dask = pytest.importorskip("dask")
    delayed = [dask.delayed(distance)(X[k], X[k + 1]) for k in range(6)]
    assert np.allclose(dask.compute(*delayed, scheduler=scheduler), WANTED, rtol=1e-12)
    import dask.array
    import dask.bag

    blocks = dask.array.from_array(X, chunks=(10, 3))
    for made in (
        blocks.map_blocks(doubled, dtype=float), dask.array.apply_gufunc(doubled, "(i)->(i)", blocks),
        blocks.map_overlap(doubled, depth=1, dtype=float),
    ):  # fmt: skip
        assert np.array_equal(made.compute(scheduler=scheduler), X * 2)
    assert dask.bag.from_sequence([1.0, 2.0]).map(doubled).compute(scheduler=scheduler) == [2.0, 4.0]
    assert dask.base.tokenize(distance) == dask.base.tokenize(distance) != dask.base.tokenize(doubled)
