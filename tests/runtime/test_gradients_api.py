"""The public functions that take derivatives: what they give, and what they refuse."""

from __future__ import annotations

import threading
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


# -- tapes ------------------------------------------------------------------------------------------------


def test_tape():
    x, y = al.constant(3.0), al.constant(2.0)
    with GradientTape() as tape:
        tape.watch([x])
        z = x * x * y
    assert [None if g is None else float(g) for g in tape.gradient(z, [x, y])] == [12, None]
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(z, x)


def test_persistent_tape_structures_seeds_and_zeros():
    x, y = al.constant(X), al.constant(X)
    with GradientTape(persistent=True) as tape:
        tape.watch({"x": x, "y": y})
        z = {"p": x * y, "s": x}
    g = tape.gradient(z, {"x": x, "y": y}, output_gradients={"p": X, "s": np.ones(3)})
    np.testing.assert_allclose(g["x"], X * X + 1)
    np.testing.assert_allclose(g["y"], X * X)
    assert tape.gradient(z["s"], y) is None
    np.testing.assert_array_equal(tape.gradient(z["s"], y, unconnected_gradients="zero"), np.zeros(3))
    np.testing.assert_allclose(tape.jacobian(z["p"], x), np.diag(X))


def test_tape_inside_its_own_block_differentiates_again():
    x = al.constant(3.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        g = tape.gradient(x * x * x, x)
    assert float(tape.gradient(g, x)) == 18


def test_variables_are_watched():
    v, fixed = al.Variable(3.0), al.Variable(2.0, trainable=False)
    with GradientTape() as tape:
        y = v * v * fixed
    assert float(tape.gradient(y, v)) == 12
    with GradientTape() as tape:
        y = v * v * fixed
    assert tape.gradient(y, fixed) is None
    with GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    with GradientTape() as tape:
        y = v * v
        assert tape.watched_variables() == (v,)


def test_stop_recording_and_reset():
    x = al.constant(3.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = x * y
        w = x * z
    assert float(tape.gradient(w, x)) == 27
    tape.reset()
    assert tape.gradient(w, x) is None
    with tape, pytest.raises(ValueError, match="already"):
        tape.__enter__()
    with pytest.raises(TypeError, match="tape watches"):
        tape.watch(3)


def test_tape_over_a_function_call_with_variables_in_a_loop():
    v = al.Variable(2.0)

    @al.function
    def f(x, n):
        for _ in al.range(n):
            x = al.cond(x > 0.0, lambda: x * v, lambda: x)
        return x, n

    x = al.constant(1.5)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y, _ = f(x, al.constant(3))
        gx, gv = inner.gradient(y, [x, v])
    assert (float(y), float(gx), float(gv)) == (12, 8, 18)
    assert [float(g) for g in outer.gradient(gv, [x, v])] == [12, 18]


def test_tape_over_a_loop_outside_any_function():
    x = al.constant(1.5)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = al.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * x), (0, x))[1]
        g = inner.gradient(y, x)
    assert float(g) == 4 * 1.5**3
    assert float(outer.gradient(g, x)) == 12 * 1.5**2


def test_a_function_is_run_once_under_a_tape():
    seen = []

    @al.function
    def f(x):
        al.py_function(lambda: seen.append(1), [], [])
        return x * x

    x = al.constant(3.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 6
    assert seen == [1]


def test_tape_inside_a_function_counts_what_is_built_inside_it():
    @al.function
    def f(x):
        before = x * x
        with GradientTape() as tape:
            tape.watch([x, before])
            y = before * x
        return tape.gradient(y, [x, before])

    gx, gb = f(al.constant(3.0))
    assert (float(gx), float(gb)) == (9, 3)


def test_tape_around_a_converted_loop_inside_a_function():
    v = al.Variable(2.0)

    @al.function
    def step(x):
        with GradientTape() as tape:
            y = x
            for _ in al.range(3):
                y = y * v
        g = tape.gradient(y, v)
        v.assign_sub(0.1 * g)
        return g

    assert float(step(al.constant(1.0))) == 12
    np.testing.assert_allclose(np.asarray(v), 0.8, rtol=1e-6)


def test_threads_have_tapes_of_their_own():
    results = {}

    def work(k):
        x = al.constant(float(k))
        for _ in range(20):
            with GradientTape() as tape:
                tape.watch(x)
                y = al.function(powered)(x, 3)
            results[k] = float(tape.gradient(y, x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: 3.0 * k * k for k in range(1, 5)}


# -- sparse values ------------------------------------------------------------------------------------------


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
