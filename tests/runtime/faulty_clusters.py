"""Programs on a cluster of two processes, and what befalls the cluster when so many of their tasks are done."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import autoloop as al
import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.random((24, 16))
MIX = RANDOM.random((16, 16)) / 16
BIG = [RANDOM.standard_normal((700, 700)) / 26 for _ in range(3)]


def chunked(x: np.ndarray, parts: int = 4) -> Any:
    return da.from_array(x, chunks=(len(x) // parts, *x.shape[1:]))


# -- programs ------------------------------------------------------------------------------------------------------


def until_it_moves_no_more(x, least):
    rounds, change = 0, np.inf
    while change > least:
        y = x * 0.75 + 0.25 * np.sin(x) + 0.01 * x.mean()
        change = np.abs(y - x).max()
        x = y
        rounds += 1
    return x, rounds


def nested(x, n):
    for _ in range(n):
        for _ in range(5):
            x = np.sin(x) + 0.01 * x.max()
    return x


def listed(x, n):
    found, k = [], 0
    while k < n:
        x = x * 0.5 + x.max() * 0.1
        found.append(x + k)
        k += 1
    return x, found[3] + 1.0, found[-1] + 1.0


def read_back(x, n):
    found, k = [x], 0
    while k < n:
        found.append(found[-1] * 0.5 + found[0].max() * 0.1)
        k += 1
    return found[3] + 1.0, found


def beside(x, n):
    """Two loops of which neither needs the other."""
    y, i, j = x + 1.0, 0, 0
    while i < n:
        x = x * 0.5 + x.max() * 0.1
        i += 1
    while j < n:
        y = y * 0.25 + y.min() * 0.1
        j += 1
    return x, y


def beside_with_lists(x, n):
    first, second, y, i, j = [], [], x + 1.0, 0, 0
    while i < n:
        x = x * 0.5 + x.max() * 0.1
        first.append(x.sum())
        i += 1
    while j < n:
        y = y * 0.25 + y.min() * 0.1
        second.append(y + j)
        j += 1
    return x, first, second


def until_both_move_no_more(x, least):
    """Each with a condition that is fetched."""
    y, first, second = x + 1.0, np.inf, np.inf
    while first > least:
        new = x * 0.75 + 0.25 * np.sin(x) + 0.01 * x.mean()
        first, x = np.abs(new - x).max(), new
    while second > least:
        new = y * 0.75 + 0.25 * np.cos(y)
        second, y = np.abs(new - y).max(), new
    return x, y


def mapped(x, n):
    for _ in range(n):
        x = al.map_fn(lambda row: np.tanh(row @ MIX) + 0.1 * row.mean(), x)
    return x


def scanned(x, n):
    for _ in range(n):
        x = x * 0.9 + 0.1 * al.scan(lambda a, row: 0.5 * a + 0.5 * np.tanh(row), x)
    return x


def folded(x, n):
    total = x[0] * 0.0
    for _ in range(n):
        total = al.foldl(lambda a, row: 0.5 * a + 0.5 * np.tanh(row), x) + 0.5 * total
        x = x * 0.9 + 0.01 * total
    return x.sum(), total


def by_rows(x, n):
    total = x[0] * 0.0
    for _ in range(n):
        total = total * 0.1
        for row in x:
            total = total * 0.5 + np.tanh(row)
        x = x * 0.9 + 0.01 * total
    return x, total


def steps(x, n):
    for _ in range(n):
        x = 1.01 * np.sin(x) + 0.01 * x.max()
    return (x * x).sum()


def steps_beside(x, n):
    a, b = x, x * 0.5
    for _ in range(n):
        a = 1.01 * np.sin(a) + 0.01 * a.max()
    for _ in range(n):
        b = 0.99 * np.cos(b) + 0.01 * b.min()
    return (a * b).sum()


def loss_by_rows(x, n):
    total = 0.0
    for _ in range(n):
        for row in x:
            total = total * 0.5 + np.tanh(row).sum()
        x = x * 0.9 + 0.01 * total
    return total


def looped(x, n):
    """Outside of a decorated function."""
    _, x = al.while_loop(lambda i, _: i < n, lambda i, x: (i + 1, al.sin(x) + 0.01 * al.sum(x)), (0, al.constant(x)))
    return x


def valued(x, n):
    """Tensors, of which nothing is computed before a value is asked for."""
    x = al.constant(x)
    for _ in range(n):
        x = al.sin(x) + 0.01 * al.sum(x)
    return x.numpy()


def chains(a, b, m, n):
    i = 0
    while i < n:
        a = np.tanh(a @ m)
        b = np.tanh(b @ m)
        i += 1
    return a, b


def slow(v, n):
    y = 1.0
    for _ in range(n):
        y = y - v * y / n + np.sin(y) * 1e-3
    return y


def rooted(x):
    for _ in range(20):
        x = (x + 2.0 / x) / 2
    return x


LONG, SHORTER = np.int64(30_000), np.int64(25_000)
VALUES = [v / 10 for v in range(1, 25)]


@dataclass(frozen=True)
class Program:
    """What is called with a client, and the same without a cluster; ``is_ours``: no call of Dask's is waited in."""

    call: Callable[[Any], Any]
    plain: Callable[[], Any]
    is_ours: bool = True


