"""Which parts of functions are sent to a cluster, and what comes back: bytes that move against work."""

# ruff: noqa: F811 (fixtures are imported)

from __future__ import annotations

import autoloop as al
import numpy as np
from api import remote_cluster, remote_costs, remote_regions, remote_values
from remote_clusters import SLOW, A, B, M, chains, client, cluster, loops_are_opened, moved, regions_in, same

__all__ = ["client", "cluster", "loops_are_opened", "moved"]


def test_of_several_results_only_what_is_needed_comes(cluster, moved, loops_are_opened, capsys):
    """A region gives the state of the loop, which is large, and a number that is needed here."""

    @al.function(executor="dask")
    def f(x, m, n):
        size, i = 1.0, 0
        while size > 1e-9:
            x = np.tanh(x @ m / size)
            size = np.abs(x).max()
            print(size > 0)
            i += 1
            if i >= n:
                break
        return x, size

    same(f(A, M, np.int64(5)), f.python_function(A, M, 5))
    assert capsys.readouterr().out.split() == ["True"] * 10
    assert cluster.submitted > 5 and moved[1] == [] and len(moved[0]) <= 2


def test_what_shapes_do_not_tell_is_as_large_as_what_it_is_made_of(
    cluster, moved, loops_are_opened, monkeypatch, capsys
):
    monkeypatch.setattr(remote_costs.Costs, "_seconds", lambda *_: 1.0)

    @al.function(executor="dask")
    def f(x, m, k, n):
        x = x[:k] + 1.0
        for i in range(n):
            x = np.tanh(x @ m)
            print(i)
            x = x * 2
        return x

    same([f(A, M, np.int64(140), np.int64(4))], [f.python_function(A, M, 140, 4)])
    capsys.readouterr()
    assert cluster.submitted >= 4 and moved[1] == [] and len(moved[0]) <= 2


def test_arrays_that_are_made_here_in_each_iteration_count_each_time(cluster, moved, loops_are_opened):
    """An array takes as long as the work; what enters a loop is sent once for many iterations."""
    cluster.network = remote_cluster.Network(1e-6, 1e-6, A.nbytes / 1e-4, 1000)

    @al.function(executor="dask")
    def made(m, n):
        total = 0.0
        for _ in range(n):
            x = al.py_function(lambda: A, [], al.float64)
            total = total + (np.reshape(x, (150, 150)) @ m).sum()
        return total

    @al.function(executor="dask")
    def entered(x, m, n):
        total = 0.0
        for i in range(n):
            al.py_function(lambda: np.int64(0), [], al.int64)
            total = total + (x @ (m * i)).sum()
        return total

    same([made(M, np.int64(3))], [made.python_function(M, 3)])
    assert cluster.submitted == 0
    same([entered(A, M, np.int64(3))], [entered.python_function(A, M, 3)])
    assert cluster.submitted > 0


def test_results_that_stay_cost_no_way_back(cluster, moved, loops_are_opened):
    """An array takes longer than the work of an iteration, and the state of the loop never comes but at the end."""
    f = al.function(chains, executor="dask")
    costs = [region.seconds for region in regions_in(f, A, B, M, np.int64(4))]
    cluster.network = remote_cluster.Network(1e-6, 1e-6, A.nbytes / max(costs), 1000)
    same(f(A, B, M, np.int64(4)), chains(A, B, M, 4))
    assert cluster.submitted > 0


def test_long_chains_are_forgotten(client, cluster, loops_are_opened, monkeypatch):
    """Dask's scheduler keeps what something in memory was computed from."""
    monkeypatch.setattr(remote_values, "LONGEST", 8)
    counts, submit = [], cluster.submit
    tasks = client.cluster.scheduler.tasks
    monkeypatch.setattr(cluster, "submit", lambda *args, **there: counts.append(len(tasks)) or submit(*args, **there))
    f = al.function(chains, executor="dask")
    same(f(A, B, M, np.int64(100)), chains(A, B, M, 100))
    assert len(counts) > 200 and max(counts) < 120


def test_what_one_of_unknown_length_takes_speaks_for_the_others(cluster, monkeypatch):
    monkeypatch.setattr(remote_costs, "LEAST", 1e-9)
    monkeypatch.setattr(remote_costs, "WORTH", 1e-9)
    monkeypatch.setattr(remote_regions, "READY", 0.0)

    @al.function(executor="dask")
    def both(x, y):
        while x < 100.0:
            x = x * 1.01
        while y < 100.0:
            y = y * 1.02
        return x, y

    same(both(np.float64(1.0), np.float64(2.0)), both.python_function(np.float64(1.0), np.float64(2.0)))
    assert cluster.submitted == 1


def test_what_begins_here_is_shared_out(cluster, loops_are_opened, monkeypatch):
    """Dask gives all that needs one array to the worker that has it; a chain stays where it is."""
    monkeypatch.setattr(cluster, "workers", {"one": 1, "two": 1})
    places, submit = [], cluster.submit
    monkeypatch.setattr(cluster, "submit", lambda *args, worker=None: places.append(worker) or submit(*args))
    f = al.function(chains, executor="dask")
    same(f(A, B, M, np.int64(6)), chains(A, B, M, 6))
    assert sorted(filter(None, places)) == ["one", "two"]


def test_what_takes_less_than_it_was_taken_to_stays(cluster, loops_are_opened):
    f = al.function(chains, executor="dask")
    regions = regions_in(f, A, B, M, np.int64(3))
    for region in regions:
        region.seconds = 1e3
    cluster.network = remote_cluster.Network(1.0, 1.0, 1e12, 1000)
    same(f(A, B, M, np.int64(3)), chains(A, B, M, 3))
    assert cluster.submitted > 0
    assert any(region.seconds < 1e3 and not region.is_learnt for region in regions)
    for _ in range(3):
        cluster.submitted = 0
        same(f(A, B, M, np.int64(3)), chains(A, B, M, 3))
    assert cluster.submitted == 0


def test_workers_are_counted_again(cluster):
    cluster.network = None
    assert cluster.network.slots == cluster.up_to_date().slots == 2
    cluster._network, cluster._counted = SLOW, -1e9
    assert cluster.up_to_date().slots == 2 and cluster.network.latency == SLOW.latency
