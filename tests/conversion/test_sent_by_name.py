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

    def slowly(self, x):
        return x + self.by

    quickly = function(slowly, executor="sequential")


class Doubled(Scale):
    @function
    def times(self, x):
        return super().times(x) * 2

    @property
    def singly(self):
        return super().times


def test_public_functions_are_found_again_by_name():
    lost = []
    for name in dir(autoloop):
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


def test_a_method_is_found_where_it_stands():
    # of plain functions Python sends the name alone: another method, where it is hidden or stands under another name
    for method in (Scale(2.0).quickly, Doubled(3.0).singly, Doubled(3.0).times, Scale(2.0).times):
        for made in (pickle.loads(pickle.dumps(method)), copy.deepcopy(method)):
            assert (made(5.0), made.executor, repr(made)[:26]) == (method(5.0), method.executor, repr(method)[:26])


def values():
    """What is a value, and what it is compared by."""
    as_arrays = lambda one: [np.asarray(x).tolist() for x in autoloop.nest.flatten(one, True)]  # noqa: E731
    return {
        "tensor": (autoloop.constant([[1.0, 2.0]]), lambda t: (t.numpy().tolist(), t.dtype, t.shape)),
        "scalar": (autoloop.constant(3), lambda t: (int(t), t.dtype, type(t.numpy()))),
        "key": (autoloop.random.key(7), lambda key: autoloop.random.normal([2], key=key).numpy().tolist()),
        "spec": (autoloop.TensorSpec([None, 2], "int32", "x"), lambda one: (repr(one), one)),
        "shape": (autoloop.TensorShape([None, 3]), lambda one: one),
        "sparse": (autoloop.SparseTensor([[0, 1]], [2.0], [2, 2]), as_arrays),
        "slices": (autoloop.IndexedSlices([[1.0]], [0], [3, 1]), as_arrays),
        "sparse_spec": (autoloop.SparseTensorSpec([2, None], "float64"), repr),
        "slices_spec": (autoloop.IndexedSlicesSpec([None, 2], "float32"), repr),
        "variable": (autoloop.Variable([1.0], name="w"), lambda one: (one.name, one.numpy().tolist())),
        "drawing": (autoloop.draw(twice, 1.0), lambda one: one.dot),
        "explanation": (autoloop.explain(twice, 1.0), str),
    }


def test_values_are_pickled_in_every_protocol():
    for name, (value, seen) in values().items():
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            made = pickle.loads(pickle.dumps(value, protocol))
            assert type(made) is type(value) and seen(made) == seen(value), name
        assert seen(copy.copy(value)) == seen(copy.deepcopy(value)) == seen(value)


def test_large_tensors_are_sent_beside_the_pickle():
    tensor, buffers = autoloop.constant(np.arange(1000.0)), []
    text = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    assert len(text) < 500
    np.testing.assert_array_equal(pickle.loads(text, buffers=buffers).numpy(), tensor.numpy())


def test_what_is_of_this_process_says_so():
    with autoloop.Graph().as_default() as graph:
        x = autoloop.placeholder("float32", [2], name="x")
    refused = {
        "'x:0'.* is symbolic.* cannot be used as a pickle": x, "a graph is not pickled": graph,
        "an operation of a graph is not pickled": x.op, "a Session is not pickled": autoloop.Session(graph=graph),
        "a GradientTape is not pickled": autoloop.GradientTape(),
        "a TensorArray is not pickled; send .* array.stack()": autoloop.TensorArray("float32", 1).write(0, 1.0),
    }  # fmt: skip
    for words, one in refused.items():
        for protocol in (0, 5):
            with pytest.raises(TypeError, match=words):
                pickle.dumps([one], protocol)
    array = list(refused.values())[-1]
    assert copy.copy(array) is copy.deepcopy(array) is array and copy.copy(graph).nodes is graph.nodes


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
