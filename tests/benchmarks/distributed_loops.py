"""Loops over Dask arrays: ``python tests/benchmarks/distributed_loops.py [--update docs/distributed.md]``.

Each of ``distributed_programs`` on a cluster of two processes: as an expert writes it for Dask, and the plain function,
decorated. Both take turns in one run and results are compared first; figures are medians. With large chunks times and
memory count; with tiny ones what an iteration costs beyond what Dask itself takes for the same tasks, which is measured
by sending the same graphs again, of tasks that do nothing. ``--long`` runs one loop for 10,000 iterations.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import autoloop as al
import dask
import dask.array
import distributed
import numpy as np
from cluster_measures import MEGABYTE, Run, Watch, replayed, three_processes, two_processes, watched
from page import markdown, replace

sys.path.append(str(Path(__file__).parents[1] / "runtime"))
from distributed_programs import PROGRAMS, Program, cut
from loops_by_hand import BY_HAND

WAYS = ("by hand", "decorated")
#: rows of what is large: some 100 MB of points, and of a matrix
LARGE = {"k-means": 400_000, "logistic regression": 400_000}
LARGE_MATRIX, CHUNKS = 3000, 4
TURNS, QUICK_TURNS = 3, 1
#: milliseconds that an iteration may take beyond Dask's own
GOAL = 10
LONG = 10_000
#: of a long run: where it is looked at; and by how much shorter the one by hand is, whose graph is never let go of
SHARES, SHORTER = (0.1, 0.5, 1.0), 10
#: bytes by which the memory of two runs of the same differs
NOISE = 5e6


@dataclass
class Measured:
    """A program: the runs of each way, and the seconds that Dask alone takes for an iteration of each."""

    name: str
    large: dict[str, list[Run]] = field(default_factory=dict)
    tiny: dict[str, list[Run]] = field(default_factory=dict)
    alone: dict[str, float] = field(default_factory=dict)

    def of(self, runs: str, way: str, figure: Callable[[Run], float]) -> float:
        return median(figure(run) for run in getattr(self, runs)[way])

    def beyond(self, way: str) -> float:
        """Milliseconds of an iteration beyond Dask's own."""
        return 1e3 * (self.of("tiny", way, lambda run: run.underway) - self.alone[way])


def ways(name: str, program: Program) -> dict[str, Callable[..., Any]]:
    """What is measured: column -> function."""
    return {"by hand": BY_HAND[name], "decorated": al.function(program.function)}


def compare(name: str, result: Any, wanted: Any) -> None:
    """The run ends where two ways give different results."""
    found, others = (list(one) if isinstance(one, tuple) else [one] for one in (result, wanted))
    for place, (a, b) in enumerate(zip(found, others, strict=True)):
        if not np.allclose(a, b, rtol=1e-5, atol=1e-8):
            raise SystemExit(f"{name}: result {place} is not NumPy's")


def measure(client: Any, name: str, program: Program, quick: bool, only: tuple[str, ...]) -> Measured:
    """One program."""
    row = Measured(name)
    large = LARGE.get(name, LARGE_MATRIX) if not quick else program.size
    for kind, size in (("tiny", program.size), ("large", large)):
        arguments = program.arguments(size)
        wanted = program.function(*arguments)
        given = list(dask.persist(*cut(program, arguments, CHUNKS, dask.array.from_array)))
        distributed.wait([one for one in given if dask.is_dask_collection(one)])
        runs = {way: f for way, f in ways(name, program).items() if way in only}
        for f in runs.values():  # what is traced and loaded once is there then
            compare(name, dask.compute(f(*given))[0], wanted)
        kept: dict[str, list[Run]] = getattr(row, kind)
        for turn in range(QUICK_TURNS if quick else TURNS):
            for way in list(runs)[:: 1 if turn % 2 else -1]:
                kept.setdefault(way, []).append(watched(client, lambda: runs[way](*given), program.rounds))
    for way, found in row.tiny.items():
        row.alone[way] = replayed(client, found[-1])
    return row


# -- tables -----------------------------------------------------------------------------------------------------


def times(rows: list[Measured]) -> str:
    """An iteration with large chunks, and what it costs beyond Dask's own with tiny ones."""
    head = ["loop", "iterations", "by hand", "decorated", "decorated / by hand", "beyond Dask's own: by hand",
            "decorated", "verdict"]  # fmt: skip
    cells = []
    for row in rows:
        both = [w for w in WAYS if w in row.large]
        took = {way: 1e3 * row.of("large", way, lambda run: run.per_round(run.seconds)) for way in both}
        cost = {way: row.beyond(way) for way in both}
        ratio = f"{took[WAYS[1]] / took[WAYS[0]]:.2f} ×" if len(both) == 2 else "-"
        missed = len(both) < 2 or took[WAYS[1]] > took[WAYS[0]] or cost[WAYS[1]] > GOAL
        cells.append([
            row.name, f"{row.large[both[0]][0].rounds}",
            *(f"{took[w]:.1f} ms" if w in took else "-" for w in WAYS), ratio,
            *(f"{cost[w]:.1f} ms" if w in cost else "-" for w in WAYS), "**missed**" if missed else "met",
        ])  # fmt: skip
    return markdown(head, cells, range(1, 7))


