"""Tables of numbers that a staged index is looked up in: arrays and lists, global, local and written in place."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

TABLE = np.array([[1.5, 2.5, 4.0], [0.5, -1.0, 8.0]])
ROWS = [[1, 2, 3], [4, 5, 6]]


def global_array(n):
    total = 0.0
    i = 0
    while i < n:
        total = total + TABLE[i % 2, i % 3] + TABLE[1][i % 3]
        i = i + 1
    return total


def array_written_in_place(n):
    return np.array([1.5, 2.5, 4.0])[n], np.arange(10)[n:], np.arange(10)[::n], np.arange(10)[-n]


def list_of_lists(n):
    return ROWS[n % 2][n % 3]


def rows_of_an_array(x, n):
    return [row * n for row in x][n].sum() + x[n][n] + len(x) * x.shape[1]


@pytest.mark.parametrize("executor", ["sequential", "dataflow", "auto"])
@pytest.mark.parametrize(
    ("f", "args"), [
        (global_array, (np.array(7),)), (array_written_in_place, (np.array(2),)), (list_of_lists, (np.array(4),)),
        (rows_of_an_array, (np.arange(6.0).reshape(2, 3), np.array(1))),
    ],
)  # fmt: skip
def test_tables_are_read_as_in_numpy(f, args, executor):
    found, plain = al.function(f, executor=executor)(*args), f(*args)
    for ours, theirs in zip(found, plain, strict=True) if isinstance(plain, tuple) else [(found, plain)]:
        np.testing.assert_array_equal(np.asarray(ours), theirs)


def test_out_of_range_is_numpys_error_at_the_line():
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 3") as caught:
        al.function(array_written_in_place)(np.array(9))
    assert any("np.array([1.5, 2.5, 4.0])[n]" in str(entry.statement) for entry in caught.traceback)
