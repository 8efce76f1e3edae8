"""Loops over Dask's arrays: the same numbers, what is fetched, and how much is under way."""

from __future__ import annotations

import gc
import signal
import threading
from collections import Counter

import autoloop as al
import numpy as np
import pytest
from api import Executable, Statistics, dask_engine
from dask_programs import F8, computed, counted, on_chunks, power, program, run
from each_case import each
from flow import call
from watched_windows import watched

da = pytest.importorskip("dask.array")
#: chunks that were computed, by the name of the kernel; and what a chunk waits for
CHUNKS, GO_ON = Counter(), threading.Event()
RNG = np.random.default_rng(3)
A, X = RNG.random((12, 12)), RNG.random(12)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0", "set_as_default": False}
    with distributed.Client(processes=False, **options) as made:
        yield made


@pytest.fixture(params=["here", "threads"])
def client(request):
    """Dask's local scheduler, and a cluster of threads."""
    return None if request.param == "here" else request.getfixturevalue("cluster")


def test_a_loop_that_ends_by_what_it_computes(client):
    lowered = program(power, ("a", F8, (12, 12)), ("x", F8, (12,)))
    told = Statistics()
    results = run(
        lowered, [da.from_array(A, chunks=(4, 12)), da.from_array(X, chunks=4)], client=client, statistics=told
    )
    expected = Executable(lowered).run([A, X])
    assert results[0] == expected[0]
    np.testing.assert_allclose(results[1], expected[1], rtol=1e-12)
    assert told.iterations == told.submissions == told.fetches == expected[0]


def test_a_counted_loop_fetches_nothing(client):
    lowered = program(lambda x: counted(x, 100), ("x", F8, (12,)))
    told = Statistics()
    results = run(lowered, [da.from_array(X, chunks=4)], client=client, statistics=told)
    np.testing.assert_allclose(results[1], Executable(lowered).run([X])[1], rtol=1e-12)
    assert told.fetches == 0
    assert told.submissions < 60


@each([1, 2, 5])
def test_no_more_iterations_are_under_way_than_the_window(window):
    lowered = program(lambda x: counted(x, 30, parallel_iterations=window), ("x", F8, (12,)))
    told = Statistics()
    run(lowered, [da.from_array(X, chunks=4)], statistics=told)
    assert told.widest <= window


def test_loops_in_loops_and_branches(client):
    def build(x):
        def inner(x):
            return al.while_loop(lambda j, y: al.sum(y) > 1.0, lambda j, y: (j + 1, y * 0.5), [al.constant(0), x])

        def body(i, n, x):
            j, y = inner(x)
            y = al.cond(al.sum(y) > 0.7, lambda: y * 3.0, lambda: y * 5.0)
            return i + 1, n + j, y

        return al.while_loop(lambda i, n, x: i < 6, body, [al.constant(0), al.constant(0), x])

    lowered = program(build, ("x", F8, (12,)))
    results = run(lowered, [da.from_array(X, chunks=4)], client=client)
    expected = Executable(lowered).run([X])
    assert results[:2] == expected[:2]
    np.testing.assert_allclose(results[2], expected[2], rtol=1e-12)


def test_no_trips_give_what_came():
    lowered = program(lambda x: counted(x, 0), ("x", F8, (12,)))
    np.testing.assert_array_equal(run(lowered, [da.from_array(X, chunks=4)])[1], X)


def test_a_condition_that_does_not_change():
    def build(flag, x):
        def body(i, x):
            return i + 1, al.cond(flag, lambda: x * 0.5, lambda: x + 1.0)

        return al.while_loop(lambda i, x: i < 5, body, [al.constant(0), x])

    lowered = program(build, ("flag", np.dtype(bool), ()), ("x", F8, (12,)))
    for flag in (True, False):
        told = Statistics()
        results = run(lowered, [da.from_array(np.asarray(flag)), da.from_array(X, chunks=4)], statistics=told)
        np.testing.assert_allclose(results[1], Executable(lowered).run([np.bool_(flag), X])[1], rtol=1e-12)


