"""Functions that are sent by value arrive with their text: converted, and shown in tracebacks."""

from __future__ import annotations

import functools
import linecache
import pickle
import sys
import traceback
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop.function import function
from value_pickler import sending


@pytest.fixture
def dumps():
    with sending(__name__) as dumps:
        yield dumps


@pytest.fixture
def elsewhere(monkeypatch):
    """Let the text of this file be where the test runs only."""

    def loads(data):
        here = linecache.getlines
        monkeypatch.setattr(linecache, "getlines", lambda name, *more: [] if name == __file__ else here(name, *more))
        return pickle.loads(data)

    return loads


SCALE = 3.0


def helper(x):
    while x < 100:
        x = x * SCALE
    return x


@function(executor="sequential", name="mine")
def sent(x, times=2):
    total = 0.0
    for _ in range(times):
        total = total + helper(x)
    return total


@function
def factorial(n, x=1.0):
    return x if n <= 1 else factorial(n - 1, x * n)


class Scaled:
    @function
    def times(self, x):
        return self.more(x) * SCALE

    def more(self, x):
        while x < 10:
            x = x + 1
        return x


def closed_over(step):
    @function
    def inner(x):
        while x < 10:
            x = x + step
        return x

    return inner


@al.grad
def slope(x):
    return (x * x * SCALE).sum()


@function
def failing(x):
    while x < 10:
        x = x * 2
    raise KeyError(x)


# fmt: off
SENT = {
    "function": (sent, 5.0), "recursive": (factorial, 4), "method": (Scaled.times, Scaled(), 4.0),
    "closure": (closed_over(2.0), 1.0), "gradient": (slope, np.ones(2)),
    "lambda": (function(lambda x: x * 2 if x < 3 else x), np.float64(1.0)),
    "lambda_of_lines": (function(lambda x: (
        x * 3)), np.ones(2)),
    "gradient_of_closure": (al.value_and_grad(closed_over(1.5)), 1.0),
    "two": (function(functools.partial(helper)), 1.0),
}
# fmt: on


@pytest.mark.parametrize("name", SENT)
def test_what_is_sent_by_value_is_converted_where_it_arrives(name, dumps, elsewhere):
    f, *given = SENT[name]
    data, want = dumps(f, (0, 2, 5)[len(name) % 3]), f(*given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as for a function without source
        got = elsewhere(data)
        assert got is not f
        for _ in range(2):
            np.testing.assert_equal(got(*given), want)
    if isinstance(f, type(sent)):
        assert got.options() == f.options()


def test_what_calls_itself_arrives_once(dumps, elsewhere):
    got = elsewhere(dumps(factorial))
    assert got.python_function.__globals__["factorial"] is got
    assert got(4) == got(n=4, x=1.0) == 24


def test_what_arrived_is_sent_on_with_all_that_it_came_with(dumps, elsewhere):
    want = Scaled.times(scaled := Scaled(), 4.0)
    got = pickle.loads(dumps(Scaled.times))
    assert "Scaled" not in got.python_function.__globals__
    again = elsewhere(dumps(got))
    assert {text.function.__name__ for text in again._arrived} == {"times", "more"} and again(scaled, 4.0) == want


def test_lines_of_what_was_sent_are_shown(dumps, elsewhere):
    got = elsewhere(dumps(failing))
    with pytest.raises(KeyError) as caught:
        got(1.0)
    text = "".join(traceback.format_exception(caught.value))
    assert "raise KeyError(x)" in text and "<sent test_sent_by_value.py" in text
    assert f"line {failing.python_function.__code__.co_firstlineno + 4}, in failing" in text


def test_where_the_file_is_the_same_it_stays_the_file(dumps):
    got = pickle.loads(dumps(failing))
    assert got.python_function.__code__.co_filename == __file__


def test_plain_pickle_in_between_sends_by_name(dumps):
    class Holder:
        def __reduce__(self):
            return pickle.loads, (pickle.dumps(sent),)

    assert pickle.loads(dumps(Holder())) is sent


def test_classes_of_the_program_are_the_users_whatever_runs_it(monkeypatch):
    # in a worker of joblib the program is a file of joblib's
    monkeypatch.setattr(sys.modules["__main__"], "__file__", np.__file__, raising=False)

    class Counter:
        __module__ = "__main__"

        def __init__(self):
            self.by = 2.0

        @function
        def times(self, x):
            return x * self.by

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Counter().times(3.0) == 6.0
