"""What NumPy and Python ask of floats that only the run knows: an int for an array of ints, an order for ``sorted``."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from short_bodies import differences, made

WRITTEN = [
    "x[0] = y[0] * 1\nreturn x",
    "k = 0\nwhile k < 2:\n    x[k] = y[k]\n    k += 1\nreturn x",
    "x[0] /= y[1]\nreturn x",
    "x[0:2] = y[0]\nreturn x",
    "x[0:2] = y[0:2] / 2\nreturn x",
]
FLOATS = [np.array([one, 2.0, 3.0]) for one in (1.5, -2.5, np.nan, np.inf, -np.inf, 1e30, 300.0, 0.0)]
INTS = [np.array([1, 2, 3], dtype) for dtype in (np.int64, np.int8)]


def test_arrays_of_ints_take_ints_or_raise():
    given = [(x, y) for y in [*FLOATS, FLOATS[0].astype(np.float32), np.array([1, 0, 0])] for x in INTS]
    assert differences(WRITTEN, given, EXECUTORS, "x, y") == []


def test_sorting_with_nan_is_plain_pythons_and_refused_by_machine_code():
    bodies = [
        "return sorted(x)",
        "return sorted([x[2], x[0], x[1]], reverse=True)",
        "return sorted(enumerate(x), key=lambda one: one[1])[0][0]",
    ]
    assert differences(bodies, [(FLOATS[0],), (FLOATS[3],)], EXECUTORS, "x") == []
    assert differences(bodies, [(FLOATS[2],)], [one for one in EXECUTORS if one != "native"], "x") == []
    for body in bodies if "native" in EXECUTORS else ():
        with pytest.raises(ValueError, match="with nan among them is in no order that a graph knows: use np.sort"):
            al.function(made(body, "x"), executor="native")(FLOATS[2])
