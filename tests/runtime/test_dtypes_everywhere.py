"""Dtypes and values of element-wise functions and reductions are NumPy's, at once and by every executor."""

from __future__ import annotations

from itertools import product

import numpy as np
from api import Tensor, call, constant, dtypes
from autoloop import function
from autoloop.differentiation import grad, jvp
from each_case import each
from examples import examples
from executors import EXECUTORS
from hypothesis import given, settings
from hypothesis import strategies as st

REAL = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
COMPLEX = ["complex64", "complex128"]
UNARY = (
    "negative absolute fabs sign square exp expm1 exp2 log log1p log2 log10 sqrt cbrt sin cos tan arcsin arctan sinh "
    "cosh tanh arcsinh arctanh floor ceil trunc rint round isnan isinf isfinite logical_not invert mean var std max "
    "min any all argmax sum"
).split()
BINARY = (
    "add subtract multiply divide floor_divide mod power maximum minimum less less_equal equal not_equal greater "
    "greater_equal bitwise_and bitwise_or bitwise_xor left_shift right_shift arctan2 hypot copysign logaddexp "
    "logical_and logical_or logical_xor"
).split()
OPERANDS = np.array([0, 1, 2, 3, 5, 7, 1, 100]), np.array([1, 2, 0, 1, 3, 2, 5, 7])
NUMBERS = [True, 2, 0, 2.5, 1j, np.float64(2.5), np.float32(0.5), np.int64(3), np.uint8(2), [1, 2, 3, 4, 5, 6, 7, 8]]
#: what 4 ulp per operation come to, with some to spare for functions of half precision
NEAR = {"e": 4e-3, "f": 2e-6, "d": 1e-13, "F": 2e-6, "D": 1e-13}


def programs(kinds):
    """A NumPy function and its operands: arrays or scalars of some dtypes, Python's and NumPy's numbers, lists."""
    dtypes_ = st.sampled_from(kinds)
    unary = st.tuples(st.sampled_from(UNARY), st.tuples(dtypes_), st.booleans())
    binary = st.tuples(st.sampled_from(BINARY), st.tuples(dtypes_, dtypes_), st.booleans())
    mixed = st.tuples(st.sampled_from(BINARY), st.tuples(dtypes_, st.sampled_from(NUMBERS)), st.just(False))
    return st.one_of(unary, binary, mixed, binary)


def operands(kinds, as_scalars):
    made = [v.astype(k) if isinstance(k, str) else k for k, v in zip(kinds, OPERANDS)]
    return [v[4] if as_scalars and isinstance(v, np.ndarray) else v for v in made]


def outcome(f, xs):
    try:
        with np.errstate(all="ignore"):
            return f(*xs)
    except (TypeError, OverflowError, ValueError) as refused:
        return next(kind for kind in (OverflowError, ValueError, TypeError) if isinstance(refused, kind))


def compare(found, wanted, what):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), what
    near = NEAR.get(wanted.dtype.char)
    if near is None:
        np.testing.assert_array_equal(found, wanted, err_msg=str(what))
    else:
        np.testing.assert_allclose(found, wanted, rtol=near, atol=near * 1e-3, err_msg=str(what))


def check(drawn, executors):
    """Compare programs that NumPy takes: each at once, and all of them as one graph of each executor."""
    taken = []
    for name, kinds, as_scalars in drawn:
        f, xs = getattr(np, name), operands(kinds, as_scalars)
        wanted = outcome(f, xs)
        tensors = [Tensor(x) if isinstance(k, str) else x for x, k in zip(xs, kinds)]
        eager = outcome(f, tensors)
        if isinstance(wanted, type):
            assert eager is wanted, (name, kinds, wanted, eager)
            continue
        compare(eager, wanted, ("eager", name, kinds))
        taken.append((name, kinds, tensors, wanted))

    def body(*given):
        values = iter(given)
        return [getattr(np, name)(*[next(values) if isinstance(k, str) else x for x, k in zip(xs, kinds)])
                for name, kinds, xs, _ in taken]  # fmt: skip

    given = [x for _, kinds, xs, _ in taken for x, k in zip(xs, kinds) if isinstance(k, str)]
    for executor in executors if given else ():
        for found, (name, kinds, _, wanted) in zip(function(body, executor=executor)(*given), taken):
            compare(found, wanted, (executor, name, kinds))


