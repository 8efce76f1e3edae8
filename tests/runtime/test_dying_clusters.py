"""A cluster that is gone in the middle of each kind of call is told of in words of ours, at once, and nothing hangs."""

from __future__ import annotations

import contextlib
import gc
import importlib
import multiprocessing
import os
import signal
import threading
import time

import pytest
from autoloop.distributed import Client
from faulty_clusters import PROGRAMS, Counting, Dying, Fault, bound, numbers
from forked_clusters import preloaded

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")

pytestmark = pytest.mark.nightly

#: how many tasks are done before; each program has more
TASKS = 12
SCHEDULER, WORKER = "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"
ALONE = "--no-dashboard", "--nthreads", "1", "--no-nanny"
#: seconds that a process may take to be gone
SOON = 30


def runs(module, arguments):
    """What a process does: a program of Dask's, which says nothing."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        importlib.import_module(module).main(arguments)


@pytest.fixture
def processes():
    """Starts processes, forks of one that has imported what they need; none is left."""
    preloaded()
    made = []

    def start(module, *arguments):
        made.append(multiprocessing.get_context("forkserver").Process(target=runs, args=(module, arguments)))
        made[-1].start()
        return made[-1]

    yield start
    for process in made:
        process.terminate()
    for process in made:
        process.join(60)
        assert process.exitcode is not None


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.is_ours])
def test_a_scheduler_that_dies_in_a_call(name, processes, tmp_path):
    file = str(tmp_path / "scheduler.json")
    scheduler = processes(SCHEDULER, "--port", "0", "--no-dashboard", "--scheduler-file", file)
    for _ in range(2):
        processes(WORKER, *ALONE, "--scheduler-file", file, "--local-directory", str(tmp_path))
    with distributed.Client(scheduler_file=file, timeout=60) as client:
        client.wait_for_workers(2, timeout=120)
        client.register_plugin(Dying(TASKS))
        with pytest.raises(ConnectionError, match="AL616"):
            numbers(PROGRAMS[name].call(Client(client)))
        scheduler.join(SOON)
        assert scheduler.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("name", ["condition", "gradient", "executor", "Client.map"])
def test_workers_that_die_one_after_the_other_until_none_is_left(name, processes, tmp_path):
    """None come in their place; how long to wait for others is a setting of Dask's."""
    options = {"n_workers": 0, "dashboard_address": ":0"}
    patience = dask.config.set({"distributed.scheduler.no-workers-timeout": "3s"})
    with patience, distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        for _ in range(2):
            processes(WORKER, *ALONE, cluster.scheduler_address, "--local-directory", str(tmp_path))
        client.wait_for_workers(2, timeout=120)
        fault = Fault(client, "both killed")
        cluster.scheduler.add_plugin(Counting(fault.plan("both killed", TASKS)))
        with pytest.raises(ConnectionError, match="AL616"):
            numbers(PROGRAMS[name].call(Client(client)))
        assert fault.hit == 2
        fault.close()
        gc.collect()  # a gather of Dask's that fails is a cycle
        until = time.monotonic() + SOON
        while client.futures and time.monotonic() < until:
            time.sleep(0.01)
        assert not client.futures


@pytest.fixture
def acting():
    """Sets what is done on the main thread at a signal, as programs do that are told to end."""
    before = signal.getsignal(signal.SIGUSR1)
    yield lambda act: signal.signal(signal.SIGUSR1, lambda *_: act())
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("is_here", [True, False], ids=["on the thread of the call", "on another one"])
@pytest.mark.parametrize("what", ["client", "cluster"])
@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.is_ours])
def test_what_is_closed_in_a_call(name, what, is_here, acting):
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        close = (client if what == "client" else cluster).close
        closing = threading.Thread(target=close)
        acting(close)
        act = (lambda: os.kill(os.getpid(), signal.SIGUSR1)) if is_here else closing.start
        cluster.scheduler.add_plugin(Counting({TASKS: act}))
        with bound(60), pytest.raises(ConnectionError, match="AL616"):
            numbers(PROGRAMS[name].call(Client(client)))
        if not is_here:
            closing.join()
    assert not [one for one in threading.enumerate() if one.name.startswith("autoloop-loop")]
