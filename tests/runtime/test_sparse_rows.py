"""Loops over the rows of a SparseTensor, and specs of composites as shape invariants."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from autoloop.compat import v1 as tf
from each_case import each

EXECUTORS = ("auto", "dataflow", "sequential")  # machine code has no tensors whose size only the values know
DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, -4, 0]], np.float32)
OFFSETS = np.float32([1, 2, 3])


def sparse(dense=DENSE):
    return al.sparse.from_dense(dense)


def dense(x):
    return al.sparse.to_dense(x)


#: loops over the rows of a SparseTensor and of an array beside it, and the values of the dense rows
LOOPS = {
    "map_fn": (lambda s, x: al.map_fn(lambda r: al.sum(dense(r)) * 2, s), DENSE.sum(1) * 2),
    "map_fn beside a tensor": (
        lambda s, x: al.map_fn(lambda r: dense(r["s"]) + r["x"], {"s": s, "x": x}), DENSE + OFFSETS[:, None],
    ),
    "map_fn to sparse rows": (lambda s, x: dense(al.map_fn(lambda r: r * 2.0, s)), DENSE * 2),
    "map_fn with a signature": (
        lambda s, x: dense(al.map_fn(lambda r: r * 2.0, s, fn_output_signature=al.SparseTensorSpec([4], al.float32))),
        DENSE * 2,
    ),
    "vectorized_map": (lambda s, x: al.vectorized_map(lambda r: al.sum(dense(r)), s), DENSE.sum(1)),
    "scan": (lambda s, x: al.scan(lambda a, r: a + dense(r), s, al.zeros([4])), DENSE.cumsum(0)),
    "scan back": (
        lambda s, x: al.scan(lambda a, r: a + dense(r), s, al.zeros([4]), reverse=True), DENSE[::-1].cumsum(0)[::-1],
    ),
    "foldl": (lambda s, x: al.foldl(lambda a, r: a * 2 + dense(r), s, al.zeros([4])), [3, 8, -4, 4]),
    "foldr": (lambda s, x: al.foldr(lambda a, r: a * 2 + dense(r), s, al.zeros([4])), [12, 2, -16, 1]),
    "foldl of the rows": (lambda s, x: dense(al.foldl(lambda a, r: a + r, s)), DENSE.sum(0)),
}  # fmt: skip


@each(LOOPS)
def test_loops_over_sparse_rows(loop):
    run, expected = LOOPS[loop]
    np.testing.assert_array_equal(run(sparse(), al.constant(OFFSETS)), expected)
    for executor in EXECUTORS:
        np.testing.assert_array_equal(al.function(run, executor=executor)(sparse(), OFFSETS), expected)
    given = sparse()
    with tf.Graph().as_default(), tf.Session() as sess:
        s, x = tf.sparse_placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None])
        fetched = sess.run(run(s, x), {s: given, x: OFFSETS})
        np.testing.assert_array_equal(fetched, expected)


def test_the_gradient_of_a_loop_over_sparse_rows():
    def f(values):
        s = al.SparseTensor(sparse().indices, values, [3, 4])
        return al.sum(al.map_fn(lambda r: al.sum(dense(r)) ** 2, s))

    np.testing.assert_array_equal(al.grad(f)(sparse().values), [6, 6, -2, -2])


def test_what_loops_over_sparse_rows_refuse():
    with pytest.raises(ValueError, match="rank 1 has no rows"):
        al.map_fn(lambda r: r, al.SparseTensor([[0]], [1.0], [3]))
    with pytest.raises(ValueError, match="same first dimension"):
        al.map_fn(lambda r: r[1], (sparse(), OFFSETS[:2]))
    with pytest.raises(TypeError, match="a SparseTensor of float32, int32 was declared; cast its values"):
        al.map_fn(lambda r: r, sparse(), fn_output_signature=al.SparseTensorSpec([4], al.int32))
    with pytest.raises(ValueError, match="vectorized_map: a SparseTensor stands in the way"):
        al.vectorized_map(lambda r: al.sum(dense(r)), sparse(), fallback_to_while_loop=False)


SLICES = al.IndexedSlices(np.ones((1, 2), np.float32), [0], [5, 2])


@pytest.mark.parametrize(
    "start, spec, step, size",
    [
        (sparse(), al.SparseTensorSpec([3, 4], al.float32), lambda x: x + x, 4),
        (sparse(), al.SparseTensorSpec(None, al.float32), lambda x: x + x, 4),
        (SLICES, al.IndexedSlicesSpec([5, 2], al.float32), lambda x: x + x, 8),
        (al.ones([1]), al.TensorSpec([None], al.float32), lambda x: al.concat([x, x], 0), 8),
    ],
)
def test_a_spec_is_a_shape_invariant(start, spec, step, size):
    def grown(x):
        return al.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, step(x)), [0, x], [al.TensorSpec([], al.int32), spec]
        )

    for run in (grown, *(al.function(grown, executor=executor) for executor in EXECUTORS)):
        x = run(start)[1]
        assert len(getattr(x, "values", x).numpy()) == size


@pytest.mark.parametrize(
    "start, spec, error, words",
    [
        (
            sparse(),
            al.SparseTensorSpec([3, 4], al.int32),
            TypeError,
            "a spec of dtype int32, .*float32",
        ),
        (sparse(), al.SparseTensorSpec([3], al.float32), ValueError, "says that the SparseTensor has rank 1"),
        (
            sparse(),
            al.IndexedSlicesSpec([3, 4]),
            TypeError,
            "IndexedSlicesSpec is no shape invariant of .*SparseTensor",
        ),
        (OFFSETS, al.SparseTensorSpec([3]), TypeError, "SparseTensorSpec is no shape invariant of .* Tensor"),
        (SLICES, al.IndexedSlicesSpec([5, 2, 1]), ValueError, "conform"),
    ],
)
def test_a_spec_of_something_else_is_no_invariant(start, spec, error, words):
    with pytest.raises(error, match=words):
        al.while_loop(lambda x: False, lambda x: x, [start], [spec])
