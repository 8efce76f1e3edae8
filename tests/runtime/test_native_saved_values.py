"""Machine code of the gradients of whole graphs, and the memory of the values that they save."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from api import (
    TensorArray,
    call,
    compile_graph,
    cond,
    host,
    scan,
    value_and_grad,
    while_loop,
    write_function,
)
from native_checks import check, compile_native, graph_of
from random_programs import Program, interpret
from test_native_graphs import integers, normal, reduce_sum, set_item, tanh, zeros


def halving(x):
    """A loop whose trip count is not known, with a branch and a loop of unknown trip count in it."""

    def body(y, total):
        inner = while_loop(lambda z: z > 2.0, lambda z: z * 0.7 + call("sin", z) * 0.1, y)
        y = cond(y > 3.0, lambda: y * 0.5, lambda: y - 0.8)
        return y, total + inner * y

    return while_loop(lambda y, _: y > 0.5, body, (x, 0.0))[1]


def rnn(x, w):
    def body(t, h, out):
        h = tanh(h @ w + x[t])
        return t + 1, h, out.write(t, h)

    out = while_loop(lambda t, *_: t < 6, body, (0, zeros([4]), TensorArray(np.float32, 6)))[2]
    return reduce_sum(out.stack() ** 2)


def elements(x, w):
    rows = TensorArray(np.float32, 6).unstack(x)
    total = while_loop(
        lambda i, _: i < 6, lambda i, s: (i + 1, s + reduce_sum(rows.read(i) * rows.read(5 - i))), (0, 0.0)
    )
    return total[1] * w[0, 0]


def indexed(x, w):
    step = lambda i, s, y: (i + 1, s + y[i % 3] * reduce_sum(w[i % 4] * x[i]), set_item(y, i % 5, s))  # noqa: E731
    return while_loop(lambda i, *_: i < 6, step, (0, 0.0, x[:, 0]))[1]


GRADIENTS = {
    "halving": (halving, (0,), (np.float32(20),)),
    "rnn": (rnn, (0, 1), (normal(6, 4), normal(4, 4))),
    "scan": (
        lambda x, w: reduce_sum(scan(lambda h, r: tanh(h @ w + r), x, zeros([4]))),
        (0, 1),
        (normal(6, 4), normal(4, 4)),
    ),
    "elements": (elements, (0, 1), (normal(6, 4), normal(4, 4))),
    "indexed": (indexed, (0, 1), (normal(6, 4), normal(4, 4))),
    "gather": (lambda x, i: reduce_sum(call("gather", x, i) ** 2), (0,), (normal(6, 4), integers(9))),
}


@pytest.mark.parametrize("f, positions, values", GRADIENTS.values(), ids=GRADIENTS)
def test_gradients(f, positions, values):
    def build(*args):
        value, found = value_and_grad(f, positions)(*args)
        return [value, *found]

    check(build, *values, rtol=1e-4)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_saved_values_are_given_back():
    def build(x, n):
        def loss(x):
            return reduce_sum(while_loop(lambda i, _: i < n, lambda i, x: (i + 1, call("sin", x)), (0, x))[1])

        return value_and_grad(loss)(x)[1]

    run = compile_native(graph_of(build, normal(1000), np.int32(1)))
    run([normal(1000), np.int32(2000)])
    before = memory()
    for _ in range(20):
        run([normal(1000), np.int32(2000)])
    assert memory() - before < 20e6  # one call saves 8 MB


def test_checkpoints():
    def build(a, x, n):
        def loss(a, x):
            step = lambda i, x, k: (i + 1, call("sin", x) * a, k * 2)  # noqa: E731
            start = (0, x, np.int64(1))
            return reduce_sum(while_loop(lambda i, *_: i < n, step, start, gradient_memory="checkpoint")[1])

        value, found = value_and_grad(loss, (0, 1))(a, x)
        return [value, *found]

    a, x = np.linspace(0.9, 1.1, 5), np.linspace(0.5, 1, 5)
    run = compile_native(graph_of(build, a, x, np.int32(0)))
    python = compile_graph(graph_of(build, a, x, np.int32(0)))
    for n in (0, 1, 2, 3, 4, 9, 60, 300):
        for got, want in zip(run([a, x, np.int32(n)]), python([a, x, np.int32(n)])):
            np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs /proc")
@pytest.mark.usefixtures("code_is_kept")  # the same twice
def test_what_is_saved_in_an_iteration_is_given_back_when_it_ends():
    def loss(a):
        return call("sum", while_loop(lambda i, x: i < 400, lambda i, x: (i + 1, call("sin", x) * a), (0, a))[1])

    def train(a, n):
        def step(i, a, peak):
            error, gradient = value_and_grad(loss)(a)
            return i + 1, a - 1e-3 * gradient, call("maximum", peak, error)

        return while_loop(lambda i, *_: i < n, step, (0, a, np.float64(-np.inf)))[1:]

    x = np.linspace(0.5, 1.0, 1000)
    check(train, x, np.int32(3))
    run = compile_native(graph_of(train, x, np.int32(0)))
    run([x, np.int32(1)])
    before = memory()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts anew
    run([x, np.int32(40)])
    with open("/proc/self/status") as file:
        (peak,) = [int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM")]
    assert peak - before < 40e6  # 3 MB an iteration


def memory():
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_used_again():
    def build(x):
        for _ in range(20):
            x = call("reshape", x.T @ x, [64, 64]) * 0.01
        return x

    x = normal(64, 64)
    function = write_function(graph_of(build, x), [x.shape], host().features)
    assert function.scratch < 6 * x.nbytes
    check(build, x, rtol=1e-3)


@pytest.mark.parametrize("seed", [*range(30), *[pytest.param(k, marks=pytest.mark.nightly) for k in range(30, 60)]])
def test_random_programs(seed):
    program = Program(random.Random(seed), effects=False)
    values = list(Program.values)
    for got, want in zip(compile_native(program.graph)(values), interpret(program.graph, values)):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_what_is_written_to_its_own_array_needs_no_memory_of_its_size():
    x = normal(64, 64)
    below = slice(1, None)
    sums = lambda x: call("cumsum", x, 1), lambda x: call("cumprod", x, 0)
    updates = (
        lambda x: set_item(x, below, x[below] * np.float32(2.0)),
        lambda x: while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, set_item(x, below, x[below] + 1.0)), [0, x])[1],
        lambda x: set_item(x, np.array([3, 1]), x[np.array([5, 6])] * 2.0),
    )
    parts = lambda x: set_item(x, 0, x[1]), lambda x: set_item(x, (2, below), x[2, :-1])
    for build in (*parts, *sums, *updates, np.sort, lambda x: np.sort(x, 0)):
        graph = graph_of(build, x)
        graph.donated = {0: 0}
        assert write_function(graph, [x.shape], host().features).scratch < x.nbytes / 4
