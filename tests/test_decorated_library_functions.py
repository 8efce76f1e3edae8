"""NumPy's functions, builtins and functions of C that are decorated themselves."""

from __future__ import annotations

import builtins
import math
import operator

import autoloop as al
import numpy as np
import pytest
from left_to_python import refused_or_plain

X, M = np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(2, 3)

CALLS = [
    (np.sum, (X,), {}),
    (np.sum, (M, 0), {}),
    (np.sum, (M,), {"axis": 1, "keepdims": True}),
    (np.mean, (M,), {"axis": 0}),
    (np.std, (X,), {"ddof": 1}),
    (np.max, (M, 1), {}),
    (np.add, (X, X), {}),
    (np.exp, (X,), {}),
    (np.linalg.norm, (X,), {}),
    (np.linalg.solve, (np.eye(2), np.ones(2)), {}),
    (np.concatenate, ([X, X],), {"axis": 0}),
    (np.stack, ([X, X], 1), {}),
    (np.where, (X > 1, X, 0.0), {}),
    (np.dot, (X, X), {}),
    (np.clip, (X, 1.5, 2.5), {}),
    (np.einsum, ("i,i->", X, X), {}),
    (np.full_like, (X, 2.0), {}),
    (np.array, ([1, 2],), {}),
    (np.array, (X,), {"dtype": np.float32}),
    (np.zeros, ((2, 2),), {}),
    (len, (X,), {}),
    (len, ([1, 2],), {}),
    (abs, (-X,), {}),
    (builtins.max, (1.0, 2.0), {}),
    (builtins.min, (X,), {}),
    (builtins.sum, ([1, 2],), {}),
    (sorted, (X,), {}),
    (isinstance, (1, int), {}),
    (math.sqrt, (2.0,), {}),
    (operator.mul, (X, X), {}),
    (str.upper, ("a",), {}),
]


@pytest.mark.parametrize(("f", "args", "kwargs"), CALLS, ids=[f"{c[0].__name__}-{i}" for i, c in enumerate(CALLS)])
def test_it_is_called_as_it_was(f, args, kwargs):
    wanted = f(*args, **kwargs)
    for _ in range(2):
        found = al.function(f)(*args, **kwargs)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
        assert np.asarray(found).dtype == np.asarray(wanted).dtype


def test_one_trace_serves_equal_calls():
    total = al.function(np.sum)
    assert (float(total(M)), float(total(M + 1.0))) == (15.0, 21.0)
    assert total.tracing_count == 1


def test_what_they_refuse():
    refused_or_plain(np.busday_count, "numpy.busday_count has no counterpart", X, X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        al.function(np.sum)(X, axes=0)
    with pytest.raises(TypeError, match="numpy.sum does not take the argument 'out'"):
        al.function(np.sum)(al.constant(X), axis=0, out=np.zeros(3))
