"""Comprehensions of many elements: loops of the graph, or left to plain Python, as ``for`` statements are."""

import warnings

import autoloop as al
import numpy as np
import pytest
from api import count_nodes
from autoloop.operators.constructs import long_ranges
from executors import EXECUTORS, INTERPRETED

X = np.random.default_rng(3).normal(size=64)


def by_place(x):
    return [np.sin(x[i]) * x[i] + x[i] ** 2 - x[i] * 3 + np.cos(x[i - 1]) + x[i] / 2 for i in range(len(x))]


def backwards(x):
    return [np.sin(x[i]) * i + x[i] ** 2 - x[i] * 3 + np.cos(x[i - 1]) + x[i] / 2 for i in range(len(x) - 1, -1, -1)]


def by_element(x):
    return [np.sin(v) * v + v**2 - v * 3 + np.cos(v) + v / 2 - v * 4 + np.exp(v) * v + v * 9 for v in x]


def numbered(x):
    return [np.sin(v) * v + v**2 - v * 3 + np.cos(v) + v / 2 - v * i + np.exp(v) * v + v * 9 for i, v in enumerate(x)]


def pairs(x):
    return [(np.sin(x[i]) * x[i] + x[i] ** 2 - x[i] * 3, np.cos(x[i - 1]) + x[i] / 2 + x[i] * 7, i) for i in range(64)]


def chosen(x):
    return [np.sin(v) * v + v**2 - v * 3 + np.cos(v) + v / 2 - v * 4 for v in x if np.exp(v) * v + v * 9 > 1]


def product(x):
    n = 12
    a, b = x[:36].reshape(n, 3), x[12:48].reshape(3, n)
    return [[sum(a[i, k] * b[k, j] for k in range(3)) for j in range(n)] for i in range(n)]


def as_array(x):
    distances = np.array([[np.sqrt((x[i] - x[j]) ** 2) for j in range(24)] for i in range(24)])
    return distances, distances.T @ np.array([(x[i], x[i + 1] * 2) for i in range(24)])


def written(x):
    return [put(x, i, np.sin(x[i - 1]) * x[i] + x[i] ** 2 - x[i] * 3 + np.cos(x[i - 1]) + x[i] / 2) for i in range(64)]


def put(x, i, value):
    x[i] = value
    return value + 1


PROGRAMS = (by_place, backwards, by_element, numbered, pairs, chosen, product, as_array, written)


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            same(*pair)
    else:
        np.testing.assert_allclose(one, other, rtol=1e-10)


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_they_are_what_python_makes_and_small_graphs(f):
    for executor in EXECUTORS:
        decorated, given, plain = al.function(f, executor=executor), X.copy(), X.copy()
        for _ in range(2):
            same(decorated(given), f(plain))
            same(given, plain)
    assert count_nodes(al.function(f).get_concrete_function(X).graph) < 650  # of 1,000 and more written out


def late(x):
    made = [(np.sin(x[i]) * x[i] + x[i] ** 2 - x[i] * 3 + np.cos(x[i - 1]), lambda: i) for i in range(80)]
    return [one for one, _ in made], [f() for _, f in made]


def waiting(x):
    made = [(np.sin(x[i]) * x[i] + x[i] ** 2 - x[i] * 3 + np.cos(x[i - 1]), (i for _ in "ab")) for i in range(80)]
    return [one for one, _ in made], [list(f) for _, f in made]


@pytest.mark.parametrize("f", (late, waiting), ids=lambda f: f.__name__)
def test_what_sees_a_variable_later_sees_one(f):
    x = np.arange(1.0, 81.0)
    same(al.function(f, executor="sequential")(x), f(x))


def shapes(x):
    return [np.sin(x[:i]) * x[i] + x[i] ** 2 - x[i] * 3 + np.cos(x[i - 1]) + x[i] / 2 for i in range(len(x))]


def grown(x):
    found = []
    for i in range(len(x)):
        found.append(np.sin(x[:i]) * x[i] + x[i] ** 2 - x[i] * 3 + np.cos(x[i - 1]) + x[i] / 2)
    return found


def until(x):
    found, i = [], 0
    while x[i] < 3:
        found.append(x[:i] * 2)
        i += 1
    return found


@pytest.mark.parametrize("f", (shapes, grown, until), ids=lambda f: f.__name__)
def test_elements_may_have_shapes_of_their_own(f):
    x = np.arange(64.0)
    for executor in INTERPRETED:
        decorated = al.function(f, executor=executor)
        for _ in range(2):
            same(decorated(x), f(x))


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def objects(x):
    points = [Point(np.sin(x[i]) * x[i] + x[i] ** 2 - x[i] * 3, x[i - 1] * 4 + x[i] ** 2 - x[i] * 3) for i in range(64)]
    return [one.x + one.y for one in points]


def test_what_would_be_written_out_very_much_is_left_to_python(monkeypatch):
    monkeypatch.setattr(long_ranges, "MUCH", 300)
    decorated = al.function(objects, executor="sequential")
    with pytest.warns(UserWarning, match="runs as plain Python, at each call: a `for` loop would be written out, 3"):
        same(decorated(X), objects(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(decorated(X), objects(X))
