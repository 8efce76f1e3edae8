"""Which arrays loops leave, in each other and behind each other: what tells it makes none wait for another."""

from __future__ import annotations

from itertools import product
from typing import Any

import autoloop as al
import numpy as np
import pytest


def behind_each_other(x, y, tolerance):
    while np.abs(x).max() > tolerance:
        x = np.tanh(x @ x)
    while np.abs(y).max() > tolerance:
        y = np.tanh(y @ y)
    return x, y


def in_each_other(a, b, n, m):
    first = last = best = a
    i = 0
    while i < n:
        j = 0
        while j < m:
            b = b * 0.5 + 1
            if j == 0:
                first = b
            j += 1
        k = 0
        while k < n:
            last = a * (k + i)
            k += 1
        if last.sum() > best.sum():
            best = last
        i += 1
        if i == 1:
            a = b
    return first, last, best, a, b


def which(f: Any, *args: Any) -> Any:
    given = [np.array(one) for one in args[:2]]
    every = [*given, *f(*given, *args[2:])]
    return [one.tolist() for one in every], [[one is other for other in every] for one in every]


@pytest.mark.parametrize("executor", ["auto", "sequential", "dataflow"])
def test_arrays_are_those_that_they_are_undecorated(executor: str) -> None:
    decorated = al.function(in_each_other, executor=executor)
    for n, m in product(map(np.int64, range(4)), repeat=2):
        args = [1.0, -3.0], [0.5, 2.0], n, m
        assert which(decorated, *args) == which(in_each_other, *args)
    assert decorated.tracing_count <= 2


def test_a_loop_does_not_wait_for_one_before_it_to_be_counted() -> None:
    decorated = al.function(behind_each_other)
    for tolerance in (1e-3, 10.0):
        args = np.full((3, 3), 0.2), np.full((3, 3), 0.25), tolerance
        assert which(decorated, *args) == which(behind_each_other, *args)
    loops = [one for one in decorated.get_concrete_function(*args).graph.nodes if one.op.name == "While"]
    assert len(loops) == 2
    assert all(t.node not in loops for one in loops for t in one.inputs)
