"""What befalls a cluster in the middle of each kind of call: no number changes, nothing hangs, nothing stays."""

from __future__ import annotations

import gc
import os
import re
import threading
import time
from collections import Counter

import numpy as np
import pytest
from autoloop.distributed import Client
from faulty_clusters import PROGRAMS, Counting, Fault, bound, numbers
from forked_clusters import processes

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")

pytestmark = pytest.mark.nightly

#: faults that a call outlives
OUTLIVED = ("killed", "both killed", "stopped", "paused", "joined", "retired")
#: of a run over a cluster: what holds arrays and futures
RUNS = "autoloop_runtime.distributed"
OF_RUNS = ("_Driver", "_Run", "Anchors", "RecoveredLoop", "Submission", "Later", "Held", "Sent", "Mailbox")
#: where in a call, of its tasks
PLACES = (0.2, 0.6)
#: memory is the limit of those that are paused; more is no reason to kill one
SETTINGS = {
    "distributed.worker.memory.terminate": False, "distributed.worker.memory.spill": False,
    "distributed.worker.memory.target": False, "distributed.worker.memory.pause": 0.8,
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    """Two processes, and those that come in the place of what is killed; of all of them none is left."""
    with processes("400MB", **SETTINGS) as cluster:
        yield cluster


def two_workers(client):
    """Wait until there are two workers, and return their processes."""
    client.cluster.scale(2)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        there = client.run(os.getpid, on_error="ignore")  # also those that died without anybody's notice
        if len(there) == 2 and len(client.cluster.scheduler.workers) == 2:
            return there
        time.sleep(0.05)
    raise AssertionError(there)


@pytest.fixture
def client(cluster):
    """Of a cluster whose workers are both there; it holds nothing in the end."""
    with distributed.Client(cluster) as client:
        cluster.processes.update(two_workers(client).values())
        yield client
        cluster.processes.update(client.run(os.getpid, on_error="ignore").values())
        until = time.monotonic() + 20  # keys are forgotten when the scheduler comes to it
        while (left := [*client.futures, *map(str, cluster.scheduler.tasks)]) and time.monotonic() < until:
            time.sleep(0.01)
        assert not left


@pytest.fixture(scope="module")
def tasks(cluster):
    """How many tasks each program has, when it has been called before."""
    known = {}

    def of(name, client):
        if name not in known:
            numbers(PROGRAMS[name].call(Client(client)))
            counting = Counting()
            cluster.scheduler.add_plugin(counting)
            numbers(PROGRAMS[name].call(Client(client)))
            cluster.scheduler.remove_plugin(counting.name)
            known[name] = counting.count
        return known[name]

    return of


def fallen(name, kind, at, client):
    """What a call gives that something befalls after so many tasks."""
    fault = Fault(client, kind)
    scheduler, counting = client.cluster.scheduler, Counting(fault.plan(kind, at))
    scheduler.add_plugin(counting)
    try:
        with bound():
            found = numbers(PROGRAMS[name].call(Client(client)))
            while fault.is_coming():  # the call was over before
                found = numbers(PROGRAMS[name].call(Client(client)))
            return found, fault
    finally:
        fault.close()
        scheduler.remove_plugin(counting.name)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", OUTLIVED)
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_number_changes(name, kind, place, client, tasks):
    at = max(int(tasks(name, client) * place), 1)
    expected = numbers(PROGRAMS[name].plain())
    found, fault = fallen(name, kind, at, client)
    assert fault.hit == 1 + (kind == "both killed")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-14)


def ours():
    """Threads of ours, but those that wait for work of any call, and the objects of runs over a cluster."""
    gc.collect()
    threads = [one.name for one in threading.enumerate() if re.match(r"autoloop(?!-\d+$)", one.name)]
    kept = [type(one).__qualname__ for one in gc.get_objects() if type(one).__module__.startswith(RUNS)]
    return Counter(threads + [name for name in kept if name in OF_RUNS])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_ctrl_c_lets_go_of_all_there_is(name, place, client, tasks):
    at, before = max(int(tasks(name, client) * place), 1), ours()
    with pytest.raises(KeyboardInterrupt) as caught:
        fallen(name, "Ctrl-C", at, client)
    del caught
    until = time.monotonic() + 20
    while (left := ours() - before) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left
    until = time.monotonic() + 20  # a task that has begun is done to its end
    while any(held := client.run(in_hand).values()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(held)


def in_hand(dask_worker):
    return len(dask_worker.data) + len(dask_worker.state.executing)