def test_two_loops_are_under_way_together(client):
    def build(x, y):
        def halved(x):
            return al.while_loop(lambda j, y: al.sum(y) > 0.01, lambda j, y: (j + 1, y * 0.5), [al.constant(0), x])

        return [*halved(x), *halved(y)]

    lowered = program(build, ("x", F8, (12,)), ("y", F8, (12,)))
    told = Statistics()
    results = run(lowered, [da.from_array(X, chunks=4), da.from_array(X * 2, chunks=4)], client=client, statistics=told)
    expected = Executable(lowered).run([X, X * 2])
    assert [results[0], results[2]] == [expected[0], expected[2]]
    assert told.iterations == sum([results[0], results[2]])
    if client is None:  # all that is due is sent together
        assert told.submissions <= max(results[0], results[2]) + 1


def test_a_failure_here_is_told_at_the_users_line(client):
    def build(x, y):
        return counted(x, 3, lambda i, x: x + y)

    lowered = program(build, ("x", F8, (None,)), ("y", F8, (None,)))
    with pytest.raises(ValueError) as caught:
        run(lowered, [da.from_array(X, chunks=4), da.from_array(X[:5], chunks=5)], client=client)
    assert "in iteration 0 of the loop" in "".join(caught.value.__notes__)
    assert any("test_dask_engine" in str(entry.path) for entry in caught.traceback)


def test_templates_change_nothing(client):
    lowered = program(power, ("a", F8, (12, 12)), ("x", F8, (12,)))
    feeds = [da.from_array(A, chunks=(4, 12)), da.from_array(X, chunks=4)]
    told = [Statistics(), Statistics()]
    with_them = run(lowered, feeds, client=client, statistics=told[0])
    without = run(lowered, feeds, client=client, statistics=told[1], templates=False)
    for a, b in zip(with_them, without):
        np.testing.assert_array_equal(a, b)
    assert told[0].written <= 3
    assert told[0].reused >= with_them[0] - 3
    assert not told[1].tasks


def test_a_failure_on_a_worker_is_told_at_the_users_line(client):
    def build(x):
        def body(i, x):
            m = al.reshape(x, (2, 2))
            y = al.linalg.solve(m, al.constant(np.ones(2)))  # fails
            return i + 1, al.concat([y, x[:2]], 0) * 0.0

        return al.while_loop(lambda i, x: al.sum(x) > -1.0, body, [al.constant(0), x])

    lowered = program(build, ("x", F8, (4,)))
    with pytest.raises(np.linalg.LinAlgError) as caught:
        run(lowered, [da.from_array(np.array([1.0, 2.0, 0.5, 3.0]), chunks=4)], client=client)
    assert "in iteration 1 of the loop" in "".join(caught.value.__notes__)
    lines = [str(entry.statement) for entry in caught.traceback if "test_dask_engine" in str(entry.path)]
    assert any("# fails" in line for line in lines)


def test_old_iterations_are_released(cluster, monkeypatch):
    lowered = program(power, ("a", F8, (12, 12)), ("x", F8, (12,)))
    feeds = [da.from_array(A, chunks=(4, 12)), da.from_array(X, chunks=4)]
    counts = []
    watched(monkeypatch, lambda done: counts.append(len(cluster.futures)))
    results = dask_engine.run(lowered, feeds, client=cluster)
    assert len(counts) == results[0]
    assert max(counts) <= min(counts[1:]) + 6


def test_a_loop_variable_is_not_cut_to_scraps(client):
    def build(u):
        def body(i, u):
            return i + 1, 0.5 * u + 0.25 * (al.concat([u[1:], u[:1]], 0) + al.concat([u[-1:], u[:-1]], 0))

        return al.while_loop(lambda i, u: al.sum(u) + i < 20.0, body, [al.constant(np.float64(0)), u])

    lowered = program(build, ("u", F8, (24,)))
    told, long = Statistics(), np.concatenate([X, X])
    results = dask_engine.run(lowered, [da.from_array(long, chunks=8)], client=client, statistics=told)
    assert results[1].chunks == ((8, 8, 8),)
    np.testing.assert_allclose(computed(results, client)[1], Executable(lowered).run([long])[1], rtol=1e-12)
    assert told.written <= 3


def counting(chunk, name):
    CHUNKS[name] += 1
    return chunk


def blocking(chunk):
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    GO_ON.wait(60)
    return chunk


