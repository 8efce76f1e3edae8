"""How far iterations run ahead of each other, and what a run holds in memory."""

from __future__ import annotations

import gc
import weakref

import numpy as np
from api import (
    Executable,
    Graph,
    SeededExecutor,
    TensorShape,
    lower,
)
from each_case import each
from flow import (
    ADD,
    LESS,
    call,
    const,
    counted,
    heavy,
    loop,
    probe,
    scalar,
)  # fmt: skip
from test_scheduler import THREADS


class Meter:
    """How many iterations are between their first and last kernel at once."""

    def __init__(self):
        self.live = set()
        self.most = 0

    def enter(self, i, *_):
        self.live.add(int(i))
        self.most = max(self.most, len(self.live))
        return i

    def leave(self, i, *_):
        self.live.discard(int(i))
        return i


@each([1, 2, 7])
def test_no_more_iterations_live_than_the_window(window):
    graph = Graph()
    meter = Meter()

    def body(g, i, y):
        i = call(probe(meter.enter, "enter"), i)
        for _ in range(10):
            i = call(ADD, i, const(g, 0))
        return [call(probe(meter.leave, "leave"), i)]

    _, y = counted(graph, 60, body, [const(graph, 0)], window=window)
    lowered = lower(graph, [y])
    for seed in range(10):
        SeededExecutor(lowered, seed).run([])
        assert not meter.live
    assert meter.most == window


def ahead(window):
    """A loop of a counter and a chain ``x``; gives the lowered graph and a list of the steps of each."""
    graph = Graph()
    steps = []
    note_i = probe(lambda i: steps.append(("i", int(i))) or i)
    note_x = probe(lambda x, i: steps.append(("x", int(i))) or x + 1)
    x = scalar(graph)
    i, y = loop(
        graph, lambda g, i, x: call(LESS, i, const(g, 30)),
        lambda g, i, x: [call(ADD, call(note_i, i), const(g, 1)), call(note_x, x, i)], [const(graph, 0), x],
        window=window,
    )  # fmt: skip
    return lower(graph, [i, y], [x]), steps


@each([1, 4])
def test_the_counter_runs_ahead_as_far_as_the_window_and_never_behind(window):
    lowered, steps = ahead(window)
    most = 0
    for seed in range(200):
        steps.clear()
        SeededExecutor(lowered, seed).run([0])
        i = x = -1
        for what, at in steps:
            if what == "i":
                assert at == i + 1
                i = at
            else:
                assert at == x + 1
                x = at
            # x of an iteration needs the condition of that iteration, so the counter before it
            assert x - 1 <= i
            assert i < x + 1 + window
            most = max(most, i - x)
    assert most == window


def test_values_are_dropped_when_the_last_consumer_took_them():
    graph = Graph()
    x = graph.parameter(np.dtype(np.float64), TensorShape([1000]), "x")
    arrays, most = [], []

    def step(x, *_):
        out = x + 1
        arrays.append(weakref.ref(out))
        most.append(sum(ref() is not None for ref in arrays))
        return out

    _, y = counted(graph, 50, lambda g, i, y: [call(probe(step), call(probe(step), y))], [x])
    Executable(lower(graph, [y], [x])).run([np.zeros(1000)], threads=1)
    assert len(arrays) == 100 and max(most) <= 3


def test_nothing_is_kept_after_a_run():
    graph = Graph()
    x = graph.parameter(np.dtype(np.float64), TensorShape([1000]), "x")
    _, y = counted(graph, 5, lambda g, i, y: [call(heavy(lambda v: v + 1), y)], [x])
    run = Executable(lower(graph, [y], [x])).run
    for threads in THREADS:
        gc.collect()
        gc.disable()
        try:
            value = np.zeros(1000)
            (out,) = run([value], threads=threads)
            refs = [weakref.ref(value), weakref.ref(out)]
            del value, out
            assert [ref() for ref in refs] == [None, None]
        finally:
            gc.enable()


def test_an_invariant_may_come_late():
    graph = Graph()
    x = scalar(graph)
    slow = x
    for _ in range(20):
        slow = call(ADD, slow, const(graph, 1))

    def body(g, i, y):
        inner = counted(g, 2, lambda h, j, z: [call(ADD, z, h.capture(slow))], [y])[1]
        fresh = counted(g, 2, lambda h, j, z: [call(ADD, z, j)], [g.capture(slow)])[1]
        return [call(ADD, inner, fresh)]

    _, y = counted(graph, 4, body, [const(graph, 0)])
    lowered = lower(graph, [y], [x])
    want = 0
    for _ in range(4):
        want = want + 2 * 21 + 21 + 1
    for seed in range(60):
        assert SeededExecutor(lowered, seed).run([1]) == [want]
    assert Executable(lowered).run([1]) == [want]


def test_a_loop_that_is_over_before_its_invariant_comes_still_waits_for_it():
    graph = Graph()
    x = scalar(graph)
    slow = call(ADD, call(ADD, x, x), x)
    _, y = counted(graph, 0, lambda g, i, y: [call(ADD, y, g.capture(slow))], [const(graph, 5)])

    def outer(g, i, z):
        return [call(ADD, z, counted(g, 0, lambda h, j, w: [call(ADD, w, h.capture(slow))], [z])[1])]

    _, z = counted(graph, 3, outer, [const(graph, 1)])
    lowered = lower(graph, [y, z], [x])
    for seed in range(20):
        assert SeededExecutor(lowered, seed).run([1]) == [5, 8]
