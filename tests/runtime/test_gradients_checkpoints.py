"""``gradient_memory="checkpoint"``: the same gradients from a few saved iterations."""

from __future__ import annotations

import tracemalloc

import autoloop as al
import numpy as np
import pytest
from autoloop.differentiation import grad, gradients, value_and_grad
from autoloop_runtime.gradients.checkpoints import Checkpoints
from gradient_checks import zeros_for_none
from hypothesis import given
from hypothesis import strategies as st
from test_gradients_loops import PROGRAMS, A, X

#: reading such an element is an effect
EFFECTS = {"array_read_once"}


@pytest.mark.parametrize("mode", ["checkpoint", 2, 5])
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - EFFECTS))
def test_same_gradients(name, mode):
    f, arrays = PROGRAMS[name]
    arrays = [np.asarray(a, float) for a in arrays]
    results = []
    for how in (None, mode):

        @al.function(autograph=False, gradient_memory=how)
        def g(*xs):
            return gradients(f(*xs), list(xs))

        results.append(zeros_for_none(g(*arrays), arrays))
    for saved, again in zip(*results):
        np.testing.assert_allclose(again, saved, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["fixed_trip_count", "while_in_while", "cond_in_while", "variable_that_never_changes"])
def test_second_order(name):
    f, arrays = PROGRAMS[name]
    results = []
    for how in (None, "checkpoint"):

        @al.function(autograph=False, gradient_memory=how)
        def g(*xs):
            first = gradients(f(*xs), list(xs))
            return gradients(sum([al.sum(al.sin(s)) for s in first]), list(xs))

        results.append(zeros_for_none(g(*arrays), arrays))
    for saved, again in zip(*results):
        np.testing.assert_allclose(again, saved, rtol=1e-11, atol=1e-13)


def recurrence(n, **options):
    def f(a, x):
        for _ in al.range(n):
            al.set_loop_options(**options)
            x = al.sin(x) * a
        return al.reduce_sum(x)

    return f


def test_bit_for_bit_and_on_every_executor():
    a = np.linspace(0.9, 1.1, 16, dtype=np.float32)
    for n in (0, 1, 2, 7, 100):
        expected = al.function(value_and_grad(recurrence(n)))(a, a)
        for executor in ("sequential", "dataflow"):
            g = al.function(value_and_grad(recurrence(n, gradient_memory="checkpoint")), executor=executor)
            for found, e in zip(g(a, a), expected):
                np.testing.assert_array_equal(found, e)


def test_memory_grows_with_the_square_root():
    x = np.linspace(0.5, 1.0, 1000, dtype=np.float32)
    args = [al.constant(np.ones_like(x)), al.constant(x)]
    g = al.function(value_and_grad(recurrence(2_000, gradient_memory="checkpoint")))
    g(*args)
    tracemalloc.start()
    try:
        g(*args)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * np.sqrt(2_000) * x.nbytes  # all of them would be 2,000


def test_a_loop_decides_for_itself():
    def f(x):
        for _ in al.range(3):
            al.set_loop_options(gradient_memory="save")
            x = al.sin(x)
        return al.sum(al.while_loop(lambda x: al.sum(x) < 50.0, lambda x: x * x + 1.0, [x], gradient_memory=3)[0])

    g = al.function(grad(f), gradient_memory="checkpoint")
    np.testing.assert_allclose(g(X), al.function(grad(f))(X), rtol=1e-12)
    names = {n.op.name for n in walk(g.get_concrete_function(X).runner.graph)}
    assert {"StackPush", "AddCheckpoint"} <= names


def walk(graph):
    for node in graph.nodes:
        yield node
        for below in node.subgraphs:
            yield from walk(below)


def test_derivatives_with_regard_to_values_that_the_function_closes_over():
    w = al.constant(1.1)
    with al.GradientTape() as tape:
        tape.watch(w)
        y = al.while_loop(
            lambda i, x: i < 9, lambda i, x: (i + 1, al.sin(x) * w), (0, 0.7), gradient_memory="checkpoint"
        )[1]
    checkpointed = tape.gradient(y, w)
    with al.GradientTape() as tape:
        tape.watch(w)
        y = al.while_loop(lambda i, x: i < 9, lambda i, x: (i + 1, al.sin(x) * w), (0, 0.7))[1]
    np.testing.assert_allclose(checkpointed, tape.gradient(y, w), rtol=1e-6)


def test_a_body_with_effects_is_refused():
    @al.function(gradient_memory="checkpoint")
    def f(x):
        def loss(x):
            for i in al.range(3):
                print(i)
                x = al.sin(x)
            return al.sum(x)

        return grad(loss)(x)

    with pytest.raises(ValueError, match=r"(?s)runs the loop's body again.*print.*test_gradients_checkpoints.py"):
        f(X)


def test_the_argument_is_checked():
    for wrong, error in (("all", TypeError), (1.5, TypeError), (True, TypeError), (1, ValueError)):
        with pytest.raises(error, match="gradient_memory"):
            al.function(lambda x: x, gradient_memory=wrong)
        with pytest.raises(error, match="gradient_memory"):
            al.while_loop(lambda x: x < 1.0, lambda x: x, [A[0]], gradient_memory=wrong)


@given(st.integers(0, 300), st.one_of(st.none(), st.integers(2, 20)))
def test_checkpoints_are_at_equal_intervals_and_few(n, most):
    kept = Checkpoints(most)
    for t in range(n):
        kept.add(t, t)
    k = kept.interval
    assert kept.values == list(range(0, n, k))
    assert len(kept.values) <= (most or 2 * k)
    if most is None:
        assert k <= max(1, np.sqrt(2 * n))
