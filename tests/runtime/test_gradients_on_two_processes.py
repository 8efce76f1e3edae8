"""Gradients through loops over Dask's arrays on two processes: NumPy's numbers, bounded memory, workers that die."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import loop_recovery

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")

from distributed_gradients import PROGRAMS  # noqa: E402  (it needs Dask)
from faulty_clusters import Counting, Fault  # noqa: E402

pytestmark = pytest.mark.nightly

CHUNKS, ROUNDS = 4, 12
X = np.random.default_rng(3).random((24, 3))
W = np.array([1.0, 0.5, 0.3])


OPTIONS = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(**OPTIONS) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def mortal():
    """The client of a cluster for one test, one of whose processes dies."""
    with distributed.LocalCluster(**OPTIONS) as cluster, distributed.Client(cluster) as client:
        yield client


def flat(found):
    return [one for part in found for one in flat(part)] if isinstance(found, tuple | list) else [found]


def agree(found, wanted):
    for one, other in zip(dask.compute(*flat(found)), flat(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_loss_and_its_gradient(name, client):
    program = PROGRAMS[name]
    arguments = program.make(program.size)
    given = program.cut(arguments, CHUNKS)
    wanted = program.both()(*arguments, np.int64(ROUNDS))
    agree(program.by_hand(*given, ROUNDS), wanted)
    for memory in (None, "checkpoint", 5):
        agree(program.both(gradient_memory=memory)(*given, np.int64(ROUNDS)), wanted)


# -- through rows ---------------------------------------------------------------------------------------------------


def by_rows(x, w):
    total = 0.0
    for row in x:
        total = total + np.log1p(np.exp(-(row @ w)))
    return total


def mapped(x, w):
    return al.map_fn(lambda row: np.tanh(row @ w), x).sum()


def folded(x, w):
    return al.foldl(lambda h, row: np.tanh(h * w + row), x, w).sum()


def scanned(x, w):
    return (al.scan(lambda h, row: np.tanh(h * w + row), x, w) ** 2).sum()


def by_rows_in_rounds(x, w):
    for _ in range(4):
        w = w - 0.1 * al.grad(lambda v: by_rows(x, v))(w)
    return (w * w).sum()


def slope(x, w):
    return (al.grad(lambda v: scanned(x, v))(w) ** 2).sum() + (al.grad(lambda v: waves_of(x, v))(w) ** 2).sum()


def waves_of(x, w):
    for _ in range(5):
        x = np.sin(x * w)
    return x.sum()


@pytest.mark.parametrize("f", [by_rows, mapped, folded, scanned, by_rows_in_rounds, slope, waves_of])
def test_both_arguments(f, client):
    for memory in (None, "checkpoint"):
        both = al.value_and_grad(al.function(f, gradient_memory=memory), argnums=(0, 1))
        agree(both(da.from_array(X, chunks=(6, 2)), W), both(X, W))


# -- memory ---------------------------------------------------------------------------------------------------------


class Watching(distributed.SchedulerPlugin):
    """The most chunks that the workers hold, and the most tasks that the scheduler knows."""

    name = "watching"

    def __init__(self, scheduler):
        self.scheduler, self.chunks, self.tasks = scheduler, 0, 0

    def transition(self, key, start, finish, *args, **kwargs):
        if finish == "memory":
            held = sum(one.nbytes > 5e4 for one in self.scheduler.tasks.values() if one.state == "memory")
            self.chunks, self.tasks = max(self.chunks, held), max(self.tasks, len(self.scheduler.tasks))


def most(client, both, rounds):
    """The most that there was of each while a gradient was computed."""
    x = da.from_array(np.linspace(0.1, 1.0, 40_000), chunks=10_000)
    watching = Watching(client.cluster.scheduler)
    client.cluster.scheduler.add_plugin(watching)
    try:
        dask.compute(*both(x, np.int64(rounds)))
    finally:
        client.cluster.scheduler.remove_plugin(watching.name)
    return watching.chunks, watching.tasks


def test_checkpoints_bound_what_is_held(client):
    """With n iterations and with four times as many. Of checkpoints there are two once they are anchored."""
    waves = PROGRAMS["element by element"]
    saved, roots, seven = (
        [most(client, waves.both(gradient_memory=memory), rounds) for rounds in (24, 96)]
        for memory in (None, "checkpoint", 7)
    )
    assert saved[1][0] > 3 * saved[0][0] > 3 * 24 * CHUNKS
    assert roots[0][0] < saved[0][0] and roots[1][0] < 0.75 * saved[1][0]
    assert seven[1][0] < 2 * seven[0][0] and seven[1][0] < 0.75 * saved[1][0]
    # without checkpoints the scheduler knows what is saved, and little else
    assert saved[1][1] < 1.6 * saved[1][0]


# -- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "memory", "place"),
    [
        ("recurrent network", None, 0.75), ("recurrent network", "checkpoint", 0.75), ("element by element", None, 0.4),
        ("element by element", "checkpoint", 0.6),
    ],
)  # fmt: skip
def test_a_worker_dies_on_the_way_forwards_or_back(name, memory, place, mortal, monkeypatch):
    monkeypatch.setattr(loop_recovery, "FIRST", 4)  # anchors before and behind
    monkeypatch.setattr(loop_recovery, "SHARE", 0)
    program = PROGRAMS[name]
    arguments = program.make(program.size)
    both, given = program.both(gradient_memory=memory), program.cut(arguments, CHUNKS)
    wanted, scheduler, counting = both(*arguments, np.int64(ROUNDS)), mortal.cluster.scheduler, Counting()
    scheduler.add_plugin(counting)
    agree(both(*given, np.int64(ROUNDS)), wanted)
    scheduler.remove_plugin(counting.name)
    fault = Fault(mortal, "killed")
    dying = Counting(fault.plan("killed", int(place * counting.count)))
    scheduler.add_plugin(dying)
    try:
        agree(both(*given, np.int64(ROUNDS)), wanted)
    finally:
        fault.close()
        scheduler.remove_plugin(dying.name)
    assert fault.hit == 1
