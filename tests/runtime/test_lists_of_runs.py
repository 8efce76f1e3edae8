"""Lists of which only the run knows the length, that lose parts, get elements in between, or are looked at as a whole:
as plain Python under every executor, and their gradients as differences say."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, spread_each

X = np.random.default_rng(4).random(9)


def trimmed(x):
    found = []
    for v in x:
        if v > 0.3:
            found = found + [v * v]
        elif found:
            found = found[:-1]
    return np.array(found) * np.arange(len(found)), found


def of_a_window(x):
    last, told = [], []
    for v in x:
        last.append(v)
        if len(last) > 4:
            last = last[1:]
        told.append(sum(last) * max(last) - min(last))
    return told


def without_parts(x):
    left = []
    for v in x:
        left.append(v * v)
        if len(left) > 4:
            del left[1:3]
    return left, len(left)


def held_already(x):
    seen = []
    for v in x:
        k = int(v * 4)
        if k not in seen:
            seen.append(k)
    return seen


def put_between(x):
    made, rows = [], []
    for v in x:
        if v > 0.5:
            made.insert(0, v * v)
            rows.insert(len(made) // 2, v * x[:2])
        else:
            made.insert(len(made) // 2, v * 3)
            made.insert(-1, v)
    return made, rows, np.array(rows).sum(axis=0)


def in_order(x):
    found = []
    for v in x:
        k = 0
        while k < len(found) and found[k] < v:
            k += 1
        found.insert(k, v)
    return found, found[::-1]


def extended(x):
    every, part = [], []
    for v in x:
        part.append(v * v)
        if v > 0.5:
            every.extend(part)
            every.reverse()
            part = []
    return every, part


def texts(x):
    told = []
    for v in x:
        told.insert(0, "more" if v > 0.5 else "none at all")
    return told


#: text has no machine code
PROGRAMS = (trimmed, of_a_window, without_parts, held_already, put_between, in_order, extended, texts)


def same(found, want):
    assert type(found) is type(want)
    if isinstance(want, list | tuple):
        assert len(found) == len(want)
        for one, other in zip(found, want):
            same(one, other)
    else:
        np.testing.assert_allclose(found, want, rtol=1e-14) if not isinstance(want, str) else None
        assert found == want if isinstance(want, str | int) else True


@spread_each([(f,) for f in PROGRAMS], name=lambda f, executor: f"{f.__name__} {executor}",
             but=lambda f, executor: f is texts and executor == "native")  # fmt: skip
def test_as_plain_python(f, executor):
    decorated = al.function(f, executor=executor)
    for x in (X, X, X[:0], 1 - X[:5]):
        if f is in_order or len(x) or f is texts:
            same(decorated(x.copy()), f(x.copy()))


def queue(x):
    last, total = [], 0.0
    for v in x:
        last.append(v * x[:3])
        if len(last) > 3:
            total = total + (last.pop(0) * v).sum()
    return total


def squares(values):
    total = 0.0
    for k in range(len(values)):
        total += values[k] ** 2 * (k + 1)
    return total


def inserted(x):
    made = []
    for v in x:
        if v > 0.5:
            made.insert(0, v * v)
        else:
            made.insert(len(made) // 2, v * 3)
    return squares(made)


def taken_from_the_middle(x):
    left = []
    for v in x:
        left.append(v * v)
        if v > 0.5 and len(left) > 2:
            del left[1]
    values = np.array(left)
    return (values * np.arange(len(left)) * values).sum()


def of_parts(x):
    left, kept, part = [], [], []
    for v in x:
        left.append(v * v)
        part.append(v)
        if len(left) > 4:
            del left[1:3]
        if v > 0.3:
            kept = kept + [v * v]
        elif kept:
            kept = kept[:-1]
        if v > 0.5:
            left.extend(part)
            left.reverse()
            part = []
    return squares(left) + squares(kept)


def differences(f, x):
    steps = np.eye(len(x)) * 1e-6
    return np.array([f(x + step) - f(x - step) for step in steps]) / 2e-6


@each(
    [(f, e) for f in (queue, inserted, taken_from_the_middle, of_parts) for e in EXECUTORS if e in ("auto", "native")],
    one_in=2,
)
def test_gradients(f, executor):
    weights = np.linspace(0.3, 1, len(X))
    first = al.grad(al.function(f, executor=executor))
    np.testing.assert_allclose(first(X), differences(f, X), rtol=1e-6, atol=1e-7)
    second = al.grad(lambda x: (first(x) * weights).sum())
    np.testing.assert_allclose(second(X), differences(lambda x: (first(x) * weights).sum(), X), rtol=1e-5, atol=1e-6)


@pytest.mark.skipif("native" not in EXECUTORS, reason="the extra for machine code is not installed")
def test_an_old_list_stays():
    def f(x):
        made, before = [], []
        for v in x:
            before = made[:]
            made.insert(0, v)
        return before, made

    decorated = al.function(f, executor="native")
    same(decorated(X), f(X))
