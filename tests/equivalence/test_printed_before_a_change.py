"""What is printed, or handed to a logger, is what it is at that line: a run makes the texts of what a trace knows and
goes on to change."""

import array
import contextlib
import io
import itertools
import logging

import autoloop as al
import numpy as np
from each_case import each

KEPT = {1}
TURNS = itertools.cycle(["auto", "sequential", "dataflow"])


def filled(x):
    m = np.zeros(3)
    print("empty", m)
    for i in range(3):
        m[i] = i
        print(m, [m], (m, {"m": m}), m[1:])
    m += 1
    return x


def table(x):
    m = np.zeros((3, 3), int)
    print(m)
    for i in range(1, 3):
        for j in range(1, 3):
            m[i][j] = max(m[i - 1][j], m[i][j - 1]) + 1
    for row in m:
        print(row)
        row[0] = 9
    print(m)
    return x * m


def of_other_kinds(x):
    for m in (
        np.array(["a", "b"]),
        np.array([1, "a"], object),
        np.ma.array([1, 2], mask=[0, 1]),
        array.array("d", [1, 2]),
    ):
        print(m, [m])
        m[0] = m[1]
        print(m)
    records = np.zeros(2, [("a", int), ("b", float)])
    one = records[0]
    print(records, one)
    records["a"] = 5
    s, b = {1}, bytearray(b"a")
    print(s, b, {"s": (s, [b])})
    s.add(2), b.append(98), print(s, b, one)
    return x


def beside_what_the_run_knows(x):
    m = np.zeros(2)
    print(f"{m} {x.sum()}", "{} {}".format(m, x[0]), "%s %s" % (m, x[1]))  # noqa: UP031, UP032
    text = f"{x.sum()} {m}"
    m[0] = 5
    print(text, m)
    return x


def in_exceptions(x):
    m = np.zeros(2)
    error = ValueError("a", m)
    print(error, [error])
    m[0] = 1
    print(error, error.args)
    return x


def of_the_module(x):
    print(KEPT)
    KEPT.add(len(KEPT) + 1)
    print(KEPT)
    return x


def logged(x):
    m, s = np.zeros(2), {1}
    logging.getLogger("printed").warning("%s %s", m, s)
    m[0], _ = 1, s.add(2)
    logging.getLogger("printed").warning("%s %s", m, s)
    return x


def by_name(x):
    m = np.zeros(2)
    al.print(m)
    m[0] = 1
    return x


def told(f):
    """Return what is printed and logged in two calls."""
    KEPT.clear()
    handler = logging.StreamHandler(lines := io.StringIO())
    logging.getLogger("printed").addHandler(handler)
    try:
        with contextlib.redirect_stdout(lines):
            for number in (1.0, 3.0):
                KEPT.add(number)
                f(np.array([number, 2.0, 1.0]))
    finally:
        logging.getLogger("printed").removeHandler(handler)
    return lines.getvalue()


@each([filled, table, of_other_kinds, beside_what_the_run_knows, in_exceptions, of_the_module, logged, by_name])
def test_what_is_told_is_what_it_was_then(f):
    assert told(al.function(f, executor=next(TURNS))) == told(f) != ""
