"""``max`` and ``min`` of Python's: the first of equal ones; what is no number is larger than nothing."""

from __future__ import annotations

import itertools

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS

_VALUES = [0.0, -0.0, 1.0, np.nan, -np.inf]
PAIRS = np.array(list(itertools.product(_VALUES, repeat=2)))
TRIPLES = np.array(list(itertools.product(_VALUES[:4], repeat=3)))


def two(a):
    return max(a[0], a[1]), min(a[0], a[1])


def with_a_number(a):
    return max(a[0], 0.0), max(0.0, a[0]), min(a[1], 0.0, 1.0), max(a[0], -0.0, a[1])


def of_an_array(a):
    return max(a), min(a)


def of_a_list(a):
    return max([a[0], a[1]]), min(v * 1.0 for v in a), max(a, key=lambda v: -v), min(a[1], a[0], key=lambda v: v * v)


def in_a_loop(a):
    most, least = a[0], a[0]
    i = 0
    while i < len(a) and most == most:
        most, least = max(most, a[i]), min(a[i], least)
        i += 1
    return most, least


PROGRAMS = [two, with_a_number, of_an_array, of_a_list, in_a_loop]


def bits(values):
    """Every number with its sign; every nan is one."""
    flat = [np.float64(v) for v in values]
    return ["nan" if np.isnan(v) else repr(v) for v in flat]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(program, dtype, executor):
    staged = al.function(program, executor=executor)
    for values in (PAIRS, TRIPLES):
        for row in values.astype(dtype):
            assert bits(staged(row)) == bits(program(row)), row


@pytest.mark.parametrize("program", PROGRAMS[:3], ids=lambda f: f.__name__)
def test_tensors(program):
    for row in PAIRS:
        assert bits(al.function(program)(al.constant(row))) == bits(program(row)), row


def looped(x):
    best = x[0]
    for i in al.range(5):
        best = max(best, x[i])
    return best


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("f", [looped, lambda x: max(x), lambda x: max(*x)], ids=["loop", "array", "arguments"])
def test_the_one_that_python_picks_has_the_slope(f, executor):
    slope = al.function(al.grad(al.function(f)), executor=executor)(al.constant([1.0, 1.0, 3.0, 3.0, 2.0]))
    assert np.asarray(slope).tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "f",
    [lambda x: max(x, 0.0), lambda x: min(0.0, x), lambda x: max(np.stack([x, x])), lambda x: max([x, x])],
)
def test_arrays_have_no_order(f, executor):
    x = np.ones(3)
    with pytest.raises(ValueError, match="ambiguous"):
        f(x)
    with pytest.raises(ValueError, match="he truth value of .* is ambiguous"):
        al.function(f, executor=executor)(x)


def test_of_nothing():
    nothing = np.zeros(0)
    assert al.function(lambda x: max(x, default=2.0))(nothing) == 2.0
    assert al.function(lambda x: min(x, default=2.0))(np.array([3.0])) == 3.0
    with pytest.raises(ValueError, match="empty sequence|iterable argument is empty"):
        al.function(lambda x: max(x))(nothing)
    rows = al.function(lambda x: max(x, default=2.0), input_signature=[al.TensorSpec([None], al.float64)])
    assert float(rows(nothing)) == 2.0
    assert float(rows(np.array([-1.0, -3.0]))) == -1.0
    with pytest.raises(TypeError, match="Cannot specify a default"):
        al.function(lambda x: max(x, 1.0, default=2.0))(np.float64(1))
    with pytest.raises(TypeError, match="'numpy.float64' object is not iterable"):
        al.function(lambda x: max(x))(np.float64(1))


def test_one_row_is_itself_and_single_elements_are_compared():
    assert np.asarray(al.function(lambda x: max(x))(np.array([[1.0, 2.0]]))).tolist() == [1.0, 2.0]
    assert np.asarray(al.function(lambda x: max(x))(np.array([[1.0], [2.0]]))).tolist() == [2.0]
