"""Light kernels that become ready together are run as one step: which ones, and that nothing but time shows it."""

from __future__ import annotations

import random
import tracemalloc

import autoloop as al
import numpy as np
import pytest
from api import (
    Executable,
    Graph,
    Kind,
    Op,
    Ownership,
    SeededExecutor,
    TensorShape,
    apply,
    batch_step,
    lower,
    set_outputs,
    with_joined_steps,
    workers,
)
from examples import examples
from flow import ADD, call, const, counted, heavy, node_by_node, probe, scalar
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import LOG, NOTE_THROUGH, Program, interpret

SLOW = heavy(lambda x: x + 1, "slow")


def lowered_of(build, *inputs, shape=()):
    graph = Graph(ordered=True)
    with graph.as_default():
        given = [graph.parameter(np.dtype(dtype), TensorShape(shape)) for dtype in inputs]
        made = build(*given)
        set_outputs(graph, list(made) if isinstance(made, (list, tuple)) else [made])
    return lower(graph, graph.outputs, graph.inputs)


def steps_of(lowered):
    """The kernels of each batch, and the steps beside them."""
    made = with_joined_steps(lowered, Ownership())[0]
    batches = [[lowered.nodes[k] for k in n.value.members] for n in made.nodes if n.kind is Kind.BATCH]
    others = [node for node in made.nodes if node.kind in (Kind.KERNEL, Kind.WHOLE, Kind.SWITCH, Kind.IDENTITY)]
    return sorted([sum(node.kind is Kind.KERNEL for node in batch) for batch in batches]), len(others)


@pytest.fixture(params=["item by item", "in a function"])
def first(request, monkeypatch):
    monkeypatch.setattr(batch_step, "FIRST", 1000 if request.param == "item by item" else 0)


# -- which ones -------------------------------------------------------------------------------------------


def slow(x):
    return call(SLOW, x)


def chain(n):
    for k in range(10):
        n = n * 2 + k
    return n


def with_branch(n):
    return al.cond(n > 2, lambda: al.cond(n > 3, lambda: n * 2, lambda: n * 3 + 1), lambda: n + 1) + n


def with_heavy_branch(n):
    return al.cond(n > 2, lambda: slow(n + 1) * 2 + 1, lambda: n * 3 - 1) + n + 1


def with_effect(n):
    n = n * 2 + 1
    n = apply(NOTE_THROUGH, [n]) * 2 + 1
    return n


def around_a_loop(n):
    n = n * 2 + 1
    return al.while_loop(lambda i: i < n, lambda i: i + 1, [n - 3])[0] * 2 + 1


def beside_heavy(n):
    def body(i, s):
        for k in range(50):
            s = s * 3 + i * k
        s = slow(s % 7)
        for k in range(50):
            s = s * 3 + i * k
        return i + 1, s % 5

    return al.while_loop(lambda i, _: i < n, body, (0, n))


@pytest.mark.parametrize(
    ("program", "batches", "others"),
    [
        (chain, [20], 0),
        (lambda n: chain(slow(chain(n))), [20, 20], 1),
        (with_branch, [7], 0),
        (with_heavy_branch, [2, 2, 2], 4),  # slow, n > 2, and two Switches: of n, and ... of what only one side wants
        (with_effect, [2, 2], 1),
        (around_a_loop, [3, 2], 1),
    ],
)
def test_what_waits_for_the_same_is_one_step(program, batches, others):
    found = steps_of(lowered_of(program, "int32"))
    assert found[0] == sorted(batches)
    assert found[1] <= others


