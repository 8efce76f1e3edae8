"""What is large stays where it is while a loop goes on: tasks come to it."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from distributed_programs import PROGRAMS, cut

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")


@pytest.fixture(scope="module")
def client():
    """A cluster of two workers that are threads."""
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as made:
        yield made


def moved(client, array):
    """The chunks of an array that were sent from a worker to another one."""
    keys = set(dask.core.flatten(array.__dask_keys__()))
    logs = [one for worker in client.cluster.workers.values() for one in worker.transfer_incoming_log]
    return [key for log in logs for key in log["keys"] if key in keys]


def test_chunks_stay_while_it_is_not_known_how_long_tasks_take(client):
    program = PROGRAMS["k-means"]
    given = list(dask.persist(*cut(program, program.arguments(40_000), 4, da.from_array)))
    distributed.wait(given[0])
    made, rounds = al.function(program.function)(*given)
    assert np.allclose(made, program.function(*program.arguments(40_000))[0], rtol=1e-9)
    assert rounds > 2
    assert not moved(client, given[0])


def test_a_preference_of_the_users_own_is_kept(client):
    seen = []

    class Noting(distributed.diagnostics.plugin.SchedulerPlugin):
        name = "noting"

        def update_graph(self, scheduler, *, tasks, **_):
            seen.extend([scheduler.tasks[key].worker_restrictions for key in tasks if key in scheduler.tasks])

    only = next(iter(client.nthreads()))
    program = PROGRAMS["k-means"]
    given = list(dask.persist(*cut(program, program.arguments(40_000), 4, da.from_array)))
    distributed.wait(given[0])
    client.cluster.scheduler.add_plugin(Noting())
    try:
        with dask.annotate(workers=[only], allow_other_workers=True):
            al.function(program.function)(*given)
    finally:
        client.cluster.scheduler.remove_plugin("noting")
    assert {only} in seen
    assert not any(one and one != {only} for one in seen)
