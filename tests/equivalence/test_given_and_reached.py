"""A list, dict or dataclass that is an argument and stands elsewhere, too: what is done to one is done to the other."""

import copy
import dataclasses
import warnings

import autoloop as al
import numpy as np
import pytest


@dataclasses.dataclass
class Pair:
    w: object


@dataclasses.dataclass(eq=False)
class Told:
    w: object


WORLD = None


def world_is_set(p, x):
    WORLD.w = WORLD.w + x.sum()
    return x + p.w


def argument_is_set(p, x):
    p.w = p.w + x.sum()
    return x + WORLD.w


def world_grows(p, x):
    WORLD.append(x.sum())
    return x + len(p)


def argument_grows(p, x):
    p.append(x * 2)
    return WORLD[-1] + len(WORLD)


def item_is_set(p, x):
    WORLD[0] = WORLD[0] + 1.0
    return x * p[0]


def key_is_set(p, x):
    p["k"] = x * 3
    return WORLD["k"] + len(WORLD)


def inner_list(p, x):
    WORLD[0][0] = x * 3
    return p[0][0] + 1


def which(p, x):
    return x * 0 if p is WORLD else x * 1


def looked_for(p, x):
    return x * 0 if p in [WORLD] else x * 1


def in_a_set(p, x):
    return x * 0 if p in {WORLD} else x * 1


def in_a_loop(p, x):
    for k in range(12):
        p[0] = p[0] + x[k % 2]
        x = x * 0.5 + WORLD[0]
    return x


def rebound(p, x):
    global WORLD
    before, WORLD = WORLD, [x]
    before[0] = x * 2
    return p[0] + WORLD[0]


CASES = (
    (world_is_set, Pair(1.0)), (argument_is_set, Pair(1.0)), (world_grows, [1.0, 2.0]), (argument_grows, [1.0]),
    (item_is_set, [1.0, 2.0]), (key_is_set, {"k": np.zeros(2)}), (inner_list, [[np.zeros(2)]]), (which, Pair(1.0)),
    (which, [1.0]), (which, (1.0, 2.0)), (looked_for, Told(1.0)), (in_a_set, Told(1.0)), (in_a_loop, [1.0, np.ones(2)]),
    (rebound, [np.ones(2)]),
)  # fmt: skip


def outcome(f, value, orders):
    """Return what calls give, and leave, of an argument that is the world's own, or one that is like it."""
    global WORLD
    found = []
    for is_own in orders:
        WORLD, other = copy.deepcopy((value, value))
        kept, given = WORLD, WORLD if is_own else other
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where plain Python runs it
            result = f(given, np.array([1.0, 2.0]))
        found.append(
            (result, type(result), vars_of(kept), vars_of(given), vars_of(WORLD), kept is given, kept is WORLD)
        )
    return repr(found)


def vars_of(value):
    return value.w if isinstance(value, Pair | Told) else copy.deepcopy(value)


@pytest.mark.parametrize("orders", [(True, True, False, True), (False, False, True, False)], ids=("own", "other"))
@pytest.mark.parametrize("executor", ["sequential", "auto", "dataflow"])
@pytest.mark.parametrize(("f", "value"), CASES, ids=[f"{f.__name__}-{type(value).__name__}" for f, value in CASES])
def test_an_argument_that_the_function_finds_elsewhere_too(f, value, executor, orders):
    assert outcome(al.function(f, executor=executor), value, orders) == outcome(f, value, orders)


class Model:
    def __init__(self):
        self.parts = [1.0, np.zeros(2)]

    def step(self, parts, x):
        self.parts[0] = self.parts[0] + 1.0
        parts[1] = self.parts[1] + x
        return x * parts[0] + self.parts[1]


def test_an_argument_that_the_instance_holds():
    mine, its, step = Model(), Model(), al.function(Model.step)
    for _ in range(3):
        assert np.array_equal(step(mine, mine.parts, np.ones(2)), its.step(its.parts, np.ones(2)))
        assert repr(mine.parts) == repr(its.parts)
    one, other = mine.parts, [5.0, np.ones(2)]
    mine.parts, its.parts = other, copy.deepcopy(other)
    plain = copy.deepcopy(one)
    assert np.array_equal(step(mine, one, np.ones(2)), its.step(plain, np.ones(2)))
    assert repr((mine.parts, one)) == repr((its.parts, plain))


def first_is_set(p, q, x):
    p[0] = p[0] + 1.0
    return x * q[0]


def key_of_first_is_set(p, q, x):
    p["a"] = x * 2
    return x * q["a"]


def inner_is_set(p, q, x):
    p[0][0] = p[0][0] + x
    return q[0] * 2


def part_is_set(p, q, x):
    p.w.append(x * 2)
    return x * len(q)


def are_one(p, q, x):
    return x * 0 if p is q else x * 1


def a_default(p, x, q=[1.0]):  # noqa: B006
    p[0] = p[0] + 1.0
    return x * q[0]


TWICE = (
    (first_is_set, lambda: [1.0, 2.0], lambda one: one), (key_of_first_is_set, lambda: {"a": 1.0}, lambda one: one),
    (inner_is_set, lambda: [[np.ones(2)]], lambda one: one[0]), (part_is_set, lambda: Pair([1.0]), lambda one: one.w),
    (are_one, lambda: [1.0], lambda one: one),
)  # fmt: skip


@pytest.mark.parametrize("orders", [(True, True, False, True), (False, False, True, False)], ids=("one", "two"))
@pytest.mark.parametrize(("f", "make", "part"), TWICE, ids=[f.__name__ for f, *_ in TWICE])
def test_a_list_that_stands_twice_in_the_arguments(f, make, part, orders):
    decorated = al.function(f, executor="sequential")
    for is_one in orders:
        mine, its, other, another = make(), make(), make(), make()
        mine_too, its_too = part(mine if is_one else other), part(its if is_one else another)
        assert repr(decorated(mine, mine_too, np.ones(2))) == repr(f(its, its_too, np.ones(2)))
        assert repr((mine, mine_too, other)) == repr((its, its_too, another))


def test_a_list_that_is_a_default_too():
    [default], decorated = a_default.__defaults__, al.function(a_default, executor="sequential")
    for given in (default, [5.0], default):
        assert np.array_equal(decorated(given, np.ones(2)), np.full(2, default[0]))
    assert default == [3.0]