def amounts(rows: list[Measured]) -> str:
    """What moves and is kept: of each figure, by hand and decorated."""
    head = ["loop, by hand → decorated", "processor", "client's thread", "tasks", "submissions", "bytes moved",
            "tasks at most", "workers' memory", "client's memory", "verdict"]  # fmt: skip
    figures = (
        ("tiny", lambda r: 1e3 * r.per_round(r.processor), "{:.0f} ms"),
        ("tiny", lambda r: 1e3 * r.per_round(r.own), "{:.1f} ms"), ("large", lambda r: r.tasks, "{:.0f}"),
        ("large", lambda r: r.submissions, "{:.1f}"), ("large", lambda r: r.per_round(r.moved) / 1e3, "{:.0f} kB"),
        ("large", lambda r: r.most_tasks, "{:.0f}"), ("large", lambda r: sum(r.memory[1:]) / MEGABYTE, "{:.0f} MB"),
        ("large", lambda r: r.memory[0] / MEGABYTE, "{:.0f} MB"),
    )  # fmt: skip
    cells = []
    for row in rows:
        told = [[form.format(row.of(kind, w, f)) for w in WAYS if w in row.large] for kind, f, form in figures]
        memory = [
            sum(row.of("large", w, lambda r, k=k: r.memory[k]) for k in (0, 1, 2)) for w in WAYS if w in row.large
        ]
        missed = len(memory) < 2 or memory[1] > 1.02 * memory[0] + NOISE
        cells.append([row.name, *map(" → ".join, told), "**missed**" if missed else "met"])
    return markdown(head, cells, range(1, 9))


def long_run(client: Any, iterations: int, way: str) -> list[str]:
    """A row: one loop for so many iterations, and what there is at a tenth of it, in its middle and at its end."""
    program = PROGRAMS["power iteration"]
    given = list(dask.persist(*cut(program, program.make(200), CHUNKS, dask.array.from_array)))
    given[2] = -1.0  # never

    def stopped(a, x, tolerance, most):
        rounds, value, change = 0, 0.0, np.inf
        while change > tolerance and rounds < most:
            y = a @ x
            size = np.sqrt(y @ y)
            change = np.abs(size - value)
            x, value = y / size, size
            rounds += 1
        return x, value, rounds

    def by_hand(a, x, tolerance, most):
        a, x = dask.persist(a, x)
        rounds, value, change = 0, 0.0, np.inf
        while change > tolerance and rounds < most:
            y = a @ x.rechunk(-1)
            size = dask.array.sqrt(y @ y)
            x, size = dask.persist(y / size, size)
            size = size.compute()
            change, value = abs(size - value), size
            rounds += 1
        return x, value, rounds

    loop = by_hand if way == "by hand" else al.function(stopped)
    dask.compute(loop(*given, 20))  # what is traced and loaded once is there then
    watch = Watch(client)
    watch.start()
    begin = time.perf_counter()
    x, _, rounds = loop(*given, iterations)
    x.compute()
    seconds = time.perf_counter() - begin
    watch.stop()
    if int(rounds) != iterations:
        raise SystemExit(f"{way}: {rounds} iterations")
    looks = [watch.after(share) for share in SHARES]
    told = [way, f"{iterations:,}", f"{1e3 * seconds / iterations:.1f} ms", _told(f"{one.tasks:,}" for one in looks)]
    return told + [
        _told(f"{getattr(one, name) / MEGABYTE:.0f}" for one in looks) + " MB"
        for name in ("client", "scheduler", "workers")
    ]


def _told(values: Iterable[str]) -> str:
    return " → ".join(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of rows: " + ", ".join(PROGRAMS))
    parser.add_argument("--ways", type=lambda text: tuple(text.split(",")), default=WAYS, help=", ".join(WAYS))
    parser.add_argument("--quick", action="store_true", help="small sizes, one turn: does everything still run?")
    parser.add_argument("--long", type=int, nargs="?", const=LONG, help=f"one loop for so many iterations ({LONG:,})")
    parser.add_argument(
        "--rest", type=float, default=0.0, help="seconds of rest between rows, for others on the machine"
    )
    parser.add_argument("--update", type=Path, metavar="FILE", help="put the tables between the marks in FILE")
    options = parser.parse_args()
    warnings.filterwarnings("error", category=UserWarning, module="autoloop|__main__")  # nothing is left to Python
    rows, kept = [], []
    with three_processes() if options.long else two_processes() as client:
        for name, program in PROGRAMS.items():
            if not options.long and (options.only is None or name in options.only):
                time.sleep(options.rest)
                rows.append(measure(client, name, program, options.quick, options.ways))
                print(times(rows[-1:]).splitlines()[-1], amounts(rows[-1:]).splitlines()[-1], sep="\n", flush=True)
        if options.long:
            for way in options.ways:
                count = options.long // SHORTER if way == "by hand" else options.long
                kept.append(long_run(client, count, way))
                print(*kept[-1], sep=" | ", flush=True)
    where = f"Python {platform.python_version()}, NumPy {np.__version__}, Dask {dask.__version__}, "
    where += f"{len(os.sched_getaffinity(0))} cores"
    if options.long:
        head = [
            "a loop of tiny chunks",
            "iterations",
            "each",
            "tasks on the scheduler",
            "client",
            "scheduler",
            "workers",
        ]
        texts = {"long distributed loop": f"{markdown(head, kept, range(1, 7))}\n{where}.\n"}
    else:
        texts = {"distributed loops": f"{times(rows)}\n{amounts(rows)}\nMedians, {where}.\n"}
    for name, text in texts.items():
        print(text, end="")
        if options.update:
            replace(options.update, name, text)


if __name__ == "__main__":
    main()
