"""A loop on a cluster that is not there: ``python tests/benchmarks/simulated_cluster.py [--update PAGE]``.

Discrete events: a client that submits iterations, at most a window of them under way; a scheduler that handles one
message after the other; workers that fetch what they need from each other and compute one task at a time. What each
of these takes is measured on a real cluster of two processes (``--measure``, kept in ``cluster_latencies.json``), and
so is how far the prediction is off there (``--validate``). ``--update`` draws the curves beside the page.

Simplified: tasks stay where their chunk is, nothing is stolen, nothing is lost, and the network between two workers
does not mind what others send.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from heapq import heappop, heappush
from pathlib import Path

from curves import Line, chart
from page import markdown, replace

HERE = Path(__file__).parent
KEPT = HERE / "cluster_latencies.json"
WORKERS, WINDOWS = (4, 16, 64, 256, 1024), (1, 2, 4, 8, 16, 32, 64)
#: a window helps as long as it takes an iteration at least so much more time than the best one does
HELPS = 1.05
#: tasks whose results one task of a tree joins, as in Dask
FAN_IN = 4
#: iterations before any counts, besides a window of them; how many count at least, and how many chunks of them
BEFORE, FEWEST, CHUNKS = 3, 8, 4000


@dataclass(frozen=True)
class Latencies:
    """Seconds that the parts of a cluster take, and bytes a second."""

    submission: float  # the client: each submission
    client_task: float  # each task of it
    message: float  # from one process to another
    scheduler_task: float  # the scheduler: a task that is new, and one that is finished, together
    worker_task: float  # the worker: each task, besides its work
    bandwidth: float  # bytes a second from worker to worker


@dataclass(frozen=True)
class Loop:
    """What an iteration is: ``chunks`` on each worker, of ``work`` seconds, of which ``spread`` is the deviation.

    One of a hundred, or as many as ``late`` says, takes five times as long: somebody else is busy on its machine.

    ``kind`` says what an iteration needs of the one before: ``own`` (each chunk its own), ``neighbours`` (and those
    beside it), ``sum`` (all, joined by a tree, whose result all need). Where ``fetched`` the client asks for a value
    before it knows that there is another iteration, else a counter decides.
    """

    kind: str
    chunks: int = 2
    work: float = 0.02
    spread: float = 0.2
    late: float = 0.01
    size: float = 1e5
    fetched: bool = False


@dataclass(slots=True, eq=False)
class Task:
    """A task of an iteration: where it runs, what it needs, who needs it."""

    iteration: int
    worker: int
    work: float
    needs: list[Task] = field(default_factory=list)
    users: list[Task] = field(default_factory=list)
    missing: int = 0
    known: bool = False
    finished: bool = False
    holders: list[int] = field(default_factory=list)


def iteration(loop: Loop, number: int, workers: int, before: list[Task], dice: random.Random) -> list[Task]:
    """The tasks of an iteration, the state that it leaves last; ``before`` is what the one before left."""
    chunks = loop.chunks * workers

    def new(place: int, needs: Sequence[Task], work: float) -> Task:
        task = Task(number, place, work, list(needs))
        for one in task.needs:
            one.users.append(task)
        return task

    def work() -> float:
        return loop.work * max(0.1, dice.gauss(1, loop.spread)) * (5 if dice.random() < loop.late else 1)

    def needed(chunk: int) -> list[Task]:
        if loop.kind == "sum" or not before:
            return before
        beside = range(max(0, chunk - 1), min(chunks, chunk + 2)) if loop.kind == "neighbours" else (chunk,)
        return [before[k] for k in beside]

    made = level = [new(chunk // loop.chunks, needed(chunk), work()) for chunk in range(chunks)]
    while loop.kind == "sum" and len(level) > 1:
        groups = [level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN)]
        level = [new(group[0].worker, group, 0.0) for group in groups]
        made = [*made, *level]
    return made


class Cluster:
    """A run of a loop: events in the order of their times."""

    def __init__(self, loop: Loop, workers: int, window: int, latencies: Latencies, shared: bool = False) -> None:
        self.loop, self.workers, self.window, self.takes = loop, workers, window, latencies
        self.shared = shared  # client and scheduler are threads of one process, as in a ``LocalCluster``
        self.dice = random.Random(workers)
        self.events: list[tuple[float, int, str, object]] = []
        self.client = self.scheduler = 0.0  # when they are free
        self.threads, self.senders = [0.0] * workers, [0.0] * workers
        self.state: list[Task] = []
        self.begun, self.left, self.ended = 0, dict[int, int](), list[float]()
        self.numbered = 0

    def at(self, time: float, what: str, about: object) -> None:
        self.numbered += 1
        heappush(self.events, (time, self.numbered, what, about))

    def run(self, iterations: int) -> list[float]:
        """The times at which the client knew of the end of each iteration."""
        self.submit(0.0, iterations)
        while self.events:
            time, _, what, about = heappop(self.events)
            if what == "told":
                self.ended.append(time)
                self.submit(time, iterations)
            else:
                getattr(self, what)(time, about)
        return self.ended

    def submit(self, time: float, iterations: int) -> None:
        """The client hands over what the window has room for."""
        window = 1 if self.loop.fetched else self.window
        while self.begun < iterations and self.begun - len(self.ended) < window:
            tasks = iteration(self.loop, self.begun, self.workers, self.state, self.dice)
            self.state = tasks[-1:] if self.loop.kind == "sum" else tasks
            self.left[self.begun] = len(tasks)
            seconds = self.takes.submission + len(tasks) * self.takes.client_task
            self.client = self.serve(time, seconds) if self.shared else max(time, self.client) + seconds
            self.at(self.client + self.takes.message, "arrive", tasks)
            self.begun += 1

    def serve(self, time: float, seconds: float) -> float:
        """The scheduler handles a message; gives when it has."""
        self.scheduler = max(time, self.scheduler) + seconds
        return self.scheduler

    def arrive(self, time: float, tasks: list[Task]) -> None:
        """A submission reaches the scheduler, which sends off what needs nothing that is not there."""
        for task in tasks:
            task.known, task.missing = True, sum(not one.finished for one in task.needs)
            done = self.serve(time, self.takes.scheduler_task / 2)
            if not task.missing:
                self.at(done + self.takes.message, "begin", task)

    def begin(self, time: float, task: Task) -> None:
        """A task reaches its worker, which asks others for what it has not got."""
        there = time
        for one in task.needs:
            if task.worker not in one.holders:
                sender = self.dice.choice(one.holders)  # of a value that many need, many have it soon
                start = max(time + self.takes.message, self.senders[sender])
                self.senders[sender] = start + self.takes.worker_task + self.loop.size / self.takes.bandwidth
                there = max(there, self.senders[sender] + self.takes.message)
                one.holders.append(task.worker)
        self.at(there, "compute", task)

    def compute(self, time: float, task: Task) -> None:
        """All is there: the worker's thread comes to it in the order in which tasks are ready."""
        self.threads[task.worker] = max(time, self.threads[task.worker]) + self.takes.worker_task + task.work
        self.at(self.threads[task.worker] + self.takes.message, "finish", task)

    def finish(self, time: float, task: Task) -> None:
        """The scheduler hears of an end; what has waited for this only is sent off."""
        done = self.serve(time, self.takes.scheduler_task / 2)
        task.finished, task.holders = True, [task.worker]
        for user in task.users:
            user.missing -= user.known
            if user.known and not user.missing:
                self.at(done + self.takes.message, "begin", user)
        task.users = []
        self.left[task.iteration] -= 1
        if not self.left[task.iteration]:
            asked = 4 * self.takes.message if self.loop.fetched else 0.0  # to the worker by the scheduler, and back
            self.at(done + self.takes.message + asked, "told", task.iteration)


