"""Generators of random numbers that a function makes, and asks in loops: each run makes them anew."""

from __future__ import annotations

import copy
import dataclasses
import queue
import random
import threading
import warnings
import weakref
from types import SimpleNamespace

import autoloop as al
import numpy as np
import pytest

X, N = np.linspace(1, 2, 5), np.array([4])
HELD = SimpleNamespace()


def walk(x, n):
    rng = np.random.default_rng(7)
    i = 0
    while i < n[0]:
        x = x + rng.normal(size=5)
        i += 1
    return x


def before_in_and_behind(x, n):
    rng = np.random.RandomState(3)
    x = x * rng.rand()
    for _ in range(n[0]):
        x = x - rng.uniform(0, 1, 5) if x.sum() > 6 else x + rng.randint(0, 5)
    return x, rng.rand(), rng.randn(2)


def of_python(x, n):
    rng, t = random.Random("a"), 0.0
    while t < n[0]:
        t += rng.random()
        x = x * rng.choice([1.0, 2.0])
    return x, t


def in_a_branch(x, n):
    rng = np.random.default_rng([1, 2])
    if x[0] > 0:
        return x + rng.random(5)
    return x - rng.random(5)


def two_of_one_seed(x, n):
    a, b = np.random.default_rng(1), np.random.default_rng(seed=1)
    while x.sum() < 40:
        x = x + a.random(5) + b.random()
    return x


def by_an_inner_function(x, n):
    rng = np.random.default_rng(7)

    def step(y):
        return y + rng.random(5)

    while x.sum() < 40:
        x = step(x)
    return x


def seeded_again(x, n):
    rng = np.random.RandomState(3)
    for _ in range(n[0]):
        rng.seed(5)
        x = x + rng.rand(5)
    return x + rng.rand()


def given_what_the_run_knows(x, n):
    rng, y = np.random.default_rng(5), x.copy()
    rng.shuffle(y)
    return y + rng.normal(x) + rng.choice(x)


def fails(x, n):
    rng = np.random.default_rng(1)
    while x.sum() < 40:
        x = x + rng.random(5)
        if x[0] > 2.2:
            raise ValueError(x.sum())
    return x


def given_back(x, n):
    rng = np.random.default_rng(7)
    while x.sum() < 40:
        x = x + rng.random(5)
    return x, rng


def kept(x, n):
    HELD.rng = np.random.default_rng(7)
    while x.sum() < 40:
        x = x + HELD.rng.random(5)
    return x, HELD.rng.random()


def copied(x, n):
    rng = np.random.default_rng(7)
    other = copy.deepcopy(rng)
    while x.sum() < 40:
        x = x + rng.random(5) - other.random(5) / 2
    return x


def looked_at(x, n):
    rng = np.random.default_rng(1)
    while x.sum() < 40:
        x = x + rng.random(5)
    return x, rng.bit_generator.state["state"]["state"] % 1000


def of_a_bit_generator(x, n):
    bits = np.random.PCG64(4)
    rng, other = np.random.Generator(bits), np.random.Generator(bits)
    while x.sum() < 40:
        x = x + rng.random(5) + other.random()
    return x


def of_a_child(x, n):
    child = np.random.default_rng(7).spawn(2)[1]
    while x.sum() < 40:
        x = x + child.random(5)
    return x


@dataclasses.dataclass
class Walker:
    rng: np.random.Generator = dataclasses.field(default_factory=lambda: np.random.default_rng(9))


class Made:
    def __new__(cls):
        made = super().__new__(cls)
        made.rng = np.random.default_rng(4)
        return made


def by_a_factory(x, n):
    walker = Walker()
    for _ in range(n[0]):
        x = x + walker.rng.random()
    return x + walker.rng.random()


def by_a_factory_and_kept(x, n):
    HELD.walker = Walker()
    return x + HELD.walker.rng.random()


def before_the_object_is(x, n):
    draw = Made().rng.random
    return x + draw() + draw()


def said(f, *given):
    """What a call gives or raises, as text."""
    try:
        made = f(*given)
    except ValueError as error:
        return repr(error)
    found = made if isinstance(made, tuple) else (made,)
    return repr([one.random() if isinstance(one, np.random.Generator) else one for one in found])


