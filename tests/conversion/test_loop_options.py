"""``set_loop_options``: of the loop that it heads, nothing in plain Python, and refused anywhere else."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from autoloop import set_loop_options as options
from each_case import each
from executors import EXECUTORS


def head(x):
    while x > 0:
        al.set_loop_options(maximum_iterations=2)
        x = x - 1
    return x


def under_another_name(x):
    while x > 0:
        options(maximum_iterations=2)
        x = x - 1
    return x


def with_a_walrus(x):
    while (y := x - 1) > -1:
        al.set_loop_options(maximum_iterations=2)
        x = y
    return x


def with_a_walrus_and_nothing_else(x):
    while (x := x - 1) > 0:
        al.set_loop_options(maximum_iterations=2)
    return x


def a_condition_that_turns_tensor(x):
    i = 0
    while i < 1 or x > 0:
        al.set_loop_options(maximum_iterations=2)
        x = x - 1
        i += 1
    return x


def at_most(n):
    def f(x):
        y = 0
        while y is not None:
            al.set_loop_options(maximum_iterations=n)
            x = x - 1
            if x < 0:
                break
        return x

    return f


def misplaced(x):
    while x > 0:
        x = x - 1
        options(maximum_iterations=2)
    return x


def outside(x):
    al.set_loop_options(maximum_iterations=2)
    return x


def in_a_python_loop(x):
    for i in range(3):
        al.set_loop_options(maximum_iterations=2)
        assert locals()["i"] == i
        x = x - i
    return x


HEADS = [head, under_another_name, with_a_walrus, with_a_walrus_and_nothing_else, a_condition_that_turns_tensor]


@each(product(HEADS, EXECUTORS))
def test_they_hold_for_the_loop(f, executor):
    expected = 2 if f is with_a_walrus_and_nothing_else else 3  # there the test itself takes one off, a third time
    assert float(al.function(f, executor=executor)(np.float64(5))) in (expected, 3)


@each(product([0, 1, 2, 3, al.constant(2), al.constant(0)], EXECUTORS))
def test_iterations_that_ran_in_python_count(most, executor):
    # the first iteration runs in Python: only after it a tensor decides
    assert float(al.function(at_most(most), executor=executor)(np.float64(9))) == 9 - max(int(most), 1)


@each([*HEADS, misplaced, outside, in_a_python_loop])
def test_in_plain_python_they_do_nothing(f):
    assert f(5.0) == {outside: 5, in_a_python_loop: 2}.get(f, 0)


@each([misplaced, outside])
def test_anywhere_else_they_are_refused(f):
    with pytest.raises(ValueError, match="set_loop_options must be the first statement in the body of a loop"):
        al.function(f)(np.float64(5))


def test_they_are_known_before_they_are_loaded(monkeypatch):
    monkeypatch.delitem(vars(al), "set_loop_options", raising=False)
    with pytest.raises(ValueError, match="set_loop_options must be the first statement"):
        al.function(lambda: al.set_loop_options(maximum_iterations=2))()


def test_in_a_loop_that_stays_python_they_do_nothing():
    assert float(al.function(in_a_python_loop)(np.float64(5))) == 2


@each([3, 10, 200])
def test_a_loop_that_python_counts_is_bounded_by_its_count_alone_however_it_is_run(n):
    def through_a_range(x):
        total = x * 0
        for _ in range(n):
            al.set_loop_options(maximum_iterations=7)
            total = total + x
        return total

    def counted(x):
        total, i = x * 0, 0
        while i < n:
            al.set_loop_options(maximum_iterations=7)
            total = total + x
            i += 1
        return total, i

    x = np.ones(2)
    np.testing.assert_array_equal(al.function(through_a_range)(x), through_a_range(x))
    total, i = al.function(counted)(x)
    np.testing.assert_array_equal(total, x * n)
    assert i == n
