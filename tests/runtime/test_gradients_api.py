"""The public functions that take derivatives: what they give, and what they refuse."""

from __future__ import annotations

from typing import NamedTuple

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
import pytest
from autoloop.differentiation import (
    GradientTape,
    custom_gradient,
    grad,
    gradients,
    hessian_vector_product,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from each_case import each

X = np.array([1.0, 2.0, 3.0])


def powered(x, n):
    y = al.ones_like(x)
    i = al.constant(0)
    while i < n:
        y = y * x
        i += 1
    return y


def both(f, *args):
    """``f(*args)`` on values and inside a function, which must agree."""
    eager = al.nest.map_structure(np.asarray, f(*args))
    traced = al.nest.map_structure(np.asarray, al.function(f)(*args))
    al.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), eager, traced)
    return eager


# -- grad and value_and_grad ------------------------------------------------------------------------------


def test_grad_of_a_loop_eagerly_inside_a_function_and_of_a_function():
    for f in (powered, al.function(powered)):
        assert both(grad(f), 2.0, 5) == 80
        value, slope = both(value_and_grad(f), 2.0, 5)
        assert (value, slope) == (32, 80)


def test_grad_of_grad():
    for f in (powered, al.function(powered)):
        assert both(grad(grad(f)), 2.0, 5) == 160
        assert both(grad(grad(grad(f))), 2.0, 5) == 240


def test_argnums():
    f = lambda x, y: al.sum(x * x * y)
    np.testing.assert_allclose(both(grad(f, 1), X, 2.0), 14)
    gx, gy = both(grad(f, (0, 1)), X, X)
    np.testing.assert_allclose(gx, 2 * X * X)
    np.testing.assert_allclose(gy, X * X)
    with pytest.raises(ValueError, match="argnums names argument 2"):
        grad(f, 2)(X, X)


@pytest.mark.parametrize("argnums", ["x", ["x"], 1.5, None])
@pytest.mark.parametrize("of", [al.grad, al.value_and_grad, al.jacobian])
def test_argnums_that_are_no_numbers_are_refused_at_once(of, argnums):
    with pytest.raises(TypeError, match="argnums is the number of an argument, or a sequence of such"):
        of(lambda x: al.sum(x), argnums)


@pytest.mark.parametrize("other", [None, "b"])
def test_what_no_derivative_goes_by_is_refused_by_its_place(other):
    with pytest.raises(TypeError, match=f"argument 0 is or holds {other!r}"):
        al.grad(lambda p: al.sum(p["a"]))({"a": X, "b": other})


def test_structures_of_arguments():
    class Pair(NamedTuple):
        w: object
        b: object

    f = lambda p, x: al.sum(p["layer"].w * x) + p["layer"].b
    g = both(grad(f), {"layer": Pair(X, 1.0)}, X)
    assert isinstance(g["layer"], Pair)
    np.testing.assert_allclose(g["layer"].w, X)
    assert g["layer"].b == 1


def test_auxiliary_results_and_keywords():
    f = lambda x, *, scale: (al.sum(x) * scale, {"x": x})
    (value, aux), g = value_and_grad(f, has_aux=True)(X, scale=2.0)
    assert float(value) == 12
    np.testing.assert_allclose(aux["x"], X)
    np.testing.assert_allclose(g, 2)
    g, aux = grad(f, has_aux=True)(X, scale=2.0)
    np.testing.assert_allclose(g, 2)
    with pytest.raises(TypeError, match="pair"):
        grad(lambda x: al.sum(x), has_aux=True)(X)


def test_unconnected_arguments_get_zeros():
    np.testing.assert_array_equal(both(grad(lambda x, y: al.sum(y)), X, X), np.zeros(3))


