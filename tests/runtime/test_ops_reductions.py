"""Reductions, running sums, softmax: values, dtypes, static shapes, slopes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from api import Graph, Tensor, TensorShape, constant, dtypes, ops
from each_case import each
from ops_checks import check_gradient, check_static, computed, pullback

X = np.random.default_rng(0).normal(size=(2, 3, 4))
AXES = [None, 0, -1, (0, 2), (), (0, 1, 2)]


@each(product(["sum", "prod", "max", "min", "mean", "var", "std", "logsumexp", "norm"], AXES, [False, True]))
def test_reduction(name, axis, keepdims):
    reference = {
        "logsumexp": lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
        "norm": lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)),
    }.get(name) or getattr(np, name)
    f = lambda x: getattr(ops, name)(x, axis=axis, keepdims=keepdims)
    (y,) = check_static(f, X)
    np.testing.assert_allclose(y.numpy(), reference(X, axis=axis, keepdims=keepdims), rtol=1e-12)
    if not (axis == () and name in ("var", "std")):
        check_gradient(f, X, rtol=1e-4)


@each(
    product(
        ["sum", "prod", "max", "min", "cumsum", "cumprod"],
        ["bool", "int8", "int32", "int64", "uint8", "float32", "float16"],
    )
)
def test_dtypes_of_sums_and_products(name, dtype):
    x = np.array([[1, 0, 1], [1, 1, 1]], dtype)
    (y,) = check_static(lambda v: getattr(ops, name)(v, axis=1), x)
    wide = {"bool": "int32", "int8": "int32", "uint8": "uint32"}
    assert y.dtype == (dtype if name in ("max", "min") else wide.get(dtype, dtype))
    np.testing.assert_array_equal(y.numpy(), getattr(np, name)(x.astype(int), axis=1))


def test_overflow_wraps():
    large = constant(np.array([2**31 - 1, 1], np.int32))
    assert ops.sum(large).numpy() == -(2**31) and np.sum(large).numpy() == 2**31


@each(["any", "all"])
def test_truth(name):
    x = np.array([[True, False], [True, True]])
    for axis in (None, 0, (0, 1)):
        (y,) = check_static(lambda v: getattr(ops, name)(v, axis), x)
        np.testing.assert_array_equal(y.numpy(), getattr(np, name)(x, axis))
    assert getattr(ops, name)(constant([0, 1])).dtype == "bool"


@each(["argmax", "argmin"])
def test_positions(name):
    x = X.round(1)
    for axis in (None, 0, 2, -2):
        for keepdims in (False, True):
            (y,) = check_static(lambda v: getattr(ops, name)(v, axis, keepdims), x)
            assert y.dtype == "int64"
            np.testing.assert_array_equal(y.numpy(), getattr(np, name)(x, axis, keepdims=keepdims))
    with pytest.raises(ValueError, match="one integer"):
        getattr(ops, name)(Tensor(x), (0, 1))


def test_means():
    assert ops.mean(constant([1, 2])).dtype == "float64"
    assert ops.mean(constant(np.array([True, False]))).numpy() == np.float32(0.5)
    assert ops.mean(constant(np.full(1000, 1000, np.float16))).numpy() == 1000
    assert np.isnan(ops.mean(ops.zeros([0])).numpy())
    assert ops.sum(ops.zeros([0, 3]), axis=0).numpy().tolist() == [0, 0, 0]
    np.testing.assert_allclose(ops.var(Tensor(X), 1, ddof=1).numpy(), np.var(X, 1, ddof=1))
    np.testing.assert_allclose(np.std(Tensor(X), axis=0).numpy(), np.std(X, axis=0))


def test_ties_share_the_gradient():
    graph = Graph()
    p = graph.parameter(dtypes.float64, TensorShape([3]))
    with graph.as_default():
        (g,) = pullback(graph, [ops.max(p)], [graph.constant(np.float64(1))], [p])
    (value,) = computed(graph, [g], [np.array([2.0, 1.0, 2.0])])
    assert value.tolist() == [0.5, 0, 0.5]


def test_product_with_zeros_has_a_gradient():
    for x in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [[1.0, 0.0], [2.0, 3.0]]):
        check_gradient(ops.prod, x)
    check_gradient(lambda x: ops.prod(x, 0), [[1.0, 0.0], [2.0, 3.0]], blurs=["exact", "extents unknown"])


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_running(axis, reverse, exclusive):
    for name in ("cumsum", "cumprod"):
        f = lambda x: getattr(ops, name)(x, axis, exclusive=exclusive, reverse=reverse)
        (y,) = check_static(f, X)
        flat, along = (X.reshape(-1), 0) if axis is None else (X, axis)
        expected = np.flip(flat, along) if reverse else flat
        expected = getattr(np, name)(expected, axis=along)
        if exclusive:
            expected = np.roll(expected, 1, along)
            first = [slice(None)] * expected.ndim
            first[along] = 0
            expected[tuple(first)] = 0 if name == "cumsum" else 1
        expected = np.flip(expected, along) if reverse else expected
        np.testing.assert_allclose(y.numpy(), expected)
        check_gradient(f, X[0, :, :2], rtol=1e-4)
    assert ops.cumsum(ops.zeros([0]), 0, exclusive=True).shape == [0]


@each([-1, 0, 1])
def test_softmax(axis):
    e = np.exp(X)
    expected = e / e.sum(axis=axis, keepdims=True)
    (y,) = check_static(lambda x: ops.softmax(x, axis), X)
    np.testing.assert_allclose(y.numpy(), expected)
    (z,) = check_static(lambda x: ops.log_softmax(x, axis), X)
    np.testing.assert_allclose(z.numpy(), np.log(expected))
    check_gradient(lambda x: ops.softmax(x, axis), X[:, :, :2])
    check_gradient(lambda x: ops.log_softmax(x, axis), X[:, :, :2])


def test_large_numbers():
    big = constant([1000.0, 1000.0])
    assert ops.softmax(big).numpy().tolist() == [0.5, 0.5]
    assert ops.logsumexp(big).numpy() == np.float32(1000 + np.log(2))
    assert ops.logsumexp(constant([-np.inf, -np.inf])).numpy() == -np.inf
    assert ops.sigmoid(constant([-1000.0, 1000.0])).numpy().tolist() == [0, 1]
    assert ops.softplus(constant(1000.0)).numpy() == 1000


@each([None, 1, 2, 3, np.inf, -np.inf])
def test_norm(order):
    v = X[0, 0]
    np.testing.assert_allclose(ops.norm(Tensor(v), order).numpy(), np.linalg.norm(v, order))
    np.testing.assert_allclose(ops.norm(Tensor(v * 1j), order).numpy(), np.linalg.norm(v * 1j, order))
    check_gradient(lambda x: ops.norm(x, order, axis=1), X[0])


def test_wrong_axes():
    with pytest.raises(ValueError, match="sum: axis 3 is out of range.*rank 3"):
        ops.sum(Tensor(X), 3)
    with pytest.raises(ValueError, match="twice"):
        ops.sum(Tensor(X), (1, -2))
    with pytest.raises(TypeError, match="axis"):
        ops.sum(Tensor(X), "x")
    assert ops.sum(Tensor(X), constant([0, 1])).shape == [4]
    with pytest.raises(TypeError):
        ops.sum(constant("abc"))


def test_second_derivatives_exist():
    check_gradient(lambda x: _slope(lambda v: ops.sum(ops.exp(v) * v, 0), x), X[0], blurs=["exact", "extents unknown"])
    check_gradient(lambda x: _slope(ops.logsumexp, x), X[0], blurs=["exact"])
    check_gradient(lambda x: _slope(ops.softmax, x), X[0], blurs=["exact"])


ZEROS = np.array([[[2.0, 0.0, 3.0, -1.5], [0.0, 0.0, 1.0, 2.0]], [[1.0, 2.0, 0.5, 0.0], [0.0, 1.0, 0.0, 4.0]]])


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_products_of_zeros(axis, exclusive, reverse):
    def f(x):
        return ops.cumprod(x, axis, exclusive, reverse)

    check_gradient(f, ZEROS, blurs=["exact", "extents unknown", "rank unknown"])
    check_gradient(lambda x: _slope(f, x), ZEROS[:, :, :2], blurs=["exact"])
    check_gradient(f, ZEROS[:, :0], blurs=["exact"])


@each([(axes,) for axes in [None, 0, 1, (0, 2), (0, 1, 2)]])
def test_products_of_zeros(axis):
    check_gradient(lambda x: ops.prod(x, axis), ZEROS, blurs=["exact", "extents unknown"])
    check_gradient(lambda x: _slope(lambda v: ops.prod(v, axis), x), ZEROS[:, :1, 1:], blurs=["exact"])


def test_running_products_of_complex_zeros():
    x, weights = np.array([1 + 2j, 0, 3 - 1j, 0.5j]), np.array([1.0, -2j, 0.5 + 1j, 3.0])
    graph = Graph()
    p = graph.parameter(x.dtype, TensorShape([4]))
    with graph.as_default():
        (g,) = pullback(graph, [ops.cumprod(p, 0)], [graph.constant(weights)], [p])
    (found,) = computed(graph, [g], [x])
    for k in range(4):
        others = [np.prod(np.delete(x[: j + 1], k)) if j >= k else 0 for j in range(4)]
        np.testing.assert_allclose(found[k], np.sum(weights * np.conj(others)), rtol=1e-12)


def _slope(f, x):
    """The gradient of ``sum(f(x) ** 2)``, by the reverse walk, eagerly and in a graph."""
    if x.node is not None:
        y = f(x)
        return pullback(x.graph, [y], [2 * y], [x])[0]
    graph = Graph()
    p = graph.parameter(x.dtype, x.shape)
    with graph.as_default():
        y = f(p)
        (g,) = pullback(graph, [y], [2 * y], [p])
    return Tensor(computed(graph, [g], [x.numpy()])[0])
