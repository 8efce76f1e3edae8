"""SparseTensor and IndexedSlices: construction, functions, and their way through loops, branches and functions."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Graph, composite_of, ops
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


# -- through loops, branches and functions ----------------------------------------------------------------


@each(EXECUTORS)
def test_a_sparse_loop_variable_may_change_its_number_of_entries(executor):
    @al.function(executor=executor)
    def f(x, n):
        def body(i, x):
            return i + 1, al.sparse.add(x, al.SparseTensor([[i, i]], [1.0], [3, 4]))

        return al.while_loop(lambda i, x: i < n, body, (0, x))

    x = al.SparseTensor([[0, 1]], [5.0], [3, 4])
    i, y = f(x, al.constant(3))
    assert i.numpy() == 3 and isinstance(y, al.SparseTensor)
    assert dense(y).tolist() == [[1, 5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    assert dense(f(x, al.constant(0))[1]).tolist() == dense(x).tolist()


def test_rule_a_the_invariant_of_a_sparse_tensor_is_the_shape_of_its_dense_shape():
    x = sparse()
    assert composite_of(x).invariants(x, al.TensorShape([2])) == [[None, 2], [None], [2]]
    assert composite_of(x).invariants(x, None) == [[None, 2], [None], [2]]

    def run_with(invariant):
        body = lambda i, x: (i + 1, x * 2.0)
        return al.while_loop(lambda i, x: i < 2, body, (0, x), shape_invariants=([], invariant))

    for invariant in (al.TensorShape([2]), [2], al.TensorShape([None]), al.TensorShape(None)):
        assert dense(run_with(invariant)[1]).tolist() == (4 * DENSE).tolist()
    with pytest.raises(ValueError, match="TensorShape.*rank.*dense_shape"):
        run_with(al.TensorShape([3, 4]))
    with pytest.raises(ValueError, match="rank 3, but its dense_shape"):
        run_with(al.TensorShape([3]))


def test_the_rank_of_a_sparse_loop_variable_cannot_change():
    with pytest.raises(ValueError, match=r"'x.indices' has shape.*incompatible.*rank cannot change"):
        al.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x[0]), (0, sparse()))
    with pytest.raises(TypeError, match="'x.values' has dtype float32"):
        al.while_loop(
            lambda i, x: i < 2, lambda i, x: (i + 1, x.with_values(al.cast(x.values, al.int32))), (0, sparse())
        )
    with pytest.raises(TypeError, match="'x' is a SparseTensor of 3 tensors on entry and a Tensor"):
        al.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, al.sparse.to_dense(x)), (0, sparse()))


def test_rule_b_the_invariant_of_indexed_slices_is_that_of_their_values():
    x = al.IndexedSlices(al.ones([2, 3]), [0, 4], [5, 3])
    assert composite_of(x).invariants(x, al.TensorShape([None, 3])) == [[None, 3], [None], [2]]
    assert composite_of(x).invariants(x, al.TensorShape([2, 3])) == [[2, 3], [2], [2]]
    assert composite_of(x).invariants(x, None) == [[2, 3], [2], [2]]
    cond = lambda i, x: i < 2
    grow = lambda i, x: (i + 1, x + x)
    kept = al.while_loop(cond, lambda i, x: (i + 1, x * 2.0), (0, x))[1]
    assert isinstance(kept, al.IndexedSlices)
    assert al.convert_to_tensor(kept).numpy()[:, 0].tolist() == [4, 0, 0, 0, 4]
    grown = al.while_loop(cond, grow, (0, x), shape_invariants=([], [None, 3]))[1]
    assert grown.values.shape == (8, 3)
    assert al.convert_to_tensor(grown).numpy()[4].tolist() == [4, 4, 4]
    with pytest.raises(
        ValueError, match=r"'x.values' has shape \(2, 3\).*\(4, 3\).*shape_invariants={'x': TensorShape\(\[None, 3\]\)}"
    ):
        al.while_loop(cond, grow, (0, x))
    with pytest.raises(ValueError, match="'x.values' has shape"):
        al.while_loop(cond, grow, (0, x), shape_invariants=([], [5, 3]))
    with pytest.raises(ValueError, match="values, which are rows"):
        al.while_loop(cond, grow, (0, x), shape_invariants=([], []))
    with pytest.raises(TypeError, match="IndexedSlices of 3 tensors on entry and a IndexedSlices of 2"):
        al.while_loop(cond, lambda i, x: (i + 1, al.IndexedSlices(x.values, x.indices)), (0, x))
    assert al.while_loop(cond, grow, (0, x), shape_invariants="auto")[1].values.shape == (8, 3)
    assert al.while_loop(cond, grow, (0, x), shape_invariants={"x": [None, 3]})[1].values.shape == (8, 3)


def test_one_sparse_variable_is_returned_by_itself_in_v1():
    tf = al.compat.v1
    with Graph().as_default(), tf.Session() as sess:
        x = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
        y = tf.while_loop(lambda x: tf.reduce_sum(x.values) < 10.0, lambda x: x * 2.0, [x])
        assert isinstance(y, tf.SparseTensor)
        assert sess.run(tf.sparse_tensor_to_dense(y)).tolist() == [[16, 0], [0, 0]]
        s = tf.IndexedSlices(tf.ones([1, 2]), [1], [3, 2])
        t = tf.while_loop(lambda s: tf.reduce_sum(s.values) < 10.0, lambda s: s * 2.0, [s])
        assert isinstance(t, tf.IndexedSlices)
        assert sess.run(tf.convert_to_tensor(t)).tolist() == [[0, 0], [8, 8], [0, 0]]
        fetched = sess.run({"sparse": y, "slices": [t], "op": y.values.op})
        array = tf.TensorArray(tf.float32, 2).unstack(tf.constant([1.0, 2.0]))
        (filled,) = sess.run([array])
    assert dense(fetched["sparse"]).tolist() == [[16, 0], [0, 0]] and fetched["op"] is None
    assert al.convert_to_tensor(fetched["slices"][0]).numpy()[1].tolist() == [8, 8]
    assert filled.stack().numpy().tolist() == [1, 2]


@each(EXECUTORS)
def test_in_branches(executor):
    @al.function(executor=executor)
    def f(p, x, s):
        return al.cond(p, lambda: (x, s), lambda: (al.sparse.add(x, x), s + s))

    x, s = sparse(), al.IndexedSlices([1.0], [1], [3])
    for p, factor in ((True, 1), (False, 2)):
        a, b = f(al.constant(p), x, s)
        assert dense(a).tolist() == (factor * DENSE).tolist()
        assert al.convert_to_tensor(b).numpy().tolist() == [0, factor, 0]

    @al.function
    def refused(p, x, g):
        return al.cond(p, lambda: x, lambda: g(x))

    p = al.constant(True)
    with pytest.raises(TypeError, match="SparseTensors of float32 and int32"):
        refused(p, x, lambda x: x.with_values(al.cast(x.values, al.int32)))
    with pytest.raises(TypeError, match="SparseTensor of 3 tensors and Tensor"):
        refused(p, x, al.sparse.to_dense)
    with pytest.raises(TypeError, match="SparseTensor of 3 tensors and IndexedSlices"):
        refused(p, x, lambda x: s)


def test_as_arguments_and_results_of_functions():
    @al.function
    def f(x, pair):
        return {"sum": al.sparse.reduce_sum(x), "x": x, "pair": [pair[0] * 2.0, pair[1]]}

    out = f(sparse(), (al.IndexedSlices([1.0], [0], [2]), 3))
    assert out["sum"].numpy() == 2 and isinstance(out["x"], al.SparseTensor)
    assert al.convert_to_tensor(out["pair"][0]).numpy().tolist() == [2, 0]
    assert out["pair"][1] == 3
    assert f.tracing_count == 1
    f(sparse(), (al.IndexedSlices([1.0], [1], [2]), 3))
    assert f.tracing_count == 1


def test_converted_loops_and_branches_carry_them():
    @al.function
    def f(x, n):
        total = al.IndexedSlices(al.zeros([1]), [0], [3])
        i = 0
        while i < n:
            if i % 2 == 0:
                x = x * 2.0
            else:
                x = x[::]
            total = total * 1.0
            i += 1
        return x, total

    x, total = f(sparse(), al.constant(3))
    assert dense(x).tolist() == (4 * DENSE).tolist()
    assert isinstance(total, al.IndexedSlices)


def test_converted_loops_take_their_invariants():
    @al.function
    def f(s, x, n):
        i = 0
        while i < n:
            al.set_loop_options(shape_invariants=[(s, [None, 2]), (x, [2])])
            s = s + s
            x = x * 2.0
            i += 1
        return s, x

    s, x = f(al.IndexedSlices(al.ones([1, 2]), [0], [3, 2]), sparse(), al.constant(2))
    assert s.values.shape == (4, 2) and dense(x).tolist() == (4 * DENSE).tolist()


def test_what_is_known_of_the_shape_in_a_graph():
    @al.function
    def f(x):
        assert x.shape == [None, None] and x.rank == 2
        fixed = al.SparseTensor([[0, 1]], [2.0], [3, 4])
        assert fixed.shape == [3, 4] and al.sparse.to_dense(fixed).shape == [3, 4]
        assert al.sparse.transpose(fixed).shape == [4, 3]
        assert (fixed + fixed).shape == [3, 4]
        assert (fixed @ al.ones([4, 2])).shape == [3, 2]
        assert al.sparse.reduce_sum(fixed, 0).shape == [4]
        with pytest.raises(TypeError, match="not known while the graph is built"):
            len(x)
        return al.sparse.to_dense(x)

    assert f(sparse()).numpy().tolist() == DENSE.tolist()


# -- specs and feeds --------------------------------------------------------------------------------------


@each(EXECUTORS)
def test_one_trace_for_all_sparse_tensors_of_a_signature(executor):
    signature = [al.SparseTensorSpec([3, None], al.float32), {"n": al.TensorSpec([], al.int32)}]

    @al.function(input_signature=signature, executor=executor, autograph=False)
    def scaled(x, options):
        return al.while_loop(lambda i, x: i < options["n"], lambda i, x: (i + 1, x * 2.0), (0, x))[1]

    np.testing.assert_array_equal(dense(scaled(sparse(), {"n": 2})), 4 * DENSE)
    np.testing.assert_array_equal(dense(scaled(sparse(DENSE[:, :2]), {"n": 1})), 2 * DENSE[:, :2])
    assert scaled.tracing_count == 1
    concrete = scaled.get_concrete_function()
    assert [str(t.shape) for t in concrete.graph.inputs] == ["(None, 2)", "(None,)", "(2,)", "()"]


def test_indexed_slices_of_a_signature():
    spec = al.IndexedSlicesSpec([5, 2], al.float32, dense_shape_dtype=al.int64)
    f = al.function(lambda pair: al.convert_to_tensor(pair[1]) * pair[0], input_signature=[(al.TensorSpec([]), spec)])
    for rows in ([0], [4, 4]):
        value = al.IndexedSlices(np.ones((len(rows), 2), np.float32), rows, [5, 2])
        expected = np.zeros((5, 2))
        expected[rows[0]] = 3 * len(rows)
        np.testing.assert_array_equal(f((3.0, value)), expected)
    assert f.tracing_count == 1


def test_specs_of_composites_compare():
    x, slices = sparse(), al.IndexedSlices(al.ones([2, 3]), [0, 4], [5, 3])
    assert al.SparseTensorSpec.from_value(x) == al.SparseTensorSpec((3, 4)) != al.SparseTensorSpec((3, 5))
    assert len({al.SparseTensorSpec([3]), al.SparseTensorSpec([3]), al.SparseTensorSpec([3], al.int32)}) == 2
    assert al.IndexedSlicesSpec.from_value(slices).is_compatible_with(slices)
    assert al.SparseTensorSpec([None, None]).is_compatible_with(al.SparseTensorSpec([3, 4]))
    assert not al.SparseTensorSpec([3, 4]).is_compatible_with(slices)


def taking(spec):
    return al.function(lambda x: x, input_signature=[spec])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: taking(al.SparseTensorSpec([3, 4]))(DENSE), TypeError, "an argument of type ndarray does not fit"),
        (lambda: taking(al.SparseTensorSpec([3]))(sparse()), ValueError, r"shape=\(3, 4\).*does not fit.*shape=\(3,\)"),
        (lambda: taking(al.SparseTensorSpec([3, 4], al.int32))(sparse()), TypeError, "dtype=float32.*dtype=int32"),
        (lambda: taking(al.TensorSpec([3, 4]))(sparse()), TypeError, "to_dense"),
        (
            lambda: taking(al.IndexedSlicesSpec([5, 2]))(al.IndexedSlices(al.ones([1, 2]), [0], [5, 2])), ValueError,
            r"parts=\(1, 2\), \(1,\), \(2,\).*does not fit",
        ),
        (lambda: taking(3), TypeError, "input_signature holds TensorSpec"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_signature(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_sparse_placeholders_are_fed_whole_or_in_parts():
    tf = al.compat.v1
    with Graph().as_default(), tf.Session() as sess:
        x = tf.sparse_placeholder(tf.float64, [None, 3], name="x")
        assert x.indices.name == "x/indices:0" and x.rank == 2
        loop = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [0, x])[1]
        y = tf.sparse_tensor_to_dense(loop)
        expected = [[0, 12, 0], [0, 0, 0]]
        parts = ([[0, 1]], [1.5], [2, 3])
        assert sess.run(y, {x: tf.SparseTensorValue(*parts)}).tolist() == expected
        again = sess.run(x, {x: parts})
        assert isinstance(again, al.SparseTensor) and sess.run(y, {x: again}).tolist() == expected
        assert sess.make_callable(y, [x])(([], [], [1, 3])).tolist() == [[0, 0, 0]]
        slices = tf.IndexedSlices(tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None]), [3, 2])
        assert sess.run(tf.convert_to_tensor(slices), {slices: ([[1, 2]], [1], [3, 2])}).tolist()[1] == [1, 2]
        for value, error, words in [
            (3, TypeError, r"the tuple \(indices, values, dense_shape\)"),
            (parts[:2], TypeError, "tuple"),
            (x, TypeError, "symbolic"),
            (([[5, 1]], [1.5], [2, 3]), IndexError, "out of range"),
            (([[0, 1]], [1.5], [2, 3, 4]), ValueError, "dense_shape of shape"),
            (([[0]], [1.5], [2]), ValueError, r"'x/indices:0' has shape \(None, 2\)"),
        ]:
            with pytest.raises(error, match=words):
                sess.run(y, {x: value})
