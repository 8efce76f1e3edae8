"""What a loop does to a Dask cluster of processes on this machine: times, bytes, tasks, memory.

The scheduler of ``two_processes`` lives in this process, as ``LocalCluster`` has it, so what is told of "the client" is
both; that of ``three_processes`` has its own.

Memory is told from a known beginning: what was there before is gone, and the allocator has given back what it can. The
kernel keeps the most that a process has had, so that nothing is missed between two looks.
"""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask
import psutil
from dask.task_spec import Task, TaskRef
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP
from distributed.deploy.subprocess import SubprocessCluster
from distributed.diagnostics.plugin import SchedulerPlugin

MEGABYTE = 1e6
#: seconds between two looks at memory and at the number of tasks
GLANCE = 0.05
#: seconds that are waited, at most, for what was there before to be gone
SETTLED = 5
#: graphs that are noted at most, the last ones
KEPT = 200
#: no warnings of large graphs; and on a busy machine a connection is none that is lost
PATIENT = {"distributed.admin.large-graph-warning-threshold": "1GB", "distributed.comm.timeouts.tcp": "10 minutes"}


@contextmanager
def two_processes() -> Iterator[Client]:
    """A client of a cluster of two processes with a thread each, and nobody to look on."""
    with dask.config.set(PATIENT):
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
            with Client(cluster) as client:
                count_bytes()
                client.run(count_bytes)
                yield client


@contextmanager
def three_processes() -> Iterator[Client]:
    """The same, with a process for the scheduler."""
    with dask.config.set(PATIENT):
        with SubprocessCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
            with Client(cluster) as client:
                client.wait_for_workers(2)
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


def trimmed() -> None:
    """Let this process give back what it has no use for, and forget the most that it has had."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another system has neither
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def most_of(process: psutil.Process) -> int:
    """Return the bytes that a process has had at most since it was trimmed; 0 where the system does not tell."""
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


class Onlooker(threading.Thread):
    """Looks at the processes and the scheduler again and again, until it is told to stop."""

    def __init__(self, client: Client) -> None:
        super().__init__(name="onlooker", daemon=True)
        workers = client.run(os.getpid).values()
        self.scheduler = client.cluster.scheduler
        trimmed()
        client.run(trimmed)
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
        self.most = [max(a, most_of(one)) for a, one in zip(self.most, self.processes)]

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


def settled(client: Client) -> None:
    """Return when the cluster has nothing but what somebody here holds: releases are on their way for some time."""
    held = set(client.futures)
    until = time.monotonic() + SETTLED
    while set(client.cluster.scheduler.tasks) - held and time.monotonic() < until:
        client.run(int)
        held = set(client.futures)


def watched(client: Client, loop: Callable[[], Any], rounds: Callable[[Any], int]) -> Run:
    """Run a loop, with its results computed at the end of it, and look on."""
    settled(client)
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


# -- what stays of a long loop ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """What there was at some time of a run: seconds, bytes of the client, the scheduler and all workers, tasks."""

    at: float
    client: int
    scheduler: int
    workers: int
    tasks: int


class Watch(threading.Thread):
    """Looks at the processes of a cluster with a scheduler of its own, until it is told to stop."""

    def __init__(self, client: Client) -> None:
        super().__init__(name="watch", daemon=True)
        self._client = client
        self._scheduler = psutil.Process(client.run_on_scheduler(os.getpid))
        self._workers = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
        self._own = psutil.Process()
        self.looks: list[Look] = []
        self._begin = time.perf_counter()
        self._over = threading.Event()

    def run(self) -> None:
        self._look()
        while not self._over.wait(10 * GLANCE):
            self._look()

    def stop(self) -> None:
        self._over.set()
        self.join()
        self._look()

    def _look(self) -> None:
        at = time.perf_counter() - self._begin
        tasks = self._client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        all_of = [self._own], [self._scheduler], self._workers
        self.looks.append(Look(at, *(sum(one.memory_info().rss for one in many) for many in all_of), tasks))

    def after(self, share: float) -> Look:
        """Return what there was at most about a share of the run."""
        end = self.looks[-1].at
        near = [one for one in self.looks if abs(one.at - share * end) <= 0.05 * end] or self.looks[-1:]
        return Look(
            share, *(max(getattr(one, name) for one in near) for name in ("client", "scheduler", "workers", "tasks"))
        )


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