@pytest.mark.parametrize(
    "f",
    [
        walk, before_in_and_behind, of_python, in_a_branch, two_of_one_seed, by_an_inner_function, seeded_again,
        given_what_the_run_knows, fails,
    ],
)  # fmt: skip
def test_each_run_makes_its_own(f):
    decorated, wanted = al.function(f), said(f, X, N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no call is plain Python's
        assert [said(decorated, X, N) for _ in range(3)] == [wanted] * 3


@pytest.mark.parametrize("f", [given_back, kept, copied, looked_at, of_a_bit_generator, of_a_child])
def test_one_that_others_have_is_left_to_plain_python(f):
    wanted = said(f, X, N)
    with pytest.warns(UserWarning, match="is asked for random numbers in a loop"):
        decorated = al.function(f)
        assert [said(decorated, X, N) for _ in range(2)] == [wanted] * 2


@pytest.mark.parametrize("f", [by_a_factory, by_a_factory_and_kept, before_the_object_is])
def test_one_that_code_makes_which_is_not_converted_is_left_to_plain_python(f):
    wanted = said(f, X, N)
    with pytest.warns(UserWarning, match="gives a generator of random numbers"):
        decorated = al.function(f)
        assert [said(decorated, X, N) for _ in range(3)] == [wanted] * 3  # the trace's own went on from call to call


def in_each_row(xs):
    return al.map_fn(lambda x: walk(x, N), xs)


def in_each_row_of_many(xs):
    return al.vectorized_map(lambda x: walk(x, N), xs)


def along_an_axis(xs):
    return np.apply_along_axis(lambda x: walk(x, N), 1, xs)


def in_each_turn(xs):
    return al.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, walk(x, N)), (0, xs[0]))[1]


def folded(xs):
    return al.foldl(lambda made, x: made + walk(x, N), xs)


@pytest.mark.parametrize("f", [in_each_row, in_each_row_of_many, along_an_axis, in_each_turn, folded])
def test_one_that_each_iteration_makes_begins_anew_in_loops_by_hand(f):
    xs = np.stack([X, X + 1, X * 2])
    wanted = f(xs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decorated = al.function(f)
        for _ in range(2):
            np.testing.assert_allclose(decorated(xs), wanted, rtol=1e-13)


def in_an_array(x, n):
    found = np.array([random.Random(2), random.Random(3)], dtype=object)
    for _ in range(n[0]):
        x = x + found[0].random()
    return x


def in_a_field(x, n):
    found = np.zeros(1, dtype=[("rng", object), ("b", float)])
    found["rng"][0] = [random.Random(2)]
    for _ in range(n[0]):
        x = x + found["rng"][0][0].random()
    return x


def a_count_in_an_array(x, n):
    found = np.array([SimpleNamespace(k=0), None], dtype=object)
    for _ in range(n[0]):
        found[0].k += 1
        x = x + found[0].k
    return x


def a_count_in_an_element(x, n):
    found = np.zeros(1, dtype=[("a", object), ("b", int)])[0]
    found["a"] = SimpleNamespace(k=0, itself=found)
    for _ in range(n[0]):
        found["a"].k += 1
        x = x + found["a"].k
    return x


def by_a_weak_reference(x, n):
    rng = random.Random(2)
    found = weakref.ref(rng)
    for _ in range(n[0]):
        x = x + found().random()
    return x


def in_a_view(x, n):
    found = {"a": random.Random(2)}.values()
    for _ in range(n[0]):
        for rng in found:
            x = x + rng.random()
    return x


def in_a_queue(x, n):
    found = queue.Queue()
    found.put(random.Random(2))
    for _ in range(n[0]):
        x = x + found.queue[0].random()
    return x


@pytest.mark.parametrize(
    "f",
    [
        in_an_array, in_a_field, a_count_in_an_array, a_count_in_an_element, by_a_weak_reference, in_a_view,
        in_a_queue,
    ],
)  # fmt: skip
def test_whatever_holds_it_it_goes_on_in_each_iteration(f):
    wanted = said(f, X, N)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decorated = al.function(f)
        assert [said(decorated, X, N) for _ in range(2)] == [wanted] * 2


def test_runs_at_once_have_one_each():
    decorated, wanted, found = al.function(walk), said(walk, X, N), []
    together = threading.Barrier(3)

    def many():
        together.wait()
        found.extend(said(decorated, X, N) for _ in range(20))

    threads = [threading.Thread(target=many) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [wanted] * 60


def test_a_gradient_is_of_the_same_numbers():
    loss = al.function(lambda x: (walk(x, N) ** 2).sum())
    np.testing.assert_allclose(al.grad(loss)(X), 2 * walk(X, N), rtol=1e-14)
