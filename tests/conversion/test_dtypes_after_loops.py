"""Arrays whose dtype a loop changes are what they were after no turn, or refused; numbers are no arrays."""

from __future__ import annotations

import itertools
import warnings

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from short_bodies import differences, made

WHILE = "k = 0\nwhile k < n:\n    {}\n    k += 1\n"
RETURNED = [
    WHILE.format("x = x * 0.5") + "return x",
    WHILE.format("x = x + np.float64(k)") + "return [x], k",
    "y = x\n" + WHILE.format("y = np.sqrt(y)") + "return y, x + 0",
    "for i in range(n):\n    x = x / 2\nreturn x",
    WHILE.format("x = x * 0.5") + "while k < n + 2 * (n > 1):\n    x = x * 0.5\n    k += 1\nreturn x",
    "y = x\n" + WHILE.format("y = y * 0.5") + "return k",
]
READ = [
    "return x.sum()", "return x + 1", "return x[0]", "return x.dtype", "return np.sqrt(x)", "return np.sort(x)",
    "return -x", "return x.T", "print(x)", "if k < 9:\n    x = x * 2\nreturn x + 1", "return x.real", "return 1 / x",
]  # fmt: skip
ARRAYS = [
    np.array([4, 5, 6]),
    np.array([4, 5, 6], np.int32),
    np.array([0.5, 1, 2], np.float32),
    np.array([True, False]),
]
# What has no attributes of arrays where it is a number.
NUMBERS = [
    "y = 0.0\nif n > 1:\n    y = x\nreturn y.sum()",
    "y = 0.0\nfor i in range(n):\n    y = y + x\nreturn y.sum(), y.T, y.mean(axis=0)",
    "y = 0.0\nfor i in range(n):\n    y = y + x\nreturn y.real",
    "y = 0.0\nfor i in range(n):\n    y = y + x\nreturn y[1]",
]


def test_returned_they_have_the_dtype_of_the_run():
    given = [(x, np.int64(n)) for x in ARRAYS for n in (0, 1, 3)]
    assert differences(RETURNED, given, EXECUTORS) == []
    assert differences(NUMBERS, [(ARRAYS[2].astype(float), np.int64(n)) for n in (0, 2)], EXECUTORS) == []


def test_a_loop_in_the_body_of_another_may_make_no_turn_in_some_of_its_turns():
    inner = "j = 0\n    while j < n - {}:\n        {}\n        j += 1"
    cases = itertools.product((1, 2), ("x = x * 0.5", "x = np.cbrt(x)"))
    bodies = [WHILE.format(inner.format(*case)) + "return x" for case in cases]
    given = [(x, np.int64(n)) for x in ARRAYS for n in (0, 1, 3)]
    with warnings.catch_warnings(action="ignore"):
        assert differences(bodies, given, [one for one in EXECUTORS if one != "native"]) == []
    words = "'x' is an array of int64 as long as a loop in the body of this one makes no turn"
    with pytest.warns(UserWarning, match=words):
        al.function(made(bodies[0]))(ARRAYS[0], np.int64(1))
    if "native" in EXECUTORS:
        with pytest.raises(TypeError, match=words):
            al.function(made(bodies[0]), executor="native")(ARRAYS[0], np.int64(1))


def test_what_else_is_done_with_them_is_right_after_a_turn_and_left_to_python_without():
    bodies = [WHILE.format("x = x * 0.5") + body for body in READ]
    assert differences(bodies, [(ARRAYS[0], np.int64(2))], EXECUTORS) == []
    silent = [body for body in bodies if "print" not in body]
    with warnings.catch_warnings(action="ignore"):
        kept = [one for one in EXECUTORS if one != "native"]
        assert differences(silent, [(ARRAYS[0], np.int64(0))], kept) == []
    ways = [(body, "auto") for body in bodies if body not in silent]  # what has printed is not begun again
    ways += [(silent[0], "native")] if "native" in EXECUTORS else []
    for body, executor in ways:
        with pytest.raises(TypeError, match="'x' is an array of int64 if the loop makes no turn, as in this run"):
            al.function(made(body), executor=executor)(ARRAYS[0], np.int64(0))


def test_attributes_that_numbers_have_too_are_refused_where_nothing_tells():
    body = "y = 0.0\nfor i in range(n):\n    if i > 0:\n        y = x\nreturn y.sum()"
    words = "an array in another, and attribute 'sum' gives something else"
    with pytest.raises(TypeError, match=words):
        al.function(made(body), executor="native")(ARRAYS[2], np.int64(0))
    with (
        pytest.warns(UserWarning, match=f"runs as plain Python, at each call: .*{words}"),
        pytest.raises(AttributeError),
    ):
        al.function(made(body))(ARRAYS[2], np.int64(0))
