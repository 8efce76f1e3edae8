"""Loops over the last axes of arrays, block by block of rows: which are, and that nothing comes out otherwise."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import nodes_inside, with_blocks
from each_case import each

pytest.importorskip("llvmlite")

ROWS, COLUMNS = 1100, 40


def forth_and_back(x, a, row, k):
    for j in range(2, COLUMNS):
        x[:, j] = x[:, j - 1] * a[:, j] + row * x[:, j - 2] + 0.5
    for j in range(COLUMNS - 2, -1, -1):
        a[:, j] = a[:, j + 1] * 0.5 + x[:, j]
    return None


def carried(x, a, row, k):
    total, weight = row * 2.0, row[0]
    for j in range(COLUMNS):
        total = total * 0.5 + x[:, j] * weight
        a[:, j] = total
        weight = weight * 0.75
    return total, weight


def shifted(x, a, row, k):
    """Rows of what is only read may lie elsewhere, those of what is written begin anywhere."""
    for j in range(1, COLUMNS):
        x[2:-1, COLUMNS - j] = x[2:-1, COLUMNS - j] + a[1:-2, j] - a[3:, 0] + a[5, j]
    return None


def planes(x, a, row, k):
    y, b = x.reshape(550, 2, COLUMNS), a.reshape(550, 2, COLUMNS)
    for j in range(1, COLUMNS):
        part = (b[:, :, j] + b[:, :, j - 1]) * 0.5
        y[..., j] = np.where(part > 0.7, y[..., j - 1], part) - y[..., j]
    return None


def in_turns(x, a, row, k):
    for _ in range(k):
        for j in range(1, COLUMNS):
            x[:, j] = x[:, j - 1] - x[:, j]
        row[:] = x[:, 3]
    return None


def counting(x, a, row, k):
    """What is counted by a constant is told without the blocks."""
    other = k + 3
    for j in range(1, COLUMNS):
        x[:, j] = x[:, j - 1] * a[:, j] + other
        other = other - 5
    return row, other


def between_rows(x, a, row, k):
    for j in range(1, COLUMNS):
        x[1:, j] = x[:-1, j - 1] + a[1:, j]
    return None


def summed(x, a, row, k):
    for j in range(1, COLUMNS):
        x[:, j] = x[:, j - 1] / np.sum(a[:, j])
    return None


def of_all(x, a, row, k):
    for j in range(1, COLUMNS):
        x[:, j] = x[:, j - 1] * x[7, 1]
    return None


def out_of_range(x, a, row, k):
    for j in range(1, COLUMNS):
        x[:, j] = x[:, k + j - 3]
    return None


def along_rows(x, a, row, k):
    for j in range(1, COLUMNS):
        x[j] = x[j - 1] * 0.5 + a[j]
    return None


def given(rows=ROWS):
    rng = np.random.default_rng(2)
    return rng.random((rows, COLUMNS)), rng.random((rows, COLUMNS)), rng.random(rows), np.int64(2)


def loops_of(function):
    """How many loops there are, and how many once they are done block by block."""
    graph = al.function(function, executor="native").get_concrete_function(*given()).runner.graph
    return [sum(node.op.name == "While" for node in nodes_inside(g)) for g in (graph, with_blocks(graph))]


@each([forth_and_back, carried, shifted, planes, in_turns, counting])
def test_blocks_of_rows_become_what_all_rows_do(function):
    before, after = loops_of(function)
    assert after > before
    same(function)


@each([between_rows, summed, of_all, out_of_range, along_rows])
def test_a_loop_whose_rows_are_not_apart_or_that_may_fail_stays_as_it_is(function):
    before, after = loops_of(function)
    assert after == before
    same(function)


def same(function):
    decorated = al.function(function, executor="native")
    ours, plain = given(), given()
    want, got = function(*plain), decorated(*ours)
    for one, other in zip([*ours, *(got or ())], [*plain, *(want or ())]):
        np.testing.assert_allclose(one, other, rtol=1e-13)
        assert np.asarray(one).dtype == np.asarray(other).dtype


@each([1, 7, 40, 41, 257, 1109])
def test_any_number_of_rows(rows):
    decorated = al.function(carried, executor="native")
    ours, plain = given(rows), given(rows)
    for one, other in zip([*decorated(*ours), *ours], [*carried(*plain), *plain]):
        np.testing.assert_array_equal(one, other)
