"""Sparse gradients: of sparse tensors, of gathered rows, and for functions of Python's."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from autoloop.differentiation import (
    GradientTape,
    grad,
    gradients,
)
from each_case import each
from test_gradients_api import both


def test_sparse_arguments_get_sparse_gradients():
    x = al.SparseTensor([[0, 1], [1, 0]], np.array([2.0, 3.0]), [2, 2])

    def f(x):
        for _ in al.range(2):
            x = al.SparseTensor(x.indices, x.values * x.values, x.dense_shape)
        return al.sum(x.values)

    for g in (grad(f)(x), al.function(grad(f))(x)):
        assert isinstance(g, al.SparseTensor)
        np.testing.assert_array_equal(g.indices, x.indices)
        np.testing.assert_allclose(g.values, 4 * np.array([8, 27]))
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x).values, 4 * np.array([8, 27]))
    assert tape.gradient(al.constant(1.0), x) is None


def test_sparse_product_in_a_loop():
    x = al.SparseTensor([[0, 1], [1, 0]], np.array([2.0, 3.0]), [2, 2])

    def f(x, v):
        for _ in al.range(2):
            v = al.sin(al.sparse.matmul(x, v))
        return al.sum(v)

    dense = lambda x, v: f(al.SparseTensor(x0.indices, x, x0.dense_shape), v)
    x0, v = x, np.ones((2, 1))
    g, gv = both(grad(dense, (0, 1)), x.values, v)
    step = 1e-6
    for k in range(2):
        moved = [np.asarray(x.values) + s * step * np.eye(2)[k] for s in (1, -1)]
        slope = (float(dense(moved[0], v)) - float(dense(moved[1], v))) / (2 * step)
        np.testing.assert_allclose(g[k], slope, rtol=1e-6)
    assert gv.shape == v.shape


# -- rows ---------------------------------------------------------------------------------------------------

TABLE = np.arange(12.0).reshape(4, 3)
EXPECTED = np.zeros((4, 3))
np.add.at(EXPECTED, [2, 0, 3, 0], np.ones(3))


def looked_up(table):
    return al.sum(al.gather(table, [[2, 0]])) + al.sum(al.gather(table, [-1, 0]))


def test_the_gradient_of_gather_is_sparse_for_tapes_and_gradients():
    table = al.constant(TABLE)
    with GradientTape() as tape:
        tape.watch(table)
        y = looked_up(table)
    inside = al.function(lambda t: gradients(looked_up(t), [t])[0])
    vague = al.function(inside.python_function, input_signature=[al.TensorSpec([None, None], al.float64)])
    for g in (tape.gradient(y, table), inside(TABLE), vague(TABLE)):
        assert isinstance(g, al.IndexedSlices)
        assert sorted(np.asarray(g.indices).tolist()) == [0, 0, 2, 3]
        np.testing.assert_array_equal(np.asarray(g), EXPECTED)
        np.testing.assert_array_equal(0.5 * g, EXPECTED / 2)
        np.testing.assert_array_equal(table - g / 2.0, TABLE - EXPECTED / 2)


def test_the_gradient_of_gather_is_dense_for_grad_and_with_dense_parts():
    for g in (grad(looked_up)(TABLE), al.function(grad(looked_up))(TABLE)):
        assert isinstance(g, np.ndarray)
        np.testing.assert_array_equal(g, EXPECTED)
    table = al.Variable(TABLE)
    with GradientTape() as tape:
        y = looked_up(table) + al.sum(table)
    g = tape.gradient(y, table)
    np.testing.assert_array_equal(g, EXPECTED + 1)
    table.assign_sub(g)
    with GradientTape() as outer:
        with GradientTape() as inner:
            y = looked_up(al.square(table))
        g = inner.gradient(y, table)
        total = al.sum(g)
    np.testing.assert_array_equal(outer.gradient(total, table), 2 * EXPECTED)


def test_rows_gathered_from_an_intermediate_tensor():
    g = al.function(lambda t: gradients(looked_up(t * 2.0), [t])[0])(TABLE)
    np.testing.assert_array_equal(g, 2 * EXPECTED)


def test_python_code_gets_its_gradient_from_the_user():
    def sine(x):
        y = al.py_function(np.sin, [x], al.float64)
        y.set_shape(x.shape)
        return y

    @al.custom_gradient
    def known(x):
        def back(g):
            slope = al.py_function(np.cos, [x], al.float64)
            slope.set_shape(x.shape)
            return g * slope

        return sine(x), back

    def loop(f):
        return al.function(
            lambda x: al.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, f(x)), (0, x))[1], autograph=False
        )

    x = np.float64(1)
    for f in (sine, loop(sine)):
        with pytest.raises(LookupError, match=r"py_function.*custom_gradient, whose gradient function may call it"):
            al.grad(f)(x)
    np.testing.assert_allclose(al.grad(known)(x), np.cos(x))
    y = np.sin(x)
    np.testing.assert_allclose(al.grad(loop(known))(x), np.cos(x) * np.cos(y) * np.cos(np.sin(y)), rtol=1e-12)


@each([0.0, 1.0, 2.0, 3.0, 0.5])
def test_mixed_derivatives_of_powers(exponent):
    x, expected = 3.0, 3.0 ** (exponent - 1) * (1 + exponent * np.log(3.0))

    def slope(a, b):
        return grad(lambda v: v**b)(a)

    y = al.constant(exponent, dtype=al.float64)
    staged = al.function(lambda a, b: grad(slope, 1)(a, b))
    captured = al.function(lambda a: gradients(gradients(a**y, [a]), [y])[0])

    def inside(a):
        c = al.constant(exponent, dtype=al.float64)
        looped = al.while_loop(lambda i, s: i < 1, lambda i, s: (i + 1, s**c), (0, a))[1]
        return [gradients(gradients(p, [a]), [c])[0] for p in (a**c, looped)]

    results = [grad(slope, 1)(np.float64(x), y), staged(np.float64(x), y), captured(np.float64(x))]
    for found in results + al.function(inside, autograph=False)(np.float64(x)):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)
