"""Arrays without axes of which branches and indices choose one: each stays an array, and is written to where it is."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
from each_case import each
from executors import EXECUTORS


def chosen(c, a, b):
    return [a, b][c]


def of_pairs(c, a, b):
    return [(a, 1), (b, 2)][c], ({"k": a, "v": 1.5}, {"k": b, "v": True})[c]


def in_a_loop(c, a, b):
    t = 0
    for k in range(c + 1):
        r = [a, b][k % 2]
        t = t + r
    return t, r


def written(c, a, b):
    r = [a, b][c]
    r[...] = 7


def added(c, a, b):
    r = a if c > 0 else b
    r += 7
    return c


def written_after_a_branch(c, a, b):
    r = a
    if c > 0:
        r = b
    r[()] = 7
    return r


def written_in_a_loop(c, a, b):
    for k in range(c + 1):
        r = [a, b][k % 2]
        r[...] = 7


def given_as_out(c, a, b):
    np.add(a, 1, out=[a, b][c])


PROGRAMS = [chosen, of_pairs, in_a_loop, written, added, written_after_a_branch, written_in_a_loop, given_as_out]


@each([(shape, f, executor) for shape in ((), (2,)) for f in PROGRAMS for executor in EXECUTORS])
def test_as_in_plain_python(shape, f, executor):
    decorated = al.function(f, executor=executor)
    for c in (0, 1, 0):
        ours, plain = ([np.int64(c), np.full(shape, 2.5), np.full(shape, 3.5)] for _ in range(2))
        expected = f(*plain)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # plain Python runs those that write
            try:
                found = decorated(*ours)
            except (TypeError, NotImplementedError) as refused:
                assert executor == "native" and "executor='native'" in str(refused)
                continue
        assert (repr(found), repr(ours)) == (repr(expected), repr(plain))
