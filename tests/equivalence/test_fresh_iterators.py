"""Iterators, streams, locks and functions with variables of their own, which no graph makes, are new at each call."""

import functools
import io
import itertools
import queue
import threading
import warnings

import autoloop as al
import numpy as np
import pytest

X = np.arange(3.0)
CALLS = []


class Counter:
    def __init__(self):
        self.count = 0

    def next(self):
        self.count += 1
        return self.count


class Slotted:
    __slots__ = ("count",)

    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1
        return self.count


def with_a_list(x):
    seen = [len(x)]

    def add():
        seen.append(1)
        return list(seen)

    return add


def with_a_variable(x):
    count = len(x)

    def add():
        nonlocal count
        count += 1
        return count

    return add


def with_an_array(x):
    kept = x.copy() * 0

    def add():
        kept[0] += 1
        return kept.tolist()

    return add


def with_a_default(x):
    return lambda seen=[len(x)]: (seen.append(1), list(seen))[1]  # noqa: B006


def partial(x):
    return functools.partial(lambda seen: (seen.append(1), list(seen))[1], [len(x)])


def noted(x):
    CALLS.append(len(x))
    return with_a_list(x)


def in_an_object(x):
    made = type("Holder", (), {})
    made.add = staticmethod(with_a_list(x))
    return made.add


FUNCTIONS = [
    *(with_a_list, with_a_variable, with_an_array, with_a_default, partial, noted, in_an_object),
    *(lambda x: Counter().next, lambda x: Slotted()),
]
ITERATORS = [
    lambda x: itertools.chain(range(len(x)), [7]),
    lambda x: zip(range(len(x)), "abc"),
    lambda x: map(str, range(len(x))),
    lambda x: enumerate("abc"),
    lambda x: reversed([1, 2]),
    lambda x: iter([1, 2]),
    lambda x: (k for k in range(len(x))),
    lambda x: np.ndindex(2),
    lambda x: io.StringIO("a\nb"),
    lambda x: [{"a": iter(range(2))}, 1][0]["a"],
    lambda x: (x.sum(), itertools.count(3), x)[1],
]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*runs as plain Python")
        yield


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_functions_with_variables_of_their_own(number):
    plain = FUNCTIONS[number]
    decorated = al.function(plain)
    for _ in range(3):
        one, other = plain(X), decorated(X)
        assert [one(), one()] == [other(), other()]


@pytest.mark.parametrize("number", range(len(ITERATORS)))
def test_iterators(number):
    plain = ITERATORS[number]
    decorated = al.function(plain)
    for _ in range(3):
        assert list(itertools.islice(decorated(X), 5)) == list(itertools.islice(plain(X), 5))


def test_locks_and_queues():
    @al.function
    def made(x):
        waiting = queue.Queue()
        waiting.put(len(x))
        return threading.Lock(), waiting

    for _ in range(3):
        lock, waiting = made(X)
        assert lock.acquire(blocking=False) and waiting.get_nowait() == 3 and waiting.empty()


def test_functions_that_hold_nothing_that_changes_are_part_of_a_trace():
    @al.function
    def scaled(x):
        factor = 2.0
        return x.sum(), lambda y: y * factor

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scaled(X)[1](3) == 6 and scaled(X)[1](4) == 8
