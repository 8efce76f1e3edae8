"""What a gradient costs beside the call: ``python tests/benchmarks/gradients.py [--quick] [--update README.md]``.

Loops of 5,000 steps, forward and with their gradient, in every executor: with all values kept, with ten checkpoints,
with what is kept in a file (``swap_memory``), and by a ``GradientTape`` around the call. The functions take turns and
medians are compared. ``auto`` is called until it has settled. A figure of more than the goal is marked.

The second table says how much is kept for the backward pass. With everything kept these are the bytes of the elements
that one step saves, over those of the loop's state, its variables with a gradient; with ten checkpoints it is the
memory that the generated Python had in use at its peak, beyond that of the forward call, over one state.
"""

from __future__ import annotations

import argparse
import functools
import os
import platform
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import autoloop as al
import numpy as np
from autoloop_runtime.gradients.rematerialize import bytes_of
from page import markdown, replace
from threadpoolctl import threadpool_limits

EXECUTORS = ("auto", "native", "sequential", "dataflow")
CHECKPOINTS = 10
#: how a loop keeps what its gradient needs -> the most that value and gradient may cost, in forward calls
GOALS = {"all kept": 4.0, "ten checkpoints": 10.0, "swapped": 4.0, "by a tape": 10.0}
#: the most that one step may keep, in states
MOST_KEPT = 1.5
#: seconds that ``auto`` gets to make up its mind, and that a function is measured for
PATIENCE, BUDGET = 8.0, 1.5


@dataclass(frozen=True)
class Program:
    """A loop: ``loss(*args)`` with a gradient with regard to ``wrt``, and the bytes of its state."""

    name: str
    loss: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[int, ...]
    state: int


def branching(swap: bool):
    """The program with an ``if``."""

    def f(a, x, n):
        for _ in al.range(n):
            al.set_loop_options(swap_memory=swap)
            if x > 0.5:
                x = a * x * (1.0 - x)
            else:
                x = x + 0.3 * al.sin(a * x)
        return x

    return f


def programs(steps: int, swap: bool) -> list[Program]:
    """All of them, with so many steps."""
    rng = np.random.default_rng(0)
    long = rng.uniform(0.5, 1.0, 1000)
    near = 1 + rng.uniform(-1e-5, 1e-5, 1000)
    n, hidden = np.int32(steps), 16

    def recurrence(a, x, n):
        for _ in al.range(n):
            al.set_loop_options(swap_memory=swap)
            x = a * al.sin(x)
        return al.sum(x)

    def squares(c, x, n):
        for _ in al.range(n):
            al.set_loop_options(swap_memory=swap)
            x = c * x * x
        return al.sum(x)

    def network(W, U, b, inputs, n):
        h = al.zeros_like(inputs[0])
        total = al.sum(h)
        for t in al.range(n):
            al.set_loop_options(swap_memory=swap)
            h = al.tanh(h @ W + inputs[t] @ U + b)
            total = total + al.sum(h * h)
        return total

    def kalman(F, Q, H, R, seen, m, P):
        likelihood = al.sum(m) * 0.0
        for t in al.range(n):
            al.set_loop_options(swap_memory=swap)
            m, P = F @ m, F @ P @ al.transpose(F) + Q
            PH = P @ al.transpose(H)
            S = H @ PH + R
            gain = PH @ al.inv(S)
            wrong = seen[t] - H @ m
            m, P = m + gain @ wrong, P - gain @ al.transpose(PH)
            likelihood = likelihood - 0.5 * (al.log(al.det(S)) + al.sum(wrong * al.solve(S, wrong)))
        return likelihood

    one = (np.float64(1.00001), np.float64(0.7))
    size = 16
    F = 0.95 * np.linalg.qr(rng.standard_normal((size, size)))[0]
    filtered = (F, 0.1 * np.eye(size), rng.standard_normal((2, size)), 0.5 * np.eye(2), rng.standard_normal((steps, 2)))
    weights = (0.8 / hidden**0.5 * rng.standard_normal((hidden, hidden)), rng.standard_normal((hidden, hidden)) / 4,
               0.1 * rng.standard_normal(hidden), 0.5 * rng.standard_normal((steps, 8, hidden)))  # fmt: skip
    start = (np.zeros(size), np.eye(size))
    return [
        Program("x = a sin x, 1,000 elements", recurrence, (near, long, n), (0,), long.nbytes),
        Program("x = a sin x, a scalar", recurrence, (*one, n), (0,), 8),
        Program("x = c x², 1,000 elements", squares, (1 / long, 0.999 * long, n), (0,), long.nbytes),
        Program("x = c x², a scalar", squares, (np.float64(1.0), np.float64(0.999), n), (0,), 8),
        Program("RNN, batch 8, hidden 16", network, (*weights, n), (0, 1, 2), 8 * hidden * 8),
        Program("Kalman filter, 16 states", kalman, (*filtered, *start), (0, 1), (size + size * size) * 8),
        Program("a scalar with an `if`", branching(swap), (np.float64(3.7), np.float64(0.4), n), (0,), 8),
    ]


def seconds(f: Callable[[], object]) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    f()
    return time.perf_counter() - begin


