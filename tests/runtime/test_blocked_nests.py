"""Loops around loops over columns, a few columns at a time: which are done so, and that nothing comes out otherwise."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import nodes_inside, outlining, with_nests
from each_case import each

pytest.importorskip("llvmlite")

ROWS, COLUMNS = 30, 91


@pytest.fixture(autouse=True)
def worth_it(monkeypatch):
    monkeypatch.setattr(outlining, "WORTH", 0.0)
    monkeypatch.setattr(outlining, "PIECE", 0.0)
    yield
    al.config.set_num_threads(None)


def triangular(x, y, v):
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += y[i + 1 :, i] @ x[i + 1 :, j]


def with_statements_about_rows(x, y, v):
    x *= 0.5
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[:i, j] += 1.5 * y[i, j] * y[i, :i]
            v[j] = y[:i, j] @ y[i, :i]
        x[i, :] += np.sin(y[i, :]) * y[i, i] + v * 0.3
        v[:] = v / (x[i] + 1)


def from_one_on(x, y, v):
    """Of columns before the loop's nothing is told, and the counter is used for more than columns."""
    for i in range(ROWS - 1, 1, -1):
        for j in range(1, COLUMNS - 1):
            x[i, j] = x[i - 1, j] * y[i, j + 1] + j * i


def steps_in_time(x, y, v):
    for i in range(ROWS):
        for j in range(COLUMNS):
            v[j] = v[j] * 0.5 + i
            x[ROWS - 1 - i, j] = v[j] - y[i % 3, j]


def single_columns(x, y, v):
    """The blocks pass on what they do not touch."""
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += y[i, j]
        v[0] = x[i, 0] * 0.5


def of_the_column_before(x, y, v):
    for i in range(ROWS):
        for j in range(1, COLUMNS):
            x[i, j] += x[i, j - 1] * y[i, j]


def of_a_single_column(x, y, v):
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += x[i, 1] * y[i, j]


def of_a_whole_row(x, y, v):
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += y[i, j]
        x[i, :] = np.cumsum(x[i, :])


def of_the_next_column(x, y, v):
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += y[i, j]
        v[:-1] += v[1:] * x[i, :-1]


def of_a_sum(x, y, v):
    total = 0.0
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += y[i, j] * total
        total = total + x[i, 5]
    return total


def fewer_each_time(x, y, v):
    for i in range(ROWS):
        for j in range(i, COLUMNS):
            x[i, j] += y[i, j] * x[i - 1, j]


def columns_elsewhere(x, y, v):
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += x[i, COLUMNS - 1 - j] * y[i, j]


def a_column_into_all(x, y, v):
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += y[i, j]
        v[:] = v + x[i, 2]


def behind_the_last_row(x, y, v):
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i, j] += y[i + 1, j]


def given():
    rng = np.random.default_rng(2)
    return rng.random((ROWS, COLUMNS)), rng.random((ROWS, COLUMNS)), rng.random(COLUMNS)


def outcome(function, threads):
    """Return what a function leaves, or makes of its arguments, and what it raises."""
    al.config.set_num_threads(threads)
    arguments, result = given(), None
    try:
        result = function(*arguments)
    except IndexError as error:
        result = str(error)
    return result, arguments


def loops_of(function):
    """How many loops there are, and how many once nests are done block by block."""
    graph = al.function(function, executor="native").get_concrete_function(*given()).runner.graph
    return [sum(node.op.name == "While" for node in nodes_inside(g)) for g in (graph, with_nests(graph))]


def same(function):
    (result, plain), decorated = outcome(function, 1), al.function(function, executor="native")
    bits = []
    for threads in (1, 2):
        ours, left = outcome(decorated, threads)
        assert str(ours) == str(result) or np.allclose(ours, result, rtol=1e-12)
        for one, other in zip(left, plain):
            np.testing.assert_allclose(one, other, rtol=1e-11)
        bits.append([one.tobytes() for one in left])
    assert bits[0] == bits[1]


@each([triangular, with_statements_about_rows, from_one_on, steps_in_time, single_columns])
def test_blocks_of_columns_become_what_all_columns_do(function):
    before, after = loops_of(function)
    assert after > before
    same(function)


@each([
    of_the_column_before, of_a_single_column, of_a_whole_row, of_the_next_column, of_a_sum, fewer_each_time,
    columns_elsewhere, a_column_into_all,
])  # fmt: skip
def test_a_nest_whose_columns_are_not_apart_stays_as_it_is(function):
    before, after = loops_of(function)
    assert after == before
    same(function)


def test_what_fails_in_the_midst_leaves_what_numpy_leaves():
    before, after = loops_of(behind_the_last_row)
    assert after > before  # only machine code knows that it may fail
    same(behind_the_last_row)
