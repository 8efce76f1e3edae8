"""A run asks after each kernel whether its time is over, and nothing that may be endless lies between two of them."""

from __future__ import annotations

import numpy as np
import pytest
from api import SCALAR, Executable, Graph, SeededExecutor, Watch, lower
from each_case import each
from flow import branch, loop
from test_interleavings import PROGRAMS, N, X, lowered_of


def swapped(g, p, q):
    return [q, p]


def chosen(g, p, q):
    return [*branch(g, q, lambda g: g.capture(p), lambda g: g.capture(q)), p]


def inside(g, p, q):
    return [p, loop(g, lambda g, p: p, lambda g, p: [p], [q])[0]]


@each([
    (lambda g, p, q: p, lambda g, p, q: [p, q]),
    (lambda g, p, q: p, swapped),
    (lambda g, p, q: p, chosen),
    (lambda g, p, q: p, inside),
    (lambda g, p, q: chosen(g, p, q)[0], swapped),
])  # fmt: skip
def test_a_loop_that_only_hands_its_condition_on_stops_when_the_time_is_over(cond, body):
    graph = Graph()
    yes = graph.parameter(np.dtype(bool), SCALAR, "yes")
    run = Executable(lower(graph, loop(graph, cond, body, [yes, yes]), [yes])).run
    with pytest.raises(TimeoutError):
        run([np.True_], timeout=0.02)
    assert run([np.False_], timeout=10.0) == [np.False_] * 2


@each([(program, threads) for program in PROGRAMS for threads in (1, 2)])
def test_the_time_is_asked_after_each_kernel(program, threads):
    lowered = lowered_of(program, 3)
    by_hand = SeededExecutor(lowered)
    by_hand.run([N, X])
    asked, expired = [], Watch.expired
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "expired", lambda self: bool(asked.append(0)) or expired(self))
        Executable(lowered).run([N, X], threads=threads, timeout=60.0)
    assert len(asked) == len(by_hand.order)
