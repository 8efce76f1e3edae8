"""A cluster that is gone in the middle of each kind of call is told of in words of ours, at once, and nothing hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from autoloop.distributed import Client
from faulty_clusters import PROGRAMS, Dying, numbers

distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")

pytestmark = pytest.mark.nightly

#: what waits in calls of ours
OURS = [name for name, program in PROGRAMS.items() if program.is_ours and not name.startswith("Client.")]
#: how many tasks are done before; each program has more
TASKS = 12
WORKER = "distributed.cli.dask_worker", "--no-dashboard", "--nthreads", "1", "--no-nanny"
#: seconds that a process may take to be gone
SOON = 30


@pytest.fixture
def processes():
    """Starts processes, of which none is left."""
    made = []

    def start(*arguments):
        paths = os.pathsep.join(filter(None, sys.path))
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [sys.executable, "-m", *arguments]
        made.append(subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, **options))
        return made[-1]

    yield start
    for process in made:
        process.terminate()
    for process in made:
        process.wait(60)


@pytest.mark.parametrize("name", OURS)
def test_a_scheduler_that_dies_in_a_call(name, processes, tmp_path):
    file = str(tmp_path / "scheduler.json")
    scheduler = processes("distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file)
    for _ in range(2):
        processes(*WORKER, "--scheduler-file", file, "--local-directory", str(tmp_path))
    with distributed.Client(scheduler_file=file, timeout=60) as client:
        client.wait_for_workers(2, timeout=120)
        client.register_plugin(Dying(TASKS))
        with pytest.raises(ConnectionError, match="AL616"):
            numbers(PROGRAMS[name].call(Client(client)))
        assert scheduler.wait(SOON) == -signal.SIGKILL