def made(program: Program, executor: str, kept: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """The forward call and the one with the gradient, settled."""
    memory = CHECKPOINTS if kept == "ten checkpoints" else None
    forward = al.function(program.loss, executor=executor)
    if kept == "by a tape":
        return taped(program, forward)
    both = al.function(al.value_and_grad(program.loss, program.wrt), executor=executor, gradient_memory=memory)
    calls = [lambda f=f: f(*program.args) for f in (forward, both)]
    for f, call in zip((forward, both), calls):
        settle(f, program.args, call)
    return calls[0], calls[1]


def taped(program: Program, forward: Any) -> tuple[Callable[[], object], Callable[[], object]]:
    """The forward call, and the same with a tape around it and the gradient; settled."""
    args = [al.constant(a) for a in program.args]
    wrt = [args[k] for k in program.wrt]

    def both() -> object:
        with al.GradientTape() as tape:
            tape.watch(wrt)
            y = forward(*args)
        return tape.gradient(y, wrt)

    call = functools.partial(forward, *args)
    settle(forward, args, call)
    both()
    begin = time.perf_counter()
    while forward.executor == "auto" and time.perf_counter() - begin < PATIENCE / 2:
        both()
    return call, both


def settle(f: Any, args: Sequence[Any], call: Callable[[], object]) -> None:
    """Call until it is plain what runs it; one call at least."""
    call()
    runner = f.get_concrete_function(*args).runner
    begin = time.perf_counter()
    while runner.asked == "auto" and time.perf_counter() - begin < PATIENCE:
        if runner.executor == "native" or "machine code cannot" in runner.reason or "slower" in runner.reason:
            break
        call()
    call()


def cost(program: Program, executor: str, kept: str, quick: bool) -> str:
    """The median times of the two, and their ratio."""
    try:
        forward, both = made(program, executor, kept)
    except (NotImplementedError, ImportError) as refusal:
        return f"refused: {getattr(refusal, 'told', refusal)}"
    samples: list[tuple[float, float]] = []
    begin = time.perf_counter()
    while len(samples) < 3 or (time.perf_counter() - begin < BUDGET and not quick):
        samples.append((seconds(forward), seconds(both)))
    one, two = map(median, zip(*samples))
    ratio = two / one
    shown = f"{one * 1e3:.3g} → {two * 1e3:.3g} ms, {ratio:.1f} ×"
    return shown if ratio <= GOALS[kept] else f"{shown} **missed**"


def saved_bytes(program: Program) -> float:
    """What one step saves, in states."""
    both = al.function(al.value_and_grad(program.loss, program.wrt))
    todo = [(both.get_concrete_function(*program.args).runner.graph, False)]
    total = 0
    while todo:
        graph, in_loop = todo.pop()
        for node in graph.nodes:
            todo.extend((sub, in_loop or node.op.name == "While") for sub in node.subgraphs)
            if node.op.name == "StackPush" and in_loop:
                value = node.inputs[2]
                total += bytes_of(value) if value.shape.rank else value.dtype.itemsize
    return total / program.state


def peak(f: Callable[[], object]) -> int:
    """Bytes in use at the worst moment of a call."""
    f()
    tracemalloc.start()
    try:
        f()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def memory_row(plain: Program) -> list[str]:
    """What is kept, in states: of one step, and in all with ten checkpoints."""
    forward, both = made(plain, "sequential", "ten checkpoints")
    few = (peak(both) - peak(forward)) / plain.state
    kept = saved_bytes(plain)
    return [plain.name, f"{kept:.2f}{'' if kept <= MOST_KEPT else ' **missed**'}", f"{few:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few steps and repeats, to see that it runs")
    parser.add_argument("--only", default="", help="programs whose name holds this")
    parser.add_argument("--executors", default=",".join(EXECUTORS), help="some of them, with commas between")
    parser.add_argument("--kept", default=",".join(GOALS), help="some ways to keep values, with commas between")
    parser.add_argument("--update", type=Path, metavar="FILE", help="put the tables between the marks in FILE")
    options = parser.parse_args()
    steps = 60 if options.quick else 5000
    executors = options.executors.split(",")
    rows, memory = [], []
    with threadpool_limits(1):
        al.config.set_num_threads(1)
        for kept in options.kept.split(","):
            for program in programs(steps, swap=kept == "swapped"):
                if options.only in program.name:
                    rows.append([kept, program.name, *[cost(program, e, kept, options.quick) for e in executors]])
                    print(*rows[-1], sep=" | ", flush=True)
        for program in programs(min(steps, 1000), swap=False):
            if options.only in program.name:
                memory.append(memory_row(program))
    goals = ", ".join(f"{kept} ≤ {goal:g} ×" for kept, goal in GOALS.items())
    times = markdown(["kept", "loop", *executors], rows, range(2, 2 + len(executors)))
    kept = markdown(["loop", "kept per step", "at once with ten checkpoints"], memory, [1, 2])
    where = f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, one thread"
    text = (
        f"Forward → value and gradient, {steps:,} steps; goals: {goals}.\n\n{times}\n"
        f"Memory in states of the loop; goal: ≤ {MOST_KEPT:g} per step.\n\n{kept}\nMedians, {where}.\n"
    )
    print(f"\n{text}", end="")
    if options.update:
        replace(options.update, "gradients", text)


if __name__ == "__main__":
    main()
