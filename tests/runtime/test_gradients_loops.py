"""Derivatives through loops and branches: first and second order, forward mode, every executor.

One file: the same loops, differentiated in every way there is.
"""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import SeededExecutor, lower
from autoloop.differentiation import gradients
from each_case import each
from executors import spread_each
from gradient_checks import EXECUTORS, F64, check_forward, check_gradients, scalar, slopes

while_loop = al.while_loop
X = np.linspace(0.5, 1.0, 4)
A = np.linspace(0.9, 1.1, 4)
RNG = np.random.default_rng(3)
H, W = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 3))

#: name -> (function to a scalar, arguments)
PROGRAMS = {}


def program(*arrays):
    def register(f):
        PROGRAMS[f.__name__] = (f, arrays)
        return f

    return register


@program(X, A)
def fixed_trip_count(x, a):
    return al.sum(while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, al.sin(x) * a), (0, x))[1])


@program(X, A + 1)
def data_dependent_trip_count(x, a):
    return while_loop(lambda s: s < 20.0, lambda s: s * al.sum(a) * 0.4 + al.sum(x), [al.sum(x)])[0]


@program(X, A)
def while_in_while(x, a):
    def outer(i, x):
        return i + 1, while_loop(lambda j, y: j < i, lambda j, y: (j + 1, al.sin(y) * a + x), (0, x))[1]

    return al.sum(while_loop(lambda i, x: i < 4, outer, (0, x))[1])


@program(H, W)
def while_in_while_with_matrices(h, w):
    def outer(i, h):
        return i + 1, while_loop(lambda j, y: j < i + 1, lambda j, y: (j + 1, al.tanh(y @ w) + h), (0, h))[1]

    return al.sum(while_loop(lambda i, h: i < 3, outer, (0, h))[1])


@program(X, A)
def three_loops_deep(x, a):
    def innermost(j, y):
        return j + 1, while_loop(lambda k, z: k < j + 1, lambda k, z: (k + 1, al.tanh(z * a) + y[0]), (0, y))[1]

    def outer(i, x):
        return i + 1, while_loop(lambda j, y: j < 2, innermost, (0, x))[1] * x

    return al.sum(while_loop(lambda i, x: i < 2, outer, (0, x))[1])


@program(X, A)
def cond_in_while(x, a):
    def body(i, x):
        return i + 1, al.cond(al.sum(x) > 1.0, lambda: al.sin(x) * a, lambda: x * x + a)

    return al.sum(while_loop(lambda i, x: i < 6, body, (0, x))[1])


@program(H, W)
def cond_in_while_that_saves_from_one_branch(h, w):
    def body(i, h):
        return i + 1, al.cond(al.sum(h) > 0.5, lambda: al.tanh(al.tanh(h @ w) @ w), lambda: h * h + w[0])

    return al.sum(while_loop(lambda i, h: i < 6, body, (0, h))[1])


@program(X, A)
def while_in_cond(x, a):
    def loop():
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, al.sin(x) * a), (0, x))[1]

    taken = al.cond(al.sum(x) > 1.0, loop, lambda: x * a)
    return al.sum(taken * al.cond(al.sum(x) < 1.0, loop, lambda: x * x))


@program(X, A)
def while_in_cond_in_while(x, a):
    def body(i, x):
        def loop():
            return while_loop(lambda j, y: j < i, lambda j, y: (j + 1, al.sin(y) * a + x), (0, x))[1]

        return i + 1, al.cond(al.sum(x) > 2.0, loop, lambda: x + a)

    return al.sum(while_loop(lambda i, x: i < 5, body, (0, x))[1])


@program(X, A)
def cond_alone(x, a):
    return al.sum(al.cond(x[0] > a[0], lambda: al.sin(x) * a, lambda: x * x + a))


@program(X, A)
def cond_of_which_one_branch_ignores_the_argument(x, a):
    return al.sum(al.cond(x[0] < a[0], lambda: x * 2.0, lambda: a * a))


@program(X, A)
def array_written_and_stacked(x, a):
    def body(i, x, out):
        x = al.sin(x) * a
        return i + 1, x, out.write(i, x)

    out = al.TensorArray(F64, 5)
    return al.sum(al.square(while_loop(lambda i, x, out: i < 5, body, (0, x, out))[2].stack()))


@program(X, A)
def array_unstacked_and_read(x, a):
    rows = al.TensorArray(F64, 4).unstack(x)

    def body(i, s):
        return i + 1, al.sin(s) * rows.read(i) + rows.read(0) * a[i]

    return while_loop(lambda i, s: i < 4, body, (0, scalar(0.5)))[1]