@each([lambda f: f, al.function])
def test_what_grad_refuses(wrap):
    with pytest.raises(TypeError, match="vjp or jacobian"):
        wrap(grad(lambda x: x * 2))(X)
    with pytest.raises(TypeError, match="real scalar"):
        wrap(grad(lambda x: al.cast(al.sum(x), al.int32)))(X)
    with pytest.raises(TypeError, match="real scalar"):
        wrap(grad(lambda x: (al.sum(x), x)))(X)
    with pytest.raises(TypeError, match="floats"):
        wrap(grad(lambda x: x))(al.constant(3))
    with pytest.raises(TypeError, match=r"pass 3\.0"):
        grad(lambda x: x)(3)


def test_only_the_argument_is_differentiated_not_what_the_function_closes_over():
    x = al.constant(3.0)
    assert float(grad(lambda a: a * x)(x)) == 3

    @al.function
    def inside(x):
        return grad(lambda a: a * x)(x)

    assert float(inside(x)) == 3


def test_methods_and_names():
    class Model:
        def loss(self, w):
            """Quadratic."""
            return al.sum(w * w)

    g = grad(Model().loss)
    assert g.__name__ == "loss"
    assert g.__doc__ == "Quadratic."
    np.testing.assert_allclose(g(X), 2 * X)


# -- vjp, jvp, jacobian, hessian_vector_product -----------------------------------------------------------


def test_vjp_may_be_asked_again():
    value, back = vjp(lambda a, b: {"p": a * b, "s": al.sum(a)}, X, X)
    np.testing.assert_allclose(value["p"], X * X)
    for scale in (1.0, 2.0):
        ga, gb = back({"p": scale * np.ones(3), "s": np.float64(1)})
        np.testing.assert_allclose(ga, scale * X + 1)
        np.testing.assert_allclose(gb, scale * X)
    with pytest.raises(TypeError, match="structure of the value"):
        back([X, 1.0])


def test_vjp_inside_a_function():
    @al.function
    def f(x):
        value, back = vjp(lambda a: powered(a, 3), x)
        return value, back(al.ones_like(x))

    value, (g,) = f(X)
    np.testing.assert_allclose(value, X**3)
    np.testing.assert_allclose(g, 3 * X**2)


def test_jvp():
    value, slope = both(lambda x, v: jvp(lambda a: {"y": powered(a, 3), "n": al.size(a)}, [x], [v]), X, np.ones(3))
    np.testing.assert_allclose(value["y"], X**3)
    np.testing.assert_allclose(slope["y"], 3 * X**2)
    assert slope["n"] == 0
    with pytest.raises(TypeError, match="structure of the arguments"):
        jvp(powered, [X, 2], [X])
    with pytest.raises(TypeError, match="floating"):
        jvp(powered, [X, 2], [X, 1])
    with pytest.raises(TypeError, match="direction"):
        jvp(lambda x: x, [X], [np.ones(2)])


def test_jvp_closes_over_variables_and_tapes_see_through_it():
    v = al.Variable(2.0)
    value, slope = jvp(lambda x: x * x * v, [al.constant(3.0)], [al.constant(1.0)])
    assert (float(value), float(slope)) == (18, 12)
    with GradientTape() as tape:
        _, slope = jvp(lambda x: x * x * v, [al.constant(3.0)], [al.constant(1.0)])
    assert float(tape.gradient(slope, v)) == 6


def test_jacobian():
    f = lambda x, y: al.stack([al.sum(x * y), al.sum(x), x[0] * y[1]])
    jx, jy = both(jacobian(f, (0, 1)), X, X)
    np.testing.assert_allclose(jx, [X, np.ones(3), [2, 0, 0]])
    np.testing.assert_allclose(jy, [X, np.zeros(3), [0, 1, 0]])
    np.testing.assert_allclose(both(jacobian(grad(lambda x: al.sum(x**3))), X), np.diag(6 * X))
    with pytest.raises(TypeError, match="known shape"):
        jacobian(lambda x: al.cast(x, al.int32))(X)


