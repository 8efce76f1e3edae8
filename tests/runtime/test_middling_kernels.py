"""Kernels of 20 to 100 µs: one by one they are not worth another thread, which would wait for the interpreter."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Executable, Kind, Ownership, lower, whole_loops, with_joined_steps


def chains(count, length, trips=0):
    def ends(x):
        found = []
        for k in range(count):
            y = x + (k + 0.5) / count
            for d in range(length):
                y = al.sin(y) * (0.5 + 0.01 * (k + d))
            found.append(al.sum(y))
        return al.stack(found)

    def build(x):
        if not trips:
            return ends(x)
        body = lambda i, x: (i + 1, x * 0.5 + al.sum(ends(x)) * 1e-6)
        return al.while_loop(lambda i, *_: i < trips, body, [al.constant(0), x])[1]

    return build


def by_hand(x, count, length):
    found = []
    for k in range(count):
        y = x + np.float32((k + 0.5) / count)
        for d in range(length):
            y = np.sin(y) * np.float32(0.5 + 0.01 * (k + d))
        found.append(np.sum(y))
    return np.stack(found)


def lowered_of(program, *values):
    graph = al.function(program, executor="dataflow", autograph=False).get_concrete_function(*values).graph
    return lower(graph, graph.outputs, graph.inputs)


def numbers(size):
    return np.linspace(-1, 1, size, dtype=np.float32)


@pytest.mark.parametrize("trips", [0, 3], ids=["once", "in a loop"])
@pytest.mark.parametrize(("size", "is_shared"), [(4_000, False), (25_000, False), (98_000, True)])
def test_they_are_shared_out_together_and_only_if_they_are_long(size, is_shared, trips):
    lowered = lowered_of(chains(40, 4, trips), numbers(size))
    plan = Executable(lowered).plan
    assert plan.parallel is is_shared
    assert len(plan.steps) < 60  # there are 400 kernels


@pytest.mark.parametrize("size", [4_000, 25_000])
def test_as_machine_code_they_are_shared_out(size):
    joined, _ = with_joined_steps(lowered_of(chains(40, 4), numbers(size)), Ownership(), None)
    assert sum(node.kind is Kind.BATCH for node in joined.nodes) >= 4


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [25_000, 98_000])
def test_they_give_what_numpy_gives(size, threads):
    executable = Executable(lowered_of(chains(12, 3), numbers(size)))
    for _ in range(3):
        [got] = executable.run([numbers(size)], threads=threads)
        np.testing.assert_array_equal(got, by_hand(numbers(size), 12, 3))


@pytest.mark.parametrize(("fewest", "is_joined"), [(64, True), (500, False)])
def test_many_in_a_loop_are_put_together_in_native_memory_too(fewest, is_joined, monkeypatch):
    """As machine code of several batches are there already, which goes through memory once for all of their kernels."""
    monkeypatch.setattr(whole_loops, "TOGETHER", fewest)
    lowered = lowered_of(chains(40, 4, 3), numbers(25_000))
    made, found = [with_joined_steps(lowered, Ownership(), None, is_native)[0] for is_native in (False, True)]
    batches = [{tuple(node.value.members) for node in one.nodes if node.kind is Kind.BATCH} for one in (made, found)]
    assert (batches[0] == batches[1]) is is_joined


def test_a_long_chain_ends_now_and_then():
    """Who interrupts a run waits for the batch that is run."""
    joined, _ = with_joined_steps(lowered_of(chains(1, 200), numbers(50_000)), Ownership())
    batches = [node.value for node in joined.nodes if node.kind is Kind.BATCH]
    assert len(batches) > 5
    assert max(len(one.members) for one in batches) < 60


def test_products_in_batches_leave_blas_no_threads_of_its_own():
    def program(x):
        return [(x + float(k)) @ x @ x @ x for k in range(16)]

    executable = Executable(lowered_of(program, np.eye(170, dtype=np.float32)))
    assert executable.plan.parallel and executable.plan.blas
    assert all(step.flat.kind is not Kind.KERNEL for step in executable.plan.steps.values() if step.weight)
