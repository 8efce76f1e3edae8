"""Workers that are lost where no anchor is: between the two ways of a gradient, and in loops that have none."""

from __future__ import annotations

import gc

import api
import autoloop as al
import numpy as np
import pytest
from watched_windows import watched

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Anchors are made soon."""
    monkeypatch.setattr(api.loop_recovery, "FIRST", 4)
    monkeypatch.setattr(api.loop_recovery, "SHARE", 0)


def chunked():
    return da.from_array(np.arange(40.0), chunks=10)


def waves(x, n):
    for _ in range(n):
        x = 1.01 * np.sin(x)
    return (x * x).sum()


async def _without_worker(dask_scheduler, address):
    """As if a worker had died."""
    await dask_scheduler.remove_worker(address, stimulus_id="test")


@pytest.mark.parametrize("which", [0, 1])
def test_checkpoints_outlive_a_worker_between_the_way_forward_and_back(which, monkeypatch):
    both = al.value_and_grad(al.function(waves, gradient_memory="checkpoint"))
    wanted, through, ended = both(np.arange(40.0) / 40, np.int64(9)), api.segmented_run._Loop.through, []
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:

        def loses(loop):
            values = through(loop)
            ended.append(loop)
            if len(ended) == 1:
                client.run_on_scheduler(_without_worker, address=sorted(client.nthreads())[which])
            return values

        monkeypatch.setattr(api.segmented_run._Loop, "through", loses)
        value, gradient = both(chunked() / 40, np.int64(9))
        assert len(ended) > 1
        np.testing.assert_allclose(value, wanted[0], rtol=1e-9)
        np.testing.assert_allclose(gradient.compute(), wanted[1], rtol=1e-9)


def collects(x, n):
    found, k = [], 0
    while k < n:
        x = x * 0.5 + x.max()
        found.append(x + k)
        k += 1
    return x, found


def one_beside_the_other(x, n):
    y, i, j = x + 1.0, 0, 0
    while i < n:
        x = x * 0.5 + x.max()
        i += 1
    while j < n:
        y = y * 0.25 + y.min()
        j += 1
    return x, y


@pytest.mark.parametrize("function", [collects, one_beside_the_other])
def test_loops_without_anchors_outlive_a_worker_in_the_middle_and_after(function, monkeypatch):
    plain, lost = function(np.arange(40.0), 12), []
    with distributed.Client(processes=False, n_workers=3, threads_per_worker=1, dashboard_address=":0") as client:

        def loses():
            lost.append(sorted(client.nthreads())[0])
            client.run_on_scheduler(_without_worker, address=lost[-1])

        watched(monkeypatch, lambda done: None if lost or done < 6 else loses())
        made = al.function(function)(chunked(), np.int64(12))
        assert len(lost) == 1
        loses()
        assert np.array_equal(made[0].compute(), plain[0])
        assert np.array_equal(dask.compute(made[1])[0], plain[1])


def solving(a, x, n):
    k = 0
    while k < n and x.max() < 1e9:
        x = np.linalg.solve(a - k * np.eye(4), x)
        k += 1
    return x


def settling(a, x, n):
    k = 0
    while k < n and x.max() < 1e9:
        x = a * x * 0.5 + x.max() * 0.25 + 1.0
        k += 1
    return x


@pytest.mark.parametrize("function", [solving, settling])
def test_an_error_holds_nothing_on_the_cluster(function, monkeypatch):
    """Neither the client, which has the error of a task and of a value that is lost, nor those who were told of it."""
    real, told = api.on_cluster.OnCluster.send, []

    def sends(sender, submission, mailbox):
        told.append(submission)
        count = real(sender, submission, mailbox)
        if len(told) == 6 and function is settling:
            sender._client.cancel([future for later in submission.laters for future in sender._futures(later)])
        return count

    monkeypatch.setattr(api.on_cluster.OnCluster, "send", sends)
    a, x = (np.eye(4) * 3.0, np.ones((4, 4))) if function is solving else (np.ones(40), np.arange(40.0))
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        gc.collect()
        gc.disable()
        try:
            made = al.function(function)(da.from_array(a, chunks=a.shape), da.from_array(x, chunks=4), np.int64(14))
            assert np.allclose(made.compute(), function(a, x, 14))
            del made
            assert function is settling
        except np.linalg.LinAlgError:
            assert function is solving
        finally:
            gc.enable()
        told.clear()
        if function is solving:
            gc.collect()  # the user's lines in a traceback have frames below them, which have the error
        client.run(int)  # behind what was let go of
        assert not client.futures
