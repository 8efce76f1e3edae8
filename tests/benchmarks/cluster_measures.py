"""What a loop does to a Dask cluster of processes on this machine: times, bytes, tasks, memory.

The cluster's scheduler lives in this process, as ``LocalCluster`` has it, so what is told of "the client" is both.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import dask
import psutil
from dask.task_spec import Task, TaskRef
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP
from distributed.diagnostics.plugin import SchedulerPlugin

MEGABYTE = 1e6
#: seconds between two looks at memory and at the number of tasks
GLANCE = 0.05
#: graphs that are noted at most, the last ones
KEPT = 200


@contextmanager
def two_processes() -> Iterator[Client]:
    """A client of a cluster of two processes with a thread each, and nobody to look on."""
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
            with Client(cluster) as client:
                count_bytes()
                client.run(count_bytes)
                yield client


# -- bytes ------------------------------------------------------------------------------------------------------


def count_bytes() -> None:
    """Count from now on what this process writes to others, in an attribute of the class of such connections."""
    plain = TCP.write
    TCP.written = 0  # of one event loop a process: no other thread writes

    async def write(self: TCP, *args: Any, **options: Any) -> int:
        number = await plain(self, *args, **options)
        TCP.written += number
        return number

    TCP.write = write


def bytes_so_far(client: Client) -> int:
    """What all processes of the cluster have written to each other."""
    return TCP.written + sum(client.run(lambda: TCP.written).values())


# -- memory and tasks -------------------------------------------------------------------------------------------


class Onlooker(threading.Thread):
    """Looks at the processes and the scheduler again and again, until it is told to stop."""

    def __init__(self, client: Client) -> None:
        super().__init__(name="onlooker", daemon=True)
        workers = client.run(os.getpid).values()
        self.scheduler = client.cluster.scheduler
        self.processes = [psutil.Process(), *map(psutil.Process, workers)]
        self.before = [one.memory_info().rss for one in self.processes]
        self.most = list(self.before)
        self.tasks: list[tuple[float, int]] = []
        self._over = threading.Event()

    def run(self) -> None:
        begin = time.perf_counter()
        while not self._over.wait(GLANCE):
            self.most = [max(a, one.memory_info().rss) for a, one in zip(self.most, self.processes)]
            self.tasks.append((time.perf_counter() - begin, len(self.scheduler.tasks)))

    def stop(self) -> None:
        self._over.set()
        self.join()

    def processor(self) -> float:
        """Seconds of the processor that all of them have had."""
        return sum(sum(one.cpu_times()[:2]) for one in self.processes)


class Submissions(SchedulerPlugin):
    """Notes each graph that reaches the scheduler: tasks, and what each needs of the same graph."""

    name = "submissions"

    def __init__(self) -> None:
        self.graphs: list[dict[Any, list[Any]]] = []
        self.times: list[float] = []
        self.tasks = 0

    def update_graph(self, scheduler: Any, *, tasks: list[Any], **_: Any) -> None:
        own = set(tasks)
        self.times.append(time.perf_counter())
        self.tasks += len(own)
        del self.graphs[:-KEPT]  # what is noted of a long loop must not grow with it
        self.graphs.append({
            key: [one.key for one in scheduler.tasks[key].dependencies if one.key in own]
            for key in tasks if key in scheduler.tasks
        })  # fmt: skip


@dataclass
class Run:
    """One run of a loop: what an iteration of it took."""

    rounds: int
    seconds: float
    processor: float  # seconds of all processes
    own: float  # and of the thread that runs the loop
    moved: float  # bytes between processes
    memory: list[float]  # bytes more than before at most: this process, and each worker
    most_tasks: int
    graphs: list[dict[Any, list[Any]]] = field(repr=False)
    times: list[float] = field(repr=False)  # of all graphs
    submitted: int  # tasks in all of them

    def per_round(self, total: float) -> float:
        return total / self.rounds

    @property
    def tasks(self) -> float:
        return self.per_round(self.submitted)

    @property
    def submissions(self) -> float:
        return self.per_round(len(self.times))

    @property
    def rate(self) -> float:
        """Submissions of an iteration in the middle of the run: what begins and ends it has some, too."""
        return float(int(self.submissions)) or self.submissions

    @property
    def underway(self) -> float:
        """Seconds from one iteration's submission to the next one's."""
        return self.rate * (self.times[-1] - self.times[0]) / max(1, len(self.times) - 1)


def watched(client: Client, loop: Callable[[], Any], rounds: Callable[[Any], int]) -> Run:
    """Run a loop, with its results computed at the end of it, and look on."""
    plugin, onlooker = Submissions(), Onlooker(client)
    client.cluster.scheduler.add_plugin(plugin)
    try:
        moved, processor = bytes_so_far(client), onlooker.processor()
        onlooker.start()
        begin, own = time.perf_counter(), time.thread_time()
        result = dask.compute(loop())[0]
        seconds, own = time.perf_counter() - begin, time.thread_time() - own
        onlooker.stop()
        processor, moved = onlooker.processor() - processor, bytes_so_far(client) - moved
    finally:
        client.cluster.scheduler.remove_plugin(plugin.name)
    memory = [after - before for after, before in zip(onlooker.most, onlooker.before)]
    tasks = max((number for _, number in onlooker.tasks), default=0)
    return Run(rounds(result), seconds, processor, own, moved, memory, tasks, plugin.graphs, plugin.times, plugin.tasks)


# -- Dask's own part --------------------------------------------------------------------------------------------


def nothing(*_: Any) -> None:
    """What takes no time."""


def replayed(client: Client, run: Run, iterations: int = 10) -> float:
    """Seconds that an iteration of a run takes Dask alone: its graphs again, of tasks that do nothing."""
    end = max(1, round(run.rate))
    last = run.graphs[-end - max(2, round(run.rate * iterations)) : -end]
    made = [idle(graph, number) for number, graph in enumerate(last) if graph]
    wanted = [ends(graph) for graph in made]
    begin = time.perf_counter()
    for graph, keys in zip(made, wanted):
        client.get(graph, keys)
    return (time.perf_counter() - begin) * run.rate / len(last)


def idle(graph: dict[Any, list[Any]], mark: int) -> dict[Any, Task]:
    """A graph with the same arrows, of tasks that do nothing."""
    names = {key: f"idle-{mark}-{place}" for place, key in enumerate(graph)}
    return {
        names[key]: Task(names[key], nothing, *(TaskRef(names[one]) for one in needed))
        for key, needed in graph.items()
    }  # fmt: skip


def ends(graph: dict[str, Task]) -> list[str]:
    """What nothing else of a graph needs."""
    used = {one for task in graph.values() for one in task.dependencies}
    return [key for key in graph if key not in used]
