"""What dtype comes of tensors, numbers and lists of several, and what does not fit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from api import Graph, Tensor, TensorShape, constant, dtypes, ops
from each_case import each
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from ops_checks import check_static

KINDS = "bool int8 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128".split()


@each(product(KINDS, KINDS))
def test_promotion_of_tensors(a, b):
    x, y = Tensor(np.ones(2, a)), Tensor(np.ones(2, b))
    assert ops.add(x, y).dtype == np.add(x.numpy(), y.numpy()).dtype == np.result_type(a, b)
    assert ops.where(True, x, y).dtype == ops.stack([x, y]).dtype == np.result_type(a, b)


NUMBERS = [2, True, 2.5, 2.0, 1j, np.float64(2), np.int64(2), np.float64(2.5), np.float32(2.5), np.bool_(True)]


@each(product(NUMBERS, KINDS), lambda number, dtype: f"{type(number).__name__} {number}, {dtype}")
def test_numbers_that_meet_a_tensor(number, dtype):
    x = np.ones(2, dtype)
    for ours, theirs in ((ops.add(Tensor(x), number), x + number), (number * Tensor(x), number * x)):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours.numpy(), theirs)


OPERATORS = "+ - * / // % ** < <= == != & | << >>".split()


@each(OPERATORS)
def test_operators_with_numbers_are_numpys(sign):
    f = eval(f"lambda a, b: a {sign} b")
    for dtype in KINDS:
        x = np.array([0, 1, 2, 3], dtype)
        for number in (True, 2, -1, 2.5, 1j, np.float64(2), np.int8(1), 300, 2**40):
            for swapped in (False, True):
                theirs, ours = (_outcome(f, *((number, v) if swapped else (v, number))) for v in (x, Tensor(x)))
                if isinstance(theirs, type):
                    assert ours is theirs, (dtype, number, swapped)
                    continue
                assert ours.dtype == theirs.dtype, (dtype, number, swapped)
                np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-3 if dtype == "float16" else 1e-6)


def _outcome(f, *args):
    try:
        with np.errstate(all="ignore"):
            return f(*args)
    except (TypeError, OverflowError, ValueError) as refused:
        return next(kind for kind in (OverflowError, ValueError, TypeError) if isinstance(refused, kind))


def test_lists_have_the_dtype_of_the_function_that_they_are_given_to():
    for numbers in ([1, 2], [0.1, 0.2], [True, 2], [[0.1], [1j]]):
        for dtype in KINDS:
            x = np.ones(2, dtype)
            ours, theirs = np.add(Tensor(x), numbers), np.add(x, numbers)
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours.numpy(), theirs)
            assert ops.add(Tensor(x), numbers).dtype == np.result_type(constant(numbers).dtype, dtype)
    assert np.add(constant([1, 2]), [constant(1), 2]).dtype == "int64"
    assert ops.add(Tensor(np.ones(2)), [0.1, 0.2]).numpy().tolist() == [1.1, 1.2]
    assert constant([Tensor(np.float64(1)), 0.1]).numpy().tolist() == [1.0, 0.1]


def test_numpys_where_takes_numbers_and_lists_as_numpy_does():
    condition = np.array([True, False])
    for x, y in ((1, 0), (1.5, 0), (True, False), (np.float32(1), 2.5), ([1, 2], 0), ([0.1, 2], np.float32(1))):
        ours, theirs = np.where(constant(condition), x, y), np.where(condition, x, y)
        assert ours.dtype == theirs.dtype and ours.numpy().tolist() == theirs.tolist()
    assert ops.where(condition, 1, 0).dtype == "int32" and ops.where(condition, 1.5, 0).dtype == "float32"


def test_numbers_alone_have_the_dtypes_of_constructors():
    assert ops.add(1, 2).dtype == "int32"
    assert ops.add(1.5, 3).dtype == "float32"
    assert ops.add(np.float64(2), 3).dtype == "float64"
    assert ops.add(np.int64(2), 3).dtype == "int64"
    assert ops.add(1, True).dtype == "int32"
    assert ops.maximum(np.zeros(2, np.float32), np.float64(1)).dtype == "float64"
    assert ops.maximum(np.zeros(2, np.float32), np.ones(2)).dtype == "float64"


def test_words_for_dtypes_are_64_bits_wide():
    x = constant([1, 0])
    assert [x.astype(word).dtype for word in (float, int, complex, bool)] == ["f8", "i8", "c16", "?"]
    assert ops.cast(x, float).dtype == constant(1, dtype=float).dtype == "float64"
    assert ops.cast(constant(1j), bool).numpy()  # as NumPy: its imaginary part counts


@each(
    product(
        ["int8", "uint8", "int32", "int64", "uint64", "float32"], [300, -1, -300, 2**40, 2**63, 2**64, -(2**63) - 1]
    )
)
def test_comparisons_with_numbers_that_do_not_fit(dtype, number):
    x = np.array([0, 1, 100], dtype)
    for f in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal):
        np.testing.assert_array_equal(f(Tensor(x), number).numpy(), f(x, number))
        np.testing.assert_array_equal(f(number, Tensor(x)).numpy(), f(number, x))


def test_signed_and_unsigned_numbers_are_compared_exactly():
    x = np.array([-1, 0, 5, 2**63 - 1, 2**63 - 1, -(2**63)])
    y = np.array([2**64 - 1, 0, 4, 2**63 - 1, 2**63, 2**63], np.uint64)
    for f in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal):
        for a, b in ((x, y), (y, x), (x.astype(np.int32), y)):
            (z,) = check_static(lambda v, w: f(v, w), a, b)
            np.testing.assert_array_equal(z.numpy(), f(a, b))


def test_numbers_that_do_not_fit():
    for f in (ops.add, np.add):
        with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
            f(Tensor(np.zeros(2, np.uint8)), 300)
    with pytest.raises(OverflowError, match="out of bounds"):
        ops.less(1, 2**40)
    with pytest.raises(OverflowError, match="too large"):
        ops.less(Tensor(np.zeros(2)), 10**400)


@pytest.mark.parametrize("words,f", [
    ("numpy boolean subtract, the `-` operator, is not supported", lambda x: x - x),
    ("numpy boolean negative, the `-` operator, is not supported", lambda x: -x),
    ("'sign' did not contain a loop", np.sign),
    ("'bitwise_and' not supported for the input types", lambda x: x & x.astype("f4")),
    ("'left_shift' not supported for the input types", lambda x: x << x.astype("f4")),
])  # fmt: skip
def test_what_numpy_refuses_is_refused_in_its_words(words, f):
    for x in (np.array([True]), constant([True])):
        with pytest.raises(TypeError, match=words):
            f(x)


def test_limits_out_of_the_bounds_of_a_dtype_are_none():
    x = np.array([-100, 0, 100], np.int8)
    for bounds in ((0, 300), (-300, 5), (-300, 300), (None, 300)):
        np.testing.assert_array_equal(np.clip(constant(x), *bounds).numpy(), np.clip(x, *bounds))
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        ops.clip(constant(x), 300, 400)


def test_shapes_that_do_not_fit():
    for f in (ops.add, ops.equal, ops.logical_and):
        with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
            f(Tensor(np.ones(2)), Tensor(np.ones(3)))
    graph = Graph()
    a, b = (graph.parameter(dtypes.float32, TensorShape([n])) for n in (2, 3))
    with graph.as_default(), pytest.raises(ValueError, match=r"multiply.*\(2,\).*\(3,\)"):
        a * b
    assert len(graph.nodes) == 2


@settings(max_examples=examples(60), deadline=None)
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3),
    dtype=st.sampled_from(["int32", "float32"]),
    data=st.data(),
)
def test_broadcasting(shapes, dtype, data):
    a, b, c = (np.ones(s, dtype) * (i + 2) for i, s in enumerate(shapes.input_shapes))
    f = data.draw(st.sampled_from([lambda x, y, z: x * y - z, lambda x, y, z: ops.where(x > y, y, z)]))
    (z,) = check_static(f, a, b, c)
    assert z.shape == shapes.result_shape
