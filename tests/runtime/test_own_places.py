"""Loops that are run as one put results into arrays that a kernel has made for them alone, and into no other."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

N = np.int64(6)
RNG = np.random.default_rng(8)
X, W = RNG.standard_normal((128, 128)).astype(np.float32), (RNG.standard_normal((128, 128)) * 0.08).astype(np.float32)


def recurrent(n, x, w):
    h = x
    for _ in range(n):
        h = np.tanh(h @ w + x)
    return h


def kept(n, x, w):
    """What a list has is not written to, nor what is read again."""
    h, found = x, []
    for _ in range(n):
        y = h @ w
        found.append(y)
        z = y + x
        h = np.tanh(z) * z
    return h, np.stack(found)


def viewed(n, x, w):
    h, found = x, []
    for _ in range(n):
        y = h * 0.5
        rows = y.reshape(-1, 2 * x.shape[1])
        found.append(rows[:2, :3])
        h = y + 1
        h = h.T - x
    return h, np.stack(found)


def squared(n, x, w):
    h = x
    for _ in range(n):
        y = h - w
        y = y * y
        h = y / (y + 1)
    return h


def branched(n, x, w):
    h = x
    for i in range(n):
        y = h @ w
        if i % 2 == 0:
            h = y + x
        else:
            h = np.abs(y)
    return h


def nested(n, x, w):
    """What is made before a loop is read by each of its iterations."""
    h = x
    for _ in range(n):
        y = h @ w
        for _ in range(3):
            h = np.tanh(h + y)
    return h


def carried(n, x, w):
    a, b = x, w
    for _ in range(n):
        a, b = b * 0.5, a - b
    return a, b


def wider(n, x, w):
    """What the result is put into has its form."""
    h = x
    for _ in range(n):
        y = h[0] * 2
        h = np.tanh(h @ w) + y
    return h


PROGRAMS = [recurrent, kept, viewed, squared, branched, nested, carried, wider]


@pytest.mark.parametrize("size", [128, 16])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_nothing_is_put_where_somebody_looks(program, threads, size):
    before = al.config.get_num_threads()
    al.config.set_num_threads(threads)
    try:
        x, w = X[:size, :size].copy(), W[:size, :size].copy()
        given = x.copy(), w.copy()
        f = al.function(program, executor="dataflow")
        want = program(N, *given)
        for _ in range(3):
            for one, other in zip(al.nest.flatten(f(N, x, w)), al.nest.flatten(want), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(x, given[0])
        np.testing.assert_array_equal(w, given[1])
    finally:
        al.config.set_num_threads(before)


def test_sums_and_functions_of_a_product_are_put_into_it():
    f = al.function(recurrent, executor="dataflow")
    f(N, X, W)
    run = f.get_concrete_function(N, X, W).runner.run.__self__
    for _ in range(3):
        f(N, X, W)
    (loop,) = [node.value._run for node in run.plan.nodes if node.kind.name == "WHOLE"]
    written = [name for name in loop.__globals__ if name[0] == "w" and name[1:].isdigit()]
    assert len(written) == 2 and not [
        name for name in loop.__code__.co_varnames if name[0] == "o" and name[1:].isdigit()
    ]
