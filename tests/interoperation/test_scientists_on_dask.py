"""Programs as scientists write them, over Dask's arrays: the numbers that NumPy gives, in arrays of Dask's."""

from __future__ import annotations

import asyncio
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop.distributed import Client
from each_case import each

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("array_api_compat")

R = np.random.default_rng(0)


def lanczos(a, v, m):
    beta, before = 0.0, np.zeros_like(v)
    betas = []
    for _ in range(m):
        w = a @ v - beta * before
        beta = np.sqrt(w @ w)
        betas.append(beta)
        if beta < 1e-12:
            break
        before, v = v, w / beta
    return np.stack(betas)


def test_a_condition_on_what_a_step_only_checks():
    """What is handed on as it is, is no task: it had no name where a task graph was written."""
    a, v = np.diag(np.arange(1.0, 9.0)), np.arange(1.0, 9.0)
    found = al.function(lanczos)(da.from_array(a, chunks=3), da.from_array(v, chunks=3), 6)
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), lanczos(a, v, 6), rtol=1e-12)


def fitted(w, x, y, tolerance):
    k = 0
    while True:
        g = x.T @ (x @ w - y) / len(y)
        if g @ g < tolerance:
            break
        k += 1
        if k > 3:
            break
        w = w - 0.1 * g
    return ((x @ w - y) ** 2).mean()


@pytest.mark.parametrize("memory", [None, "checkpoint"])
def test_a_gradient_through_a_loop_that_is_left(memory):
    """Its way back asks for conditions that were computed on the way forward."""
    w, x, y = np.zeros(3), R.normal(size=(40, 3)), R.normal(size=40)
    both = al.value_and_grad(al.function(fitted, gradient_memory=memory), argnums=(0, 1))
    value, slopes = both(w, da.from_array(x, chunks=(17, 3)), da.from_array(y, chunks=17), 1e-4)
    expected, wanted = both(w, x, y, 1e-4)
    assert isinstance(slopes[1], da.Array) and slopes[1].chunks == ((17, 17, 6), (3,))
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for one, other in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-14)


@al.function
def halved(x):
    n = 0
    while x.sum() > 1:
        x = x / 2
        n += 1
    return x, n


def a_client(**options):
    distributed = pytest.importorskip("distributed")
    return distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0", **options)


def test_an_array_that_another_client_has():
    """It was lost, and that was said five times in vain, of workers without enough memory."""
    with a_client() as one, a_client() as other:
        with one.as_current():
            x = da.arange(10.0, chunks=4).persist()
        with other.as_current(), pytest.raises(ValueError, match=r"persisted with another client.*AL620"):
            halved(x)
        with one.as_current():
            assert halved(x)[1] == 6


def test_a_client_that_cannot_be_waited_for():
    async def main():
        async with a_client(asynchronous=True):
            halved(da.arange(10.0, chunks=4))

    with pytest.raises(RuntimeError, match="asynchronous=True.*AL620"):
        asyncio.run(main())


def test_other_collections_are_values_as_others():
    """A call with one of them began again without end."""
    with pytest.warns(UserWarning, match="a new Delayed"):
        delayed = al.function(lambda x: x * 2 + 1)(dask.delayed(3))
    assert delayed.compute() == 7
    days = da.from_array(np.array(["2020-01-01", "2020-01-05"], "M8[D]"), chunks=1)
    with pytest.warns(UserWarning, match="argument 'x' is an array of dask.array of dtype datetime64"):
        assert al.function(lambda x: x - x.min())(days).compute().astype(int).tolist() == [0, 4]


def test_checkpoints_that_are_nowhere(tmp_path):
    with pytest.raises(FileNotFoundError, match="AL715"), al.keep_checkpoints(tmp_path, resume=tmp_path / "elsewhere"):
        pass
    pytest.importorskip("distributed")
    with pytest.raises(TypeError, match=r"checkpoint_every.*AL715"):
        Client("tcp://127.0.0.1:1", checkpoint_every=7)


def noted(x, n):
    i, sizes = 0, []
    while i < n:
        x = x * 0.5 + 1.0
        sizes.append(x.sum())
        i += 1
    return x, sizes


def test_a_checkpoint_of_a_list_is_written_at_once(tmp_path, monkeypatch):
    """Its elements were written one after the other, and each was waited for."""
    real, written = dask.compute, []

    def compute(*tasks, **options):
        written.append(len(tasks))
        return real(*tasks, **options)

    monkeypatch.setattr(dask, "compute", compute)
    with al.keep_checkpoints(tmp_path, checkpoint_every=4):
        x, sizes = al.function(noted)(da.from_array(np.arange(6.0), chunks=3), np.int64(12))
    assert [count for count in written if count > 1][:2] == [2 + 4, 2 + 4]  # chunks of x, and new elements
    expected = noted(np.arange(6.0), 12)
    assert np.array_equal(x.compute(), expected[0]) and np.allclose([one.compute() for one in sizes], expected[1])


def dangling(m, out, rank):
    change = np.float64(1.0)
    while change > 1e-6:
        new = 0.1 + 0.8 * (rank @ m + rank[out == 0].sum() / 6)
        change = np.abs(new - rank).sum()
        rank = new
    return rank


def test_what_an_iteration_chooses_by_a_mask_is_made_of_what_is_kept():
    """How much a mask chooses is not known, and what it was computed from was loaded again in each iteration."""
    m, loaded = (R.random((6, 6)) < 0.4).astype(float), []

    def counted(block):
        loaded.append(block.size)
        return block

    with dask.config.set(scheduler="synchronous"):
        x = da.from_array(m, chunks=3).map_blocks(counted, meta=np.empty((0, 0)))
        given = m / np.maximum(m.sum(axis=1), 1)[:, None] / 2, m.sum(axis=1), np.full(6, 1 / 6)
        found = al.function(dangling)(
            x / np.maximum(x.sum(axis=1), 1)[:, None] / 2, x.sum(axis=1), da.from_array(given[2], chunks=3)
        )
        np.testing.assert_allclose(found.compute(), dangling(*given), rtol=1e-12)
    assert len(loaded) <= 8


def until_equal(x):
    n = 0
    while True:
        new = np.floor(x / 2)
        if np.array_equal(new, x):
            return x, n
        x, n = new, n + 1


def sorted_at_last(x):
    while x.max() > 1:
        x = x / 2
    w, v = np.linalg.eigh(x + x.T)
    return np.sort(x, axis=0), w, x @ v[:, 0]


@each([until_equal, sorted_at_last])
def test_functions_that_dask_lacks_are_staged(f):
    x = np.arange(16.0).reshape(4, 4)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*not implemented by Dask", FutureWarning)
        want = f(da.from_array(x, chunks=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = al.function(f)(da.from_array(x, chunks=2))
    assert [type(one) for one in got] == [type(one) for one in want]
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12)


def first_three(x):
    b = np.zeros(3)
    b[:] = x[:3]
    return b, float(x[0])


def test_of_a_part_only_its_chunks_are_computed():
    loaded = []

    def counted(block):
        loaded.append(block.size)
        return block

    with dask.config.set(scheduler="synchronous"):
        b, first = al.function(first_three)(da.arange(12.0, chunks=2).map_blocks(counted, meta=np.empty(0)))
    assert (b.tolist(), first) == ([0.0, 1.0, 2.0], 0.0) and len(loaded) <= 3
