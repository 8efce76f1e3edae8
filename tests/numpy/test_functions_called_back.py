"""Functions of NumPy's that call the user's: these are converted, and the elements are those of a loop of the graph."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from left_to_python import refused_or_plain

X = np.array([[3.0, -1.0, 2.5], [0.5, 4.0, -2.0]])


@np.vectorize
def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def clipped_sum(row, least):
    total = 0.0
    for value in row:
        if value > least:
            total += value
    return total


PROGRAMS = {
    "elements with a loop of their own": (lambda x: collatz(x), np.array([1, 7, 27])),
    "rows with a branch": (lambda x: np.apply_along_axis(clipped_sum, 1, x, 0.0), X),
    "columns that become vectors": (lambda x: np.apply_along_axis(lambda r: np.cumsum(r) * 2, 0, x), X),
    "rows that become matrices": (lambda x: np.apply_along_axis(lambda r: np.outer(r, r), 1, x), X),
    "chosen by conditions": (lambda x: np.piecewise(x, [x < 0, x > 2], [lambda q: -q, np.sqrt, 0.5]), X),
    "over axes": (lambda x: np.apply_over_axes(np.max, x, (0, 1)), X),
}


@each(product(PROGRAMS, EXECUTORS), one_in=2)
def test_as_in_numpy(name, executor):
    f, x = PROGRAMS[name]
    try:
        found = al.function(f, executor=executor)(x)
    except RuntimeError as refusal:
        assert executor == "native" and "native" in str(refusal)
        return
    assert type(found) is np.ndarray and found.dtype == f(x).dtype
    np.testing.assert_allclose(found, f(x), rtol=1e-14)


def test_gradients_go_through():
    f = al.function(lambda x: np.sum(np.apply_along_axis(lambda r: r * r[0], 1, x)))
    np.testing.assert_allclose(al.grad(f)(X), np.stack([np.array([r[0] + r.sum(), r[0], r[0]]) for r in X]))


def test_what_is_not_supported_is_refused_by_its_name():
    for argument, made in (
        ("signature", np.vectorize(lambda a: a, signature="(i)->(i)")),
        ("excluded", np.vectorize(lambda a, k: a, excluded=["k"])),
    ):  # fmt: skip
        words = f"numpy.vectorize does not take the argument '{argument}'"
        refused_or_plain(
            (lambda x, made=made: made(x, 1)) if made.excluded else (lambda x, made=made: made(x)), words, X
        )
    words = "numpy.vectorize: a complex number does not become float64"
    with pytest.warns(UserWarning, match=words), pytest.raises(TypeError):  # as NumPy's, in its own words
        al.function(lambda x: np.vectorize(lambda a: a * 1j, otypes=[float])(x))(X)


def test_numpys_words_where_numpy_raises_too():
    empty = np.zeros((0, 3))
    with pytest.raises(ValueError, match="cannot call `vectorize` on size 0 inputs unless `otypes` is set"):
        al.function(lambda x: np.vectorize(lambda a: a)(x))(empty)
    with pytest.raises(ValueError, match="Cannot apply_along_axis when any iteration dimensions are 0"):
        al.function(lambda x: np.apply_along_axis(np.sum, 1, x))(empty)
    with pytest.raises(ValueError, match=r"with 1 condition\(s\), either 1 or 2 functions are expected"):
        al.function(lambda x: np.piecewise(x, [x > 0], [1, 2, 3]))(X)
    with pytest.raises(ValueError, match="function is not returning an array of the correct shape"):
        al.function(lambda x: np.apply_over_axes(lambda a, axis: a[0, 0], x, 0))(X)
