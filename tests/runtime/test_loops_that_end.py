"""A loop that is run as one, on one of several threads, ends when nobody waits for it any more."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
from api import Executable, Graph, Kind, lower
from each_case import each
from flow import ADD, LESS, call, const, heavy, loop, probe, scalar
from test_scheduler_threads import LONG, quiet_pool, sums

#: many more iterations than any test has time for
ENDLESS = 1 << 40


class Two:
    """Two lines that begin at the same time; behind each stands a loop without an end."""

    def __init__(self, then):
        graph = Graph()
        x = scalar(graph)
        both = threading.Barrier(2, timeout=LONG)
        begun = threading.Barrier(2, timeout=LONG)
        meet = heavy(lambda v: both.wait() * 0 + v)

        def first(i):
            if i == 1000:
                then(begun)
            return i

        outs = []
        for _ in range(2):
            i, _ = loop(
                graph, lambda g, i, y: call(LESS, i, const(g, ENDLESS)),
                lambda g, i, y: [call(ADD, call(probe(first), i), const(g, 1)), call(ADD, y, i)], [call(meet, x)] * 2,
            )  # fmt: skip
            outs.append(i)
        self.executable = Executable(lower(graph, outs, [x]))
        assert [step.flat.kind for step in self.executable.plan.steps.values()].count(Kind.WHOLE) == 2

    def run(self):
        self.executable.run([np.int64(0)], threads=2)


@each([True, False])
def test_an_interrupt_ends_loops_of_all_threads(by_caller):
    """Of whichever thread it comes: to the caller in its loop, or while a worker is in one."""
    main = threading.main_thread()

    def then(begun):
        begun.wait()
        if (threading.current_thread() is main) == by_caller:
            signal.pthread_kill(main.ident, signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Two(then).run()
    quiet_pool()
    assert sums().run([5], threads=2) == sums().run([5], threads=1)


def test_a_failure_ends_the_loop_that_stands_behind_it():
    graph = Graph()
    x = scalar(graph)
    begun = threading.Event()

    def fails(v):
        assert begun.wait(LONG)
        raise LookupError("on purpose")

    def first(i):
        if i == 1000:
            begun.set()
        return i

    outs = [call(heavy(fails), x)]
    i, _ = loop(
        graph, lambda g, i, y: call(LESS, i, const(g, ENDLESS)),
        lambda g, i, y: [call(ADD, call(probe(first), i), const(g, 1)), call(ADD, y, i)],
        [call(heavy(lambda v: v), x)] * 2,
    )  # fmt: skip
    executable = Executable(lower(graph, [*outs, i], [x]))
    for _ in range(3):
        begun.clear()
        with pytest.raises(LookupError, match="on purpose"):
            executable.run([np.int64(0)], threads=2)
    quiet_pool()
