"""A tour in ten seconds: what a function is converted to, its results and speed, what overlaps, what is refused.

Run it with ``python samples/tour.py``.
"""

import inspect
import sys
import time

import autoloop
import collatz
import kmeans
import nonstrict
import numpy as np
import pagerank
import rnn_forward


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


def heading(text):
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"\n{bold}{text}{plain}")


def show(text):
    print("\n".join("    " + line for line in text.strip().splitlines()))


def timed(f, *args, repeats=5):
    """The value of ``f(*args)``, and the shortest of a few runs in milliseconds."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        value = f(*args)
        times.append(time.perf_counter() - begin)
    return value, min(times) * 1e3


def conversion():
    heading("1. A plain function ...")
    show(inspect.getsource(collatz_steps.python_function).replace("@autoloop.function\n", ""))
    heading("   ... and what it is converted to")
    show(autoloop.to_code(collatz_steps))
    results = [f"{n}: {int(collatz_steps(np.int32(n)))}" for n in (6, 27, 97, 871)]
    print(f"\n    steps from {', '.join(results)}; traced {collatz_steps.tracing_count} time for all int32 scalars")


def speed():
    heading("2. Samples on real data, against the same function run by plain Python and NumPy (ms)")
    points = np.loadtxt(kmeans.DATA, delimiter=",", skiprows=1, usecols=range(4))
    names, links = pagerank.read_graph(pagerank.DATA)
    _, spots = np.loadtxt(rnn_forward.DATA, delimiter=",", skiprows=1, unpack=True)
    tolerance = np.float64(1e-9)
    rows = [
        (
            "Collatz chains, starts below 3,000",
            collatz.longest_chain,
            [np.int32(3000)],
            lambda r: f"start {int(r[0])}, {int(r[1])} long",
        ),
        (
            "k-means of 150 irises",
            kmeans.kmeans,
            [points, kmeans.spread_out(points, 3), tolerance],
            lambda r: f"{int(r[2])} rounds",
        ),
        (
            "PageRank of Les Misérables",
            pagerank.pagerank,
            [links, np.float64(0.85), tolerance],
            lambda r: f"{names[np.argmax(r[0])]} leads",
        ),
        (
            "recurrent net over 309 years of sunspots",
            rnn_forward.forward,
            [spots / 100, *rnn_forward.weights(64)],
            lambda r: f"states {r.shape}",
        ),
    ]
    print(f"    {'':42} {'result':22} {'first call':>10} {'then':>8} {'plain':>8}")
    for what, f, args, summary in rows:
        _, first = timed(f, *args, repeats=1)
        value, then = timed(f, *args)
        expected, plain = timed(f.python_function, *args)
        for ours, theirs in zip(autoloop.nest.flatten(value), autoloop.nest.flatten(expected)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        print(f"    {what:42} {summary(value):22} {first:10.1f} {then:8.2f} {plain:8.2f}")


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
        rows = np.concatenate([rows, rows])
        i += 1
    return rows


def mistake():
    heading("4. A mistake is refused, with what would mend it")
    try:
        doubling(np.ones((2, 2)), np.int32(3))
    except ValueError as error:
        show(f"ValueError: {error}")


def main():
    begin = time.perf_counter()
    conversion()
    speed()
    overlap()
    mistake()
    heading(f"That took {time.perf_counter() - begin:.1f} s. Each file beside this one is a page to read on.")


if __name__ == "__main__":
    main()
