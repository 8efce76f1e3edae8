"""A decorated function called under a tape: what machine code cannot hand out it computes again, and all else agrees.

The oracle is the same program under ``sequential``, which saves values as it always did, and ``value_and_grad`` in one
graph.
"""

from __future__ import annotations

import functools
import math
from itertools import product

import autoloop as al
import numpy as np
import pytest
from api import automatic, background, compiled_calls
from api import tier_up as later
from each_case import each
from executors import EXECUTORS, needs_native, spread

F64 = al.float64
N = np.int64(6)
SIGNATURE = [al.TensorSpec([None], F64), al.TensorSpec([], F64), al.TensorSpec([], al.int64)]
ARRAY = np.array([0.3, 0.7, 1.1])


@al.custom_gradient
def tripled(x):
    return x * x, lambda g: 3.0 * g * x


def waves(x, c, n):
    i = 0
    y = x
    while i < n:
        y = al.sin(c * y) + 0.1 * tripled(y)
        i += 1
    return al.sum(y), y * x, i


def branching(x, c, n):
    i = 0
    y = x
    while i < n:
        if al.sum(y) > 1.0:
            y = c * y * (1.0 - y)
        else:
            y = y + 0.3 * al.sin(c * y)
        i += 1
    return al.sum(y), y, i


def collected(x, c, n):
    i = 0
    rows = al.TensorArray(F64, 6)
    y = x
    while i < n:
        y = al.exp(-c * y)
        rows = rows.write(i, y)
        i += 1
    return al.sum(rows.stack()), y, i


def nested(x, c, n):
    i = 0
    y = x
    while i < n:
        j = 0
        while j < i:
            y = al.sin(c * y)
            j += 1
        i += 1
    return al.sum(y), y + x, i


PROGRAMS = [waves, branching, collected, nested]


def floats(structure):
    """Nested lists of arrays; ``None`` stays."""
    return [None if x is None else np.asarray(x) for x in al.nest.flatten(structure)]


def agree(found, expected):
    found, expected = floats(found), floats(expected)
    assert [x is None for x in found] == [x is None for x in expected]
    for a, b in zip(found, expected):
        if a is not None:
            np.testing.assert_allclose(a, b, 1e-9, 1e-12)


@pytest.fixture
def ways(monkeypatch):
    """Of each recorded run, whether its way back computes it again."""
    for f in (waves, nested):
        saved(f, None)  # what is compared with is not counted
    seen = []
    way = compiled_calls.Recorded.way

    def watched(self, values):
        seen.append(way(self, values).again)
        return way(self, values)

    monkeypatch.setattr(compiled_calls.Recorded, "way", watched)
    return seen


@pytest.fixture
def at_once(monkeypatch):
    """Machine code is asked for at once, and is there when it is looked for again."""
    monkeypatch.setattr(later, "price", lambda nodes: 0.0)
    monkeypatch.setattr(automatic, "SMALLEST", 0.0)
    monkeypatch.setattr(background, "submit", lambda job: job() is None)


# -- the same derivatives -----------------------------------------------------------------------------------


def orders(f, executor, memory=None):
    """First and second derivatives by tapes, with all their doors."""
    f = al.function(f, executor=executor, gradient_memory=memory)
    x, c, unused = (al.constant(v, F64) for v in (ARRAY, 0.9, 1.0))
    with al.GradientTape(persistent=True) as outer:
        outer.watch([x, c])
        with al.GradientTape(persistent=True) as tape:
            tape.watch([x, c, unused])
            total, rows, i = f(x, c, N)
        first = [tape.gradient(y, [x, c, unused]) for y in (total, rows, [total, rows], i)]
        seeded = tape.gradient(rows, [x, c], al.constant([1.0, -2.0, 3.0], F64))
    second = [outer.gradient(g, [x, c]) for g in (first[0][0], seeded[1])]
    return [total, rows, i, first, seeded, second, tape.jacobian(rows, [x, c])]


@functools.cache
def saved(f, memory):
    return orders(f, "sequential", memory)


CASES = [*[(f, None) for f in PROGRAMS], (waves, 2), (collected, "checkpoint")]
OTHERS = [e for e in EXECUTORS if e != "sequential"]


@spread("f, memory", CASES, [f"{f.__name__}-{memory}" for f, memory in CASES], OTHERS)
def test_tapes_around_a_call(executor, f, memory):
    agree(orders(f, executor, memory), saved(f, memory))


@each(product(EXECUTORS, PROGRAMS))
def test_a_tape_finds_what_one_graph_does(executor, f):
    one = al.function(al.value_and_grad(lambda x, c: f(x, c, N)[0], (0, 1)), executor=executor)
    value, slopes = one(ARRAY, np.float64(0.9))
    agree([saved(f, None)[0], saved(f, None)[3][0][:2]], [value, slopes])


@each(EXECUTORS)
def test_vjp_jacobian_and_gradients_of_gradients(executor):
    f = al.function(waves, executor=executor)
    c = al.constant(0.9, F64)
    total, rows, _, first, seeded, second, matrix = saved(waves, None)
    value, back = al.vjp(lambda x: f(x, c, N)[:2], al.constant(ARRAY, F64))
    agree([value, back((al.constant(1.0, F64), al.zeros_like(rows)))], [(total, rows), first[0][0]])
    agree(back((al.constant(0.0, F64), al.constant([1.0, -2.0, 3.0], F64))), seeded[0])
    agree(al.jacobian(lambda x: f(x, c, N)[1])(ARRAY), matrix[0])
    slope = al.grad(lambda x: al.sum(al.grad(lambda z: f(z, c, N)[0])(x)))
    agree(slope(al.constant(ARRAY, F64)), second[0][0])


