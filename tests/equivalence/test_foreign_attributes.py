"""Attributes that programs give to objects of libraries and of Python's own: plain Python's, however one gets there."""

import contextlib
import fractions
import functools
import json
import logging
import random
import types
import warnings

import autoloop as al
import numpy as np
import pytest


class Own(functools.partial):
    pass


def own_function():
    return 1


#: what is there once, so that each test takes away what it gives
SHARED = {
    "function": lambda: json.dumps,
    "function of NumPy": lambda: np.isscalar,
    "dispatched": lambda: np.linspace,
    "class": lambda: fractions.Fraction,
    "own function": lambda: own_function,
    "decorated": lambda: al.function(own_function),
    "derivative": lambda: al.grad(own_function),
    "module of a library": lambda: json.decoder,
}
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


def readers(one):
    """Return functions that look for an attribute of an object which may not have it."""
    box = [one]

    def tried(x, given):
        try:
            return x * given.k
        except AttributeError:
            return x

    def kept(x, given):
        return x * (box[0].k if hasattr(box[0], "k") else 1)

    def by_default(x, given):
        return x * getattr(given, "k", 1)

    def suppressed(x, given):
        with contextlib.suppress(AttributeError):
            x = x * one.k
        return x

    return tried, kept, by_default, suppressed


@pytest.mark.parametrize("kind", sorted({**KINDS, **SHARED}.keys() - {"random", "logger"}))
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_one_is_given_after_the_first_call(kind):
    one = {**KINDS, **SHARED}[kind]()
    decorated = [(f, al.function(f)) for f in readers(one)]
    x = np.arange(3.0)
    try:
        for k in (None, 2, 3.5, None):
            if k is not None:
                one.k = k
            elif hasattr(one, "k"):
                del one.k
            for plain, function in decorated:
                np.testing.assert_array_equal(function(x, one), plain(x, one), str((plain.__name__, k)))
    finally:
        vars(one).pop("k", None) if not isinstance(one, type) else None


def writers(one):
    """Return functions that give an attribute to an object."""

    def by_name(x):
        one.k = x.sum()
        return x

    def by_text(x):
        setattr(one, "k", int(x[0]))  # noqa: B010
        return x

    def in_a_loop(x):
        i = 0
        while i < x[1]:
            one.k = getattr(one, "k", 0) + 1
            i += 1
        return x * one.k

    def taken_away(x):
        if hasattr(one, "k"):
            delattr(one, "k")  # noqa: B043
        return x

    return by_name, by_text, in_a_loop, taken_away


@pytest.mark.parametrize("kind", sorted(SHARED.keys() - {"own function"}))
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_they_are_given_by_a_decorated_function(kind):
    one, x, found = SHARED[kind](), np.arange(1.0, 4.0), []
    try:
        for decorate in (lambda f: f, al.function):
            said = []
            for f in map(decorate, writers(one)):
                for number in (1.0, 2.0):
                    said.append([*f(x * number), repr(getattr(one, "k", None))])
            found.append(said)
        assert found[0] == found[1]
    finally:
        if hasattr(one, "k"):
            del one.k


class Extended(fractions.Fraction):
    pass


def test_what_a_class_of_a_library_says_is_read_at_each_call():
    def own(x):
        return x * Extended.k + json.decoder.k + json.loads.k

    function, x = al.function(own), np.ones(2)
    try:
        for k in (1, 2.5, 4):
            fractions.Fraction.k = json.decoder.k = json.loads.k = k
            np.testing.assert_array_equal(function(x), own(x))
    finally:
        del fractions.Fraction.k, json.decoder.k, json.loads.k
