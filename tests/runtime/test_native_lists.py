"""Machine code: lists that grow in loops as results, and made arrays of, as plain Python does."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import told_extents
from each_case import each
from executors import EXECUTORS

pytest.importorskip("llvmlite")


def collected(x, n):
    return [k * x for k in range(n)], [float(e) > 1 for e in x], [1j * e for e in x if e > n]


def of_steps(x, n):
    taken, i = [], 0
    while x.sum() > 0.1:
        x = x * 0.5
        taken.append((i, x.max(), x))
        i += 1
    return taken, x


def kept(x, n):
    out = []
    for k in range(6):
        if x[k] > n:
            out.append(x[k] * k)
    before = out
    for k in range(2):
        out += [x[k]]
    return before, out


def made_arrays(x, n):
    rows = [x * k for k, e in enumerate(x) if e > 2 or k < 1]
    places = [k for k, e in enumerate(x) if e > n or k < 1]
    both = np.array(rows)
    return np.array(places), both, both.sum(axis=0), x[places].max(), np.sort(np.array([e for e in x])), rows


def early(x, n):
    out = []
    for e in x:
        if e > n:
            break
        out.append(e + 1)
    return out


def same(found, want):
    if isinstance(want, list | tuple):
        assert type(found) is type(want) and len(found) == len(want)
        for one, other in zip(found, want):
            same(one, other)
        return
    assert type(found) is type(want) and np.asarray(found).dtype == np.asarray(want).dtype
    np.testing.assert_array_equal(found, want)


@each(
    [(f, e) for f in (collected, of_steps, kept, made_arrays, early) for e in EXECUTORS if e == "native" or f is kept]
)
def test_as_plain_python(f, executor):
    decorated = al.function(f, executor=executor)
    for n in (3, 0, 9):
        x = np.arange(6.0)
        same(decorated(x.copy(), np.int64(n)), f(x.copy(), np.int64(n)))


def test_results_are_nobody_elses():
    decorated = al.function(lambda x, n: [x * k for k in range(n)], executor="native")
    x = np.arange(3.0)
    first = decorated(x, np.int64(2))
    first[0][:], first[1][1] = 7.0, 9.0
    same(decorated(x, np.int64(2)), [x * 0, x])
    assert first[1].tolist() == [0, 9, 2]


def test_memory_must_have_a_bound(monkeypatch):
    def f(x):
        out = []
        while x.sum() > 1:
            x = x / 2
            out.append(x)
        return np.stack(out).sum(axis=0)

    decorated = al.function(f, executor="native")
    assert decorated(np.arange(4.0)).tolist() == f(np.arange(4.0)).tolist()
    monkeypatch.setattr(told_extents, "_SUPPOSED", 2)
    with pytest.raises(NotImplementedError, match=r"native.*stack.*test_native_lists.py:\d+: it has more than 2 el"):
        al.function(f, executor="native")(np.arange(4.0))
    monkeypatch.setattr(told_extents, "_SUPPOSED_BYTES", 31)
    with pytest.raises(NotImplementedError, match="nothing says how many at most"):
        al.function(f, executor="native")(np.arange(4.0))
