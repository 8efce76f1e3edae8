"""``scipy.linalg`` in decorated functions: plain against decorated, and what is refused."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from samples_scipy_linalg import PROGRAMS, SQUARE, VECTOR

sl = pytest.importorskip("scipy.linalg")


@pytest.mark.parametrize("executor", ["auto", "dataflow"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_plain_against_decorated(name, executor):
    found = al.function(PROGRAMS[name], executor=executor)(SQUARE, VECTOR)
    for one, wanted in zip(found, PROGRAMS[name](SQUARE, VECTOR), strict=True):
        assert one.dtype == wanted.dtype
        np.testing.assert_allclose(one, wanted, rtol=1e-11)


def test_in_a_loop():
    def walk(a, b, n):
        lu = sl.lu_factor(a)
        for _ in range(n):
            b = sl.lu_solve(lu, b) + sl.expm(a * 0.1) @ b
        return b

    np.testing.assert_allclose(al.function(walk)(SQUARE, VECTOR, np.int64(4)), walk(SQUARE, VECTOR, 4), rtol=1e-11)


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda a: sl.solve(a, VECTOR, overwrite_a=True), TypeError, "does not take the argument 'overwrite_a'"),
        (lambda a: sl.solve(a, VECTOR, assume_a="banded"), TypeError, "the argument 'assume_a'.*it is found out"),
        (lambda a: sl.solve_triangular(a[:2], VECTOR), ValueError, "solve_triangular: expected square matrix"),
        (lambda a: sl.cholesky(-a @ a.T), np.linalg.LinAlgError, "leading minor"),
        (lambda a: sl.expm(a[0]), np.linalg.LinAlgError, "expm: The input array must be at least two-dimensional"),
        (lambda a: sl.expm(a[:2]), np.linalg.LinAlgError, "expm: Last 2 dimensions of the array must be square"),
        (lambda a: sl.cholesky(a * np.nan), ValueError, "must not contain infs or NaNs"),
    ],
)
def test_what_is_refused(f, error, message):
    with pytest.raises(error, match=message):
        al.function(f)(SQUARE)
