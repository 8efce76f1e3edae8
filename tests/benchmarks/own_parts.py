"""What is ours though a library has it, against the library: ``python tests/benchmarks/own_parts.py [PART ...]``.

Products of matrices and factors of small ones against BLAS and LAPACK, functions against libmvec, sorting against
NumPy, the linker against LLVM's loader, pictures against Graphviz where that is installed. One thread; each pair takes
turns in one run.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

os.environ["AUTOLOOP_CACHE"] = "0"
sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))

import api
import autoloop as al
import numpy as np
from native_checks import compile_native, graph_of
from threadpoolctl import threadpool_limits

RANDOM = np.random.default_rng(0)
SECONDS = 0.5


def fastest(*fs: Callable[[], Any]) -> list[float]:
    """The shortest time of each function, in microseconds; they take turns, after one call that is not counted."""
    for f in fs:
        f()
    times: list[list[float]] = [[] for _ in fs]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times[0]) < 3:
        for f, found in zip(fs, times):
            begin = time.perf_counter()
            f()
            found.append(time.perf_counter() - begin)
    return [min(found) * 1e6 for found in times]


def told(what: str, ours: float, theirs: float, unit: str = "us") -> None:
    """Print a line."""
    ratio = f"{theirs / ours:.2f}" if ours else "-"
    print(f"{what:34} ours {ours:10.1f} {unit}, theirs {theirs:10.1f} {unit}: theirs / ours {ratio}", flush=True)


def compiled(build: Callable[..., Any], values: list[Any], module: Any, **numbers: Any) -> Callable[[], Any]:
    """Machine code made while ``module`` has other ``numbers``."""
    before = {name: getattr(module, name) for name in numbers}
    for name, value in numbers.items():
        setattr(module, name, value)
    run = compile_native(graph_of(build, *values))
    for name, value in before.items():
        setattr(module, name, value)
    return lambda: run(list(values))


def gemm() -> None:
    """Products of square matrices."""
    for dtype in (np.float32, np.float64):
        for n in (8, 32, 64, 128, 256, 512, 1024):
            values = [RANDOM.standard_normal((n, n)).astype(dtype) for _ in range(2)]
            times = fastest(*[compiled(api.matmul, values, api.products, BLAS_WORK=most) for most in (1 << 60, 0)])
            told(f"product, {np.dtype(dtype)}, n = {n}", *times)


def factors() -> None:
    """A system with one right side."""
    for n in (4, 16, 32, 64, 96, 128, 512, 1024):
        values = [RANDOM.standard_normal((n, n)) + 3 * np.eye(n), RANDOM.standard_normal(n)]
        told(f"system, n = {n}", *fastest(*[
            compiled(api.solve, values, api.linalg_rules, LARGE=least) for least in (1 << 60, 0)
        ]))  # fmt: skip


def tanh() -> None:
    """Of arrays, against libmvec; of all floats there are, how far off."""
    for dtype, n in product((np.float32, np.float64), (8, 1000, 100_000)):
        values = [RANDOM.standard_normal(n).astype(dtype)]
        ours, theirs = (compiled(api.tanh, values, api.elementwise_ir, **told) for told in ({}, {"_OWN": {}}))
        told(f"tanh, {np.dtype(dtype)}, n = {n}", *fastest(ours, theirs))
    if SECONDS:
        run, worst = compile_native(graph_of(api.tanh, np.empty(1 << 20, np.float32))), 0.0
        for start in range(0, 0x7F800000, 1 << 20):
            x = np.arange(start, start + (1 << 20), dtype=np.uint32).view(np.float32)
            want = np.tanh(x.astype(np.float64))
            worst = max(worst, float((np.abs(run([x])[0] - want) / np.spacing(want.astype(np.float32))).max()))
        print(f"tanh of every float: off by {worst:.2f} units in the last place at most")


def sorting() -> None:
    """Lines of random numbers, one call for all of a matrix, as NumPy's are."""
    for op, plain in ((api.sort, np.sort), (api.argsort, lambda x: np.argsort(x, kind="stable"))):
        for n in (8, 32, 128, 1024, 1_000_000):
            values = [RANDOM.standard_normal((max(1, 4096 // n), n))]
            ours = compiled(lambda x, op=op: op(x, -1), values, api.products)
            told(f"{op.__name__}, lines of {n}", *fastest(ours, lambda plain=plain, values=values: plain(values[0])))


_LINKING = """
import os, resource, sys, time
os.environ["AUTOLOOP_CACHE_DIR"] = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from native_checks import compile_native, graph_of
from api import linker
import autoloop_runtime.ops as ops, numpy as np
graph = graph_of(lambda x: ops.exp(x) * 2 + 1, np.ones(100))
if sys.argv[3] == "theirs":
    linker.is_supported = lambda: False
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.perf_counter()
compile_native(graph)([np.ones(100)])
print((time.perf_counter() - begin) * 1e3, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def linking() -> None:
    """The first call of a function whose machine code is on disk: time, and memory that the process then has more."""
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"own_parts_{os.getpid()}"
    environment = os.environ | {"AUTOLOOP_CACHE": "1"}
    found: dict[str, list[list[float]]] = {"ours": [], "theirs": []}
    try:
        for _ in range(6):
            for who, times in found.items():
                command = [sys.executable, "-c", _LINKING, str(folder / who), sys.path[0], who]
                done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
                times.append([float(x) for x in done.stdout.split()])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    # the first of each compiles
    ours, theirs = (np.min(times[1:], 0) for times in found.values())
    told("first call, code on disk", ours[0], theirs[0], "ms")
    told("memory of it", ours[1], theirs[1], "MB")


def pictures() -> None:
    """A graph of twenty loops as SVG."""
    from autoloop.drawing import dataflow_picture, to_dot, to_svg

    graph = al.Graph()
    with graph.as_default():
        x = start = al.placeholder(al.float32, (3,))
        for k in range(20):
            x = al.while_loop(lambda i, x: i < 3, lambda i, x, k=k: (i + 1, al.sin(x) * k + i), (0, x))[1]
    picture = dataflow_picture(graph, [x], [start])
    (ours,) = fastest(lambda: to_svg(picture))
    if shutil.which("dot") is None:
        print(f"picture, 20 loops: ours {ours / 1e3:.1f} ms; there is no Graphviz here")
        return
    text = to_dot(picture)
    (theirs,) = fastest(
        lambda: subprocess.run(["dot", "-Tsvg"], input=text, text=True, capture_output=True, check=True)
    )
    told("picture, 20 loops", ours / 1e3, theirs / 1e3, "ms")


PARTS = {"gemm": gemm, "factors": factors, "tanh": tanh, "sorting": sorting, "linking": linking, "pictures": pictures}


def main() -> None:
    """Measure the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--quick", action="store_true", help="measure shortly")
    options = parser.parse_args()
    if options.quick:
        globals()["SECONDS"] = 0.0
    al.config.set_num_threads(1)
    importlib.import_module("scipy.linalg.cython_lapack")  # its threads can be limited once it is there
    with threadpool_limits(1):
        for part in options.parts or PARTS:
            PARTS[part]()


if __name__ == "__main__":
    main()
