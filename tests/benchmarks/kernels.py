"""NumPy kernels as people write them: ``python tests/benchmarks/kernels.py [--kernels lu,adi] [--update PAGE]``.

The kernels of ``tests/equivalence`` at the sizes of ``sizes_of_kernels.py``: plain NumPy, Numba where an interpreter
has it (``--peer numba=PYTHON``), and autoloop in each executor. Each way has a process of its own, in which it and the
plain kernel take turns; a figure is its median over that of the plain one, of processor time on one thread and of time
on several: below 1 it is faster. A first call that takes too long is given up; a value that is not NumPy's makes the
run fail. ``--decisions`` says of which kernels ``auto`` ends with a way that is slower than another.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import page
from functions import GOAL
from kernel_worker import NUMBA
from peers import POOLS, Failed, Late, Worker, interpreters, number
from sizes_of_kernels import DENSE, ELEMENTS, NETWORK, PRODUCT, SCAN, SIZES, STENCIL

EXECUTORS = ("auto", "sequential", "dataflow", "native")
#: seconds that a first call may keep its process busy
MOST_FIRST = 20
#: how much slower than the best way ``auto`` may come to be, and how much longer its first call may take
SLOWER, LONGER = 1.1, 3.0
#: what the mean of a class is to be at most: the best that compilers of NumPy programs were measured at
GOALS = {DENSE: 0.030, STENCIL: 0.10, SCAN: 0.020, PRODUCT: 0.67, ELEMENTS: 0.31, NETWORK: 0.36, "all": 0.148}
MACHINE = f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores.\n"


@dataclass(frozen=True)
class Found:
    """A kernel in one way.

    Attributes
    ----------
    plain : float
        Seconds that the plain kernel takes beside it.
    ratio, first, memory : float or None
        The time over that of the plain kernel, seconds of processor time of the first call, and the peak of memory over
        that of the plain kernel, as far as known.
    ran, why : str
        What ran it, and why that.
    failed, wrong : str
        Why there are no figures; how the values are not NumPy's.
    """

    plain: float = math.nan
    ratio: float | None = None
    first: float | None = None
    memory: float | None = None
    ran: str = ""
    why: str = ""
    failed: str = ""
    wrong: str = ""

    @property
    def took(self) -> float:
        """Seconds of a call. Ratios of two processes are no comparison: NumPy may take twice as long in one of them,
        where the C library gives every large array back to the system."""
        return math.inf if self.ratio is None else self.ratio * self.plain

    @property
    def cell(self) -> str:
        """The ratio for a table, or in a word why there is none."""
        if self.ratio is None:
            return "**wrong**" if self.wrong else self.failed.partition(":")[0]
        return shown(self.ratio, GOAL)


def shown(ratio: float, most: float) -> str:
    """A ratio for a table, bold if it is over what it is to be at most."""
    text = f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.3f}"
    return f"**{text}**" if ratio > most else text


def measured(python: str, name: str, size: str, way: str, threads: int, rounds: int, cache: str) -> Found:
    """A kernel in one way."""
    environment = {
        **dict.fromkeys((*POOLS, "NUMBA_NUM_THREADS"), str(threads)),
        "AUTOLOOP_CACHE": "0", "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": cache,
    }  # fmt: skip
    worker = Worker(python, "kernel_worker.py", [name, size, way, str(threads)], environment)
    found = Found()
    try:
        worker.ask()
        found = replace(found, plain=worker.ask(do="plainly")["seconds"])
        found = first_call(worker, found)
        if found.failed or found.wrong:
            return found
        worker.ask(do="settle")
        times = worker.ask(do="rounds", count=rounds)
        if times["wrong"]:
            return replace(found, wrong=times["wrong"])
        plain, ours = median(times["plain"]), median(times["ours"])
        found = replace(found, plain=plain, ratio=ours / plain)
        if peaks := worker.ask(do="memory"):
            found = replace(found, memory=peaks["ours"] / peaks["plain"])
        return standing(worker, found)
    except Failed as failure:
        return replace(found, ratio=None, failed=f"failed: {failure}")
    finally:
        worker.stop()


def standing(worker: Worker, found: Found) -> Found:
    """What runs it, which is asked last: of a large graph the answer may take long."""
    try:
        answer = worker.ask(do="standing", limit=MOST_FIRST)
    except Late:
        return replace(found, ran="unknown", why=f"the answer takes more than {MOST_FIRST} s")
    return replace(found, ran=answer["executor"], why=answer["reason"])


def first_call(worker: Worker, found: Found) -> Found:
    """What the first call takes, and whether it gives what NumPy gives."""
    try:
        answer = worker.ask(do="first", most=MOST_FIRST)
    except Late:
        return replace(found, failed=f"first call > {MOST_FIRST} s", first=math.inf)
    if "refused" in answer:
        return replace(found, failed=f"refused: {answer['refused']}")
    return replace(found, first=answer["seconds"], wrong=answer["wrong"])


def mean(ratios: Sequence[float], most: float) -> str:
    """The geometric mean, bold if it is over what it is to be at most."""
    return shown(math.exp(sum(map(math.log, ratios)) / len(ratios)), most) if ratios else "-"


Rows = dict[str, dict[str, Found]]


def means(rows: Rows, ways: Sequence[str]) -> list[list[str]]:
    """For each class, and for all: how many kernels, geometric means of those that a way has figures of, the goal."""
    kinds = list(dict.fromkeys(SIZES[name].kind for name in rows))
    table = []
    for kind in [*kinds, "all"]:
        names = [name for name in rows if kind in ("all", SIZES[name].kind)]
        cells = []
        for way in ways:
            ratios = [one.ratio for one in (rows[name][way] for name in names) if one.ratio is not None]
            most = math.inf if way in NUMBA else GOALS[kind]
            some = "" if len(ratios) == len(names) else f" ({len(ratios)} of {len(names)})"
            cells.append(mean(ratios, most) + some)
        table.append([kind, str(len(names)), *cells, str(GOALS[kind])])
    return table


def figures(found: dict[str, Found], ways: Sequence[str], text: Callable[[Found], str]) -> str:
    """A figure of each of autoloop's ways."""
    return " / ".join(text(found[way]) for way in ways if way not in NUMBA)