def test_jacobians_of_several_results_keep_their_structure():
    f = lambda x, y: al.sum(x * x) * y * y
    (xx, xy), (yx, yy) = both(jacobian(grad(f, (0, 1)), (0, 1)), X, np.float64(3.0))
    np.testing.assert_allclose(xx, 18 * np.eye(3))
    np.testing.assert_allclose([xy, yx], [12 * X, 12 * X])
    np.testing.assert_allclose(yy, 2 * np.sum(X * X))
    of_dict = both(jacobian(lambda x: {"twice": 2 * x, "sum": al.sum(x)}), X)
    np.testing.assert_allclose(of_dict["twice"], 2 * np.eye(3))
    np.testing.assert_allclose(of_dict["sum"], np.ones(3))


def test_jacobians_of_complex_values_by_real_arguments_have_both_parts():
    x = al.constant(X)
    matrix = np.exp(2j * np.arange(3))
    for made in both(jacobian(lambda x: {"y": al.sum(x) * matrix}), X), jacobian(lambda x: {"y": x[0] * matrix})(X):
        np.testing.assert_allclose(np.asarray(made["y"])[:, 0], matrix)
    with GradientTape() as tape:
        tape.watch(x)
        y = al.sum(x) * matrix
    np.testing.assert_allclose(tape.jacobian(y, x)[:, 2], matrix)


def test_jacobians_of_no_elements_and_by_python_numbers():
    assert both(jacobian(lambda x: x[:0]), X).shape == (0, 3)
    assert both(jacobian(lambda x: x[:0] * 1j), X).dtype == np.complex128
    of_float = jacobian(lambda x: x * X)
    for made in of_float(2.0), al.function(lambda x: of_float(x))(2.0):
        assert type(made) is np.ndarray
        np.testing.assert_array_equal(made, X)
    assert type(jacobian(lambda x: x * x)(2.0)) is float


def test_hessian_vector_product():
    f = lambda p: al.sum(powered(p["x"], 3)) * p["y"]
    h = both(lambda x, y: hessian_vector_product(f, {"x": x, "y": y}, {"x": np.ones(3), "y": np.float64(0)}), X, 2.0)
    np.testing.assert_allclose(h["x"], 12 * X)
    np.testing.assert_allclose(h["y"], np.sum(3 * X**2))


# -- gradients --------------------------------------------------------------------------------------------


def test_gradients_in_a_graph():
    with v1.Graph().as_default():
        x, c = v1.placeholder(al.float32, [2]), v1.constant([3.0, 4.0])
        y = al.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x * c), (0, x))[1]
        gx, gc, none = gradients(y, [x, c, v1.constant(1.0)])
        assert none is None
        (weighted,) = gradients(y, x, grad_ys=[[1.0, 0.0]])
        with v1.Session() as session:
            a, b, w = session.run([gx, gc, weighted], {x: [1.0, 2.0]})
    np.testing.assert_allclose(a, 4 * np.array([1, 8]) * np.array([27, 64]))
    np.testing.assert_allclose(b, 3 * np.array([1, 16]) * np.array([9, 16]))
    np.testing.assert_allclose(w, [108, 0])


def test_second_gradient_with_regard_to_a_constant_of_the_graph():
    with v1.Graph().as_default():
        c = v1.constant(2.0)
        y = al.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * c), (0, c))[1]
        (g,) = gradients(y, c)
        (h,) = gradients(g, c)
        with v1.Session() as session:
            assert session.run([y, g, h]) == [16, 32, 48]


def test_stop_gradients_and_intermediate_tensors():
    @al.function
    def f(x):
        a = x * 2.0
        b = a * x
        return gradients(b, [x, a]), gradients(b, [x, a], stop_gradients=[a])

    whole, partial = f(3.0 * np.ones(()))
    assert [float(g) for g in whole] == [12, 3]
    assert [float(g) for g in partial] == [6, 3]


