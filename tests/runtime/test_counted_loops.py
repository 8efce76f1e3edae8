"""Loops that count are written with ``range`` where that is as good, in generated Python."""

from __future__ import annotations

import numpy as np
import pytest
from api import (
    call,
    control_flow,
    optimize,
)
from each_case import each
from graphs import run, traced
from random_programs import interpret
from test_codegen import N, X, code


def counting(body, cond=lambda i, *_: i < 5, start=0, given=N):
    """The code of a loop over a counter, and the result and its dtype on all ways."""

    def build(n):
        return control_flow.while_loop(lambda i, s: cond(i, s, n), lambda i, s: body(i, s, n), (start, 0))

    graph = traced(build, given)
    graph.outputs = graph.outputs[1:2]
    graph = optimize(graph)
    value = np.int32(3)
    (got,), (expected,) = run(graph, value), interpret(graph, [value])
    assert got == expected and type(got) is type(expected)
    return code(graph)


def test_a_loop_that_counts_says_so():
    assert "for i in range(5):\n        s = s + i" in counting(lambda i, s, n: (i + 1, s + i))
    assert "for i in range(2, n):" in counting(lambda i, s, n: (i + 1, s + i * n), lambda i, s, n: i < n, start=2)
    made = counting(lambda i, s, n: (i + 1, s + i), lambda i, s, n: call("logical_and", s < 3, i < 5))
    assert "for i in range(5):\n        if not s < int32_3:\n            break" in made


def can_fail_cond(i, s, n):
    return call("logical_and", i < 4, call("stack", [s, 0])[i % 2] < 9)


@pytest.mark.parametrize(
    "loop",
    [
        {"body": lambda i, s, n: (i + 1, s + i * i)},  # might overflow as int32, and a Python number would not
        {"body": lambda i, s, n: (i + 1, i)},  # is seen afterwards
        {"body": lambda i, s, n: (i + 1, call("set_item", call("stack", [s, n]), 0, i)[0])},
        {"body": lambda i, s, n: (i * 2 + 1, s + n)},
        {"body": lambda i, s, n: (i + 2, s + n), "cond": lambda i, s, n: i < n},  # might go past the end of int32
        {"body": lambda i, s, n: (i + 1, s + call("maximum", i, n))},
        {"body": lambda i, s, n: (i + 1, s + n), "cond": lambda i, s, n: i < n - s},  # the limit changes
        {"body": lambda i, s, n: (i + 1, s + n), "cond": lambda i, s, n: call("logical_or", i < 2, s < 9)},
        {"body": lambda i, s, n: (i + 1, s + n), "cond": can_fail_cond},
    ],
)
def test_a_counter_that_must_be_numpys_stays_one(loop):
    assert "range(" not in counting(**loop)


@pytest.mark.parametrize(("n", "expected"), [(4, [4, 6]), (1, [2, 0]), (-3, [2, 0])])
@pytest.mark.parametrize("limit", ["captured", "constant"])
def test_the_end_of_a_counter_is_its_limit_or_its_start(n, expected, limit):
    start = 0 if expected == [4, 6] else 2

    def loop(m):
        return control_flow.while_loop(
            lambda i, s: i < (m if limit == "captured" else n), lambda i, s: (i + 1, s + i), (start, 0)
        )

    graph = optimize(traced(loop, N))
    found = run(graph, np.int32(n))
    assert found == expected and [x.dtype for x in found] == [np.int32, np.int32]
    assert "range(" in code(graph)


@each(["up", "down"])
def test_the_end_of_a_counter_has_its_dtype_also_where_a_counter_around_is_its_limit(test):
    def inner(i, s):
        if test == "up":
            return control_flow.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + j), (0, s))
        return control_flow.while_loop(lambda j, s: j > i, lambda j, s: (j - 1, s + j), (3, s))

    def loop(n):
        def body(i, s, t):
            t, s = inner(i, s)
            return i + 1, s, t

        return control_flow.while_loop(lambda i, s, t: i < n, body, (0, 0, -1))[1:]

    graph = optimize(traced(loop, N))
    found, expected = run(graph, np.int32(5)), interpret(graph, [np.int32(5)])
    assert found == expected and [type(x) for x in found] == [np.int32, np.int32]
    assert code(graph).count("range(") == 2


