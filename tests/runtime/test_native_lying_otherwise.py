"""Machine code: arrays that lie otherwise are written to where they are, in loops and parts, as plain Python does."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each

pytest.importorskip("llvmlite")
N = np.int64(4)


def named_transpose(m, n):
    c = m.T
    for i in range(n):
        c[i, 0] += 1
        c[:, i] *= 2
    return c[0]


def there_and_back(m, n):
    c = m.T
    for i in range(n):
        c[i] += c[i + 1]
    c[0, :] = 7
    d = c.T
    for i in range(n):
        d[i] -= c[i, 1]
    return c.sum(), d


def two_views(m, n):
    c = m.T
    for i in range(n):
        c[i, 0] += 1
        m[0, i] += c[i, i]
    return c


def swapped(m, n):
    c = m.copy().T
    e = np.zeros_like(c)
    for _ in range(n):
        e[1:] = c[:-1] * 2
        c, e = e, c
    return c, e


def moved(m, n):
    m[:, 1:] = m[:, :-1]
    m[:-1, 2:] = m[1:, :-2]
    m[::-1][1:] = m[::-1][:-1]
    m[::-1, ::-1][2:, 1:] = m[::-1, ::-1][:-2, :-1]


LAYOUTS = {
    "C order": lambda a: a,
    "Fortran's order": np.asfortranarray,
    "backwards": lambda a: a[::-1],
    "transposed": lambda a: a.T,
    "every other row": lambda a: np.repeat(a, 2, 0)[::2],
}


def compared(f, decorated, make, *more):
    ours, theirs = make(), make()
    found, want = decorated(ours, *more), f(theirs, *more)
    np.testing.assert_array_equal(ours, theirs)
    for one, other in zip(found if isinstance(found, tuple) else [found], want if isinstance(want, tuple) else [want]):
        if other is not None:
            np.testing.assert_array_equal(one, other)
            assert np.shares_memory(one, ours) == np.shares_memory(other, theirs)


#: small ones are copied
@each([(f, name) for f in (named_transpose, there_and_back, two_views, swapped, moved) for name in LAYOUTS], one_in=2)
def test_as_plain_python(f, name):
    decorated = al.function(f, executor="native")
    for size in (6, 190):
        values = np.arange(float(size * size)).reshape(size, size) + 0.5
        for _ in range(2):
            compared(f, decorated, lambda values=values: LAYOUTS[name](values.copy()), N)


def added(a, n):
    for i in range(n):
        a[i : i + 4] += 1


def centred(a, n):
    k, most = 0, 0.0
    while k < n:
        part = a[k : k + 3]
        part -= part.mean()
        most += a[k : k + 4].max()
        k += 2
    return most


def shifted(a, n):
    for i in range(n):
        a[i : i + 4] = a[i + 1 : i + 5]


@each([(f, n) for f in (added, centred) for n in (3, 8, 10)])
def test_slices_are_cut_short_in_large_arrays(f, n):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autoloop_runtime.native.native_function.LARGE", 1)
        decorated = al.function(f, executor="native")
        for _ in range(2):
            compared(f, decorated, lambda: np.arange(10.0) ** 1.5, np.int64(n))


def test_what_wants_to_know_how_many_there_are_gives_up(monkeypatch):
    monkeypatch.setattr("autoloop_runtime.native.native_function.LARGE", 1)
    decorated = al.function(shifted, executor="native")
    compared(shifted, decorated, lambda: np.arange(10.0), N)
    given = np.arange(10.0)
    with pytest.raises(NotImplementedError, match=r"native.*getitem.*lying_otherwise.py:\d+: a slice is cut"):
        decorated(given, np.int64(9))
    assert given.tolist() == list(range(10))
