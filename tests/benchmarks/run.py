"""What things cost: ``python tests/benchmarks/run.py [--quick] [--update docs/figures.md]``.

Every figure is a median over repeats; where two things are compared they take turns in one run, so that what else
the machine does falls on both. BLAS runs on one thread throughout. Nothing here passes or fails: a goal that is
missed is marked in the table.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import autoloop as al
import numpy as np
from autoloop_runtime.base import native_extra as extra
from autoloop_runtime.dataflow.flat_graph import Kind
from autoloop_runtime.dataflow.lowering import lower
from page import markdown, replace
from threadpoolctl import threadpool_limits


@dataclass
class Row:
    """One line of the table."""

    what: str
    measured: float
    unit: str
    digits: int
    goal: str = "-"
    #: whether ``measured`` reaches the goal
    met: bool = True

    def cells(self) -> list[str]:
        verdict = "-" if self.goal == "-" else "met" if self.met else "**missed**"
        return [self.what, f"{self.measured:.{self.digits}f} {self.unit}", self.goal, verdict]


def seconds(f: Callable[[], object]) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    f()
    return time.perf_counter() - begin


def in_turns(repeats: int, *fs: Callable[[], object]) -> list[float]:
    """The median time of each function; they take turns, after one call each that is not counted."""
    for f in fs:
        f()
    samples = [[seconds(f) for f in fs] for _ in range(repeats)]
    return [median(column) for column in zip(*samples)]


def import_time(repeats: int) -> list[Row]:
    """In new processes, with the bytecode cached as after any first import."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}

        def fresh(module: str) -> float:
            code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
            command = [sys.executable, "-c", code]
            return float(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)

        samples = [(fresh("autoloop"), fresh("numpy")) for _ in range(repeats + 1)][1:]
    ours, numpys = map(median, zip(*samples))
    return [
        Row("`import autoloop` in a fresh process", ours, "s", 3, "< 0.25 s", ours < 0.25),
        Row("of which `import numpy`", numpys, "s", 3),
    ]


def thousand(f: Callable[[], object]) -> Callable[[], None]:
    """A thousand calls: microseconds of one are milliseconds of all."""

    def calls() -> None:
        for _ in range(1000):
            f()

    return calls


def call_overhead(repeats: int) -> list[Row]:
    """Calls of functions that are traced already."""

    @al.function
    def multiply_add(x, y):
        return x * y + x

    @al.function
    def count(n):
        i = al.constant(0)
        while i < n:
            i += 1
        return i

    x, y, three = al.constant(2.0), al.constant(3.0), al.constant(3)
    a = np.ones(8, np.float32)
    scalars, arrays, loop, plain = in_turns(
        repeats,
        *map(
            thousand, (lambda: multiply_add(x, y), lambda: multiply_add(a, a), lambda: count(three), lambda: a * a + a)
        ),
    )
    return [
        Row("calling a traced function with two scalars", scalars * 1e3, "µs", 1, "< 100 µs", scalars < 0.1),
        Row("with two arrays of 8", arrays * 1e3, "µs", 1),
        Row("the same in plain NumPy", plain * 1e3, "µs", 1),
        Row("with a number, and a loop of three turns", loop * 1e3, "µs", 1),
    ]


def eager(repeats: int) -> list[Row]:
    """What operations on tensors that are values take more than NumPy's, which they are computed by."""
    a = np.linspace(0, 1, 8, dtype=np.float32)
    t, chosen = al.constant(a), al.constant(a > 0.5)
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "t + t": (lambda: t + t, lambda: a + a),
        "t * 2.0": (lambda: t * 2.0, lambda: a * 2.0),
        "al.exp(t)": (lambda: al.exp(t), lambda: np.exp(a)),
        "al.sum(t)": (lambda: al.sum(t), lambda: np.add.reduce(a)),
        "al.where(c, t, t)": (lambda: al.where(chosen, t, t), lambda: np.where(chosen.value, a, a)),
        "t @ t": (lambda: t @ t, lambda: a @ a),
        "t[2]": (lambda: t[2], lambda: a[2]),
    }
    times = in_turns(repeats, *[thousand(f) for pair in pairs.values() for f in pair])
    what = "`{}` of 8 numbers, more than NumPy takes"
    more = [(ours - theirs) * 1e3 for ours, theirs in zip(times[::2], times[1::2])]
    return [
        Row(what.format(name), one, "µs", 1, *(("< 2 µs", one < 2) if name == "t + t" else ()))
        for name, one in zip(pairs, more)
    ]


