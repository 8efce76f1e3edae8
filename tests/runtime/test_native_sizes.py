"""Machine code for arrays of no row and of one."""

from __future__ import annotations

import autoloop as al
import numpy as np
from each_case import each
from native_checks import check


@each([1, 2])
def test_arrays_of_one_row(length):
    x = np.arange(6.0).reshape(2, 3)[:length]
    check(lambda x: al.map_fn(lambda row: row + 1, x), x)
    check(lambda x: al.map_fn(al.sum, x), x)

    def gathered(x):
        rows = al.TensorArray(al.float64, size=length, element_shape=[3]).scatter(list(range(length)), x)
        return rows.gather([0]), rows.stack()

    check(gathered, x)
    check(lambda x: al.grad(lambda x: al.sum(al.map_fn(lambda row: row * row, x)))(x), x)


def test_extremes_of_no_rows():
    for reduce in (al.max, al.min, al.sum, al.mean):
        check(lambda x: reduce(x, axis=1), np.zeros((0, 3)))
