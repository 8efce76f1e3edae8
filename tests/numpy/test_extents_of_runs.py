"""NumPy's functions of arrays whose extents only the run knows: what NumPy says of them is said by the run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain

A = np.arange(20.0).reshape(5, 4) ** 1.5 + 1.0
V = np.array([0.5, 2.0, 1.0, 4.0, 3.0])
#: of an array `a` of 5 x 4, of which 5 is not known, and a vector `v` of as many
SAME: dict[str, Callable[[Any, Any], Any]] = {
    "bytes": lambda a, v: (a.nbytes, v.nbytes // 2, a[0].nbytes),
    "parts": lambda a, v: np.split(v, 5) + np.split(a, 1) + np.array_split(v, 2),
    "slopes": lambda a, v: [np.gradient(v), *np.gradient(a, v.cumsum(), 2.0), np.gradient(v, edge_order=2)],
    "slopes between known points": lambda a, v: np.gradient(a, np.array([0.0, 1.0, 3.0, 4.0, 9.0]), axis=0),
    "periodic": lambda a, v: np.interp(v, v, v * 2, period=1.5),
    "averages": lambda a, v: [np.average(a, axis=0, weights=v), np.average(v, weights=v), np.average(a, 0, range(5))],
    "covariances": lambda a, v: [np.cov(a.T, aweights=v), np.cov(v, v), np.corrcoef(v, a[:, 0])],
    "powers": lambda a, v: np.linalg.matrix_power(a[:4], 3),
    "padding": lambda a, v: [np.pad(v, 2, "mean"), np.pad(a, 1, "linear_ramp"), np.pad(v, 1, "edge")],
    "axes of what was deleted": lambda a, v: np.delete(np.delete(a, np.where(v > 2)[0], axis=0), [1], axis=1),
    "axes of what was inserted": lambda a, v: np.delete(np.insert(a, np.where(v > 2)[0], 9.0, axis=0), 0, axis=1),
    "axes of what was padded": lambda a, v: np.delete(np.pad(a, 1, "edge"), np.where(v > 2)[0], axis=0),
    "places of what was deleted": lambda a, v: a[np.ix_(np.delete(range(5), np.where(v > 2)[0]), [0, 2])],
    "fits": lambda a, v: [np.polyfit(v, v * v, 1), np.polyfit(v, a, 2), np.polyfit(v.astype("f"), v, 1, w=v)],
    "triangles": lambda a, v: [*np.triu_indices_from(a), *np.tril_indices_from(np.outer(v, v), -1)],
    "equal arrays": lambda a, v: [np.array_equal(v, p) for p in (v * 1, v + 1, v[1:], a[:, 0], a)],
    "rows of none": lambda a, v: np.apply_along_axis(np.sum, 0, v[:0]),
}  # fmt: skip
#: what NumPy raises
WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "uneven parts": lambda a, v: np.split(v, 2),
    "uneven rows": lambda a, v: np.vsplit(a, 3),
    "slopes of one": lambda a, v: np.gradient(v[v > 3.5]),
    "slopes of two": lambda a, v: np.gradient(v[v > 2.5], edge_order=2),
    "slopes between other points": lambda a, v: np.gradient(v, v[1:]),
    "slopes between other known points": lambda a, v: np.gradient(v, np.array([0.0, 1.0, 3.0])),
    "periodic, of fewer": lambda a, v: np.interp(v, v, v[1:], period=1.5),
    "periodic, of more": lambda a, v: np.interp(v, v[1:], v, period=1.5),
    "weights of fewer": lambda a, v: np.average(v, weights=v[1:]),
    "weights of one": lambda a, v: np.average(v, weights=v[v > 3.5]),
    "weights of fewer rows": lambda a, v: np.average(a, axis=0, weights=v[1:]),
    "weights of columns": lambda a, v: np.average(a, axis=1, weights=v),
    "samples": lambda a, v: np.cov(a.T, fweights=np.ones(len(v) - 1, int)),
    "first power of no square": lambda a, v: np.linalg.matrix_power(a, 1),
    "power 0 of no square": lambda a, v: np.linalg.matrix_power(a, 0),
    "means of none": lambda a, v: np.pad(v[v > 9], 1, "mean"),
    "ramps of none": lambda a, v: np.pad(v[v > 9], 1, "linear_ramp"),
    "a fit of none": lambda a, v: np.polyfit(v[v > 9], v[v > 9], 1),
    "weights of one, of a fit": lambda a, v: np.polyfit(v, v * v, 1, w=v[v > 3.5]),
    "weight of a fit": lambda a, v: np.polyfit(v, v * v, 1, w=[2.0]),
    "quotient of none": lambda a, v: np.polydiv(v[:0], [1.0, 2.0]),
}

#: machine code takes no arrays of such shapes
WAYS = ("auto", "sequential", "dataflow")


def _unknown(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def masked(a: Any, v: Any) -> Any:
        found = v > 0
        return function(a[found], v[found])

    return masked


@each(product(SAME, WAYS))
def test_they_are_computed(name: str, executor: str) -> None:
    f = _unknown(SAME[name])
    made, wanted = al.nest.flatten(al.function(f, executor=executor)(A, V)), al.nest.flatten(f(A, V))
    assert [(type(one), np.shape(one)) for one in made] == [(type(one), np.shape(one)) for one in wanted]
    for one, other in zip(made, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@each(product(WRONG, WAYS), one_in=3)
def test_the_run_raises_what_numpy_raises(name: str, executor: str) -> None:
    f = _unknown(WRONG[name])
    with pytest.raises(Exception) as plain:
        f(A, V)
    with pytest.raises(type(plain.value)) as raised:
        al.function(f, executor=executor)(A, V)
    assert str(plain.value) in str(raised.value)
    made = al.function(f, executor=executor)
    with pytest.raises(type(plain.value)):  # of tensors, too, which plain Python never runs
        made(al.constant(A), al.constant(V))


def test_one_row_of_samples_has_another_result_than_several() -> None:
    refused_or_plain(_unknown(lambda a, v: np.cov(a)), "the number of rows must be known", A[:1], V[:1])


def test_derivatives_of_no_polynomials_are_as_in_numpy() -> None:
    with pytest.raises(ValueError, match="could not be broadcast"):
        al.function(lambda p: np.polyder(p))(A)


def test_no_coefficients_give_an_array_without_axes() -> None:
    refused_or_plain(lambda p: np.polyval(p, 2.0), "gives an array without axes", V[:0])


def test_scipy_is_asked_with_extents_that_are_known() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    refused_or_plain(_unknown(lambda a, v: linalg.det(a[:4])), "must know the shapes of its arguments", A, V)
    special = pytest.importorskip("scipy.special")
    refused_or_plain(lambda v: special.logsumexp(v), "of no elements", V[:0])
    for chosen in (9.0, 1.5):
        made = al.function(lambda v, least: special.logsumexp(v[v > least]))(V, chosen)
        np.testing.assert_allclose(made, special.logsumexp(V[V > chosen]), rtol=1e-12)
