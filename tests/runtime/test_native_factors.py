"""Machine code that solves, inverts and factors small matrices, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from api import call
from native_checks import check, compile_native, graph_of

RNG = np.random.default_rng(0)


def good(*shape):
    """Matrices that are easy to invert, with pivots that are not on the diagonal."""
    return RNG.standard_normal(shape) + 3 * np.eye(shape[-1])[::-1]


def positive(*shape):
    a = RNG.standard_normal(shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 4, 4), (0, 2, 2), (0, 0)], ids=str)
def test_inverses_and_determinants(shape):
    check(lambda a: [call("inv", a), call("det", a)], good(*shape))


def test_single_precision():
    check(lambda a: [call("inv", a), call("det", a), call("cholesky", a)], positive(4, 4).astype(np.float32), rtol=1e-4)


@pytest.mark.parametrize(
    ("a", "b"), [((5, 5), (5,)), ((5, 5), (5, 3)), ((2, 4, 4), (4, 3)), ((4, 4), (3, 4, 2)), ((3, 0, 0), (3, 0, 2))],
    ids=str,
)  # fmt: skip
def test_systems(a, b):
    check(lambda a, b: call("solve", a, b), good(*a), RNG.standard_normal(b))


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (3, 3, 3)], ids=str)
def test_cholesky_factors(shape):
    check(lambda a: call("cholesky", a), positive(*shape))


def test_transposed_operands_and_operands_that_stay():
    check(lambda a: call("matmul", call("inv", call("transpose", a)), a), good(4, 4))


@pytest.mark.parametrize("op", ["inv", "cholesky"])
def test_a_singular_matrix_is_the_kernels_error(op):
    run = compile_native(graph_of(lambda a: call(op, a), np.ones((2, 2))))
    with pytest.raises(np.linalg.LinAlgError):
        run([np.ones((2, 2))])


def test_the_determinant_of_a_singular_matrix():
    check(lambda a: call("det", a), np.ones((3, 3)))
