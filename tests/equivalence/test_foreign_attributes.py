"""Attributes that programs give to objects of libraries and of Python's own: plain Python's, however one gets there."""

import functools
import logging
import random
import types
import warnings

import autoloop as al
import numpy as np
import pytest


class Own(functools.partial):
    pass


KINDS = {
    "logger": lambda: logging.Logger("own"),
    "partial": lambda: functools.partial(int),
    "subclass": lambda: Own(int),
    "cache": lambda: functools.lru_cache(int),
    "vectorize": lambda: np.vectorize(abs),
    "random": lambda: random.Random(1),
    "module": lambda: types.ModuleType("own"),
}


def programs(value):
    """Return functions that change the attribute of an object, and what they are given besides an array."""
    holder, box, named = types.SimpleNamespace(value=value), [value], {"k": value}

    def by_name(x):
        value.n += 1
        return value.n

    def by_element(x):
        box[0].n += 1
        i = 0
        while i < x[0]:
            named["k"].n += i
            i += 1
        return value.n

    def by_argument(x, given):
        given.n += 1
        return given.n, given is value

    def by_attribute(x):
        holder.value.n += 1
        return holder.value.n

    def by_iteration(x):
        for one in box:
            one.n = one.n + x[0]
        return value.n

    def by_text(x):
        setattr(value, "n", value.n + x[0])
        return value.n

    return [(by_name,), (by_element,), (by_argument, value), (by_attribute,), (by_iteration,), (by_text,)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_they_are_set_at_each_call(kind):
    for k in range(6):
        sides = []
        for _ in range(2):
            value = KINDS[kind]()
            value.n = 0
            sides.append(programs(value)[k])
        (plain, *given), (function, *others) = sides
        decorated = al.function(function)
        for _ in range(3):
            x = np.array([2.0])
            assert decorated(x, *others) == plain(x, *given), function.__name__


def test_what_the_library_itself_calls_so_stays_in_the_graph():
    """A program's own ``self.name = ...`` says nothing of a logger, which has a name, too."""
    log = logging.getLogger("autoloop.test.foreign")

    class Own:
        def __init__(self):
            self.name, self.level = "", 0

    one = Own()

    @al.function
    def step(x):
        one.name, one.level = "new", one.level + 1
        log.debug("at %d", one.level)
        return x * one.level

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [step(np.ones(1))[0] for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("kind", [*sorted(KINDS.keys() - {"module"}), "variable"])
def test_an_attribute_that_the_object_did_not_have(kind):
    value = al.Variable(1.0) if kind == "variable" else KINDS[kind]()

    def given(x, one):
        one.n = x[0]
        return x * 2

    def kept(x, one=value):
        one.m = x[1]
        return x * 2

    decorated = al.function(given), al.function(kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for number in (1.0, 2.0):
            array = np.array([number, 3 * number])
            for f, more in zip(decorated, [(value,), ()]):
                np.testing.assert_array_equal(f(array, *more), array * 2)
            assert (type(value.n), value.n, value.m) == (np.float64, number, 3 * number)
