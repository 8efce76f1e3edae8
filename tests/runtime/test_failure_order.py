"""A failure in a staged loop is that of the iteration that fails first, after the effects before it."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each


@each(["auto", "dataflow", "sequential"])
def test_the_first_iteration_that_fails_is_named(executor):
    @al.function(executor=executor)
    def total(x, n):
        i, s = al.constant(0), al.constant(0.0)
        while i < n:
            print("at", i)
            s += x[i]
            i += 1
        return s

    with pytest.raises(IndexError) as failure:
        total(np.ones(3, np.float32), al.constant(8))
    assert "iteration 3" in failure.value.__notes__[-1]


@pytest.mark.parametrize("executor", ["dataflow", "sequential"])
def test_what_was_printed_before_it_is_there(executor, capsys):
    @al.function(executor=executor)
    def total(x, n):
        i, s = al.constant(0), al.constant(0.0)
        while i < n:
            print("at", i)
            s += x[i]
            i += 1
        return s

    with pytest.raises(IndexError):
        total(np.ones(3, np.float32), al.constant(8))
    assert capsys.readouterr().out.split("\n")[:3] == ["at 0", "at 1", "at 2"]


@each(["auto", "dataflow", "sequential"])
def test_of_two_failures_in_an_iteration_the_first_line_is_told_of(executor):
    @al.function(executor=executor)
    def quotients(x, i, k, j, n):
        s, pairs = 0.0, []
        for _ in range(n):
            picked = x[i]
            whole = k // j
            s += whole + picked
            pairs.append((int(x[1] * 1e300), x[i + 1]))
            j = j - 1
        return s, pairs

    three = np.int64(3)
    with pytest.raises(IndexError):
        quotients(np.ones(3), np.int64(7), 5, 0, three)
    with pytest.raises(ZeroDivisionError):
        quotients(np.zeros(3), np.int64(1), 5, 0, three)
    with pytest.raises(OverflowError):
        quotients(np.full(3, 1e300), np.int64(2), 5, 1, three)
