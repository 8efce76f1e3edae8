"""A loop whose iterations overlap: the counter runs ahead of ``x``, and ``x`` never ahead of the counter.

``i`` does not need ``x``, so several iterations are under way at once, as many as ``parallel_iterations`` allows.
``x`` is slow (250,000 numbers) and needs ``i``. Both print when they are computed; the log shows who is where.
"""

import contextlib
import io
import re
import time

import autoloop.compat.v1 as tf

SIZE, TURNS = 500, 40


def build(window):
    """The loop, in a graph of its own, and its two results."""
    graph = tf.Graph()
    with graph.as_default():
        c = lambda i, x: i < TURNS
        b = lambda i, x: (
            tf.Print(i + 1, [i], "Updating i based on i == "),
            # Let x depend on i
            tf.Print(tf.cos(x) - tf.cast(i % 3, tf.float32), [i], "Updating x based on i == "),
        )
        x = tf.ones([SIZE, SIZE])
        i_out, x_out = tf.while_loop(c, b, (tf.constant(0), x), parallel_iterations=window)
    return graph, i_out, x_out


def run(graph, fetch):
    """The fetched value, the seconds it took, and the log as a list of ("i" or "x", iteration)."""
    log = io.StringIO()
    with tf.Session(graph=graph) as session, contextlib.redirect_stderr(log):
        begin = time.perf_counter()
        value = session.run(fetch)
        seconds = time.perf_counter() - begin
    return value, seconds, [(who, int(i)) for who, i in re.findall(r"Updating (.) .* == \[(\d+)\]", log.getvalue())]


def leads(log):
    """For each update of x: how many iterations the counter is ahead of it."""
    counter, ahead = 0, []
    for who, i in log:
        if who == "i":
            counter = i + 1
        else:
            ahead.append(counter - i)
    return ahead


def show_log(log, columns=28):
    """Who was updated in which iteration, time going to the right."""
    for name in "ix":
        print(f"    {name} " + "".join(f"{i:3d}" if who == name else "  ." for who, i in log[:columns]) + " ...")


def main():
    graph, i_out, x_out = build(window=10)
    value, _, log = run(graph, i_out)
    print(f"the counter alone: i = {value}, x was updated {len(leads(log))} times")

    print(f"\n{TURNS} iterations, fetching x:")
    print("parallel_iterations   counter ahead of x by   milliseconds   x ends at")
    ends = set()
    for window in (1, 2, 10, 32):
        graph, _, x_out = build(window)
        value, seconds, log = run(graph, x_out)
        ahead = leads(log)
        print(f"{window:19d} {min(ahead):12d} to {max(ahead):2d} {seconds * 1e3:18.1f} {value[0, 0]:15.6f}")
        ends.add(value[0, 0])
        assert len(ahead) == TURNS and min(ahead) >= 0, "x got ahead of the counter"

    assert len(ends) == 1
    print("x never got ahead of the counter, and every window gives the same x")

    print("\nthe log with parallel_iterations=4:")
    graph, _, x_out = build(window=4)
    show_log(run(graph, x_out)[2])


if __name__ == "__main__":
    main()
