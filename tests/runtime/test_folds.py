"""``foldl``, ``foldr``, ``scan`` and ``map_fn`` over structures and composites, against plain Python."""

from __future__ import annotations

import dataclasses
from functools import reduce

import autoloop as al
import numpy as np
import pytest
from each_case import each

EXECUTORS = ("auto", "dataflow", "sequential")
ROWS = np.array([[1, 2], [0, -3], [4, 5]], np.float32)


@dataclasses.dataclass
class Record:
    total: object
    rest: object


def dense(x):
    return al.sparse.to_dense(x).numpy()


def entry(row):
    return al.SparseTensor([[1, 0], [2, 1]], row, [3, 2])


def dense_entry(row):
    out = np.zeros((3, 2), np.float32)
    out[1, 0], out[2, 1] = row
    return out


EMPTY = al.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [3, 2])


def on(executor, f):
    return al.function(f, executor=executor, autograph=False)(ROWS)


@each(EXECUTORS)
def test_a_sparse_accumulator(executor):
    expected = sum(map(dense_entry, ROWS))
    for fold in (al.foldl, al.foldr):
        last = on(executor, lambda rows: fold(lambda acc, row: acc + entry(row), rows, EMPTY))
        assert isinstance(last, al.SparseTensor)
        np.testing.assert_array_equal(dense(last), expected)


@each(EXECUTORS)
def test_sparse_values_are_stacked(executor):
    running = np.cumsum([dense_entry(r) for r in ROWS], axis=0)
    back = np.cumsum([dense_entry(r) for r in ROWS[::-1]], axis=0)[::-1]
    step = lambda acc, row: acc + entry(row)
    np.testing.assert_array_equal(dense(on(executor, lambda rows: al.scan(step, rows, EMPTY))), running)
    np.testing.assert_array_equal(
        dense(al.sparse.reorder(on(executor, lambda rows: al.scan(step, rows, EMPTY, reverse=True)))), back
    )
    np.testing.assert_array_equal(
        dense(on(executor, lambda rows: al.map_fn(entry, rows))), [dense_entry(r) for r in ROWS]
    )


def test_sparse_values_of_no_rows_and_of_many_sizes():
    assert al.map_fn(entry, ROWS[:0]).dense_shape.numpy().tolist() == [0, 0, 0]
    sizes = al.map_fn(lambda n: al.SparseTensor([[n - 1]], [7], al.stack([n])), np.array([2, 5, 1]))
    assert dense(sizes).tolist() == [[0, 7, 0, 0, 0], [0, 0, 0, 0, 7], [7, 0, 0, 0, 0]]


@each(EXECUTORS)
def test_slices_that_gain_rows(executor):
    start = al.IndexedSlices(np.zeros((1, 2), np.float32), [0], [4, 2])
    step = lambda acc, row: acc + al.IndexedSlices(al.expand_dims(row, 0), [3], [4, 2])
    total = on(executor, lambda rows: al.foldl(step, rows, start))
    assert total.values.shape == (4, 2)
    np.testing.assert_array_equal(total.numpy(), [[0, 0]] * 3 + [ROWS.sum(0)])


@each(EXECUTORS)
def test_an_array_and_a_count(executor):
    def fold(rows):
        array = al.TensorArray(al.float32, size=3, element_shape=[])
        step = lambda acc, row: (acc[0].write(acc[1], al.sum(row)), acc[1] + 1)
        array, count = al.foldr(step, rows, (array, 0))
        return array.stack(), count

    sums, count = on(executor, fold)
    assert sums.numpy().tolist() == ROWS[::-1].sum(1).tolist() and count == 3


@each(EXECUTORS)
def test_a_dataclass_with_everything_in_it(executor):
    def step(acc, row):
        return Record(acc.total + al.sum(row), {"sparse": acc.rest["sparse"] + entry(row), "pair": (row, acc.total)})

    def in_numpy(acc, row):
        return Record(
            acc.total + row.sum(), {"sparse": acc.rest["sparse"] + dense_entry(row), "pair": (row, acc.total)}
        )

    rest = {"sparse": EMPTY, "pair": (np.zeros(2, np.float32), np.float32(0))}
    found = on(executor, lambda rows: al.foldl(step, rows, Record(np.float32(0), rest)))
    expected = reduce(in_numpy, ROWS, Record(0, {"sparse": np.zeros((3, 2)), "pair": None}))
    assert isinstance(found, Record) and found.total == expected.total
    np.testing.assert_array_equal(dense(found.rest["sparse"]), expected.rest["sparse"])
    for one, other in zip(found.rest["pair"], expected.rest["pair"]):
        np.testing.assert_array_equal(one, other)
    history = on(executor, lambda rows: al.scan(step, rows, Record(np.float32(0), rest)))
    assert history.total.numpy().tolist() == np.cumsum(ROWS.sum(1)).tolist()
    assert history.rest["sparse"].dense_shape.numpy().tolist() == [3, 3, 2]


def test_gradients_go_through_a_sparse_accumulator():
    f = lambda rows: al.sum(al.sparse.to_dense(al.foldl(lambda acc, row: acc + entry(row * row), rows, EMPTY)))
    np.testing.assert_allclose(al.grad(f)(ROWS), 2 * ROWS)
    g = lambda rows: al.sum(al.scan(lambda acc, row: acc + entry(row * row), rows, EMPTY).values)
    h = lambda rows: al.sum(al.cumsum(rows * rows, axis=0))
    np.testing.assert_allclose(al.grad(g)(ROWS), al.grad(h)(ROWS))


@pytest.mark.parametrize(
    ("step", "error", "words"),
    [
        (lambda acc, row: 3, TypeError, "SparseTensor of 3 tensors on entry and a Tensor"),
        (lambda acc, row: None, TypeError, "'accumulator' is None after one iteration"),
        (lambda acc, row: (acc, acc), TypeError, r"fn must return the same.*\* and returned \(\*, \*\)"),
        (lambda acc, row: acc.with_values(acc.values > 0), TypeError, "accumulator.values.*float32.*bool"),
        (lambda acc, row: al.SparseTensor([[0]], [1.0], [3]), ValueError, "accumulator.indices.*rank cannot change"),
    ],
)  # fmt: skip
def test_what_a_sparse_accumulator_cannot_become(step, error, words):
    with pytest.raises(error, match=words):
        al.foldl(step, ROWS, EMPTY)


def test_an_array_cannot_be_stacked():
    array = al.TensorArray(al.float32, size=3, element_shape=[2])
    with pytest.raises(TypeError, match="a TensorArray cannot be; foldl and foldr give the last one"):
        al.scan(lambda acc, row: acc, ROWS, array)