@program(X, A)
def array_read_back(x, a):
    def body(i, out):
        return i + 1, out.write(i, al.sin(out.read(i - 1)) * a)

    out = al.TensorArray(F64, 6).write(0, x)
    return al.sum(while_loop(lambda i, out: i < 6, body, (1, out))[1].read(5))


@program(X, A)
def array_gathered_and_scattered(x, a):
    out = al.TensorArray(F64, 6).scatter([1, 3, 5, 0], x * a)
    return al.sum(out.gather([3, 1, 1, 2]) * al.constant([1.0, 2.0, 3.0, 4.0], dtype=F64))


@program(X, A)
def array_split_and_joined(x, a):
    out = al.TensorArray(F64, 2, infer_shape=False).split(x * a, [1, 3])
    return al.sum(out.concat() * out.read(1)[0])


@program(X, A)
def array_read_once(x, a):
    def body(i, x, out):
        return i + 1, al.sin(x) * out.read(i), out.write(i + 1, x * a)

    out = al.TensorArray(F64, 6, clear_after_read=True).write(0, a)
    return al.sum(while_loop(lambda i, x, out: i < 4, body, (0, x, out))[1])


@program(X, A)
def array_written_in_branches(x, a):
    def body(i, x, out):
        out = al.cond(al.sum(x) > 2.0, lambda: out.write(i, x), lambda: out.write(i, x * a))
        return i + 1, al.sin(x) * a + 0.3, out

    out = al.TensorArray(F64, 5)
    return al.sum(al.square(while_loop(lambda i, x, out: i < 5, body, (0, x, out))[2].stack()))


@program(X, A)
def shape_that_changes(x, a):
    def body(i, y):
        return i + 1, al.concat([y * y, y * a[i]], 0)

    shapes = (al.TensorShape([]), al.TensorShape([None]))
    return al.sum(while_loop(lambda i, y: i < 3, body, (0, x), shape_invariants=shapes)[1])


@program(X, A)
def rank_that_is_unknown(x, a):
    def body(i, y):
        return i + 1, al.expand_dims(al.sin(y), 0) * a[i]

    shapes = (al.TensorShape([]), al.TensorShape(None))
    return al.sum(while_loop(lambda i, y: i < 3, body, (0, x), shape_invariants=shapes)[1])


@program(X, A)
def gather_and_slices_of_captured_tensors(x, a):
    def body(i, s):
        return i + 1, s + al.sin(s) * al.sum(al.gather(x, [i, i, (i + 1) % 4])) * a[i] + al.sum(x[1:3])

    return while_loop(lambda i, s: i < 4, body, (0, scalar(0.5)))[1]


@program(X, A)
def gather_in_nested_loops(x, a):
    def outer(i, s):
        return i + 1, while_loop(lambda j, s: j < 3, lambda j, s: (j + 1, s * x[j] + a[i]), (0, s))[1]

    return while_loop(lambda i, s: i < 3, outer, (0, scalar(0.5)))[1]


@program(X, A)
def gather_in_a_branch(x, a):
    def body(i, s):
        return i + 1, al.cond(i % 2 < 1, lambda: s * x[i], lambda: s + al.sum(a))

    return while_loop(lambda i, s: i < 4, body, (0, scalar(0.5)))[1]


@program(X, A)
def mapped(x, a):
    return al.sum(al.map_fn(lambda row: al.sin(row) * a, x))


@program(X, A)
def scanned(x, a):
    return al.sum(al.scan(lambda s, row: al.sin(s) * row + a, x, scalar([1.0, 1.0, 1.0, 1.0])))


@program(X, A[0])
def folded(x, a):
    return al.foldl(lambda s, row: al.sin(s) * row + a, x) + al.foldr(lambda s, row: s * row + a, x)


@program(X, A + 1)
def maximum_iterations(x, a):
    return al.sum(while_loop(lambda x: al.sum(x) < 1e9, lambda x: x * a * 0.9, [x], maximum_iterations=4)[0])


@program(X, A)
def no_iteration(x, a):
    return al.sum(while_loop(lambda x: al.sum(x) < -1.0, lambda x: x * a, [x])[0] * x)


@program(X, A)
def no_iteration_of_the_inner_loop(x, a):
    def outer(i, x):
        return i + 1, while_loop(lambda j, y: j < i - 1, lambda j, y: (j + 1, al.tanh(y) * a), (0, x * a))[1]

    return al.sum(while_loop(lambda i, x: i < 3, outer, (0, x))[1])