def polynomial(n):
    """A scalar loop with a branch, the kind people write."""
    i, total = 0, 0.0
    while i < n:
        if i % 3 == 0:
            total = total + 0.5 * i
        else:
            total = total - 0.25
        i += 1
    return total


def nodes_per_iteration(concrete) -> int:
    """How many nodes of the lowered graph one iteration of the (only) loop runs through."""
    graph = concrete.runner.graph
    flat = lower(graph, graph.outputs, graph.inputs)
    outside = (Kind.ENTER, Kind.EXIT, Kind.CONST)
    return sum(node.frame == 1 and node.kind not in outside for node in flat.nodes)


def scheduler(repeats: int) -> list[Row]:
    def body(n, x):
        return al.while_loop(
            lambda i, a, b: i < n, lambda i, a, b: (i + 1, a * x + 1.0, b - a * 0.5), (al.constant(0), x, x)
        )

    al.config.set_num_threads(1)
    loop = al.function(body, executor="dataflow")
    short, long, x = np.int32(1000), np.int32(3000), np.float32(0.5)
    little, much = in_turns(repeats, lambda: loop(short, x), lambda: loop(long, x))
    iteration = (much - little) / 2000 * 1e6
    nodes = nodes_per_iteration(loop.get_concrete_function(short, x))
    return [
        Row(f"scheduler, one thread, per node ({nodes} nodes an iteration)", iteration / nodes, "µs", 2, "< 10 µs",
            iteration / nodes < 10),
    ]  # fmt: skip


def scalar_loop(repeats: int) -> list[Row]:
    what = "scalar `while` with an `if`, per iteration: {}"
    rows = []
    (plain,) = in_turns(repeats, lambda: polynomial(10_000))
    for executor, turns in (("sequential", 10_000), ("native", 1_000_000)):
        if executor == "native" and extra.why_not():
            continue
        loop = al.function(polynomial, executor=executor)
        empty, full = in_turns(repeats, lambda: loop(np.int32(0)), lambda: loop(np.int32(turns)))
        rows.append(Row(what.format(f'`executor="{executor}"`'), (full - empty) / turns * 1e9, "ns", 1))
    return [*rows, Row(what.format("plain Python"), plain / 10_000 * 1e9, "ns", 1)]


def two_chains(repeats: int) -> list[Row]:
    rng = np.random.default_rng(0)
    size, turns = 384, 40

    def draw(scale):
        return (scale * rng.standard_normal((size, size))).astype(np.float32)

    def chains(a, b, A, B):
        loop = al.while_loop(
            lambda i, a, b: i < turns, lambda i, a, b: (i + 1, al.tanh(a @ A), al.tanh(b @ B)),
            (al.constant(0), a, b), parallel_iterations=32,
        )  # fmt: skip
        return loop[1:]

    def by_hand(x, M):
        for _ in range(turns):
            x = np.tanh(x @ M)

    arrays = [draw(s) for s in (1.0, 1.0, 0.9 / size**0.5, 0.9 / size**0.5)]
    tensors = [al.constant(array) for array in arrays]
    loop = al.function(chains, executor="dataflow")

    def on(threads):
        al.config.set_num_threads(threads)
        loop(*tensors)

    with ThreadPoolExecutor(2) as pool:
        one, two, hand_one, hand_two = in_turns(
            repeats,
            lambda: on(1),
            lambda: on(2),
            lambda: list(map(by_hand, arrays[:2], arrays[2:])),
            lambda: list(pool.map(by_hand, arrays[:2], arrays[2:])),
        )
    return [
        Row("two chains of 384×384 `tanh(a @ A)`, 40 iterations: 1 thread", one * 1e3, "ms", 1),
        Row("the same: 2 threads", two * 1e3, "ms", 1),
        Row("gain of the second thread", one / two, "×", 2, "≥ 1.6 ×", one / two >= 1.6),
        Row("its gain in NumPy threaded by hand, the most this machine gives", hand_one / hand_two, "×", 2),
    ]


