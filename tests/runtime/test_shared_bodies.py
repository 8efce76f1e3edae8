"""Loops without heavy kernels whose iterations are shared out: which ones are, and that nothing but time shows it."""

from __future__ import annotations

import random

import autoloop as al
import numpy as np
import pytest
from api import (
    Executable,
    Kind,
    Ownership,
    SeededExecutor,
    Weight,
    batch_step,
    batches,
    lower,
    shared_bodies,
    whole_loops,
    with_joined_steps,
)
from executors import needs_native
from test_batches import Checked, outcome
from test_machine_kernels import at_once as at_once


def chains(count, length):
    def build(n, *xs):
        def body(i, *xs):
            for k in range(length):
                xs = [al.sin(x) * (0.5 + 0.01 * k) for x in xs]
            return i + 1, *xs

        return al.while_loop(lambda i, *_: i < n, body, [al.constant(0), *xs])

    build.count = count
    return build


def rows(count, size):
    return [np.linspace(0, k + 1, size, dtype=np.float32) for k in range(count)]


def traced(count, length, size):
    graph = (
        al.function(chains(count, length), executor="dataflow")
        .get_concrete_function(np.int32(3), *rows(count, size))
        .graph
    )
    return lower(graph, graph.outputs, graph.inputs)


def steps_of(lowered, machine):
    """How many loops are run as one, and how many batches there are beside the counter's."""
    nodes = with_joined_steps(lowered, Ownership(), machine)[0].nodes
    batches = [n.value for n in nodes if n.kind is Kind.BATCH and n.value.doors.predicate is None]
    return sum(node.kind is Kind.WHOLE for node in nodes), len(batches)


@pytest.mark.parametrize(
    ("count", "length", "size", "now", "hoped"),
    [
        (16, 10, 4000, (1, 0), (0, 8)),  # short ones keep the interpreter for themselves, but as machine code
        (16, 2, 14000, (1, 0), (0, 6)),  # and so do those that leave it to others for less than that takes
        (16, 2, 95000, (0, 9), (0, 9)),  # NumPy's leave it to others
        (16, 1, 2000, (1, 0), (1, 0)),  # too little in an iteration
        (1, 80, 4000, (1, 0), (1, 0)),  # one waits for the other
    ],
)
def test_bodies_with_parts_that_are_worth_a_thread_are_shared_out(count, length, size, now, hoped):
    lowered = traced(count, length, size)
    assert (steps_of(lowered, {}), steps_of(lowered, None)) == (now, hoped)


@pytest.mark.parametrize("threads", [1, 2])
def test_iterations_that_are_shared_out_give_what_they_gave(threads):
    lowered = traced(16, 2, 95000)
    given = [np.int32(3), *rows(16, 95000)]
    executable = Executable(lowered)
    assert executable.plan.parallel
    want = given[1:]
    for _ in range(3):
        for k in range(2):
            want = [np.sin(x) * np.float32(0.5 + 0.01 * k) for x in want]
    for _ in range(2):
        n, *got = executable.run(given, threads=threads)
        assert n == 3
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.fixture
def torn(monkeypatch):
    """Loops in which four numbers are added are shared out; gives which were."""
    found = []
    note = lambda *given: found.append(shared(*given)) or found[-1]
    shared = shared_bodies.shared
    monkeypatch.setattr(whole_loops, "LONG", 150.0)
    monkeypatch.setattr(batches, "LONG", 150.0)
    monkeypatch.setattr(batch_step, "HEAVY", 150.0)
    monkeypatch.setattr(batch_step, "LONG", 0.0)
    monkeypatch.setattr(shared_bodies, "shared", note)
    return found


@pytest.mark.parametrize("seeds", [range(15), pytest.param(range(15, 2000), marks=pytest.mark.nightly)], ids=len)
def test_random_programs_do_what_they_do_node_by_node(seeds, torn):
    for seed in seeds:
        program = Checked(random.Random(seed), effects=seed % 3 == 0, size=14)
        lowered = lower(program.graph, program.graph.outputs, program.graph.inputs)
        want = outcome(SeededExecutor(lowered, seed).run, program.values)
        count = len(torn)
        executable = Executable(lowered)
        if not any(torn[count:]):
            continue
        for threads in (1, 3):
            found = outcome(lambda values: executable.run(values, threads=threads), program.values)  # noqa: B023
            if found[0][0] != "failed":
                assert repr(found) == repr(want)
            else:
                assert want[0][0] == "failed"
    assert sum(map(bool, torn)) > len(seeds) / 10


@pytest.mark.parametrize("seed", range(4))
def test_every_order_of_steps_gives_one_answer(seed, torn):
    lowered = traced(4, 3, 8)
    given = [np.int32(4), *rows(4, 8)]
    want = SeededExecutor(lowered, seed).run(given)
    stepping = SeededExecutor(lowered, seed + 1, whole=True)
    found = stepping.run(given)
    assert any(torn) and all(map(np.array_equal, found, want))


@needs_native
def test_machine_code_is_shared_out_from_the_next_run_on(at_once):
    f = al.function(chains(16, 10), executor="dataflow")
    given = np.int32(3), *rows(16, 4000)
    found = [f(*given) for _ in range(3)]
    plan = f.get_concrete_function(*given).runner.run.__self__.plan
    machine = [step.flat.value._machine for step in plan.steps.values() if step.weight is Weight.HEAVY]
    assert len(machine) == 8 and None not in machine and plan.parallel
    for a, b in zip(found[0], found[2], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6)
