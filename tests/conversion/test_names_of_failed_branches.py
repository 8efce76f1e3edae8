"""A branch or loop that raises sets no names: the run raises what it raises there, not that the names have no value."""

from __future__ import annotations

import contextlib
import io

import autoloop as al
import numpy as np
from each_case import each


def in_a_branch(a, k):
    if k > 1:
        c = a[:3] + a[:2]
    return c


def in_a_while(a, k):
    while k > 1:
        k = k - 1
        b = a.reshape(7)
        c = b + 1
    return c


def in_a_loop(a, k):
    for i in range(2):
        if a[0] + k > 2:
            x = a[i]
            y = a[7]
            x += y
        a[0] += x
    return a


def behind_what_is_shown(a, k):
    print(k)
    if k > 5:
        c = a.reshape(9)
    print(a)
    return c


def outcome(f, k):
    a, stream, error = np.arange(4.0), io.StringIO(), None
    with contextlib.redirect_stdout(stream):
        try:
            f(a, k)
        except Exception as one:
            error = type(one)
    return error, stream.getvalue()


@each(
    (f, executor)
    for f in (in_a_branch, in_a_while, in_a_loop, behind_what_is_shown)
    for executor in ("auto", "sequential", "dataflow")
)
def test_the_runs_own_exception_comes_first(f, executor):
    decorated = al.function(f, executor=executor)
    for k in (np.float64(3), np.float64(0), np.float64(9)):
        for _ in range(2):
            assert outcome(decorated, k) == outcome(f, k)
