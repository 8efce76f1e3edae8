"""Calls that the function's own exception stops are traced once: until one is not, plain Python runs them."""

import autoloop as al
import numpy as np
import pytest
from autoloop.state import retrials

EXECUTORS = ("auto", "sequential", "dataflow")


@pytest.fixture
def traces(monkeypatch):
    made = []

    def trace(request, *args):
        made.append(request.name)
        return plain(request, *args)

    plain = retrials.trace
    monkeypatch.setattr(retrials, "trace", trace)
    return made


CALLS = [0]


def needs_three(x):
    CALLS[0] += 1
    if x.shape[0] != 3:
        raise ValueError(f"three, not {x.shape[0]}")
    return x * 2.0


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_call_that_raises_is_traced_once(executor, traces):
    f, before = al.function(needs_three, executor=executor), CALLS[0]
    for _ in range(4):
        with pytest.raises(ValueError, match="^three, not 4$"):
            f(np.ones(4))
    assert len(traces) == 1 and CALLS[0] == before + 4
    assert np.array_equal(f(np.ones(3)), np.full(3, 2.0)) and CALLS[0] == before + 5
    with pytest.raises(ValueError, match="^three, not 2$"):
        f(np.ones(2))
    assert CALLS[0] == before + 6


class Gate:
    def __init__(self):
        self.is_open, self.tries = False, 0

    def enter(self, x):
        self.tries += 1
        if not self.is_open:
            raise RuntimeError("closed")
        x += self.tries
        return x.sum()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_stops_a_call_may_be_over_at_the_next(executor, traces):
    gate, plain = Gate(), Gate()
    enter = al.function(Gate.enter, executor=executor)
    for is_open in (False, False, True, True, True, False, False, True):
        gate.is_open = plain.is_open = is_open
        mine, its = np.zeros(3), np.zeros(3)
        if is_open:
            mine_left, its_left = enter(gate, mine), plain.enter(its)
            assert mine_left == its_left and type(mine_left) is type(its_left)
        else:
            with pytest.raises(RuntimeError, match="^closed$"):
                enter(gate, mine)
            with pytest.raises(RuntimeError, match="^closed$"):
                plain.enter(its)
        assert np.array_equal(mine, its) and gate.tries == plain.tries
    assert len(traces) <= 5  # one more than there are changes


def test_calls_of_tensors_are_the_graphs(traces):
    @al.function
    def f(x):
        if x.shape[0] != 3:
            raise ValueError("three")
        return x * 2.0

    for _ in range(2):
        with pytest.raises(ValueError, match="three"):
            f(al.constant([1.0, 2.0]))
    assert len(traces) == 2 and isinstance(f(al.constant([1.0, 2.0, 3.0])), al.Tensor)


def test_a_gradient_is_traced_each_time():
    def f(x):
        if x.shape[0] != 3:
            raise ValueError("three")
        return (x * x).sum()

    gradient = al.grad(f)
    for _ in range(2):
        with pytest.raises(ValueError, match="three"):
            gradient(np.ones(2))
    assert np.array_equal(gradient(np.ones(3)), np.full(3, 2.0))


def test_who_asks_for_the_trace_of_a_call_that_raises_is_told_why_there_is_none():
    f = al.function(needs_three)
    for ask in (f, f, f.get_concrete_function, lambda x: al.explain(f, x), f.get_concrete_function):
        with pytest.raises(ValueError, match="^three, not 4$"):
            ask(np.ones(4))
