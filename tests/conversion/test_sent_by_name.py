"""Public functions and decorated ones are copied, pickled and described as functions are."""

from __future__ import annotations

import copy
import functools
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


class Walker:
    def __init__(self, decorate):
        self.steps = 0
        self.go = decorate(self.slowly)
        self.at_once = decorate(functools.partial(Walker.slowly, self))

    def slowly(self, x):
        self.steps += 1
        return x * self.steps


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_what_is_made_of_a_method_goes_with_its_instance(way):
    def walked(decorate):
        walker = Walker(decorate)
        walker.go(1.0)
        other = way(walker)
        return [other.go(1.0), other.at_once(2.0), walker.steps, other.steps, walker.go(1.0), other.steps]

    for executor in ("auto", "sequential"):
        assert walked(functools.partial(function, executor=executor)) == walked(lambda f: f)


def test_variables_are_copied_with_their_value():
    variable = autoloop.Variable([1.0, 2.0], trainable=False, name="weights", dtype="float64", shape=[None])
    for made in (copy.deepcopy(variable), pickle.loads(pickle.dumps(variable))):
        assert (made.name, made.dtype, made.trainable) == (variable.name, variable.dtype, False)
        made.assign(np.array([5.0]))
        np.testing.assert_array_equal(made.numpy(), [5.0])
    np.testing.assert_array_equal(variable.numpy(), [1.0, 2.0])
    with autoloop.Graph().as_default(), pytest.raises(TypeError, match="is not copied or pickled in a graph"):
        copy.deepcopy(autoloop.Variable(1.0))
    with pytest.raises(TypeError, match="is not copied or pickled in a graph"):
        function(lambda x: copy.deepcopy(variable) + x)(1.0)


def test_a_trace_is_copied_as_a_function_is_and_never_pickled():
    concrete = twice.get_concrete_function(1.0)
    assert copy.copy(concrete) is copy.deepcopy(concrete) is concrete
    with pytest.raises(TypeError, match="one trace of twice is not pickled; send the decorated function"):
        pickle.dumps(concrete)


def squares(x, by=1.0):
    return (x * x).sum() * by


def each_square(x):
    return x * x


@autoloop.grad
def cubes(x):
    return (x**3).sum()


class Weighted:
    by = 2.0

    def squares(self, x):
        return (x * x).sum() * self.by

    @autoloop.grad
    def same(self, x=0):
        return self * 3.0 + x


DERIVATIVES = {
    "grad": autoloop.grad(squares), "of_second": autoloop.grad(squares, (1, 0)),
    "value_and_grad": autoloop.value_and_grad(squares), "jacobian": autoloop.jacobian(each_square, (0,)),
    "second": autoloop.jacobian(autoloop.grad(squares)), "decorated": autoloop.grad(other),
}  # fmt: skip


def test_derivatives_are_sent_by_what_they_are_of():
    x = np.arange(3.0)
    for name, derivative in DERIVATIVES.items():
        given = (2.0,) if name == "decorated" else (x, 1.5) if name == "of_second" else (x,)
        made = pickle.loads(pickle.dumps(derivative))
        assert type(made) is type(derivative) and copy.copy(derivative) is copy.deepcopy(derivative) is derivative
        np.testing.assert_equal(made(*given), derivative(*given))
        assert pickle.dumps(made) == pickle.dumps(derivative)
    assert pickle.loads(pickle.dumps(cubes)) is cubes
    assert str(inspect.signature(DERIVATIVES["grad"])) == "(x, by=1.0)" and callable(cubes)
    assert repr(autoloop.grad(squares)) == "<autoloop.grad of squares>" and autoloop.grad(squares).__name__ == "squares"
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(autoloop.grad(lambda x: x))


def test_derivatives_of_methods_go_with_their_instance():
    weighted = Weighted()
    derivative = autoloop.grad(weighted.squares)
    sent, copied = pickle.loads(pickle.dumps(derivative)), copy.deepcopy(derivative)
    weighted.by = 5.0
    assert [float(one(np.float64(1.0))) for one in (derivative, sent, copied)] == [10.0, 4.0, 4.0]
    assert float(Weighted.same(2.0)) == 3.0 and type(Weighted().same).__name__ == "method"


FACTOR = 2.0


def scaled(x):
    return (x * x).sum() * FACTOR


slope = autoloop.grad(scaled)


def test_what_the_function_of_a_derivative_finds_is_found_at_each_call(monkeypatch):
    f = function(lambda x: slope(x) + function(slope)(x))
    assert f(np.ones(1)).tolist() == [8.0]
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3.0)
    assert f(np.ones(1)).tolist() == [12.0]