@settings(max_examples=examples(24), deadline=None)
@given(drawn=st.lists(programs(REAL), min_size=8, max_size=12))
def test_real_numbers(drawn):
    check([one for one in drawn if 1j not in one[1]], EXECUTORS)


@settings(max_examples=examples(24), deadline=None)
@given(drawn=st.lists(programs(REAL + COMPLEX), min_size=8, max_size=16))
def test_real_and_complex_numbers_without_machine_code(drawn):
    ordered = {"max", "min", "argmax", "reciprocal"}
    check([one for one in drawn if one[0] not in ordered], [e for e in EXECUTORS if e != "native"])


@each(REAL + COMPLEX)
def test_every_pair_of_dtypes(a):
    x = OPERANDS[0].astype(a)
    for b in REAL + COMPLEX:
        y = OPERANDS[1].astype(b)
        for name in BINARY:
            wanted, found = (outcome(getattr(np, name), [one, y]) for one in (x, Tensor(x)))
            if isinstance(wanted, type):
                assert found is wanted, (name, a, b, wanted, found)
            else:
                compare(found, wanted, (name, a, b))


# -- gradients of operands that had another dtype ---------------------------------------------------------

X = np.array([0.5, -1.25, 2.0])
MIXED = {
    "bool": lambda x: (x > 0) * x,
    "int": lambda x: np.array([3, -2, 1]) * x * x,
    "small int": lambda x: x / np.array([3, -2, 1], np.int8),
    "unsigned": lambda x: np.array([3, 2, 1], np.uint64) * x,
    "float64": lambda x: np.array([0.5, 1.5, 2.5]) * call("exp", x),
    "float16": lambda x: np.array([0.5, 1.5, 2.5], np.float16) * x,
    "complex": lambda x: call("abs", np.array([1 + 2j, 0.5j, -1]) * x + 1j),
    "Python's complex": lambda x: call("abs", x * 2j + x * x),
    "where": lambda x: call("where", x > 0, x * x, np.array([1, 2, 3])),
    "joined": lambda x: call("concat", [x * x, np.array([1, 2]), np.array([0.5])], 0),
    "assigned": lambda x: call("set_item", np.zeros(3), 1, x[2] * x[0]),
    "converted": lambda x: call("cast", x, np.float64) * call("real", call("cast", x, np.complex128)),
    "mean of ints": lambda x: call("mean", np.array([1, 2, 4])) * x,
}  # fmt: skip

OF_COMPLEX = {"complex", "Python's complex", "converted"}

#: the gradient of a distance takes the sign of a complex number, which has no machine code
OF_SIGNS = {"complex", "Python's complex"}


@each(product(MIXED, ["float16", "float32", "float64"]))
def test_gradients_have_the_dtype_of_what_they_are_taken_of(name, dtype):
    f, x = MIXED[name], X.astype(dtype)

    def loss(x):
        return call("sum", f(x))

    h, near = 1e-6, {"float16": 2e-2, "float32": 1e-5, "float64": 1e-6}[dtype]
    steps = h * np.eye(3)
    wanted = [float(loss(Tensor(X + s)).numpy() - loss(Tensor(X - s)).numpy()) / (2 * h) for s in steps]
    for executor in (None, *(EXECUTORS if dtype == "float32" and name not in OF_SIGNS else ())):
        slope = grad(loss) if executor is None else function(grad(loss), executor=executor)
        found = slope(constant(x))
        assert found.dtype == dtype
        np.testing.assert_allclose(found.numpy(), wanted, rtol=near, atol=near)
    value, along = jvp(loss, [constant(x)], [constant(np.ones(3, dtype))])
    assert along.dtype == value.dtype
    np.testing.assert_allclose(float(along), sum(wanted), rtol=near, atol=near)


def test_a_gradient_with_regard_to_converted_integers():
    x, n = constant(X), constant(np.array([3, 2, 1], np.int32))

    def slopes(x, n):
        return grad(lambda x, n: call("sum", x * n), (0, 1))(x, call("cast", n, dtypes.float32))

    by_x, by_n = function(slopes)(x, n)
    assert by_x.dtype == "float64" and by_n.dtype == "float32"
    np.testing.assert_array_equal(by_x.numpy(), [3, 2, 1])
    np.testing.assert_array_equal(by_n.numpy(), X.astype(np.float32))