@program(X, A)
def integers_and_booleans_beside(x, a):
    def body(i, b, k, x):
        return i + 1, al.logical_not(b), k * 2, al.cond(b, lambda: x * al.cast(k, F64), lambda: al.sin(x))

    return al.sum(while_loop(lambda i, b, k, x: i < 5, body, (0, True, 1, x))[3])


@program(X, A)
def variables_that_trade_places(x, a):
    return al.sum(while_loop(lambda i, u, v: i < 5, lambda i, u, v: (i + 1, v, al.sin(u) * v), (0, x, a))[1])


@program(X, A)
def variable_that_never_changes(x, a):
    def body(i, u, v):
        return i + 1, al.sin(u) * v + a, v

    return al.sum(while_loop(lambda i, u, v: i < 5, body, (0, x, a))[1])


@program(X, A)
def counters_that_do_not_start_at_zero(x, a):
    def body(i, j, u):
        return i + 2, j - 3, al.sin(u) * a * al.cast(j, F64) * 0.2

    return al.sum(while_loop(lambda i, j, u: i < 9, body, (1, 10, x))[2])


@program(X, A)
def unsigned_counter(x, a):
    start = al.constant(0, dtype=al.uint32)
    return al.sum(while_loop(lambda i, u: i < 3, lambda i, u: (i + 1, al.sin(u) * a), (start, x))[1])


@program(H, W)
def only_the_result_is_needed(h, w):
    return al.sum(while_loop(lambda i, u: i < 5, lambda i, u: (i + 1, al.tanh(u @ w)), (0, h))[1])


@program(X, A)
def one_value_for_two_variables(x, a):
    def body(i, u, v):
        n = al.tanh(u) * a + v
        return i + 1, n, n

    return al.sum(while_loop(lambda i, u, v: i < 4, body, (0, x, x))[2])


@program(X, A)
def variable_overwritten_by_a_captured_tensor(x, a):
    return al.sum(while_loop(lambda i, u, v: i < 3, lambda i, u, v: (i + 1, a * u, u), (0, x, x))[2])


@program(X, A)
def result_used_twice(x, a):
    y = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, al.sin(x) * a), (0, x))[1]
    z = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, al.cos(y) * a), (0, y))[1]
    return al.sum(y * z)


@program(H, W)
def invariant_product_in_the_body(h, w):
    def body(i, u):
        return i + 1, al.sin(u) @ (w @ w)

    return al.sum(while_loop(lambda i, u: i < 3, body, (0, h))[1])


@each(PROGRAMS)
def test_reverse(name):
    f, arrays = PROGRAMS[name]
    check_gradients(f, *arrays)


# the executors take turns: of the first order each program has both
@spread_each([(name,) for name in PROGRAMS], EXECUTORS, always=())
def test_second_order(name, executor):
    f, arrays = PROGRAMS[name]
    check_gradients(slopes(f), *arrays, rtol=1e-4, atol=1e-5, executors=(executor,))


@each(PROGRAMS)
def test_forward(name):
    f, arrays = PROGRAMS[name]
    check_forward(f, *arrays)


@each(["fixed_trip_count", "while_in_while", "cond_in_while", "array_read_back"])
def test_forward_over_reverse(name):
    f, arrays = PROGRAMS[name]
    check_forward(slopes(f), *arrays, rtol=1e-4, atol=1e-5)


@each(["fixed_trip_count", "data_dependent_trip_count", "array_written_and_stacked"])
def test_third_order(name):
    f, arrays = PROGRAMS[name]
    check_gradients(slopes(slopes(f)), *arrays, rtol=1e-3, atol=1e-4)


# -- converted source ---------------------------------------------------------------------------------------


def test_converted_break_continue_and_return():
    def f(x, a):
        s = scalar(0.0)
        for i in al.range(10):
            if al.sum(x) > 4.0:
                break
            for j in al.range(i):
                s = s + al.sum(x) * a[j % 4]
                if s > 3.0:
                    continue
                x = x * a
            x = x + a
        if s < 0.0:
            return s
        return s + al.sum(x)

    check_gradients(f, X, A, autograph=True)


def test_converted_for_over_rows():
    def f(h, w):
        total = scalar(0.0)
        for row in w:
            h = al.tanh(h * row)
            total += al.mean(h * h)
        return total

    check_gradients(f, H, W, autograph=True)


# -- what carries no gradient -------------------------------------------------------------------------------


