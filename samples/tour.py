"""A tour in ten seconds: what a function is converted to, its results and speed, what overlaps, what is refused.

Run it with ``python samples/tour.py``; a number behind it says for how many seconds each function is measured.
"""

import inspect
import sys
import textwrap
import time

import autoloop
import collatz
import kmeans
import nonstrict
import numpy as np
import pagerank
import rnn_forward

#: for as long each function is called again and again, and a fifth of that undecorated
SECONDS = 0.5


@autoloop.function
def collatz_steps(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@autoloop.function
def two_chains(a, b, turns):
    for _ in range(turns):
        a = np.sin(a + 1)
        b = np.cos(b - 1)
    return a, b


def heading(text):
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"\n{bold}{text}{plain}")


def show(text):
    print(textwrap.indent(text.strip(), "    "))


def timed(f, *args):
    begin = time.perf_counter()
    value = f(*args)
    return value, (time.perf_counter() - begin) * 1e3


def settled(f, *args, seconds):
    """The value of ``f(*args)``, and the shortest of its runs in milliseconds, called again and again for a while."""
    value, shortest = timed(f, *args)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        shortest = min(shortest, timed(f, *args)[1])
    return value, shortest


def conversion():
    heading("1. A plain function ...")
    show(inspect.getsource(collatz_steps.python_function).replace("@autoloop.function\n", ""))
    heading("   ... and what it is converted to")
    show(autoloop.to_code(collatz_steps))
    results = [f"{n}: {int(collatz_steps(np.int32(n)))}" for n in (6, 27, 97, 871)]
    print(f"\n    steps from {', '.join(results)}; traced {collatz_steps.tracing_count} time for all int32 scalars")


def compare(what, f, *args, result, seconds):
    """One line: result, times and executor of a function, and the time of the same function undecorated."""
    _, first = timed(f, *args)
    _, second = timed(f, *args)
    value, later = settled(f, *args, seconds=seconds)
    expected, plain = settled(f.python_function, *args, seconds=seconds / 5)
    for one, other in zip(autoloop.nest.flatten(value), autoloop.nest.flatten(expected)):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    said, executor = result(*autoloop.nest.flatten(value)), autoloop.explain(f, *args).executor
    print(f"    {what:38} {said:19} {first:7.1f} {second:7.2f} {later:7.2f} {plain:8.2f}  {executor}")


def speed(seconds):
    heading("2. The samples, and the same functions as plain Python and NumPy")
    print(f"    {'times in ms':58} {'first':>7} {'second':>7} {'later':>7} {'plain':>8}")
    tolerance = np.float64(1e-9)
    compare(
        "Collatz chains from below 3,000", collatz.longest_chain, np.int32(3000),
        result=lambda best, length, total: f"{best:d} has {length:d}", seconds=seconds,
    )  # fmt: skip
    points = np.loadtxt(kmeans.DATA, delimiter=",", skiprows=1, usecols=range(4))
    compare(
        "k-means of 150 irises", kmeans.kmeans, points, kmeans.spread_out(points, 3), tolerance,
        result=lambda centres, nearest, rounds: f"{rounds:d} rounds", seconds=seconds,
    )  # fmt: skip
    names, links = pagerank.read_graph(pagerank.DATA)
    compare(
        "PageRank of Les Misérables", pagerank.pagerank, links, np.float64(0.85), tolerance,
        result=lambda rank, rounds: f"{names[np.argmax(rank)]} leads", seconds=seconds,
    )  # fmt: skip
    _, spots = np.loadtxt(rnn_forward.DATA, delimiter=",", skiprows=1, unpack=True)
    compare(
        "recurrent net, 309 years of sunspots", rnn_forward.forward, spots / 100, *rnn_forward.weights(64),
        result=lambda states: f"{states.shape[0]} states of {states.shape[1]}", seconds=seconds,
    )  # fmt: skip
    waves = np.linspace(0, 100, 300_000)
    compare(
        "two chains that do not need each other", two_chains, waves, waves, np.int32(10),
        result=lambda a, b: f"2 x {a.size} numbers", seconds=seconds,
    )  # fmt: skip
    print(f"    (later: within {seconds:g} seconds of calls, by the executor that stands behind the times;")
    print("    native is machine code, with pip install -e '.[native]')")


def overlap():
    heading("3. A loop is not strict: the counter i runs ahead of the slow x, within parallel_iterations")
    for window in (1, 4):
        graph, _, x_out = nonstrict.build(window)
        _, _, log = nonstrict.run(graph, x_out)
        print(f"    parallel_iterations={window}")
        nonstrict.show_log(log)
    graph, i_out, _ = nonstrict.build(4)
    _, _, log = nonstrict.run(graph, i_out)
    print(f"    asked for i alone, x is computed {sum(who == 'x' for who, _ in log)} times")


@autoloop.function
def doubling(rows, n):
    i = 0
    while i < n:
        rows = autoloop.concat([rows, rows])
        i += 1
    return rows


def mistake():
    heading("4. A mistake is refused, with what would mend it")
    try:
        doubling(autoloop.ones([2, 2]), autoloop.constant(3))
    except ValueError as error:
        show("\n".join(textwrap.wrap(f"ValueError: {error}", 100)))


def main():
    begin = time.perf_counter()
    conversion()
    speed(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
    overlap()
    mistake()
    heading(f"That took {time.perf_counter() - begin:.1f} s. Each file beside this one is a page to read on.")


if __name__ == "__main__":
    main()