#: NumPy runs them as they are
CONDITIONS = (until_it_moves_no_more, until_both_move_no_more)


def _of(f, n=12, x=ROWS):
    """A function of a chunked array; functional forms without Dask are autoloop's, too."""
    fast = al.function(f)
    return Program(lambda _: fast(chunked(x), n), lambda: (f if f in CONDITIONS else fast)(x, n))


def _gradient(f, n, memory):
    both = al.value_and_grad(al.function(f, gradient_memory=memory))
    return Program(lambda _: both(chunked(ROWS), n), lambda: both(ROWS, n))


_slow, _rooted, _chains = al.function(slow), al.function(rooted), al.function(chains, executor="dask")


def _delayed(_):
    lazy = dask.delayed(_slow)
    return dask.compute(*[lazy(v, LONG) for v in VALUES])


def _submitted(client):
    """Calls that are given what others gave."""
    made = [client.submit(_slow, v, LONG) for v in VALUES[:12]]
    return client.gather([client.submit(_slow, one, LONG) for one in made])


PROGRAMS = {
    "condition": _of(until_it_moves_no_more, 0.005),
    "nested": _of(nested, np.int64(6)),
    "list": _of(listed, np.int64(25)),
    "list that is read": _of(read_back, np.int64(25)),
    "loops beside": _of(beside, np.int64(20)),
    "loops beside, lists": _of(beside_with_lists, np.int64(15)),
    "loops beside, conditions": _of(until_both_move_no_more, 0.005),
    "map": _of(mapped, np.int64(40)),
    "scan": _of(scanned, np.int64(10)),
    "fold": _of(folded, np.int64(15)),
    "rows": _of(by_rows, np.int64(10)),
    "gradient": _gradient(steps, np.int64(8), None),
    "gradient, checkpoints": _gradient(steps, np.int64(8), "checkpoint"),
    "gradient of rows": _gradient(loss_by_rows, np.int64(3), None),
    "gradient, loops beside": _gradient(steps_beside, np.int64(8), "checkpoint"),
    "eager loop": Program(lambda _: looped(chunked(ROWS), 20), lambda: looped(ROWS, 20)),
    "eager tensors": Program(lambda _: valued(chunked(ROWS), 12), lambda: valued(ROWS, 12)),
    "executor": Program(lambda _: _chains(*BIG, np.int64(12)), lambda: chains(*BIG, 12)),
    "Client.map": Program(
        lambda client: client.gather(client.map(_slow, VALUES, n=LONG)), lambda: [_slow(v, LONG) for v in VALUES]
    ),
    "Client.sweep": Program(
        lambda client: [v for _, v in client.sweep(_slow, {"v": VALUES[:12], "n": [SHORTER, LONG]})],
        lambda: [_slow(v, n) for v in VALUES[:12] for n in (SHORTER, LONG)],
    ),
    "Client.submit": Program(_submitted, lambda: [_slow(_slow(v, LONG), LONG) for v in VALUES[:12]]),
    "delayed": Program(_delayed, lambda: [_slow(v, LONG) for v in VALUES], False),
    "map_blocks": Program(
        lambda _: chunked(ROWS, 24).map_blocks(_rooted, dtype=float).compute(), lambda: rooted(ROWS), False
    ),
}  # fmt: skip


def numbers(made: Any) -> list[np.ndarray]:
    """The arrays of a result, computed."""
    if isinstance(made, tuple | list):
        return [one for part in made for one in numbers(part)]
    return [np.asarray(made)]


