"""Sparse tensors and slices on their way through loops, branches, functions, signatures and feeds."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Graph, composite_of
from each_case import each
from test_sparse import DENSE, EXECUTORS, dense, sparse


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
