"""Functions whose heavy parts run on a cluster: what goes, what stays, and that nothing else is seen of it."""

# ruff: noqa: F811 (fixtures are imported)

from __future__ import annotations

import gc
import random
import threading

import autoloop as al
import numpy as np
import pytest
from api import (
    prepare,
    remote_cluster,
    remote_costs,
    remote_driver,
    remote_programs,
    remote_regions,
)
from random_programs import Program, assert_same, outcome
from remote_clusters import (
    SLOW,
    A,
    B,
    M,
    chains,
    client,
    cluster,
    distributed,
    everything_goes,
    loops_are_opened,
    same,
)

__all__ = ["client", "cluster", "everything_goes", "loops_are_opened"]


def test_cheap_programs_send_nothing(client, cluster):
    cluster.network = None

    @al.function(executor="dask")
    def cheap(x, n):
        i = 0
        while i < n:
            x = x + np.sin(x)
            i += 1
        return x

    before = len(client.cluster.scheduler.transition_log)
    same([cheap(np.ones(5), np.int64(4))], [cheap.python_function(np.ones(5), np.int64(4))])
    assert cluster.submitted == 0 and cluster.known_network is None
    assert len(client.cluster.scheduler.transition_log) == before


def test_independent_chains_go_each_for_itself(cluster, loops_are_opened):
    f = al.function(chains, executor="dask")
    same(f(A, B, M, np.int64(6)), chains(A, B, M, 6))
    assert cluster.submitted >= 12
    assert al.explain(f, A, B, M, np.int64(6)).executor == "dask"


def test_what_is_not_worth_it_stays(cluster):
    cluster.network = SLOW
    f = al.function(chains, executor="dask")
    same(f(A, B, M, np.int64(3)), chains(A, B, M, 3))
    assert cluster.submitted == 0


def test_conditions_are_fetched_and_the_state_stays(cluster):
    @al.function(executor="dask")
    def powers(x, m):
        i = 0
        while np.abs(x).max() > 1e-3:
            x = (x @ m) / 3
            i += 1
        return x, i

    plain = powers.python_function(A, M)
    x, i = powers(A, M)
    np.testing.assert_allclose(x, plain[0], rtol=1e-10)
    assert i == plain[1] and type(i) is int and x.flags.writeable


def test_a_loop_whose_length_only_runs_tell_is_learnt(cluster, monkeypatch):
    monkeypatch.setattr(remote_costs, "LEAST", 1e-9)
    monkeypatch.setattr(remote_costs, "WORTH", 1e-9)

    @al.function(executor="dask")
    def solve(rates):
        found = np.zeros(len(rates))
        for k in range(len(rates)):
            y, t = 1.0, 0.0
            while t < 1.0:
                y = y - rates[k] * y * 0.01
                t = t + 0.01
            found[k] = y
        return found

    rates = np.linspace(0.1, 2.0, 40)
    same([solve(rates)], [solve.python_function(rates)])
    first = cluster.submitted
    assert 0 < first < 40
    same([solve(rates)], [solve.python_function(rates)])
    assert cluster.submitted > first


def test_this_process_works_where_the_workers_have_enough_to_do(cluster, monkeypatch):
    cluster.network = remote_cluster.Network(1e-4, 1e-5, 1e12, 0)  # they always have
    monkeypatch.setattr(remote_regions, "UNIT", 1e4)
    monkeypatch.setattr(remote_regions, "OPENED", 1e4)
    monkeypatch.setattr(remote_costs, "LEAST", 0.0)

    @al.function(executor="dask")
    def sums(x, n):
        found = np.zeros(30)
        for k in range(n):
            found[k] = np.sum(np.sin(x + k))
        return found

    x = np.linspace(0.0, 1.0, 20_000)
    same([sums(x, np.int64(30))], [sums.python_function(x, 30)])
    graph = sums.get_concrete_function(x, np.int64(30)).runner.run.__self__
    assert cluster.submitted == 0 and any(region.is_learnt for region in graph.regions())


