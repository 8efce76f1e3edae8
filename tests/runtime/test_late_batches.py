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


def large(n):
    return al.zeros([5000], al.int32) + n


def read_from_an_array(n, body=lambda i, x, y, v, k: v * 3 % 97 + x[k], start=lambda n: n):
    """Two arrays, each of which is made of the other, and numbers that are made of themselves and what is read."""

    def step(i, x, y, *rest):
        return i + 1, slow(y), slow(x), *[body(i, x, y, v, k) for k, v in enumerate(rest)]

    begin = [al.constant(0), large(n), large(n), *[start(n) + k for k in range(4)]]
    ends = al.while_loop(lambda i, *_: i < n, step, begin)
    return al.sum(ends[1]), al.sum(ends[2]), *ends[3:]


def read_from_both(n):
    return read_from_an_array(n, lambda i, x, y, v, k: v * 3 % 97 + x[k] + y[k])


def read_in_a_branch(n):
    return read_from_an_array(n, lambda i, x, y, v, k: al.cond(i % 2 == 0, lambda: v * 3 % 97 + x[k], lambda: v - x[0]))


def read_for_late_numbers(n):
    return read_from_an_array(n, start=slow)


def read_by_all(n):
    def step(i, x, y, v, w):
        return i + 1, slow(y), slow(x), v * 3 % 97 + x[0] + w, w * 5 % 89 + x[1] - v

    return al.while_loop(lambda i, *_: i < n, step, [al.constant(0), large(n), large(n), n, n + 1])[3:]


def read_from_what_is_no_recurrence(n):
    def step(i, x, v, w):
        return i + 1, slow(large(i)), v * 3 % 97 + x[0], w * 5 % 89 + x[1]

    return al.while_loop(lambda i, *_: i < n, step, [al.constant(0), large(n), n, n + 1])[2:]


def chain_of_them(n):
    first = slow(n) + (n * 3 + 1)
    return slow(first) * 2 + (slow(n + 1) - 3)


READS = [
    read_from_an_array, read_from_both, read_in_a_branch, read_for_late_numbers, read_by_all,
    read_from_what_is_no_recurrence,
]  # fmt: skip
BUILDS = [wanted_late, wanted_twice, fetched, in_a_branch, chain_of_them, *READS]


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


def batches_of(build):
    """How many batches of a loop wait for more than the condition does."""
    joined = with_joined_steps(lowered_of(build, "int32"), Ownership())[0]
    return sum(n.kind is Kind.BATCH and n.frame > 0 and n.value.doors.predicate is None for n in joined.nodes)


def test_what_is_read_from_an_array_stays_with_what_it_is_added_to():
    assert [batches_of(build) for build in (read_from_an_array, read_by_all)] == [1, 1]


def test_an_array_is_not_held_for_what_comes_later():
    """Another array, numbers that begin late, an iteration that ends before the one before it."""
    assert all(batches_of(build) > 1 for build in (read_from_both, read_for_late_numbers))
    assert batches_of(read_from_what_is_no_recurrence) > 1


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
