"""``gradient_memory="checkpoint"``: the same gradients from a few saved iterations."""

from __future__ import annotations

import functools
import tracemalloc
from itertools import product

import autoloop as al
import numpy as np
import pytest
from api import Growing, Limited, checkpoints
from autoloop.differentiation import grad, gradients, value_and_grad
from each_case import each
from executors import needs_native, spread
from gradient_checks import zeros_for_none
from hypothesis import given
from hypothesis import strategies as st
from test_gradients_loops import PROGRAMS, A, X


@pytest.fixture(autouse=True)
def short_segments(monkeypatch):
    """As many iterations as there are checkpoints, also where what they compute is small."""
    monkeypatch.setattr(checkpoints, "SEGMENT", 0)


#: reading such an element is an effect
EFFECTS = {"array_read_once"}


NAMES = sorted(PROGRAMS.keys() - EFFECTS)


@functools.cache
def found_by(name, mode, order=1):
    """The gradients of a program, of the first order or the second."""
    f, arrays = PROGRAMS[name]
    arrays = [np.asarray(a, float) for a in arrays]

    @al.function(autograph=False, gradient_memory=mode)
    def g(*xs):
        first = gradients(f(*xs), list(xs))
        return first if order == 1 else gradients(sum([al.sum(al.sin(s)) for s in first]), list(xs))

    return zeros_for_none(g(*arrays), arrays)


@spread("name", [(name,) for name in NAMES], NAMES, ["checkpoint", 2, 5], always=["checkpoint"], called="mode")
def test_same_gradients(name, mode):
    for saved, again in zip(found_by(name, None), found_by(name, mode), strict=True):
        np.testing.assert_allclose(again, saved, rtol=1e-12, atol=1e-14)


@each(
    product(["fixed_trip_count", "while_in_while", "cond_in_while", "variable_that_never_changes"], ["checkpoint", 2])
)
def test_second_order(name, mode):
    for saved, again in zip(found_by(name, None, 2), found_by(name, mode, 2), strict=True):
        np.testing.assert_allclose(again, saved, rtol=1e-11, atol=1e-13)


def recurrence(n, **options):
    def f(a, x):
        for _ in al.range(n):
            al.set_loop_options(**options)
            x = al.sin(x) * a
        return al.reduce_sum(x)

    return f


@each(["checkpoint", 2, 5])
def test_bit_for_bit_and_on_every_executor(mode):
    a = np.linspace(0.9, 1.1, 16, dtype=np.float32)

    def f(a, x, n):
        i = 0
        while i < n:
            x = al.sin(x) * a
            i += 1
        return al.reduce_sum(x)

    for executor in ("sequential", "dataflow"):
        g = al.function(value_and_grad(f), executor=executor, gradient_memory=mode)
        saving = al.function(value_and_grad(f), executor=executor)
        for n in (0, 1, 2, 7, 60):
            for found, expected in zip(g(a, a, np.int32(n)), saving(a, a, np.int32(n))):
                np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("code_is_kept")
@pytest.mark.parametrize("size", [0, 1000, 3000])
@pytest.mark.parametrize("executor", ["sequential", "dataflow", pytest.param("native", marks=needs_native)])
def test_segments_of_any_length(executor, size, monkeypatch):
    monkeypatch.setattr(checkpoints, "SEGMENT", size)

    def f(a, x, n):
        for _ in al.range(n):
            if x > 0.5:
                x = a * x * (1.0 - x)
            else:
                x = x + 0.3 * al.sin(a * x)
        return x

    again = al.function(value_and_grad(f, (0, 1)), executor=executor, gradient_memory=2)
    saving = al.function(value_and_grad(f, (0, 1)), executor=executor)
    for n in (0, 1, 2, 3, 8, 9, 61):
        args = np.float64(3.7), np.float64(0.4), np.int32(n)
        for found, expected in zip(al.nest.flatten(again(*args)), al.nest.flatten(saving(*args))):
            np.testing.assert_array_equal(found, expected)


def segment_of(step, x, size, monkeypatch):
    """How long the segments of a loop over ``step`` are with three checkpoints; those of an inner one are longer."""
    monkeypatch.setattr(checkpoints, "SEGMENT", size)

    def f(x):
        for i in al.range(9):
            x = step(x, i)
        return al.sum(x)

    graph = al.function(grad(f), gradient_memory=3).get_concrete_function(x).runner.graph
    return min(node.attrs["interval"] for node in walk(graph) if node.op.name == "AddCheckpoint")


def test_segments_are_long_where_all_that_is_computed_is_small(monkeypatch):
    square, small = lambda x, i: x * x, np.float64(0.5)
    inner = lambda x, i: al.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y * 0.5), (0, x))[1]
    large = lambda x, i: al.sum(al.fill([1000], x) * al.range(1000.0))
    assert 300 < segment_of(square, small, 1 << 16, monkeypatch) < 1000
    assert segment_of(square, small, 300, monkeypatch) == 3
    assert segment_of(square, np.full(1000, 0.5), 1 << 16, monkeypatch) < 6
    assert segment_of(square, al.TensorSpec([None], al.float64), 1 << 16, monkeypatch) == 3
    assert segment_of(inner, small, 1 << 16, monkeypatch) == 3  # who knows how much that computes
    assert segment_of(large, small, 1 << 16, monkeypatch) == 3