def with_a_variable(executor):
    """Derivatives by an argument, a variable that has changed since the call, and a constant; also asked in a trace."""
    scale, near, x = al.Variable(np.float64(1.2)), al.constant(0.8, F64), al.constant(0.7, F64)

    @al.function(executor=executor)
    def f(x, n):
        i = 0
        while i < n:
            x = al.sin(x * scale) * near
            i += 1
        return x

    with al.GradientTape(persistent=True) as outer:
        outer.watch([x, near])
        with al.GradientTape(persistent=True) as tape:
            tape.watch([x, near])
            y = f(x, N)
        scale.assign(5.0)
        first = tape.gradient(y, [x, scale, near])
        traced = al.function(lambda seed: tape.gradient(y, x, seed), executor=executor)(al.constant(2.0, F64))
    return y, first, traced, [outer.gradient(g, [x, scale, near]) for g in (*first, traced)]


@each(EXECUTORS)
def test_variables_and_constants_are_those_of_the_call(executor):
    y, first, traced, second = with_a_variable(executor)
    agree([y, first, traced, second], with_a_variable("sequential"))
    agree([traced, second[3]], [2 * float(first[0]), [2 * float(g) for g in second[0]]])
    assert math.isclose(float(y), functools.reduce(lambda v, _: math.sin(1.2 * v) * 0.8, range(N), 0.7))


@each(EXECUTORS)
def test_an_argument_that_is_changed_after_the_call(executor):
    given = ARRAY.copy()

    def f(x, given, n):
        i = 0
        while i < n:
            x = al.sin(x * al.sum(given))
            i += 1
        return x

    x = al.constant(0.4, F64)
    with al.GradientTape() as tape:
        tape.watch(x)
        y = al.function(f, executor=executor)(x, given, N)
    given[:] = 9
    slope = float(tape.gradient(y, x))
    factor, value, expected = ARRAY.sum(), 0.4, 1.0
    for _ in range(N):
        expected *= factor * math.cos(value * factor)
        value = math.sin(value * factor)
    assert math.isclose(slope, expected, rel_tol=1e-9)


# -- which way ----------------------------------------------------------------------------------------------


@needs_native
@pytest.mark.parametrize("signature", [None, SIGNATURE])
def test_machine_code_computes_again(ways, signature):
    f = al.function(nested, input_signature=signature, executor="native")
    x, c = al.constant(ARRAY, F64), al.constant(0.9, F64)
    with al.GradientTape() as tape:
        tape.watch([x, c])
        total, _, _ = f(x, c, N)
    agree(tape.gradient(total, [x, c]), saved(nested, None)[3][0][:2])
    assert ways == [True]


def test_what_is_interpreted_saves(ways):
    for executor in ("sequential", "dataflow"):
        f, x = al.function(lambda x: waves(x, 0.9, N)[0], executor=executor), al.constant(ARRAY, F64)
        with al.GradientTape() as tape:
            tape.watch(x)
            total = f(x)
        agree(tape.gradient(total, x), saved(waves, None)[3][0][0])
    assert ways == [False, False]


@needs_native
def test_what_machine_code_can_hand_out_is_saved(ways):
    f = al.function(lambda x: al.sum(al.sin(x) * x), executor="native")
    x = al.constant(ARRAY, F64)
    with al.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    agree(tape.gradient(y, x), np.cos(ARRAY) * ARRAY + np.sin(ARRAY))
    assert ways == [False]


@pytest.mark.parametrize("executor", [e for e in EXECUTORS if e != "native"])
def test_effects_happen_once(executor, at_once, ways):
    count, told = al.Variable(np.int64(0)), []

    def f(x, n):
        i = 0
        while i < n:
            count.assign_add(1)
            al.py_function(told.append, [i], [])
            x = al.sin(x)
            i += 1
        return x

    f = al.function(f, executor=executor)
    x = al.constant(0.5, F64)
    for call in range(1, 4):
        with al.GradientTape() as tape:
            tape.watch(x)
            y = f(x, N)
        assert math.isclose(float(tape.gradient(y, x)), float(slope_of_sines(0.5)), rel_tol=1e-12)
        assert (int(count.numpy()), len(told)) == (call * N, call * N)
    assert not any(ways)


def slope_of_sines(x):
    slope = 1.0
    for _ in range(N):
        x, slope = math.sin(x), slope * math.cos(x)
    return slope


@needs_native
@pytest.mark.auto
@pytest.mark.parametrize(
    "signature", [None, [al.TensorSpec(s, d) for s, d in [([None], F64), ([], F64), ([], al.int64)]]]
)
def test_auto_saves_until_there_is_machine_code_for_both_ways(at_once, ways, signature):
    f = al.function(waves, input_signature=signature)
    x, c = al.constant(ARRAY, F64), al.constant(0.9, F64)
    for _ in range(12):
        with al.GradientTape() as tape:
            tape.watch([x, c])
            total, _, _ = f(x, c, N)
        agree(tape.gradient(total, [x, c]), saved(waves, None)[3][0][:2])
    assert not ways[0] and ways[-1]
    assert sorted(ways) == ways  # it does not go to and fro
