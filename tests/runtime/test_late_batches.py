"""What is ready early and wanted late, by one batch only, is a part of that, if it is little."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Executable, Kind, Ownership, SeededExecutor, machine_kernels, with_joined_steps
from executors import needs_native
from flow import call, heavy
from test_batches import SLOW, lowered_of, steps_of
from test_machine_kernels import at_once  # noqa: F401


def slow(x):
    return call(SLOW, x)


def wanted_late(n):
    def body(i, x, y, *rest):
        x, y = slow(x), slow(y)
        return i + 1, x, y, *[v * 3 % 97 + x for v in rest]

    return al.while_loop(lambda i, *_: i < n, body, [al.constant(0), n, n + 1, *[n + k for k in range(5)]])


def wanted_twice(n):
    early = n * 3 + 1
    first = slow(n) + early
    return first * 2, slow(n + 1) * 2 + early


def fetched(n):
    early = n * 3 + 1
    return slow(n) + early, early


def in_a_branch(n):
    early = n * 3 + 1
    late = al.cond(n > 2, lambda: slow(n) + early, lambda: n - 1)
    return late * 2 + 1


def chain_of_them(n):
    first = slow(n) + (n * 3 + 1)
    return slow(first) * 2 + (slow(n + 1) - 3)


BUILDS = [wanted_late, wanted_twice, fetched, in_a_branch, chain_of_them]


@pytest.mark.parametrize("build", BUILDS, ids=lambda f: f.__name__)
def test_results_are_those_of_single_steps_in_every_order(build):
    lowered = lowered_of(build, "int32")
    executable = Executable(lowered)
    for n in (0, 3, 7):
        want = SeededExecutor(lowered).run([np.int32(n)])
        for seed in range(5):
            assert SeededExecutor(lowered, seed, whole=True).run([np.int32(n)]) == want
        for threads in (1, 2):
            assert executable.run([np.int32(n)], threads=threads) == want


def test_one_batch_waits_for_what_takes_long():
    joined = with_joined_steps(lowered_of(wanted_late, "int32"), Ownership())[0]
    batches = [node.value for node in joined.nodes if node.kind is Kind.BATCH and node.frame]
    assert sum(one.doors.predicate is None for one in batches) == 1


def test_what_several_want_is_ready_early():
    sizes, _ = steps_of(lowered_of(wanted_twice, "int32"))
    assert sizes[0] >= 1 and len(steps_of(lowered_of(fetched, "int32"))[0]) == 1


def test_large_arrays_are_not_held_until_then():
    """A number is taken out of one before what takes long begins."""

    def program(x):
        early = al.sum(x[:10]) * 0.5 + 1.0
        return slow(x[0]) + early

    assert 3 <= max(steps_of(lowered_of(program, "float64", shape=(100_000,)))[0])


def test_of_two_failures_the_first_is_told():
    """It stands before what takes long and fails, in a batch that waits for that."""

    def kernel(x):
        raise ZeroDivisionError("late")

    def program(n):
        early = al.constant(np.arange(4, dtype=np.int32))[n] * 3
        return call(heavy(kernel, "fails"), n) + early

    executable = Executable(lowered_of(program, "int32"))
    for threads in (1, 2):
        with pytest.raises(IndexError):
            executable.run([np.int32(9)], threads=threads)
        with pytest.raises(ZeroDivisionError, match="late"):
            executable.run([np.int32(2)], threads=threads)


def many_sums(x):
    """Two batches, each of which is worth a thread, and a kernel that is given what both make."""
    ends = [al.sum(al.sin(x * (k + 0.5)) * 0.25) for k in range(80)]
    return al.stack([slow(x[0]), *ends]) * 2.0


@pytest.mark.parametrize("machine", [False, pytest.param(True, marks=needs_native)])
def test_what_one_kernel_collects_travels_together(machine, at_once):  # noqa: F811
    lowered, x = lowered_of(many_sums, "float64", shape=(4000,)), np.linspace(0, 1, 4000)
    executable = Executable(lowered, faster=machine_kernels.machine_kernels if machine else None)
    want = SeededExecutor(lowered).run([x])
    for threads in (1, 2, 1, 2):
        np.testing.assert_allclose(executable.run([x], threads=threads), want, rtol=1e-8)
    batches = [node for node in executable.plan.nodes if node.kind is Kind.BATCH]
    last = batches[-1]
    assert len(batches) > 2 and len(last.inputs) < 40 < len(last.value.inputs)


def test_a_kernel_that_collects_by_itself_is_a_batch():
    def program(x):
        return al.stack([al.sum(al.sin(x * (k + 0.5)) * 0.25) for k in range(80)])

    lowered, x = lowered_of(program, "float64", shape=(4000,)), np.linspace(0, 1, 4000)
    executable = Executable(lowered)
    for threads in (1, 2):
        np.testing.assert_allclose(executable.run([x], threads=threads), SeededExecutor(lowered).run([x]), rtol=1e-8)
    last = [node for node in executable.plan.nodes if node.kind is Kind.BATCH][-1]
    assert len(last.value.members) == 1 and len(last.inputs) < 40
