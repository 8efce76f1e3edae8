"""Loops that are run as one: kernels that machine code does together, and what stands between them."""

from __future__ import annotations

import random
import threading

import autoloop as al
import numpy as np
import pytest
from api import Executable, Graph, SeededExecutor, TensorShape, config, lower, machine_kernels
from executors import needs_native
from flow import call, called_parts, probe
from test_machine_kernels import at_once as at_once

pytestmark = needs_native
RNG = np.random.default_rng(3)
X, W = RNG.standard_normal((4, 6)).astype(np.float32), RNG.standard_normal((6, 6)).astype(np.float32) * 0.3


def recurrent(n, x, w):
    h = x
    for _ in range(n):
        h = np.tanh(h @ w + x)
    return h


def transposed(n, x, w):
    """The view of what does not change is wanted by a product alone, the other one by what is kept, too."""
    h, kept = x, []
    for _ in range(n):
        h = np.tanh(h @ w.T * 0.5)
        rows = h.reshape(8, 3)
        kept.append(rows)
        h = h + (rows * 2).reshape(4, 6)
    return h, np.stack(kept)


def listed(n, x, w):
    """What is kept stands between two parts."""
    h, kept = x, []
    for _ in range(n):
        h = h * 0.5 + x
        kept.append(h)
        h = np.exp(-kept[-1] * kept[-1]) @ w
    return h, np.stack(kept)


def written(n, x, w):
    """An array is read before it is written to."""
    a, total = np.array(x), np.zeros(6, np.float32)
    for i in range(n):
        total = total + a.sum(axis=0) * 0.5
        a[i % 4] = total - a[i % 4]
        total = np.sqrt(np.abs(total)) * 1.5
    return a, total


def branched(n, x, w):
    h = x
    for i in range(n):
        y = h * 2 - 1
        if i % 3 == 0:
            z = np.cos(y) * h
            h = z - y * z
        else:
            h = np.sin(h) + np.tanh(y.mean() * h)
    return h


def nested(n, x, w):
    h, total = x, 0.0
    for i in range(n):
        for j in range(i):
            h = np.tanh(h @ w) + j * 0.1
            total = total + (h * h).sum()
        h = h - h.mean()
    return h, total


def swapped(n, x, w):
    """Values from before are wanted when the variables have others."""
    a, b = x, x * 2
    for _ in range(n):
        a, b = b * 0.5 + a, np.abs(a) - b
    return a, b


def whole_numbers(n, x, w):
    """What may fail is done in order, by itself."""
    k = np.arange(1, 7)
    for i in range(n):
        k = (k * 3 + i) % 1000
        k = np.bitwise_and(k, 255) * 2 + k // 7
    return k


PROGRAMS = [recurrent, transposed, listed, written, branched, nested, swapped, whole_numbers]


def parts_of(function, *args):
    """The parts that loops call."""
    return called_parts(function.get_concrete_function(*args).runner.run.__self__)