def test_long_ones_are_cut_but_not_within_a_branch():
    def program(n):
        for k in range(20):
            n = al.cond(n % 2 == 0, lambda: n // 2 + 3 * k, lambda: 3 * n + 1)  # noqa: B023
            for _ in range(40):
                n = n * 3 - 1
        return n

    lowered = lowered_of(program, "int32")
    sizes, others = steps_of(lowered)
    assert len(sizes) == 4 and others == 0 and max(sizes) < 600
    assert Executable(lowered).run([np.int32(4)]) == SeededExecutor(lowered).run([np.int32(4)])


def test_what_is_cut_is_cut_into_equal_parts():
    def program(x):
        for _ in range(1002):
            x = x * 2
        return x

    assert steps_of(lowered_of(program, "float32"))[0] == [334] * 3


def test_one_ends_after_a_while_where_a_heavy_kernel_may_wait():
    def program(x, with_heavy):
        late = slow(x) if with_heavy else x
        for _ in range(100):
            x = al.tanh(x)
        return x + late

    sizes, _ = steps_of(lowered_of(lambda x: program(x, False), "float64", shape=(500,)))
    assert sizes == [101]
    sizes, others = steps_of(lowered_of(lambda x: program(x, True), "float64", shape=(500,)))
    assert max(sizes) <= 60 and sum(sizes) + others == 102


def test_light_kernels_beside_a_heavy_one_are_two_steps_of_an_iteration():
    lowered = lowered_of(beside_heavy, "int32")
    stepping = SeededExecutor(lowered, whole=True)
    assert stepping.run([np.int32(4)]) == Executable(lowered).run([np.int32(4)])
    kernels = [name for name in stepping.order if "Switch" not in name]
    assert len(kernels) <= 4 * 5 + 1  # of 250 kernels of the body


# -- nothing shows ----------------------------------------------------------------------------------------


class Checked(Program):
    """With kernels that fail, and such that are worth another thread."""

    def operation(self, known):
        roll, first = self.choices.random(), self.choice(known, "int")
        number = self.choices.randint(0, 10**6)
        if roll < 0.12:
            known["int"].append(call_in(known, CHECK, first, number=number, modulus=self.choices.randint(2, 5)))
        elif roll < 0.25:
            known["int"].append(call_in(known, HEAVY, first, number=number))
        else:
            super().operation(known)


def call_in(known, op, x, **attrs):
    return apply(op, [x], attrs)


def check(x, number, modulus):
    if x % modulus == 1:
        raise LookupError(number)
    return x


CHECK = probe(check, "check")
HEAVY = heavy(lambda x, number: x + number % 3, "heavier")


def outcome(run, values):
    """The results or the failure, with what is told of it, and the effects."""
    LOG.clear()
    try:
        results = run(list(values))
    except LookupError as error:
        return ("failed", error.args, getattr(error, "__notes__", [])), list(LOG)
    return [(np.asarray(r).dtype, np.asarray(r).tolist()) for r in results[:3]], list(LOG)


@settings(max_examples=examples(60), deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([0, 1, 1000]), st.booleans())
def test_random_programs_do_what_they_do_node_by_node(choices, first, effects):
    program = Checked(choices, effects=effects, size=12)
    lowered = lower(program.graph, program.graph.outputs, program.graph.inputs)
    alone = lambda values: node_by_node(lowered).run(values, threads=1)
    want, log = outcome(alone, program.values)
    before, batch_step.FIRST = batch_step.FIRST, first
    try:
        executable = Executable(lowered)
    finally:
        batch_step.FIRST = before
    for threads in (1, 3, 1):
        found, seen = outcome(lambda values: executable.run(values, threads=threads), program.values)  # noqa: B023
        assert repr(found) == repr(want)
        if found[0] != "failed":
            assert repr(seen) == repr(log)
        else:  # what was begun behind it may differ
            plain = outcome(lambda values: interpret(program.graph, values), program.values)
            if plain[0][:2] == found[:2]:
                assert repr(seen[: len(plain[1])]) == repr(plain[1])


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_steps_does_not_matter(seed, first):
    program = Program(random.Random(seed), effects=False, size=12)
    lowered = lower(program.graph, program.graph.outputs, program.graph.inputs)
    want = outcome(SeededExecutor(lowered, seed).run, program.values)
    assert repr(outcome(SeededExecutor(lowered, seed + 1, whole=True).run, program.values)) == repr(want)


@pytest.mark.parametrize("n", [1, 5])
def test_a_loop_that_gives_nothing_in_a_branch_not_taken_is_given_nothing(n, first):
    """It is there for its condition, and takes tokens of the branch."""

    def endless(m):
        lasting = lambda i, m: i < slow(m) + slow(m + m)
        return al.while_loop(lasting, lambda i, m: (i + 1, m), [al.constant(0), m])[1]

    lowered = lowered_of(lambda n: al.cond(n + n > 3, lambda: n + n, lambda: endless(n + n)), "int32")
    for threads in (1, 2):
        assert node_by_node(lowered).run([np.int32(n)], threads=threads) == [2 * n]
        assert Executable(lowered).run([np.int32(n)], threads=threads) == [2 * n]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_lets_what_stands_before_it_have_its_effect(threads, first):
    def program(n):
        seen = apply(NOTE_THROUGH, [n * 2 + 1])
        x = al.constant(np.arange(3, dtype=np.int32))
        return seen, x[n + 1] * 2, slow(n) * 0

    executable = Executable(lowered_of(program, "int32"))
    assert executable.run([np.int32(1)], threads=threads)[:2] == [3, 4]
    for _ in range(2):
        LOG.clear()
        with pytest.raises(IndexError):
            executable.run([np.int32(7)], threads=threads)
        assert LOG == [15]


def test_a_failure_names_its_line_and_iteration(first):
    @al.function(executor="dataflow")
    def f(x, n):
        i, s = al.constant(0), al.constant(np.ones((200, 200), np.float32))
        while i < n:
            s = s @ s * 0.001 + x[i]
            i += 1
        return s

    x = np.ones(3, np.float32)
    f(x, al.constant(2))
    for _ in range(2):
        with pytest.raises(IndexError) as failure:
            f(x, al.constant(9))
        assert "iteration 3 of" in failure.value.__notes__[-1]
        assert "x[i]" in str(failure.traceback[-1].statement)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_it(threads, first):
    def interrupted(x):
        if x == 5:
            raise KeyboardInterrupt
        return x

    op = probe(interrupted, "interrupted")
    executable = Executable(lowered_of(lambda n: (call(op, n + 1) * 2, slow(n), slow(n + 1)), "int32"))
    assert executable.run([np.int32(1)], threads=threads)[0] == 4
    with pytest.raises(KeyboardInterrupt):
        executable.run([np.int32(4)], threads=threads)
    assert executable.run([np.int32(1)], threads=threads)[0] == 4


def test_arrays_are_let_go_of_after_their_last_use(first):
    def program(x):
        y = al.cond(x[0] > 0, lambda: x * 2.0 + 1.0, lambda: x - 1.0)
        for k in range(30):
            y = y * 0.5 + k
        return y

    executable, x = Executable(lowered_of(program, "float64", shape=(4000,))), np.ones(4000)
    executable.run([x])
    tracemalloc.start()
    try:
        executable.run([x])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * x.nbytes


def test_what_is_given_may_be_an_array_without_axes(first):
    for value in (np.array(3, np.int32), np.int32(3)):
        lowered = lowered_of(lambda n: (n * 2 + n, al.stack([n, n * 2, n + 1]), al.reshape(n, [1]) * 2), "int32")
        found, want = Executable(lowered).run([value]), SeededExecutor(lowered).run([value])
        for a, b in zip(found, want, strict=True):
            np.testing.assert_array_equal(a, b)
            assert type(a) is type(b)


def test_functions_are_compiled_one_a_run():
    graph = Graph()
    x = scalar(graph)
    y = x
    for k in range(2000):
        y = call(ADD, y, const(graph, k))
    made = with_joined_steps(lower(graph, [y], [x]), Ownership())[0]
    batches = [node.value for node in made.nodes if node.kind is Kind.BATCH]
    assert [batch.left - batch_step.FIRST for batch in batches] == [0, 1, 2, 3]


def test_windows_are_kept():
    """Of a heavy kernel no more iterations than the window begin while the first has not ended."""
    begun = []
    note = heavy(lambda x, i: (begun.append(int(i)), x)[1], "noted")
    graph = Graph()
    start = const(graph, 1)
    body = lambda g, i, s: [call(note, call(ADD, call(ADD, i, i), i), i)]
    made = counted(graph, 9, body, [start], window=3)
    assert Executable(lower(graph, [made[1]], [])).run([], threads=1) == [24]
    assert begun == list(range(9))


def test_a_step_that_has_no_array_op_to_give_is_none():
    unit = Op("unit", lambda x: (x.dtype, x.shape), lambda x: x, effect=True)
    lowered = lowered_of(lambda n: apply(unit, [n]), "int32")
    assert steps_of(lowered) == ([], 1)


def half_there(n):
    """The first kernel of a batch can run, its second one waits for one that fails, or stands behind that."""
    late, x = slow(n), al.constant(np.arange(3, dtype=np.int32))
    seen = apply(NOTE_THROUGH, [late + (n * 2 + 1)])
    return seen, late * x[n] + 1


def half_of_a_branch(n):
    late, x = slow(n), al.constant(np.arange(3, dtype=np.int32))
    here = al.cond(late > 2, lambda: late * 3, lambda: late + 5)
    seen = apply(NOTE_THROUGH, [here + n])
    return seen, al.cond(late > 2, lambda: here * x[n], lambda: here) + 1


def two_that_fail(n):
    """The first failure in program order is in a batch that cannot begin."""
    late, x = slow(n), al.constant(np.arange(3, dtype=np.int32))
    first = al.constant(np.arange(4, dtype=np.int32))[late]
    return late * x[n] + 1 + first


def in_a_loop(n):
    body = lambda i, s: (i + 1, half_there(i + n)[1] + s)
    return al.while_loop(lambda i, _: i < 3, body, (0, n))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("program", [half_there, half_of_a_branch, two_that_fail, in_a_loop])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_batches_of_which_a_part_cannot_run_do_what_stands_before_a_failure(program, threads, n, first):
    lowered = lowered_of(program, "int32")
    want, log = outcome(lambda values: node_by_node(lowered).run(values, threads=1), [np.int32(n)])
    found, seen = outcome(lambda values: Executable(lowered).run(values, threads=threads), [np.int32(n)])
    assert (repr(found), repr(seen)) == (repr(want), repr(log))


def test_help_is_called_before_a_long_batch(monkeypatch):
    log = []
    real = workers.call_workers
    monkeypatch.setattr(workers, "call_workers", lambda run, count: (log.append("help"), real(run, count)))
    light = probe(lambda x: (log.append("light"), x)[1], "noted")

    def program(n):
        n = n * 2 + 1
        seen = apply(NOTE_THROUGH, [n])
        for _ in range(20):
            seen = call(light, seen)
        return seen, slow(n), slow(n + 1)

    assert Executable(lowered_of(program, "int32")).run([np.int32(1)], threads=2)[:3] == [3, 4, 5]
    assert log.index("help") < log.index("light")