def found(f, *arrays):
    @al.function(autograph=False)
    def g(*xs):
        return gradients(f(*xs), list(xs))

    return g(*arrays)


def test_back_prop_false_stops():
    def f(x, a):
        y = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * a), (0, x), back_prop=False)[1]
        return al.sum(y * x)

    g, none = found(f, X, A)
    assert none is None
    np.testing.assert_allclose(np.asarray(g), X * A**3)


def test_a_path_through_integers_is_none():
    assert found(lambda x: al.sum(al.cast(al.cast(x, al.int32), F64)), X) == [None]


def test_a_variable_that_does_not_reach_the_result_is_none():
    def f(x, a):
        return al.sum(while_loop(lambda i, x, a: i < 3, lambda i, x, a: (i + 1, x * 2.0, a * x), (0, x, a))[1])

    g, none = found(f, X, A)
    assert none is None
    np.testing.assert_allclose(np.asarray(g), 8)


def test_an_op_without_a_gradient_names_itself_and_the_line():
    def f(x):
        def body(i, x):
            return i + 1, al.ensure_shape(al.py_function(np.sin, [x], F64), [4])

        return al.sum(while_loop(lambda i, x: i < 3, body, (0, x))[1])

    with pytest.raises(LookupError, match=r"(?s)py_function.*test_gradients_loops.py:\d+.*stop_gradient"):
        found(f, X)


# -- order --------------------------------------------------------------------------------------------------


# the ways to keep values take turns: test_gradients_checkpoints.py has every program with checkpoints
@spread_each([(name,) for name in sorted(PROGRAMS.keys() - {"array_read_once"})], [None, "checkpoint"], always=())
def test_any_order_of_kernels(name, mode):
    f, arrays = PROGRAMS[name]
    arrays = [np.asarray(a, float)[()] for a in arrays]

    @al.function(autograph=False, executor="sequential", gradient_memory=mode)
    def g(*xs):
        return [x for x in gradients(f(*xs), list(xs)) if x is not None]

    expected = g(*arrays)
    graph = g.get_concrete_function(*arrays).graph
    lowered = lower(graph, graph.outputs, graph.inputs)
    for seed in range(2):
        for found, e in zip(SeededExecutor(lowered, seed).run(arrays), expected):
            np.testing.assert_allclose(found, e, rtol=1e-10, atol=1e-12)


@each(["abs", "sign", "prod", "cumprod", "exp", "sqrt", "reciprocal", "square", "cumsum"])
def test_first_and_second_derivatives_through_complex_numbers(name):
    def f(x):
        z = getattr(al, name)(al.complex(x, x * 0.5 + al.sin(x)))
        return al.sum(al.real(z) * 2.0 + al.imag(z))

    x = [0.3, -0.7, 1.1]
    check_gradients(f, x)
    check_gradients(slopes(f), x)
    check_forward(f, x)


def test_a_gradient_has_the_shape_of_what_it_is_of():
    def f(x):
        step = lambda i, y: (i + 1, al.concat([y * 0.9, al.sin(y[-2:])], 0))
        shapes = (al.TensorShape([]), al.TensorShape([None]))
        return al.sum(al.square(while_loop(lambda i, y: i < 3, step, (0, x), shape_invariants=shapes)[1]))

    @al.function(autograph=False)
    def hessian(x):
        slope = al.grad(f)(x)
        assert slope.shape == al.TensorShape([4])
        return al.jacobian(al.grad(f))(x)

    first = al.function(lambda x: al.grad(f)(x), autograph=False)
    steps = [(np.asarray(first(X + h)) - np.asarray(first(X - h))) / 2e-6 for h in np.eye(4) * 1e-6]
    np.testing.assert_allclose(np.asarray(hessian(X)), np.array(steps), rtol=1e-6, atol=1e-7)


@each(["set_item", "scatter_update"])
def test_only_the_last_of_the_values_assigned_to_one_place_has_a_gradient(way):
    def f(x, places):
        i = places if way == "set_item" else al.expand_dims(places, 1)
        step = lambda k, y: (k + 1, al.sin(getattr(al, way)(y, i, y * x)))
        return al.sum(while_loop(lambda k, y: k < 3, step, (0, x))[1] * A)

    places = np.array([1, 1, 0, 1])
    check_gradients(lambda x: f(x, places), X)
    check_gradients(lambda x: f(x, al.constant(places)), X)
    check_gradients(slopes(lambda x: f(x, places)), X)
    check_forward(lambda x: f(x, places), X)
