"""Loops that are run as one step: which ones are, and that nothing but time shows it."""

from __future__ import annotations

import random
import tracemalloc

import autoloop as al
import numpy as np
import pytest
from api import (
    OPAQUE,
    Dependence,
    Executable,
    Graph,
    Kind,
    MemoryLimit,
    Ownership,
    Price,
    SeededExecutor,
    light_kernels,
    lower,
    profiler,
    set_outputs,
    with_whole_loops,
)
from flow import call, heavy, node_by_node, probe
from random_programs import Program, assert_same, outcome

SLOW = heavy(lambda x: x + 1, "slow")


def lowered_of(build, *inputs):
    graph = Graph(ordered=True)
    with graph.as_default():
        given = [graph.parameter(np.dtype(dtype), al.TensorShape([])) for dtype in inputs]
        made = build(*given)
        set_outputs(graph, list(made) if isinstance(made, (list, tuple)) else [made])
    return lower(graph, graph.outputs, graph.inputs)


def slow(x):
    return call(SLOW, x)


def counter(n):
    return al.while_loop(lambda i: i < n, lambda i: i + 1, [al.constant(0)])


def with_branch(n):
    body = lambda i, s: (i + 1, al.cond(i % 2 == 0, lambda: s + 1.0, lambda: s - 0.5))
    return al.while_loop(lambda i, s: i < n, body, [al.constant(0), al.constant(0.0)])


def nested(n):
    def body(i, s):
        inner = lambda j, s: (j + 1, al.cond(j > 2, lambda: counter(i)[0] + s, lambda: s))
        return i + 1, al.while_loop(lambda j, s: j < n, inner, [al.constant(0), s])[1]

    return al.while_loop(lambda i, s: i < n, body, [al.constant(0), al.constant(0)])


def beside_heavy(n):
    return al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, slow(s)), [al.constant(0), n])


def around_light(n):
    body = lambda i, s: (i + 1, slow(s) + counter(i)[0])
    return al.while_loop(lambda i, s: i < n, body, [al.constant(0), n])


def one_starts_late(n):
    return al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [al.constant(0), slow(n)])


def all_start_late(n):
    m = slow(n)
    return al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [m - 3, m])


def captures_late(n):
    m = slow(n)
    return al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + m), [n - 3, n])


def with_effect(n):
    def body(i):
        al.print(i)
        return i + 1

    return al.while_loop(lambda i: i < n, body, [al.constant(0)])


def with_foreign(n):
    def body(i):
        made = al.py_function(lambda i: i + 1, [i], al.int32)
        made.set_shape([])
        return made

    return al.while_loop(lambda i: i < n, body, [al.constant(0)])


