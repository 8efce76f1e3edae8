"""What objects answer by ``__getattr__`` is asked where plain Python asks, and nowhere else."""

import types

import autoloop as al
import numpy as np
import pytest

ASKED = []


class Items(dict):
    """Gives its items as attributes, and raises what a dict raises."""

    __getattr__ = dict.__getitem__

    def __call__(self, x):
        return x * self.k

    def grown(self, x):
        return x + self.k


class Told:
    """Notes what it is asked for, and keeps what it has told."""

    def __getattr__(self, name):
        ASKED.append(name)
        self.__dict__[name] = 2.0
        return 2.0

    def __call__(self, x):
        return x + 1

    def grown(self, x):
        return x + 1


class Named:
    """Has something else under the names of what functions have."""

    __code__ = __func__ = "text"

    def __call__(self, x):
        return x * 2


items, told, named = Items(k=3.0), Told(), Named()


def called_items(x):
    return items(x)


def called_method(x):
    return items.grown(x)


def called_told(x):
    return told(x), told.grown(x)


def called_in_a_loop(x):
    for _ in range(30):
        x = told.grown(told(x))
    return x


def called_argument(x, f=items):
    return f(x)


def called_named(x):
    return named(x)


def copied(f, name=None):
    return types.FunctionType(f.__code__, f.__globals__, name or f.__name__, f.__defaults__, f.__closure__)


def called_copy(x):
    return copied(called_named)(x)


PROGRAMS = (called_items, called_method, called_told, called_in_a_loop, called_argument, called_named, called_copy)


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_is_called_is_not_asked_for_attributes(program):
    def played(function):
        vars(told).clear()
        ASKED.clear()
        return repr([function(np.array([1.0, 2.0])) for _ in range(2)]), dict(vars(told)), list(ASKED)

    assert played(al.function(program)) == played(program)


@pytest.mark.parametrize("given", (items, told, named), ids=lambda given: type(given).__name__)
def test_an_object_that_answers_is_decorated(given):
    vars(told).clear()
    np.testing.assert_array_equal(al.function(given)(np.ones(2)), given(np.ones(2)))
    assert not vars(told)


def test_a_copy_of_a_function_is_made():
    made = al.function(copied)(called_named, "made")
    assert made.__name__ == "made"
    np.testing.assert_array_equal(made(np.ones(2)), 2 * np.ones(2))