def test_the_third_derivative_through_a_replay():
    @al.function
    def f(x):
        for _ in al.range(9):
            al.set_loop_options(gradient_memory=2)
            x = al.sin(x) * 1.1
        return x

    def by_hand(x):
        for _ in range(9):
            x = np.sin(x) * 1.1
        return x

    # derivatives of an analytic function, from its values on a circle
    turns = np.exp(2j * np.pi * np.arange(64) / 64)
    taylor = np.fft.fft(by_hand(0.7 + 0.2 * turns)) / 64
    np.testing.assert_allclose(grad(grad(grad(f)))(np.float64(0.7)), 6 * taylor[3].real / 0.2**3, rtol=1e-9)


def peak_in_values(mode, n):
    """How many values of the loop variable are held at once while a gradient is taken."""
    # large, so that what else the interpreter happens to make is little of one
    x = np.linspace(0.5, 1.0, 8000, dtype=np.float32)
    args = [al.constant(np.ones_like(x)), al.constant(x)]
    # in generated Python: a compiler at work beside it takes memory, too
    g = al.function(value_and_grad(recurrence(n, gradient_memory=mode)), executor="sequential")
    g(*args)
    peaks = []
    for _ in range(3):  # what other threads of the process make meanwhile only adds
        tracemalloc.start()
        try:
            g(*args)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks) / x.nbytes


@pytest.mark.auto
def test_memory_grows_with_the_square_root():
    assert peak_in_values("checkpoint", 2_000) < 4 * np.sqrt(2_000)  # all of them would be 2,000


@pytest.mark.auto
def test_a_number_of_checkpoints_bounds_the_memory_of_any_number_of_iterations():
    assert peak_in_values(5, 800) < peak_in_values(5, 200) + 3 < 2 * 5 + 18


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


@given(st.integers(0, 300))
def test_checkpoints_are_at_equal_intervals_and_few(n):
    kept = Growing()
    for t in range(n):
        kept.add(t, t)
    k = kept.interval
    assert kept.values == list(range(0, n, k)) and kept.due == len(kept.values) * k
    assert len(kept.values) <= 2 * k and k <= max(1, np.sqrt(2 * n))


# -- which checkpoints to keep ----------------------------------------------------------------------------


def backward_runs(steps, most, *, known):
    """How many steps are run while going back through ``steps`` steps, the sweep before it counted if it is ``known``.

    In that case the checkpoints of the first sweep are chosen in the knowledge of where it ends.
    """
    kept = Limited(most, 1)
    for t in range(min(steps, 1) if known else steps):
        kept.add(t, t)
    runs = 0
    for s in reversed(range(steps)):
        start = kept.latest(s)
        assert kept.value(start) == start
        kept = kept.rewound(s)
        for t in range(start, s):
            kept.add(t, t)
            runs += 1
            assert len(kept.values) <= most
    return runs


@functools.cache
def fewest(steps, most):
    """By trying all places for the next checkpoint."""
    if most == 1 or steps < 2:
        return steps * (steps - 1) // 2
    return min(m + fewest(m, most) + fewest(steps - m, most - 1) for m in range(1, steps))


@each([2, 3, 7])
def test_replays_are_the_fewest(most):
    for steps in (0, 1, 2, 3, 8, 30, 61):
        assert backward_runs(steps, most, known=True) == fewest(steps, most)


@given(st.integers(0, 200), st.integers(2, 20))
def test_not_knowing_the_end_costs_little(steps, most):
    assert backward_runs(steps, most, known=False) <= 1.25 * backward_runs(steps, most, known=True) + 1


@al.custom_gradient
def doubled_sine(x):
    unused = al.cos(x)
    return al.sin(x) * 2.0, lambda g: g * 2.0 * unused + 0.0 * x


@each(["checkpoint", 2])
def test_a_gradient_of_the_users_own_may_use_what_it_saw(memory):
    def f(x, memory, inner):
        def again(j, z):
            return j + 1, al.cond(j % 2 == 0, lambda: doubled_sine(z) * 0.4, lambda: z + x)

        def body(i, y):
            return i + 1, al.while_loop(lambda j, z: j < 3, again, (0, doubled_sine(y) * x), gradient_memory=inner)[1]

        return al.sum(al.while_loop(lambda i, y: i < 5, body, (0, x), gradient_memory=memory)[1])

    x = np.array([0.3, -0.7])
    saved, *again = [
        np.asarray(al.function(lambda x, a=a, b=b: grad(lambda x: f(x, a, b))(x), autograph=False)(x))
        for a, b in [("save", "save"), (memory, "save"), (memory, memory)]
    ]
    for found in again:
        np.testing.assert_allclose(found, saved, rtol=1e-12)


@each(["save", "checkpoint"])
def test_second_derivatives_of_a_gradient_of_the_users_own(memory):
    def f(x):
        step = lambda i, y: (i + 1, doubled_sine(y) * x)
        return al.sum(al.while_loop(lambda i, y: i < 5, step, (0, x), gradient_memory=memory)[1])

    first = al.function(lambda x: grad(f)(x), autograph=False)
    second = al.function(lambda x: grad(lambda x: al.sum(grad(f)(x)))(x), autograph=False)
    x = np.array([0.3, -0.7])
    steps = [(np.asarray(first(x + h)) - np.asarray(first(x - h))) / 2e-6 for h in np.eye(2) * 1e-6]
    np.testing.assert_allclose(np.asarray(second(x)), np.sum(steps, 1), rtol=1e-6)
