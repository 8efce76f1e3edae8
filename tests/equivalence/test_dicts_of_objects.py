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
