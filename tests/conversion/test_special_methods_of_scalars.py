"""``x[0].__floor__()`` and its like: what NumPy's scalars have of Python's numbers, and what they lack."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
from each_case import each
from written_out import outcome, program

CALLS = [
    "__floor__()", "__ceil__()", "__trunc__()", "__round__()", "__round__(1)", "__divmod__(2)", "__rdivmod__(2)",
    "__abs__()", "__neg__()", "__floordiv__(2)", "__mod__(2)", "__pow__(2)", "__radd__(2)",
    "__int__()", "__float__()", "__bool__()", "__index__()", "__complex__()", "__len__()", "__contains__(1)",
]  # fmt: skip


@each(product(CALLS, [np.float64, np.float32, np.int64]))
def test_as_numpy(text, dtype):
    plain = program(f"return x[1].{text}", ["x"])
    x = np.array([1, -7.5, 2]).astype(dtype)
    expected, found = outcome(plain, x), outcome(al.function(plain, executor="sequential"), x)
    if isinstance(expected, Exception):
        assert type(found) is type(expected) and str(found) == str(expected)
    else:
        assert repr(found) == repr(expected)


@each(["__len__()", "__contains__(1)", "__contains__(x[0])", "__getitem__(0)", "__add__(x)"])
def test_of_arrays(text):
    plain = program(f"return x.{text}", ["x"])
    assert repr(al.function(plain)(np.arange(3.0))) == repr(plain(np.arange(3.0)))


@each(["__floor__()", "__ceil__()", "__trunc__()"])
def test_of_no_number(text):
    plain = program(f"return x[0].{text}", ["x"])
    for value in (np.nan, np.inf):
        x = np.array([value])
        expected, found = outcome(plain, x), outcome(al.function(plain), x)
        assert type(found) is type(expected) and str(expected) in str(found)
