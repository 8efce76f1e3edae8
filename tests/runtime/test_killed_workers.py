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


def two_processes():
    return distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")


def are_gone(processes):
    """Whether processes have ended, some time after they were told to."""
    until = time.monotonic() + 30
    while (left := [one for one in processes if os.path.exists(f"/proc/{one}")]) and time.monotonic() < until:
        os.sched_yield()
    return not left


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Anchors are made soon."""
    monkeypatch.setattr(api.loop_recovery, "FIRST", 4)
    monkeypatch.setattr(api.loop_recovery, "SHARE", 0)


def killed(monkeypatch, kill, call):
    """What a call gives, on a cluster a worker of which is killed in an iteration; None if it has fewer of them."""
    with two_processes() as cluster, distributed.Client(cluster) as client:
        told = Killing(client, kill)
        watched(monkeypatch, told.computed)
        processes = list(client.run(os.getpid).values())
        made = leaves(call())
        found = [np.asarray(one) for one in made]
        assert told.is_done or told.total <= kill
        processes += list(client.run(os.getpid).values())
    assert are_gone(processes)
    return found if told.is_done else None


@pytest.mark.parametrize("kill", range(0, 24, 2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_worker_killed_in_any_iteration_changes_no_number(name, kill, monkeypatch):
    program = PROGRAMS[name]
    expected = leaves(program.function(*program.arguments(60)))

    def call():
        given = program.arguments(60)
        for place in program.chunked:
            given[place] = da.from_array(given[place], chunks=(20, *given[place].shape[1:]))
        return al.function(program.function)(*given)

    found = killed(monkeypatch, kill, call)
    if found is None:
        pytest.skip("it is over then")
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-14)


def steps(x, n):
    for _ in range(n):
        x = 1.01 * np.sin(x) + 0.01 * x.max()
    return (x * x).sum()


@pytest.mark.parametrize("kill", [None, 0, 3, 7, 11, 15, 22, 30])
@pytest.mark.parametrize("gradient_memory", [None, "checkpoint"])
def test_gradients_on_two_processes(gradient_memory, kill, monkeypatch):
    both = al.value_and_grad(al.function(steps, gradient_memory=gradient_memory))
    x, n = np.linspace(0.1, 1.0, 12), np.int64(12)
    expected = both(x, n)
    found = []
    killed(
        monkeypatch, 1 << 30 if kill is None else kill,
        lambda: found.extend(map(np.asarray, both(da.from_array(x, chunks=4), n))) or (),
    )  # fmt: skip
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("turns", [12, 14])
@pytest.mark.parametrize("memory", ["checkpoint", 3])
def test_checkpoints_of_a_gradient_outlive_a_worker_between_its_two_ways(memory, turns, which, monkeypatch):
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
        ends.append(self)

    monkeypatch.setattr(api.loop_recovery.RecoveredLoop, "close", dies)
    with two_processes() as cluster, distributed.Client(cluster) as client:
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
def test_what_a_loop_has_given_outlives_a_worker(which, turns):
    x = np.arange(40.0)
    expected, _ = smooth.python_function(x, turns)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        made, _ = smooth(da.from_array(x, chunks=10), np.int64(turns))
        later = made + 1.0
        processes = client.run(os.getpid)
        os.kill(processes[sorted(processes)[which]], signal.SIGKILL)
        assert np.allclose(made.compute(), expected, rtol=1e-12)
        del made
        assert np.allclose(later.compute(), expected + 1.0, rtol=1e-12)
        del later
        client.run(lambda: None)  # behind what was let go of
        assert not client.futures
