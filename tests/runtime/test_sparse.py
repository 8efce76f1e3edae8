"""SparseTensor and IndexedSlices: construction, functions, and their way through loops, branches and functions."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import ops
from each_case import each
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from ops_checks import check_gradient

EXECUTORS = ("auto", "dataflow", "sequential")
DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, -4, 0]], np.float32)


def sparse(dense=DENSE):
    return al.sparse.from_dense(dense)


def dense(x):
    return al.sparse.to_dense(x).numpy()


def shuffled(x, seed=0):
    order = np.random.default_rng(seed).permutation(len(x.values.numpy()))
    return al.SparseTensor(x.indices.numpy()[order], x.values.numpy()[order], x.dense_shape)


matrices = st.integers(0, 2**32 - 1).map(
    lambda seed: (lambda rng: rng.integers(-3, 4, rng.integers(0, 5, 2)) * (rng.random() < 0.8))(
        np.random.default_rng(seed)
    ).astype(np.float64)
)


# -- construction -----------------------------------------------------------------------------------------


def test_the_parts_of_a_sparse_tensor():
    x = al.SparseTensor(indices=[[0, 1], [2, 3]], values=[1.5, 2.0], dense_shape=[3, 4])
    assert (x.dtype, x.shape, x.rank, x.get_shape()) == (al.float32, (3, 4), 2, (3, 4))
    assert (x.indices.dtype, x.dense_shape.dtype) == (al.int64, al.int64)
    assert dense(x).tolist() == [[0, 1.5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2.0]]
    assert "SparseTensor(indices=" in repr(x)
    assert len(x) == 3 and x.graph is None
    empty = al.SparseTensor([], [], [2, 2])
    assert dense(empty).tolist() == [[0, 0], [0, 0]]
    assert dense(al.SparseTensor(np.zeros((0, 1), np.int64), al.zeros([0]), al.TensorShape([2]))).tolist() == [0, 0]


@pytest.mark.parametrize(
    "parts, error, words",
    [
        (([[0.5, 1]], [1.0], [2, 2]), TypeError, "indices must be integers"),
        (([[0, 1]], [1.0], [2.0, 2.0]), TypeError, "dense_shape must be integers"),
        (([0, 1], [1.0], [2, 2]), ValueError, "indices must have rank 2"),
        (([[0, 1]], [[1.0]], [2, 2]), ValueError, "values must have rank 1"),
        (([[0, 1]], [1.0], 2), ValueError, "dense_shape must have rank 1"),
        (([[0, 1]], [1.0, 2.0], [2, 2]), ValueError, r"indices have shape \(1, 2\).*need \(2, 2\)"),
        (([[0, 1, 2]], [1.0], [2, 2]), ValueError, r"indices have shape \(1, 3\).*need \(1, 2\)"),
        (([[0, 2]], [1.0], [2, 2]), IndexError, r"\[0, 2\] of entry 0 is out of range for dense_shape \[2, 2\]"),
        (([[0, 1], [-1, 0]], [1.0, 2.0], [2, 2]), IndexError, r"\[-1, 0\] of entry 1"),
        (([[0, 1]], [1.0], [2, -2]), ValueError, "negative extent"),
        ((np.zeros((0, 0), int), [], np.zeros(0, int)), ValueError, "at least one dimension"),
    ],
)
def test_parts_that_do_not_fit(parts, error, words):
    with pytest.raises(error, match=words):
        al.SparseTensor(*parts)


@each(EXECUTORS)
def test_parts_that_only_the_values_show_not_to_fit_are_found_at_run_time(executor):
    @al.function(executor=executor, input_signature=[al.TensorSpec([None, None], al.int64)])
    def f(indices):
        return al.SparseTensor(indices, [1.0, 2.0], [2, 2])

    assert dense(f([[0, 1], [1, 1]])).tolist() == [[0, 1], [0, 2]]
    with pytest.raises(IndexError, match=r"\[0, 5\] of entry 1"):
        f([[0, 1], [0, 5]])
    with pytest.raises(ValueError, match=r"need indices of shape \(2, 2\), got \(1, 2\)"):
        f([[0, 1]])


def test_the_parts_of_indexed_slices():
    x = al.IndexedSlices(values=[[1.0, 2.0], [3.0, 4.0]], indices=[2, 0], dense_shape=[4, 2])
    assert (x.dtype, x.shape, x.get_shape(), x.graph) == (al.float32, (4, 2), (4, 2), None)
    assert al.convert_to_tensor(x).numpy().tolist() == [[3, 4], [0, 0], [1, 2], [0, 0]]
    twice = al.IndexedSlices([1, 2, 3], [1, 1, 0], al.TensorShape([3]))
    assert al.convert_to_tensor(twice).numpy().tolist() == [3, 3, 0]
    assert (al.ones([3], al.int32) + twice).numpy().tolist() == [4, 4, 1]
    assert "IndexedSlices(values=" in repr(x)
    open_ended = al.IndexedSlices([[1.0]], [5])
    assert open_ended.shape == [None, 1]
    with pytest.raises(ValueError, match="no dense_shape"):
        al.convert_to_tensor(open_ended)


@pytest.mark.parametrize(
    "parts, error, words",
    [
        ((1.0, [0]), ValueError, "must be rows, got a scalar"),
        (([1.0], [0.5]), TypeError, "indices must be integers"),
        (([1.0, 2.0], [0]), ValueError, r"need indices of shape \(2,\), got \(1,\)"),
        (([1.0], [0], [2.0]), TypeError, "dense_shape must be integers"),
        (([1.0], [0], [2, 2]), ValueError, "values of rank 1 need a dense_shape of as many entries"),
        (([[1.0, 2.0]], [0], [4, 3]), ValueError, r"rows of shape \(2,\) do not fit into dense_shape \(4, 3\)"),
    ],
)
def test_slices_that_do_not_fit(parts, error, words):
    with pytest.raises(error, match=words):
        al.IndexedSlices(*parts)


def test_arithmetic_of_slices():
    a = al.IndexedSlices([[1.0, 2.0]], [2], [3, 2])
    b = al.IndexedSlices([[10.0, 20.0]], [0])
    total = a + b
    assert isinstance(total, al.IndexedSlices)
    assert al.convert_to_tensor(total).numpy().tolist() == [[10, 20], [0, 0], [1, 2]]
    assert al.convert_to_tensor(-a * 2.0).numpy().tolist() == [[0, 0], [0, 0], [-2, -4]]
    assert (np.ones((3, 2), np.float32) + a).numpy().tolist() == [[1, 1], [1, 1], [2, 3]]
    assert (a * al.constant([[1.0], [1.0], [3.0]])).numpy().tolist() == [[0, 0], [0, 0], [3, 6]]
    with pytest.raises(ValueError, match="cannot be added"):
        a + al.IndexedSlices([[1.0]], [0])


# -- functions --------------------------------------------------------------------------------------------


@settings(max_examples=examples(40), deadline=None)
@given(matrices, st.integers(0, 5))
def test_functions_agree_with_the_dense_ones(m, seed):
    x = shuffled(sparse(m), seed)
    np.testing.assert_array_equal(dense(x), m)
    np.testing.assert_array_equal(dense(al.sparse.transpose(x)), m.T)
    np.testing.assert_array_equal(dense(x + sparse(m[::-1])), m + m[::-1])
    np.testing.assert_array_equal(dense(x - x), 0 * m)
    np.testing.assert_array_equal((x + m).numpy(), 2 * m)
    np.testing.assert_array_equal(dense(x * 2.0), m * 2)
    np.testing.assert_array_equal(dense(x / 2.0), m / 2)
    b = np.arange(m.shape[1] * 2.0).reshape(m.shape[1], 2)
    np.testing.assert_array_equal((x @ b).numpy(), m @ b)
    np.testing.assert_array_equal((b.T @ al.sparse.transpose(x)).numpy(), b.T @ m.T)
    for axis in (None, 0, 1, -1, (0, 1)):
        for keepdims in (False, True):
            np.testing.assert_array_equal(al.sparse.reduce_sum(x, axis, keepdims), m.sum(axis, keepdims=keepdims))
    for rows in (slice(1, 3), slice(None, -1), slice(-2, None), slice(3, 1), slice(0, 99)):
        np.testing.assert_array_equal(dense(x[rows]), m[rows])
    for i in range(len(m)):
        np.testing.assert_array_equal(dense(x[i]), m[i])
    np.testing.assert_array_equal(dense(al.sparse.slice(x, [1, 1], [2, 9])), m[1:3, 1:10])


def test_order():
    x = al.SparseTensor([[2, 0], [0, 3], [0, 1], [2, 2]], [3.0, 1.0, 2.0, -4.0], [3, 4])
    y = al.sparse.reorder(x)
    assert y.indices.numpy().tolist() == [[0, 1], [0, 3], [2, 0], [2, 2]]
    assert y.values.numpy().tolist() == [2, 1, 3, -4]
    assert sparse().indices.numpy().tolist() == y.indices.numpy().tolist()
    both = al.sparse.add(x, al.SparseTensor([[0, 1], [0, 1]], [1.0, 1.0], [3, 4]))
    assert both.indices.numpy().tolist() == y.indices.numpy().tolist()
    assert both.values.numpy().tolist() == [4, 1, 3, -4]


def test_further_functions():
    x = sparse()
    assert dense(al.sparse.map_values(lambda v, w: v * w, x, x)).tolist() == (DENSE**2).tolist()
    assert dense(al.sparse.retain(x, x.values > 0)).tolist() == np.maximum(DENSE, 0).tolist()
    assert dense(-x).tolist() == (-DENSE).tolist()
    assert dense(x * np.array([1, 2, 3, 4], np.float32)).tolist() == (DENSE * [1, 2, 3, 4]).tolist()
    assert (np.ones((2, 3), np.float32) @ x).numpy().tolist() == (np.ones((2, 3)) @ DENSE).tolist()
    assert (x @ np.ones(4, np.float32)).numpy().tolist() == DENSE.sum(1).tolist()
    assert (np.ones(3, np.float32) @ x).numpy().tolist() == DENSE.sum(0).tolist()
    assert (
        al.sparse.matmul(x, np.ones((3, 1), np.float32), adjoint_a=True).numpy().tolist()
        == (DENSE.T @ np.ones((3, 1))).tolist()
    )
    assert al.sparse.matmul(x, np.ones((1, 4), np.float32), adjoint_b=True).shape == (3, 1)
    assert al.sparse.to_dense(x, default_value=9).numpy()[1].tolist() == [9, 9, 9, 9]
    assert (2.0 * x).values.numpy().tolist() == [4, 2, 6, -8]
    assert al.sparse.reduce_sum(x).numpy() == 2


MISUSES = [
    (lambda: al.sparse.to_dense(DENSE), TypeError, "to_dense takes a SparseTensor, got ndarray"),
    (lambda: al.sparse.from_dense(1.0), ValueError, "a scalar cannot be sparse"),
    (lambda: al.convert_to_tensor(sparse()), TypeError, "sparse.to_dense"),
    (lambda: al.ones([3, 4]) + sparse()[:2], ValueError, r"\(None, None\)|\(2, 4\)"),
    (lambda: al.tanh(sparse()), TypeError, "sparse.to_dense"),
    (lambda: sparse() + 1.0, ValueError, "to_dense"),
    (lambda: sparse() + sparse(DENSE.T), ValueError, r"\(3, 4\) and \(4, 3\)"),
    (lambda: sparse() + sparse(DENSE.astype(np.int32)), TypeError, "float32 and int32"),
    (lambda: sparse() * sparse(), TypeError, "not a SparseTensor"),
    (lambda: sparse() @ np.ones((3, 2), np.float32), ValueError, "do not fit"),
    (lambda: sparse() @ np.ones((4, 2)), TypeError, "float32, the matrix float64"),
    (lambda: sparse() @ np.ones((4, 2, 2)), ValueError, "rank 2"),
    (lambda: al.sparse.transpose(sparse(), [0, 0]), ValueError, "no permutation"),
    (lambda: al.sparse.reduce_sum(sparse(), 2), ValueError, "axis 2 is out of range"),
    (lambda: al.sparse.retain(sparse(), [True]), TypeError, "boolean vector"),
    (lambda: al.sparse.slice(sparse(), [0], [1]), ValueError, "start has shape"),
    (lambda: al.sparse.map_values(3, sparse()), TypeError, "callable"),
    (lambda: sparse().with_values([1.0]), ValueError, "values are there"),
    (lambda: sparse()[3], IndexError, "row 3 is out of range for a SparseTensor of 3 rows"),
    (lambda: sparse()[0, 1], TypeError, "one row or one slice"),
    (lambda: sparse()[::2], ValueError, "step 1"),
    (lambda: sparse()[0][0], ValueError, "no rows"),
    (lambda: iter(sparse()), TypeError, "not iterable"),
    (lambda: bool(sparse()), TypeError, "ambiguous"),
]  # fmt: skip


@each(MISUSES)
def test_what_is_refused(misuse, error, words):
    with pytest.raises(error, match=words):
        misuse()


@each(EXECUTORS)
def test_shapes_that_only_the_values_show_not_to_fit_are_found_at_run_time(executor):
    spec = al.TensorSpec([None, None], al.float32)

    @al.function(executor=executor, input_signature=[spec, spec])
    def plus(a, b):
        return al.sparse.to_dense(al.sparse.from_dense(a) + al.sparse.from_dense(b))

    @al.function(executor=executor, input_signature=[spec, spec])
    def times(a, b):
        return al.sparse.from_dense(a) @ b

    assert plus(DENSE, DENSE).numpy().tolist() == (2 * DENSE).tolist()
    with pytest.raises(ValueError, match=r"\[3, 4\] and \[4, 3\] do not fit"):
        plus(DENSE, DENSE.T)
    assert times(DENSE, DENSE.T).numpy().tolist() == (DENSE @ DENSE.T).tolist()
    with pytest.raises(ValueError, match="cannot be multiplied"):
        times(DENSE, np.ones((5, 1), np.float32))


# -- gradients of the primitives --------------------------------------------------------------------------


def test_gradients_reach_values_and_dense_operands():
    pattern = sparse(DENSE.astype(np.float64))

    def f(values, b):
        x = pattern.with_values(values)
        product = (x + al.sparse.transpose(al.sparse.transpose(x * 2.0))) @ b
        return (
            ops.square(product),
            al.sparse.reduce_sum(x[1:], 0),
            al.sparse.to_dense(x * b[:, 0], 7.0),
            b.T @ al.sparse.transpose(x),
        )

    check_gradient(f, [2.0, 1.0, 3.0, -4.0], np.arange(8.0).reshape(4, 2), blurs=["exact"])
