"""Workers that are killed in any iteration of the six loops, forward and backward, of loops with lists, and of those
that are run beside each other: no number changes, nothing stays."""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
from functools import partial

import api
import autoloop as al
import numpy as np
import pytest
from autoloop.distributed import LostCluster
from distributed_programs import PROGRAMS
from faulty_clusters import beside, beside_with_lists, bound, numbers
from forked_clusters import processes
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
    return result if isinstance(result, tuple | list) else (result,)


@pytest.fixture(scope="module")
def cluster():
    """Two processes, and those that come in the place of what is killed; of all of them none is left."""
    with processes() as cluster:
        yield cluster


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
        while (left := [*client.futures, *map(str, cluster.scheduler.tasks)]) and time.monotonic() < until:
            time.sleep(0.01)
        assert not left
        assert not [one for one in threading.enumerate() if one.name.startswith("autoloop-loop")]


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Anchors are made soon."""
    monkeypatch.setattr(api.loop_recovery, "FIRST", 4)
    monkeypatch.setattr(api.loop_recovery, "SHARE", 0)


def killed(client, monkeypatch, kill, call):
    """What a call gives, on a cluster a worker of which is killed in an iteration."""
    told = Killing(client, kill)
    watched(monkeypatch, told.computed)
    with bound():
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

    told = rounds * 3 // 4  # what the last of four hands over goes with the anchor behind it
    found = killed(client, monkeypatch, told * part // PARTS, call)
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


# -- lists, and loops beside each other ----------------------------------------------------------------------------


class KillingBoth(Killing):
    """Kills the other worker, too: some iterations later, or when another one has come in the place of the first."""

    def __init__(self, client, iteration, is_in_turn):
        super().__init__(client, iteration)
        self._client, self._is_in_turn, self._second = client, is_in_turn, None
        self._lock = threading.Lock()  # loops beside each other tell of it on threads of their own
        there = {process: address for address, process in client.run(os.getpid).items()}
        self._first = there.pop(self.process)
        (self.other,) = there

    def computed(self, done):
        with self._lock:
            super().computed(done)
            if self.is_done and self._second is None:
                self._second = done if self._is_in_turn else done + 2
                if self._is_in_turn:
                    self._await_another()
            if self._second is not None and self._second <= done and self.other is not None:
                os.kill(self.other, signal.SIGKILL)
                self.other = None

    def _await_another(self):
        workers, until = self._client.cluster.scheduler.workers, time.monotonic() + 60
        while (self._first in workers or len(workers) < 2) and time.monotonic() < until:
            time.sleep(0.01)
        assert len(workers) == 2


def appended(x, n):
    found, k = [], 0
    while k < n:
        x = x * 0.5 + x.max() * 0.1
        found.append(x + k)
        k += 1
    return x, found


def read(x, n):
    found, k = [x], 0
    while k < n:
        x = x * 0.5 + found[k // 2].max() * 0.1
        found.append(x)
        k += 1
    return found


def taken_off(x, n):
    found, k = [x, x + 1.0], 0
    while k < n:
        x = found.pop() * 0.5 + x.max() * 0.1
        found.append(x + k)
        k += 1
    return x, found


def more(x, found, n):
    k = 0
    while k < n:
        x = x * 0.5 + found[-1].max() * 0.1
        found.append(x + k)
        k += 1
    return x


def from_call_to_call(x, n, f=more):
    """The list has more elements with each call."""
    found = [x * 2.0]
    for _ in range(3):
        x = f(x, found, n // 3)
    return x, found


#: each, and how many iterations it has, of all its loops together
LISTED = {
    "appended": (appended, 12), "read": (read, 12), "taken off": (taken_off, 12),
    "from call to call": (from_call_to_call, 12), "beside": (beside, 24), "beside, lists": (beside_with_lists, 24),
}  # fmt: skip


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.8])
@pytest.mark.parametrize("how", ["one", "both", "in turn"])
@pytest.mark.parametrize("name", LISTED)
def test_lists_and_loops_beside_each_other(name, how, place, client, monkeypatch):
    f, rounds = LISTED[name]
    fast = partial(f, f=al.function(more)) if f is from_call_to_call else al.function(f)
    x, n = np.arange(40.0), np.int64(12)
    kill = int(place * rounds)
    told = Killing(client, kill) if how == "one" else KillingBoth(client, kill, how == "in turn")
    watched(monkeypatch, told.computed)
    try:
        with bound():
            found = numbers(fast(da.from_array(x, chunks=10), n))
    except LostCluster:  # what an earlier call gave was on these two
        assert name == "from call to call" and how != "one" and told.other is None
        del fast
        gc.collect()
        return
    assert told.is_done and (how == "one" or told.other is None), told.total
    for one, other in zip(found, numbers(f(x, 12)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    del fast
    gc.collect()  # a first try of a trace, which was given the list as well, is a cycle


def steps_beside(x, n):
    a, b = x, x * 0.5
    for _ in range(n):
        a = 1.01 * np.sin(a) + 0.01 * a.max()
    for _ in range(n):
        b = 0.99 * np.cos(b) + 0.01 * b.min()
    return (a * b).sum()


@pytest.mark.parametrize("kill", [0, 7, 15, 23, 26, 33, 40])
@pytest.mark.parametrize("memory", [None, "checkpoint"])
def test_gradients_of_loops_beside_each_other(memory, kill, client, monkeypatch):
    both = al.value_and_grad(al.function(steps_beside, gradient_memory=memory))
    x, n = np.linspace(0.1, 1.0, 12), np.int64(12)
    expected = both(x, n)
    found = killed(client, monkeypatch, kill, lambda: both(da.from_array(x, chunks=4), n))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
