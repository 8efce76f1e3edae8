"""The scheduler beside TensorFlow's executor: ``python tests/benchmarks/scheduler.py [--update docs/scheduler.md]``.

Each row of ``scheduler_programs`` is one graph, built by the same lines for both libraries, in a function and in a 1.x
session (of TensorFlow with its first kind of control flow), with as many workers, on as many processors. TensorFlow is
measured if this interpreter has it or another one is named that does: ``--peer tf=/venvs/tf/bin/python``. The processes
of a row take turns, and so do those of rows that are the same work on one worker and on two, for what else a machine
does makes it half as fast for seconds; results are compared first; figures are medians. What is ours is run until all
machine code is there that it waits for. A row is missed where the better of ours is slower
than the better of TensorFlow's, or, where work is heavy, needs more than 1.05 times what NumPy takes by hand. Halves by
hand are functions of ours, each of one half of the work, that two threads call: what a second thread gains at most.

An interpreter without the extra ``native`` makes a table of its own, which has another place on the page.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
from page import markdown, replace
from peers import ON_ONE_THREAD, SCALES, Failed, Worker, number
from scheduler_programs import Program, programs

#: column of the table -> library and way of calling it
COLUMNS = {
    "function": ("autoloop", "function"),
    "session": ("autoloop", "session"),
    "halves by hand": ("autoloop", "halves"),
    "NumPy by hand": ("numpy", ""),
    "TensorFlow": ("tensorflow", "function"),
    "TensorFlow 1.x": ("tensorflow", "session"),
}
#: where a column's interpreter is, what library, and which way
Column = tuple[str, str, str]
OURS, THEIRS, HAND = list(COLUMNS)[:2], list(COLUMNS)[4:], "NumPy by hand"
#: where the table is put, without the extra ``native`` and with it
PLACES = ("scheduler without native", "scheduler")
#: how much longer than NumPy by hand heavy work may take
ALLOWANCE = 1.05
TURNS, QUICK_TURNS = 9, 2
#: light nodes of the row that is compared with one that has none
LIGHT = 128
#: seconds for which runs are made before any counts, and that machine code is waited for, at most
BEFORE, QUICK_BEFORE, SETTLED = 2, 0.1, 120
#: seconds that a library may take to build a graph of 100,000 nodes, and to run it first
LONG = 600


@dataclass
class Measured:
    """A row of the table: what a run took, divided, by column."""

    name: str
    program: Program
    values: dict[str, float] = field(default_factory=dict)

    def best(self, columns: list[str]) -> float | None:
        return min([self.values[c] for c in columns if c in self.values], default=None)

    def cells(self, columns: list[str]) -> list[str]:
        unit = self.program.unit
        cells = [f"{number(self.values[c])} {unit}" if c in self.values else "-" for c in columns]
        ours, theirs, hand = self.best(OURS), self.best(THEIRS), self.values.get(HAND)
        if ours is None or theirs is None:
            return [self.program.what, *cells, "-", "-"]
        missed = ours > theirs or (hand is not None and self.program.unit == "ms" and ours > ALLOWANCE * hand)
        return [self.program.what, *cells, f"{ours / theirs:.2f} ×", "**missed**" if missed else "met"]


def compare(name: str, results: dict[str, Path]) -> None:
    """``Failed`` if a column has computed something else than the first one."""
    wanted = None
    for column, path in results.items():
        with np.load(path) as file:
            found = [file[key] for key in file.files]
        wanted = found if wanted is None else wanted
        for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
            small = 1e-4 * max(1.0, float(np.abs(b).max(initial=0)))  # sums of large numbers
            if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=1e-3, atol=small):
                raise Failed(f"{name}: result {k} of {column} is not that of {next(iter(results))}")


def _is_there(program: Program, library: str, way: str) -> bool:
    return bool(program.halves) if way == "halves" else library != "numpy" or program.hand is not None


def together(rows: dict[str, Program]) -> Iterator[dict[str, Program]]:
    """Yield the rows that are measured in turns: of the same work with other numbers of workers."""
    found: dict[str, dict[str, Program]] = {}
    for name, program in rows.items():
        work, _, workers = name.rpartition(" ")
        found.setdefault(work if workers in ("1", "2") else name, {})[name] = program
    yield from found.values()


def measure(rows: dict[str, Program], columns: dict[str, Column], quick: bool) -> list[Measured]:
    """Some rows, in turns."""
    workers: dict[tuple[str, str], Worker] = {}

    def settle(worker: Worker) -> None:  # what is compiled while runs go on is there then
        worker.info |= worker.ask(LONG, before=QUICK_BEFORE if quick else BEFORE, settled=SETTLED)

    # until any run counts, several are made at one time
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        try:
            for name, program in rows.items():
                begin(name, program, columns, quick, Path(scratch), workers, pool)
            list(pool.map(settle, workers.values()))
            for turn in range(QUICK_TURNS if quick else TURNS):
                order = list(workers.values())
                for worker in order[turn % len(order) :] + order[: turn % len(order)]:
                    repeats = max(1, min(9, int(0.2 / max(worker.info["estimate"], 1e-9))))
                    worker.seconds += worker.ask(repeats=repeats)["seconds"]
        finally:
            for worker in workers.values():
                worker.stop()
    made = []
    for name, program in rows.items():
        scale = SCALES[program.unit] / program.count
        own = {column: worker for (row, column), worker in workers.items() if row == name}
        made.append(Measured(name, program, {c: median(worker.seconds) * scale for c, worker in own.items()}))
        if late := [c for c, worker in own.items() if not worker.info.get("is_settled", True)]:
            print(f"{name}: machine code was not there for {', '.join(late)}", file=sys.stderr)
    return made


def begin(
    name: str, program: Program, columns: dict[str, Column], quick: bool, scratch: Path,
    workers: dict[tuple[str, str], Worker], pool: ThreadPoolExecutor,
) -> None:  # fmt: skip
    """Add the processes of one row to ``workers``; they have made their first run, with the same results."""
    own: dict[str, Worker] = {}
    results: dict[str, Path] = {}
    for column, (python, library, way) in columns.items():
        if _is_there(program, library, way):
            told = [name, library, way, str(int(quick))]
            own[column] = workers[name, column] = Worker(python, "scheduler_worker.py", told, ON_ONE_THREAD)

    def first(column: str) -> None:
        path = scratch / f"{name} {column}.npz"
        try:
            own[column].ask(LONG)
            own[column].info = own[column].ask(LONG, path=str(path))
            results[column] = path
        except Failed as failure:
            print(f"{name}, {column}: {failure}", file=sys.stderr)
            workers.pop((name, column)).stop()

    list(pool.map(first, own))
    compare(name, results)


def gains(rows: list[Measured]) -> Iterator[str]:
    """What the second worker gives to chains that do not need each other; what a light node takes beside heavy ones."""
    named = {row.name: row.values for row in rows}
    pairs = [("two chains", "chains"), ("two chains 768×768", "heavy"), ("two chains of long rows", "waves")]
    pairs += [("chains of short kernels", "many")]
    pairs += [("one inner loop of two chains", "nest"), ("two inner loops", "nests")]
    for where, first in (("", "short"), (", in a loop", "looped")):
        pairs += [(f"chains of {size} µs a node{where}", f"{first} {size}") for size in (2, 5, 10, 20)]
    for what, first in pairs:
        one, two = named.get(f"{first} 1", {}), named.get(f"{first} 2", {})
        if "halves by hand" in two:  # on one thread they are the function
            one = {**one, "halves by hand": one["function"]} if "function" in one else one
        told = [f"{column} {one[column] / two[column]:.2f} ×" for column in COLUMNS if column in one and column in two]
        if told:
            yield f"What the second worker gains in {what}: {', '.join(told)}."
    alone, beside = named.get("light 0", {}), named.get("light 64", {})
    told = [
        f"{column} {(beside[column] - alone[column]) / LIGHT * 1e3:.0f} ns"
        for column in COLUMNS
        if column in alone and column in beside
    ]
    if told:
        yield f"What each light node takes beside two products: {', '.join(told)}."


def table(rows: list[Measured]) -> str:
    """The rows as Markdown, with the columns that have anything in them."""
    columns = [c for c in COLUMNS if any(c in row.values for row in rows)]
    head = ["work", *columns, "best of ours / best of TensorFlow's", "verdict"]
    return markdown(head, [row.cells(columns) for row in rows], range(1, len(head) - 1))


def interpreters(given: list[str]) -> dict[str, str]:
    """The interpreter for each library: as given, else this one if it has the library."""
    known = {"tf": "tensorflow", "tensorflow": "tensorflow"}
    found = {name: sys.executable for name in ("autoloop", "numpy", "tensorflow") if importlib.util.find_spec(name)}
    for pair in given:
        library, _, python = pair.partition("=")
        if library not in known or not python:
            raise SystemExit(f"--peer wants tf=PYTHON, not {pair!r}")
        found[known[library]] = python
    return found


def _is_wanted(name: str, only: list[str] | None) -> bool:
    return only is None or any(name == one or name.startswith(f"{one} ") for one in only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peer", action="append", default=[], metavar="tf=PYTHON", help="where TensorFlow is")
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        help="names of rows, or what they begin with: " + ", ".join(programs()),
    )
    parser.add_argument("--columns", type=lambda text: text.split(","), help="of " + ", ".join(COLUMNS))
    parser.add_argument("--quick", action="store_true", help="small sizes, two turns: does everything still run?")
    parser.add_argument("--update", type=Path, metavar="FILE", help="put the table between the marks in FILE")
    options = parser.parse_args()
    pythons = interpreters(options.peer)
    columns = {
        column: (pythons[library], library, way)
        for column, (library, way) in COLUMNS.items()
        if library in pythons and (options.columns is None or column in options.columns)
    }
    rows: list[Measured] = []
    wanted = {name: one for name, one in programs(options.quick).items() if _is_wanted(name, options.only)}
    for those in together(wanted):
        made = measure(those, columns, options.quick)
        rows += made
        print(*table(made).splitlines()[2:], sep="\n", flush=True)
    where = f"Python {platform.python_version()}, NumPy {np.__version__}, {len(os.sched_getaffinity(0))} cores"
    text = "\n\n".join([table(rows).rstrip("\n"), *gains(rows), f"Medians, {where}."]) + "\n"
    print(text, end="")
    if options.update:
        replace(options.update, PLACES[importlib.util.find_spec("llvmlite") is not None], text)


if __name__ == "__main__":
    main()