@pytest.mark.parametrize(
    ("program", "whole"),
    [
        (counter, [True]),
        (with_branch, [True]),
        (nested, [True, True, True]),
        (beside_heavy, [False]),
        (around_light, [False, True]),
        (one_starts_late, [False]),
        (all_start_late, [True]),
        (captures_late, [False]),
        (with_effect, [True]),
        (with_foreign, [False]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_loop_is_whole_where_nothing_in_it_has_a_time_of_its_own(program, whole):
    lowered = lowered_of(program, "int32")
    found = Dependence(lowered, light_kernels(lowered))
    made = with_whole_loops(lowered, found, Ownership())
    steps = [node for node in made.nodes if node.kind is Kind.WHOLE]
    expected = [k for k, one in enumerate(whole) if one and not (k and whole[0])]
    assert len(steps) == len(expected)
    assert found.whole == [False, *whole]
    results = [Executable(lowered).run([np.int32(5)]), SeededExecutor(lowered, 1).run([np.int32(5)])]
    for a, b in zip(*results, strict=True):
        assert a == b and a.dtype == b.dtype


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_give_the_same_results_and_effects(seed):
    program = Program(random.Random(seed), effects=seed % 3 == 0)
    lowered = lower(program.graph, program.graph.outputs, program.graph.inputs)
    seen = [outcome(SeededExecutor(lowered, seed, whole).run, program.values) for whole in (False, True)]
    assert_same(seen[1], seen[0])


def test_a_failure_names_the_line_and_the_iterations():
    @al.function(executor="dataflow")
    def f(x, n):
        i, s = al.constant(0), al.constant(0.0)
        while i < n:
            j = al.constant(0)
            while j < i:
                s += x[j]
                j += 1
            i += 1
        return s

    x = np.ones(3, np.float32)
    assert f(x, al.constant(4)).numpy() == 6
    with pytest.raises(IndexError) as failure:
        f(x, al.constant(9))
    note = failure.value.__notes__[-1]
    assert (
        "iteration 3 of" in note and "iteration 4 of" in note and note.index("iteration 3") < note.index("iteration 4")
    )
    assert "s += x[j]" in str(failure.traceback[-1].statement)
    assert f(x, al.constant(4)).numpy() == 6


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_failure_in_program_order_is_told(threads):
    def program(n):
        x = al.constant(np.ones(4, np.float32))
        late = al.while_loop(lambda i, s: i < 9, lambda i, s: (i + 1, s + x[i]), [slow(n), al.constant(0.0)])[1]
        early = al.while_loop(lambda i, s: i < 9, lambda i, s: (i + 1, s + x[i]), [n + 2, al.constant(0.0)])[1]
        return late, early

    lowered = lowered_of(program, "int32")
    with pytest.raises(IndexError) as failure:
        Executable(lowered).run([np.int32(0)], threads=threads)
    assert "iteration 3 of the loop 'while'" in failure.value.__notes__[-1]


def test_who_watches_sees_every_kernel(tmp_path):
    lowered = lowered_of(with_branch, "int32")
    executable = Executable(lowered)
    assert node_by_node(lowered).run([np.int32(4)]) == executable.run([np.int32(4)])
    with profiler.trace(str(tmp_path / "trace.json")):
        executable.run([np.int32(4)])
    assert (tmp_path / "trace.json").read_text().count("less") >= 5
    graph = lowered_of(lambda n: al.while_loop(lambda i: i >= 0, lambda i: i * 0 + n, [n]), "int32")
    with pytest.raises(TimeoutError):
        Executable(graph).run([np.int32(1)], timeout=0.05)


def test_arrays_are_let_go_of_after_their_last_use():
    def f(x, n):
        def body(i, x):
            for k in range(10):
                x = x * 0.5 + k
            return i + 1, x

        return al.while_loop(lambda i, _: i < n, body, (0, x))[1]

    f = al.function(f, executor="dataflow", autograph=False)
    x = np.ones(4000)
    f(x, al.constant(2))
    tracemalloc.start()
    try:
        f(x, al.constant(50))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * x.nbytes


@pytest.mark.parametrize("calls", [1, 2, 12])
def test_the_first_iterations_are_like_the_others(calls):
    def program(n):
        def body(i, s):
            s = al.cond(i % 3 == 0, lambda: al.cond(i % 2 == 0, lambda: s + x[i], lambda: s - x[i]), lambda: s)
            return i + 1, s

        x = al.constant(np.arange(60, dtype=np.int32))
        return al.while_loop(lambda i, s: i < n, body, [al.constant(0), n])

    lowered = lowered_of(program, "int32")
    executable = Executable(lowered)
    for _ in range(calls):
        for n in (0, 5, 7, 60):
            assert executable.run([np.int32(n)]) == SeededExecutor(lowered).run([np.int32(n)])
    for n in (61, 70):
        with pytest.raises(IndexError) as failure:
            executable.run([np.int32(n)])
        assert "'while/body/cond/then/cond/then/getitem'" in failure.value.__notes__[-1]
        assert "iteration 60 of the loop 'while'" in failure.value.__notes__[-1]
    with pytest.raises(IndexError) as failure:
        Executable(lowered_of(lambda n: beyond(n), "int32")).run([np.int32(9)])
    assert "iteration 3 of the loop 'while'" in failure.value.__notes__[-1]


def test_a_failure_in_a_branch_that_no_kernel_stands_before_is_told():
    def program(n):
        x = al.constant(np.ones(3, np.int32))
        body = lambda late, i, s: (al.cond(late, lambda: s > x[s], lambda: s > 1), i + 1, s + 1)
        return al.while_loop(lambda late, i, s: i < n, body, [al.constant(False), al.constant(0), al.constant(0)])

    executable = Executable(lowered_of(program, "int32"))
    for _ in range(20):  # item by item at first, later in a function
        assert executable.run([np.int32(2)])[2] == 2
        with pytest.raises(IndexError) as failure:
            executable.run([np.int32(9)])
        assert "iteration 3 of the loop 'while'" in failure.value.__notes__[-1]


def beyond(n):
    x = al.constant(np.ones(3, np.float32))
    return al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + x[i]), [al.constant(0), al.constant(0.0)])


def test_under_a_limit_to_memory_what_each_kernel_makes_is_counted():
    class Counted(MemoryLimit):
        made = 0

        def note(self, made):
            self.made += 1
            return super().note(made)

    graph = Graph(ordered=True)
    with graph.as_default():
        x = graph.parameter(np.dtype("float64"), al.TensorShape([4000]))
        body = lambda i, x: (i + 1, x * 0.5)
        set_outputs(graph, [al.while_loop(lambda i, _: i < 9, body, (0, x))[1]])
    executable, limit, x = Executable(lower(graph, graph.outputs, graph.inputs)), Counted(1 << 20), np.ones(4000)
    results = executable.run([x], memory=limit), executable.run([x])
    np.testing.assert_array_equal(*results)
    assert limit.made >= 9


def is_one(build):
    """Whether a loop of 5 iterations, over values that a kernel takes long for, is run as one; and what it gives."""
    lowered = lowered_of(build, np.float64)
    executable = Executable(lowered)
    whole = [node for node in executable.plan.nodes if node.kind is Kind.WHOLE]
    each = node_by_node(lowered).run([np.float64(2)])
    assert executable.run([np.float64(2)]) == executable.run([np.float64(2)], threads=2) == each
    return bool(whole)


def over(*steps):
    """A loop with one variable for each of ``steps``."""

    def build(x):
        body = lambda i, *values: (i + 1, *[step(value) for step, value in zip(steps, values)])
        return al.while_loop(lambda i, *_: i < 5, body, [al.constant(0), *[x] * len(steps)])

    return build


def test_heavy_kernels_that_nothing_can_run_beside_are_part_of_such_a_loop():
    """Tokens were moved for each, on the one thread that there was something to do for."""
    op = probe(lambda v: v + 1.0, traits=OPAQUE.but(price=Price.FOREIGN))
    foreign = lambda v: call(op, v)
    assert is_one(over(slow)) and is_one(over(lambda v: slow(slow(v)))) and is_one(over(slow, lambda v: v * 0.5))
    assert not is_one(over(slow, slow))  # two that can run at the same time
    assert not is_one(over(foreign))  # who knows what it does
    assert not is_one(lambda x: (over(slow)(x)[1], slow(x)))  # beside something after all
    many = lambda v: sum([v * k for k in range(2, 20)], v)
    assert not is_one(over(lambda v: slow(many(v))))  # that is for batches
