"""Light branches in loops whose tokens are moved in native memory: only what is taken is computed, and fails."""

from __future__ import annotations

import random

import autoloop as al
import numpy as np
import pytest
from examples import examples
from executors import needs_native
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_machine_kernels import at_once as at_once
from test_overlapped_loops import TABLE, A, B, N, V, W, flat, told
from test_overlapped_loops import runs as runs

pytestmark = needs_native
ROW = np.linspace(-1, 1, 6).astype(np.float32)


def looped(a, b, n, light, *starts, goes_on=lambda i, n: i < n, window=10):
    """Two chains of products with light variables beside them."""

    def body(i, a, b, *rest):
        return i + 1, al.tanh(a @ V), al.tanh(b @ W), *light(i, a, b, *rest)

    return al.while_loop(lambda i, *_: goes_on(i, n), body, (0, a, b, *starts), parallel_iterations=window)


def chosen(a, b, n):
    """Ready with the counter."""
    light = lambda i, a, b, s, t: al.cond(i % 2 == 0, lambda: (s * 0.5 + t, t), lambda: (s - 1.0, s))
    return looped(a, b, n, light, 0.25, 1.0)


def late(a, b, n):
    """Ready with a product; arrays and numbers, one of which is handed on, and one a constant."""

    def light(i, a, b, s, row):
        x = a[0, 0]
        return al.cond(x > 0.0, lambda: (s + x, row * x), lambda: (s, ROW))

    return looped(a, b, n, light, 0.25, ROW)


def nested(a, b, n):
    def light(i, a, b, s, k):
        inner = lambda: al.cond(s > 0.5, lambda: (s * 0.25, k + i), lambda: (s + 0.5, k * 2 % 7))
        s, k = al.cond(i % 3 == 0, inner, lambda: (s, k))
        return s, al.cond(k % 2 == 1, lambda: k + 1, lambda: k)

    return looped(a, b, n, light, 0.25, 3)


def in_the_condition(a, b, n):
    goes_on = lambda i, n: al.cond(i > 3, lambda: (i < n) & (i < 6), lambda: i < n)
    return looped(a, b, n, lambda i, a, b, s: [s + 0.5], 0.25, goes_on=goes_on)


def within(a, b, n):
    """An element that is there only where it is taken: not in others, and not in the turn in which the loop ends."""
    light = lambda i, a, b, s: [al.cond(i != 3, lambda: s + TABLE[:7][i + 2 * (i == 3) * N], lambda: s)]
    return looped(a, b, n, light, 0.25)


@pytest.mark.parametrize("program", [chosen, late, nested, in_the_condition, within], ids=lambda p: p.__name__)
def test_they_give_what_others_give(program, runs):
    wanted, f = [al.function(program, executor=name, autograph=False) for name in ("sequential", "dataflow")]
    for n in (7, 7, 7, 7, 1, 0):
        runs.clear()
        for x, y in zip(flat(f(A, B, al.constant(n))), flat(wanted(A, B, al.constant(n))), strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    assert runs and None not in runs, "no run of that kind"


def test_what_is_not_taken_does_not_fail_and_what_is_fails_as_elsewhere(runs):
    """The row of the table has three elements, and the branch is taken in the first two turns, or in all."""

    def program(a, b, n, last):
        light = lambda i, a, b, s: [al.cond(i < last, lambda: s + TABLE[:3][i], lambda: s - 1.0)]
        return looped(a, b, n, light, 0.25)

    wanted, f = [al.function(program, executor=name, autograph=False) for name in ("sequential", "dataflow")]
    call = lambda g, last: g(A, B, al.constant(7), al.constant(last))
    for last in (2, 3, 3, 3, 3):
        runs.clear()
        for x, y in zip(flat(call(f, last)), flat(call(wanted, last)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    assert runs and None not in runs
    assert told(call, f, 5) == told(call, wanted, 5)
    assert None in runs


# -- random ones ----------------------------------------------------------------------------------------------


class Light:
    """Random light statements, by the seed the same each time it is traced."""

    def __init__(self, seed, i, known):
        self.choices, self.i, self.known = random.Random(seed), i, known

    def pick(self, known, kind):
        if known[kind] and self.choices.random() < 0.9:
            return self.choices.choice(known[kind])
        made = {"i": self.i, "f": al.cast(self.i, al.float32) * 0.25, "a": al.constant(ROW), "b": self.i % 2 == 0}
        return made[kind]

    def made(self, known, kind):
        i, f, a, b = [lambda kind=kind: self.pick(known, kind) for kind in "ifab"]
        ways = {
            "f": [
                lambda: f() * 0.5 + 0.25, lambda: al.sin(f()) + f(), lambda: al.sum(a()) * 0.1, lambda: a()[2], f,
                lambda: al.where(b(), f(), 0.5), lambda: TABLE[i() % 40], lambda: al.constant(np.float32(0.75)),
            ],
            "a": [lambda: a() * 0.5 + f(), lambda: al.maximum(a(), 0.1), lambda: al.constant(ROW), a],
            "i": [lambda: (i() + 3) % 11, lambda: al.cast(f() * 3, al.int64) % 5, lambda: al.constant(np.int64(3)), i],
            "b": [lambda: f() > 0.3, lambda: i() % 3 == 1, lambda: al.logical_not(b()), lambda: al.sum(a()) > f()],
        }  # fmt: skip
        return self.choices.choice(ways[kind])()

    def statements(self, known, count, depth=0):
        for _ in range(count):
            if depth < 3 and self.choices.random() < 0.6:
                kinds = self.choices.choices("fiab", k=self.choices.randint(1, 3))
                side = lambda kinds=kinds: self.side(known, kinds, depth)
                for kind, value in zip(kinds, al.cond(self.made(known, "b"), side, side)):
                    known[kind].append(value)
            else:
                kind = self.choices.choice("fiab")
                known[kind].append(self.made(known, kind))

    def side(self, known, kinds, depth):
        known = {kind: list(values) for kind, values in known.items()}
        self.statements(known, self.choices.randint(0, 2), depth + 1)
        return tuple([self.made(known, kind) for kind in kinds])


def random_loop(seed):
    choices = random.Random(seed)
    kinds = choices.choices("fiab", k=choices.randint(1, 5))
    window, inside = choices.choice([1, 2, 10]), choices.randrange(1 << 30)
    starts = {"f": np.float32(0.25), "i": np.int64(2), "a": ROW, "b": np.True_}

    def program(a, b, n):
        def light(i, a, b, *rest):
            known = {kind: [value for k, value in zip(kinds, rest) if k == kind] for kind in "fiab"}
            one = Light(inside, al.cast(i, al.int64), known)
            one.statements(known, one.choices.randint(1, 3))
            if one.choices.random() < 0.5:
                known["f"].append(a[0, 0])
            one.statements(known, one.choices.randint(0, 2))
            return [one.pick({k: v[-3:] for k, v in known.items()}, kind) for kind in kinds]

        return looped(a, b, n, light, *[al.constant(starts[kind]) for kind in kinds], window=window)

    return program


@settings(
    max_examples=examples(4), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(seed=st.integers(0, 1 << 30))
def test_random_loops(seed, runs):
    program = random_loop(seed)
    wanted, f = [al.function(program, executor=name, autograph=False) for name in ("sequential", "dataflow")]
    runs.clear()
    for n in (7, 7, 7, 1, 0):
        for x, y in zip(flat(f(A, B, al.constant(n))), flat(wanted(A, B, al.constant(n))), strict=True):
            assert x.dtype == y.dtype and x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4)
    assert runs and None not in runs, "no run of that kind"
