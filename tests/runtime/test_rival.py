"""``executor="auto"``: calls that plain Python runs, where it is faster than a graph without machine code."""

from __future__ import annotations

import sys
import types
import warnings

import autoloop as al
import numpy as np
import pytest
from api import config, rival, tier_up
from autoloop.concrete import in_place_of_run

pytestmark = pytest.mark.auto


@pytest.fixture
def plainly(monkeypatch):
    """There is no machine code, and each call of the undecorated function is noted."""
    seen, was = [], config.get_native()
    config.set_native(False)
    monkeypatch.setattr(rival, "LEAST", 0.0)
    concrete = sys.modules["autoloop.concrete"]
    monkeypatch.setattr(concrete, "in_place_of_run", lambda told: seen.append(told) or in_place_of_run(told))
    yield seen
    config.set_native(was)


def popped(n):
    """With what a graph takes long for."""
    stack, total = [n], 0
    while stack:
        k = stack.pop()
        total += k
        if k > 1:
            stack += [k // 2, k // 3]
    return total


def test_the_faster_one_stays(plainly):
    f, n = al.function(popped), np.int64(300)
    assert [f(n) for _ in range(6)] == 6 * [popped(n)]
    assert len(plainly) >= 4 and f.tracing_count == 1
    assert "plain Python runs the calls" in str(al.explain(f, n))


def test_what_a_graph_does_faster_is_its_own():
    one = rival.Rival()
    for graph, plain in ((0.3, 0.35), (0.28, 0.35), (0.3, 0.34)):
        assert one.is_faster() is None and not one.is_turn()
        one.ran_graph(graph)
        assert one.is_turn()
        one.ran_plain(plain)
    assert one.is_faster() is False and not one.is_turn()


def test_a_first_call_that_had_more_to_do_is_made_up_for():
    one = rival.Rival()
    one.ran_graph(0.5)
    one.ran_plain(0.1)
    for _ in range(4):
        assert one.is_turn()
        one.ran_plain(0.1)
    assert not one.is_turn()
    one.ran_graph(0.02)
    assert one.is_faster() is False


def test_calls_that_take_much_longer_are_tried_again():
    one = rival.Rival()
    one.ran_graph(0.1)
    one.ran_plain(0.001)
    while one.is_turn():
        one.ran_plain(0.0005)
    one.ran_graph(0.1)
    assert one.is_turn()
    for _ in range(2 * rival.MOST_GROWN):
        one.ran_plain(0.5)
    assert one.is_faster() is None and not one.is_turn()


def test_larger_numbers_begin_in_the_graph(plainly):
    """Which gives a call up for machine code once that is there; plain Python would go on to the end."""
    f = al.function(popped)
    for n in (9, 9, 9, 9, 18):
        f(np.int64(n))
    ran = len(plainly)
    assert ran
    f(np.int64(30_000))
    assert len(plainly) == ran
    f(np.int64(9))
    assert len(plainly) == ran + 1
    one = rival.Rival()
    for n, seconds in ((5, 0.1), (7, 0.1)):
        assert not one.is_turn([np.int64(n), np.ones(2)]) or one.graph
        one.ran_graph(seconds)
        assert one.is_turn([np.int64(n), np.ones(2)])
        one.ran_plain(0.01)
    assert one.is_turn([np.int64(14), np.ones(2)]) and not one.is_turn([np.int64(15), np.ones(2)])
    one.ran_graph(0.15)  # which takes no longer
    assert one.is_turn([np.int64(15), np.ones(2)]) and not one.is_turn([np.int64(100), np.ones(2)])
    one.ran_graph(0.9)
    assert not one.is_turn([np.int64(100), np.ones(2)])


def test_all_is_done_once(plainly, capsys):
    """In each call, whoever runs it."""

    def counts(o, n):
        i = 0
        while i < n:
            o.log.append(i)
            o.log[-1] += 1
            print(f"at {i}")
            i += 1
        o.total += len(o.log)
        o.array[0] += 1
        return o.total

    found = []
    for f in (counts, al.function(counts)):
        o, results = types.SimpleNamespace(log=[], total=0, array=np.zeros(2)), []
        for _ in range(5):
            o.log = []
            results.append(f(o, np.int64(4)))
        found.append((results, o.log, o.total, o.array.tolist(), capsys.readouterr().out))
    assert found[0] == found[1]


def test_warnings_are_as_quiet(plainly):
    def divided(x, n):
        i, stack = 0, [x]
        while i < n:
            stack.append(stack[-1] / 0)
            stack.pop()
            stack.append(x * 2)
            i += 1
        return stack[-1] / 0

    f = al.function(divided)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [f(np.float64(1.0), np.int64(9)) for _ in range(4)]
    assert plainly and set(found) == {np.inf}


def test_exceptions(plainly):
    def missing(n):
        stack = [n]
        while n > 0:
            stack.pop()
            stack.pop()
            n -= 1
        return stack

    f = al.function(missing)
    for _ in range(4):
        assert f(np.int64(0)) == [0]
        with pytest.raises(IndexError, match="pop from empty list"):
            f(np.int64(3))


def test_who_needs_the_graph_has_it(plainly):
    """Tensors, variables, signatures, gradients, and what is called while tracing only."""
    variable = al.Variable(np.float64(0.0))

    def stateful(n):
        while n > 0:
            variable.assign_add(1.0)
            n -= 1
        return variable.numpy() if False else n

    def looped(x, n):
        i = 0
        while i < n:
            x = x * 1.5
            i += 1
        return x

    signed = al.function(looped, input_signature=[al.TensorSpec([], np.float64), al.TensorSpec([], np.int64)])
    gradient = al.grad(al.function(looped))
    for _ in range(4):
        al.function(looped)(al.constant(1.0), al.constant(2))
        assert isinstance(signed(np.float64(1.0), np.int64(2)), np.floating | al.Tensor)
        assert gradient(1.0, np.int64(2)) == 2.25
    f = al.function(stateful)
    for _ in range(4):
        f(np.int64(2))
    assert float(variable.numpy()) == 8.0 and plainly == []


@pytest.mark.skipif(bool(tier_up.extra.remedy()), reason="needs the extra 'native'")
def test_machine_code_is_tried_against_the_faster_one(monkeypatch):
    monkeypatch.setattr(tier_up, "price", lambda nodes: 0.0)
    monkeypatch.setattr(tier_up.background, "submit", lambda job: job() is None)
    f, n = al.function(popped), np.int64(20_000)
    want = popped(n)
    for _ in range(12):
        assert f(n) == want
    assert al.explain(f, n).executor == "native"
