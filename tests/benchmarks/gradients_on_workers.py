"""Gradients of Dask's arrays: ``python tests/benchmarks/gradients_on_workers.py [--update docs/distributed.md]``.

Each of ``distributed_gradients`` on a cluster of two processes: loss and gradient as an expert writes them for Dask,
and ``value_and_grad`` of the plain function, with all that is saved and with checkpoints; and the function alone. They
take turns in one run and results are compared first; figures are medians. ``--growth`` asks one loop for more and more
iterations: what workers keep, and what the scheduler knows.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import autoloop as al
import dask
import dask.array
import distributed
import numpy as np
from cluster_measures import MEGABYTE, Run, two_processes, watched
from page import markdown, replace

sys.path.append(str(Path(__file__).parents[1] / "runtime"))
from distributed_gradients import PROGRAMS, Program

ROUNDS, CHUNKS, TURNS = 20, 4, 2
#: of what is large: rows of a matrix, series, numbers, rows of points
LARGE = {"Jacobi": 2000, "recurrent network": 20_000, "element by element": 500_000, "logistic regression": 200_000}
WAYS = ("by hand", "saved", "checkpoints", "forward")
#: iterations of the loop that is asked for more and more, and how many numbers it has
GROWTH, NUMBERS = (50, 200, 800), 50_000


def ways(program: Program) -> dict[str, Callable[..., Any]]:
    """What is measured."""
    made = {"by hand": program.by_hand, "saved": program.both()}
    if program.by is not None:
        made["checkpoints"] = program.both(gradient_memory="checkpoint")
        made["forward"] = al.function(program.function)
    return {
        way: f if way == "by hand" else lambda *given, f=f: f(*given[:-1], np.int64(given[-1]))
        for way, f in made.items()
    }


def compare(name: str, found: Any, wanted: Any) -> None:
    """The run ends where two ways give different results."""
    for a, b in zip(found if isinstance(found, tuple) else (found,), wanted, strict=False):
        if not np.allclose(a, b, rtol=1e-7, atol=1e-9):
            raise SystemExit(f"{name}: not NumPy's")


def given_to(program: Program, size: int) -> tuple[list[Any], list[Any]]:
    """Arguments as NumPy's, and on the cluster."""
    arguments = program.make(size)
    given = list(dask.persist(*program.cut(arguments, CHUNKS)))
    distributed.wait([one for one in given if dask.is_dask_collection(one)])
    return arguments, given


def measure(client: Any, name: str, program: Program, rounds: int, turns: int, quick: bool) -> dict[str, list[Run]]:
    """One program: way -> its runs."""
    arguments, given = given_to(program, program.size if quick else LARGE[name])
    made = ways(program)
    wanted = made["saved"](*arguments, rounds)
    for way, f in made.items():  # what is traced and loaded once is there then
        compare(f"{name}, {way}", dask.compute(f(*given, rounds))[0], wanted)
    runs: dict[str, list[Run]] = {}
    for turn in range(turns):
        for way in list(made)[:: 1 if turn % 2 else -1]:
            runs.setdefault(way, []).append(watched(client, lambda: made[way](*given, rounds), lambda _: rounds))
    return runs


def of(runs: list[Run], figure: Callable[[Run], float]) -> float:
    return median(map(figure, runs))


def table(rows: dict[str, dict[str, list[Run]]]) -> str:
    """Of each program and way what an iteration takes, there and back."""
    head = ["loop", "", "an iteration", "of by hand", "of forward", "processor", "tasks", "bytes moved",
            "tasks at most", "workers' memory"]  # fmt: skip
    cells = []
    for name, ways in rows.items():
        hand, forward = of(ways["by hand"], lambda r: r.seconds), None
        if "forward" in ways:
            forward = of(ways["forward"], lambda r: r.seconds)
        for way in WAYS:
            if way not in ways:
                continue
            runs = ways[way]
            seconds = of(runs, lambda r: r.seconds)
            cells.append([
                name if way == WAYS[0] else "", way, f"{1e3 * of(runs, lambda r: r.per_round(r.seconds)):.1f} ms",
                f"{seconds / hand:.2f} ×", "-" if forward is None else f"{seconds / forward:.2f} ×",
                f"{1e3 * of(runs, lambda r: r.per_round(r.processor)):.0f} ms", f"{of(runs, lambda r: r.tasks):.0f}",
                f"{of(runs, lambda r: r.per_round(r.moved)) / 1e3:.0f} kB",
                f"{of(runs, lambda r: r.most_tasks):.0f}",
                f"{of(runs, lambda r: sum(r.memory[1:])) / MEGABYTE:.0f} MB",
            ])  # fmt: skip
    return markdown(head, cells, range(2, 10))


def growth(client: Any, rounds: tuple[int, ...]) -> str:
    """Of one loop of more and more iterations the memory of the workers, and the tasks that the scheduler knows."""
    program, cells = PROGRAMS["element by element"], []
    _, given = given_to(program, NUMBERS)
    for way, f in ways(program).items():
        if way == "forward":
            continue
        dask.compute(f(*given, rounds[0]))
        runs = [watched(client, lambda n=n: f(*given, n), lambda _, n=n: n) for n in rounds]
        cells.append([
            way, *[f"{sum(r.memory[1:]) / MEGABYTE:.0f} MB" for r in runs], *[f"{r.most_tasks:,}" for r in runs],
            *[f"{1e3 * r.per_round(r.seconds):.1f} ms" for r in runs],
        ])  # fmt: skip
        print(cells[-1], flush=True)
    head = ["", *[f"{n} iterations: memory" for n in rounds], *[f"{n}: tasks at most" for n in rounds],
            *[f"{n}: an iteration" for n in rounds]]  # fmt: skip
    return markdown(head, cells, range(1, len(head)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of rows: " + ", ".join(PROGRAMS))
    parser.add_argument("--quick", action="store_true", help="small sizes: does everything still run?")
    parser.add_argument("--turns", type=int, default=TURNS, help="runs of each way")
    parser.add_argument("--growth", action="store_true", help="one loop of more and more iterations")
    parser.add_argument("--update", type=Path, metavar="FILE", help="put the tables between the marks in FILE")
    options = parser.parse_args()
    warnings.filterwarnings("error", category=UserWarning, module="autoloop|__main__")  # nothing is left to Python
    with two_processes() as client:
        if options.growth:
            texts = {"growing gradients": growth(client, GROWTH[: 2 if options.quick else 3])}
        else:
            rows = {}
            for name, program in PROGRAMS.items():
                if options.only is None or name in options.only:
                    rows[name] = measure(
                        client, name, program, 10 if options.quick else ROUNDS, options.turns, options.quick
                    )
                    print(table({name: rows[name]}), flush=True)
            texts = {"gradients on workers": table(rows)}
    where = f"Medians, Python {platform.python_version()}, NumPy {np.__version__}, Dask {dask.__version__}, "
    for name, text in texts.items():
        text = f"{text}\n{where}{len(os.sched_getaffinity(0))} cores.\n"
        print(text, end="")
        if options.update:
            replace(options.update, name, text)


if __name__ == "__main__":
    main()
