"""NumPy's functions in loops: ``python tests/benchmarks/functions.py [NAME ...] [--quick] [--update PAGE]``.

The functions that loops use most, each in a loop whose value depends on the one before, so that nothing can be moved
out of it. The undecorated function and the decorated one (``auto``, after it has settled) take turns in one process,
and their medians are compared; the results must agree. ``--update docs/speed-of-functions.md`` puts the table on its
page.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import autoloop as al
import numpy as np
from page import markdown, replace
from threadpoolctl import threadpool_limits

#: elements of the arrays -> iterations of the loop
SIZES = {16: 1000, 1000: 1000, 100_000: 20}
#: of matrices whose factors take longer than the rest
COSTLY = {16: 1000, 1000: 100, 10_000: 10}
#: seconds that ``auto`` gets to settle, and that a pair is measured for
PATIENCE, BUDGET = 4.0, 0.8
#: decorated over undecorated that still counts as the same
GOAL = 1.05
#: how often a pair that misses it is measured, each time decorated anew; the best counts
TRIES = 3


@dataclass(frozen=True)
class Case:
    """A function of NumPy: what is measured of it.

    Attributes
    ----------
    name : str
    step : str
        The body of the loop, over the names of ``data`` that it reads; it changes ``state``.
    state : str
    sizes : dict
        Elements -> iterations.
    """

    name: str
    step: str
    state: str = "x"
    sizes: Any = None


CASES = [
    Case("add", "x = x + y"),
    Case("multiply", "x = np.multiply(x, near)"),
    Case("divide", "x = y / x"),
    Case("power", "x = x ** 0.9"),
    Case("exp", "x = np.exp(-x)"),
    Case("log", "x = np.log(x + 2.0)"),
    Case("sqrt", "x = np.sqrt(x)"),
    Case("sin", "x = np.sin(x)"),
    Case("tanh", "x = np.tanh(x)"),
    Case("abs", "x = np.abs(x - 0.5)"),
    Case("floor", "x = x - np.floor(x + y)"),
    Case("maximum", "x = np.maximum(x * 0.9, y)"),
    Case("where", "x = np.where(x > 0.5, x * 0.5, x + 0.3)"),
    Case("clip", "x = np.clip(x * 1.1, 0.2, 0.8)"),
    Case("sum", "x = x / np.sum(x)"),
    Case("mean", "x = x - np.mean(x)"),
    Case("max", "x = x / np.max(x)"),
    Case("argmax", "x = np.sin(x + np.argmax(x))"),
    Case("std", "x = x / (1.0 + np.std(x))"),
    Case("var", "x = x / (1.0 + x.var())"),
    Case("any, all", "x = np.where(np.any(x > 0.9) & np.all(x > 0.1), 0.5 * x, x + 0.1)"),
    Case("cumsum", "x = np.cumsum(x) / steps"),
    Case("diff", "x = np.diff(x, append=0.5)"),
    Case("sum of a mask", "x = x - 0.1 * np.sum(x[x > 0.5]) / len(x)"),
    Case("x[integers]", "x = x[order]"),
    Case("take", "x = np.take(x, order)"),
    Case("x[k]", "x[t % 16] = x[(t + 3) % 16] * 0.5 + 0.1", "x", {16: 1000, 1000: 1000, 100_000: 1000}),
    Case("x[1:-1]", "x[1:-1] = 0.5 * (x[2:] + x[:-2])"),
    Case("roll", "x = np.roll(x, 1)"),
    Case("concatenate", "x = np.concatenate([x[1:], x[:1]])"),
    Case("stack", "m = np.stack([m[1], m[0]])", "m"),
    Case("tile", "x = np.tile(x[:4], len(x) // 4)"),
    Case("repeat", "x = np.repeat(x[: len(x) // 4], 4)"),
    Case("reshape, transpose", "a = a.T.reshape(a.shape) + 0.5", "a"),
    Case("zeros", "z = np.zeros(len(x))\nz[1:] = x[:-1]\nx = z", "x"),
    Case("arange", "x = 0.5 * x + np.arange(len(x))"),
    Case("linspace", "x = np.linspace(x[1], x[0] + 1.0, len(x))"),
    Case("sort", "x = np.sort(x)[order]"),
    Case("argsort", "x = x[order][np.argsort(x)]"),
    Case("searchsorted", "x = np.sin(x + np.searchsorted(grid, x))"),
    Case("interp", "x = np.interp(x, grid, values)"),
    Case("convolve", "x = np.convolve(x, window, mode='same')"),
    Case("bincount", "order = (order + np.bincount(order)[3]) % 50", "order"),
    Case("unique", "order = (order + len(np.unique(order))) % 50", "order"),
    Case("histogram", "x = x[order] + 0.01 * np.histogram(x, bins=10)[0][0]"),
    Case("median", "x = x[order] - 0.01 * np.median(x)"),
    Case("percentile", "x = x[order] - 0.01 * np.percentile(x, 90)"),
    Case("fft", "x = np.fft.fft(x).real / len(x)"),
    Case("rfft, irfft", "x = np.fft.irfft(np.fft.rfft(x) * 0.9, len(x))"),
    Case("random draws", "x = 0.9 * x + rng.normal(size=len(x))"),
    Case("dot", "x = x / np.dot(x, x)"),
    Case("matrix @ vector", "v = a @ v", "v"),
    Case("matrix @ matrix", "b = a @ b", "b", {16: 1000, 1000: 1000, 100_000: 10}),
    Case("outer", "b = np.outer(b[0], v)", "b"),
    Case("einsum", "v = np.einsum('ij,j->i', a, v)", "v"),
    Case("linalg.norm", "x = x / np.linalg.norm(x)"),
    Case("linalg.solve", "v = np.linalg.solve(s, v)", "v", COSTLY),
    Case("linalg.inv", "b = np.linalg.inv(b + s)", "b", COSTLY),
    Case("linalg.det", "b = b * (1.0 + 1e-9 * np.linalg.det(b))", "b", COSTLY),
    Case("linalg.cholesky", "b = np.linalg.cholesky(s + 0.001 * b)", "b", COSTLY),
    Case("linalg.qr", "q, r = np.linalg.qr(b)\nb = r @ q", "b", COSTLY),
    Case("linalg.eigh", "w, u = np.linalg.eigh(s + 0.001 * b)\nb = u * w", "b", COSTLY),
    Case("linalg.svd", "u, w, vt = np.linalg.svd(s + 0.001 * b)\nb = u * w", "b", COSTLY),
]


def data(size: int) -> dict[str, Any]:
    """The arrays that the steps read; matrices have about ``size`` elements."""
    rng = np.random.default_rng(0)
    side = round(size**0.5)
    x, y = rng.uniform(0.5, 1.0, (2, size))
    b = rng.standard_normal((side, side)) / side**0.5
    return {
        "x": x, "y": y, "near": 1 + 1e-6 * y, "steps": np.arange(1.0, size + 1), "m": np.array([x, y]),
        "a": np.linalg.qr(b)[0], "b": b, "s": b @ b.T + np.eye(side), "v": x[:side].copy(),
        "order": rng.permutation(size), "grid": np.linspace(0.0, 1.0, 100), "values": np.linspace(0.0, 1.0, 100) ** 2,
        "window": np.array([0.25, 0.5, 0.25]), "rng": rng,
    }  # fmt: skip


def written(cases: Sequence[Case], folder: str) -> Any:
    """A module with the loop of each case; decorated functions need a source."""
    text = ["import numpy as np", ""]
    for k, case in enumerate(cases):
        names = ", ".join(reads(case))
        step = [f"        {line}" for line in case.step.splitlines()]
        text += [f"def case_{k}({names}, n):", "    for t in range(n):", *step, f"    return {case.state}", "", ""]
    path = Path(folder, "loops_of_functions.py")
    path.write_text("\n".join(text))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reads(case: Case) -> list[str]:
    """The names of the data that a case reads."""
    used = compile(case.step, case.name, "exec").co_names
    return [name for name in data(16) if name in used]


def arguments(case: Case, size: int, turns: int) -> Callable[[], list[Any]]:
    """Gives the arguments of a call: what a step writes to is new each time, the generator begins again."""
    found = {name: value for name, value in data(size).items() if name in reads(case)}
    stream = found["rng"].bit_generator.state if "rng" in found else None

    def fresh() -> list[Any]:
        state = {case.state: found[case.state].copy()}
        if stream is not None:
            found["rng"].bit_generator.state = stream
        return [*(found | state).values(), np.int64(turns)]  # not a Python number: that loop would be unrolled

    return fresh


def seconds(f: Callable[..., object], args: list[Any]) -> float:
    """How long the thread works for one call; what else the machine does hardly counts."""
    begin = time.thread_time()
    f(*args)
    return time.thread_time() - begin


def settle(f: Any, fresh: Callable[[], list[Any]]) -> str:
    """Call until it is plain what runs the function; gives its name."""
    runner = f.get_concrete_function(*fresh()).runner
    begin = time.perf_counter()
    while runner.asked == "auto" and time.perf_counter() - begin < PATIENCE:
        f(*fresh())
        refused = "machine code cannot" in runner.reason or "slower" in runner.reason
        if runner.executor == "native" or (refused and time.perf_counter() - begin > PATIENCE / 4):
            break
    return "machine code" if runner.executor == "native" else str(runner.executor)


@dataclass(frozen=True)
class Measured:
    """Decorated against undecorated: seconds of a call, and what ran it; ``first`` is the first call, traced."""

    plain: float
    ours: float
    first: float
    executor: str

    @property
    def ratio(self) -> float:
        """Of the medians."""
        return self.ours / self.plain


def measure(loop: Callable[..., Any], fresh: Callable[[], list[Any]], executor: str, quick: bool) -> Measured:
    """One case at one size."""
    f = al.function(loop, executor=executor)
    wanted = loop(*fresh())
    args = fresh()
    begin = time.thread_time()
    found = f(*args)
    first = time.thread_time() - begin
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
    ran = "" if quick else settle(f, fresh)
    plain: list[float] = []
    ours: list[float] = []
    begin = time.perf_counter()
    while len(plain) < 3 or (time.perf_counter() - begin < BUDGET and not quick):
        plain.append(seconds(loop, fresh()))
        ours.append(seconds(f, fresh()))
    return Measured(median(plain), median(ours), first, ran)


def measured(cases: Sequence[Case], executor: str, quick: bool) -> Iterator[tuple[Case, dict[int, Measured]]]:
    """All sizes of each case."""
    with tempfile.TemporaryDirectory() as folder:
        module = written(cases, folder)
        for k, case in enumerate(cases):
            sizes = case.sizes or SIZES
            if quick:
                sizes = {16: 20}
            loop = getattr(module, f"case_{k}")
            found = {}
            for size, turns in sizes.items():
                for _ in range(1 if quick else TRIES):
                    one = measure(loop, arguments(case, size, turns), executor, quick)
                    if size not in found or one.ratio < found[size].ratio:
                        found[size] = one
                    if one.ratio <= GOAL:
                        break
            yield case, found


def cells(case: Case, found: dict[int, Measured]) -> list[str]:
    """A row of the table."""
    times = []
    for one in found.values():
        ratio = f"{one.ratio:.2f}"
        times.append(f"**{ratio}**" if one.ratio > GOAL else ratio)
    times += ["-"] * (3 - len(times))
    step = "<br>".join(f"`{line}`" for line in case.step.splitlines())
    kinds = list(dict.fromkeys(one.executor for one in found.values()))
    first = next(iter(found.values())).first
    return [case.name, step, *times, ", ".join(kinds), f"{1e3 * first:.0f}"]


HEAD = ["function", "step of the loop", "small", "middling", "large", "runs in", "first call, ms"]


def main() -> None:
    """Measure the cases that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="only these functions")
    parser.add_argument("--quick", action="store_true", help="measure shortly, to see that it runs")
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--update", type=Path, metavar="PAGE", help="put the table between the marks on PAGE")
    options = parser.parse_args()
    cases = [case for case in CASES if not options.names or case.name in options.names]
    rows, slower = [], []
    al.config.set_num_threads(1)
    with threadpool_limits(1):
        for case, found in measured(cases, options.executor, options.quick):
            row = cells(case, found)
            print(f"{row[0]:20}", *(f"{c:>10}" for c in row[2:]), flush=True)
            rows.append(row)
            slower += [case.name] if any(one.ratio > GOAL for one in found.values()) else []
    where = f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, BLAS on one thread"
    missed = f"Slower than NumPy at some size: {', '.join(slower) or 'none'}."
    text = f"{markdown(HEAD, rows, [2, 3, 4, 6])}\n{where}. {missed}\n"
    if options.update:
        replace(options.update, "functions", text)


if __name__ == "__main__":
    main()
