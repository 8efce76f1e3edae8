"""vmap, fori_loop and matrices of derivatives: the values of NumPy's loops, and of derivatives written out."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import autoloop as al
import numpy as np
import pytest
from each_case import each

A = np.linspace(-1.0, 2.0, 12).reshape(4, 3)
B = np.linspace(0.5, 1.5, 12).reshape(3, 4)
W = np.linspace(-1.0, 1.0, 6).reshape(3, 2)


def halved(x):
    while np.sum(x) > 1:
        x = x / 2
    return x


ROWS = {
    "elements": (lambda x, y: np.sin(x) * y, (0, 1), 0),
    "product": (lambda x, y: np.tanh(x @ W) + y[0], (0, 1), 1),
    "not mapped": (lambda x, y: x.sum() + y, (0, None), 0),
    "last axis": (lambda x, y: x * y[0, 0], (-1, None), 0),
    "loop": (lambda x, y: halved(x) + y.max(), (0, 1), 0),
    "several": (lambda x, y: {"a": x - y, "b": (x.max(), 1.0 * y)}, (0, 1), 0),
}


@each(ROWS)
def test_vmap_gives_what_a_loop_over_rows_gives(name):
    f, axes, out = ROWS[name]
    count = next(x.shape[axis] for x, axis in zip((A, B), axes) if axis is not None)
    rows = [f(*[x if axis is None else np.take(x, k, axis) for x, axis in zip((A, B), axes)]) for k in range(count)]
    wanted = al.nest.map_structure(lambda *parts: np.stack(parts, out), *rows)
    mapped = al.vmap(f, axes, out)
    for found in (mapped(A, B), al.function(mapped)(A, B), al.function(lambda x, y: mapped(x, y))(A, B)):
        al.nest.assert_same_structure(found, wanted)
        for x, y in zip(al.nest.flatten(found), al.nest.flatten(wanted)):
            np.testing.assert_allclose(x, y, rtol=1e-12)
            assert isinstance(x, np.ndarray) and x.dtype == y.dtype


def test_vmap_in_vmap_and_with_gradients():
    outer = al.vmap(al.vmap(lambda x, y: np.exp(x) * y, (0, None)), (None, 0))
    np.testing.assert_allclose(outer(A[0], A[:, 1]), np.exp(A[0])[None] * A[:, 1][:, None])
    each_gradient = al.vmap(al.grad(lambda x: np.sum(np.sin(x) ** 2)))
    np.testing.assert_allclose(each_gradient(A), 2 * np.sin(A) * np.cos(A))
    of_map = al.grad(lambda a: np.sum(al.vmap(lambda r: np.sin(r).sum() ** 2)(a)))
    np.testing.assert_allclose(of_map(A), 2 * np.sin(A).sum(1, keepdims=True) * np.cos(A))
    by_name = al.vmap(lambda x, y: x["a"] + x["b"] * y, in_axes=({"a": 0, "b": None},))
    np.testing.assert_allclose(by_name({"a": A, "b": 2.0}, y=A), A + 2 * A)
    in_order = al.vmap(lambda x: x["b"] - x["a"], in_axes=({"a": None, "b": np.int64(0)},))
    np.testing.assert_array_equal(in_order(OrderedDict(b=A, a=1.0)), A - 1)  # b is its first leaf
    assert isinstance(al.vmap(lambda x: x * 2)(al.constant(A)), al.Tensor)


def test_what_vmap_refuses():
    for call, words in (
        (lambda: al.vmap(lambda x: x, None)(A), "at least one"), (lambda: al.vmap(np.add)(A, B), "different extents"),
        (lambda: al.vmap(np.sin, 2)(A), "no axis 2"), (lambda: al.vmap(np.sin)(3.0), "no axis 0"),
        (lambda: al.vmap(np.add, (0,))(A, A), r"in_axes says \(0,\) of 2 arguments"),
        (lambda: al.vmap(np.sin, ([0, 0],))(A), r"vmap: in_axes says \[0, 0\] of one ndarray"),
        (lambda: al.vmap(dict, ({"b": 0},))({"a": A}), r"{'b': 0} of a dict with the keys \['a'\]"),
        (lambda: al.vmap(dict, ({"b": 0, "a": 0},))([A, A]), "of 2 elements; an axis is an integer or None"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="a function is needed"):
        al.vmap(3)
    with pytest.raises(TypeError, match="out_axes"):
        al.vmap(np.sin, 0, None)


def test_fori_loop():
    assert al.fori_loop(2, 5, lambda i, v: v * i, 1).numpy() == 24
    made = al.fori_loop(3, 1, lambda i, v: {"a": v["a"] * 2}, {"a": 2.0})
    assert made["a"].numpy() == 2
    power = al.function(lambda x, n: al.fori_loop(0, n, lambda i, v: v * x, al.ones([3], x.dtype)))
    np.testing.assert_allclose(power(A[0], 3), A[0] ** 3)
    np.testing.assert_allclose(al.grad(lambda x: al.sum(power(x, 3)))(al.constant(A[1])), 3 * A[1] ** 2)
    for call, error in (
        (lambda: al.fori_loop(0.0, 3, lambda i, v: v, 1), TypeError), (lambda: al.fori_loop(0, 3, 4, 1), TypeError),
        (lambda: al.fori_loop(0, 3, lambda i, v: v * 1.5, 1), TypeError),
        (lambda: al.fori_loop(0, 3, lambda i, v: al.concat([v, v]), al.ones([2])), ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            call()


def test_the_turns_of_a_fori_loop_are_numbered_by_integers():
    with pytest.raises(TypeError, match="no integer holds both bounds, int64 and uint64"):
        al.fori_loop(np.int64(0), np.uint64(3), lambda i, v: i, 0.0)  # NumPy's dtype for both is float64


def cubes(x):
    return np.stack([x[0] * x[1], np.sin(x[2]), np.sum(x**3)])


def test_matrices_of_derivatives():
    x = np.array([1.0, 2.0, 3.0])
    wanted = np.array([[2, 1, 0], [0, 0, np.cos(3)], 3 * x**2])
    for f in (al.jacrev, al.jacfwd, al.jacobian):
        np.testing.assert_allclose(f(cubes)(x), wanted, rtol=1e-12)
        np.testing.assert_allclose(al.function(f(cubes))(x), wanted, rtol=1e-12)
        both = f(lambda a, b: a * b**2, (0, 1))(x, 2 * x)
        np.testing.assert_allclose(both[1], np.diag(2 * x * 2 * x))
    assert al.jacfwd(lambda s: s**2)(3.0) == 6
    np.testing.assert_allclose(al.jacfwd(lambda m: m @ m)(np.eye(2)), al.jacrev(lambda m: m @ m)(np.eye(2)))
    found = al.hessian(lambda x: np.sum(x**3) * x[0])(x)
    step = 1e-6
    gradient = al.grad(lambda x: np.sum(x**3) * x[0])
    numeric = [(gradient(x + step * e) - gradient(x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-6)
    assert al.hessian(cubes)(x).shape == (3, 3, 3) and al.hessian(lambda s: s**3)(2.0) == 12
    with pytest.raises(TypeError, match="floating arguments"):
        al.jacfwd(lambda n: n * 2.0)(np.arange(3))


@each([al.jacfwd, al.jacrev])
def test_derivatives_are_of_the_kind_of_the_function(of):
    for x in (3.0, np.float64(3), np.float32(3), np.array(3.0), al.constant(3.0)):
        assert type(of(lambda x: x**2)(x)) is type(al.grad(lambda x: x**2)(x))
    assert of(lambda x: x)(np.ones(0)).shape == (0, 0)
    with pytest.raises(TypeError, match="floating tensors"):
        of(np.argmax)(np.ones(3))
    with pytest.raises(ValueError, match="argument 2, the function was called with 1"):
        of(np.sin, 2)(1.0)


@each([al.jacfwd, al.jacrev, al.hessian])
def test_complex_arguments_are_refused_as_by_jax(of):
    # a row of jacobian's is the gradient of a real part, which for x**2 is the conjugate of the derivative
    for x in (1j, np.complex64(1j), np.array([1j]), al.constant(1j)):
        with pytest.raises(TypeError, match="floating arguments|no complex arguments"):
            of(lambda x: np.sum(x**2))(x)


@each([al.vmap, al.jacfwd, al.jacrev, al.hessian])
def test_transformed_functions_are_copied_and_pickled_by_what_they_were_made_of(of):
    made = of(module_function)
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(again(A[0]), made(A[0]))


@al.function
def module_function(x):
    return np.sin(x)
