"""What NumPy refuses of arrays and scalars: dtypes that are arrays, methods of arrays asked of scalars, iterators."""

from __future__ import annotations

from typing import Any

import autoloop as al
import numpy as np
import pytest

X = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.dtype(x),
        lambda x: np.zeros_like([1.0, 2.0], x),
        lambda x: np.arange(3, dtype=x),
        lambda x: x.astype(x),
        lambda x: np.sum(x, dtype=x),
        lambda x: np.issubdtype(x, np.floating),
        lambda x: np.promote_types(x, "f4"),
    ],
)
def test_an_array_is_no_dtype(f: Any) -> None:
    for one in (f, al.function(f)):
        with pytest.raises(TypeError, match="Cannot construct a dtype from an array"):
            one(X)


def test_scalars_and_dtypes_are_dtypes() -> None:
    @al.function
    def f(x: Any) -> Any:
        return np.dtype(x[0, 0]), np.promote_types(x.dtype, "c8"), np.zeros_like([1, 2], x.dtype), np.dtype("f4")

    assert repr(f(X)) == repr(f.python_function(X))


@pytest.mark.parametrize("f", [lambda s: s.dot(2), lambda s: s.argpartition(0), lambda s: (s + 1).dot(X)])
def test_methods_that_scalars_have_not(f: Any) -> None:
    for one in (f, al.function(f)):
        with pytest.raises(AttributeError, match="'numpy.float64' object has no attribute"):
            one(np.float64(2.0))


def test_arrays_without_axes_have_them() -> None:
    assert al.function(lambda s: s.dot(2.0))(np.array(2.0)) == 4.0


@pytest.mark.parametrize("f", [lambda x: x.flat, lambda x: [1, (x + 1).flat], lambda x: x[0].flat])
def test_an_iterator_is_not_given_back(f: Any) -> None:
    with pytest.raises(TypeError, match=r"gives no numpy.flatiter: return the array, or a copy, x.flat\[:\]"):
        al.function(f)(X)
    assert al.function(lambda x: x.flat[:])(X).tolist() == X.ravel().tolist()


@pytest.mark.parametrize(
    "f", [lambda x: np.frombuffer(x), lambda x: np.shares_memory(x, x), lambda x: np.may_share_memory(X, x)]
)
def test_what_asks_for_memory_says_so(f: Any) -> None:
    words = "asks for memory, which is none while a graph is built"
    with pytest.raises(TypeError, match=words):
        al.function(f)(al.constant(X))
    with pytest.warns(UserWarning, match=words):
        np.testing.assert_array_equal(al.function(f)(X), f(X))
