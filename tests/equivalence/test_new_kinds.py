"""Functions that are given arguments of a new kind at each call: lists that grow, objects and dicts of one call."""

import time
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop import new_kinds
from executors import INTERPRETED, needs_native

MANY = 40
MOST = new_kinds.MOST_KINDS + 1


def logged(x, log, seen):
    log.append(float(x.sum()) if False else len(log))
    seen[len(seen)] = x[0]
    x += 1
    return x * len(log), log, x.sum()


class Controller:
    def __init__(self, gain):
        self.gain, self.last, self.sum = gain, None, 0.0

    def __call__(self, error):
        rate = 0.0 if self.last is None else error - self.last
        self.sum += error
        self.last = error
        return self.gain * error + 0.1 * self.sum + rate


def controlled(x, control):
    for k in range(len(x)):
        x[k] += control(1.0 - x[k])
    return x.max(), control.last


def remembered(x, kept=[], count=[0], seen={}):  # noqa: B006 - as people write them
    count[0] += 1
    kept.append(x.max())
    if len(kept) > 3:
        kept.pop(0)
    seen[count[0] % 3] = x
    return list(seen), len(kept), kept[0], [one.sum() for one in seen.values()]


def with_log():
    x, log, seen = np.zeros(3), [], {}
    return lambda f, k: (*f(x, log, seen), list(log), dict(seen), x.copy())


def with_object():
    def called(f, k):
        x, control = np.arange(3.0), Controller(2)
        return (*f(x, control), x, control.sum)

    return called


def with_defaults():
    remembered.__defaults__[0].clear()
    remembered.__defaults__[1][0] = 0
    remembered.__defaults__[2].clear()
    return lambda f, k: f(np.arange(3.0) + k)


PROGRAMS = {"log": (logged, with_log), "object": (controlled, with_object), "defaults": (remembered, with_defaults)}


def same(one, other):
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    return type(one) is type(other) and bool(np.allclose(one, other, rtol=1e-12))


@pytest.mark.parametrize("executor", INTERPRETED)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:.* was traced 6 times")
def test_they_end_as_plain_python_and_do_the_same(name, executor):
    f, calls = PROGRAMS[name]
    called = calls()
    wanted = [called(f, k) for k in range(MANY)]
    decorated, called = al.function(f, executor=executor), calls()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = [called(decorated, k) for k in range(MANY)]
    assert same(found, wanted)
    assert decorated.tracing_count <= (2 if name == "object" else MOST)  # objects of one class share a trace
    said = [str(one.message) for one in told if "kinds of arguments" in str(one.message)]
    assert name == "object" or said == [
        f"{f.__name__} was traced for 16 kinds of arguments, or of what it finds outside them: where these are others, "
        f"the first calls run as plain Python, and kinds that come again are traced; see autoloop.explain [AL011]"
    ]


def scaled(x, name):
    return x * len(name), name


@pytest.mark.filterwarnings("ignore:.* was traced")
def test_what_comes_again_is_traced():
    decorated = al.function(scaled)
    for k in range(MOST - 1):
        decorated(np.ones(2), f"name {k}")
    assert decorated.tracing_count == MOST - 1
    for _ in range(3):
        found = decorated(np.ones(2), "another")
        assert found[0].tolist() == [7.0, 7.0] and found[1] == "another"
    assert decorated.tracing_count == MOST
    decorated.get_concrete_function(np.ones(2), "wished")
    assert decorated.tracing_count == MOST + 1


@pytest.mark.filterwarnings("ignore:.* was traced")
def test_more_kinds_are_traced_where_plain_python_takes_longer():
    calls = []

    def slow(x, name):
        calls.append(name)
        time.sleep(0 if len(calls) <= MOST - 1 else 0.5)
        return x * 2

    decorated = al.function(slow)
    for k in range(MOST + 5):
        decorated(np.ones(2), f"name {k}")
    assert decorated.tracing_count >= MOST - 1 + 3


def of_tensors(x, name):
    return al.sum(x) * len(name)


@pytest.mark.filterwarnings("ignore:.* was traced")
def test_what_has_to_be_traced_is():
    for f, given in ((of_tensors, np.ones(2)), (scaled, al.constant([1.0, 2.0]))):
        decorated = al.function(f)
        for k in range(MOST + 3):
            assert isinstance(al.nest.flatten(decorated(given, "n" * k))[0], al.Tensor)
        assert decorated.tracing_count == MOST + 3


@needs_native
@pytest.mark.filterwarnings("ignore:.* was traced")
def test_who_asks_for_machine_code_gets_it():
    decorated = al.function(scaled, executor="native")
    for k in range(MOST + 2):
        decorated(np.ones(2), "n" * k)
    assert decorated.tracing_count == MOST + 2


@pytest.mark.filterwarnings("ignore:.* was traced")
def test_a_gradient_is_of_the_graph():
    def loss(x, name):
        return (x * x).sum() * len(name)

    slope = al.function(al.grad(loss))
    for k in range(MOST + 2):
        assert slope(np.ones(2), "n" * k).tolist() == [2.0 * k, 2.0 * k]
