"""Large programs: what building and running them takes. ``python tests/benchmarks/large.py PROGRAM EXECUTOR``.

Each is measured in a process of its own, so that its memory is its own: the figures are printed as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import autoloop as al


def count_to(iterations: int) -> Callable[..., Any]:
    """One loop, many iterations."""

    def f(total):
        return al.while_loop(lambda i, s: i < iterations, lambda i, s: (i + 1, s + i % 7), (0, total))[1]

    return f


def nest(depth: int) -> Callable[..., Any]:
    """Loops in loops; the outermost and the innermost go round twice, the others once."""

    def level(k, s):
        if k == 0:
            return s + 1
        turns = 2 if k in (1, depth) else 1
        return al.while_loop(lambda i, s: i < turns, lambda i, s: (i + 1, level(k - 1, s)), (0, s))[1]

    return lambda s: level(depth, s)


def loops(count: int, operations: int) -> Callable[..., Any]:
    """Loops one after another, of two iterations each, with that many additions in the body of each."""

    def body(i, s):
        for _ in range(operations):
            s = s + 1
        return i + 1, s

    def f(total):
        for _ in range(count):
            total = al.while_loop(lambda i, s: i < 2, body, (0, total))[1]
        return total

    return f


#: name -> (function, its value for 0)
PROGRAMS = {
    "a million iterations": (count_to(1_000_000), sum(i % 7 for i in range(1_000_000))),
    "20 deep": (nest(20), 4),
    "a body of 5,000": (loops(1, 5_000), 10_000),
    "200 loops": (loops(200, 500), 200_000),
}


def megabytes() -> float:
    """The most memory this process ever had."""
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6


def measure(program: str, executor: str) -> dict[str, float]:
    """Seconds of the first and of a further call, and what memory they took beyond that of the imports."""
    function, expected = PROGRAMS[program]
    start = megabytes()
    f = al.function(function, executor=executor, autograph=False)
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        assert f(0) == expected
        times.append(time.perf_counter() - begin)
    return {"first": times[0], "further": times[1], "memory": megabytes() - start}


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
