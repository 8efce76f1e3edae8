"""The dict in which an object has its attributes, given back or kept: the object's own, as in plain Python."""

import types

import autoloop as al
import numpy as np
import pytest


class Thing:
    pass


def found():
    thing, space = Thing(), types.SimpleNamespace(n=0)
    thing.n, thing.parts = 0, [1]

    def helper():
        pass

    helper.n = 0
    return thing, space, helper, []


def of_an_object(thing, space, helper, kept, x):
    thing.n += 1
    return thing.__dict__, [vars(thing)]


def of_a_namespace(thing, space, helper, kept, x):
    space.n += 1
    space.new = x[0]
    return vars(space)


def of_a_function(thing, space, helper, kept, x):
    helper.n += 1
    return helper.__dict__


def kept_elsewhere(thing, space, helper, kept, x):
    kept.append(vars(thing))
    thing.n += 1
    return kept[0]


def written_to(thing, space, helper, kept, x):
    own = vars(thing)
    own["n"] += 1
    own["new"] = x[0]
    return own


def of_a_loop(thing, space, helper, kept, x):
    own, i = thing.__dict__, 0
    while i < x[0]:
        own["n"] += i
        i += 1
    return own, thing.n


PROGRAMS = (of_an_object, of_a_namespace, of_a_function, kept_elsewhere, written_to, of_a_loop)


def which(result, world):
    """Return of which object each dict of a result is."""
    parts = [result] if isinstance(result, dict) else [one for one in result if isinstance(one, dict)]
    return [[part is vars(one) for one in world[:3]] for part in parts]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("is_argument", [False, True])
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_it_is_the_dict_of_the_object(program, is_argument):
    plain, ours = found(), found()
    decorated = al.function(program) if is_argument else al.function(lambda x: program(*ours, x))
    for value in (2.0, 3.0, 2.0):
        expected = program(*plain, np.array([value]))
        result = decorated(*(ours if is_argument else ()), np.array([value]))
        assert repr(result) == repr(expected)
        assert which(result, ours) == which(expected, plain)
        assert [one is vars(ours[0]) for one in ours[3]] == [one is vars(plain[0]) for one in plain[3]]


class Covering:
    """An object whose dict holds something under the names of properties."""

    def __init__(self, x):
        self.x, self.calls = x, 0

    @property
    def told(self):
        return self.__dict__["told"] * 10

    @told.setter
    def told(self, value):
        self.calls += 1
        self.__dict__["told"] = value * 100

    @property
    def fixed(self):
        return 7.0


def put_under(thing, x):
    thing.__dict__["told"] = x + 1
    vars(thing)["fixed"] = x[0]
    return thing.told


def changed_under(thing, x):
    thing.__dict__["told"] = thing.__dict__.get("told", 1.0) * x
    return thing.told


def taken_from_under(thing, x):
    thing.told = x
    return thing.__dict__.pop("told")


def put_in_a_loop(thing, x):
    for k in range(30):
        vars(thing)["told"] = x + k
    return thing.told


def put_in_a_staged_loop(thing, x):
    thing.__dict__["told"] = x
    while x.sum() < 100:
        thing.__dict__["told"] = x
        x = x * 2
    return thing.told


def put_in_a_branch(thing, x):
    if x[0] > 0:
        thing.__dict__["told"] = x
    return thing.calls


def made_new(thing, x):
    new = Covering(x)
    new.__dict__["told"], new.__dict__["fixed"] = x, 3
    return new


def made_in_a_loop(thing, x):
    made = []
    for k in range(30):
        made.append(Covering(x + k))
        vars(made[-1])["told"] = x
    return vars(made[3]), vars(made[29])


COVERING = (put_under, changed_under, taken_from_under, put_in_a_loop, put_in_a_staged_loop, put_in_a_branch, made_new)


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@pytest.mark.parametrize("program", (*COVERING, made_in_a_loop), ids=lambda program: program.__name__)
def test_what_stands_in_a_dict_under_the_name_of_a_property_is_put_there(program):
    def played(function):
        thing = Covering(np.ones(2))
        given = [function(thing, np.array([1.0, 2.0]) + k) for k in range(2)]
        return repr([(one.__dict__ if isinstance(one, Covering) else one) for one in given]), repr(vars(thing))

    assert played(al.function(program)) == played(program)
