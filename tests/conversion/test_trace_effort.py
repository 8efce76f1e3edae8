"""A trace that takes very much is given up, whatever it is that multiplies, and plain Python runs the function."""

import random

import autoloop as al
import numpy as np
import pytest
from autoloop import left_to_python
from autoloop.state import retrials
from executors import INTERPRETED, needs_native

SAID = "runs as plain Python, at each call: its graph would have more than 150 operations"
LOG: list[float] = []


@pytest.fixture
def few(monkeypatch):
    """Traces are given up early; gives how many were begun."""
    monkeypatch.setattr(left_to_python, "MOST_TRACED", 150)
    begun = []
    trace = retrials.trace

    def traced(*args):
        begun.append(1)
        return trace(*args)

    monkeypatch.setattr(retrials, "trace", traced)
    return begun


def nests(x):
    total = 0.0
    for a in range(3):
        for b in range(3):
            for c in range(3):
                if x[a] > x[b] + c:
                    total += x[a]
                elif a != c:
                    total -= x[c] * x[b]
    return total


def halves(x):
    if len(x) == 1:
        return x
    left, right = halves(x[: len(x) // 2]), halves(x[len(x) // 2 :])
    return np.array([min(left[0], right[0]), max(left[-1], right[-1])])


def called(x, k=20):
    return step(x, k) + called(x, k - 1) if k else 0


def step(x, k):
    return np.sin(x[k % 3]) + np.cos(x[k % 5]) * x[k % 4] - x.sum() * k + np.sqrt(abs(x[0])) + x[1] * x[2] + x[3]


def chosen(x):
    return {k: step(x, k) * step(x, k + 1) for k in range(16)}


@pytest.mark.parametrize("f", (nests, halves, called, chosen), ids=lambda f: f.__name__)
def test_plain_python_runs_it_and_it_is_traced_once(f, few):
    x = np.random.default_rng(1).normal(size=32)
    for executor in INTERPRETED:
        decorated = al.function(f, executor=executor)
        few.clear()
        with pytest.warns(UserWarning, match=SAID):  # of MOST, which is small here
            np.testing.assert_equal(decorated(x), f(x))
        for _ in range(2):
            np.testing.assert_equal(decorated(x), f(x))
        assert len(few) == 1


@needs_native
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_a_graph_that_is_wanted_may_be_large(few):
    x = np.random.default_rng(1).normal(size=32)
    assert al.function(nests, executor="native")(x) == pytest.approx(nests(x))
    assert al.grad(lambda x: al.function(nests)(x))(x).shape == (32,)


def test_what_is_meant_to_be_written_out_is(few):
    def meant(x):
        for k in range(300):
            al.set_loop_options(unroll=True)
            x = x * 0.5 + k
        return x

    decorated = al.function(meant)
    assert decorated(np.ones(3)).tolist() == meant(np.ones(3)).tolist()
    assert len(decorated.get_concrete_function(np.ones(3)).graph.nodes) > 300


class Held:
    def __init__(self):
        self.count, self.seen, self.sums = 0, [], np.zeros(2)


def changing(held, x, out):
    """Do what would be noticed if it were done twice."""
    for k in range(40):
        held.count += 1
        held.seen.append(k)
        held.sums[0] += x[k % 3]
        out[k % 3] += np.sin(x[k % 3]) * held.sums[0] + random.random()
        LOG.append(1.0)
        if k % 20 == 0:
            print("at", k)
        if x[k % 3] > out[0]:
            held.sums[1] += 1
    return held.count


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_what_it_does_is_done_once(few, capsys):
    worlds = []
    for f in (al.function(changing, executor="sequential"), changing):
        random.seed(4)
        LOG.clear()
        held, out = Held(), np.zeros(3)
        for _ in range(2):
            f(held, np.array([0.3, 0.1, 0.9]), out)
        worlds.append((held.count, held.seen, held.sums.tolist(), out.tolist(), len(LOG), capsys.readouterr().out))
    assert worlds[0] == worlds[1]
    assert few


def long(x, n):
    total = 0.0
    while total < n:
        total += 1 + x[0] * 0
    kept = {str(k): step(x, k) for k in range(16)}
    return total + kept["3"] * 0


def test_where_plain_python_takes_longer_it_is_traced_further(few):
    x = np.zeros(8)
    decorated = al.function(long, executor="sequential")
    with pytest.warns(UserWarning, match=SAID):
        assert decorated(x, 600_000) == 600_000
    assert decorated(x, 600_000) == 600_000
    assert decorated.get_concrete_function(x, 600_000) is not None
    assert len(few) == 2