def predicted(loop: Loop, workers: int, window: int, latencies: Latencies, shared: bool = False) -> float:
    """Seconds an iteration while the loop is under way: neither its first window counts nor its last."""
    counted = max(window // 2, FEWEST, CHUNKS // (loop.chunks * workers))
    first = window + BEFORE
    ended = Cluster(loop, workers, window, latencies, shared).run(first + counted + window)
    return (ended[first + counted - 1] - ended[first - 1]) / counted


def latest() -> Latencies:
    """What was measured last."""
    return Latencies(**json.loads(KEPT.read_text(encoding="utf-8")))


# -- curves -----------------------------------------------------------------------------------------------------

#: name of the picture -> title, loop
CURVES = {
    "window-short": ("short chunks that need those beside them", Loop("neighbours")),
    "window-long": ("long chunks that need those beside them", Loop("neighbours", work=1.0, size=1e7)),
    "window-sum": ("long chunks that are joined, and all need the result", Loop("sum", work=1.0, size=1e3)),
}
Found = dict[int, dict[int, float]]


def swept(loop: Loop, workers: Sequence[int] = WORKERS, windows: Sequence[int] = WINDOWS) -> Found:
    """Workers -> window -> seconds an iteration."""
    takes = latest()
    return {n: {w: predicted(loop, n, w, takes) for w in windows} for n in workers}


def stops(row: dict[int, float]) -> int:
    """The window beyond which a larger one gains nothing that counts."""
    best = min(row.values())
    return next(window for window, seconds in row.items() if seconds <= HELPS * best)


def drawn(title: str, loop: Loop, found: Found) -> str:
    """The curves of a loop: a line for each number of workers, with a dot where the window stops helping."""
    lines = [Line(f"{n:,} workers", [(w, 1e3 * t) for w, t in row.items()], dot=stops(row)) for n, row in found.items()]
    work = 1e3 * loop.chunks * loop.work
    note = f"{loop.chunks} chunks of {1e3 * loop.work:g} ms on each worker, ± {100 * loop.spread:g} %, "
    note += f"{100 * loop.late:g} % of them 5 times; "
    note += f"the grey line is their work alone, {work:g} ms"
    return chart(title, note, "iterations under way (parallel_iterations)", "ms an iteration", lines, level=work)


def table(found: dict[str, Found]) -> str:
    """Where the window stops helping, by loop and workers."""
    head = ["loop", "window", *(f"{n:,} workers" for n in WORKERS)]
    rows = []
    for name, by_workers in found.items():
        title = CURVES[name][0]
        rows.append([title, "1", *(f"{1e3 * row[1]:.0f} ms" for row in by_workers.values())])
        best = [(stops(row), row) for row in by_workers.values()]
        rows.append(["", "where it stops helping", *(f"{w}: {1e3 * row[w]:.0f} ms" for w, row in best)])
    return markdown(head, rows, range(2, 2 + len(WORKERS)))


def validation(measured: dict[str, dict[int, float]], loops: dict[str, Loop]) -> str:
    """Predicted beside measured, on the real cluster."""
    takes, rows = latest(), []
    for name, by_window in measured.items():
        for window, seconds in by_window.items():
            guess = predicted(loops[name], 2, window, takes, shared=True)
            rows.append([
                name, str(window), f"{1e3 * guess:.1f} ms", f"{1e3 * seconds:.1f} ms", f"{guess / seconds:.2f} ×"
            ])  # fmt: skip
    return markdown(["loop", "window", "predicted", "measured", "predicted / measured"], rows, range(1, 5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--measure", action="store_true", help="measure the latencies anew, on two processes")
    parser.add_argument("--validate", action="store_true", help="run loops on two processes, beside what is predicted")
    parser.add_argument("--update", type=Path, metavar="FILE", help="tables into FILE, pictures beside it")
    options = parser.parse_args()
    texts = {}
    if options.measure or options.validate:
        import cluster_latencies  # needs Dask, the rest does not

        if options.measure:
            KEPT.write_text(json.dumps(asdict(cluster_latencies.measured()), indent=1) + "\n", encoding="utf-8")
        if options.validate:
            texts["validated"] = validation(cluster_latencies.timed_loops(), cluster_latencies.LOOPS)
    else:
        found = {name: swept(loop) for name, (_, loop) in CURVES.items()}
        texts["windows"] = table(found)
        for name, (title, loop) in CURVES.items():
            if options.update:
                (options.update.parent / f"{name}.svg").write_text(drawn(title, loop, found[name]), encoding="utf-8")
    for name, text in texts.items():
        print(text, end="")
        if options.update:
            replace(options.update, name, text)


if __name__ == "__main__":
    main()
