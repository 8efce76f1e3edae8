"""Clusters of processes that tests may kill, and others come: forks of one that has imported what they need."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

#: what a worker imports before its first task
PRELOADED = (
    "distributed.nanny", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker", "dask.array",
    "array_api_compat.dask.array", "autoloop.distributed",
    "autoloop_runtime.distributed.engine", "autoloop_runtime.distributed.anchors",
    "autoloop_runtime.distributed.chunk_programs", "autoloop_runtime.distributed.remote_tasks",
)  # fmt: skip
#: processes are forks of one that has imported that; on a busy machine one that comes in the place of another is waited
#: for as long as that takes: Dask gives it up after 15 s, and then there is none
SETTINGS = {
    "distributed.worker.multiprocessing-method": "forkserver", "distributed.deploy.lost-worker-timeout": "5 minutes",
}  # fmt: skip


def preloaded() -> None:
    """Have processes be forks of one that has imported what a worker needs."""
    with dask.config.set(SETTINGS):
        distributed.utils.get_mp_context()  # which says once what is to be imported, and less
    multiprocessing.set_forkserver_preload(list(PRELOADED))


@contextmanager
def processes(memory_limit: str = "auto", **settings: Any) -> Iterator[Any]:
    """Two processes, and those that come in the place of what is killed; of all of them none is left.

    Whoever starts or kills some adds them to ``processes`` of the cluster.
    """
    made: set[int] = set()
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": memory_limit}
    with dask.config.set({**SETTINGS, **settings}):
        preloaded()
        with distributed.LocalCluster(**options) as cluster:
            cluster.processes = made
            yield cluster
    until = time.monotonic() + 30
    while (left := [one for one in made if os.path.exists(f"/proc/{one}")]) and time.monotonic() < until:
        os.sched_yield()
    assert not left
