"""Gradients of kernels beside JAX: ``python tests/benchmarks/kernel_gradients.py --peer jax=PYTHON``.

The loss is the sum of squares of what a kernel gives and of the arguments that it writes to; its gradient is taken with
regard to all real arrays and NumPy numbers among the arguments. autoloop differentiates the kernels of ``kernels.py``
as they are; JAX those of ``gradients_for_jax.py``, written as one writes them for it, compiled, in float64. Each way
has a process of its own; the gradients are compared first, without JAX also with differences of the loss, then all take
turns and medians are compared, of wall time. The memory is that of the results and of what is kept and used
meanwhile: of ours, what a call adds to the process at its worst moment where nothing is kept of earlier calls; of JAX,
whose allocator always keeps, what its compiler tells.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import gc
import importlib
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import page
import worker
from peers import POOLS, QUIET, Failed, Worker, interpreters, number
from sizes_of_kernels import FUNCTIONS, SIZES

# ``sizes_of_kernels`` has made its folder known
_losses = importlib.import_module("losses_of_kernels")
floating, leaves, loss_of, written = _losses.floating, _losses.leaves, _losses.loss_of, _losses.written

WAYS = ("auto", "native", "JAX")
#: seconds that ``auto`` gets to make up its mind, and that a first call may take
PATIENCE, MOST_FIRST = 2.0, 60.0
#: how far each number is moved for a difference: so little that of a million hardly one passes a jump of the loss
STEP = 1e-8
#: the most that ours may take of the time and of the memory of JAX
GOAL = 1.0
KERNELS = [name for name in SIZES if floating(SIZES[name].arguments("tiny"))]
#: why a figure is missed
REASONS = {
    "covariance": "JAX has one product of matrices; here each column is a product of its own, as it is written",
    "correlation": "as covariance",
    "spmv": "rows of several lengths: machine code refuses to add to places of which the run decides how many",
    "nbody": "a mask chooses elements: machine code refuses an array of which it is not known how large it can be",
}


class Gradient:
    """Answers requests about the gradient of one kernel in one way."""

    def __init__(self, name, size, way, threads):
        given = SIZES[name].arguments(size)
        wrt = floating(given)
        if way == "JAX":
            self.call, self.fresh = in_jax(name, given, wrt)
        else:
            al = importlib.import_module("autoloop")
            al.config.set_num_threads(threads)
            loss = loss_of(FUNCTIONS[name], written(FUNCTIONS[name], SIZES[name].arguments("tiny")))
            self.call = al.function(al.grad(loss, wrt), executor=way)
            self.fresh = lambda: copy.deepcopy(given)
        self.way, self.size = way, size

    def once(self):
        args = self.fresh()
        begin = time.perf_counter()
        out = worker.finished(self.call(*args))
        return out, time.perf_counter() - begin

    def first(self, path):
        """The first call: its seconds, and the gradients in a file; ``auto`` has settled then."""
        out, seconds = self.once()
        np.savez(path, *[np.asarray(one) for one in out])
        begin = time.perf_counter()
        while self.way == "auto" and time.perf_counter() - begin < PATIENCE * (self.size != "tiny"):
            self.once()
        return {"first": seconds, "estimate": self.once()[1]}

    def rounds(self, count):
        gc.collect()
        return {"seconds": [self.once()[1] for _ in range(count)]}

    def memory(self):
        """The megabytes of the results and of what is kept meanwhile; none where nobody tells."""
        if self.way == "JAX":
            told = self.call.lower(*self.fresh()).compile().memory_analysis()
            return {"added": (told.temp_size_in_bytes + told.output_size_in_bytes) / 1e6} if told else {}
        importlib.import_module("autoloop").config.set_spare_memory(0)
        if not Path("/proc/self/clear_refs").exists():
            return {}
        args = self.fresh()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = worker.resident()
        worker.finished(self.call(*args))
        lines = Path("/proc/self/status").read_text().splitlines()
        most = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
        return {"added": max(most * 1024 / 1e6 - before, 0.0)}

    def answer(self, request):
        return getattr(self, request.pop("do"))(**request)


def in_jax(name, given, wrt):
    """The compiled gradient, and what makes its arguments, of which JAX changes none."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    kernel = importlib.import_module("gradients_for_jax").made(jax)[name]
    static = [k for k, one in enumerate(given) if isinstance(one, (int, np.integer))]
    args = [int(one) if k in static else jax.numpy.asarray(one) for k, one in enumerate(given)]

    def loss(*args):
        total = 0.0
        for one in leaves(kernel(*args)):
            total = total + jax.numpy.sum(one**2)
        return total

    return jax.jit(jax.grad(loss, wrt), static_argnums=static), lambda: args


def differs(ours, wanted):
    """Whether two files have other gradients."""
    with np.load(ours) as one, np.load(wanted) as other:
        pairs = [(one[key], other[key]) for key in one.files]
    return any(
        np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=1e-7, atol=1e-7 * np.max(np.abs(b), initial=0))
        for a, b in pairs
    )


def compare(name, size, paths):
    """End the program if two ways have found other gradients, or, where JAX has none, differences tell others."""
    last = next(reversed(paths), None)
    for way in paths:
        if differs(paths[way], paths[last]):
            raise SystemExit(f"{name}: the gradient of {way} is not that of {last}")
    if last not in (None, "JAX") and off(name, size, paths[last]):
        raise SystemExit(f"{name}: the gradient of {last} is not what differences tell")