# -- faults --------------------------------------------------------------------------------------------------------


@contextmanager
def bound(seconds: int = 200) -> Iterator[None]:
    """Have what hangs fail: no call takes as long."""

    def fails(*_: Any) -> None:
        raise TimeoutError(f"not over after {seconds} s")

    before = signal.signal(signal.SIGALRM, fails)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Counting(distributed.SchedulerPlugin):
    """Counts the tasks that are done, and acts when they are so many: on the scheduler's thread, or its process."""

    name = "counting"

    def __init__(self, at: dict[int, Callable[[], Any]] | None = None) -> None:
        self.at, self.count = at or {}, 0

    def transition(self, key, start, finish, *args, **kwargs):
        if start == "processing" and finish == "memory":
            self.count += 1
            act = self.at.get(self.count)
            if act is not None:
                act()


class Fault:
    """What befalls a cluster of two processes, and how often that was while a call ran.

    Parameters
    ----------
    client : distributed.Client
    kind : str
    """

    def __init__(self, client: Any, kind: str) -> None:
        self.client, self.is_running, self.hit = client, True, 0
        there = client.run(os.getpid)
        self.workers = sorted(there)
        self.processes = [there[one] for one in self.workers]
        self._act = getattr(self, "_" + kind.lower().replace("-", "_").replace(" ", "_"))
        self._thread: threading.Thread | None = None

    def plan(self, kind: str, at: int) -> dict[int, Callable[[], None]]:
        """What to do after how many tasks."""
        made = {at: self._act}
        if kind == "both killed":
            made[at + 3] = self._second_killed
        return made

    def _hits(self) -> None:
        self.hit += self.is_running

    def _killed(self) -> None:
        os.kill(self.processes[0], signal.SIGKILL)
        self._hits()

    _both_killed = _killed

    def _second_killed(self) -> None:
        os.kill(self.processes[1], signal.SIGKILL)
        self._hits()

    def _ctrl_c(self) -> None:
        self._hits()
        os.kill(os.getpid(), signal.SIGINT)

    def _stopped(self) -> None:
        """Have a process stand still for some seconds."""
        os.kill(self.processes[0], signal.SIGSTOP)
        self._hits()
        self._thread = threading.Timer(4.0, os.kill, (self.processes[0], signal.SIGCONT))
        self._thread.start()

    def _joined(self) -> None:
        self._hits()
        self.client.cluster.scale(3)

    def _retired(self) -> None:
        self._hits()
        self.client.cluster.scale(1)

    def _paused(self) -> None:
        self._thread = threading.Thread(target=self._pause)
        self._thread.start()

    def _pause(self) -> None:
        """Have a worker so much in memory that Dask gives it no tasks, for some seconds."""
        worker = self.workers[0]
        known = self.client.cluster.scheduler.workers[worker]
        self.client.run(swell, workers=[worker])
        until = time.monotonic() + 10
        while known.status.name != "paused" and time.monotonic() < until:
            time.sleep(0.01)
        if known.status.name == "paused":
            self._hits()
        time.sleep(3)
        self.client.run(shrink, workers=[worker])

    def is_coming(self) -> bool:
        """Return whether it was begun and is not there yet: Dask looks at the memory of workers now and then."""
        return self._thread is not None and self._thread.is_alive() and not self.hit

    def close(self) -> None:
        """Wait until it is over."""
        self.is_running = False
        if self._thread is not None:
            self._thread.join()


def swell(dask_worker):
    """Take so much memory that Dask pauses the worker."""
    limit = dask_worker.memory_manager.memory_limit
    taken = dask_worker.monitor.get_process_memory() if hasattr(dask_worker.monitor, "get_process_memory") else 0
    taken = taken or dask_worker.monitor.proc.memory_info().rss
    dask_worker.ballast = np.ones(int(limit * 0.88 - taken) // 8)


def shrink(dask_worker):
    """Give it back."""
    dask_worker.ballast = None


class Dying(distributed.SchedulerPlugin):
    """Kills the process of the scheduler when so many tasks are done."""

    name = "dying"

    def __init__(self, at: int) -> None:
        self.at = at

    def transition(self, key, start, finish, *args, **kwargs):
        if start == "processing" and finish == "memory":
            self.at -= 1
            if not self.at:
                os.kill(os.getpid(), signal.SIGKILL)
