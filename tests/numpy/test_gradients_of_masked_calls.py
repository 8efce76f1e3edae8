"""What a ufunc does not compute, as ``where=`` says, has no slope: a division by zero there makes no nan."""

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS

A, B = np.array([[1.0, 0.0, 3.0], [4.0, 0.0, 0.0]]), np.array([2.0, 0.0, 0.0])


def divided(a, b):
    return np.divide(a, b, out=np.zeros((2, 3)), where=b != 0).sum()


def divided_in_a_loop(a, b):
    left = np.ones((2, 3))
    n = 0
    while n < a[0, 0] * 40:
        np.true_divide(a, b, out=left, where=b != 0)
        n += 1
    return left.sum()


def logarithms(a, b):
    return np.log(a, out=a * 2, where=a > 0).sum() + np.sqrt(b, out=np.zeros(3), where=b > 0).sum()


WANTED = {
    divided: ([[0.5, 0, 0], [0.5, 0, 0]], [-1.25, 0, 0]),
    divided_in_a_loop: ([[0.5, 0, 0], [0.5, 0, 0]], [-1.25, 0, 0]),
    logarithms: ([[1, 2, 1 / 3], [0.25, 2, 2]], [0.5**1.5, 0, 0]),
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("f", WANTED)
def test_what_is_not_computed_has_no_slope(f, executor):
    g = al.function(f, executor=executor)
    assert g(A, B) == f(A.copy(), B)
    for found, wanted in zip(al.grad(g, argnums=(0, 1))(A, B), WANTED[f], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_so_it_is_in_second_derivatives():
    of_b = al.grad(lambda a, b: al.grad(divided, argnums=1)(a, b)[0], argnums=1)(A, B)
    np.testing.assert_allclose(of_b, [1.25, 0, 0])


def test_so_it_is_of_complex_numbers():
    def inverse(z):
        return np.abs(np.reciprocal(z, out=np.zeros(2, complex), where=z != 0)).sum()

    np.testing.assert_allclose(al.grad(inverse)(np.array([2.0 + 0j, 0])), [-0.25, 0])
