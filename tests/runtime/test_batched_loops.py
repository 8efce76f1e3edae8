"""Loops with heavy kernels that never run beside each other are one step, whose light kernels are batches."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Executable, Fails, Kind, SeededExecutor, machine_kernels
from executors import needs_native
from flow import call, priced, probe
from test_batches import lowered_of
from test_machine_kernels import at_once  # noqa: F401

#: worth another thread, and never fails
LONG = probe(lambda x: x * 0.5 + 1, "long", traits=priced(1e9).but(fails=Fails.NEVER))
#: it may
RISKY = probe(lambda x: x * 0.5 + 1, "risky", traits=priced(1e9))

pytestmark = needs_native


def counted(n, op=LONG, count=6):
    """Light variables, some of which need what takes long, and one that does not come back."""

    def body(i, y, *rest):
        y = call(op, y)
        light = [v * 0.5 + al.cast(i, al.float64) * k for k, v in enumerate(rest[:count])]
        late = [v * 0.25 + y[k % 3] for k, v in enumerate(rest[count:])]
        return i + 1, y + light[0], *light, *late

    x = al.cast(n, al.float64)
    start = [al.constant(0), x + al.constant(np.arange(3.0)), *[x + k for k in range(2 * count)]]
    return al.while_loop(lambda i, *_: i < n, body, start)


def until(n):
    """The condition needs what takes long."""

    def body(i, y, *rest):
        y = call(LONG, y)
        return i + 1, y, *[v * 0.5 + y[0] * k for k, v in enumerate(rest)]

    x = al.cast(n, al.float64)
    start = [al.constant(0), x + al.constant(np.arange(3.0) - 9), *[x + k for k in range(12)]]
    return al.while_loop(lambda i, y, *_: (al.sum(y) < 4.0) & (i < 3 * n), body, start)


def two_loops(n):
    """One after the other, the second of which captures what the first has made."""
    _, y, *rest = counted(n)

    def body(i, z, *those):
        z = call(LONG, z) + rest[0]
        return i + 1, z, *[v * 0.5 + z[0] + y[k % 3] for k, v in enumerate(those)]

    last = al.while_loop(lambda i, *_: i < n * 2, body, [al.constant(0), y * 2.0, *rest])
    return [*last, *rest]


def in_a_branch(n):
    return al.cond(n > 2, lambda: counted(n), lambda: counted(n + 1))


def plan_of(executable):
    return [node.kind for node in executable.plan.nodes if node.frame and node.kind is not Kind.CONST]


def steps_left(executable):
    """The steps inside of loops whose tokens are moved."""
    return [kind for kind in plan_of(executable) if kind is not Kind.GONE]


def with_light_ones_behind(n):
    """They are ready early but for what leaves the loop, which needs nothing of them."""
    before = al.constant(np.arange(9.0))[n] * 2.0

    def body(i, y, *rest):
        y = call(LONG, y)
        return i + 1, y, *[v * 0.5 + y * k for k, v in enumerate(rest)]

    made = al.while_loop(lambda i, *_: i < n, body, [al.constant(0), *[al.constant(k * 0.5) for k in range(13)]])
    return [before, *made, made[1] + before]


BUILDS = [counted, until, two_loops, in_a_branch, with_light_ones_behind]


@pytest.mark.parametrize("build", BUILDS, ids=lambda f: f.__name__)
def test_results_are_those_of_single_steps(build, at_once):  # noqa: F811
    lowered = lowered_of(build, "int32")
    executable = Executable(lowered, faster=machine_kernels.machine_kernels)
    for n in (3, 0, 1, 7, 2):
        want = SeededExecutor(lowered).run([np.int32(n)])
        for threads in (1, 2):
            for one, other in zip(executable.run([np.int32(n)], threads=threads), want, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)
                assert one.dtype == other.dtype and np.shape(one) == np.shape(other)
        stepping = SeededExecutor(lowered)
        stepping.plan = executable.plan
        for stepping.seed in range(3):
            for one, other in zip(stepping.run([np.int32(n)]), want, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)
    assert not steps_left(executable), "loops are one step each"
    assert any(node.kind is Kind.WHOLE for node in executable.plan.nodes)


def test_where_a_kernel_may_fail_loops_are_as_they_were(at_once):  # noqa: F811
    lowered = lowered_of(lambda n: counted(n, RISKY, 20), "int32")
    executable = Executable(lowered, faster=machine_kernels.machine_kernels)
    for n in (3, 4, 5):
        for one, other in zip(executable.run([np.int32(n)]), SeededExecutor(lowered).run([np.int32(n)]), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert steps_left(executable)


def test_where_there_is_next_to_nothing_beside_it_a_loop_is_as_it_was(at_once):  # noqa: F811
    def program(n):
        body = lambda i, y, s: (i + 1, call(LONG, y), s + i)
        return al.while_loop(lambda i, *_: i < n, body, [al.constant(0), al.cast(n, al.float64), n])

    executable = Executable(lowered_of(program, "int32"), faster=machine_kernels.machine_kernels)
    for n in (3, 4, 5):
        executable.run([np.int32(n)])
    [loop] = [node.value for node in executable.plan.nodes if node.kind is Kind.WHOLE]
    assert not any(place.kind is Kind.BATCH for place in loop._places.values())


def test_two_that_take_long_are_run_beside_each_other(at_once):  # noqa: F811
    def program(n):
        def body(i, y, z, *rest):
            return i + 1, call(LONG, y), call(LONG, z), *[v * 0.5 + k for k, v in enumerate(rest)]

        x = al.cast(n, al.float64)
        return al.while_loop(lambda i, *_: i < n, body, [al.constant(0), x, x + 1, *[x + k for k in range(20)]])

    executable = Executable(lowered_of(program, "int32"), faster=machine_kernels.machine_kernels)
    for n in (3, 4, 5):
        executable.run([np.int32(n)])
    assert steps_left(executable) and executable.plan.parallel


@pytest.mark.parametrize("threads", [1, 2])
def test_it_ends_when_it_is_interrupted(threads, at_once):  # noqa: F811
    """What a signal handler raises between two kernels comes out, and the next run goes well."""
    stop = []

    def kernel(x):
        if stop and x[0] > 0:
            raise KeyboardInterrupt
        return x * 0.5 + 1

    op = probe(kernel, "interrupted", traits=priced(1e9).but(fails=Fails.NEVER))
    executable = Executable(lowered_of(lambda n: counted(n, op), "int32"), faster=machine_kernels.machine_kernels)
    want = [executable.run([np.int32(5)], threads=threads) for _ in range(3)][0]
    stop.append(True)
    with pytest.raises(KeyboardInterrupt):
        executable.run([np.int32(5)], threads=threads)
    stop.clear()
    for one, other in zip(executable.run([np.int32(5)], threads=threads), want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    with pytest.raises(TimeoutError):
        executable.run([np.int32(2**30)], threads=threads, timeout=0.05)


def test_a_product_beside_numbers(at_once):  # noqa: F811
    def program(x, w, n, rest):
        i = 0
        while i < n:
            x = np.tanh(x @ w)
            rest = [v * 0.5 + x[0, k] * i for k, v in enumerate(rest)]
            i += 1
        return [x, i, *rest]

    rng = np.random.default_rng(1)
    w, rest = rng.normal(size=(130, 130)) / 11, [np.float64(k) for k in range(16)]
    f = al.function(program, executor="dataflow")
    for n in (3, 4, 0, 4):
        for one, other in zip(f(w, w, np.int64(n), rest), program(w, w, np.int64(n), rest), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
            assert type(one) is type(other)
    run = f.get_concrete_function(w, w, np.int64(3), rest).runner.run.__self__
    assert not steps_left(run)
