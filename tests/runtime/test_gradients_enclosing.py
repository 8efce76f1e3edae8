"""Gradients asked for inside a body or a branch, with regard to what lies outside it and through what lies outside it.

The expected numbers are by hand. Those of ``PROGRAMS`` are what TensorFlow 2.x gives in its sessions and, but for
``initial_values_are_no_part_of_it``, where it gives nothing (of shape ``(0,)``), in its functions.
"""

from __future__ import annotations

from itertools import product

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
import pytest
from autoloop.differentiation import GradientTape, grad, gradients, jvp, vjp
from each_case import each
from executors import EXECUTORS

while_loop, constant = al.while_loop, al.constant


def turns(n, body, start=0.0):
    start = constant(start) if isinstance(start, float) else start
    return while_loop(lambda i, s: i < n, lambda i, s: (i + 1, body(s)), (constant(0), start))[1]


def d(y, x, **how):
    return al.convert_to_tensor(gradients(y, x, **how)[0])


def body(x):
    y = x * x
    return turns(3, lambda s: s + d(y * 3.0, x))


def initial_values_are_no_part_of_it(x):
    return turns(3, lambda s: s + d(s * x, x), x * x)


def branch(x):
    y = x * x
    return al.cond(x > 0.0, lambda: d(y * 3.0, x), lambda: x)


def body_in_body(x):
    y = x * x

    def outer(s):
        z = y * x
        return turns(2, lambda u: u + d(z * y * u, x), s)

    return turns(2, outer, 1.0)


def branch_in_branch_in_body(x):
    y = x * x

    def inner(s):
        z = y * s
        return al.cond(s > 0.0, lambda: al.cond(x > 0.0, lambda: s + d(z * x, x), lambda: s), lambda: s)

    return turns(2, inner, 1.0)


def second_order(x):
    y = x * x * x

    def twice(s):
        g = d(y * 3.0, x)
        return s + d(g * g, x)

    return turns(3, twice)


def map_over_rows(x):
    y = x * x
    return al.sum(al.map_fn(lambda e: d(e * y, x), constant([1.0, 2.0])))


def scan_over_rows(x):
    y = x * x
    return al.sum(al.scan(lambda a, e: a + d(e * y, x), constant([1.0, 2.0]), constant(0.0)))


def through_a_loop_outside(x):
    y = turns(3, lambda s: s * x, 1.0)
    return turns(2, lambda s: s + d(y * 3.0, x))


def through_a_branch_outside(x):
    y = al.cond(x > 0.0, lambda: x * x, lambda: x)
    return turns(2, lambda s: s + d(y * 3.0, x))


def constants_on_the_way(x):
    y = x * x
    return turns(3, lambda s: s + d(y * x, x, stop_gradients=[y]))


def gradients_given_inside(x):
    y = x * x
    return turns(3, lambda s: s + d(y, x, grad_ys=[s]), 1.0)


def only_some_rows(x):
    y = al.gather(al.stack([x, x * x]), [0, 0, 1])
    return turns(2, lambda s: s + d(y * s, x), 1.0)


#: name -> (program of one number, its argument, its value)
PROGRAMS = {f.__name__: (f, x, value) for f, x, value in (
    (body, 5.0, 90.0), (initial_values_are_no_part_of_it, 5.0, 200.0), (branch, 5.0, 30.0),
    (body_in_body, 1.5, (1 + 5 * 1.5**4) ** 4), (branch_in_branch_in_body, 2.0, 13.0**2),
    (second_order, 2.0, 3 * 81 * 4 * 8.0), (map_over_rows, 5.0, 30.0), (scan_over_rows, 5.0, 40.0),
    (through_a_loop_outside, 2.0, 72.0), (through_a_branch_outside, 2.0, 24.0), (constants_on_the_way, 5.0, 75.0),
    (gradients_given_inside, 5.0, 11.0**3), (only_some_rows, 3.0, 81.0),
)}  # fmt: skip


@each(product(PROGRAMS, EXECUTORS))
def test_the_path_goes_through_what_lies_outside(name, executor):
    f, x, value = PROGRAMS[name]
    assert float(al.function(f, autograph=False, executor=executor)(constant(x))) == pytest.approx(value)


@each(PROGRAMS)
def test_in_a_session(name):
    f, x, value = PROGRAMS[name]
    with v1.Graph().as_default(), v1.Session() as session:
        fed, known = v1.placeholder(al.float32, []), v1.constant(x)
        found = session.run([f(fed), f(known)], {fed: x})
    np.testing.assert_allclose(found, [value, value], rtol=1e-6)


@each(product(PROGRAMS, [None, "checkpoint"]))
def test_and_is_differentiated_again(name, memory):
    f, x, value = PROGRAMS[name]
    wide = {"autograph": False} if memory is None else {"autograph": False, "gradient_memory": memory}
    exact = al.function(f, autograph=False)
    slope = (float(exact(constant(x + 1e-2))) - float(exact(constant(x - 1e-2)))) / 2e-2
    reverse = al.function(lambda x: gradients(f(x), x)[0], **wide)
    assert float(reverse(constant(x))) == pytest.approx(slope, rel=2e-3)
    forward = al.function(lambda x: jvp(f, [x], [constant(1.0)])[1], autograph=False)
    assert float(forward(constant(x))) == pytest.approx(slope, rel=2e-3)


@each(["value", "variable", "constant of the graph"])
def test_sources_that_are_not_arguments(kind):
    x = al.Variable(3.0) if kind == "variable" else constant(3.0)

    @al.function(autograph=False)
    def f():
        k = constant(3.0) if kind == "constant of the graph" else x
        y = k * k
        return turns(3, lambda s: s + d(y * k, k))

    assert float(f()) == 81


