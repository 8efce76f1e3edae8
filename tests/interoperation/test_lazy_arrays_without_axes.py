"""Dask's arrays without axes, ``x.sum()``: arrays as all others, which loops and branches hand on as they are."""

from __future__ import annotations

import itertools
import warnings
from types import SimpleNamespace

import autoloop as al
import numpy as np
import pytest
from each_case import each

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
X = np.arange(6)


def handed_on(s, n, kept):
    t, i = s, 0
    while i < n:
        t = s
        i += 1
    return t


def kept_for_the_best(s, n, kept):
    best = s
    for i in range(n):
        if i > 100:
            best = best + 1
    return best


def chosen(s, n, kept):
    if s > 3:
        r = s
    else:
        r = s + 1
    return r, s


def exchanged(s, n, kept):
    t = s + 1
    for _ in range(n):
        s, t = t, s
    return s, t


def left_in_a_branch(s, n, kept):
    kept.v = v = s + 1
    if s > 30:
        v = s
    return v, s


def listed(s, n, kept):
    best, found = s, [s]
    for i in range(n):
        now = s - i
        if now < best:
            best = now
        found.append(now)
    return best, *found


def written_to(s, n, kept):
    t = s * 2
    for _ in range(n):
        t[...] = 7
    return s, t


def written_through(s, n, kept):
    t = s * 2
    np.add(s, 1, out=t)
    return s, t


def given_back_early(s, n, kept):
    for i in range(n):
        if s > 10 * i:
            return s
    return s + 1


def set_late(s, n, kept):
    t = None
    for i in range(n):
        if i == 1:
            t = s
    return s if t is None else t


def beside_a_number(s, n, kept):
    t = 1
    for i in range(n):
        if i == 1:
            t = s
    return s + t, t if n else s


def taken_whole(s, n, kept):
    t = s
    for _ in range(n):
        t = s[()]
    return t, s.T, s.reshape(()), s[...], s.astype(s.dtype), s.copy(), s.real, +s, s.squeeze()


def observed(f, turns):
    """Return what a function gives, which of it is one array, and what is written where each is written to."""
    s = da.from_array(X, chunks=3).sum()
    kept = SimpleNamespace(v=s)
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.filterwarnings("ignore", ".* runs as plain Python")
        made = f(s, turns, kept)
        every = [s, *(made if isinstance(made, tuple) else (made,)), kept.v]
        same = [one is other for one, other in itertools.combinations(every, 2)]
        held = [int(one) for one in every]
        for k, one in enumerate(every):
            one[...] = 100 + k
        return same, held, [(type(one), one.dtype, int(one)) for one in every]


@each([
    handed_on, kept_for_the_best, chosen, exchanged, left_in_a_branch, listed, written_to, written_through,
    given_back_early, set_late, beside_a_number, taken_whole,
])  # fmt: skip
def test_they_are_the_callers_where_undecorated_they_are(f):
    for turns in (np.int64(3), np.int64(0)):
        assert observed(al.function(f), turns) == observed(f, turns)
