"""``x[0].__floor__()`` and its like: what NumPy's scalars have of Python's numbers, and what they lack."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
from each_case import each
from left_to_python import refused_or_plain
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


class Doubled:
    """An array or an index to who asks for one, and nothing else."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return self.value * 2

    def __index__(self):
        return int(self.value) * 2


class Rows(Doubled):
    """The same with a length, so that NumPy might take it for a list."""

    def __len__(self):
        return len(self.value)

    def __getitem__(self, place):
        return self.value[place]


@each(
    ["np.asarray(o(x))", "np.sum(o(x))", "x + o(x)", "np.stack([o(x), x])", "np.dot(o(x), x)", "x.__iadd__(o(x))"],
    name=str,
)
def test_an_array_that_an_object_makes_of_values(text):
    for kind in (Doubled, Rows):
        for f in (program(f"return {text}", ["x"], o=kind), _caught(text, "ValueError", kind)):
            refused_or_plain(f, "an object's __array__ gives values that only the run knows", np.arange(3.0))


@each(["x[o(x[1])]", "x[o(x[1]), ...]", "x[None, o(x[1])]", "x.__setitem__(o(x[1]), 7)"], name=str)
def test_an_index_that_an_object_makes_of_values(text):
    for f in (program(f"return {text}", ["x"], o=Doubled), _caught(text, "IndexError", Doubled)):
        refused_or_plain(f, "'Doubled.__index__', which is not converted, asks for a value", np.arange(3.0))
    known = program("return x[o(1)]", ["x"], o=Rows)
    assert al.function(known)(np.arange(3.0)) == 2.0


def _caught(text, kind, o):
    return program(f"try:\n    return {text}\nexcept {kind}:\n    return 0", ["x"], o=o)
