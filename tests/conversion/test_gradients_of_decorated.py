"""``grad`` and ``value_and_grad`` of a decorated function, called on values: one graph, run as the function is."""

from __future__ import annotations

import gc
import weakref

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS


def decay(x, n, scale=1.0):
    i = 0
    while i < n:
        x = x - scale * x * x / 10
        i += 1
    return x


def slope(x, n, scale=1.0):
    step, h = [x + 1e-6, x - 1e-6], 2e-6
    return (decay(step[0], n, scale) - decay(step[1], n, scale)) / h


N = np.int64(7)


class Model:
    def __init__(self, executor):
        self.scale = 2.0
        type(self).loss = al.function(Model.plain, executor=executor)

    def plain(self, x, n):
        return decay(x, n, self.scale)


@each(EXECUTORS)
def test_the_loop_of_a_decorated_function(executor):
    f = al.function(decay, executor=executor)
    for x in (np.float64(0.5), al.constant(0.25, al.float64)):
        value, slope_found = al.value_and_grad(f)(x, N)
        assert np.allclose(float(value), decay(float(x), N)) and np.allclose(float(slope_found), slope(float(x), N))
        assert np.allclose(float(al.grad(f)(x, N)), slope(float(x), N))
        assert np.allclose(float(al.grad(f)(x, n=N, scale=2.0)), slope(float(x), N, 2.0))
        assert np.allclose([float(g) for g in al.grad(f, (0, 2))(x, N, 2.0)][0], slope(float(x), N, 2.0))
    assert [w.tracing_count for w in f.with_gradient.values()] == [4, 2]  # of arrays, and of tensors
    numbers = [float(al.grad(f)(k / 4, N)) for k in range(1, 26)]  # so many that calls of the kind go straight
    assert np.allclose(numbers, [slope(k / 4, N) for k in range(1, 26)])
    assert [w.tracing_count for w in f.with_gradient.values()] == [5, 2]  # one for all numbers


@each(EXECUTORS)
def test_what_else_may_be_decorated(executor):
    spec = [al.TensorSpec([], al.float64), al.TensorSpec([], al.int64)]
    signed = al.function(decay, input_signature=spec, executor=executor)
    assert np.allclose(float(al.grad(signed)(np.float64(0.5), N)), slope(0.5, N))

    pair = al.function(lambda x, n: (decay(x, n), {"twice": 2 * x, "word": "kept"}), executor=executor)
    found, aux = al.grad(pair, has_aux=True)(np.float64(0.5), N)
    assert np.allclose(float(found), slope(0.5, N)) and float(aux["twice"]) == 1 and aux["word"] == "kept"

    nested = al.function(lambda p, n: decay(p["a"], n) * p["b"][0], executor=executor)
    found = al.grad(nested)({"a": np.float64(0.5), "b": [np.float64(3)]}, N)
    assert np.allclose(float(found["a"]), 3 * slope(0.5, N)) and np.allclose(float(found["b"][0]), decay(0.5, N))

    model = Model(executor)
    assert np.allclose(float(al.grad(model.loss)(np.float64(0.5), N)), slope(0.5, N, 2.0))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_a_recorder_around_it_sees_it():
    f = al.function(decay)
    x = al.constant(0.5, al.float64)
    with al.GradientTape() as tape:
        tape.watch(x)
        first = al.grad(f)(x, N)
    second = tape.gradient(first, x)
    assert np.allclose(float(second), (slope(0.5 + 1e-3, N) - slope(0.5 - 1e-3, N)) / 2e-3, 1e-4)
    assert np.allclose(float(al.grad(al.grad(f))(x, N)), float(second))


def test_refusals_are_the_same():
    f = al.function(lambda x, n: decay(x, n) * np.ones(2))
    with pytest.raises(TypeError, match="grad needs a function that returns a real scalar"):
        al.grad(f)(np.float64(1), N)
    with pytest.raises(TypeError, match="argument 1 has dtype int64; derivatives are taken with regard to floats"):
        al.grad(f, 1)(np.float64(1), N)
    with pytest.raises(ValueError, match="argnums names argument 2, the function was called with 2"):
        al.grad(f, 2)(np.float64(1), N)


def test_an_argument_that_the_function_finds_besides_is_differentiated_alone():
    world = np.array([[1.0, 2.0], [3.0, 5.0]])

    def of_graph(x):
        return al.gradients(np.sum(x @ world), [x])[0]

    def of_tape(x):
        with al.GradientTape() as tape:
            tape.watch(x)
            made = np.sum(x @ world)
        return tape.gradient(made, x)

    for function in (of_graph, of_tape):
        f = al.function(function, executor="sequential")
        for _ in range(2):
            for given in (world, world.copy(), world[:]):
                assert f(given).tolist() == np.tile(world.sum(1), (2, 1)).tolist()
            world[0] += 1

    with pytest.raises(TypeError, match="an argument shares memory with 'world', which the function finds besides"):
        al.function(lambda x: al.gradients(np.sum(x @ world), [world])[0])(world)


def test_directions_of_a_decorated_function_and_its_gradient_are_traced_once():
    f = al.function(lambda x: np.sum(x**3))
    slope = al.grad(f)
    for k in range(4):
        x, v = np.array([1.0, 2.0]) + k, np.array([0.5, -1.0])
        for found in (al.jvp(slope, (x,), (v,))[1], al.hessian_vector_product(f, x, v)):
            assert type(found) is np.ndarray
            np.testing.assert_allclose(found, 6 * x * v)
    made = (slope.as_decorated.function(), "jvp"), (f, "hessian_vector_product")
    assert [one.with_gradient[name].tracing_count for one, name in made] == [1, 1]
    assert type(al.hessian_vector_product(f, al.constant([1.0]), al.constant([2.0]))) is al.Tensor
    assert al.hessian_vector_product(lambda x: x**3, 2.0, 3.0) == 36.0
