"""Loops over arrays of Dask, whose workers, scheduler or program die, or that are stopped."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import api
import autoloop as al
import numpy as np
import pytest
from watched_windows import watched

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")

checkpoints = api.loop_checkpoints


class Crash(BaseException):
    """What no handler of the library's is for."""


@al.function
def smooth(x, n):
    i = 0
    while i < n:
        x = x * 0.5 + x.max() * 0.25 + 1.0
        i += 1
    return x, i


def squares(x, n):
    for _ in range(n):
        x = 1.01 * np.sin(x)
    return (x * x).sum()


slope = al.grad(al.function(squares, gradient_memory="checkpoint"))


def expected(n):
    return smooth.python_function(np.arange(40.0), n)[0]


def chunked():
    return da.from_array(np.arange(40.0), chunks=10)


@pytest.fixture(scope="module")
def client():
    """A cluster of two workers that are threads."""
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as made:
        yield made


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Anchors are made soon, and disks are quick."""
    monkeypatch.setattr(api.loop_recovery, "FIRST", 4)
    monkeypatch.setattr(api.loop_recovery, "SHARE", 0)
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_anchors_bound_what_the_scheduler_keeps(client):
    scheduler, most = client.cluster.scheduler, 0
    before = len(scheduler.tasks)  # what other tests have left
    anchors = api.anchors.Anchors(client)
    x = da.zeros(40, chunks=10).persist()
    for k in range(60):
        x = (x * 0.5 + 1.0).persist()
        if k % 10 == 9:
            (x,) = anchors.anchored([x])
            most = max(most, len(scheduler.tasks) - before)
    assert most < 3 * 10 * 4 + 5 * 4
    for copies in anchors._last.chunks:
        places = [set(client.who_has([one])[one.key]) for one in copies]
        assert places[1] != places[2]
    assert np.allclose(x.compute(), 2.0)
    anchors.close()


def test_workers_forget_what_was_before_an_anchor(client):
    workers, anchors = client.cluster.workers.values(), api.anchors.Anchors(client)
    x, kept = da.zeros(40, chunks=10).persist(), []
    for k in range(120):
        x = (x * 0.5 + 1.0).persist()
        if k % 10 == 9:
            (x,) = anchors.anchored([x])
            kept.append(sum(len(one.state.tasks) for one in workers))
    assert kept[-1] < kept[1] + 100  # they know of each task for as long as of what was made of it
    anchors.close()


def waves(x, n):
    for _ in range(n):
        x = 1.01 * np.sin(x)
    return (x * x).sum()


@pytest.mark.nightly
def test_the_scheduler_forgets_what_checkpoints_of_a_gradient_are_made_of(client):
    most, both = {}, al.value_and_grad(al.function(waves, gradient_memory="checkpoint"))

    class Counting(distributed.diagnostics.plugin.SchedulerPlugin):
        name = "counting"

        def update_graph(self, scheduler, **_):
            most[n] = max(most.get(n, 0), len(scheduler.tasks))

    client.cluster.scheduler.add_plugin(Counting())
    try:
        for n in (40, 160):
            value, gradient = both(chunked() / 40, np.int64(n))
            wanted = both(np.arange(40.0) / 40, np.int64(n))
            np.testing.assert_allclose(value, wanted[0], rtol=1e-9)
            np.testing.assert_allclose(gradient.compute(), wanted[1], rtol=1e-9)
            del value, gradient
    finally:
        client.cluster.scheduler.remove_plugin("counting")
    assert most[160] < 2.5 * most[40]  # of the checkpoints there are twice as many


def test_a_loop_with_anchors_gives_the_same(client):
    x, i = smooth(chunked(), np.int64(13))
    assert i == 13
    assert np.array_equal(x.compute(), expected(13))


def test_what_an_anchor_has_is_there_again(client):
    anchors = api.anchors.Anchors(client)
    (x,) = anchors.anchored([chunked()])
    whole = x.compute()
    keys = [futures[0] for futures in anchors._last.chunks]
    del x
    client.cancel(keys, force=True)
    (x,) = anchors.again()
    assert np.array_equal(x.compute(), whole)
    client.cancel([one for futures in anchors._last.chunks for one in futures], force=True)
    with pytest.raises(api.anchors.LostError):
        anchors.again()


def test_a_loop_goes_on_from_the_files_that_workers_have_written(client, tmp_path, monkeypatch):
    save, left = checkpoints.CheckpointFolder.save, 2

    def fails(self, *args):
        nonlocal left
        if not left:
            raise Crash
        left -= 1
        save(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointFolder, "save", fails)
        with pytest.raises(Crash), al.keep_checkpoints(tmp_path, checkpoint_every=3):
            smooth(chunked(), np.int64(13))
    names = sorted(os.listdir(tmp_path / "call-000" / "00000001"))
    assert sum(name.endswith(".npy") for name in names) == 4
    with pytest.raises(al.CheckpointError, match="AL714"), al.keep_checkpoints(tmp_path, resume=True):
        smooth(chunked().rechunk(20), np.int64(13))
    (tmp_path / "call-000" / "00000001" / names[0]).write_bytes(b"")
    with (
        pytest.warns(RuntimeWarning, match="the checkpoint before the newest"),
        al.keep_checkpoints(tmp_path, resume=True),
    ):
        x, i = smooth(chunked(), np.int64(13))
    assert i == 13
    assert np.array_equal(x.compute(), expected(13))
    assert os.listdir(tmp_path) == []


def test_a_list_of_arrays_is_kept_in_files(client, tmp_path, monkeypatch):
    @al.function
    def grows(x, n):
        found, k = [], 0
        while k < n:
            x = x * 0.5
            found.append(x + k)
            k += 1
        return found

    save, left = checkpoints.CheckpointFolder.save, [2]

    def fails(self, *args):
        left[0] -= 1
        if left[0] < 0:
            raise Crash
        save(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointFolder, "save", fails)
        with pytest.raises(Crash), al.keep_checkpoints(tmp_path, checkpoint_every=3):
            grows(chunked(), np.int64(10))
    with al.keep_checkpoints(tmp_path, resume=True):
        found = grows(chunked(), np.int64(10))
    plain = grows.python_function(np.arange(40.0), 10)
    assert [one.chunks for one in found] == [((10,) * 4,)] * 10
    assert all(np.array_equal(one.compute(), two) for one, two in zip(found, plain))


def test_a_client_keeps_the_loops_of_its_block(client, tmp_path, monkeypatch):
    from autoloop.distributed import Client

    save, done = checkpoints.CheckpointFolder.save, []

    def notes(self, places, outside):
        if len(done) == 2:
            raise Crash
        save(self, places, outside)
        done.append(places[0].iteration)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointFolder, "save", notes)
        with pytest.raises(Crash), Client(client, checkpoint_to=tmp_path, checkpoint_every=3):
            smooth(chunked(), np.int64(13))
    assert done == [3, 6]
    with Client(client, checkpoint_to=tmp_path, resume=True):
        x, _ = smooth(chunked(), np.int64(13))
    assert np.array_equal(x.compute(), expected(13))
    assert os.listdir(tmp_path) == []
    with pytest.raises(TypeError, match="AL715"):
        Client(client, resume=True)


def test_without_a_cluster_there_are_checkpoints_too(tmp_path, monkeypatch):
    monkeypatch.setattr(api.loop_recovery, "dask_client", lambda: None)
    with al.keep_checkpoints(tmp_path, checkpoint_every=3):
        x, _ = smooth(chunked(), np.int64(7))
    assert np.array_equal(x.compute(), expected(7))


COMPUTED = []


def _noting(block):
    COMPUTED.append(block.shape)
    return block + 0.0


def test_what_a_loop_only_reads_is_computed_once_for_all_that_is_left_of_it(client):
    @al.function
    def adds(x, a, n):
        b, i = a * 2.0, 0
        while i < n:
            x = x * 0.5 + b
            i += 1
        return x

    a = da.from_array(np.arange(40.0), chunks=10).map_blocks(Noting(), dtype=float, meta=np.zeros(0))
    COMPUTED.clear()
    x = adds(da.zeros(40, chunks=10), a, np.int64(40))
    assert np.allclose(x.compute(), adds.python_function(np.zeros(40), np.arange(40.0), 40))
    assert len(COMPUTED) == 2 * 4


def _noting_of():
    return Noting()


class Noting:
    """Found by its name on workers, which are threads of this process."""

    def __call__(self, block):
        return _noting(block)

    def __reduce__(self):
        return _noting_of, ()


@al.function
def smooth_each(x, n, m):
    k = 0
    while k < m:
        i = 0
        while i < n:
            x = x * 0.5 + x.max() * 0.25 + 1.0
            i += 1
        x = x - k
        k += 1
    return x, k


def test_anchors_bound_what_the_scheduler_keeps_of_a_loop_inside_another(client, monkeypatch):
    scheduler, most = client.cluster.scheduler, []
    watched(monkeypatch, lambda done: most.append(len(scheduler.tasks)))
    plain = smooth_each.python_function(np.arange(40.0), 40, 2)
    x, k = smooth_each(chunked(), np.int64(40), np.int64(2))
    assert k == 2
    assert np.allclose(x.compute(), plain[0], rtol=1e-12)
    assert max(most) < most[0] + 200  # which tests before may have left some of


def test_draws_stand_where_they_stood_when_a_worker_dies(client, monkeypatch):
    def drawn(x, rng, n):
        i = 0
        while i < n:
            x = x * 0.5 + rng.random()
            i += 1
        return x, rng.random()

    plain = drawn(np.arange(40.0), np.random.default_rng(3), 13)
    real, left = api.dask_engine.DaskExecutable.run, [3]

    def dies(self, *args, **options):
        made = real(self, *args, **options)
        left[0] -= 1
        if not left[0]:
            raise api.anchors.LostError("as if a worker had died [AL616]")
        return made

    monkeypatch.setattr(api.dask_engine.DaskExecutable, "run", dies)
    x, last = al.function(drawn)(chunked(), np.random.default_rng(3), np.int64(13))
    assert left[0] < 0
    assert np.array_equal(x.compute(), plain[0])
    assert last == plain[1]


# -- processes that are killed ------------------------------------------------------------------------------------


def _slow(x):
    time.sleep(0.02)
    return x


@pytest.mark.nightly
@pytest.mark.parametrize("kill", range(12))
def test_a_worker_killed_in_any_iteration_changes_no_number(kill, monkeypatch):
    # with a cluster each: a nanny may give a worker up
    options = {"n_workers": 2 + kill % 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        given = chunked().persist()
        distributed.wait(given)
        told = Killing(kill, random.Random(kill).choice(sorted(client.run(os.getpid).values())))
        watched(monkeypatch, told.computed)
        x, i = smooth(given, np.int64(12))
        assert i == 12
        assert np.array_equal(x.compute(), expected(12))
        assert told.is_done


class Killing:
    """Kills a process when an iteration has been computed."""

    def __init__(self, iteration, process):
        self.iteration, self.process, self.is_done = iteration, process, False

    def computed(self, done):
        if not self.is_done and done > self.iteration:
            self.is_done = True
            os.kill(self.process, signal.SIGKILL)


@pytest.mark.nightly
@pytest.mark.parametrize("nanny", ["--nanny", "--no-nanny"])
@pytest.mark.parametrize("way", ["forward", "gradient"])
def test_a_scheduler_that_is_lost_is_an_error_and_nothing_hangs(nanny, way, tmp_path):
    file = tmp_path / "scheduler.json"
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", str(file)], **options)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--no-dashboard"]
    worker = subprocess.Popen([*command, nanny, "--death-timeout", "120"], **options)
    try:
        with distributed.Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(1, timeout=120)
            killing = threading.Timer(2.0, scheduler.kill)
            killing.start()
            begin = time.monotonic()
            with pytest.raises(ConnectionError, match="AL616"):
                smooth(chunked(), np.int64(100000)) if way == "forward" else slope(chunked(), np.int64(3000))
            assert time.monotonic() - begin < 150
            killing.join()
    finally:
        for process in (scheduler, worker):
            process.terminate()
            process.wait(60)


STOPPED = """
    import os, sys, signal, threading
    import numpy as np, dask.array as da, distributed, autoloop as al

    @al.function
    def f(x, n):
        i = 0
        while i < n:
            x = x * 0.5 + x.max() * 0.25
            i += 1
        return x

    if __name__ == "__main__":
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
            with distributed.Client(cluster) as client:
                x = da.from_array(np.arange(40.0), chunks=10)
                f(x, np.int64(3)).compute()
                threading.Timer(3.0, os.kill, (os.getpid(), signal.SIGINT)).start()
                try:
                    with al.keep_checkpoints(sys.argv[1], checkpoint_every=7):
                        f(x, np.int64(1000000))
                except KeyboardInterrupt:
                    print("stopped")
                import gc, time
                gc.collect()
                until = time.monotonic() + 20
                while cluster.scheduler.tasks and time.monotonic() < until:
                    client.run(int)
                print("keys", len(cluster.scheduler.tasks), len(client.futures))
                print("data", sum(client.run(lambda dask_worker: len(dask_worker.data)).values()))
                print("works", float(f(x, np.int64(3)).sum().compute()) > 0)
"""


@pytest.mark.nightly
def test_ctrl_c_leaves_no_key_no_process_and_no_file(tmp_path):
    program, folder = tmp_path / "program.py", tmp_path / "kept"
    program.write_text(textwrap.dedent(STOPPED))
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, env=environment, start_new_session=True)
    assert done.stdout.split("\n")[:4] == ["stopped", "keys 0 0", "data 0", "works True"], done.stderr
    assert not [name for name in os.listdir(tmp_path / "temporary") if not name.startswith("dask-")]
    # what is kept is whole: the last two
    assert all(name == "lock" or len(name) == 8 for name in os.listdir(folder / "call-000"))
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(program) not in running