def same(one, other):
    for a, b in zip(al.nest.flatten(one), al.nest.flatten(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_parts_give_what_kernels_give_one_by_one(program, at_once):
    f = al.function(program, executor="dataflow")
    for n in (5, 7, 1, 12):
        n = np.int64(n)
        same(f(n, X, W), program(n, X, W))
    assert parts_of(f, np.int64(5), X, W)


def test_what_does_not_change_is_put_in_order_once(at_once):
    f = al.function(recurrent, executor="dataflow")
    for _ in range(3):
        f(np.int64(5), X, W)
    run = f.get_concrete_function(np.int64(5), X, W).runner.run.__self__
    (loop,) = [node.value._run.__globals__ for node in run.plan.nodes if node.kind.name == "WHOLE"]
    ((name, part),) = [(name, one) for name, one in loop.items() if name[0] == "p" and name[1:].isdigit()]
    made = []

    def noted(*values):
        made.append(part(*values))
        return made[-1]

    loop[name] = noted
    moved = np.frombuffer(b"." + W.tobytes(), np.uint8)[1:].view(W.dtype).reshape(W.shape)  # in the midst of words
    for w in (W, np.asfortranarray(W), W[::-1], W.T, moved):
        same(f(np.int64(5), X, w), recurrent(5, X, w))
    assert len(made) == 25 and None not in made


def test_gradients_of_loops_call_parts(at_once):
    def loss(x, w, n):
        return recurrent(n, x, w).sum()

    def by_hand(x, w, n):
        states = [x]
        for _ in range(n):
            states.append(np.tanh(states[-1] @ w + x))
        g, gx, gw = np.ones_like(x), np.zeros_like(x), np.zeros_like(w)
        for before, after in zip(states[-2::-1], states[:0:-1]):
            g = g * (1 - after * after)
            gx, gw, g = gx + g, gw + before.T @ g, g @ w.T
        return gx + g, gw

    gradient = al.function(lambda x, w, n: al.grad(loss, (0, 1))(x, w, n), executor="dataflow")
    for n in (6, 3, 9):
        same(gradient(X, W, np.int64(n)), by_hand(X, W, n))
    assert len(parts_of(gradient, X, W, np.int64(6))) >= 2


def test_a_failure_between_parts_is_told_where_it_was(at_once):
    def program(n, x, k):
        for i in range(n):
            x = np.tanh(x) * 0.5 + 1
            x = x + x[k[i]] * 2
            x = np.sqrt(x) - 0.5
        return x

    f = al.function(program, executor="dataflow")
    good, bad = np.array([0, 1, 2, 3]), np.array([0, 1, 9, 3])
    for _ in range(3):
        same(f(np.int64(4), X, good), program(4, X, good))
    with pytest.raises(IndexError, match="iteration 2"):
        f(np.int64(4), X, bad)
    same(f(np.int64(4), X, good), program(4, X, good))


def test_floating_point_errors_that_are_asked_for_are_told(at_once):
    def program(n, x):
        for _ in range(n):
            x = np.exp(x * 30) + 1
        return x

    f = al.function(program, executor="dataflow")
    with np.errstate(over="ignore"):
        for _ in range(3):
            same(f(np.int64(4), X), program(4, X))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        f(np.int64(4), X)


def test_an_array_is_read_before_it_is_written_to(at_once):
    def program(n, a):
        total = a[0] * 0.0
        for i in range(n):
            total = np.abs(a[i % 3] * 0.5 + a[1]) + total
            a[i % 3] = total
        return total

    f = al.function(program, executor="dataflow")
    for _ in range(3):
        a, b = np.array(X), np.array(X)
        same(f(np.int64(5), a), program(5, b))
        same(a, b)
    assert parts_of(f, np.int64(5), X)


def test_threads_call_one_loop_at_the_same_time(at_once):
    f = al.function(recurrent, executor="dataflow")
    for _ in range(3):
        f(np.int64(5), X, W)
    found = {}

    def work(k):
        found[k] = [f(np.int64(40), X * k, W) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, results in found.items():
        for one in results:
            same(one, recurrent(40, X * k, W))


class Bodies:
    """Random loops over matrices, with what is no member of parts between what is."""

    def __init__(self, seed):
        self.choices = random.Random(seed)

    def one(self, known, kind):
        return self.choices.choice(known[kind])

    def step(self, known, i, depth):
        """Add a value."""
        roll = self.choices.randrange(14)
        x, y, a = self.one(known, "m"), self.one(known, "m"), self.one(known, "s")
        if roll < 5:
            made = [x + y * 0.5, x * y, al.tanh(x), x - a, al.transpose(x)][roll]
        elif roll == 5:
            made = al.matmul(x, al.transpose(y)) * 0.25
        elif roll == 6:
            made = al.transpose(al.reshape(x, [2, 8])[0:1, 0:4]) + y
        elif roll == 7:
            made = al.gather(x, [i % 4, 1, self.choices.randrange(4), 0]) * 0.5
        elif roll == 8:
            made = call(KEPT, x)
        elif roll == 9 and depth < 2:
            made = al.cond(a > 0.1, lambda: self.block(known, i, depth + 1), lambda: self.block(known, i, depth + 1))
        elif roll == 10 and depth < 2:
            body = lambda j, z: (j + 1, self.block({**known, "m": [*known["m"], z]}, j, depth + 1))
            made = al.while_loop(lambda j, z: j < 2, body, [al.constant(0), x])[1]
        elif roll == 11:
            made = al.where(x > a, x, y)
        else:
            known["s"].append(al.tanh(al.sum(x)) if roll == 12 else a * 0.5 + al.cast(i, al.float64))
            return
        known["m"].append(al.tanh(made))

    def block(self, known, i, depth):
        known = {kind: list(values) for kind, values in known.items()}
        for _ in range(self.choices.randrange(1, 7)):
            self.step(known, i, depth)
        return known["m"][-1]

    def build(self, n, *xs):
        def body(i, kept, s, *ms):
            known = {"m": list(ms), "s": [s]}
            for _ in range(10):
                self.step(known, i, 0)
            kept = kept.write(i, self.one(known, "m"))
            return i + 1, kept, known["s"][-1], *[self.one(known, "m") for _ in ms]

        kept = al.TensorArray(al.float64, size=n, element_shape=[4, 4])
        _, kept, s, *ms = al.while_loop(lambda i, *_: i < n, body, [al.constant(0), kept, al.sum(xs[0]), *xs])
        return [kept.stack(), s, *ms]


#: nothing is known of it but what it gives
KEPT = probe(lambda x: x * 0.5, "kept")


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 1000), marks=pytest.mark.nightly)], ids=len)
def test_random_loops_do_what_they_do_node_by_node(seeds, at_once):
    found = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        values = [np.int32(3), *[rng.standard_normal((4, 4)) for _ in range(3)]]
        graph = Graph("random")
        with graph.as_default():
            given = [graph.parameter(v.dtype, TensorShape(v.shape), f"x{k}") for k, v in enumerate(values)]
            lowered = lower(graph, Bodies(seed).build(*given), given)
        want = SeededExecutor(lowered, seed).run(values)
        executable = Executable(lowered, faster=machine_kernels.machine_kernels)
        for _ in range(3):
            for one, other in zip(executable.run(values, threads=1), want, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
        found += len(called_parts(executable))
    assert found > len(seeds) / 2


def in_two_loops(a, c, n):
    """Kernels in a loop in a loop in a loop, given what does not change in any of them; beside heavy ones."""
    for i in range(n + 1):
        b = np.tanh(a @ LARGE) * 0.5 + a * 0.3
        for j in range(i):
            for k in range(n - j):
                b = b * 0.5 + c * 0.25 + 0.01 * k
                a = a * 0.5 + b * 0.25 + 0.01 * k
        a = np.tanh(a @ LARGE)
        b = np.tanh(b @ LARGE)
        a = np.tanh(a @ LARGE + 0.1 * a)
    return a, b


LARGE = RNG.standard_normal((80, 80)) * 0.03


def test_what_a_part_is_given_has_the_names_of_the_loop_that_is_one(at_once):
    """It was found where only the innermost was."""
    before = config.get_num_threads()
    config.set_num_threads(2)
    try:
        f = al.function(in_two_loops, executor="dataflow")
        for _ in range(4):
            for found, wanted in zip(f(LARGE, LARGE.T, np.int64(3)), in_two_loops(LARGE, LARGE.T, 3), strict=True):
                np.testing.assert_allclose(found, wanted)
    finally:
        config.set_num_threads(before)
