"""Arguments that NumPy refuses, or that tensors do not hold: the same type of error, or a refusal that says why."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from left_to_python import refused_or_plain
from random_expressions import compiled

X = np.arange(6.0).reshape(2, 3)

#: what NumPy refuses -> its words
REFUSED_BY_NUMPY = [
    (lambda x: np.sum(x, axis=True), "an integer is required"),
    (lambda x: x.argsort(axis=True), "an integer is required"),
    (lambda x: np.sum(x, axis=[0]), "cannot be interpreted as an integer"),
    (lambda x: np.cumsum(x, axis=(0,)), "cannot be interpreted as an integer"),
    (lambda x: np.sort(x, axis=()), "cannot be interpreted as an integer"),
    (lambda x: np.take(x, [0], axis=[0]), "cannot be interpreted as an integer"),
    (lambda x: np.max(x, keepdims="yes"), "cannot be interpreted as an integer"),
    (lambda x: np.round(x, 1.5), "cannot be interpreted as an integer"),
    (lambda x: np.put_along_axis(x, np.array([[0], [1]]), 2.0, None), "`indices` must have a single dimension"),
    (lambda x: np.diag(x, k=1.5), "cannot be interpreted as an integer"),
    (lambda x: np.eye(x.astype(int)[0, 0] - 1), "negative dimensions are not allowed"),
    (lambda x: np.eye(x.astype(int)[0, 2], k=1.5), "cannot be interpreted as an integer"),
    (lambda x: np.eye(x.astype(int)[0, 2], order="Z"), "order must be one of"),
    (lambda x: +(x > 1), "ufunc 'positive' did not contain a loop"),
    (lambda x: +(x[0, 0] > 1), "ufunc 'positive' did not contain a loop"),
]
#: dtypes that tensors do not have
HOLD, ORDER = "tensors hold numbers, nothing of dtype", "tensors have this machine's byte order"
REFUSED_BY_US = [
    (lambda x: x.astype(object), HOLD),
    (lambda x: x.astype("U3"), HOLD),
    (lambda x: np.zeros_like(x, dtype="M8[s]"), HOLD),
    (lambda x: np.ones(x.astype(int)[0, 2], dtype=object), HOLD),
    (lambda x: np.array(x, dtype="m8[s]"), HOLD),
    (lambda x: np.fabs(x, dtype=object), HOLD),
    (lambda x: al.cast(x, object), HOLD),
    (lambda x: np.sum(x, dtype=">f8"), ORDER),
    (lambda x: np.asarray(x, dtype=">i4"), ORDER),
    (lambda x: np.vstack((x, x), dtype=">f8"), ORDER),
    (lambda x: x.astype(">f4"), ORDER),
]


#: dtypes that a result has, whatever it is computed in
OF_DTYPES = [
    lambda x: np.nanprod(x, dtype=bool),
    lambda x: np.nancumsum(x, 1, bool),
    lambda x: np.nancumprod(x, dtype=bool),
    lambda x: np.linalg.trace(x, dtype=bool),
    lambda x: np.nancumsum(x, 0, np.float32),
    lambda x: np.var(x, dtype=complex),
    lambda x: np.std(x, 1, dtype=complex),
]


def test_a_dtype_asked_for_is_the_results():
    for f in OF_DTYPES:
        plain, ours = f(X), al.function(f)(X)
        assert plain.dtype == ours.dtype
        np.testing.assert_array_equal(plain, ours)


def test_what_numpy_refuses_is_refused_with_its_words():
    for f, words in REFUSED_BY_NUMPY:
        with pytest.raises((TypeError, ValueError), match=words) as plain:
            f(X)
        with pytest.raises(plain.type, match=words):
            al.function(f)(X)


def test_dtypes_that_tensors_do_not_have_are_refused():
    for f, words in REFUSED_BY_US:
        if words is HOLD:
            refused_or_plain(f, words, X)
        else:
            with pytest.raises(TypeError, match=words):
                al.function(f)(X)


#: two faults at once: a place that is not there, and a value that does not fit
PLACES = ["x[3]", "x[-5]", "x[0, 0]", "x[..., 5]", "x[None, 3]", "x[[True, False]]", "x[[0, 7]]", "x.flat[3]",
          "x.flat[-5]", "x.flat[[0, 9]]", "x[len(x)]", "x[3:]"]  # fmt: skip
VALUES = ["450", "-1", "2**70", "'a'", "1 + 2j", "np.nan", "np.arange(4)", "[1, 2, 3, 4]", "[[1], [2, 3]]"]


def test_of_two_faults_numpys_is_told():
    wrong = []
    for place, value in product(PLACES, VALUES):
        if place == "x[[0, 7]]" and value in ("[1, 2, 3, 4]", "np.arange(4)"):
            continue  # NumPy compares the shapes first
        f = compiled(f"def program(x):\n    {place} = {value}\n    return x\n")
        found = [_raised(g, np.array([1, 2, 3], np.uint8)) for g in (f, al.function(f, executor="sequential"))]
        if found[0] is not found[1]:
            wrong.append((place, value, *found))
    assert not wrong


def _raised(f, x):
    try:
        f(x)
    except Exception as error:
        return type(error)
    return None
