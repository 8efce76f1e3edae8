"""Workers that are lost between the two ways of a gradient, in loops with lists, and in several loops at a time."""

from __future__ import annotations

import gc
import operator
import threading
import uuid
import weakref

import api
import autoloop as al
import autoloop.distributed
import numpy as np
import pytest
from watched_windows import watched

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Anchors are made soon."""
    monkeypatch.setattr(api.loop_recovery, "FIRST", 4)
    monkeypatch.setattr(api.loop_recovery, "SHARE", 0)


def chunked():
    return da.from_array(np.arange(40.0), chunks=10)


def waves(x, n):
    for _ in range(n):
        x = 1.01 * np.sin(x)
    return (x * x).sum()


async def _without_worker(dask_scheduler, address):
    """As if a worker had died."""
    await dask_scheduler.remove_worker(address, stimulus_id="test")


@pytest.mark.parametrize("which", [0, 1])
def test_checkpoints_outlive_a_worker_between_the_way_forward_and_back(which, monkeypatch):
    both = al.value_and_grad(al.function(waves, gradient_memory="checkpoint"))
    wanted, through, ended = both(np.arange(40.0) / 40, np.int64(9)), api.segmented_run._Loop.through, []
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:

        def loses(loop):
            values = through(loop)
            ended.append(loop)
            if len(ended) == 1:
                client.run_on_scheduler(_without_worker, address=sorted(client.nthreads())[which])
            return values

        monkeypatch.setattr(api.segmented_run._Loop, "through", loses)
        value, gradient = both(chunked() / 40, np.int64(9))
        assert len(ended) > 1
        np.testing.assert_allclose(value, wanted[0], rtol=1e-9)
        np.testing.assert_allclose(gradient.compute(), wanted[1], rtol=1e-9)


def test_what_is_given_is_given_once_and_again_when_its_origin_is_gone():
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        anchors = api.anchors.Anchors(client)
        x = chunked().persist()
        assert anchors.is_to_be_given(x) and not anchors.is_to_be_given(x + 1)
        (given,) = anchors.given([x])
        assert not anchors.is_to_be_given(given)
        futures = distributed.futures_of(given)
        futures[0].sources = futures[0], futures[0]  # as if the copy had been made again where the origin is
        anchors.find_hurt([given])
        assert anchors.is_to_be_given(given)
        (again,) = anchors.given([given])
        anchors.check_given([again])
        assert not anchors.is_to_be_given(again)
        assert np.array_equal(again.compute(), np.arange(40.0))
        client.cancel(again, force=True)
        with pytest.raises(api.anchors.LostError):
            anchors.check_given([again])


def test_what_is_given_outlives_a_worker_wherever_it_was_moved():
    """Of what is taken on another worker the scheduler keeps the one there, beside what it was made of."""
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        anchors = api.anchors.Anchors(client)
        (given,) = anchors.given([chunked().persist()])
        futures = distributed.futures_of(given)
        client.replicate(futures, n=2)
        first, second = sorted(client.nthreads())
        client.run(api.anchors._without_copies, [future.key for future in futures], workers=[first])
        while any(set(places) != {second} for places in client.who_has(futures).values()):
            client.run(int)
        client.run_on_scheduler(_without_worker, address=second)
        anchors.check_given([given])
        assert np.array_equal(given.compute(), np.arange(40.0))


def more(x, found, n):
    k = 0
    while k < n:
        x = x * 0.5 + found[-1].max() * 0.1
        found.append(x + k)
        k += 1
    return x


def test_a_list_that_was_given_is_not_held_by_the_function():
    fast, x, found = al.function(more), chunked(), [chunked() * 2.0]
    first = weakref.ref(found[0])
    for _ in range(3):
        x = fast(x, found, np.int64(2))
    del found
    gc.collect()  # a first try of a trace is a cycle
    assert first() is None


def collects(x, n):
    found, k = [], 0
    while k < n:
        x = x * 0.5 + x.max()
        found.append(x + k)
        k += 1
    return x, found


def one_beside_the_other(x, n):
    y, i, j = x + 1.0, 0, 0
    while i < n:
        x = x * 0.5 + x.max()
        i += 1
    while j < n:
        y = y * 0.25 + y.min()
        j += 1
    return x, y


@pytest.mark.parametrize("function", [collects, one_beside_the_other])
def test_lists_and_loops_beside_each_other_outlive_a_worker_in_the_middle_and_after(function, monkeypatch):
    plain, lost, most = function(np.arange(40.0), 12), [], []
    with distributed.Client(processes=False, n_workers=3, threads_per_worker=1, dashboard_address=":0") as client:

        def loses():
            lost.append(sorted(client.nthreads())[0])
            client.run_on_scheduler(_without_worker, address=lost[-1])

        watched(monkeypatch, lambda done: most.append(done) if lost or done < 6 else loses())
        made = al.function(function)(chunked(), np.int64(12))
        assert len(lost) == 1
        again = 4 + 2 if function is collects else 12 + 2 * (4 + 2)
        assert most[-1] < 12 + again  # what was done since the anchor is done again
        assert function is not collects or all(hasattr(one, "sources") for one in distributed.futures_of(made[1]))
        loses()
        assert np.array_equal(made[0].compute(), plain[0])
        assert np.array_equal(dask.compute(made[1])[0], plain[1])


def reads_back(x, n):
    found, k = [x], 0
    while k < n:
        found.append(found[-1] * 0.5 + found[0].max())
        k += 1
    return x, found


def takes_off(x, n):
    found, k = [x, x + 1.0], 0
    while k < n:
        x = found.pop() * 0.5 + x.max()
        found.append(x + k)
        k += 1
    return x, found


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("function", "kept"), [(collects, 3), (reads_back, 5), (takes_off, 0), (one_beside_the_other, 0)]
)
def test_of_a_list_the_scheduler_keeps_its_elements_and_what_was_made_since_an_anchor(function, kept):
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        most, x, n = [], np.arange(6.0), np.int64(96)

        class Counting(distributed.diagnostics.plugin.SchedulerPlugin):
            def update_graph(self, scheduler, **_):
                most.append(len(scheduler.tasks))

        client.cluster.scheduler.add_plugin(Counting(), name="counting")
        made = al.function(function)(da.from_array(x, chunks=6), n)
        assert max(most) < kept * n + 60
        for one, other in zip(dask.compute(made[-1])[0], function(x, n)[-1], strict=True):
            assert np.allclose(one, other)


def one_fails(x, n):
    y, i, j = x + 1.0, 0, 0
    while i < n:
        x = x * 0.5 + x.max()
        i += 1
    while j < n:
        y = np.linalg.solve(np.diag(y) * (5 - j), y)
        j += 1
    return x, y


def test_a_loop_that_fails_stops_those_beside_it_and_nothing_stays():
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        gc.collect()
        with pytest.raises(np.linalg.LinAlgError, match="iteration 5"):
            al.function(one_fails)(da.from_array(np.arange(1.0, 5.0), chunks=4), np.int64(1 << 40))
        gc.collect()
        client.run(int)  # behind what was let go of
        assert not client.futures
        assert not [one for one in threading.enumerate() if one.name.startswith("autoloop-loop")]


SEEN = []


def note(chunk):
    SEEN.append(chunk.size)
    return chunk


def test_what_two_loops_begin_with_is_computed_once():
    SEEN.clear()
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"):
        x = da.from_array(np.arange(40.0), chunks=10).map_blocks(note, meta=np.ones(0))
        made = al.function(one_beside_the_other)(x, np.int64(3))
        for one, other in zip(dask.compute(*made), one_beside_the_other(np.arange(40.0), 3), strict=True):
            assert np.array_equal(one, other)
        assert SEEN == [10] * 4


def solving(a, x, n):
    k = 0
    while k < n and x.max() < 1e9:
        x = np.linalg.solve(a - k * np.eye(4), x)
        k += 1
    return x


def settling(a, x, n):
    k = 0
    while k < n and x.max() < 1e9:
        x = a * x * 0.5 + x.max() * 0.25 + 1.0
        k += 1
    return x


@pytest.mark.parametrize("function", [solving, settling])
def test_an_error_holds_nothing_on_the_cluster(function, monkeypatch):
    """Neither the client, which has the error of a task and of a value that is lost, nor those who were told of it."""
    real, told = api.on_cluster.OnCluster.send, []

    def sends(sender, submission, mailbox):
        told.append(submission)
        count = real(sender, submission, mailbox)
        if len(told) == 6 and function is settling:
            sender._client.cancel([future for _, later in submission.asked for future in sender._futures(later)])
        return count

    monkeypatch.setattr(api.on_cluster.OnCluster, "send", sends)
    a, x = (np.eye(4) * 3.0, np.ones((4, 4))) if function is solving else (np.ones(40), np.arange(40.0))
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        gc.collect()
        gc.disable()
        try:
            made = al.function(function)(da.from_array(a, chunks=a.shape), da.from_array(x, chunks=4), np.int64(14))
            assert np.allclose(made.compute(), function(a, x, 14))
            del made
            assert function is settling
        except np.linalg.LinAlgError:
            assert function is solving
        finally:
            gc.enable()
        told.clear()
        if function is solving:
            gc.collect()  # the user's lines in a traceback have frames below them, which have the error
        client.run(int)  # behind what was let go of
        assert not client.futures


async def _known(dask_scheduler):
    return list(dask_scheduler.tasks)


async def _wanted(dask_scheduler):
    return [key for key, task in dask_scheduler.tasks.items() if task.who_wants]


RELEASED = threading.Event()


def _held_up():
    """Found by its name on workers, which are threads of this process."""
    RELEASED.wait(60)


def _left_behind(client):
    """Have a worker lost that holds what a task needs, and what another one needs that needs that: Dask keeps it."""
    first = sorted(client.nthreads())[0]
    here = {"workers": [first], "allow_other_workers": True}
    names = (f"{kind}-t{uuid.uuid4().hex}x{k}" for k, kind in enumerate(("made", "behind", "wanted")))
    made = client.submit(operator.neg, 1.0, key=next(names), **here)
    distributed.wait(made)
    data = client.scatter(2.0, workers=[first], hash=False)
    RELEASED.clear()
    busy = client.submit(_held_up, **here)  # so what is behind it waits for the worker
    behind = client.submit(operator.neg, made, key=next(names), **here)
    wanted = client.submit(operator.add, behind, data, key=next(names), **here)
    while wanted.key not in client.run_on_scheduler(_known):
        pass
    kept = {made.key, behind.key}
    del made, data, behind
    while not kept.isdisjoint(client.run_on_scheduler(_wanted)):
        pass
    client.run_on_scheduler(_without_worker, address=first)
    assert kept <= {*client.run_on_scheduler(_known)}
    RELEASED.set()
    distributed.wait(busy)


def _loop_goes_on(client, error):
    api.loop_recovery.RecoveredLoop(None, client, ()).after(error)


def _region_is_sent_again(client, error):
    errors = iter([error])

    class Graph(api.remote_driver.RemoteGraph):
        def _once(self, *_):
            for one in errors:
                raise one

    graph = al.function(lambda x: x + 1.0).get_concrete_function(1.0).graph
    with autoloop.distributed.Client(client):
        Graph(graph, lambda *_: None).run([1.0])


@pytest.mark.parametrize("goes_on", [_loop_goes_on, pytest.param(_region_is_sent_again, marks=pytest.mark.nightly)])
def test_what_was_to_be_computed_for_nobody_is_forgotten_after_a_loss(goes_on):
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        _left_behind(client)
        goes_on(client, api.anchors.LostError("as if a worker had died [AL616]"))
        client.run(int)  # behind what was let go of
        assert not [key for key in client.run_on_scheduler(_known) if "-t" in key]