def test_a_counter_that_stops_early_stays_if_its_end_is_asked():
    graph = traced(
        lambda n: control_flow.while_loop(
            lambda i, s: call("logical_and", i < n, s < 3), lambda i, s: (i + 1, s + i), (0, 0)
        ),
        N,
    )
    assert "range(" not in code(optimize(graph)) and run(optimize(graph), np.int32(9)) == [3, 3]


def down(body, test=lambda t, s: t >= 0, start=lambda n: n - 1):
    return traced(lambda n, x: control_flow.while_loop(test, lambda t, s: body(t, s, x), (start(n), 0.0))[1], N, X)


@pytest.mark.parametrize(
    ("loop", "text"),
    [
        (down(lambda t, s, x: (t - 1, s * 2.0 + x[t])), "range(n - int32_1, -1, -1)"),
        (down(lambda t, s, x: (t - 1, s * 2.0 + x[t]), lambda t, s: t >= 2), "range(n - int32_1, 1, -1)"),
        (down(lambda t, s, x: (t - 2, s * 2.0 + x[t])), "range(n - int32_1, -1, -2)"),
        (down(lambda t, s, x: (t - 1, s * 2.0 + x[t]), lambda t, s: t > -1), "range(n - int32_1, -1, -1)"),
        (down(lambda t, s, x: (t + 1, s * 2.0 + x[0]), lambda t, s: t >= 0, lambda n: n * 0 - 3), None),
        (down(lambda t, s, x: (t - 1, s * 2.0 + call("cast", call("sum", call("stack", [t, t])), "float32"))), None),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_counting_down(loop, text, n):
    graph = optimize(loop)
    assert text in code(graph) if text is not None else "range(" not in code(graph)
    values = [np.int32(n), np.array([1.0, 2.0, 4.0], np.float32)]
    np.testing.assert_array_equal(run(graph, *values), interpret(graph, values))


@each([0, 1, 3])
def test_counting_from_what_a_variable_says(n):
    def loop(first, last, x):
        return control_flow.while_loop(lambda i, s: i < last, lambda i, s: (i + 1, s * 2.0 + x[i]), (first, 0.0))

    values = [np.int32(1), np.int32(n), np.array([1.0, 2.0, 4.0], np.float32)]
    graph = optimize(traced(lambda *args: loop(*args)[1], N, N, X))
    assert "for iteration, i in enumerate(range(n, n_1)):" in code(graph)
    np.testing.assert_array_equal(run(graph, *values), interpret(graph, values))
    graph = optimize(traced(loop, N, N, X))  # where it stopped may be where it began
    assert "range(" not in code(graph)
    for found, expected in zip(run(graph, *values), interpret(graph, values)):
        np.testing.assert_array_equal(found, expected)


def test_a_failure_in_a_loop_that_counts_down_knows_the_iteration():
    graph = down(lambda t, s, x: (t - 1, s + x[t]))
    with pytest.raises(IndexError) as caught:
        run(optimize(graph), np.int32(5), np.array([1.0, 2.0, 4.0], np.float32))
    assert "iteration 0" in caught.value.__notes__[0]


def test_a_failure_in_a_loop_that_counts_knows_the_iteration():
    graph = traced(
        lambda x: control_flow.while_loop(lambda i, s: i < 9, lambda i, s: (i + 1, s + x[i]), (2, 0.0))[1], X
    )
    assert "for i in range(2, 9):" in code(optimize(graph))
    with pytest.raises(IndexError) as caught:
        run(optimize(graph), np.ones(6, np.float32))
    assert "iteration 4" in caught.value.__notes__[0]
