"""Public functions and decorated ones are copied, pickled and described as functions are."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import sys

import autoloop
import numpy as np
import pytest
from autoloop.function import function


@function
def twice(x, factor=2):
    """Return it twice."""
    while x < 3:
        x = x * factor
    return x


def plainly(x):
    return x + 1


other = function(plainly, executor="sequential", name="mine")


class Scale:
    def __init__(self, by):
        self.by = by

    @function
    def times(self, x):
        """Return it scaled."""
        return x * self.by

    @staticmethod
    @function
    def fixed(x):
        return x - 1


def test_public_functions_are_found_again_by_name():
    lost = []
    for name in autoloop.__all__:
        value = getattr(autoloop, name)
        if inspect.isroutine(value) or isinstance(value, type):
            is_found = pickle.loads(pickle.dumps(value)) is value and copy.deepcopy(value) is value
            if not (is_found and (isinstance(value, type) or inspect.signature(value)) and inspect.getdoc(value)):
                lost.append(name)
    assert lost == []
    assert "Return" in pydoc.plain(pydoc.render_doc(autoloop.max))


def test_decorated_functions_are_sent_by_name():
    for one in (twice, Scale.times, Scale.fixed):
        assert pickle.loads(pickle.dumps(one)) is one
        assert copy.copy(one) is one and copy.deepcopy([one]) == [one]
    made = pickle.loads(pickle.dumps(other))
    assert type(made) is type(other) and made.options() == other.options()
    assert made.python_function is plainly and made(1) == 2
    assert copy.copy(other) is other
    assert str(inspect.signature(twice)) == "(x, factor=2)" and inspect.getdoc(twice) == "Return it twice."
    assert "twice(x, factor=2)" in pydoc.plain(pydoc.render_doc(twice))


def test_decorated_functions_without_a_name_are_as_pythons():
    nameless = [lambda x: x, function(lambda x: x)]
    for one in nameless:
        with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
            pickle.dumps(one)
        assert copy.deepcopy(one) is one


def test_methods_go_with_their_instance():
    method = Scale(np.float64(3.0)).times
    for made in (pickle.loads(pickle.dumps(method)), copy.copy(method), copy.deepcopy(method)):
        assert made(2) == 6 and made.__self__.by == 3
        assert made.python_function.__func__ is Scale.times.python_function
    assert copy.copy(method).__self__ is method.__self__
    assert copy.deepcopy(method).__self__ is not method.__self__
    assert str(inspect.signature(method)) == "(x)"
    assert sys.modules[__name__].Scale is Scale
