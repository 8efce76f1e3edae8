"""What is known of the shape of a TensorArray after loops, branches and ``split``, and where it has no elements."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from autoloop.compat import v1 as tf
from each_case import each
from executors import EXECUTORS, INTERPRETED, spread


def _converted_for(n):
    ta = al.TensorArray(al.float32, 3)
    for j in al.range(3):
        ta = ta.write(j, al.ones([2]))
    return ta


def _converted_while(n):
    ta, j = al.TensorArray(al.float32, 3), al.constant(0)
    while j < 3:
        ta = ta.write(j, al.ones([2]))
        j += 1
    return ta


def _with_break(n):
    ta, j = al.TensorArray(al.float32, 3), al.constant(0)
    while True:
        if j == 3:
            break
        if j > n + 5:
            continue
        ta = ta.write(j, al.ones([2]))
        j += 1
    return ta


def _read_before_it_is_written(n):
    ta, last = al.TensorArray(al.float32, 3), al.zeros([2])
    for j in al.range(3):
        if j > 0:
            last = ta.read(j - 1)
        ta = ta.write(j, al.ones([2]))
    assert last.shape == (2,)
    return ta


def _in_while_loop(n):
    write = lambda j, ta: (j + 1, ta.write(j, al.ones([2])))  # noqa: E731
    return al.while_loop(lambda j, ta: j < 3, write, [0, al.TensorArray(al.float32, 3)])[1]


def _in_a_branch(n):
    ta = al.TensorArray(al.float32, 3)
    if n > 0:
        ta = ta.write(0, al.ones([2])).write(1, al.ones([2])).write(2, al.ones([2]))
    return ta


def _in_the_other_branch(n):
    ta = al.TensorArray(al.float32, 3)
    return al.cond(n < 0, lambda: ta, lambda: ta.unstack(al.ones([3, 2])))


INSIDE = (
    _converted_for, _converted_while, _with_break, _read_before_it_is_written, _in_while_loop, _in_a_branch,
    _in_the_other_branch,
)  # fmt: skip


@each(product(INSIDE, EXECUTORS))
def test_an_array_that_a_loop_makes_and_fills_has_a_static_shape(filled, executor):
    @al.function(executor=executor)
    def f(n):
        total, i = al.zeros([3, 2]), 0
        while i < n:
            rows = filled(n).stack()
            assert rows.shape == (3, 2)
            total = al.while_loop(lambda t: al.sum(t) < 6 * i, lambda t, rows=rows: t + rows, [total])[0] + rows
            i += 1
        return total

    np.testing.assert_array_equal(f(al.constant(2)), np.full((3, 2), 2))


@each(INTERPRETED)
def test_arrays_of_two_branches_are_known_where_they_agree(executor):
    @al.function(executor=executor)
    def f(p, x):
        short, long = al.TensorArray(al.float32, 2).unstack(al.ones([2, 3])), al.TensorArray(al.float32, 4)
        either = al.cond(p, lambda: short, lambda: long.unstack(al.zeros([4, 3])))
        assert either.stack().shape == [None, 3]
        other = al.cond(p, lambda: short, lambda: al.TensorArray(al.float32, 2).unstack(al.zeros([2, 5])))
        assert other.stack().shape == [2, None]
        free = al.cond(p, lambda: al.TensorArray(al.float32, 2).unstack(x), lambda: short)
        assert free.stack().shape.rank is None
        return either.stack(), other.stack(), free.stack()

    rows = al.ones([2, 7])
    for p, shapes in ((True, [(2, 3), (2, 3), (2, 7)]), (False, [(4, 3), (2, 5), (2, 3)])):
        made = al.function(
            lambda p, x: f(p, x), executor=executor, input_signature=[al.TensorSpec([], "bool"), al.TensorSpec(None)]
        )(al.constant(p), rows)
        assert [v.shape for v in made] == shapes


@each(INTERPRETED)
def test_another_array_in_its_place_has_another_length(executor):
    @al.function(executor=executor)
    def converted(n):
        ta, seen = al.TensorArray(al.int32, 2).unstack([7, 8]), 0
        for _ in al.range(n):
            seen += al.size(ta.stack())
            ta = al.TensorArray(al.int32, 3).unstack([1, 2, 3])
        return ta.stack(), seen

    for n, rows, seen in ((0, [7, 8], 0), (1, [1, 2, 3], 2), (3, [1, 2, 3], 8)):
        made = converted(al.constant(n))
        assert made[0].numpy().tolist() == rows and made[1] == seen

    def explicit(n, first):
        last = lambda i, ta: (i + al.size(ta.stack()), al.TensorArray(al.int32, 3).unstack([1, 2, 3]))  # noqa: E731
        return al.while_loop(lambda i, ta: i < n, last, [0, first])

    dynamic = al.function(
        lambda n: explicit(n, al.TensorArray(al.int32, 2, True).unstack([7, 8]))[0], executor=executor
    )
    assert [int(dynamic(al.constant(n))) for n in (0, 1, 3)] == [0, 2, 5]


@pytest.mark.parametrize(
    "size, shape, words",
    [
        (3, [2], r"'ta' is a TensorArray of 2 elements on entry and of 3 after one iteration.*dynamic_size=True"),
        (None, [2], "of 2 elements on entry and of an unknown number after"),
        (
            2,
            [3],
            r"elements of loop variable 'ta'.* have shape \(2,\) on entry and \(3,\) after one.*no element_shape",
        ),
    ],
)
def test_what_is_known_of_an_array_must_hold_in_every_iteration(size, shape, words):
    def body(i, ta):
        return i + 1, al.TensorArray(al.int32, i if size is None else size, element_shape=shape)

    with pytest.raises(ValueError, match=words):
        al.while_loop(lambda i, ta: i < 3, body, [0, al.TensorArray(al.int32, 2, element_shape=[2])])


@pytest.mark.parametrize(
    "lengths, piece, rows",
    [([1, 1, 1], (1, 2), (3, 1, 2)), ([3], (3, 2), (1, 3, 2)), ((2, 2), (2, 2), (2, 2, 2))],
)
def test_pieces_of_known_lengths_have_a_static_shape(lengths, piece, rows):
    def f(value):
        ta = al.TensorArray(al.float32, len(lengths)).split(value, lengths)
        assert ta.element_shape == piece and ta.read(0).shape == piece and ta.stack().shape == rows
        return ta.concat()

    value = np.arange(2.0 * sum(lengths), dtype=np.float32).reshape(-1, 2)
    for run in (f, *(al.function(f, executor=executor) for executor in INTERPRETED)):
        np.testing.assert_array_equal(run(value), value)


def test_pieces_of_other_lengths_have_the_shape_of_the_rows():
    with tf.Graph().as_default():
        x, n = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [2])
        for lengths, known in (([1, 2], [None, 2]), (n, [None, 2])):
            assert tf.TensorArray(tf.float32, 2).split(x, lengths).read(0).shape == known
        assert tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2]).read(0).shape.rank is None
        with pytest.raises(ValueError, match=r"a piece of the value for split has shape \(2, 2\)"):
            tf.TensorArray(tf.float32, 2, element_shape=[1, 2]).split(x, [2, 2])


#: of no elements, what needs to know their shape, and the shapes that are enough, and are not
NOTHING = {
    "stack": (lambda ta: ta.stack(), {(2, 3): (0, 2, 3), (): (0,)}, [None, (None, 3)]),
    "gather": (lambda ta: ta.gather(np.zeros(0, np.int32)), {(2, 3): (0, 2, 3)}, [None, (None, 3)]),
    "concat": (lambda ta: ta.concat(), {(2, 3): (0, 3), (None, 3): (0, 3)}, [None, (None, None)]),
}


@each(NOTHING)
def test_no_elements_of_a_shape_that_is_not_known_are_an_error(what):
    method, enough, too_little = NOTHING[what]

    def made(shape):
        return lambda: method(al.TensorArray(al.float32, 0, element_shape=shape))

    for shape, expected in enough.items():
        for run in (made(shape), *(al.function(made(shape), executor=executor) for executor in INTERPRETED)):
            assert run().shape == expected
    for shape in too_little:
        for run in (made(shape), *(al.function(made(shape), executor=executor) for executor in INTERPRETED)):
            with pytest.raises(ValueError, match="there are no elements, and their shape .* is not known"):
                run()
        with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(ValueError, match="there are no elements"):
            sess.run(method(tf.TensorArray(tf.float32, 0, element_shape=shape)))


def test_what_a_map_collects_of_no_rows_has_the_extents_that_are_known():
    x = al.zeros([0, 4])
    assert al.map_fn(lambda r: r[:2], x).shape == (0, 2)
    with tf.Graph().as_default(), tf.Session() as sess:
        p, free = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32)
        assert sess.run(tf.map_fn(lambda r: r * 2, p), {p: np.zeros((0, 3))}).shape == (0, 0)
        with pytest.raises(ValueError, match="there are no elements"):
            sess.run(tf.map_fn(lambda r: r * 2, free), {free: np.zeros((0, 3))})


# -- without an initializer -------------------------------------------------------------------------------

ROWS = np.float32([[1, 5], [2, 3], [4, 4]])
FOLDS = {
    "scan": (lambda x: al.scan(lambda a, r: a * 2 + r, x), lambda x: _scanned(x)),
    "scan back": (lambda x: al.scan(lambda a, r: a * 2 + r, x, reverse=True), lambda x: _scanned(x[::-1])[::-1]),
    "foldl": (lambda x: al.foldl(lambda a, r: a * 2 + r, x), lambda x: _scanned(x)[-1]),
    "foldr": (lambda x: al.foldr(lambda a, r: a * 2 + r, x), lambda x: _scanned(x[::-1])[-1]),
    "scan of a structure": (
        lambda x: al.scan(lambda a, r: {"x": a["x"] * 2 + r["x"], "n": a["n"] + 1}, {"x": x, "n": x[:, 0]})["x"],
        lambda x: _scanned(x),
    ),
}  # fmt: skip


def _scanned(x):
    out = [x[0]]
    for row in x[1:]:
        out.append(out[-1] * 2 + row)
    return np.array(out)


@each(product(FOLDS, [[None, 2], [3, 2], [None, None], None]), one_in=2)
def test_folds_without_an_initializer_take_any_number_of_rows(fold, shape):
    run, expected = FOLDS[fold]
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, shape)
        made = run(x)
        for rows in (ROWS, ROWS[:1]) if shape != [3, 2] else (ROWS,):
            np.testing.assert_array_equal(sess.run(made, {x: rows}), expected(rows))
        if shape != [3, 2]:
            with pytest.raises(IndexError, match="out of bounds for axis 0 with size 0"):
                sess.run(made, {x: ROWS[:0]})
    for executor in INTERPRETED:
        f = al.function(run, executor=executor, input_signature=[al.TensorSpec(shape)])
        np.testing.assert_array_equal(f(ROWS), expected(ROWS))


@spread("fold", [(fold,) for fold in FOLDS], FOLDS)
def test_folds_without_an_initializer_and_their_gradients(fold, executor):
    run, expected = FOLDS[fold]
    np.testing.assert_array_equal(al.function(run, executor=executor)(al.constant(ROWS)), expected(ROWS))
    plain = al.grad(lambda x: al.sum(run(x) ** 2))(al.constant(ROWS))
    if executor != "native":
        staged = al.function(lambda x: al.grad(lambda x: al.sum(run(x) ** 2))(x), executor=executor)(al.constant(ROWS))
        np.testing.assert_array_equal(staged, plain)
    step = np.zeros_like(ROWS)
    step[1, 0] = 0.5  # the sum of squares is quadratic: a central difference is exact
    difference = sum(s * np.sum(np.float64(expected(ROWS + s * step)) ** 2) for s in (1, -1))
    np.testing.assert_allclose(plain[1, 0], difference, rtol=1e-5)


def test_a_scan_of_sparse_rows_begins_with_the_first():
    rows = al.scan(lambda a, r: a + r, al.sparse.from_dense(ROWS))
    np.testing.assert_array_equal(al.sparse.to_dense(rows), ROWS.cumsum(0))


def test_numbers_that_a_scan_emits_have_the_dtype_of_the_first_row():
    assert al.scan(lambda a, r: 7, al.constant([1.0, 2.0])).numpy().tolist() == [1.0, 7.0]
    with pytest.raises(TypeError, match="dtype"):
        al.scan(lambda a, r: a > r, al.constant([1.0, 2.0]))
