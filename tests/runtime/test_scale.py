"""Large loops, deep nests, large graphs: linear time, bounded memory, no recursion limit."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager

import autoloop as al
import numpy as np
import pytest
from api import Graph
from each_case import each
from executors import EXECUTORS


@contextmanager
def little_stack(room=150):
    """Python may only call ``room`` frames deeper than here."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + room)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def counting(executor):
    body = lambda i, s: (i + 1, s + i % 7)
    return al.function(lambda n: al.while_loop(lambda i, s: i < n, body, (0, 0))[1], executor=executor, autograph=False)


def chain(nodes):
    """``nodes`` additions one after another."""

    def f(x):
        for _ in range(nodes):
            x = x + 1.0
        return x

    return f


def wide(nodes):
    """``nodes`` additions side by side."""
    return lambda x: al.sum(al.stack([x + float(k) for k in range(nodes)]))


def body_of(nodes, make=chain):
    f = make(nodes)
    return lambda x: al.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, f(x)), (0, x))[1]


def many_loops(loops, nodes):
    def f(x):
        for _ in range(loops):
            x = body_of(nodes)(x)
        return x

    return f


def nest(depth, trips=2):
    """Loops in loops; the outermost and the innermost go round ``trips`` times, the others once."""

    def level(k, s):
        if k == 0:
            return s + 1
        n = trips if k in (1, depth) else 1
        return al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, level(k - 1, s)), (0, s))[1]

    return lambda s: level(depth, s)


def value_of(f, executor, x=1.0):
    return al.function(f, executor=executor, autograph=False)(al.constant(x)).numpy()


@each(EXECUTORS)
def test_loops_nested_twenty_deep(executor):
    assert value_of(nest(20), executor, 0) == 4


@each(EXECUTORS)
def test_deep_graphs_need_no_deep_stack(executor):
    with little_stack():
        assert value_of(chain(600), executor) == 601
        assert value_of(body_of(300), executor) == 601
        assert value_of(many_loops(40, 2), executor) == 161


def test_deep_session_graphs_need_no_deep_stack():
    with little_stack(), Graph().as_default(), al.Session() as session:
        x = al.compat.v1.placeholder(al.float32, [])
        assert session.run(many_loops(40, 10)(x), {x: 1.0}) == 801


def test_a_chain_through_many_iterations_needs_no_deep_stack():
    for executor in EXECUTORS:
        with little_stack():
            assert counting(executor)(al.constant(3000)).numpy() == sum(i % 7 for i in range(3000))


def test_a_long_list_of_loop_variables():
    n = 200
    out = al.while_loop(
        lambda i, *_: i < 3, lambda i, *vs: (i + 1, *[v + float(k) for k, v in enumerate(vs)]), (0, *[0.0] * n)
    )
    assert [v.numpy() for v in out] == [3, *[3.0 * k for k in range(n)]]


# -- the large ones ---------------------------------------------------------------------------------------


def growth(make, size, executor):
    """How many times more processor time twice the size takes, at best of two."""

    def seconds(n):
        best = float("inf")
        for _ in range(2):
            begin = time.process_time()
            make(n, executor)
            best = min(best, time.process_time() - begin)
        return best

    return seconds(2 * size) / seconds(size)


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_million_iterations(executor):
    n = 1_000_000
    assert counting(executor)(al.constant(n)).numpy() == sum(i % 7 for i in range(n))


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("make", [chain, wide])
def test_a_body_of_five_thousand_nodes(executor, make):
    with little_stack():
        value_of(body_of(5000, make), executor)
    assert growth(lambda n, e: value_of(body_of(n, make), e), 2500, executor) < 3


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_two_hundred_loops_and_a_hundred_thousand_nodes(executor):
    with little_stack():
        assert value_of(many_loops(200, 500), executor) == 200_001
    assert growth(lambda n, e: value_of(many_loops(n, 500), e), 25, executor) < 3


@pytest.mark.nightly
def test_two_hundred_loops_in_a_session_from_several_threads():
    with Graph().as_default() as graph:
        x = al.compat.v1.placeholder(al.float32, [])
        y = many_loops(200, 100)(x)
    session, results = al.Session(graph=graph), {}
    callers = [threading.Thread(target=lambda k=k: results.update({k: session.run(y, {x: k})})) for k in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == {k: 40_000 + k for k in range(4)}


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_chain_of_a_hundred_thousand_nodes(executor):
    with little_stack():
        assert value_of(chain(100_000), executor) == np.float32(100_001)
