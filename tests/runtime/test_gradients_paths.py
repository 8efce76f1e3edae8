"""Where a gradient goes and where it does not: to what no differentiable path leads it is None, by one rule."""

from __future__ import annotations

from itertools import product

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
from autoloop.differentiation import GradientTape, grad, gradients
from each_case import each
from executors import EXECUTORS

while_loop = al.while_loop
NUMBERS = {"x": 2.0, "z": 3.0, "n": np.int32(3), "k": np.int32(2)}
TYPES = {name: al.int32 if name in "nk" else al.float64 for name in NUMBERS}


def turns(n, body, *start):
    start = [al.constant(s, dtype=al.float64) if isinstance(s, float) else s for s in start]
    return while_loop(lambda i, *_: i < n, lambda i, *vs: (i + 1, *body(*vs)), (0, *start))[1:]


def whole_numbers(x, z, n, k):
    return turns(n, lambda y: (y * x * al.cast(k, al.float64),), 1.0)[0]


def variable_apart(x, z, n, k):
    return turns(n, lambda y, u: (y * x, u * z), 1.0, 1.0)[0]


def variable_apart_starts_with_it(x, z, n, k):
    return turns(n, lambda y, u: (y * x, u * x), 1.0, z)[0]


def inner_loop_apart(x, z, n, k):
    return turns(n, lambda y, u: turns(n, lambda a, b: (a * x, b * z), y, u), 1.0, 1.0)[0]


def stopped_factor(x, z, n, k):
    return turns(n, lambda y: (y * x * al.stop_gradient(z),), 1.0)[0]


def stopped_variable(x, z, n, k):
    return turns(n, lambda y, u: (y * x + u, al.stop_gradient(u * z)), 1.0, 1.0)[0]


def stopped_in_a_branch(x, z, n, k):
    return turns(n, lambda y: (al.cond(y > 1.0, lambda: y * x * al.stop_gradient(z), lambda: x + y),), 1.0)[0]


def only_in_the_predicate(x, z, n, k):
    return turns(n, lambda y: (al.cond(z > y, lambda: y * x, lambda: x + y),), 1.0)[0]


def only_in_the_condition(x, z, n, k):
    return while_loop(lambda y: y < z, lambda y: y * x, [x])[0]


def only_through_whole_numbers(x, z, n, k):
    return turns(n, lambda y: (y * x + al.cast(al.cast(z, al.int32), al.float64),), 1.0)[0]


def other_result_of_a_branch(x, z, n, k):
    return al.cond(x > 0.0, lambda: (x * x, z * z), lambda: (x, z))[0]


