"""What is fed is what the run computes with: constants that loops, branches and maps captured, and shapes, too."""

from __future__ import annotations

import numpy as np
import pytest
from autoloop.compat import v1 as tf
from each_case import each


def _loop(cond, body, *start):
    return tf.while_loop(cond, body, [tf.constant(s) if isinstance(s, int) else s for s in start])


def _in_branch(pred):
    return lambda c: tf.cond(tf.constant(pred), lambda: c + 1, lambda: c * 10)


def _filled(c):
    ta = tf.TensorArray(tf.int32, size=c, element_shape=[])
    ta = _loop(lambda i, ta: i < c, lambda i, ta: (i + 1, ta.write(i, i * c)), 0, ta)[1]
    return [ta.stack(), ta.size()]


#: a program of one int32 constant, and what it gives for a value of it
SCALAR = {
    "loop body": (lambda c: _loop(lambda i: i < 10, lambda i: i + c, 0), lambda c: -(-10 // c) * c),
    "loop limit": (lambda c: _loop(lambda i: i < c, lambda i: i + 1, 0), lambda c: c),
    "loop start": (lambda c: _loop(lambda i: i < 20, lambda i: i + 3, c), lambda c: {2: 20, 3: 21}[c]),
    "loop in loop": (
        lambda c: _loop(lambda s: s < 8, lambda s: s + _loop(lambda j: j < c, lambda j: j + 1, 0), 0),
        lambda c: {2: 8, 3: 9}[c],
    ),
    "most iterations": (
        lambda c: tf.while_loop(lambda i: i < 50, lambda i: i + 1, [0], maximum_iterations=c),
        lambda c: c,
    ),
    "branch taken": (_in_branch(True), lambda c: c + 1),
    "branch not taken": (_in_branch(False), lambda c: c * 10),
    "branch in loop": (
        lambda c: _loop(lambda i: i < 10, lambda i: tf.cond(i < 5, lambda: i + c, lambda: i + 1), 0),
        lambda c: 10,
    ),
    "result of a branch": (lambda c: tf.cond(tf.constant(True), lambda: c, lambda: 0), lambda c: c),
    "index of a case": (lambda c: tf.switch_case(c - 2, [lambda: c * 5, lambda: c]), lambda c: {2: 10, 3: 3}[c]),
    "map": (lambda c: tf.map_fn(lambda x: x * c, tf.constant([1, 2, 3])), lambda c: np.array([1, 2, 3]) * c),
    "scan": (lambda c: tf.scan(lambda a, x: a + x * c, tf.constant([1, 2]), 0), lambda c: np.array([1, 3]) * c),
    "fold": (lambda c: tf.foldl(lambda a, x: a + x * c, tf.constant([1, 2]), c), lambda c: 4 * c),
    "filled with": (lambda c: tf.fill([2], c), lambda c: np.full(2, c)),
    "extent": (lambda c: tf.ones([c, 2]), lambda c: np.ones((c, 2))),
    "extent in a loop": (
        lambda c: tf.map_fn(lambda x: tf.reduce_sum(tf.ones(tf.stack([c, 2]))), tf.constant([0.0, 0.0])),
        lambda c: np.float32([2 * c, 2 * c]),
    ),
    "range": (lambda c: tf.range(c), np.arange),
    "item": (lambda c: tf.constant([5, 6, 7, 8])[c - 1], lambda c: 4 + c),
    "slice": (lambda c: tf.constant([5, 6, 7, 8])[1:c], lambda c: np.array([5, 6, 7, 8])[1:c]),
    "set item": (lambda c: tf.set_item(tf.constant([5, 6]), c - 2, 0), lambda c: {2: [0, 6], 3: [5, 0]}[c]),
    "tile": (lambda c: tf.tile([1, 2], [c]), lambda c: np.tile([1, 2], c)),
    "pad": (lambda c: tf.pad([1], [[0, c]]), lambda c: np.pad([1], (0, c))),
    "one hot": (lambda c: tf.one_hot(1, c), lambda c: np.eye(c)[1]),
    "eye": (lambda c: tf.eye(c), np.eye),
    "TensorArray": (_filled, lambda c: [np.arange(c) * c, c]),
    "power": (lambda c: tf.constant(3) ** c, lambda c: 3**c),
    "list": (lambda c: tf.zeros(tf.convert_to_tensor([c, 1])), lambda c: np.zeros((c, 1))),
}  # fmt: skip


def _assert_equal(got, want):
    for a, b in zip(got, want, strict=True) if isinstance(got, list) else [(got, want)]:
        np.testing.assert_array_equal(a, b)


@each(SCALAR)
def test_a_constant_that_is_fed_is_what_is_fed(program):
    build, expected = SCALAR[program]
    with tf.Graph().as_default(), tf.Session() as sess:
        c = tf.constant(2)
        made = build(c)
        for value, feeds in ((2, {}), (3, {c: 3}), (2, {})):
            _assert_equal(sess.run(made, feeds), expected(value))


def test_shapes_and_items_of_constants_may_be_fed():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([1.0, 2.0])
        s, n, r, first = tf.shape(x), tf.size(x), tf.rank(x), tf.constant([1, 2, 3])[0]
        made = [
            tf.zeros(s),
            tf.ones([s[0]]),
            tf.reshape(
                tf.range(6),
                s
                * [
                    3,
                ],
            ),
            n + 1,
            r + 1,
            first + 1,
        ]
        shapes = [np.shape(v) for v in sess.run(made, {s: [2]})]
        assert shapes == [(2,), (2,), (6,), (), (), ()]
        assert [np.shape(v) for v in sess.run(made[:2], {s: [5]})] == [(5,), (5,)]
        assert sess.run(made[3:], {n: 10, r: 20, first: 30}) == [11, 21, 31]


def test_intermediate_values_may_be_fed_past_loops_and_branches():
    with tf.Graph().as_default(), tf.Session() as sess:
        c = tf.constant(2)
        m = c * 3
        v = tf.Variable(3)
        read = v.read_value()
        first, second = tf.while_loop(lambda i, j: i < 10, lambda i, j: (i + m, j + read), [0, 0])
        total = first + second
        assert sess.run([first, total], {m: 5, read: 1}) == [10, 12]
        assert sess.run([first, total], {c: 4, read: 1}) == [12, 13]
        assert sess.run([first, total], {second: 100}) == [12, 112]
        assert sess.run(total, {first: 1, second: 2}) == 3


def test_gradients_are_those_at_what_is_fed():
    with tf.Graph().as_default(), tf.Session() as sess:
        x, c, p, start = tf.constant(2.0), tf.constant(3.0), tf.constant(2.0), tf.constant(0)
        y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x * c * tf.cast(i + 1, tf.float32)), [start, 1.0]
        )[1]
        made = [y, *tf.gradients(y, [x, c]), *tf.gradients(x**p, x)]
        assert sess.run(made) == [6 * 6**3, 18 * 6**2 * 3, 18 * 6**2 * 2, 4]
        assert sess.run(made, {c: 1.0, p: 3.0}) == [6 * 2**3, 18 * 2**2, 18 * 2**2 * 2, 12]
        assert sess.run(made[:2], {c: 1.0, start: 1}) == [6 * 2**2, 6 * 2 * 2]


def test_a_constant_that_became_part_of_the_graph_is_not_fed_another_value():
    with tf.Graph().as_default(), tf.Session() as sess:
        axis, extents = tf.constant(0, name="axis"), tf.constant(np.int64([2, 2]), name="extents")
        x = tf.constant([[1, 2], [3, 4]])
        made = tf.map_fn(lambda x: tf.reduce_sum(x, axis), tf.stack([x, x]))
        np.testing.assert_array_equal(sess.run(made, {axis: 0}), [[4, 6]] * 2)
        with pytest.raises(
            ValueError, match="'axis:0' was used as an axis of 'sum' .* with the value 0; no other can be fed"
        ):
            sess.run(made, {axis: 1})
        dense = tf.sparse_tensor_to_dense(tf.SparseTensor([[0, 1]], [7], extents))
        np.testing.assert_array_equal(sess.run(dense, {extents: [2, 2]}), [[0, 7], [0, 0]])
        with pytest.raises(ValueError, match="'extents:0' was used as the dense_shape of a SparseTensor"):
            sess.run(dense, {extents: [3, 3]})
