"""A program that loses its cluster: one error, whatever of Dask's it was, and wherever it came out."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import types

import api
import autoloop as al
import numpy as np
import pytest
from watched_windows import watched

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")

from autoloop.distributed import LostCluster  # noqa: E402


def beside_each_other(x, n):
    y, i, j = x + 1.0, 0, 0
    while i < n:
        x = x * 0.5 + x.max()
        i += 1
    while j < n:
        y = y * 0.25 + y.min()
        j += 1
    return x, y


def one_loop(x, n):
    while n > 0:
        x = x * 0.5 + x.max()
        n -= 1
    return x


def with_list(x, n):
    found = []
    while n > 0:
        x = x * 0.5
        found.append(x.sum())
        n -= 1
    return found


def decided(x, n):
    while x.sum() < 10 * n:
        x = x + 1.0
    return x


def slope(x, n):
    return al.grad(lambda a: (one_loop(a, n) ** 2).sum())(x)


def timed_out():
    """What Dask raises when a scheduler does not answer; it is raised in there."""
    asyncio.run(distributed.utils.wait_for(asyncio.sleep(9), 0))


THERE = types.SimpleNamespace(address="there")
ERRORS = [
    distributed.comm.CommClosedError("gone"), distributed.client.FutureCancelledError("key", "lost dependencies"),
    distributed.client.FuturesCancelledError([]), concurrent.futures.CancelledError(), asyncio.CancelledError(),
    distributed.client.ClosedClientError("closed"), distributed.scheduler.KilledWorker("key", THERE, 3),
]  # fmt: skip


@pytest.fixture(scope="module")
def client():
    """A cluster of two workers that are threads."""
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as made:
        yield made


def test_each_error_of_a_lost_cluster_is_told_as_one(client):
    lost_clusters = api.lost_clusters
    for error in ERRORS:
        told = lost_clusters.lost_of(error, client, "a call")
        assert type(told) is LostCluster and str(told).endswith("[AL616]"), error
        assert lost_clusters.lost_of(told, client, "a call") is told
    with pytest.raises(TimeoutError) as caught:
        timed_out()
    assert type(lost_clusters.lost_of(caught.value, client, "a call")) is LostCluster
    for error in (ValueError("theirs"), TimeoutError("theirs"), OSError("theirs"), KeyboardInterrupt()):
        assert lost_clusters.lost_of(error, client, "a call") is error


@pytest.mark.parametrize("function", [beside_each_other, with_list, decided, slope])
def test_what_ends_a_run_is_told_as_one(function, client, monkeypatch):
    def fails(*args):
        raise ERRORS[2]

    monkeypatch.setattr(api.loop_recovery, "recovered", lambda *args: None)
    monkeypatch.setattr(api.on_cluster.OnCluster, "send", fails)
    with pytest.raises(LostCluster, match=r"FuturesCancelledError.*\[AL616\]") as caught:
        al.function(function)(da.from_array(np.arange(4.0), chunks=2), np.int64(3))
    assert __file__ in {str(entry.path) for entry in caught.traceback}


@pytest.mark.parametrize("function", [beside_each_other, one_loop])
def test_a_cluster_that_is_closed_in_the_middle_ends_the_run(function, monkeypatch):
    client = distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0")
    closed = []

    def close(done):
        if not closed and done > 2:
            closed.append(threading.Thread(target=client.cluster.close))
            closed[0].start()

    with client:
        watched(monkeypatch, close)
        with pytest.raises(LostCluster, match="AL616"):
            al.function(function)(da.from_array(np.arange(4.0), chunks=2), np.int64(1 << 40))
        closed[0].join()


@pytest.mark.parametrize("function", [beside_each_other, one_loop])
def test_what_is_sent_while_the_client_closes_is_not_waited_for(function, client, monkeypatch):
    """Dask takes it, and never tells what becomes of it."""
    watched(monkeypatch, lambda done: setattr(client, "status", "closing") if done > 2 else None)
    try:
        with pytest.raises(LostCluster, match="AL616"):
            al.function(function)(da.from_array(np.arange(4.0), chunks=2), np.int64(1 << 40))
    finally:
        client.status = "running"


def test_what_a_closed_client_had_is_not_looked_for_here(client, monkeypatch):
    """Without a client a loop runs on Dask's own threads, which know of no futures."""
    x = da.from_array(np.arange(4.0), chunks=2).persist()
    monkeypatch.setattr(api.dask_engine, "dask_client", lambda given: None)
    monkeypatch.setattr(api.loop_recovery, "recovered", lambda *args: None)
    with dask.config.set(scheduler="synchronous"), pytest.raises(LostCluster, match="was closed"):
        al.function(decided)(x, np.int64(3))


GOES_ON = threading.Event()


def waits():
    GOES_ON.wait(60)


def test_who_waits_for_futures_is_stopped(client):
    GOES_ON.clear()
    stop, future = api.stopped_runs.Stop(), client.submit(waits, pure=False)
    timer = threading.Timer(0.1, stop.stop)
    timer.start()
    try:
        with api.stopped_runs.set_stop(stop), pytest.raises(api.stopped_runs.StoppedRun):
            api.stopped_runs.wait_for(client, [future])
    finally:
        GOES_ON.set()
        timer.join()
    api.stopped_runs.wait_for(client, [future])
    assert future.status == "finished"


def test_threads_that_cannot_be_begun_are_not_waited_for(client, monkeypatch):
    begins = threading.Thread.start

    def start(thread):
        if thread.name == "autoloop-loop-1":
            raise RuntimeError("can't start new thread")
        begins(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="new thread"):
        al.function(beside_each_other)(da.from_array(np.arange(4.0), chunks=2), np.int64(1 << 40))
    assert not [one for one in threading.enumerate() if one.name.startswith("autoloop-loop")]


def test_a_tensor_whose_value_is_asked_for_tells_of_a_cluster_that_is_gone(client):
    array = da.from_array(np.arange(4.0), chunks=2).persist()
    distributed.wait(array)
    tensor = al.constant(array) + 1.0
    client.cancel(array, force=True)
    with pytest.raises(LostCluster, match=r"what a tensor is made of.*\[AL616\]"):
        tensor.numpy()
