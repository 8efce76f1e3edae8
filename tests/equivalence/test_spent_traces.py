"""Functions that are traced again and again are left to plain Python; objects and worlds that change are followed."""

import os
import warnings

import autoloop as al
import numpy as np
import pytest
from executors import INTERPRETED

pytestmark = pytest.mark.filterwarnings("ignore:.* (was traced|runs as plain Python)")
MANY = 120


class Rotation:
    made = 0

    def __init__(self, q, unit=1.0):
        self.q, self.unit, self.used = q, unit, 0

    def times(self, other, k):
        other.used += 1
        self.unit = self.unit * 2 if k % 2 else self.unit
        return Rotation(self.q * other.q * k, other.unit), other is self, other

    def larger(self, other):
        return other if other.q.sum() > self.q.sum() else self


def steps(kind, k):
    """Return what a call gives, and what it leaves in objects that were made for it."""
    one, other = kind(np.arange(3.0) + k, 1.0 + k % 3), kind(np.ones(3), k % 2 == 0)
    if k % 5 == 4:
        other = one
    made, is_one, given = one.times(other, k % 7)
    assert given is other and type(made) is Rotation
    larger = one.larger(other)
    assert larger is one or larger is other
    return made.q, made.unit, is_one, one.unit, one.used, other.used, larger is one


@pytest.mark.parametrize("executor", INTERPRETED)
def test_methods_share_traces_of_objects_that_they_are_given(executor):
    decorate = al.function(executor=executor)
    kind = type("Decorated", (Rotation,), {n: decorate(vars(Rotation)[n]) for n in ("times", "larger")})
    for k in range(MANY):
        wanted, found = steps(Rotation, k), steps(kind, k)
        assert all(type(a) is type(b) and np.array_equal(a, b) for a, b in zip(wanted, found)), k
    if executor == "auto":
        assert kind.times._spent.count < 30


@al.function
def inner(x, text):
    return x * len(text)


def outer(x, text):
    return inner(x, text) + len(text), text.upper()


def test_who_calls_decorated_functions_has_a_budget_as_well():
    decorated = al.function(outer)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for k in range(MANY):
            x, text = decorated(np.arange(2.0), "a" * k)
            assert x.tolist() == [k, 2.0 * k] and text == "A" * k
    assert decorated.tracing_count < 20
    assert any("runs as plain Python from now on: nearly each call" in str(one.message) for one in told)
    assert isinstance(decorated(al.constant([1.0, 2.0]), "new")[0], al.Tensor)
    assert al.grad(lambda x: decorated(x, "abc")[0].sum())(np.ones(2)).tolist() == [3.0, 3.0]
    with al.GradientTape() as tape:
        x = al.constant([1.0, 2.0])
        tape.watch(x)
        y = al.sum(decorated(x, "some")[0])
    assert np.asarray(tape.gradient(y, x)).tolist() == [4.0, 4.0]


STATE = {"text": "", "count": 0}


def of_world(x):
    STATE["count"] += 1
    return x * len(STATE["text"]), STATE["text"]


def test_a_world_that_is_another_at_each_call_is_not_traced_each_time():
    decorated = al.function(of_world)
    STATE.update(text="", count=0)
    for k in range(MANY):
        STATE["text"] = "b" * k
        found, text = decorated(np.ones(2))
        assert found.tolist() == [k, k] and text == "b" * k and STATE["count"] == k + 1
    assert decorated.tracing_count < 25


def unseen(x, scale):
    return x * scale * len(os.environ.get("AUTOLOOP_NO_SUCH", "ab"))


def test_what_no_graph_can_do_is_looked_at_a_few_times():
    decorated = al.function(unseen)
    for k in range(MANY):
        assert decorated(np.ones(1 + k), f"{k}" if False else k + 0.5).tolist() == [2.0 * k + 1] * (k + 1)
    assert decorated.tracing_count <= 2
    assert decorated(np.ones(2), np.ones(2)).tolist() == [2.0, 2.0]


def traced_late(x, text):
    return x + len(text)


def test_a_trace_is_made_on_demand_also_when_the_budget_is_spent():
    decorated = al.function(traced_late)
    for k in range(MANY):
        decorated(np.ones(2), "c" * k)
    before = decorated.tracing_count
    assert decorated.get_concrete_function(np.ones(3), "wanted")(np.ones(3)).tolist() == [7.0] * 3
    assert decorated.tracing_count == before + 1
