"""What is ready with the counter of a loop is one step of an iteration, and what travels together is one token."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Executable, Kind, Ownership, SeededExecutor, with_joined_steps
from executors import needs_native
from flow import call
from test_batches import SLOW, first, lowered_of, slow  # noqa: F401
from test_machine_kernels import at_once, kernels_of  # noqa: F401


def beside(count):
    """A counter with ``count`` light variables, and one that takes long with as many that need it."""

    def program(n):
        def body(i, y, x, *rest):
            x, y = slow(x % 1000), slow(y)
            light = [v * 3 + i * k for k, v in enumerate(rest[:count])]
            late = [v * 2 + x + k for k, v in enumerate(rest[count:])]
            return i + 1, y, x, *[v % 97 for v in light], *[v % 89 for v in late]

        return al.while_loop(lambda i, *_: i < n, body, [al.constant(0), n, n, *[n + k for k in range(2 * count)]])

    return program


def nested(n):
    """The variables of the loop inside start as constants and as what does not change outside."""

    def body(i, x, s, t):
        def inner(j, s, t, u, v):
            return j + 1, s * 2 + j, t + s + n, slow(u % 50), slow(v)

        _, s, t, u, v = al.while_loop(lambda j, *_: j < 3, inner, [al.constant(0), n * 1, al.constant(2), x, s])
        return i + 1, u + v % 2, s % 91, t % 83

    return al.while_loop(lambda i, *_: i < n, body, [al.constant(0), n, n + 1, n + 2])


def leaves_from_within(n):
    """The condition needs what takes long."""

    def body(i, x, y, s, t):
        return i + 1, slow(x), slow(y), s + x * 2, t + s * 3

    return al.while_loop(lambda i, x, *_: (x < n) & (i < 50), body, [al.constant(0), n - 5, n, n, n + 1])


def in_a_branch(n):
    def body(i, x, y, s, t):
        s, t = al.cond(s % 3 == 0, lambda: (s + t, t * 2 % 61), lambda: (s - 1, t + i))
        return i + 1, slow(x % 77), slow(y), s, t

    looped = lambda: al.while_loop(lambda i, *_: i < n, body, [al.constant(0), n, n, n + 1, n + 2])[1:]
    return al.cond(n > 2, looped, lambda: [n, n, n, n])


@pytest.mark.parametrize("build", [beside(1), beside(5), nested, leaves_from_within, in_a_branch])
def test_results_are_those_of_single_steps_in_every_order(build, first):  # noqa: F811
    lowered = lowered_of(build, "int32")
    joined = with_joined_steps(lowered, Ownership())[0]
    turns = [n for n in joined.nodes if n.kind is Kind.BATCH and n.value.doors.predicate is not None]
    assert len(turns) == (0 if build is leaves_from_within else 2 if build is nested else 1)
    executable = Executable(lowered)
    for n in (0, 3, 12):
        want = SeededExecutor(lowered).run([np.int32(n)])
        for seed in range(3):
            assert SeededExecutor(lowered, seed, whole=True).run([np.int32(n)]) == want
        for threads in (1, 2):
            assert executable.run([np.int32(n)], threads=threads) == want


@pytest.mark.parametrize("count", [2, 16])
def test_an_iteration_has_as_many_steps_with_many_variables_as_with_few(count):
    joined = with_joined_steps(lowered_of(beside(count), "int32"), Ownership())[0]
    inside = [node for node in joined.nodes if node.frame and node.kind is not Kind.GONE]
    steps = [node for node in inside if node.kind in (Kind.KERNEL, Kind.BATCH, Kind.SWITCH, Kind.IDENTITY)]
    assert len(steps) <= 9  # the turn; three Switches; two that take long; x % 1000; what is before it and after
    assert sum(node.kind is Kind.NEXT_ITERATION for node in inside) == 4


@pytest.mark.parametrize("threads", [1, 2])
def test_of_a_turn_that_fails_what_stands_before_it_fails_first(threads, first):  # noqa: F811
    def program(n, late):
        x = al.constant(np.arange(8, dtype=np.int32))

        def body(i, s, t, y):
            s = s + x[i] if late else s + x[call(SLOW, i) + 2]
            return i + 1, s, t * 2 + x[i + 2], call(SLOW, y)

        return al.while_loop(lambda i, *_: i < n, body, [al.constant(0), n, n + 1, n])

    for late, iteration in ((True, 6), (False, 5)):
        executable = Executable(lowered_of(lambda n, late=late: program(n, late), "int32"))
        for _ in range(2):
            executable.run([np.int32(3)], threads=threads)
            with pytest.raises(IndexError) as failure:
                executable.run([np.int32(20)], threads=threads)
            assert f"iteration {iteration} of" in failure.value.__notes__[-1]


@needs_native
def test_machine_code_does_a_turn_and_gives_the_last_values(at_once, monkeypatch):  # noqa: F811
    monkeypatch.setattr(Executable, "_overlapped_loops", lambda *_: None)  # in native memory it is a step

    def program(x, w, n, a, b):
        i, y = 0, x
        while i < n:
            x = np.tanh(x @ w)
            y = w @ y
            a, b = a * 0.5 + i, b * a - a
            i += 1
        return x, y, a, b, i

    rng = np.random.default_rng(1)
    w, a, b = rng.normal(size=(130, 130)) / 11, rng.normal(size=8), rng.normal(size=8)
    f = al.function(program, executor="dataflow")
    for n in (np.int64(3), np.int64(0), np.int64(4), np.int64(4)):
        for one, want in zip(f(w, w, n, a, b), program(w, w, n, a, b)):
            np.testing.assert_allclose(one, want, rtol=1e-9)
            assert type(one) is type(want)
    assert kernels_of(f, w, w, np.int64(3), a, b)
