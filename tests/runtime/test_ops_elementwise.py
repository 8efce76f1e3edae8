"""Elementwise operations: values, dtypes, promotion, templates, slopes."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from api import NO_GRADIENT, OPS, Graph, Tensor, TensorShape, constant, dtypes, ops
from each_case import each
from ops_checks import check_gradient, check_static, computed, pullback

FLOATS = ["float32", "float64"]
INTS = ["int8", "int32", "int64", "uint8"]

#: name -> (NumPy's function, where it is smooth)
UNARY = {
    "negative": (np.negative, (-3, 3)),
    "abs": (np.abs, (0.1, 3)),
    "sign": (np.sign, (0.1, 3)),
    "reciprocal": (lambda x: 1 / x, (0.5, 3)),
    "square": (np.square, (-3, 3)),
    "sqrt": (np.sqrt, (0.1, 3)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (0.1, 3)),
    "cbrt": (np.cbrt, (0.1, 3)),
    "exp": (np.exp, (-3, 3)),
    "expm1": (np.expm1, (-3, 3)),
    "exp2": (np.exp2, (-3, 3)),
    "log": (np.log, (0.1, 3)),
    "log1p": (np.log1p, (0.1, 3)),
    "log2": (np.log2, (0.1, 3)),
    "log10": (np.log10, (0.1, 3)),
    "sin": (np.sin, (-3, 3)),
    "cos": (np.cos, (-3, 3)),
    "tan": (np.tan, (-1, 1)),
    "arcsin": (np.arcsin, (-0.9, 0.9)),
    "arccos": (np.arccos, (-0.9, 0.9)),
    "arctan": (np.arctan, (-3, 3)),
    "sinh": (np.sinh, (-3, 3)),
    "cosh": (np.cosh, (-3, 3)),
    "tanh": (np.tanh, (-3, 3)),
    "arcsinh": (np.arcsinh, (-3, 3)),
    "arccosh": (np.arccosh, (1.1, 3)),
    "arctanh": (np.arctanh, (-0.9, 0.9)),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), (-3, 3)),
    "relu": (lambda x: np.maximum(x, 0), (0.1, 3)),
    "softplus": (lambda x: np.log1p(np.exp(x)), (-3, 3)),
    "erf": (np.vectorize(math.erf), (-2, 2)),
    "floor": (np.floor, (0.1, 0.9)),
    "ceil": (np.ceil, (0.1, 0.9)),
    "trunc": (np.trunc, (0.1, 0.9)),
    "rint": (np.rint, (0.1, 0.4)),
    "round": (np.round, (0.1, 0.4)),
    "real": (np.real, (-3, 3)),
    "conj": (np.conj, (-3, 3)),
    "identity": (lambda x: x, (-3, 3)),
    "nan_to_num": (np.nan_to_num, (-3, 3)),
}
#: name -> (NumPy's function, where the first and the second argument are smooth)
BINARY = {
    "add": (np.add, (-3, 3), (-3, 3)),
    "subtract": (np.subtract, (-3, 3), (-3, 3)),
    "multiply": (np.multiply, (-3, 3), (-3, 3)),
    "divide": (np.divide, (-3, 3), (0.5, 3)),
    "mod": (np.mod, (0.1, 0.9), (1, 2)),
    "pow": (np.power, (0.2, 3), (-2, 2)),
    "maximum": (np.maximum, (0, 1), (1.1, 2)),
    "minimum": (np.minimum, (0, 1), (1.1, 2)),
    "arctan2": (np.arctan2, (0.2, 2), (0.2, 2)),
    "hypot": (np.hypot, (0.2, 2), (0.2, 2)),
    "copysign": (np.copysign, (0.2, 2), (-2, -0.2)),
}


def between(low, high, shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


@each(UNARY)
def test_unary(name):
    reference, (low, high) = UNARY[name]
    f = getattr(ops, name)
    for dtype in FLOATS:
        x = between(low, high, (2, 3), dtype=dtype)
        (y,) = check_static(f, x)
        assert y.dtype == dtype
        np.testing.assert_allclose(y.numpy(), reference(x), rtol=3e-6 if dtype == "float32" else 1e-14)
        (scalar,) = check_static(f, x[0, 0])
        assert isinstance(scalar.numpy(), np.generic)
        np.testing.assert_allclose(scalar.numpy(), y.numpy()[0, 0], rtol=1e-5)
    check_gradient(f, between(low, high, (2, 3)))


@each(BINARY)
def test_binary(name):
    reference, left, right = BINARY[name]
    f = getattr(ops, name)
    for dtype in FLOATS:
        for a_shape, b_shape in [((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2, 2)), ((), ()), ((4,), ())]:
            a, b = between(*left, a_shape, 1, dtype), between(*right, b_shape, 2, dtype)
            (z,) = check_static(f, a, b)
            assert z.dtype == dtype
            np.testing.assert_allclose(z.numpy(), reference(a, b), rtol=1e-6)
    for a_shape, b_shape in [((2, 3), (2, 3)), ((2, 1), (1, 3)), ((), (2,))]:
        check_gradient(f, between(*left, a_shape, 1), between(*right, b_shape, 2))


@each(product(["add", "subtract", "multiply", "floor_divide", "mod", "maximum", "minimum", "pow"], INTS))
def test_integer_arithmetic_keeps_the_dtype(name, dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    a = rng.integers(max(info.min, -100), 100, (3, 4)).astype(dtype)
    b = rng.integers(1, 5, (4,)).astype(dtype)
    (z,) = check_static(getattr(ops, name), a, b)
    assert z.dtype == dtype
    reference = {"pow": np.power, "mod": np.remainder}.get(name) or getattr(np, name)
    np.testing.assert_array_equal(z.numpy(), reference(a, b))


def test_integers_divided_by_zero_are_zero_and_floats_are_silent():
    zero = constant(np.array([0, 0], np.int32))
    assert (ops.floor_divide(constant([3, -3]), zero).numpy() == 0).all()
    assert (ops.mod(constant([3, -3]), zero).numpy() == 0).all()
    assert ops.floor_divide(constant(3), constant(0)).numpy() == 0
    assert np.isinf(ops.divide(constant(1.0), constant(0.0)).numpy())
    assert np.isnan(ops.log(constant(-1.0)).numpy())
    assert ops.add(constant(np.int8(127)), constant(np.int8(1))).numpy() == -128


@each("bool int8 uint8 int16 uint16 int32 int64 uint32 uint64 float16 float32".split())
def test_division_and_mathematics_of_integers(dtype):
    x = np.array([0, 1], dtype)
    for f in (np.exp, np.sqrt, np.mean, np.var, np.sin, lambda v: np.divide(v, v), lambda v: v / 2):
        with np.errstate(all="ignore"):
            assert f(Tensor(x)).dtype == f(x).dtype


# -- logic ------------------------------------------------------------------------------------------------


@each(product(["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"], ["int32", "float32", "bool"]))
def test_comparison(name, dtype):
    a, b = np.array([[0, 1, 2]], dtype), np.array([[0], [2]], dtype)
    (z,) = check_static(getattr(ops, name), a, b)
    assert z.dtype == "bool"
    np.testing.assert_array_equal(z.numpy(), getattr(np, name)(a, b))


@each(["logical_and", "logical_or", "logical_xor"])
def test_logic(name):
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    (z,) = check_static(getattr(ops, name), a, b)
    np.testing.assert_array_equal(z.numpy(), getattr(np, name)(a, b))
    np.testing.assert_array_equal(getattr(ops, name)(a * 2, b * 3.0).numpy(), z.numpy())
    assert ops.logical_not(Tensor(a)).numpy().tolist() == [False, False, True, True]


@each(["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"])
def test_bits(name):
    a, b = np.array([12, 10, 7], np.int32), np.array([2, 3, 1], np.int32)
    (z,) = check_static(getattr(ops, name), a, b)
    np.testing.assert_array_equal(z.numpy(), getattr(np, name)(a, b))
    with pytest.raises(TypeError, match="float32"):
        getattr(ops, name)(Tensor(a.astype(np.float32)), 1.5)
    assert ops.invert(Tensor(a)).numpy().tolist() == [~12, ~10, ~7]
    assert ops.invert(Tensor(np.array([True]))).numpy().tolist() == [False]


def test_questions():
    x = np.array([1.0, np.nan, np.inf])
    for name in ("isnan", "isinf", "isfinite"):
        (y,) = check_static(getattr(ops, name), x)
        np.testing.assert_array_equal(y.numpy(), getattr(np, name)(x))


# -- casts, selection, parts ------------------------------------------------------------------------------


@each(
    product(
        ["bool", "int8", "int64", "float32", "float64", "complex64"],
        ["bool", "int32", "uint8", "float32", "float64", "complex128"],
    )
)
def test_cast(source, target):
    for x in (np.array([0, 1, 2.7]).astype(source), np.array(1.7).astype(source)):
        (y,) = check_static(lambda v: ops.cast(v, target), x)
        expected = (x.real if x.dtype.kind == "c" and np.dtype(target).kind != "c" else x).astype(target)
        np.testing.assert_array_equal(y.numpy(), expected)
        assert y.dtype == target


def test_cast_of_extremes_is_silent():
    assert ops.cast(constant(300), "uint8").numpy() == 44
    assert ops.cast(constant(float("nan")), "int32").dtype == "int32"
    assert ops.cast(constant(1e300, "float64"), "float32").numpy() == np.inf


def test_where():
    c, x, y = np.array([[True], [False]]), np.array([1.0, 2.0]), np.array(5.0)
    (z,) = check_static(ops.where, c, x, y)
    np.testing.assert_array_equal(z.numpy(), np.where(c, x, y))
    check_gradient(lambda x, y: ops.where(c, x, y), x, y)
    assert ops.where(Tensor(c), Tensor(np.float32(1)), 2).dtype == "float32"
    for others in ((), (1,)):
        with pytest.raises(TypeError, match="both x and y; of a condition alone write nonzero"):
            ops.where(Tensor(c), *others)


def test_clip_and_round():
    x = np.array([-1.25, 0.35, 2.75])
    (y,) = check_static(lambda v: ops.clip(v, 0, 1), x)
    np.testing.assert_array_equal(y.numpy(), np.clip(x, 0, 1))
    assert ops.clip(Tensor(x), None, 1).numpy().tolist() == np.clip(x, None, 1).tolist()
    check_gradient(lambda v: ops.clip(v, 0, 1), x)
    np.testing.assert_array_equal(ops.round(Tensor(x), 1).numpy(), np.round(x, 1))
    np.testing.assert_array_equal(ops.round(Tensor(x * 100), -1).numpy(), np.round(x * 100, -1))
    assert round(constant([123, 7]), -1).numpy().tolist() == [120, 10]
    assert ops.floor(constant([3])).dtype == "int32"


def test_complex():
    z = np.array([1 + 2j, -3 - 1j])
    t = Tensor(z)
    np.testing.assert_array_equal(ops.real(t).numpy(), z.real)
    np.testing.assert_array_equal(ops.imag(t).numpy(), z.imag)
    np.testing.assert_array_equal(ops.conj(t).numpy(), z.conj())
    np.testing.assert_allclose(ops.angle(t).numpy(), np.angle(z))
    np.testing.assert_allclose(ops.abs(t).numpy(), np.abs(z))
    assert ops.abs(t).dtype == "float64" and ops.abs(Tensor(z.astype(np.complex64))).dtype == "float32"
    np.testing.assert_array_equal(ops.complex(Tensor(z.real), Tensor(z.imag)).numpy(), z)
    assert ops.imag(constant([1.0])).numpy().tolist() == [0.0]


def test_gradients_through_complex_numbers():
    def f(a, b):
        z = ops.complex(a, b)
        w = ops.exp(z) * z / (z + 2)
        return ops.real(w), ops.imag(w) * 3.0, ops.abs(w), ops.real(ops.conj(w) * w)

    check_gradient(f, [0.3, -0.5], [0.7, 0.2])
    check_gradient(lambda a: ops.real(ops.cast(ops.cast(a, "complex128") ** 2, "complex128")), [0.3])


def test_gradients_at_corners():
    for x, y in [(0.0, 0.0), (0.0, 2.0), (-2.0, 3.0), (-1.5, 2.0)]:
        graph = Graph()
        p = graph.parameter(dtypes.float64, TensorShape(()))
        with graph.as_default():
            z = p**y
            (g,) = pullback(graph, [z], [graph.constant(np.float64(1))], [p])
        (value,) = computed(graph, [g], [np.float64(x)])
        assert value == pytest.approx(0.0 if y == 0 else y * x ** (y - 1)), (x, y)


def test_stop_gradient_and_ensure_shape():
    check_static(ops.stop_gradient, np.ones(3))
    assert OPS["stop_gradient"].vjp is NO_GRADIENT
    check_gradient(lambda x: ops.ensure_shape(x, [None, 3]), np.ones((2, 3)))
    with pytest.raises(ValueError, match="shape"):
        ops.ensure_shape(constant([1, 2]), [3])
    graph = Graph()
    p = graph.parameter(dtypes.float32, TensorShape(None))
    with graph.as_default():
        q = ops.ensure_shape(p, [None, 2])
    assert q.shape == [None, 2]
    with pytest.raises(ValueError, match=r"declared to have shape \(None, 2\)"):
        q.op.op.kernel(np.ones(3), **q.op.attrs)


# -- doors ------------------------------------------------------------------------------------------------


def test_numpys_functions_lead_here():
    x = constant([0.5, -1.0])
    for f in (np.tanh, np.abs, np.exp, np.negative, np.square, np.sign):
        assert isinstance(f(x), Tensor) and f(x).dtype == "float32"
    assert isinstance(np.add(x, np.float64(2)), Tensor) and (x * np.sqrt(2)).dtype == "float64"
    assert isinstance(np.sum(x, axis=0), Tensor) and isinstance(np.concatenate([x, x]), Tensor)
    assert np.ndim(x) == 1 and np.shape(x) == (2,) and np.size(x) == 2
    assert isinstance(np.where(x > 0, x, 0), Tensor)


def test_public_functions_are_documented():
    for name in ops.__all__:
        f = getattr(ops, name)
        if callable(f):
            assert f.__doc__ and ("Parameters" in f.__doc__ or f.__doc__.startswith("Return the same as")), name
            assert f.__name__ == name or name in ("format_string",), name


def test_string_equality():
    assert ops.equal("a", constant("a")).numpy()
    assert not ops.equal("a", constant("bc")).numpy()


@each(["float16", "float32", "float64", "complex64", "int32", "bool"])
def test_nan_to_num_is_finite(dtype):
    x = np.array([np.nan, np.inf, -np.inf, 1.5]).astype(dtype) if dtype[0] in "fc" else np.array([0, 1]).astype(dtype)
    for options in ({}, {"nan": 2.0, "posinf": 3.0, "neginf": -np.inf}):
        expected = np.nan_to_num(x, **options)
        assert ops.nan_to_num(x, **options).dtype == expected.dtype
        np.testing.assert_array_equal(ops.nan_to_num(x, **options).numpy(), expected)


def test_erf_grows_to_one():
    for x in (np.linspace(0, 6.5, 200_001), np.nextafter(0.84375, [0, 1]), 4 + np.arange(1000) * 2.0**-50):
        values = ops.erf(x).numpy()
        assert np.all(np.diff(values) >= 0) and values.max() <= 1
    assert ops.erf(np.array([6.0]))[0] == 1


@each(["float16", "float32", "float64"])
def test_erf_is_that_of_the_c_library(dtype):
    x = np.concatenate(
        [np.linspace(-7, 7, 5001), np.linspace(0.83, 0.86, 503), [5e-324, -0.0, np.inf, -np.inf, np.nan]]
    )
    x = x.astype(dtype).reshape(7, -1)
    expected = np.array([math.erf(value) for value in x.ravel().tolist()]).astype(dtype).reshape(x.shape)
    got = ops.erf(x).numpy()
    assert got.dtype == dtype
    np.testing.assert_array_max_ulp(got, expected, 2)
    np.testing.assert_array_equal(ops.erf(-x).numpy(), -got)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
    assert ops.erf(x[3, 5]).numpy() == expected[3, 5] and ops.erf(x[:, :0]).shape == (7, 0)
