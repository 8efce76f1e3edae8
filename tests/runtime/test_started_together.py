"""Light loops that are given what comes at several times are run as one: which, and that nothing but time shows."""

from __future__ import annotations

import random

import autoloop as al
import numpy as np
import pytest
from api import Executable, Graph, Kind, SeededExecutor, lower, set_outputs, with_starts_together
from each_case import each
from flow import call, heavy, node_by_node
from test_split_loops import HALF, loop, sure


def lowered_of(build):
    graph = Graph(ordered=True)
    with graph.as_default():
        x = graph.parameter(np.dtype("float64"), al.TensorShape([]))
        set_outputs(graph, [al.convert_to_tensor(one) for one in build(x)])
    return lower(graph, graph.outputs, graph.inputs)


def as_one(lowered):
    """How many loops are run as one."""
    return sum(node.kind is Kind.WHOLE for node in Executable(lowered).plan.nodes)


def assert_same(lowered, made, *values):
    for value in values:
        want = list(map(repr, node_by_node(lowered).run([np.float64(value)])))
        for seed in range(2):
            assert list(map(repr, SeededExecutor(made, seed, whole=True).run([np.float64(value)]))) == want
        for threads in (1, 2, 3):
            assert list(map(repr, Executable(made).run([np.float64(value)], threads=threads))) == want


def halves(start, late, **options):
    return loop(lambda i, a: [a * 0.5 + late], start, **options)


def nest(x, y):
    return loop(lambda i, a: [halves(a, y, n=3)[1]], x)


CASES = [
    (lambda x: halves(sure(x), sure(x + 1.0)), 0, 1),
    (lambda x: halves(sure(x), sure(x + 1.0), n=0), 0, 1),
    (lambda x: loop(lambda i, a, b: [a * 0.5 + b, b - a], sure(x), sure(x + 1.0)), 0, 1),
    (lambda x: nest(sure(x), sure(x + 1.0)), 0, 1),
    (lambda x: [al.cond(x > 1.0, lambda: halves(sure(x), sure(x + 1.0))[1], lambda: x)], 0, 1),
    (lambda x: [al.cond(x > 1.0, lambda: halves(HALF, sure(x) + 1.0)[1], lambda: x)], 1, 1),
    (lambda x: loop(lambda i, a: [halves(sure(a), sure(a + 1.0))[1]], x, n=3), 0, 0),  # not known of two in each turn
    (lambda x: halves(sure(x), 1.0), 1, 1),  # all comes at one time as it is
    (lambda x: loop(lambda i, a, b: [sure(a) + b, sure(b)], sure(x), sure(x + 1.0)), 2, 2),  # takes long, and is split
]


@each(CASES)
def test_which_wait(build, before, after):
    lowered = lowered_of(build)
    made = with_starts_together(lowered)
    assert (as_one(lowered), as_one(made)) == (before, after)
    assert (made is lowered) == (before == after)
    assert_same(lowered, made, 0.75, 1.25)


def test_of_two_failures_the_first_is_told():
    """That of what is before the loop, whichever is there first."""

    def fails(kind):
        def kernel(x):
            if x > 1.0:
                raise kind("late")
            return x

        return heavy(kernel, kind.__name__)

    first, second = fails(ZeroDivisionError), fails(KeyError)
    made = with_starts_together(lowered_of(lambda x: halves(call(first, x), call(second, x))))
    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError, match="late"):
            Executable(made).run([np.float64(2.0)], threads=threads)


@each(range(4))
def test_random_loops_give_the_same(seed):
    check_random(random.Random(seed))


@pytest.mark.nightly
def test_many_random_loops_give_the_same():
    assert sum([check_random(random.Random(seed)) for seed in range(100, 400)]) > 100


def check_random(draw):
    def value(x):
        return draw.choice([sure(x), sure(x + 1.0), x, HALF, x * 0.5, sure(sure(x))])

    def looped(x, deep):
        starts, late = [value(x) for _ in range(draw.randint(1, 3))], value(x)
        kinds = [draw.choice(["late", "other", "branch", "count", "inner"]) for _ in starts]

        def body(i, *values):
            made = []
            for k, (how, v) in enumerate(zip(kinds, values)):
                if how == "inner" and deep:
                    made.append(looped(v * 0.25 + late, deep - 1))
                elif how == "branch":
                    made.append(al.cond(i % 2 == 0, lambda v=v: v * 0.5 + late, lambda v=v: v - 1.0))
                else:
                    other = {"late": late, "other": values[k - 1]}.get(how, al.cast(i, al.float64))
                    made.append(v * 0.5 + other)
            return made

        return sum(loop(body, *starts, n=draw.randint(0, 4))[1:])

    def build(x):
        if draw.random() < 0.4:
            return [al.cond(x > 0.5, lambda: looped(x, 1), lambda: x * 1.0), looped(x, 0)]
        return [looped(x, 1), looped(x, 0)]

    lowered = lowered_of(build)
    made = with_starts_together(lowered)
    assert_same(lowered, made, 0.25, 0.75)
    return made is not lowered
