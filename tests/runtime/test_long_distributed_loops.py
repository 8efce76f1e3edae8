"""A loop over arrays of Dask goes on for ten thousand iterations, and no process remembers them."""

from __future__ import annotations

import ctypes
import gc
import os

import autoloop as al
import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")
psutil = pytest.importorskip("psutil")

#: bytes that a process may have more after nine tenths of the iterations: Dask keeps spans and groups of tasks for its
#: dashboard, 2 kB an iteration, and profiles of workers. A loop by hand takes as much for 1,100 iterations
MORE = 40e6
ITERATIONS = 10_000


@al.function
def settling(x, most):
    rounds = 0
    while rounds < most:
        x = x * 0.5 + x.max() * 0.25 + 1.0
        rounds += 1
    return x, rounds


@al.function
def shrinking(x, least):
    """Each condition is computed on the cluster, and fetched."""
    rounds = 0
    while np.sqrt((x * x).sum()) > least:
        x = x * 0.999
        rounds += 1
    return x, rounds


def counted(x, most):
    return settling(x, np.int64(most))


def fetched(x, most):
    return shrinking(x, float(np.linalg.norm(np.arange(40.0)) * 0.999 ** (most - 0.5)))


def held():
    """Bytes that this process has, when it has given back what it can."""
    gc.collect()
    if os.path.exists("/proc/self/statm"):
        ctypes.CDLL(None).malloc_trim(0)
    return psutil.Process().memory_info().rss


@pytest.fixture
def collected():
    """Has cycles collected as in programs: tests leave them, and what a process has had is not all given back."""
    before = gc.get_threshold()
    gc.set_threshold(2000, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.mark.nightly
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("loop", [counted, fetched])
def test_no_process_remembers_ten_thousand_iterations(loop):
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    # of its last messages Dask keeps 1,000 to each process, with the graphs in them
    short = dask.config.set({"distributed.admin.low-level-log-length": 10})
    with short, distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        x = da.arange(40.0, chunks=20).persist()
        found = []
        for most in (ITERATIONS // 10, ITERATIONS):
            made, rounds = loop(x, most)
            assert rounds == most
            # of the workers, and of the client with its scheduler; while the result is there, and all it was made of
            found.append([held(), *client.run(held).values()])
            known = [*client.run(lambda dask_worker: len(dask_worker.state.tasks)).values()]
            known.append(len(cluster.scheduler.tasks))
            print(f"{most} iterations: {found[-1]} bytes, {known} tasks, {len(client.futures)} futures")
            assert max(known) < 8000  # as of two anchors
            assert len(client.futures) < 100
            del made
    assert all(after - before < MORE for before, after in zip(*found)), found
