"""Reductions that begin from a value that is given: signs of zeros, overflow, rounding, and slopes."""

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS

ZEROS, LARGE, ONES = -np.zeros(3), np.array([1e300, 1e300, 2.0]), np.ones((1000, 2))
CASES = {
    "zeros": (lambda x: np.sum(x, axis=0, initial=-0.0), ZEROS),
    "no zeros": (lambda x: np.sum(x[:0], initial=-0.0), ZEROS),
    "left out": (lambda x: np.add.reduce(x, where=x > 0, initial=-0.0), ZEROS),
    "usual": (lambda x: x.sum(initial=0.0), ZEROS),
    "an element": (lambda x: np.nansum(x, initial=x[0]), ZEROS),
    "complex": (lambda x: np.sum(x.astype(complex), initial=complex(-0.0, -0.0), where=x < 0), ZEROS),
    "overflow": (lambda x: np.prod(x, initial=1e-300), LARGE),
    "of a ufunc": (lambda x: np.multiply.reduce(x, initial=1e-300, keepdims=True), LARGE),
    "rounded": (lambda x: np.sum(x, axis=0, initial=1e16), ONES),
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("case", CASES)
def test_what_is_given_comes_first(case, executor):
    f, x = CASES[case]
    function, expected = al.function(f, executor=executor), f(x)
    for _ in range(2):
        found = function(x)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()


X = np.array([[1.0, 2.0, 3.0], [4.0, 0.5, 6.0]])
SLOPES = [
    (lambda x: np.sum(x, axis=0, initial=x[0, 0]).sum(), [[4, 1, 1], [1, 1, 1]]),
    (lambda x: np.prod(x, initial=2.0), 144 / X),
    (lambda x: np.prod(x, axis=1, initial=x[0, 0]).sum(), [[24, 3, 2], [3, 24, 2]]),
    (lambda x: np.sum(x, initial=3.0, where=x > 2), [[0, 0, 1], [1, 0, 1]]),
]


@pytest.mark.parametrize("case", range(len(SLOPES)))
def test_its_slope_is_that_of_one_more_element(case):
    f, expected = SLOPES[case]
    np.testing.assert_allclose(al.grad(f)(X), expected)
