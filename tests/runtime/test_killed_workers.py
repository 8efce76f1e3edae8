"""Workers that are killed in any iteration of the six loops, forward and backward: no number changes, nothing stays."""

from __future__ import annotations

import os
import random
import signal
import time

import api
import autoloop as al
import numpy as np
import pytest
from distributed_programs import PROGRAMS
from watched_windows import watched

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")

pytestmark = pytest.mark.nightly


#: no run has so many iterations
NEVER = 1 << 30


class Killing:
    """Kills a worker when an iteration has been computed."""

    def __init__(self, client, iteration):
        self.iteration, self.is_done, self.total = iteration, False, 0
        self.process = random.Random(iteration).choice(sorted(client.run(os.getpid).values()))

    def computed(self, done):
        self.total = done
        if not self.is_done and done > self.iteration:
            self.is_done = True
            os.kill(self.process, signal.SIGKILL)


def leaves(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.fixture(scope="module")
def cluster():
    """Two processes, and those that come in the place of what is killed; of all of them none is left."""
    processes: set[int] = set()
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        cluster.processes = processes
        yield cluster
    until = time.monotonic() + 30
    while (left := [one for one in processes if os.path.exists(f"/proc/{one}")]) and time.monotonic() < until:
        os.sched_yield()
    assert not left


@pytest.fixture
def client(cluster):
    """Of a cluster whose workers are both there; it holds nothing in the end."""
    with distributed.Client(cluster) as client:
        while (
            len(there := client.run(os.getpid, on_error="ignore")) < 2
        ):  # also those that died without anybody's notice
            client.wait_for_workers(2)
        cluster.processes.update(there.values())
        yield client
        cluster.processes.update(client.run(os.getpid, on_error="ignore").values())
        until = time.monotonic() + 30  # keys are forgotten when the scheduler comes to it
        while (left := [*client.futures, *client.run_on_scheduler(known)]) and time.monotonic() < until:
            os.sched_yield()
        assert not left


def known(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks]


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Anchors are made soon."""
    monkeypatch.setattr(api.loop_recovery, "FIRST", 4)
    monkeypatch.setattr(api.loop_recovery, "SHARE", 0)


def killed(client, monkeypatch, kill, call):
    """What a call gives, on a cluster a worker of which is killed in an iteration."""
    told = Killing(client, kill)
    watched(monkeypatch, told.computed)
    found = [np.asarray(one) for one in leaves(call())]
    assert told.is_done or kill == NEVER, told.total
    return found


#: how much of what is large there is: so much that each loop has at least eleven iterations
SIZES = dict.fromkeys(PROGRAMS, 60) | {"k-means": 2000}
PARTS = 12


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_worker_killed_in_any_iteration_changes_no_number(name, part, client, monkeypatch):
    program, size = PROGRAMS[name], SIZES[name]
    plain = program.function(*program.arguments(size))
    rounds = program.rounds(plain)
    assert rounds >= PARTS - 1

    def call():
        given = program.arguments(size)
        for place in program.chunked:
            given[place] = da.from_array(given[place], chunks=(size // 3, *given[place].shape[1:]))
        return al.function(program.function)(*given)

    found = killed(client, monkeypatch, rounds * part // PARTS, call)
    for one, other in zip(found, leaves(plain), strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-14)


def steps(x, n):
    for _ in range(n):
        x = 1.01 * np.sin(x) + 0.01 * x.max()
    return (x * x).sum()


#: iterations on the way forward, in the middle of it, between the two, and on the way back
FORTH_AND_BACK = [NEVER, 0, 3, 7, 11, 12, 13, 15, 18, 22]


@pytest.mark.parametrize(
    ("gradient_memory", "kill"),
    [(None, kill) for kill in FORTH_AND_BACK] + [("checkpoint", kill) for kill in (*FORTH_AND_BACK, 26, 30, 33)],
)
def test_gradients_on_two_processes(gradient_memory, kill, client, monkeypatch):
    both = al.value_and_grad(al.function(steps, gradient_memory=gradient_memory))
    x, n = np.linspace(0.1, 1.0, 12), np.int64(12)
    expected = both(x, n)
    found = []
    killed(
        client, monkeypatch, kill,
        lambda: found.extend(map(np.asarray, both(da.from_array(x, chunks=4), n))) or (),
    )  # fmt: skip
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("turns", [12, 14])
@pytest.mark.parametrize("memory", ["checkpoint", 3])
def test_checkpoints_of_a_gradient_outlive_a_worker_between_its_two_ways(memory, turns, which, client, monkeypatch):
    """What a checkpoint was made of is forgotten on the way forward, and the way back has no anchor yet."""
    both = al.value_and_grad(al.function(steps, gradient_memory=memory))
    x, n = np.linspace(0.1, 1.0, 12), np.int64(turns)
    expected = both(x, n)
    real, ends = api.loop_recovery.RecoveredLoop.close, []

    def dies(self):
        real(self)
        if not ends:
            workers = client.run(os.getpid)
            os.kill(workers[sorted(workers)[which]], signal.SIGKILL)
        ends.append(len(ends))  # not the loop, which has what it began with

    monkeypatch.setattr(api.loop_recovery.RecoveredLoop, "close", dies)
    found = list(map(np.asarray, both(da.from_array(x, chunks=4), n)))
    assert len(ends) > 1
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@al.function
def smooth(x, n):
    i = 0
    while i < n:
        x = x * 0.5 + x.max() * 0.25 + 1.0
        i += 1
    return x, i


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("turns", [22, 24])
def test_what_a_loop_has_given_outlives_a_worker(which, turns, client):
    x = np.arange(40.0)
    expected, _ = smooth.python_function(x, turns)
    made, _ = smooth(da.from_array(x, chunks=10), np.int64(turns))
    later = made + 1.0
    processes = client.run(os.getpid)
    os.kill(processes[sorted(processes)[which]], signal.SIGKILL)
    assert np.allclose(made.compute(), expected, rtol=1e-12)
    del made
    assert np.allclose(later.compute(), expected + 1.0, rtol=1e-12)
