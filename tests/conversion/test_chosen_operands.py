"""What `and` and `or` give is one of their operands, with the shape that it has."""

from __future__ import annotations

import copy

import autoloop as al
import numpy as np
import pytest
from each_case import each

ARRAYS = (np.array([1.0]), np.array([0.0]), np.array([[2]]), np.array([[0]]), np.array([True]), np.array([False]))
OTHERS = (7, 2.5, np.float64(2), np.array([5.0]), np.array([5.0, 6.0]))


def conjunction(n, k):
    return n and k


def disjunction(n, k):
    return n or k


def in_a_loop(n, k):
    for _ in range(3):
        n = n and k
    return n


def computed_with(n, k):
    return (n and k) + 1


def asked(n, k):
    return 1 if (n and k is not None) else 2


def written_to(n, k):
    m = n or np.zeros(1, n.dtype)
    m[0] = 77
    return m, n


def done(f, given):
    given = copy.deepcopy(given)
    return f(*given), given


@pytest.mark.filterwarnings("ignore:.* runs as plain Python", "ignore:.* was traced")
@each([conjunction, disjunction, in_a_loop, computed_with, asked, written_to])
def test_arrays_of_one_element_keep_their_axes(program):
    decorated = al.function(program)
    for n in ARRAYS:
        for k in OTHERS:
            try:
                expected = done(program, (n, k))
            except ValueError:  # the truth of an array of two elements
                continue
            assert repr(done(decorated, (n, k))) == repr(expected)


def test_tensors_of_one_element_keep_their_axes():
    f, g = al.function(conjunction), al.function(disjunction)
    assert f(al.constant([0.0]), 7).shape == (1,) and f(al.constant([1.0]), 7).shape == ()
    assert g(al.constant([1.0]), 7).shape == (1,) and g(al.constant([0.0]), 7).numpy() == 7
