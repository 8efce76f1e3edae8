"""An array without axes as an index: NumPy takes it for a number, and gives a copy of the part."""

from __future__ import annotations

import autoloop as al
import numpy as np
from each_case import each
from executors import EXECUTORS
from written_out import alike, outcome, program

#: of a matrix ``x`` and an array without axes ``z``: what writes to a copy, and what to ``x``
INDEXED = (
    "y = x[z]\ny += 1\nreturn x, y", "y = x[z, 1:]\ny[:] = 5\nreturn x, y", "y = x[:, z]\ny += z\nreturn x, y",
    "y = x[np.asarray(n)]\ny += 1\nreturn x, y", "y = x[0, z, ...]\ny[...] = 9\nreturn x, y", "x[z][0] = 4\nreturn x",
    "x[z].sort()\nreturn x", "a = np.zeros((2, 2))\ny = a[z]\ny += x[0, 0]\nreturn a, y",
    "y = x.T[z]\ny[:] = 7\nreturn x",
    "x[z] += 1\nreturn x", "x[z, n:] = 5\nreturn x", "y = x[z:]\ny[:] = 2\nreturn x", "y = x[n]\ny += 1\nreturn x, y",
    "for k in range(n):\n    y = x[z]\n    y[:] = 3\nreturn x",
)  # fmt: skip


@each(INDEXED)
def test_a_part_that_an_array_without_axes_names_is_a_copy(text):
    f = program(text, ["x", "z", "n"])
    for executor in EXECUTORS:
        for number in (1, 0):
            given = np.arange(4.0).reshape(2, 2)[::-1], np.array(number), np.int64(number)
            assert alike(outcome(f, *given), outcome(al.function(f, executor=executor), *given)), executor
