"""Loops of heavy kernels that can run beside each other, whose tokens are moved in native memory, beside NumPy."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import config, core_runs
from executors import needs_native
from test_machine_kernels import at_once as at_once

pytestmark = needs_native
N = 128
RANDOM = np.random.default_rng(5)
A, B = [RANDOM.standard_normal((N, N)).astype(np.float32) for _ in range(2)]
V, W = [(0.9 / N**0.5 * RANDOM.standard_normal((N, N))).astype(np.float32) for _ in range(2)]


@pytest.fixture
def runs(at_once, monkeypatch):
    """The runs there are; code is made as soon as it is wanted."""
    found = []
    run = core_runs.CoreRun.run

    def noted(self, args):
        found.append(run(self, args))
        return found[-1]

    monkeypatch.setattr(core_runs.CoreRun, "run", noted)
    before = config.get_num_threads()
    config.set_num_threads(2)
    yield found
    config.set_num_threads(before)


def chains(a, b, n, window=10):
    body = lambda i, a, b: (i + 1, al.tanh(a @ V), al.tanh(b @ W))
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b), parallel_iterations=window)


def layers(a, b, n, window=10):
    body = lambda i, a, b: (i + 1, al.tanh(a @ V), al.tanh(b @ W + a))
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b), parallel_iterations=window)


def with_numbers(a, b, n, window=10):
    """Numbers beside them, some of which run ahead and some of which wait."""

    def body(i, a, b, s, t, u):
        return i + 1, al.tanh(a @ V), al.tanh(b @ W), s * 0.5 + al.cast(i, al.float32), t + s, u + b[0, 0]

    return al.while_loop(lambda i, *_: i < n, body, (0, a, b, 0.25, 1.0, 0.0), parallel_iterations=window)


def captured(a, b, n, window=10):
    c = a * 0.5
    body = lambda i, a, b: (i + 1, al.tanh(a @ V + c), al.tanh(b @ W) * c)
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b), parallel_iterations=window)


def taken_turns(a, b, n, window=10):
    """Variables that change places."""
    body = lambda i, a, b, c: (i + 1, al.tanh(b @ V), al.tanh(a @ W), a)
    return al.while_loop(lambda i, *_: i < n, body, (0, a, b, a), parallel_iterations=window)


def in_a_loop(a, b, n, window=10):
    def body(k, a, b):
        _, a, b = chains(a, b, n + k, window)
        return k + 1, a + 0.5, b

    return al.while_loop(lambda k, *_: k < 3, body, (0, a, b), parallel_iterations=window)


PROGRAMS = [chains, layers, with_numbers, captured, taken_turns, in_a_loop]


def flat(results):
    return [np.asarray(t) for t in al.nest.flatten(results)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_they_give_what_others_give(program, runs):
    for window in (1, 10):
        wanted = al.function(lambda a, b, n: program(a, b, n, window), executor="sequential", autograph=False)
        f = al.function(lambda a, b, n: program(a, b, n, window), executor="dataflow", autograph=False)
        runs.clear()
        for k in range(5):
            for n in (al.constant(7), al.constant(0)) if k == 4 else (al.constant(7),):
                for x, y in zip(flat(f(A, B, n)), flat(wanted(A, B, n)), strict=True):
                    assert x.dtype == y.dtype
                    np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
        assert runs and None not in runs, "no run of that kind"
