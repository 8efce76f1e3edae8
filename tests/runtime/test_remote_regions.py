"""Functions whose heavy parts run on a cluster: what goes, what stays, and that nothing else is seen of it."""

from __future__ import annotations

import gc
import random
import threading

import autoloop as al
import numpy as np
import pytest
from api import (
    Graph,
    nodes_inside,
    prepare,
    remote_cluster,
    remote_costs,
    remote_driver,
    remote_programs,
    remote_regions,
    remote_values,
)
from random_programs import Program, assert_same, outcome

distributed = pytest.importorskip("distributed")

FREE = remote_cluster.Network(1e-4, 1e-5, 1e12, 1000)
SLOW = remote_cluster.Network(1.0, 1.0, 1e3)


@pytest.fixture(scope="module")
def client():
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as made:
        yield made


@pytest.fixture
def cluster(client):
    """The cluster, which costs nothing to reach."""
    made = remote_cluster.of(client)
    made.network, made.submitted = FREE, 0
    yield made
    made.network = None


@pytest.fixture
def everything_goes(monkeypatch):
    """Each node is worth sending."""
    for name in ("UNIT", "OPENED"):
        monkeypatch.setattr(remote_regions, name, -1.0)
    for name in ("WORTH", "LEAST"):
        monkeypatch.setattr(remote_costs, name, -1.0)


@pytest.fixture
def loops_are_opened(monkeypatch):
    """Loops are opened for less than usually."""
    monkeypatch.setattr(remote_regions, "OPENED", 1e4)
    monkeypatch.setattr(remote_regions, "UNIT", 1e4)


RNG = np.random.default_rng(0)
A, B, M = (RNG.standard_normal((150, 150)) / 12 for _ in range(3))


def chains(a, b, m, n):
    for _ in range(n):
        a = np.tanh(a @ m)
        b = np.tanh(b @ m)
    return a, b.sum()


def regions_of(graph: Graph) -> list:
    return [node for node in nodes_inside(graph) if node.op.name == remote_regions.REMOTE]


def same(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        assert type(one) is type(other)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


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


def test_effects_happen_here_and_in_order(cluster, loops_are_opened, capsys):
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


@pytest.fixture
def moved(cluster, monkeypatch):
    """Sizes of the large arrays that were sent, and that came back before the end."""
    sent, come = [], []

    class Noting(remote_driver.Mailbox):
        def put(self, letter):
            values = letter[-1] if isinstance(letter[-1], tuple) else letter[-1:]
            come.extend([value.nbytes for value in values if getattr(value, "nbytes", 0) > 10_000])
            super().put(letter)

    put = cluster.put
    monkeypatch.setattr(cluster, "put", lambda value: sent.append(np.size(value)) or put(value))
    monkeypatch.setattr(remote_driver, "Mailbox", Noting)
    monkeypatch.setattr(remote_regions.Region, "learn", lambda *_: None)
    monkeypatch.setattr(remote_costs, "LEAST", 0.0)
    cluster.network = remote_cluster.Network(1e-5, 1e-6, 1e10, 1000)
    return sent, come


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


def regions_in(f, *args):
    return f.get_concrete_function(*args).runner.run.__self__.regions()


def test_long_chains_are_forgotten(client, cluster, loops_are_opened, monkeypatch):
    """Dask's scheduler keeps what something in memory was computed from."""
    monkeypatch.setattr(remote_values, "LONGEST", 8)
    counts, submit = [], cluster.submit
    tasks = client.cluster.scheduler.tasks
    monkeypatch.setattr(cluster, "submit", lambda *args: counts.append(len(tasks)) or submit(*args))
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


def test_workers_are_counted_again(cluster):
    cluster.network = None
    assert cluster.network.slots == cluster.up_to_date().slots == 2
    cluster._network, cluster._counted = SLOW, -1e9
    assert cluster.up_to_date().slots == 2 and cluster.network.latency == SLOW.latency


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