def test_gradient_after_the_loop_ran_and_gradients_again():
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(al.float32, [])
        y = al.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, al.sin(y) * x), (0, x))[1]
        loop = y.op
        with v1.Session() as session:
            before = session.run(y, {x: 0.7})
            (g,) = gradients(y, x)
            first, outputs = session.run(g, {x: 0.7}), len(loop.outputs)
            (again,) = gradients(y, x)
            assert session.run(again, {x: 0.7}) == first
            assert len(loop.outputs) == outputs
            assert session.run(y, {x: 0.7}) == before
        assert graph.get_operations()


def test_gradient_inside_a_loop_body():
    @al.function
    def newton(x):
        i = al.constant(0)
        while i < 6:
            f = x * x * x - 2.0
            (slope,) = gradients(f, [x])
            x = x - f / slope
            i += 1
        return x

    assert abs(float(newton(1.0 * np.ones(()))) - 2 ** (1 / 3)) < 1e-9


def test_gradient_of_an_inner_loop_inside_a_loop_with_regard_to_an_outer_tensor():
    @al.function
    def f(a):
        total = al.zeros_like(a)
        for k in al.range(3):
            y = powered(a, k + 1)
            (g,) = gradients(y, [a])
            total += g
        return total, grad(lambda b: powered(b, 3) + b)(a)

    total, g = f(2.0 * np.ones(()))
    assert float(total) == 1 + 4 + 12
    assert float(g) == 13


def test_gradients_of_values_are_refused():
    with pytest.raises(TypeError, match="GradientTape"):
        gradients(al.constant(1.0), [al.constant(1.0)])


def test_seeds_must_fit():
    @al.function
    def f(x, seed):
        return gradients(x * x, [x], grad_ys=[seed])[0]

    np.testing.assert_allclose(f(X, X), 2 * X * X)
    with pytest.raises(TypeError, match="dtype"):
        f(X, X.astype(np.float32))
    with pytest.raises(ValueError, match="shape"):
        f(X, np.ones(2))
    with pytest.raises(ValueError, match="structure"):
        al.function(lambda x: gradients([x * x], [x], grad_ys=[x, x]))(X)


def test_control_dependencies_do_not_reach_into_finished_loops():
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(al.float32, [])
        y = al.while_loop(lambda y: y < 10.0, lambda y: y * x, [x])[0]
        with graph.control_dependencies([al.add(x, 1.0)]):
            (g,) = gradients(y, x)
        with v1.Session() as session:
            assert session.run(g, {x: 2.0}) == 32


# -- custom gradients -------------------------------------------------------------------------------------


@custom_gradient
def log1pexp(x):
    e = al.exp(x)
    return al.log(1.0 + e), lambda g: g * (1.0 - 1.0 / (1.0 + e))


def test_custom_gradient_is_stable_where_the_plain_one_is_not():
    assert both(grad(log1pexp), 100.0) == 1

    def repeated(x):
        for _ in al.range(3):
            x = log1pexp(x)
        return x

    expected = (repeated(0.3 + 1e-3) - repeated(0.3 - 1e-3)) / 2e-3
    np.testing.assert_allclose(both(grad(repeated), 0.3), np.asarray(expected), rtol=1e-3)


def test_custom_gradient_of_several_arguments_and_results():
    @custom_gradient
    def f(x, y):
        return (x * y, x + y), lambda gp, gs: (10.0 * gp, None)

    gx, gy = both(grad(lambda x, y: al.sum(f(x, y)[0]) + al.sum(f(x, y)[1]), (0, 1)), X, X)
    np.testing.assert_allclose(gx, 10)
    np.testing.assert_allclose(gy, 0)


def test_custom_gradients_are_checked():
    with pytest.raises(TypeError, match="pair"):
        custom_gradient(lambda x: x)(X)
    with pytest.raises((TypeError, ValueError), match="2 gradients for 1"):
        grad(custom_gradient(lambda x: (al.sum(x), lambda g: (g, g))))(X)


def test_stop_gradient():
    assert both(grad(lambda x: x * al.stop_gradient(x)), 3.0) == 3