def long_function(lines: int = 300, constructs: int = 40) -> str:
    """The source of a function with that many loops and branches, and plain lines between them."""
    text = ["def long_function(x, n):"]
    plain = (lines - 2 - 3 * constructs) / constructs
    due = 0.0
    for k in range(constructs):
        if k % 2:
            text += [f"    i{k} = 0", f"    while i{k} < n:", f"        i{k} += 1"]
        else:
            text += [f"    v{k} = x", f"    if x > {k}:", f"        v{k} = x + {k}"]
        due += plain
        while due >= 1:
            text.append(f"    x = x * 0.5 + {k}.0")
            due -= 1
    return "\n".join([*text, "    return x", ""])


def conversion(repeats: int) -> list[Row]:
    source = long_function()
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(repeats + 1):
            path = Path(folder, f"long_{k}.py")
            path.write_text(source)
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            times.append(seconds(lambda f=module.long_function: al.convert(f)))
    lines = source.count("\n")
    milliseconds = median(times[1:]) * 1e3
    what = f"converting a function of {lines} lines with 40 loops and branches"
    return [Row(what, milliseconds, "ms", 0, "< 50 ms", milliseconds < 50)]


def large(repeats: int) -> list[Row]:
    """Each program of ``large.py`` in new processes."""

    def measured(program: str, executor: str = "auto") -> dict[str, float]:
        command = [sys.executable, str(Path(__file__).with_name("large.py")), program, executor]
        runs = [subprocess.run(command, capture_output=True, check=True, text=True) for _ in range(repeats)]
        found = [json.loads(run.stdout) for run in runs]
        return {key: median(one[key] for one in found) for key in found[0]}

    million, scheduled = (measured("a million iterations", executor) for executor in ("sequential", "dataflow"))
    deep, body, many = measured("20 deep"), measured("a body of 5,000"), measured("200 loops")
    return [
        Row("a loop of 1,000,000 iterations: `executor=\"sequential\"`", million["further"], "s", 2),
        Row("the same: `executor=\"dataflow\"`", scheduled["further"], "s", 2),
        Row("memory that its two calls take", scheduled["memory"], "MB", 0),
        Row("20 loops inside each other: first call, all that is made once included", deep["first"] * 1e3, "ms", 0),
        Row("each further call", deep["further"] * 1e3, "ms", 2),
        Row("a loop body of 5,000 operations: first call", body["first"] * 1e3, "ms", 0),
        Row("each further call, of 2 iterations", body["further"] * 1e3, "ms", 2),
        Row("200 loops of 500 operations, 100,000 in all: first call", many["first"], "s", 1, "< 10 s",
            many["first"] < 10),
        Row("each further call, of 2 iterations in each loop", many["further"] * 1e3, "ms", 1),
        Row("memory that they take", many["memory"], "MB", 0),
    ]  # fmt: skip


BENCHMARKS = {
    import_time: (11, 3), call_overhead: (15, 3), eager: (15, 3), scalar_loop: (15, 3), scheduler: (15, 3),
    two_chains: (15, 3), conversion: (7, 2), large: (3, 1),
}  # fmt: skip


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    return markdown(["what", "measured", "goal", "verdict"], [row.cells() for row in rows], [1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few repeats, to see that it runs")
    parser.add_argument("--update", type=Path, metavar="FILE", help="put the table between the marks in FILE")
    options = parser.parse_args()
    rows: list[Row] = []
    with threadpool_limits(1):
        for benchmark, (repeats, quick) in BENCHMARKS.items():
            rows += benchmark(quick if options.quick else repeats)
    where = f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores"
    text = f"{table(rows)}\nMedians, {where}, BLAS on one thread.\n"
    print(text, end="")
    if options.update:
        replace(options.update, "benchmarks", text)


if __name__ == "__main__":
    main()
