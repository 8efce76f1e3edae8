"""What ``executor="dask"`` gains: ``python tests/benchmarks/remote_regions_gain.py [--update docs/distributed.md]``.

Two tables. *Computing*: independent heavy chains, on worker processes with a thread each, beside the same function on
the threads of this process; products have one BLAS thread everywhere. *Waiting*: products that only wait, in the
workers and here, so that a few processors stand for many machines: what is left is what sending costs.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import autoloop as al
import dask
import distributed
import numpy as np
from autoloop.distributed import Client
from page import markdown, replace
from threadpoolctl import threadpool_limits

#: iterations of a chain, and runs of which the median is shown
STEPS, RUNS = 6, 5
#: seconds that a product waits
WAIT = 0.2
WORKERS = (1, 2, 4, 8)


def products(x: Any, m: Any, count: Any) -> Any:
    for _ in range(count):
        x = np.tanh(x @ m)
    return x


def spectra(x: Any, m: Any, count: Any) -> Any:
    for _ in range(count):
        values, vectors = np.linalg.eigh(x + x.T)
        x = vectors * np.tanh(values) + m
    return x


def sorts(x: Any, m: Any, count: Any) -> Any:
    mixed = np.argsort(m[:, 0])
    for _ in range(count):
        x = np.sort(x[mixed], axis=0)
    return x


def two(step: Callable[..., Any]) -> Callable[..., Any]:
    def chains(m: Any, count: Any) -> Any:
        a, b = m * 1, m * 2
        return step(a, m, count).sum() + step(b, m, count).sum()

    return chains


def four(step: Callable[..., Any]) -> Callable[..., Any]:
    def chains(m: Any, count: Any) -> Any:
        a, b, c, d = m * 1, m * 2, m * 3, m * 4
        first = step(a, m, count).sum() + step(b, m, count).sum()
        return first + step(c, m, count).sum() + step(d, m, count).sum()

    return chains


def state(size: int, columns: int | None = None) -> Any:
    return np.random.default_rng(0).standard_normal((size, columns or size)) / size


COMPUTING = {
    "products, 1000 x 1000": (products, state(1000)),
    "spectra, 400 x 400": (spectra, state(400)),
    "sorts, 1,000,000 numbers": (sorts, state(1000)),
}


@contextmanager
def workers(count: int) -> Iterator[Client]:
    """A cluster of processes with a thread each."""
    with dask.config.set({"distributed.worker.profile.enabled": False}):
        with Client(n_workers=count, threads_per_worker=1, dashboard_address=None) as client:
            client.dask_client.wait_for_workers(count)
            client.network  # measured now, while nothing is to be done
            yield client


def timed(f: Callable[..., Any], *args: Any) -> tuple[Any, float, float]:
    """What a call gives, seconds that it takes, and those that this process works."""
    begin, own = time.perf_counter(), time.process_time()
    found = f(*args)
    return found, time.perf_counter() - begin, time.process_time() - own


def computing(runs: int) -> str:
    rows = []
    with workers(2) as client:
        for name, (step, m) in COMPUTING.items():
            for chains in (two, four):
                plain = chains(step)
                ways = {
                    "one thread": (al.function(plain, executor="dataflow"), 1),
                    "two threads": (al.function(plain, executor="dataflow"), 2),
                    "two workers": (al.function(plain, executor="dask"), 1),
                }
                found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
                before = client.submitted
                wanted = plain(m, STEPS)
                for k in range(runs + 2):  # the first two make ready
                    for way, (f, threads) in ways.items():
                        with al.config(num_threads=threads):
                            result, *taken = timed(f, m, np.int64(STEPS))
                        np.testing.assert_allclose(result, wanted, rtol=1e-8)
                        if k > 1:
                            found[way].append(tuple(taken))
                middle = {way: median([one for one, _ in each]) for way, each in found.items()}
                one, threads_, sent = (middle[way] for way in ways)
                own = median([one for _, one in found["two workers"]])
                rows.append([
                    f"{chains.__name__} chains: {name}", *[f"{1e3 * one:.0f} ms" for one in middle.values()],
                    f"{one / sent:.2f} ×", f"{threads_ / sent:.2f} ×", f"{1e3 * own:.0f} ms",
                    f"{(client.submitted - before) / (runs + 2):.0f}",
                ])  # fmt: skip
                print(*rows[-1], sep=" | ", flush=True)
    head = [
        "program", "one thread", "two threads", "two workers", "gain over one", "over two threads",
        "this process works", "tasks",
    ]  # fmt: skip
    return markdown(head, rows, range(1, 8))


# -- waiting --------------------------------------------------------------------------------------------------------


def wait_instead() -> None:
    """Have regions with products wait instead of computing them, in this process."""
    from autoloop_runtime.analysis.inside import nodes_inside
    from autoloop_runtime.ir.prices import Products
    from autoloop_runtime.running.remote_programs import Program

    compute = Program.__call__

    def wait(self: Any, *values: Any) -> Any:
        graph = self._graph
        count = sum(isinstance(node.op.traits.price, Products) for node in nodes_inside(graph))
        if not count:
            return compute(self, *values)
        assert not any(node.subgraphs for node in graph.nodes), "loops are opened"
        time.sleep(WAIT * count)
        made = [np.ones(t.shape.as_list(), t.dtype) for t in graph.outputs]
        return made[0] if len(made) == 1 else tuple(made)

    Program.__call__ = wait  # type: ignore[method-assign]


@al.function(executor="dask")
def eight(m: Any, count: Any) -> Any:
    """Eight chains: the state of each stays with a worker."""
    a, b, c, d, e, f, g, h = m * 1, m * 2, m * 3, m * 4, m * 5, m * 6, m * 7, m * 8
    for _ in range(count):
        a, b, c, d, e, f, g, h = a @ m, b @ m, c @ m, d @ m, e @ m, f @ m, g @ m, h @ m
    return a[0, 0] + b[0, 0] + c[0, 0] + d[0, 0] + e[0, 0] + f[0, 0] + g[0, 0] + h[0, 0]


@al.function(executor="dask")
def each(m: Any, count: Any) -> Any:
    """Iterations that do not need each other: as many at a time as the window lets."""
    found = np.zeros(48)
    for k in range(count):
        al.set_loop_options(parallel_iterations=48)
        found[k] = (m @ (m * k)).sum()
    return found


@al.function(executor="dask")
def conditions(m: Any, count: Any) -> Any:
    """Two chains whose condition is computed from both: an iteration waits for it."""
    a, b, k, size = m * 1, m * 2, 0, 1.0
    while size > 0:
        a, b = a @ m, b @ m
        size = (a[0, 0] + b[0, 0]) * (count - k - 1)
        k += 1
    return size


#: name -> function, how often its loop runs, products of an iteration, and how many of them can run at a time
WAITING = {
    "eight chains": (eight, 8, 8, 8),
    "48 iterations that do not need each other": (each, 48, 1, 48),
    "two chains with a common condition": (conditions, 8, 2, 2),
}


def waiting(runs: int) -> str:
    rows: dict[str, list[str]] = {}
    m = state(1000)
    wait_instead()
    for count in WORKERS:
        with workers(count) as client:
            client.dask_client.run(wait_instead)
            for name, (f, steps, products_, most) in WAITING.items():
                times = [timed(f, m, np.int64(steps))[1] for _ in range(runs + 1)][1:]
                alone = steps * products_ * WAIT
                best = most / math.ceil(most / (count + 1))  # this process works, too
                row = rows.setdefault(name, [name, f"{alone:.1f} s"])
                row.append(f"{median(times):.2f} s ({alone / median(times):.1f} × of {best:.1f})")
                print(count, *row, sep=" | ", flush=True)
    head = ["program", "all waiting", *[f"{count} worker{'s' * (count > 1)}" for count in WORKERS]]
    return markdown(head, list(rows.values()), range(1, len(head)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--update", type=Path, metavar="FILE", help="put the tables between the marks in FILE")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", choices=("computing", "waiting"))
    options = parser.parse_args()
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, Dask {distributed.__version__}"
    foot = f"\nMedians of {options.runs} runs, {versions}, {os.cpu_count()} cores.\n"
    threadpool_limits(1, "blas")  # workers have one anyway
    for name, make in (("computing", computing), ("waiting", waiting)):
        if options.only in (None, name):
            text = make(options.runs) + foot
            print(text)
            if options.update:
                replace(options.update, f"heavy nodes {name}", text)


if __name__ == "__main__":
    main()
