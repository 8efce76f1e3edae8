"""Dtypes that NumPy has twice, as C has types of one width: equal, but for the class of their scalars."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from random_expressions import compiled

#: those whose scalars are of another class than those of the dtype that equals them
SECOND = [
    np.dtype(one) for one in np.typecodes["AllInteger"] if np.dtype(one).type is not np.dtype(np.dtype(one).str).type
]
PROGRAMS = [
    "d.type(n)", "d.type(int(n))", "n.astype(d)", "np.arange(n, dtype=d)[0]", "np.zeros(2, d)[0] + n", "d.type(2) + n",
    "np.sum(np.arange(n), dtype=d)", "np.full(2, n, dtype=d)[0]",
    "np.vectorize(lambda t: t * 2, otypes=d.char)([n])[0]",
    "x[0]", "x + 1", "x[0] + n", "(x + n).sum()", "x.dtype.char", "np.int64(3) + x[:n]",
]  # fmt: skip


@each(PROGRAMS)
def test_scalars_have_the_class_of_numpys(line):
    if not SECOND:
        pytest.skip("no dtype is there twice on this machine")
    for dtype in SECOND:
        f = compiled(f"def program(x, n, d):\n    return {line}\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # plain Python runs it
            made, wanted = (g(np.arange(4, dtype=dtype), np.int64(2), dtype) for g in (al.function(f), f))
        assert type(made) is type(wanted) and getattr(made, "dtype", made) == getattr(wanted, "dtype", wanted)
        if isinstance(made, np.ndarray):
            assert made.dtype.char == wanted.dtype.char and type(made[0]) is type(wanted[0])


def test_one_is_no_other_to_a_function_that_has_seen_it():
    if not SECOND:
        pytest.skip("no dtype is there twice on this machine")
    of_array, of_scalar = al.function(lambda x: x[0] + 1), al.function(lambda x: x + 1)
    own, second = np.arange(3, dtype=SECOND[0].str), np.arange(3, dtype=SECOND[0])
    for given in (own, second, own, second):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert type(of_array(given)) is type(given[0] + 1)
            assert type(of_scalar(given[1])) is type(given[1] + 1)
    with pytest.warns(UserWarning, match="a type of its own that equals u?int64.* give a copy, x.astype"):
        al.function(lambda x: x * 2)(second)
    assert type(al.constant(second)[0].numpy()) is own.dtype.type
    with pytest.raises(TypeError, match="a type of its own"):
        al.function(lambda x, n: np.sum(x[:n], dtype=SECOND[0]))(al.range(3), al.constant(2))


def test_global_numbers_of_such_a_type_are_of_it():
    if not SECOND:
        pytest.skip("no dtype is there twice on this machine")
    f = compiled("def program(n):\n    return number + n, number\n")
    f.__globals__["number"] = SECOND[0].type(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(map(type, al.function(f)(np.int64(1)))) == list(map(type, f(np.int64(1))))


def test_the_parts_of_the_widest_complex_numbers_are_as_wide():
    def parts(x):
        real = (x != 0).astype(x.real.dtype)
        return x.real.dtype, x.imag.dtype, real.sum(), np.zeros(2, (x * 1).real.dtype), x.real + x.imag * 1j, np.abs(x)

    x = np.array([1 + 2j, 0], np.clongdouble)
    decorated = al.function(parts)
    assert repr([decorated(x), decorated(x)]) == repr([parts(x)] * 2)