def test_iterations_that_only_store_what_they_find_do_not_wait_for_each_other(cluster, loops_are_opened):
    """What is stored in an array of all iterations is no part of the region."""

    @al.function(executor="dask")
    def traces(x, n):
        found = np.zeros(4)
        scale = 1.0
        for k in range(n):
            found[k] = (x @ x * scale).sum()
            scale = scale / 2
        return found

    same([traces(A, np.int64(4))], [traces.python_function(A, 4)])
    graph = traces.get_concrete_function(A, np.int64(4)).runner.run.__self__
    inside = [{n.op.name for n in region.graph.nodes} for region in graph.regions()]
    products = [ops for ops in inside if "matmul" in ops]
    assert products and not any("set_item" in ops for ops in products)
    assert all("multiply" in ops for ops in products)  # a number that is there early is no reason to come back


def test_effects_happen_here_and_in_order(cluster, everything_goes, capsys):
    seen = []

    @al.function(executor="dask")
    def f(x, m, n):
        i = 0
        while i < n:
            x = x @ m
            print(i, x.sum())
            al.py_function(lambda: seen.append(threading.get_ident()) or np.int64(0), [], al.int64)
            i += 1
        return x

    f(A, M, np.int64(3))
    lines = capsys.readouterr().out.split()
    expected, x = [], A
    for i in range(3):
        x = x @ M
        expected += [i, x.sum()]
    np.testing.assert_allclose(np.array(lines, float), expected, rtol=1e-9)
    assert cluster.submitted > 0 and set(seen) == {threading.get_ident()}


def test_a_failure_comes_back_to_its_line(cluster, everything_goes):
    @al.function(executor="dask")
    def f(x, places, n):
        total = np.float64(0.0)
        for k in range(n):
            total = total + x[places[k]]
        return total

    with pytest.raises(IndexError, match="out of bounds") as caught:
        f(np.ones(4), np.array([0, 1, 9]), np.int64(3))
    own = [entry for entry in caught.traceback if str(entry.path) == __file__]
    assert "x[places[k]]" in str(own[-1].statement)
    assert "iteration 2 of the loop" in "".join(caught.value.__notes__)


GO_ON = threading.Event()


def waits(_):
    GO_ON.wait(60)


def test_what_is_in_flight_is_released(client, cluster, everything_goes, monkeypatch):
    class Stopped(remote_driver.Mailbox):
        def take(self, wait=True):
            if wait:
                raise KeyboardInterrupt
            return super().take(wait=False)

    # ``cancel`` may end the connection: the scheduler asserts that someone wants what others depend on
    monkeypatch.setattr(client, "cancel", None)
    GO_ON.clear()
    before = set(client.futures)
    busy = client.map(waits, range(2), pure=False)
    f = al.function(chains, executor="dask")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as caught:
        patch.setattr(remote_driver, "Mailbox", Stopped)
        f(A, B, M, np.int64(2))
    assert cluster.submitted > 0
    del caught
    gc.collect()
    client.run_on_scheduler(len, ())
    assert set(client.futures) - before == {one.key for one in busy}
    GO_ON.set()
    same(f(A, B, M, np.int64(2)), chains(A, B, M, 2))


def test_no_cluster(monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", none)
    with pytest.raises(remote_cluster.NoCluster, match=r"make a client before the call.*AL620"):
        al.function(chains, executor="dask")(A, B, M, np.int64(2))


def test_inside_a_task_all_is_done_there(client, cluster):
    f = al.function(chains, executor="dask")
    same(client.submit(f, A, B, M, np.int64(2), pure=False).result(), chains(A, B, M, 2))
    assert cluster.submitted == 0


def test_programs_are_kept_where_they_arrive():
    f = al.function(lambda x: np.tanh(x @ x), executor="sequential").get_concrete_function(A)
    program = remote_programs.Program(f.graph)
    call, args = program.__reduce__()
    first = call(*args)
    assert call(*args) is first is not program
    np.testing.assert_array_equal(first(A), np.tanh(A @ A))


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(cluster, everything_goes, seed):
    program = Program(random.Random(seed))
    expected = outcome(prepare(program.graph, "sequential").run, Program.values)
    run = prepare(program.graph, "dask").run
    assert_same(outcome(run, Program.values), expected)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 160))
def test_more_random_programs(cluster, everything_goes, seed):
    program = Program(random.Random(seed), size=8)
    expected = outcome(prepare(program.graph, "sequential").run, Program.values)
    assert_same(outcome(prepare(program.graph, "dask").run, Program.values), expected)
