"""Objects as keys of dicts and as elements of sets: each call's own, or the very ones that were found there."""

import collections
import itertools
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

INTERPRETED = itertools.cycle(["auto", "sequential", "dataflow"])


class Thing:
    def __init__(self, value):
        self.value = value

    @al.function
    def beside(self, x):
        return {self: x}

    @al.function
    def keep(self, x):
        self.value = {self: x}, [{(self, 1): x}]


class OfItsOwn:
    """It is held before it can tell its hash."""

    def __init__(self, value, kind):
        self.held = kind()
        self.value = value
        self.held |= {self} if kind is set else {self: value}

    def __hash__(self):
        return hash(type(self.value))


World = collections.namedtuple("World", "first second table parts")


def found():
    return World(Thing(2.0), Thing(3.0), {}, [])


def given_back(world, x):
    key, other = Thing(x), Thing(x + 1)
    return {key: 1, (other, key): x, frozenset([other]): 2}, key, other


def alone(world, x):
    return {Thing(x): x}


def of_a_function(world, x):
    return {lambda: x: 1}


def added_to(world, x):
    key = Thing(x)
    counts = collections.defaultdict(float)
    counts[key] += x[0]
    return key, collections.OrderedDict([(key, 1)]), counts


def put_in_the_world(world, x):
    key = Thing(x)
    world.table[key] = x * 2
    world.parts.append({key: x})
    world.first.value = {key: 1}
    return key


def put_in_another_order(world, x):
    kept = list(world.table.items())
    world.table.clear()
    world.table[Thing(x)] = 1
    world.table.update(kept)


def of_a_branch(world, x):
    key = Thing(0.0)
    table = {key: 1}
    if x[0] > 2:
        key.value = x[0]
        table[key] = 3
    return table, key


def chosen_by_a_branch(world, x):
    if x[0] > 2:
        key = world.first
    else:
        key = world.second
    return {key: x}, key


def of_a_loop(world, x):
    key = Thing(x)
    table = {key: 0.0}
    i = 0
    while i < x[0]:
        table[key] += i
        i += 1
    return table, key


def of_its_own(world, x):
    return OfItsOwn(x, dict), OfItsOwn(x, set)


PROGRAMS = (
    given_back, alone, of_a_function, added_to, put_in_the_world, put_in_another_order, of_a_branch,
    chosen_by_a_branch, of_a_loop, of_its_own,
)  # fmt: skip


def shown(value, names):
    """Return a value as text, with a number for each object in it."""
    if isinstance(value, dict):
        return [(shown(key, names), shown(one, names)) for key, one in value.items()]
    if isinstance(value, (tuple, list, set, frozenset)):
        return [shown(one, names) for one in value]
    if isinstance(value, (Thing, OfItsOwn)):
        if value in names:
            return names[value]
        names[value] = len(names)
        return names[value], shown(list(vars(value).values()), names)
    return repr(value()) if callable(value) else repr(value)


def turns(program, world):
    results = [program(world, np.array([value])) for value in (1.0, 3.0, 2.0)]
    return shown([results, world], {})


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@each(PROGRAMS)
def test_each_call_has_its_own(program):
    assert turns(al.function(program, executor=next(INTERPRETED)), found()) == turns(program, found())


def test_they_are_in_the_graph():
    for program in (given_back, put_in_the_world, chosen_by_a_branch, of_a_loop, of_its_own):
        decorated = al.function(program)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            turns(decorated, found())
        assert decorated.tracing_count


def test_an_instance_is_its_own_key():
    things = [Thing(1.0), Thing(2.0)]
    for thing in things * 2:
        assert list(thing.beside(np.ones(1))) == [thing]
        thing.keep(np.ones(1))
        assert thing in thing.value[0] and (thing, 1) in thing.value[1][0]


def read(table, x):
    return sum(key.value * one for key, one in table.items()) * x


def written(table, x):
    for key in table:
        key.value = key.value + x[0]
    return {key: one * 2 for key, one in table.items()}


@pytest.mark.parametrize("program", [read, written])
def test_keys_of_an_argument_are_the_callers(program):
    ours, plain = ([Thing(1.0), Thing(np.ones(2))] for _ in range(2))
    decorated = al.function(program)
    for value in range(3):
        found = []
        for function, things in ((decorated, ours), (program, plain)):
            things[0].value += value
            result = function({things[0]: 1.0, things[1]: np.arange(2.0)}, np.array([2.0]))
            assert not isinstance(result, dict) or list(result) == things
            found.append(repr([result if program is read else list(result.values()), [one.value for one in things]]))
        assert found[0] == found[1]