def test_a_variable_that_is_read_outside_only():
    v = al.Variable(3.0)

    @al.function(autograph=False)
    def f():
        y = al.convert_to_tensor(v) ** 2
        return turns(2, lambda s: s + d(y * s, v), 1.0)

    assert float(f()) == 49


def test_converted_loops_and_branches():
    @al.function
    def f(x):
        y = x * x
        s = al.constant(0.0)
        i = al.constant(0)
        while i < 3:
            if i > 0:
                s = s + gradients(y * 3.0, x)[0]
            i += 1
        for _ in al.range(2):
            s += gradients(y * x, [x])[0]
        return s

    assert float(f(constant(5.0))) == 60 + 150


def test_what_is_deeper_than_the_target_is_unconnected():
    @al.function(autograph=False)
    def f(x):
        y = x * x

        def inside(s):
            z = s * x
            by_own, by_outer = gradients(y, [z, x])
            assert by_own is None
            return s + by_outer

        return turns(2, inside)

    assert float(f(constant(5.0))) == 20


def test_the_gradient_is_computed_where_it_is_asked_for():
    ran = []

    @al.custom_gradient
    def noisy(x):
        return x * x, lambda g: al.py_function(lambda v: ran.append(1) or v, [g * 2.0 * x], al.float32)

    @al.function(autograph=False)
    def f(x, p):
        y = noisy(x)
        return al.cond(p, lambda: gradients(y, x)[0], lambda: x)

    assert float(f(constant(3.0), constant(False))) == 3
    assert not ran
    assert float(f(constant(3.0), constant(True))) == 6
    assert ran == [1]


@each([1, 2])
def test_a_loops_condition_may_ask_for_the_gradient_of_another_loop(order):
    # the condition is asked once to learn that it is a tensor, and what that built is undone
    @al.function
    def f(x):
        y = al.constant(1.0)
        for _ in al.range(3):
            y = y * x
        s = al.constant(0.0)
        slope = (lambda: d(y, x)) if order == 1 else (lambda: d(d(y, x), x))
        while slope() * s < 30.0:
            s = s + 1.0
        return s, slope(), y

    assert [float(v) for v in f(constant(2.0))] == [3, 12, 8]


# -- custom gradients that take gradients -------------------------------------------------------------------


@al.custom_gradient
def doubled_cube(x):
    y = x * x * x
    return y, lambda g: gradients(y, x, g)[0] * 2.0


@each(["save", "checkpoint"])
def test_the_gradient_function_of_a_custom_gradient_asks_for_gradients(memory):
    @al.function(autograph=False, gradient_memory=memory)
    def f(x):
        in_a_loop = turns(2, lambda s: s * doubled_cube(x), 1.0)
        in_a_branch = al.cond(x > 0.0, lambda: doubled_cube(x) * x, lambda: x)
        return gradients(in_a_loop, x)[0], gradients(in_a_branch, x)[0]

    assert [float(g) for g in f(constant(2.0))] == [2 * 6 * 2**5, 2 * 12 * 2 + 8]


def test_and_through_what_lies_outside_the_loop():
    @al.function(autograph=False)
    def f(x):
        z = x * x

        @al.custom_gradient
        def times(a):
            y = a * z
            return y, lambda g: gradients(y * x, x, g)[0]

        return gradients(turns(2, lambda s: s + times(x), 1.0), x)[0]

    assert float(f(constant(2.0))) == 2 * 4 * 2**3


def test_vjp_outside_used_inside():
    @al.function(autograph=False)
    def f(x):
        _, back = vjp(lambda x: x * x * x, x)
        return turns(3, lambda s: s + back(s)[0], 1.0)

    assert float(f(constant(2.0))) == 13**3


def test_grad_of_a_function_that_closes_over_an_outer_row():
    found = al.map_fn(lambda e: grad(lambda q: q * q * constant(5.0))(e), constant([1.0, 2.0]))
    np.testing.assert_array_equal(found, [10, 20])


# -- tapes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("staged", [True, False], ids=["function", "values"])
@pytest.mark.parametrize("called", [True, False], ids=["call", "operations"])
def test_a_tape_around_a_loop_that_asks_it(staged, called):
    square = al.function(lambda x: x * x) if called else lambda x: x * x

    def f(x):
        with GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = square(x)
            return turns(3, lambda s: s + tape.gradient(y, x)), turns(3, lambda s: s + tape.gradient(y * 3.0, x))

    assert [float(v) for v in (al.function(f, autograph=False) if staged else f)(constant(5.0))] == [30, 90]


def test_a_tape_in_a_tape_around_such_a_loop():
    x = constant(5.0)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * x
            s = turns(3, lambda s: s + tape.gradient(y * 3.0, x))
    assert float(s) == 3 * 9 * 25
    assert float(outer.gradient(s, x)) == 3 * 18 * 5


def test_a_tape_in_a_body_records_only_what_is_built_inside_it():
    v = al.Variable(2.0)

    @al.function
    def f(x):
        y = x * v
        s = al.constant(0.0)
        for _ in al.range(3):
            with GradientTape() as tape:
                tape.watch(x)
                z = x * y
            gx, gv = tape.gradient(z, [x, v])
            assert gv is None
            s += gx
        return s

    assert float(f(constant(3.0))) == 3 * 6


@pytest.mark.parametrize("staged", [True, False], ids=["function", "values"])
def test_a_tape_that_is_over_has_not_seen_the_loop(staged):
    def f(x):
        with GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        return turns(3, lambda s: s + tape.gradient(y * s, x), 1.0)

    with pytest.raises(ValueError, match="not computed inside the tape's with block"):
        (al.function(f, autograph=False) if staged else f)(constant(5.0))