def seconds(one: Found) -> str:
    """The first call."""
    return "-" if one.first is None else f"> {MOST_FIRST}" if math.isinf(one.first) else f"{one.first:.2f}"


def cells(name: str, found: dict[str, Found], ways: Sequence[str]) -> list[str]:
    """A row of the table."""
    plain = median([one.plain for one in found.values() if not math.isnan(one.plain)] or [math.nan])
    memory = figures(found, ways, lambda one: "-" if one.memory is None else f"{one.memory:.1f}")
    auto = [found["auto"].ran or "-"] if "auto" in found else []
    return [name, number(plain * 1e3), *(found[way].cell for way in ways), *auto, figures(found, ways, seconds), memory]


def classes(rows: Rows, ways: Sequence[str]) -> str:
    """The means of the classes of kernels, as Markdown."""
    return page.markdown(["class", "kernels", *ways, "goal"], means(rows, ways), range(1, 3 + len(ways)))


def tables(rows: Rows, ways: Sequence[str]) -> str:
    """The kernels, and the means of their classes, as Markdown."""
    ours = [way for way in ways if way not in NUMBA]
    auto = ["auto runs it in"] if "auto" in ways else []
    order = " / ".join(ours)
    head = ["kernel", "NumPy, ms", *ways, *auto, f"first call, s: {order}", f"memory: {order}"]
    count = len(ways)
    every = page.markdown(head, [cells(name, found, ways) for name, found in rows.items()], range(1, 2 + count))
    return f"{classes(rows, ways)}\n{every}"


def misses(rows: Rows) -> list[list[str]]:
    """What ``auto`` decided badly: the kernel, what runs it and what would be best, how much slower it is, and how much
    longer its first call takes than that of the best."""
    table = []
    for name, found in rows.items():
        auto, others = found["auto"], [way for way in found if way != "auto" and found[way].ratio is not None]
        best = min(others, key=lambda way: found[way].took, default=None)
        if best is None:
            continue
        slower, longer = auto.took / found[best].took, _over(auto.first, found[best].first)
        if slower > SLOWER or longer > LONGER:
            table.append([name, auto.ran or auto.cell, best, f"{slower:.2f}", f"{longer:.1f}"])
    return table


