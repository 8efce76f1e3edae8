"""Variables that a function makes: with what its own code computes, anew in each run that comes there."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each

EXECUTORS = ["auto", "dataflow", "sequential", "native"]


class Layer:
    """Weights that are made when the first input is seen."""

    def __init__(self):
        self.w = None


def zeros_of_the_input(layer, x):
    if layer.w is None:
        layer.w = al.Variable(al.zeros([x.shape[-1]]) + 2.0, name="w")
    layer.w.assign_add(x)
    return layer.w * 1.0


def what_an_argument_says(layer, x):
    if layer.w is None:
        layer.w = al.Variable(x * 3.0)
    return layer.w + x


def numpys_arrays(layer, x):
    if layer.w is None:
        layer.w = al.Variable(np.full(2, 0.5) + np.arange(2))
    layer.w.assign_add(al.cast(x, al.float64))
    return layer.w * 1.0


def of_its_own(layer, x):
    v = al.Variable(1.0)
    v.assign_add(al.sum(x))
    return v * 1.0


@each([(ex, f) for ex in EXECUTORS for f in (zeros_of_the_input, what_an_argument_says, numpys_arrays, of_its_own)])
def test_a_variable_begins_with_what_the_function_computes(executor, f):
    plain, made = Layer(), Layer()
    decorated = al.function(f, executor=executor)
    for x in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]):
        wanted, got = f(plain, al.constant(x)), decorated(made, al.constant(x))
        assert wanted.numpy().tolist() == got.numpy().tolist()
        assert wanted.dtype == got.dtype
    if plain.w is not None:
        assert plain.w.numpy().tolist() == made.w.numpy().tolist()
        assert (plain.w.name, plain.w.dtype, plain.w.shape) == (made.w.name, made.w.dtype, made.w.shape)


@each(["auto", "dataflow", "sequential"])
def test_random_weights_are_drawn_once_and_in_their_order(executor):
    def first(layer, x):
        before = al.random.uniform([1])
        if layer.w is None:
            layer.w = al.Variable(al.random.normal([2, 2], stddev=0.1))
        return before + al.sum(layer.w @ x) + al.random.uniform([1])

    def run(f):
        layer = Layer()
        al.random.set_seed(4)
        return [f(layer, al.ones([2, 2])).numpy().tolist() for _ in range(3)], layer.w.numpy().tolist()

    assert run(al.function(first, executor=executor)) == run(first)


@each(["auto", "dataflow", "sequential"])
def test_a_variable_made_in_a_loop_begins_anew_in_each_iteration(executor):
    def f(x):
        total = al.constant(0.0)
        for _ in al.range(3):
            v, w = al.Variable(1.0), al.Variable(x * 2.0)
            v.assign_add(x)
            w.assign_add(v)
            total = total + w
        return total

    decorated = al.function(f, executor=executor)
    assert [float(decorated(al.constant(x))) for x in (2.0, 3.0)] == [float(f(al.constant(x))) for x in (2.0, 3.0)]


def test_a_variable_that_only_runs_make_has_no_value_before():
    made = []

    @al.function
    def f(x):
        made.append(al.Variable(x + 1.0))
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        f(al.constant(1.0))
    assert not made or made[0].numpy() == 2.0
