"""A list or dict that is an argument and stands elsewhere, too: a change under one name is seen under the other."""

import itertools
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

BEST, KNOWN = [0, 1, 2], {"a": 1}
TURNS = itertools.cycle(["auto", "sequential", "dataflow"])


class Box:
    held = BEST


def sliced(old, x):
    BEST[:] = [7, 8, 9]
    return old[0], old is BEST


def sliced_in_a_branch(old, x):
    if x[0] > 1:
        BEST[:] = [7, 8, 9]
    return x


def set_in_a_branch(old, x):
    if x[0] > 1:
        old[0] = 7
    return BEST[0]


def grown_in_a_loop(old, x):
    i = 0
    while i < x[0]:
        BEST.append(i)
        i += 1
    return len(old)


def extended_in_place(old, x):
    old += [5]
    return len(BEST)


def of_an_attribute(old, x):
    if x[0] > 1:
        Box.held[1:] = [4]
    return old[-1]


def of_a_default(old, x, best=BEST):
    best.reverse()
    return old[0]


def of_a_dict(old, x):
    if x[0] > 1:
        KNOWN["a"] = x[1]
    return old["a"]


def of_two_arguments(old, x, other=None):
    if x[0] > 1:
        old[0] = 7
    return other[0]


CHANGED = [
    sliced, sliced_in_a_branch, set_in_a_branch, grown_in_a_loop, extended_in_place, of_an_attribute, of_a_default,
    of_a_dict, of_two_arguments,
]  # fmt: skip


def outcome(f, name, is_one, number):
    """Return what a call gives, and what the lists and dicts hold after it."""
    BEST[:], x = [0, 1, 2], np.array([number, 1.0])
    KNOWN.clear()
    KNOWN["a"] = 1
    given = {"of_a_dict": KNOWN if is_one else dict(KNOWN)}.get(name, BEST if is_one else list(BEST))
    result = f(given, x, other=given if is_one else list(BEST)) if name == "of_two_arguments" else f(given, x)
    return repr((result, BEST, KNOWN, given))


@each([(f, is_one_first) for f in CHANGED for is_one_first in (True, False)])
def test_a_change_is_seen_under_every_name(f, is_one_first):
    decorated = al.function(f, executor=next(TURNS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for is_one, number in ((is_one_first, 3.0), (True, 2.0), (False, 3.0), (True, 0.0), (False, 0.0), (True, 3.0)):
            case = f.__name__, is_one, number
            assert outcome(decorated, *case) == outcome(f, *case), case


def changed(old, x):
    BEST[1] = x[0]
    return x * old[0] + old[1]


@pytest.mark.parametrize("program", [lambda old, x: x * old[0] + BEST[1], changed], ids=("read", "changed"))
def test_there_is_a_graph(program):
    f = al.function(program)
    BEST[:] = [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(BEST, np.ones(2)).tolist() == [1, 1]
    assert f.get_concrete_function(BEST, np.ones(2)).graph is not None
