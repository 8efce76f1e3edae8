"""Decorated functions call themselves and each other on Python values, with whatever values they are called."""

from __future__ import annotations

import math

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS

pytestmark = pytest.mark.filterwarnings("ignore:.* was traced", "ignore:.* runs as plain Python")


def made(executor):
    """Return functions that call each other, and whether they are decorated in their own bodies."""

    @al.function(executor=executor)
    def product(n, x):
        return x if n <= 1 else n * product(n - 1, x)

    @al.function(executor=executor)
    def odd(n, x):
        return x if n == 0 else even(n - 1, x + 1)

    @al.function(executor=executor)
    def even(n, x):
        return x if n == 0 else odd(n - 1, x * 2)

    @al.function(executor=executor)
    def halves(x):
        half = x.shape[0] // 2
        return x if half == 0 else al.concat([halves(x[half:]), halves(x[:half])])

    return product, odd, halves


def by_hand(n, x):
    while n:
        n, x = n - 1, x + 1
        if n:
            n, x = n - 1, x * 2
    return x


@each(EXECUTORS)
def test_numbers_and_extents_that_differ_at_each_call_stop_a_recursion(executor):
    product, odd, halves = made(executor)
    for n in range(12):
        for one in (np.ones(2), al.constant(np.ones(2))):
            np.testing.assert_array_equal(product(n, one), np.full(2, math.factorial(n)))
            np.testing.assert_array_equal(odd(n, one), by_hand(n, np.ones(2)))
        np.testing.assert_array_equal(halves(al.range(n + 1)), np.arange(n + 1)[::-1])


def test_a_recursion_that_only_a_run_stops_is_told_wherever_it_begins():
    product, _, _ = made("auto")

    def called_at(depth, n, x):
        return called_at(depth - 1, n, x) if depth else product(n, x)

    for depth in (0, 100, 400):
        with pytest.raises(RecursionError, match="a function calls itself under a tensor condition"):
            called_at(depth, al.constant(3), al.ones([2]))
        np.testing.assert_array_equal(called_at(depth, np.int64(3), np.ones(2)), [6.0, 6.0])
