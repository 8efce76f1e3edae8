"""What Dask gives of NumPy's functions where that is of another dtype, or another kind of thing, than NumPy's."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
INTS, TRUTHS, SINGLES = np.array([3, 1, 4, 1, 5, 0]), np.array([1, 0, 1, 1, 0, 1], bool), np.arange(6, dtype="f4")

CASES = {
    "linspace to single precision": (lambda x: np.linspace(0, x.max(), 3), SINGLES),
    "a sum of magnitudes": (lambda x: np.linalg.norm(x, ord=1), INTS),
    "the largest magnitude": (lambda x: np.linalg.norm(x, ord=np.inf), INTS.astype("i2")),
    "that of truth values": (lambda x: np.linalg.norm(x, ord=-np.inf), TRUTHS),
    "a norm of columns": (lambda x: np.linalg.norm(x.reshape(2, 3), ord=1, axis=1), INTS),
    "rounded truth values": (lambda x: np.round(x), TRUTHS),
    "rounded by a method": (lambda x: x.round(), TRUTHS),
    "conjugate truth values": (lambda x: x.conj(), TRUTHS),
    "places of a triangle": (lambda x: np.triu_indices_from(x.reshape(2, 3)), INTS),
    "places of the other": (lambda x: np.tril_indices_from(x.reshape(2, 3)), SINGLES),
    "a list of gradients": (lambda x: np.gradient(x), SINGLES),
    "a product of truth values": (lambda x: np.einsum("i,i->", x, x), TRUTHS),
    "what is alike": (lambda x: (np.linalg.norm(x), np.linspace(0.0, 1.0, 3) * x.max(), x.mean(), np.cumsum(x)), INTS),
}


def described(made):
    if isinstance(made, (tuple, list)):
        return type(made), [described(one) for one in made]
    computed = np.asarray(made)
    return type(made), made.dtype, computed.dtype, computed.tolist()


@each(CASES)
def test_a_decorated_function_gives_it_too(case):
    f, values = CASES[case]

    def in_a_loop(x):
        i = 0
        while i < x.size - 5:
            i += 1
        return f(x)

    x = da.from_array(values, chunks=3)
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        assert described(al.function(in_a_loop)(x)) == described(f(x))


def test_of_an_axis_of_unknown_length():
    def f(x):
        return np.linalg.norm(x[x > 1], ord=1)

    x = da.from_array(INTS, chunks=3)
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        assert described(al.function(f)(x)) == described(f(x))


def test_nothing_is_computed_to_know_it():
    def refuse(*_, **__):
        raise AssertionError("something is computed")

    x = da.from_array(INTS, chunks=3)
    with dask.config.set(scheduler=refuse):
        made = al.function(lambda x: (np.cumsum(x), x.sum(), np.linalg.norm(x * 1.0, ord=1)))(x)
    with dask.config.set(scheduler="synchronous"):
        assert [np.asarray(one).tolist() for one in made] == [np.cumsum(INTS).tolist(), 14, 14.0]


def test_tensors_that_hold_its_arrays_give_tensors():
    def twice(t, n):
        for _ in range(n):
            t = t * 2
        return t, t

    t = al.asarray(da.from_array(INTS, chunks=3))
    with dask.config.set(scheduler="synchronous"):
        with pytest.warns(UserWarning, match="'t' is a tensor that holds an array of dask.array.*, of which"):
            made = al.function(twice)(t, np.int64(3))
        want = twice(t, 3)
        assert [type(one) for one in made] == [type(one) for one in want]
        assert made[0].numpy().tolist() == want[0].numpy().tolist()


def counted(x):
    total = np.zeros(8, int)
    for i in range(x.size * 6):
        total = total + np.bincount(x, minlength=8)
    return total, np.bincount(x), np.bincount(x, weights=x * 0.5, minlength=8)


def sorted_into_bins(x):
    place = np.digitize(x, np.array([0, 2, 4]))
    return (place == 1).sum(), np.isin(place, [1, 3], invert=True)


def told_apart(x):
    return np.unique(x), np.unique(x, return_counts=True), np.unique(x, return_index=True, return_inverse=True)


@each([counted, sorted_into_bins, told_apart])
def test_what_counts_is_in_the_graph(f):
    x = da.from_array(INTS, chunks=3)
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("error")
        assert described(al.function(f)(x)) == described(f(x))


def test_other_threads_go_on_computing_meanwhile(monkeypatch):
    seen, plain = [], da.cumsum

    def cumsum(x, *args, **kwargs):
        seen.append(dask.config.get("scheduler"))
        with pytest.raises(BaseException, match="^$"):  # asked with an array that has no tasks
            x.compute()
        return plain(x, *args, **kwargs)

    def f(x):
        return np.cumsum(x) + 1

    x = da.from_array(INTS, chunks=3)
    monkeypatch.setattr(da, "cumsum", cumsum)
    with dask.config.set(scheduler="synchronous"):
        traced = al.function(f).get_concrete_function(x)
        monkeypatch.undo()
        assert traced(x).compute().tolist() == (np.cumsum(INTS) + 1).tolist()
    assert seen and set(seen) == {"synchronous"}
