"""autoloop beside other libraries: ``python tests/benchmarks/peers.py --peer jax=PYTHON [--update PAGE ...]``.

Each of ``programs/`` is one piece of work, written for every library in its own way. A library is measured if this
interpreter can import it or another one is named that can: ``--peer tensorflow=/venvs/tf/bin/python``. All run in one
go: a process per library, results compared first, then taking turns, so that what else the machine does falls on all.
Figures are medians; memory is what the first call added to the process at its peak.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
from page import markdown, replace_known

HERE = Path(__file__).parent
SCALES = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
#: column of the table -> library and variant
COLUMNS = {
    "auto": ("autoloop", "auto"),
    "native": ("autoloop", "native"),
    "NumPy": ("numpy", ""),
    "Numba": ("numba", ""),
    "JAX": ("jax", ""),
    "TensorFlow": ("tensorflow", "function"),
    "XLA": ("tensorflow", "XLA"),
    "PyTorch": ("torch", ""),
}
OURS = ("auto", "native")
#: how the rows of the short table begin: one for each kind of work, and what it is slowest at
SHORT = (
    "x = 0.98 x", "RNN forward, per step, batch 32", "scalar `while`", "gradient of x = a sin(x)",
    "one more call of it",
)  # fmt: skip
POOLS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
ON_ONE_THREAD = {**dict.fromkeys(POOLS, "1"), "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONWARNINGS": "ignore"}
#: seconds that a library may take for one answer
PATIENCE = 120


class Failed(Exception):
    """A library could not do it; the message is its own."""


class Late(Failed):
    """A library has not answered in time."""


class Worker:
    """A process that answers requests: ``script`` with arguments, in the interpreter of a library."""

    def __init__(self, python: str, script: str, arguments: list[str], environment: dict[str, str]) -> None:
        self.seconds: list[float] = []
        self.info: dict = {}
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [python, str(HERE / script), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            env={**os.environ, **QUIET, **environment},
        )  # fmt: skip

    def ask(self, limit: float = PATIENCE, **request: object) -> dict:
        """Send a request, none to wait for the greeting; gives the answer, for which it has ``limit`` seconds."""
        late = threading.Event()
        clock = threading.Timer(limit, lambda: (late.set(), self._process.kill()))
        clock.start()
        try:
            if request:
                print(json.dumps(request), file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            clock.cancel()
        if late.is_set():
            raise Late(f"more than {limit:g} s")
        if not answer:
            if self._process.wait() == -signal.SIGPROF:  # of its own clock
                raise Late("more than it had set itself")
            self._log.seek(0)
            lines = self._log.read().strip().splitlines()
            raise Failed(lines[-1] if lines else "died")
        return json.loads(answer)

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()


@dataclass
class Measured:
    """A row of the table: seconds or megabytes by column."""

    what: str
    unit: str
    values: dict[str, float] = field(default_factory=dict)

    def cells(self, columns: list[str]) -> list[str]:
        cells = [f"{number(self.values[c])} {self.unit}" if c in self.values else "-" for c in columns]
        ours = [self.values[c] for c in OURS if c in self.values]
        others = {c: v for c, v in self.values.items() if c not in OURS}
        if not ours or not others:
            return [self.what, *cells, "-"]
        best = min(others, key=others.__getitem__)
        return [self.what, *cells, f"{min(ours) / max(others[best], 1e-12):.2f} × {best}"]


def number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def compare(name: str, results: dict[str, Path], program: object) -> None:
    """``Failed`` if a library has computed something else than the first one."""
    wanted = None
    for column, path in results.items():
        with np.load(path) as file:
            found = [file[key] for key in file.files]
        wanted = found if wanted is None else wanted
        for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
            close = np.isclose(a, b, rtol=getattr(program, "RTOL", 1e-4), atol=getattr(program, "ATOL", 1e-5))
            # where a comparison decides, an element may fall on either side
            if np.shape(a) != np.shape(b) or np.mean(close) < getattr(program, "EQUAL", 1.0):
                raise Failed(f"{name}: result {k} of {column} is not that of {next(iter(results))}")


def measure(name: str, case_name: str, pythons: dict[str, str], options: argparse.Namespace) -> Iterator[Measured]:
    """The rows of one case of a program."""
    program = importlib.import_module(f"programs.{name}")
    case = {**program.CASES[case_name], **(getattr(program, "QUICK", {}) if options.quick else {})}
    workers: dict[str, Worker] = {}
    results: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for column, (library, variant) in COLUMNS.items():
                known = hasattr(program, f"{library}_") and variant != "XLA"
                known |= library in ("autoloop", "tensorflow") and hasattr(program, "loop")
                if library in pythons and known and column not in getattr(program, "WITHOUT", ()):
                    told = [name, library, json.dumps(case), variant]
                    environment = ON_ONE_THREAD if getattr(program, "PINNED", True) else {}
                    workers[column] = Worker(pythons[library], "worker.py", told, environment)
            for column, worker in list(workers.items()):
                path = Path(scratch, f"{column}.npz")
                try:
                    worker.ask()
                    worker.info = worker.ask(path=str(path))
                    results[column] = path
                except Failed as failure:
                    print(f"{name}, {column}: {failure}", file=sys.stderr)
                    workers.pop(column).stop()
            compare(name, results, program)
            for turn in range(2 if options.quick else 7):
                order = list(workers.values())
                for worker in order[turn % len(order) :] + order[: turn % len(order)]:
                    repeats = max(1, min(9, int(0.15 / max(worker.info["estimate"], 1e-9))))
                    if turn < 2 or worker.info["estimate"] < 2:
                        worker.seconds += worker.ask(repeats=repeats)["seconds"]
        finally:
            for worker in workers.values():
                worker.stop()
    count = program.count(**case) if hasattr(program, "count") else 1
    unit = program.UNIT[case_name] if isinstance(program.UNIT, dict) else program.UNIT
    times = {c: median(w.seconds) / count * SCALES[unit.split()[0]] for c, w in workers.items()}
    what = ", ".join(filter(None, (program.TITLE, case_name)))
    yield Measured(what, unit, times)
    if getattr(program, "MEMORY", False):
        yield Measured("its memory", "MB", {c: w.info["added"] for c, w in workers.items()})


def interpreters(given: list[str]) -> dict[str, str]:
    """The interpreter for each library: as given, else this one if it has the library."""
    libraries = dict.fromkeys(library for library, _ in COLUMNS.values())
    found = {library: sys.executable for library in libraries if importlib.util.find_spec(library)}
    for pair in given:
        library, _, python = pair.partition("=")
        if library not in libraries or not python:
            raise SystemExit(f"--peer wants LIBRARY=PYTHON with one of {', '.join(libraries)}, not {pair!r}")
        found[library] = python
    return found


def table(rows: list[Measured]) -> str:
    """The rows as Markdown, with the columns that have anything in them."""
    columns = [c for c in COLUMNS if any(c in row.values for row in rows)]
    head = ["work", *columns, "best of ours / best other"]
    return markdown(head, [row.cells(columns) for row in rows], range(1, len(head)))


def some_of(rows: list[Measured]) -> list[Measured]:
    """Return the rows of the short table: one for each kind of work."""
    return [row for row in rows if row.what.startswith(SHORT) and not row.what.endswith("checkpoints")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = sorted(path.stem for path in (HERE / "programs").glob("[a-z]*.py"))
    parser.add_argument("--peer", action="append", default=[], metavar="LIBRARY=PYTHON", help="where a library is")
    parser.add_argument("--only", type=lambda text: text.split(","), default=names, help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small sizes, two turns: does everything still run?")
    parser.add_argument(
        "--update", type=Path, nargs="+", default=[], metavar="PAGE", help="put the tables between their marks on PAGE"
    )
    options = parser.parse_args()
    pythons = interpreters(options.peer)
    rows: list[Measured] = []
    for name in options.only:
        for case in importlib.import_module(f"programs.{name}").CASES:
            for row in measure(name, case, pythons, options):
                print(table([row]), flush=True)
                rows.append(row)
    cores = len(os.sched_getaffinity(0))
    machine = f"Medians, Python {platform.python_version()}, NumPy {np.__version__}, {cores} cores.\n"
    made = {"peers": f"{table(rows)}\n{machine}", "some peers": f"{table(some_of(rows))}\n{machine}"}
    print(made["peers"], end="")
    for path in options.update:
        replace_known(path, made)


if __name__ == "__main__":
    main()