def _over(some: float | None, other: float | None) -> float:
    return math.inf if some is None or not other else some / other


def decisions(rows: Rows) -> str:
    """The misses, as Markdown."""
    head = ["kernel", "auto runs it in", "best", "auto over best", "first call over best's"]
    found = misses(rows)
    said = f"`auto` is more than {SLOWER} times as slow as the best way, or its first call {LONGER:.0f} times, with"
    return f"{said} {len(found)} of {len(rows)} kernels.\n\n{page.markdown(head, found, range(3, 5))}"


def measure_all(options: argparse.Namespace, size: str, threads: int, cache: str) -> tuple[Rows, list[str]]:
    """All kernels that are asked for, at one size; and the ways that can be had."""
    pythons = interpreters(options.peer)
    numba = list(NUMBA)[: 2 if threads > 1 else 1] if "numba" in pythons else []
    ways = [*numba, *options.executors]
    rows: Rows = {}
    for name in options.kernels:
        rows[name] = {}
        for way in ways:
            python = pythons["numba"] if way in NUMBA else sys.executable
            one = rows[name][way] = measured(python, name, size, way, threads, options.rounds, cache)
            told = f"{one.cell}, {one.ran} ({one.why})" if one.ran else one.failed
            print(f"{name:24} {size} {way:14} first {seconds(one):>6}  {one.wrong or told}", flush=True)
    return rows, ways


def chosen(of: Sequence[str]) -> Callable[[str], list[str]]:
    """What reads names with commas between."""

    def read(text: str) -> list[str]:
        names = text.split(",")
        if unknown := [name for name in names if name not in of]:
            raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}, only {', '.join(of)}")
        return names

    return read


def main() -> None:
    """Measure the kernels that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kernels", type=chosen(list(SIZES)), default=list(SIZES), help="only these")
    parser.add_argument("--sizes", type=chosen(["S", "M", "tiny"]), default=["S"])
    parser.add_argument("--executors", type=chosen(EXECUTORS), default=list(EXECUTORS))
    parser.add_argument("--threads", type=lambda text: [int(one) for one in text.split(",")], default=[1])
    parser.add_argument("--rounds", type=int, default=15, help="the most that are measured of a kernel")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--decisions", action="store_true", help="where auto ends with a way that is not the best")
    parser.add_argument("--peer", action="append", default=[], metavar="numba=PYTHON", help="where Numba is")
    parser.add_argument(
        "--update", type=Path, nargs="+", default=[], metavar="PAGE", help="put the tables between their marks on PAGE"
    )
    options = parser.parse_args()
    if missing := [str(path) for path in options.update if not path.exists()]:
        parser.error(f"there is no page {', '.join(missing)}")
    if options.decisions:
        options.executors = EXECUTORS
    made: dict[str, str] = {}  # of each size and number of threads, what goes between its marks
    wrong = []
    with tempfile.TemporaryDirectory() as cache:
        for size in ["tiny"] if options.quick else options.sizes:
            for threads in options.threads:
                for name in () if options.quick else options.executors:  # so that no kernel pays for bytecode
                    measured(sys.executable, "mvt", "S", name, threads, 1, cache)
                rows, ways = measure_all(options, size, threads, cache)
                head = f"Size {size}, {threads} thread{'s'[: threads > 1]}:\n\n"
                text = [f"{head}{tables(rows, ways)}"]
                made[f"classes of kernels {size} {threads}"] = f"{head}{classes(rows, ways)}\n{MACHINE}"
                if options.decisions:
                    text.append(decisions(rows))
                made[f"kernels {size} {threads}"] = "\n".join([*text, MACHINE])
                print("", made[f"kernels {size} {threads}"], sep="\n", end="", flush=True)
                for name, found in rows.items():
                    wrong += [f"{name}, {way}: {one.wrong}" for way, one in found.items() if one.wrong]
    if wrong:
        raise SystemExit("not what NumPy gives: " + "; ".join(wrong))
    for path in options.update:
        page.replace_known(path, made)


if __name__ == "__main__":
    main()
