"""What the parts of a Dask cluster take, measured on two processes: what ``simulated_cluster`` computes with.

Where a part computes the time of the processor counts, so that it matters little who else is on the machine.
"""

from __future__ import annotations

import itertools
import os
import time
from typing import Any

import numpy as np
import psutil
from cluster_measures import idle, nothing, two_processes
from dask.task_spec import Task, TaskRef
from distributed import Client, wait
from simulated_cluster import Latencies, Loop

FEW, MANY, TIMES = 50, 850, 7
LARGE = 64_000_000
#: loops that are run in truth: their work is to sleep, so that two cores are enough
LOOPS = {
    "each chunk goes on by itself": Loop("own", spread=0.2, late=0.0, size=8),
    "each chunk needs those beside it": Loop("neighbours", spread=0.2, late=0.0, size=8),
    "asked for a value each time": Loop("own", spread=0.2, late=0.0, size=8, fetched=True),
}
WINDOWS, COUNTED = (1, 2, 4, 8), 40


def measured() -> Latencies:
    """The latencies of this machine."""
    with two_processes() as client:
        submission, client_task, scheduler_task, worker_task = _of_tasks(client)
        trips = []
        for _ in range(200):
            begin = time.perf_counter()
            client.run_on_scheduler(nothing)
            trips.append(time.perf_counter() - begin)
        return Latencies(
            submission, client_task, min(trips) / 2, scheduler_task, worker_task, _bandwidth(client)
        )  # fmt: skip


def _of_tasks(client: Client) -> tuple[float, float, float, float]:
    """The time of the processor of a submission, and of a task: client, scheduler, worker."""
    workers = [psutil.Process(one) for one in client.run(os.getpid).values()]
    found: dict[int, list[tuple[float, float, float]]] = {FEW: [], MANY: []}
    numbers = itertools.count()
    for number in [MANY] + [FEW, MANY] * TIMES:
        graph = idle({k: [] for k in range(number)}, next(numbers))
        busy = sum(sum(one.cpu_times()[:2]) for one in workers)
        whole, own = time.process_time(), time.thread_time()
        futures = client.get(graph, list(graph), sync=False)
        own = time.thread_time() - own
        wait(futures)
        whole = time.process_time() - whole - own
        found[number].append((own, whole, sum(sum(one.cpu_times()[:2]) for one in workers) - busy))
        del futures
    few, many = (np.median(found[number], axis=0) for number in (FEW, MANY))
    each = (many - few) / (MANY - FEW)
    return tuple(float(x) for x in (max(few[0] - FEW * each[0], 0), *each))


def _bandwidth(client: Client) -> float:
    """Bytes a second from one worker to the other."""
    one, other = client.scheduler_info()["workers"]
    took: dict[int, list[float]] = {8: [], LARGE // 8: []}
    for size in list(took) * TIMES:
        value = client.submit(np.ones, size, workers=[one], pure=False)
        wait(value)
        begin = time.perf_counter()
        client.submit(nothing, value, workers=[other], pure=False).result()
        took[size].append(time.perf_counter() - begin)
    return LARGE / (min(took[LARGE // 8]) - min(took[8]))


def slept(seconds: float, *_: Any) -> float:
    """A task's work."""
    time.sleep(seconds)
    return seconds


def timed_loops() -> dict[str, dict[int, float]]:
    """Loop -> window -> seconds an iteration, by a client that has at most that many iterations under way."""
    with two_processes() as client:
        return {
            name: {w: _timed(client, name, loop, w) for w in (WINDOWS[:1] if loop.fetched else WINDOWS)}
            for name, loop in LOOPS.items()
        }  # fmt: skip


def _timed(client: Client, name: str, loop: Loop, window: int) -> float:
    chunks = 2 * loop.chunks
    dice = np.random.default_rng(chunks)
    before: list[Any] = []
    live: list[list[Any]] = []
    ends = []
    for number in range(COUNTED + 2 * window):
        graph = {}
        for chunk in range(chunks):
            key = f"{name}-{window}-{number}-{chunk}"
            beside = range(max(0, chunk - 1), min(chunks, chunk + 2)) if loop.kind == "neighbours" else (chunk,)
            needed = [TaskRef(before[k].key) for k in beside] if before else []
            graph[key] = Task(key, slept, max(0.1, dice.normal(1, loop.spread)) * loop.work, *needed)
        before = client.get(graph, list(graph), sync=False)
        live.append(before)
        if len(live) >= window or loop.fetched:
            wait(live[0])
            if loop.fetched:
                client.gather(live[0][0])
            live.pop(0)
            ends.append(time.perf_counter())
    counted = ends[window:-1]
    return (counted[-1] - counted[0]) / (len(counted) - 1)
