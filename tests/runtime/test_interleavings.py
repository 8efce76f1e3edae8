"""Every order in which the kernels of a program may run gives one answer: orders drawn by seeds, replayable."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Executable, Graph, Plan, SeededExecutor, config, lower, machine_kernels, optimize, set_outputs
from executors import needs_native
from test_machine_kernels import at_once as at_once

WINDOWS = (1, 3, 10)


def collatz(n, x, window):
    def body(n, steps):
        return al.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), steps + 1

    return al.while_loop(lambda n, _: n > 1, body, (n + 6, 0), parallel_iterations=window)


def nested(n, x, window):
    def inner(i):
        return al.while_loop(
            lambda j, s: j < i, lambda j, s: (j + 1, s + x[j % 3] * 0.5), (0, 0.0), parallel_iterations=window
        )[1]

    return al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + inner(i)), (0, 0.0), parallel_iterations=window)


def arrays(n, x, window):
    def body(i, odd, out):
        value = al.cond(i % 2 == 1, lambda: x * 2.0, lambda: x + 1.0)
        return i + 1, odd + i % 2, out.write(n - 1 - i, value)

    out = al.TensorArray(al.float32, n, element_shape=[3])
    i, odd, out = al.while_loop(lambda i, *_: i < n, body, (0, 0, out), parallel_iterations=window)
    return i, odd, out.stack()


def swap_and_grow(n, x, window):
    body = lambda i, a, b: (i + 1, al.concat([a, b[:1]], 0), b[::-1])
    return al.while_loop(
        lambda i, *_: i < n, body, (0, x, x * 2.0), shape_invariants=([], [None], [3]), parallel_iterations=window
    )


def mapped(n, x, window):
    row = lambda v: al.while_loop(
        lambda j, s: j < n, lambda j, s: (j + 1, s * v), (0, 1.0), parallel_iterations=window
    )[1]
    return al.map_fn(row, x, parallel_iterations=window), al.scan(lambda a, v: a * v, x, parallel_iterations=window)


def effects(n, x, window):
    state = al.Variable(np.float32(1))

    def body(i, s):
        state.assign(state * 2.0 + s)
        return i + 1, s + al.cond(i % 3 == 0, lambda: state.assign_add(1.0), lambda: state.read_value())

    first = state.assign(1.0)
    return al.while_loop(lambda i, s: i < n, body, (0, first), parallel_iterations=window)[1], state.read_value()


def untaken(n, x, window):
    def endless():
        return al.while_loop(lambda v: v < 1.0, lambda v: v * 0.5, [x[0] * 0.1], parallel_iterations=window)[0]

    body = lambda i, s: (i + 1, s + al.cond(i < 0, endless, lambda: x[1]))
    return al.while_loop(lambda i, s: i < n, body, (0, 0.0), parallel_iterations=window)


def sparse(n, x, window):
    start = al.SparseTensor([[0, 1]], [1.0], [3, 3])
    body = lambda i, m: (i + 1, al.sparse.add(m, al.SparseTensor([[i % 3, 0]], x[:1], [3, 3])))
    return al.while_loop(lambda i, m: i < n, body, (0, start), parallel_iterations=window)[1] @ al.expand_dims(x, 1)


PROGRAMS = [collatz, nested, arrays, swap_and_grow, mapped, effects, untaken, sparse]
N, X = np.int32(5), np.array([0.5, 2.0, -1.0], np.float32)


def lowered_of(program, window):
    graph = Graph(ordered=True)
    n = graph.parameter(N.dtype, al.TensorShape([]), "n")
    x = graph.parameter(X.dtype, al.TensorShape([3]), "x")
    with graph.as_default():
        set_outputs(graph, al.nest.flatten(program(n, x, window), expand_composites=True))
    optimized = optimize(graph)
    return lower(optimized, optimized.outputs, optimized.inputs)


def node_by_node(lowered):
    return Plan(lowered)


def joined(lowered):
    """As real runs do it: loops as one, batches of light kernels."""
    return Executable(lowered).plan


def machine_code(lowered):
    """As they do it once they have run for long."""
    executable = Executable(lowered, faster=machine_kernels.machine_kernels)
    for _ in range(3):
        executable.run([N, X])
    return executable.plan


def replay(program, seeds, plan_of=node_by_node, rtol=0):
    expected = None
    for window in WINDOWS:
        lowered = lowered_of(program, window)
        stepping = SeededExecutor(lowered)
        expected = expected or stepping.run([N, X])
        stepping.plan = plan_of(lowered)
        for stepping.seed in seeds:
            for a, b in zip(expected, stepping.run([N, X]), strict=True):
                told = f"{program.__name__}, window {window}, seed {stepping.seed}"
                np.testing.assert_allclose(a, b, rtol, err_msg=told)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_fifty_orders_give_one_answer(program):
    replay(program, range(17))


@pytest.mark.nightly
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_thousand_orders_give_one_answer(program):
    replay(program, range(1000))


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(1000), marks=pytest.mark.nightly)], ids=len)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_orders_of_what_is_joined_give_that_answer(program, seeds):
    replay(program, seeds, joined)


@needs_native
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(1000), marks=pytest.mark.nightly)], ids=len)
@pytest.mark.parametrize("program", [collatz, nested, arrays], ids=lambda p: p.__name__)
def test_orders_of_machine_code_give_that_answer(program, seeds, at_once):
    replay(program, seeds, machine_code, 1e-6)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_it_is_the_answer_of_every_executor(program):
    answers = []
    for executor in ("auto", "dataflow", "sequential"):
        for window in WINDOWS:
            f = al.function(lambda n, x: program(n, x, window), executor=executor, autograph=False)
            answers.append([np.asarray(t) for t in al.nest.flatten(f(N, X), expand_composites=True)])
    for answer in answers[1:]:
        for a, b in zip(answers[0], answer, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


def drawn(key, n):
    """Random numbers by key, in a loop and in parallel rows."""

    def body(i, key, total):
        key, sub = al.unstack(al.random.split(key, 2))
        return i + 1, key, total + al.random.normal([3], key=sub)

    total = al.while_loop(lambda i, *_: i < n, body, (0, key, al.zeros([3])))[2]
    return total, al.map_fn(lambda k: al.random.uniform([2], key=k), al.random.split(key, 6))


def test_random_numbers_by_key_are_the_same_everywhere():
    before = config.get_num_threads()
    answers = []
    try:
        for executor in ("auto", "dataflow", "sequential"):
            for threads in (1, 2, 4):
                config.set_num_threads(threads)
                f = al.function(drawn, executor=executor, autograph=False)
                answers.append([np.asarray(t) for t in f(al.random.key(3), al.constant(5))])
    finally:
        config.set_num_threads(before)
    for answer in answers:
        for a, b in zip(answers[0], answer, strict=True):
            np.testing.assert_array_equal(a, b)
    assert len(np.unique(answers[0][1])) == 12