def off(name, size, path):
    """Whether a gradient is not that of the loss: a difference along one direction for each argument."""
    given = SIZES[name].arguments(size)
    loss = loss_of(FUNCTIONS[name], written(FUNCTIONS[name], SIZES[name].arguments("tiny")))
    random = np.random.default_rng(0)
    with np.load(path) as file:
        gradients = [file[key] for key in file.files]
    for k, gradient in zip(floating(given), gradients):
        direction, values = random.choice([-STEP, STEP], np.shape(given[k])), []
        for moved in (given[k] + direction, given[k] - direction):
            args = list(copy.deepcopy(given))
            args[k] = np.float64(moved) if np.ndim(moved) == 0 else moved
            values.append(float(loss(*args)))
        wanted = np.sum(gradient * direction) * 2
        most = STEP * (1e-3 * np.linalg.norm(gradient) + 1e-7 * abs(values[0]))
        if not abs(values[0] - values[1] - wanted) <= 2 * most:
            return True
    return False


def measured(pythons, name, size, threads, turns, ways):
    """What was found of each way: its figures, or ``failed``."""
    environment = {
        **dict.fromkeys(POOLS, str(threads)), "AUTOLOOP_CACHE": "0", "PYTHONDONTWRITEBYTECODE": "", **QUIET,
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}",
    }  # fmt: skip
    found, workers, paths = {}, {}, {}
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for way in ways:
                python = pythons.get("jax") if way == "JAX" else sys.executable
                if way == "JAX" and (python is None or name not in jax_has()):
                    continue
                workers[way] = Worker(
                    python, "kernel_gradients.py", ["--serve", name, size, way, str(threads)], environment
                )
                paths[way] = Path(scratch, f"{way}.npz")
                try:
                    workers[way].ask()
                    found[way] = workers[way].ask(do="first", path=str(paths[way]), limit=MOST_FIRST)
                except Failed as failure:
                    found[way] = {"failed": str(failure)}
                    workers.pop(way).stop()
            compare(name, size, {way: paths[way] for way in workers})
        seconds = {way: [] for way in workers}
        for _ in range(turns):
            for way, one in workers.items():
                count = max(1, min(9, int(0.1 / max(found[way]["estimate"], 1e-9))))
                seconds[way] += one.ask(do="rounds", count=count)["seconds"]
        for way, one in workers.items():
            found[way] |= {"median": median(seconds[way]), **one.ask(do="memory")}
    finally:
        for one in workers.values():
            one.stop()
    return found


def jax_has():
    """The names of the kernels that are written for JAX."""
    text = (Path(__file__).parent / "gradients_for_jax.py").read_text(encoding="utf-8")
    return [name for name in SIZES if f"    def {name}(" in text]


def figure(found, way, key, scale=1.0):
    one = found.get(way, {})
    return number(one[key] * scale) if key in one else "refused" if "failed" in one else "-"


def over(found, way, key):
    """The figure over JAX's; bold if it is missed."""
    ours, other = found.get(way, {}).get(key), found.get("JAX", {}).get(key)
    if ours is None or other is None:
        return "-"
    if key == "added" and max(ours, other) < 1:
        return "< 1 MB"
    ratio = ours / max(other, 1e-9)
    return f"{ratio:.2f}" if ratio <= GOAL else f"**{ratio:.2f}**"


def row(name, found):
    cells = [name, *[figure(found, way, "median", 1e3) for way in WAYS]]
    cells += [over(found, way, "median") for way in WAYS[:2]]
    cells += [" / ".join(figure(found, way, "first") for way in WAYS)]
    cells += [" / ".join(figure(found, way, "added") for way in WAYS), over(found, "native", "added")]
    return [*cells, REASONS.get(name, "") if any("**" in c or c == "refused" for c in cells) else ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=KERNELS)
    parser.add_argument("--size", choices=["S", "M", "tiny"], default="S")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=WAYS, help="some of them")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--peer", action="append", default=[], metavar="jax=PYTHON", help="where JAX is")
    parser.add_argument("--update", type=Path, metavar="PAGE", help="put the table between the marks on PAGE")
    options = parser.parse_args()
    size = "tiny" if options.quick else options.size
    rows = []
    pythons, turns = interpreters(options.peer), 2 if options.quick else 5
    for name in options.kernels:
        rows.append(row(name, measured(pythons, name, size, options.threads, turns, options.ways)))
        print(*rows[-1], sep=" | ", flush=True)
    head = ["kernel", *[f"{way}, ms" for way in WAYS], "auto / JAX", "native / JAX"]
    head += [f"{what}: {' / '.join(WAYS)}" for what in ("first call, s", "memory, MB")]
    table = page.markdown([*head, "native / JAX", "why"], rows, range(1, 6))
    where = f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores"
    text = f"Size {size}, {options.threads} thread{'s'[: options.threads > 1]}:\n\n{table}\nMedians, {where}.\n"
    print(f"\n{text}", end="")
    if options.update:
        page.replace(options.update, "kernel gradients", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        _, _, *told, count = sys.argv
        worker.serve(lambda: Gradient(*told, int(count)).answer)
    else:
        main()
