"""Extents that only the run knows and NumPy refuses, or takes where others are: it is told as plain Python tells it."""

from __future__ import annotations

import copy
import warnings

import autoloop as al
import numpy as np
from each_case import each
from executors import EXECUTORS

X, V = np.arange(12.0).reshape(3, 4) - 3, np.array([1.0, 2, 4, 8])


def of_bytes(v, k):
    held, i = v[v > k], 0
    while i < 2:
        i += held.nbytes
    return i


#: (what is called with an array and the number of elements that are left of it, the array)
CALLS = [
    (lambda x, k: np.gradient(x[:k], axis=0), X),
    (lambda x, k: np.gradient(x[:, :k], 2.0, axis=1), X),
    (lambda v, k: np.gradient(v[:k], edge_order=2), V),
    (lambda v, k: np.pad(v[:k], 2, "median"), V),
    (lambda v, k: np.pad(v[:k], 2, "edge"), V),
    (lambda v, k: np.pad(v[:k], 2, "linear_ramp"), V),
    (lambda v, k: (np.pad(v[:k], 0, "mean"), np.pad(v[:k], 2, constant_values=4)), V),
    (lambda x, k: np.linalg.cond(np.eye(3)[:k], 1), X),
    (lambda x, k: np.linalg.cond(x[:k]), X),
    (lambda x, k: np.linalg.matrix_power(x[:k, :3], 1), X),
    (lambda x, k: (np.linalg.norm(x[:k], 1), np.linalg.norm(x[:k], np.inf), np.linalg.norm(x[0, :k], np.inf)), X),
    (lambda x, k: (np.linalg.norm(x[:, :k], 2), np.linalg.norm(x[:k], "nuc"), np.linalg.norm(x[:k], 1, (1, 0))), X),
    (lambda v, k: np.polyfit([0, 1, 2], v[:k], 1), V),
    (lambda v, k: np.histogram2d(v[:3], v[:k], 2), V),
    (lambda v, k: (np.polymul(v[:k], v), np.polymul(v, v[:k] * 0), np.polymul(v[:0], v)), V),
    (of_bytes, V),
]


def outcome(f, x, k):
    given = copy.deepcopy(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(given, np.int64(k))
        except Exception as error:
            return error


def is_same(ours, plain):
    if isinstance(plain, Exception):
        return type(ours) is type(plain) and str(plain) in str(ours)
    if isinstance(plain, tuple):
        return type(ours) is tuple and len(ours) == len(plain) and all(map(is_same, ours, plain))
    return type(ours) is type(plain) and np.shape(ours) == np.shape(plain) and np.allclose(ours, plain, equal_nan=True)


@each(CALLS, lambda f, x: f"line {f.__code__.co_firstlineno}", one_in=2)
def test_what_numpy_says_of_few_elements(f, x):
    for executor in EXECUTORS:
        decorated = al.function(f, executor=executor)
        for k in (0, 1, 2, 3):
            ours, plain = outcome(decorated, x, k), outcome(f, x, k)
            if executor == "native" and "native" in str(ours):
                continue
            assert is_same(ours, plain), (executor, k, ours, plain)


def test_slopes_pass_what_is_checked():
    def total(v, k):
        return np.sum(np.gradient(v[:k]) ** 2) + np.sum(np.pad(v[:k], 1, "edge") ** 3) + np.linalg.norm(v[:k], np.inf)

    step = [(total(V + e, 3) - total(V - e, 3)) / 2e-6 for e in np.eye(4) * 1e-6]
    assert np.allclose(al.grad(al.function(total))(V, np.int64(3)), step, rtol=1e-6)
