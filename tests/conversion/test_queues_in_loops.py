"""Queues that a function makes, and uses in loops and branches of the graph: plain Python runs it."""

from __future__ import annotations

import queue

import autoloop as al
import numpy as np
import pytest
from each_case import each


def filled(x):
    q, i = queue.Queue(), 0
    while i < x[1]:
        q.put(1.0)
        i += 1
    return q.qsize()


def emptied(x):
    q, i = queue.SimpleQueue(), 0
    while i < x[1]:
        q.put(x * i)
        i += 1
    return q.get() + q.get() + q.qsize()


def in_a_branch(x):
    q = queue.LifoQueue()
    if x[1] > 30:
        q.put(1.0)
    return q.qsize()


@each([filled, emptied, in_a_branch])
def test_each_iteration_puts_something_in(f):
    x = np.array([1.5, 7.0])
    with pytest.warns(UserWarning, match="Queue' is used in a loop or branch: put|Queue is used in a loop or branch"):
        got = al.function(f)(x)
    np.testing.assert_array_equal(got, f(x))


def test_one_that_is_only_read_behind_a_loop_is_in_the_graph():
    def held(x):
        q, a, i = queue.Queue(), np.zeros(2), 0
        q.put(a)
        while i < x[1]:
            a += x[0]
            i += 1
        return q.get().copy()

    x = np.array([1.5, 7.0])
    np.testing.assert_array_equal(al.function(held, executor="dataflow")(x), held(x))
