"""What ``scheduler.py`` measures: graphs written once, for TensorFlow and autoloop, in functions and in sessions.

Nothing but NumPy is imported here; ``tf`` is the library.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Program:
    """A row of the table.

    ``build(tf, *inputs)`` gives tensors. A figure is the time of a run divided by ``count``, in ``unit``. ``hand`` does
    it with NumPy, on ``threads`` threads where that makes a difference. ``halves`` are builds of one half each, whose
    results come one after the other.
    """

    what: str
    unit: str
    count: int
    build: Callable[..., list[Any]]
    inputs: list[Any]
    threads: int = 1
    hand: Callable[..., list[Any]] | None = None
    halves: tuple[Callable[..., list[Any]], ...] = ()


def drawn(*shape: int, scale: float = 1.0) -> np.ndarray:
    """Numbers that are the same in each process."""
    return (scale * np.random.default_rng(sum(shape)).standard_normal(shape)).astype(np.float32)


def loop(tf: Any, n: Any, body: Callable[..., Any], start: list[Any], window: int = 10) -> list[Any]:
    """``for i in range(n)``: the variables but for the counter."""
    zero = tf.constant(0, tf.int32)
    return list(
        tf.while_loop(
            lambda i, *_: i < n, lambda i, *rest: [i + 1, *body(i, *rest)], [zero, *start], parallel_iterations=window
        )
    )[1:]


# -- little work: what a node costs -----------------------------------------------------------------------


def scalar_if(tf, n, x):
    def body(i, total):
        return [tf.cond(tf.equal(i % 3, 0), lambda: total + 0.5 * x, lambda: total - 0.25 * x)]

    return loop(tf, n, body, [x])


def nested(tf, n, m, x):
    return loop(tf, n, lambda i, s: loop(tf, m, lambda j, t: [t * 0.5 + x], [s]), [x])


def counter(tf, n):
    found = tf.while_loop(lambda i: i < n, lambda i: [i + 1], [tf.constant(0, tf.int32)])
    return found if isinstance(found, list) else [found]  # 1.x gives one tensor where there is one variable


def hundred(tf, n, x):
    def body(i, a, b):
        for _ in range(25):
            a, b = a * x - b, b * 0.5 + 0.1  # goes nowhere: executors are compared after thousands of these
        return [a, b]

    return loop(tf, n, body, [x, x])


def beside(tf, n, a, w, x):
    def body(i, a, s):
        for _ in range(25):
            s = (s * 0.5 - x) * 0.5 + x
        return [tf.tanh(tf.matmul(a, w)), s]

    return loop(tf, n, body, [a, x])


def wide(count):
    def build(tf, x, y):
        return [tf.reduce_sum(tf.stack([tf.tanh(x + float(k)) * y for k in range(count // 3)]))]

    return build


def deep(count):
    def build(tf, x, y):
        for _ in range(count // 2):
            x = tf.tanh(x) * y
        return [x]

    return build


def of_kind(step):
    """Ten times the same in each iteration, one after the other."""

    def build(tf, n, *inputs):
        def body(i, x):
            for _ in range(10):
                x = step(tf, i, x, *inputs[1:])
            return [x]

        return loop(tf, n, body, [inputs[0]])

    return build


KINDS = {
    "scalars": ("`x * y` of scalars", lambda tf, i, x, y: x * y, [np.float32(1), np.float32(0.999)]),
    "eight": ("`x * y` of 8 numbers", lambda tf, i, x, y: x * y, [drawn(8), np.full(8, 0.999, np.float32)]),
    "tanh": ("`tanh(x)` of 1,000 numbers", lambda tf, i, x: tf.tanh(x), [drawn(1000)]),
    "matmul": ("`x @ y`, 8×8", lambda tf, i, x, y: tf.matmul(x, y), [drawn(8, 8), np.eye(8, dtype=np.float32)]),
    "gather": ("`x[i % 8] * 0.001 + x`", lambda tf, i, x: tf.gather(x, i % 8) * 0.001 + x, [drawn(8)]),
    "where": ("`where(x > 0, x, y)` of 8 numbers", lambda tf, i, x, y: tf.where(x > 0, x, y), [drawn(8), drawn(8)]),
    "sum": (
        "`reduce_sum(x) * y` of 8 numbers", lambda tf, i, x, y: tf.reduce_sum(x) * y, [drawn(8), drawn(8, scale=0.1)]
    ),
    "cond": (
        "`cond(i > 5, ...)`", lambda tf, i, x: tf.cond(i > 5, lambda: x * 0.5, lambda: x + 1.0), [np.float32(1)]
    ),
}  # fmt: skip


# -- more work --------------------------------------------------------------------------------------------


def rnn(tf, n, h, w, x):
    return loop(tf, n, lambda i, h: [tf.tanh(tf.matmul(h, w) + x)], [h])


def rnn_by_hand(n, h, w, x):
    for _ in range(n):
        h = np.tanh(h @ w + x)
    return [h]


def rnn_gradient(tf, n, h, w, x):
    return list(tf.gradients(tf.reduce_sum(rnn(tf, n, h, w, x)[0]), [w, x]))


def rnn_gradient_by_hand(n, h, w, x):
    values = [h]
    for _ in range(n):
        values.append(np.tanh(values[-1] @ w + x))
    g, of_w, of_x = np.ones_like(h), np.zeros_like(w), np.zeros_like(x)
    for k in range(n, 0, -1):
        d = g * (1 - values[k] * values[k])
        of_x += d
        of_w += values[k - 1].T @ d
        g = d @ w.T
    return [of_w, of_x]


def layers(tf, n, a, b, v, w):
    """The second layer works at a step while the first is at the next one."""
    return loop(tf, n, lambda i, a, b: [tf.tanh(tf.matmul(a, v)), tf.tanh(tf.matmul(b, w) + a)], [a, b], 32)


def layers_by_hand(n, a, b, v, w):
    """Two threads, the first of which hands its values on."""
    from queue import SimpleQueue

    values: SimpleQueue[Any] = SimpleQueue()

    def first(a):
        for _ in range(n):
            values.put(a)
            a = np.tanh(a @ v)
        return a

    def second(b):
        for _ in range(n):
            b = np.tanh(b @ w + values.get())
        return b

    with ThreadPoolExecutor(2) as pool:
        done = pool.submit(first, a), pool.submit(second, b)
        return [one.result() for one in done]


def chains(tf, n, a, b, v, w):
    return loop(tf, n, lambda i, a, b: [tf.tanh(tf.matmul(a, v)), tf.tanh(tf.matmul(b, w))], [a, b], 32)


def chain_by_hand(n, x, m):
    for _ in range(n):
        x = np.tanh(x @ m)
    return x


def chains_by_hand(n, a, b, v, w):
    return [chain_by_hand(n, a, v), chain_by_hand(n, b, w)]


def chains_on_two(n, a, b, v, w):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(chain_by_hand, (n, n), (a, b), (v, w)))


def waves(tf, n, a, b):
    """Two chains of long rows, element by element."""
    return loop(tf, n, lambda i, a, b: [tf.sin(a) * 0.9, tf.sin(b) * 0.8], [a, b], 32)


def wave_by_hand(n, x, scale):
    for _ in range(n):
        x = np.sin(x) * np.float32(scale)
    return x


def waves_by_hand(n, a, b):
    return [wave_by_hand(n, a, 0.9), wave_by_hand(n, b, 0.8)]


def waves_on_two(n, a, b):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(wave_by_hand, (n, n), (a, b), (0.9, 0.8)))


def beside_products(tf, n, a, b, v, w, *light):
    """Two chains of products, with numbers beside them."""

    def body(i, a, b, *light):
        x = tf.cast(i, tf.float32)
        return [tf.tanh(tf.matmul(a, v)), tf.tanh(tf.matmul(b, w)), *[y * 0.5 + x for y in light]]

    return loop(tf, n, body, [a, b, *light])


def many_chains(count, depth, first=0, last=None):
    """Chains that do not need each other, each with numbers of its own; from one to another of ``count``."""

    def build(tf, x):
        ends = []
        for k in range(first, count if last is None else last):
            y = x + (k + 0.5) / count
            for d in range(depth):
                y = tf.sin(y) * (0.503 + (k * depth + d) % 97 / 100)
            ends.append(tf.reduce_sum(y))
        return [tf.stack(ends)]

    return build


def looped_chains(count, depth, first=0, last=None):
    """The same in two iterations, of which the second waits for all of the first, and computes the same numbers: what
    it adds is too small for them, also of half of the chains."""
    inner, many = many_chains(count, depth, first, last), (count if last is None else last) - first

    def build(tf, x):
        def body(i, ends):
            return [ends + inner(tf, x + tf.reduce_sum(ends) * 1e-30)[0]]

        return loop(tf, tf.constant(2, tf.int32), body, [tf.zeros([many], tf.float32)])

    return build


def one_inner_loop(tf, n, m, a, b, v, w):
    """Two chains of products in one loop in a loop."""
    steps = lambda j, x, y: [tf.tanh(tf.matmul(x, v)), tf.tanh(tf.matmul(y, w))]
    return [tf.concat(loop(tf, n, lambda i, a, b: loop(tf, m, steps, [a, b]), [a, b]), 0)]


def inner(tf, m, x, w):
    return loop(tf, m, lambda j, x: [tf.tanh(tf.matmul(x, w))], [x])


def two_inner_loops(tf, n, m, a, b, v, w):
    """The same, each in a loop of its own."""
    return [tf.concat(loop(tf, n, lambda i, a, b: [*inner(tf, m, a, v), *inner(tf, m, b, w)], [a, b]), 0)]


def half_of_inner_loops(which):
    return lambda tf, n, m, *xs: loop(tf, n, lambda i, x: inner(tf, m, x, xs[2 + which]), [xs[which]])


def inner_by_hand(n, m, *xs):
    return [np.concatenate(chains_by_hand(n * m, *xs))]


def inner_on_two(n, m, *xs):
    return [np.concatenate(chains_on_two(n * m, *xs))]


# -- all of it --------------------------------------------------------------------------------------------


def recurrent(batch: int, hidden: int, scale: float = 0.9, fed: float = 1.0) -> list[Any]:
    return [drawn(batch, hidden), drawn(hidden, hidden, scale=scale / hidden**0.5), drawn(batch, hidden, scale=fed)]


def square(size: int, times: int = 2) -> list[Any]:
    return [drawn(size, size)] * times + [drawn(size, size, scale=0.9 / size**0.5)] * times


def of_chains(count: int) -> dict[str, Program]:
    """Chains whose nodes, ``sin(x) * c``, take some 2 to 20 µs each, outside of a loop and in one."""
    found = {}
    for threads in (1, 2):
        found[f"many {threads}"] = Program(
            f"{count:,} chains of 4 `sin(x) * c` of 4,000 numbers, {threads} worker{'s' * (threads - 1)}", "ms", 1,
            many_chains(count, 4), [drawn(4000)], threads,
        )  # fmt: skip
    for name, make, where in (("short", many_chains, ""), ("looped", looped_chains, ", in 2 iterations")):
        for microseconds, size in ((2, 5_000), (5, 12_500), (10, 25_000), (20, 50_000)):
            halves = tuple([make(count, 4, *ends) for ends in ((0, count // 2), (count // 2, count))])
            for threads in (1, 2):
                found[f"{name} {microseconds} {threads}"] = Program(
                    f"{count:,} chains of 4 nodes of {microseconds} µs{where}, {threads} worker{'s' * (threads - 1)}",
                    "ms", 1, make(count, 4), [drawn(size)], threads, halves=halves if threads > 1 else (),
                )  # fmt: skip
    return found


def of_nests(n: Any) -> dict[str, Program]:
    """Chains that do not need each other, in loops in a loop."""
    inputs = [n, np.int32(5), *[drawn(128, 128)] * 2, *[drawn(128, 128, scale=128**-0.5)] * 2]
    halves, found = tuple(map(half_of_inner_loops, (0, 1))), {}
    for name, what, build in (
        ("nest", "one loop of two chains", one_inner_loop),
        ("nests", "two loops of a chain", two_inner_loops),
    ):
        for threads, hand in ((1, inner_by_hand), (2, inner_on_two)):
            found[f"{name} {threads}"] = Program(
                f"{what} in a loop, 128×128, an iteration of five steps, {threads} worker{'s' * (threads - 1)}", "µs",
                int(n), build, inputs, threads, hand, halves if threads > 1 else (),
            )  # fmt: skip
    return found


def programs(quick: bool = False) -> dict[str, Program]:
    """All rows, by name; ``quick``: small ones, to see that they run."""
    less = 50 if quick else 1

    def turns(n: int) -> Any:
        return np.int32(max(2, n // less))

    one, n = np.float32(0.5), turns(10_000)
    found = {
        "if": Program("scalar `while` with an `if`, an iteration", "µs", int(n), scalar_if, [n, one]),
        "nested": Program("`while` in a `while`, an inner iteration", "µs", int(turns(100)) * int(turns(100)), nested,
                          [turns(100), turns(100), one]),
        "counter": Program("a counter alone, an iteration", "µs", int(n), counter, [n]),
        "hundred": Program("iterations of 100 nodes, a node", "µs", int(turns(500)) * 100, hundred, [turns(500), one]),
    }  # fmt: skip
    found["beside"] = Program(
        "100 nodes beside `tanh(a @ w)`, 128×128, an iteration", "µs", int(turns(500)), beside,
        [turns(500), *square(128)[1:3], one],
    )  # fmt: skip
    for count in (10_000 // less, 100_000 // less):
        found[f"wide {count}"] = Program(f"{count:,} nodes side by side, a node", "µs", count, wide(count), [one, one])
        found[f"deep {count}"] = Program(f"{count:,} nodes in a chain, a node", "µs", count, deep(count), [one, one])
    for name, (what, step, inputs) in KINDS.items():
        m = turns(200)
        found[name] = Program(f"{what}, each", "µs", int(m) * 10, of_kind(step), [m, *inputs])
    for batch, hidden in ((32, 64), (64, 256)):
        m = turns(400)
        found[f"rnn {hidden}"] = Program(
            f"RNN {batch}×{hidden}, a step", "µs", int(m), rnn, [m, *recurrent(batch, hidden)], hand=rnn_by_hand
        )
    m = turns(400)
    # one that vanishes and one that does not: TensorFlow takes subnormal numbers for zeros, NumPy computes with them,
    # which takes some processors a hundred times as long; of the second one no part of the batch vanishes
    for name, what, numbers in (
        ("gradient", "gradient of an RNN 32×64, 400 steps, that vanishes", recurrent(32, 64)),
        ("gradient kept", "the same, of one that does not vanish", recurrent(32, 64, 1.2, 0.1)),
    ):
        found[name] = Program(what, "ms", 1, rnn_gradient, [m, *numbers], hand=rnn_gradient_by_hand)
    for count in (0, 64):
        found[f"light {count}"] = Program(
            f"two products 96×96 beside {count} numbers `y * 0.5 + i`, an iteration", "µs", int(m), beside_products,
            [m, *square(96), *[np.float32(k) for k in range(count)]],
        )  # fmt: skip
    found |= of_chains(1000 // less) | of_nests(turns(100))
    size, m = 320 // (4 if quick else 1), turns(60)
    found["layers"] = Program(
        f"two stacked layers {size}×{size}, {m} steps, 2 workers", "ms", 1, layers, [m, *square(size)], 2,
        layers_by_hand,
    )  # fmt: skip
    for threads, hand in ((1, chains_by_hand), (2, chains_on_two)):
        found[f"chains {threads}"] = Program(
            f"two chains {size}×{size}, {m} steps, {threads} worker{'s' * (threads - 1)}", "ms", 1, chains,
            [m, *square(size)], threads, hand,
        )  # fmt: skip
    return found | of_heavy_work(4 if quick else 1)


def of_heavy_work(less: int) -> dict[str, Program]:
    """Two chains of which NumPy by hand makes the most of two threads: large products, and long rows."""
    found, size, m, length = {}, 768 // less, np.int32(10 // less), 1_000_000 // less**3
    for threads, products, rows in ((1, chains_by_hand, waves_by_hand), (2, chains_on_two, waves_on_two)):
        on = f"{threads} worker{'s' * (threads - 1)}"
        found[f"heavy {threads}"] = Program(
            f"two chains {size}×{size}, {m} steps, {on}", "ms", 1, chains, [m, *square(size)], threads, products
        )
        found[f"waves {threads}"] = Program(
            f"two chains of {4 * m} `sin(x) * c` of {length:,} numbers, {on}", "ms", 1, waves,
            [4 * m, *[drawn(length)] * 2], threads, rows,
        )  # fmt: skip
    return found