def held(cluster):
    """The keys that this client holds, once its thread has done what there was to do."""
    for _ in range(2):  # what is released lets go of an error, whose traceback holds more
        gc.collect()
        cluster.run_on_scheduler(len, ())
    return set(cluster.futures)


def test_what_is_not_fetched_is_not_computed(client):
    def seen(name):
        return on_chunks(counting, name)

    def build(x, unused):
        def body(i, x, y):
            x = al.cond(al.sum(x) > 0.0, lambda: call(seen("taken"), x) * 0.5, lambda: call(seen("dead"), x) + 1.0)
            return i + 1, x, call(seen("unused"), y) + x

        return al.while_loop(lambda i, x, y: al.logical_and(i < 4, al.sum(x) < 1e9), body, [al.constant(0), x, unused])[
            :2
        ]

    CHUNKS.clear()
    lowered = program(build, ("x", F8, (12,)), ("unused", F8, (12,)))
    feeds = [da.from_array(X, chunks=4), da.from_array(X, chunks=4)]
    results = run(lowered, feeds, client=client)
    np.testing.assert_allclose(results[1], X * 0.5**4, rtol=1e-12)
    assert CHUNKS == {"taken": 4 * 3}


def test_what_is_computed_before_a_branch_is_computed_once(client):
    def build(x):
        def body(i, x):
            y = call(on_chunks(counting, "before"), x)
            return i + 1, al.cond(al.sum(y) > 1.0, lambda: y * 0.5, lambda: y + 1.0)

        return al.while_loop(lambda i, x: i < 5, body, [al.constant(0), x])

    CHUNKS.clear()
    run(program(build, ("x", F8, (12,))), [da.from_array(X, chunks=4)], client=client)
    assert CHUNKS == {"before": 5 * 3}


def test_ctrl_c_ends_the_run_and_releases_what_it_had(cluster):
    def build(x):
        def body(i, x):
            y = al.cond(i < 3.0, lambda: x + 1.0, lambda: call(on_chunks(blocking), x))
            return i + 1, y

        return al.while_loop(lambda i, x: al.sum(x) > -1.0, body, [al.constant(np.float64(0)), x])

    before = held(cluster)
    lowered = program(build, ("x", F8, (12,)))
    GO_ON.clear()
    with pytest.raises(KeyboardInterrupt) as caught:
        run(lowered, [da.from_array(X, chunks=12)], client=cluster)
    GO_ON.set()
    del caught
    assert held(cluster) == before
    assert cluster.submit(sum, [1, 2]).result() == 3  # it takes other work


def test_a_failure_leaves_nothing_on_the_cluster(cluster):
    before = held(cluster)
    lowered = program(lambda x: counted(x, 9, lambda i, x: al.linalg.solve(x * 0.0, x)), ("x", F8, (3, 3)))
    with pytest.raises(np.linalg.LinAlgError):
        run(lowered, [da.from_array(A[:3, :3], chunks=3)], client=cluster)
    assert held(cluster) == before


@pytest.mark.nightly
def test_hundreds_of_iterations_keep_as_much_as_ten(cluster, monkeypatch):
    lowered = program(lambda x: power(x, x[0], -1.0, 500), ("a", F8, (12, 12)))
    executable, held, groups = dask_engine.DaskExecutable(lowered), [], []

    def look(done):
        if done % 50 == 10:
            held.append((len(cluster.futures), len(executable.known.kept())))
            groups.append(len(cluster.cluster.scheduler.task_groups))

    watched(monkeypatch, look)
    told = Statistics()
    executable.run([da.from_array(A, chunks=(4, 12))], client=cluster, statistics=told)
    assert len(held) == 10
    assert max(held) <= (held[0][0] + 6, held[0][1])
    # with each graph that comes in the scheduler looks at all of them
    assert max(groups) <= groups[0] + 6
    assert told.written < 8


@pytest.mark.nightly
def test_processes_give_the_same():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    lowered = program(power, ("a", F8, (12, 12)), ("x", F8, (12,)))
    with distributed.LocalCluster(**options) as made, distributed.Client(made, set_as_default=False) as client:
        results = run(lowered, [da.from_array(A, chunks=(4, 12)), da.from_array(X, chunks=4)], client=client)
    expected = Executable(lowered).run([A, X])
    assert results[0] == expected[0]
    np.testing.assert_allclose(results[1], expected[1], rtol=1e-12)
