"""Variables that a function makes: with what its own code computes, anew in each run that comes there."""

from __future__ import annotations

import threading

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS


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


def reset_between(f):
    """An attribute is None again, and the variable that a run has left there is somebody else's."""
    layer, x = Layer(), al.constant([1.0, 2.0])
    ends = [f(layer, x)]
    first, layer.w = layer.w, None
    ends += [f(layer, x * 3.0), f(layer, x)]
    first.assign_add(x * 100.0)
    return [one.numpy().tolist() for one in (*ends, f(layer, x), first, layer.w)], layer.w is first


def appended(f):
    lists = [f([], al.constant(x)) for x in (1.0, 5.0)]
    lists[1][0].assign_add(10.0)
    return [float(v) for one in lists for v in one], len({id(v) for one in lists for v in one})


def to_a_list(made, x):
    for k in range(2):
        made.append(al.Variable(x + k))
        made[-1].assign_add(1.0)
    return made


class Named(al.Variable):
    """One with more to it."""

    def twice(self):
        return self.read_value() * 2.0


def of_a_class(made, x):
    made.append(Named(x, name="own"))
    made[-1].assign_add(made[-1].twice())
    return made


@each(
    [(ex, run, f) for ex in EXECUTORS for run, f in (
        (reset_between, zeros_of_the_input), (reset_between, what_an_argument_says), (appended, to_a_list),
        (appended, of_a_class))]
)  # fmt: skip
def test_each_run_leaves_variables_of_its_own(executor, run, f):
    """They were one, which a later run changed."""
    assert run(al.function(f, executor=executor)) == run(f)


@each(["auto", "dataflow", "sequential"])
def test_runs_at_one_time_have_each_its_own(executor):
    """What one thread had added was in what another got."""
    meet = threading.Barrier(2, timeout=30)

    def waits(value):
        meet.wait()
        return value

    @al.function(executor=executor)
    def f(x):
        v = al.Variable(x * 0.0)
        for _ in al.range(3):
            v.assign_add(x)
            seen = al.py_function(waits, [x], al.float32)
            v.assign_add(seen)
        return v * 1.0

    ends = {}
    threads = [threading.Thread(target=lambda x=x: ends.update({x: float(f(al.constant(x)))})) for x in (1.0, 10.0)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert ends == {1.0: 6.0, 10.0: 60.0}


def test_a_function_that_is_left_and_asks_for_a_variable_asks_for_the_one_that_is_left():
    def f(made, x):
        v = al.Variable(x)
        made["ask"], made["it"] = lambda: v.read_value() * 1.0, v
        return v * 1.0

    def run(f):
        made = [{}, {}]
        ends = [float(f(one, al.constant(x))) for one, x in zip(made, (1.0, 2.0))]
        for one in made:
            one["it"].assign_add(5.0)
        return ends, [float(one["ask"]()) for one in made]

    with pytest.warns(UserWarning, match="AL010"):
        assert run(al.function(f)) == run(f)
