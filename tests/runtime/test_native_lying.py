"""Machine code works on large arguments where they lie, in whatever order, and gives what NumPy gives."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import needs_native

pytestmark = needs_native

SIZE = 60


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch):
    monkeypatch.setattr("autoloop_runtime.native.lying_arguments.MOST_COPIED", 0)


def lying(make):
    """An array of numbers that are all different, made so that it lies as ``make`` says."""
    return make(np.random.default_rng(1).random((2 * SIZE, 2 * SIZE)))


LAYOUTS = {
    "fortran": lambda w: np.asfortranarray(w[:SIZE, :SIZE])[:],
    "transposed": lambda w: w[:SIZE, :SIZE].T,
    "upside_down": lambda w: w[:SIZE, :SIZE].copy()[::-1],
    "mirrored": lambda w: w[:SIZE, :SIZE].copy()[:, ::-1],
    "every_other_row": lambda w: w[::2, :SIZE],
    "every_other_column": lambda w: w[:SIZE, ::2],
    "inside": lambda w: w[3 : 3 + SIZE, 5 : 5 + SIZE],
    "inside_of_fortran": lambda w: np.asfortranarray(w)[3 : 3 + SIZE, 5 : 5 + SIZE],
    "backwards_of_a_transpose": lambda w: w.T[::-2, SIZE - 1 :: -1],
}


def one_element(m, n):
    m[3, 5] = 1


def elementwise(m, n):
    m += 1
    m[:, 3] = m[:, 4]
    m[2:] *= 2
    return m * 2 - m.T[: m.shape[0], : m.shape[1]].sum()


def stencil(m, n):
    m[1:-1, 1:-1] = m[:-2, 1:-1] + m[2:, 1:-1]
    m[1:] = m[:-1]
    m[:, :-1] = m[:, 1:]


def centred(m, n):
    m -= m.mean(axis=0)
    m[m > 0.3] = 0
    return m.sum(axis=1), m.max(axis=0), m.min(), m.argmax()


def in_loops(m, n):
    for i in range(n):
        m[i, 3] += m[i + 1, 2]
        for j in range(1, n):
            m[i + 1, j] = 0.25 * (m[i, j] + m[i + 2, j])


def swapped(m, n):
    u = m.copy()
    for _ in range(n):
        m[1:] -= m[:-1] * 0.5
        u = m * 1.5 - u
    for _ in range(n):
        m[:] = 0.5 * (m + np.roll(m, 1, 0))
    return u


def replaced(m, n):
    k = m
    while k[0, 0] < n:
        k = k + m
    return k


def branches(m, n):
    if n > 2:
        m *= 2
        m[0] = m[1]
    else:
        m += 1


def sorted_in_place(m, n):
    m.sort(axis=0)
    m[3:9].sort(axis=1)


def results_as_out(m, n):
    np.exp(m, out=m)
    np.cumsum(m, axis=1, out=m)
    np.sum(m, axis=0, out=m[0])
    np.matmul(m / 9, m.copy(), out=m)
    m /= m.max()
    return np.linalg.solve(m + 90 * np.eye(len(m)), m[0])


def by_rows(m, n):
    s = 0.0
    for i in range(n):
        s += m[i].sum()
        m.T[i] += s
        m[i], m[i + 1] = m[i + 1].copy(), m[i].copy()
    m[[0, 1]] = m[[1, 0]]
    m[m[:, 0] > 0.5] = 0
    return s, m.reshape(-1)[::7].sum(), m.ravel()[5], m[2:5]


PROGRAMS = [
    one_element, elementwise, stencil, centred, in_loops, swapped, replaced, branches, sorted_in_place,
    results_as_out, by_rows,
]  # fmt: skip


def leaves(result):
    return result if isinstance(result, tuple) else (result,)


def check(program, name):
    plain, ours = lying(LAYOUTS[name]), lying(LAYOUTS[name])
    whole, around = ours.base, ours.base.copy()
    f = al.function(program, executor="native")
    for n in (np.int64(4), np.int64(1)):
        want, got = leaves(program(plain, n)), leaves(f(ours, n))
        np.testing.assert_allclose(ours, plain, 1e-9)
        for one, other in zip(want, got, strict=True):
            if one is not None:
                np.testing.assert_allclose(other, one, 1e-9)
                assert np.shares_memory(one, plain) == np.shares_memory(other, ours)
    outside = ~np.isin(around, lying(LAYOUTS[name]))  # what lies between its elements
    np.testing.assert_array_equal(whole[outside], around[outside])


@each(
    [(program, [*LAYOUTS][k % len(LAYOUTS)]) for first, program in enumerate(PROGRAMS) for k in (first, first + 4)],
    one_in=2,
)
def test_what_a_program_does_to_an_array_that_lies_otherwise(program, name):
    check(program, name)


@pytest.mark.nightly
@each([(program, name) for program in PROGRAMS for name in LAYOUTS], parts=4)
def test_what_each_program_does_to_each_array_that_lies_otherwise(program, name):
    check(program, name)


def test_an_array_is_written_to_where_it_lies_and_not_copied(monkeypatch):
    copies, require = [], np.require
    monkeypatch.setattr(np, "require", lambda *args: copies.append(args) or require(*args))
    f = al.function(one_element, executor="native")
    for make in LAYOUTS.values():
        f(lying(make), np.int64(1))
    assert not copies


def test_after_many_ways_to_lie_copies_are_made(monkeypatch):
    monkeypatch.setattr("autoloop_runtime.native.lying_arguments.MOST_WAYS", 2)
    f = al.function(elementwise, executor="native")
    for step in (1, 2, 3, 4, 5):
        plain, ours = (np.arange(40.0 * 40 * step).reshape(40, 40 * step)[:, ::step] for _ in range(2))
        np.testing.assert_array_equal(f(ours, np.int64(1)), elementwise(plain, 1))
        np.testing.assert_array_equal(ours, plain)


def test_an_error_tells_of_elements_where_they_lie():
    def f(m, k):
        m[0] = 1
        return m[:, k]

    given = np.asfortranarray(np.ones((50, 50)))
    with pytest.raises(IndexError, match="index 50 is out of bounds for axis 1 with size 50"):
        al.function(f, executor="native")(given, np.int64(50))
