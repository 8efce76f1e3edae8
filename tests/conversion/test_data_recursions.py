"""Recursions whose end the values of arrays decide: plain Python runs them, soon, and each of their calls."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from autoloop.operators.staging import staged_blocks

WARNED = "ignore:.* runs as plain Python"


def by_lomuto(a):
    if len(a) <= 1:
        return
    i = 0
    for j in range(len(a) - 1):
        if a[j] <= a[-1]:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[-1] = a[-1], a[i]
    by_lomuto(a[:i])
    by_lomuto(a[i + 1 :])


def by_hoare(a, low=0, high=None):
    high = len(a) - 1 if high is None else high
    if low >= high:
        return
    p, i, j = a[(low + high) // 2], low, high
    while i <= j:
        while a[i] < p:
            i += 1
        while a[j] > p:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i, j = i + 1, j - 1
    by_hoare(a, low, j)
    by_hoare(a, i, high)


@al.function
def decorated(a):
    if len(a) > 1:
        small, large = a[a < a[0]], a[a > a[0]]
        decorated(small)
        decorated(large)
        a[:] = np.concatenate([small, a[a == a[0]], large])


class Sorter:
    @al.function
    def sort(self, a):
        if len(a) > 1:
            order = a[1:] < a[0]
            k = int(order.sum())
            a[:] = np.concatenate([a[1:][order], a[:1], a[1:][~order]])
            self.sort(a[:k])
            self.sort(a[k + 1 :])


@pytest.mark.filterwarnings(WARNED)
@pytest.mark.parametrize("sort", [al.function(by_lomuto), al.function(by_hoare), decorated, Sorter().sort])
def test_a_sort_that_partitions_is_left_to_plain_python_before_much_is_traced(sort, monkeypatch):
    calls, is_alike = [], staged_blocks._is_alike
    monkeypatch.setattr(staged_blocks, "_is_alike", lambda *both: calls.append(both) or is_alike(*both))
    for seed, n in enumerate((24, 9, 17)):
        given = np.random.default_rng(seed).permutation(n) * 1.0
        assert sort(given) is None
        np.testing.assert_array_equal(given, np.arange(n * 1.0))
    assert len(calls) < 100


def test_what_python_values_stop_is_traced():
    def found(a, x, low, high):
        if low >= high:
            return low
        middle = (low + high) // 2
        return found(a, x, middle + 1, high) if a[middle] < x else found(a, x, low, middle)

    given = np.arange(9.0)
    for x in (np.float64(3.5), np.float64(-1.0), np.float64(20.0)):
        assert al.function(found)(given, x, 0, 9) == found(given, x, 0, 9)


def test_with_tensors_it_is_refused_as_soon():
    with pytest.raises(RecursionError, match="a function calls itself under a tensor condition"):
        al.function(lambda a: by_hoare(a) or a)(al.constant([3.0, 1.0, 2.0]))