def rounded(x, z, n, k):
    return turns(n, lambda y: (y * x + z // 2.0,), 1.0)[0]


def without_back_prop(x, z, n, k):
    return x * while_loop(lambda i, u: i < n, lambda i, u: (i + 1, u * z), (0, z), back_prop=False)[1]


#: only ``x`` has a gradient in these
PROGRAMS = {f.__name__: f for f in (
    whole_numbers, variable_apart, variable_apart_starts_with_it, inner_loop_apart, stopped_factor, stopped_variable,
    stopped_in_a_branch, only_in_the_predicate, only_in_the_condition, only_through_whole_numbers,
    other_result_of_a_branch, rounded, without_back_prop,
)}  # fmt: skip


def tensors():
    return [al.constant(v, dtype=TYPES[name]) for name, v in NUMBERS.items()]


def captured(f, executor):
    xs = tensors()
    return al.function(lambda: gradients(f(*xs), xs), autograph=False, executor=executor)()


def passed(f, executor):
    return al.function(lambda *xs: gradients(f(*xs), list(xs)), autograph=False, executor=executor)(*tensors())


def variables(f, executor):
    xs = [al.Variable(t) for t in tensors()]
    return al.function(lambda: gradients(f(*xs), xs), autograph=False, executor=executor)()


def taped(f, executor):
    xs = tensors()
    with GradientTape() as tape:
        tape.watch(xs)
        y = al.function(f, autograph=False, executor=executor)(*xs)
    return tape.gradient(y, xs)


def in_a_session(f, make):
    with v1.Graph().as_default():
        xs = [make(name) for name in NUMBERS]
        found = gradients(f(*xs), xs)
        with v1.Session() as session:
            feeds = {t: NUMBERS[name] for name, t in zip(NUMBERS, xs) if make is fed}
            return session.run(found, feeds)


def fed(name):
    return v1.placeholder(TYPES[name], [])


def fixed(name):
    return al.constant(NUMBERS[name], dtype=TYPES[name])


WAYS = {
    "captured": captured, "passed": passed, "variables": variables, "taped": taped,
    "fed": lambda f, _: in_a_session(f, fed), "constants": lambda f, _: in_a_session(f, fixed),
}  # fmt: skip


def slope(f):
    values = [np.float64(v) if TYPES[n] == al.float64 else v for n, v in NUMBERS.items()]
    forward = al.function(f, autograph=False)
    up, down = [float(forward(values[0] + s * 1e-6, *values[1:])) for s in (1, -1)]
    return (up - down) / 2e-6


@each(product(PROGRAMS, WAYS))
def test_none_where_no_differentiable_path_leads(name, way):
    found = WAYS[way](PROGRAMS[name], "sequential")
    np.testing.assert_allclose(found[0], slope(PROGRAMS[name]), rtol=1e-6)
    assert found[1:] == [None, None, None]


@each(EXECUTORS)
def test_on_every_executor(executor):
    for f in (whole_numbers, variable_apart):
        for way in (captured, passed):
            found = way(f, executor)
            np.testing.assert_allclose(found[0], slope(f), rtol=1e-6)
            assert found[1:] == [None, None, None]


@each(PROGRAMS)
def test_functions_of_functions_give_zeros_instead(name):
    f = PROGRAMS[name]
    x, z, n, k = tensors()
    for wrap in (lambda g: g, lambda g: al.function(g, autograph=False)):
        gx, gz = wrap(grad(lambda x, z: f(x, z, n, k), argnums=(0, 1)))(x, z)
        np.testing.assert_allclose(gx, slope(f), rtol=1e-6)
        assert np.asarray(gz) == 0


def test_a_tape_asked_for_one_of_several_results_of_a_call():
    x, z = al.constant(2.0), al.constant(3.0)
    apart = al.function(lambda x, z: turns(3, lambda y, u: (y * x, u * z), x, z), autograph=False)
    with GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y, u = apart(x, z)
        both = y + u
    assert [g if g is None else float(g) for g in tape.gradient(y, [x, z])] == [32, None]
    assert [g if g is None else float(g) for g in tape.gradient(u, [x, z])] == [None, 108]
    assert [float(g) for g in tape.gradient(both, [x, z])] == [32, 108]
    assert float(tape.gradient(y, [x, z], unconnected_gradients="zero")[1]) == 0


def test_a_path_that_no_iteration_takes_is_a_path():
    # with no iteration the result is the initial value, so the loop has a path from it, whatever the body cuts
    @al.function
    def f(x, n):
        y = while_loop(lambda i, y: i < n, lambda i, y: (i + 1, al.stop_gradient(y * x)), (al.constant(0), x * 5.0))[1]
        return gradients(y, x)[0]

    assert [float(f(al.constant(2.0), al.constant(n))) for n in (0, 1)] == [5, 0]


def test_a_session_fetches_none_as_none():
    with v1.Graph().as_default(), v1.Session() as session:
        x = al.constant(2.0)
        assert session.run(gradients(x * x, [x, al.constant(1.0)])) == [4, None]
        assert session.run(None) is None
        assert session.run({"a": None, "b": (x, None)}) == {"a": None, "b": (2, None)}
