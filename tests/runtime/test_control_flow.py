"""``while_loop``, ``cond`` and their relatives: what they compute and what they refuse."""

from __future__ import annotations

import dataclasses
from itertools import product

import autoloop as al
import numpy as np
import pytest
from api import Graph, control_flow
from each_case import each
from hypothesis import given, settings
from hypothesis import strategies as st

EXECUTORS = ("auto", "dataflow", "sequential")


def count_to(n, **options):
    return al.while_loop(lambda i: i < n, lambda i: i + 1, [0], **options)[0]


# -- values -----------------------------------------------------------------------------------------------


def test_outside_a_function_it_is_traced_once_and_run():
    calls = []

    def cond(i):
        calls.append("cond")
        return i < 5

    def body(i):
        calls.append("body")
        return i + 1

    assert al.while_loop(cond, body, [0])[0].numpy() == 5
    assert calls == ["cond", "body"]


@each(EXECUTORS)
def test_swap_uses_the_old_values(executor):
    @al.function(executor=executor)
    def fibonacci(n):
        return al.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + b), (0, 0, 1))[1]

    assert fibonacci(al.constant(10)).numpy() == 55


def test_zero_trips_give_the_initial_values_with_the_invariant_as_static_shape():
    shapes = []

    @al.function
    def f(x):
        i, y = al.while_loop(
            lambda i, y: i < 0, lambda i, y: (i + 1, al.concat([y, y], 0)), (0, x),
            shape_invariants=(al.TensorShape([]), al.TensorShape([None])),
        )  # fmt: skip
        shapes.append(y.shape)
        return y

    np.testing.assert_array_equal(f(np.arange(3)), np.arange(3))
    assert shapes == [[None]]


@dataclasses.dataclass(frozen=True)
class State:
    position: object
    velocity: object


def test_any_structure_goes_round():
    start = {"state": State(1.0, 2.0), "path": [al.zeros([2]), (0,)]}

    def body(i, s):
        state = State(s["state"].position + s["state"].velocity, s["state"].velocity)
        return i + 1, {"state": state, "path": [s["path"][0] + 1.0, (s["path"][1][0] + 2,)]}

    _, final = al.while_loop(lambda i, s: i < 3, body, (0, start))
    assert isinstance(final["state"], State)
    assert final["state"].position.numpy() == 7.0
    np.testing.assert_array_equal(final["path"][0], [3.0, 3.0])
    assert final["path"][1][0].numpy() == 6


def test_a_named_tuple_of_loop_vars_stays_one():
    import collections

    Pair = collections.namedtuple("Pair", "i, x")
    out = al.while_loop(lambda i, x: i < 3, lambda i, x: Pair(i + 1, x * 2.0), Pair(0, 1.0))
    assert isinstance(out, Pair) and out.x.numpy() == 8.0


def test_maximum_iterations():
    assert count_to(100, maximum_iterations=7).numpy() == 7
    assert count_to(3, maximum_iterations=7).numpy() == 3
    assert count_to(3, maximum_iterations=0).numpy() == 0
    assert count_to(3, maximum_iterations=-2).numpy() == 0
    assert count_to(3, maximum_iterations=2**70).numpy() == 3
    assert count_to(3, maximum_iterations=-(2**70)).numpy() == 0
    assert count_to(9, maximum_iterations=al.constant(4)).numpy() == 4


def test_nested_loops_and_captures():
    def outer(i, total):
        inner = al.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + i * j), (0, 0))[1]
        return i + 1, total + inner

    expected = sum(i * j for i in range(6) for j in range(i))
    assert al.while_loop(lambda i, t: i < 6, outer, (0, 0))[1].numpy() == expected


def test_shape_invariants_by_name_and_auto():
    def loop(invariants):
        return al.while_loop(
            lambda i, m: i < 3, lambda i, m: (i + 1, al.concat([m, m], 0)), (0, al.ones([1, 2])),
            shape_invariants=invariants,
        )[1]  # fmt: skip

    assert loop({"m": [None, 2]}).shape == (8, 2)
    assert loop("auto").shape == (8, 2)
    with pytest.raises(ValueError, match="names .'z'."):
        loop({"z": [None]})


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 12), st.integers(1, 20), st.sampled_from(EXECUTORS), st.integers(1, 3),
)  # fmt: skip
def test_one_answer_for_every_window_executor_and_thread_count(n, window, executor, threads):
    @al.function(executor=executor)
    def f(n, x):
        def body(i, x, y):
            return i + 1, al.cond(i % 2 == 0, lambda: x * 3 + i, lambda: x - y), y + x

        return al.while_loop(lambda i, x, y: i < n, body, (0, x, x), parallel_iterations=window)

    al.config.set_num_threads(threads)
    try:
        got = [int(v) for v in f(al.constant(n), al.constant(2))]
    finally:
        al.config.set_num_threads(None)
    i, x, y = 0, 2, 2
    while i < n:
        i, x, y = i + 1, x * 3 + i if i % 2 == 0 else x - y, y + x
    wrap = lambda v: (v + 2**31) % 2**32 - 2**31
    assert got == [i, wrap(x), wrap(y)]


def test_node_names_are_readable_and_unique():
    with Graph() as graph:
        al.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="count")
        al.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="count")
        al.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        al.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    loops = [n for n in graph.nodes if n.op.name == "While"]
    assert [n.name for n in loops] == ["count", "count_1", "while", "while_1"]
    assert "count/body/add" in [n.name for n in loops[0].attrs["body"].nodes]


# -- cond and its relatives -------------------------------------------------------------------------------


def test_cond_runs_one_branch():
    ran = []

    @al.function
    def f(x):
        def probe(name, value):
            return al.py_function(lambda v: ran.append(name) or v, [value], al.float32)

        return al.cond(x > 0, lambda: probe("then", x), lambda: probe("else", -x))

    assert f(al.constant(2.0)).numpy() == 2.0
    assert f(al.constant(-3.0)).numpy() == 3.0
    assert ran == ["then", "else"]


def test_cond_merges_shapes_and_python_numbers():
    @al.function
    def f(p, x):
        y = al.cond(p, lambda: x, lambda: al.concat([x, x], 0))
        assert y.shape == [None]
        return y, al.cond(p, lambda: 1, lambda: al.constant(2.5))

    y, z = f(al.constant(False), np.ones(2, np.float32))
    assert y.shape == (4,) and z.numpy() == 2.5 and z.dtype == np.float32


def test_a_loop_in_a_branch_not_taken_never_runs():
    @al.function(executor="dataflow")
    def f(p):
        return al.cond(p, lambda: al.while_loop(lambda i: i < 1, lambda i: i - 1, [0])[0], lambda: al.constant(7))

    assert f(al.constant(False)).numpy() == 7


def test_switch_case_and_case():
    @al.function
    def f(k):
        return al.switch_case(k, [lambda: 10, lambda: 20, lambda: 30])

    assert [int(f(al.constant(k))) for k in (0, 1, 2, 9, -1)] == [10, 20, 30, 30, 30]

    @al.function
    def g(x):
        return al.case([(x < 0, lambda: -1), (x > 0, lambda: 1)], default=lambda: 0)

    assert [int(g(al.constant(v))) for v in (-2.0, 0.0, 5.0)] == [-1, 0, 1]


def test_map_fn_scan_and_folds():
    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(al.map_fn(lambda r: r * 2.0, x), x * 2)
    np.testing.assert_array_equal(al.map_fn(lambda r: al.sum(r), x), x.sum(1))
    pair = al.map_fn(lambda r: (r[0] + r[1], r[1]), (x, x * 10))
    np.testing.assert_array_equal(pair[0], x + x * 10)
    np.testing.assert_array_equal(al.scan(lambda a, r: a + r, x, np.zeros(2)), x.cumsum(0))
    np.testing.assert_array_equal(al.scan(lambda a, r: a + r, x), x.cumsum(0))
    np.testing.assert_array_equal(al.scan(lambda a, r: a + r, x, reverse=True), x[::-1].cumsum(0)[::-1])
    np.testing.assert_array_equal(al.foldl(lambda a, r: a * 2.0 + r, x), (x[0] * 2 + x[1]) * 2 + x[2])
    np.testing.assert_array_equal(al.foldr(lambda a, r: a * 2.0 + r, x), (x[2] * 2 + x[1]) * 2 + x[0])
    assert al.map_fn(lambda r: r, np.zeros((0, 4))).shape == (0, 4)


# -- what is refused --------------------------------------------------------------------------------------


def test_branches_that_disagree():
    @al.function(autograph=False)
    def f(p, a, b):
        return al.cond(p, lambda: a(), lambda: b())

    p = al.constant(True)
    with pytest.raises(TypeError, match="float32 and int32"):
        f(p, lambda: al.constant(1.0), lambda: al.constant(1))
    with pytest.raises(TypeError, match="same nested structure"):
        f(p, lambda: (1, 2), lambda: 1)
    with pytest.raises(TypeError, match="None"):
        f(p, lambda: None, lambda: al.constant(1))
    assert f(p, lambda: None, lambda: None) is None


def test_a_symbolic_tensor_is_no_python_value():
    @al.function(autograph=False)
    def f(x, use):
        return use(x)

    x = al.constant(1)
    for use in (bool, int, float, len, list, np.asarray, lambda x: [1, 2][x], lambda x: x.numpy()):
        with pytest.raises(TypeError, match="symbolic"):
            f(x, use)


def test_a_tensor_from_inside_a_loop_cannot_escape():
    kept = []

    @al.function(autograph=False)
    def f(n):
        al.while_loop(lambda i: i < n, lambda i: kept.append(i * 2) or i + 1, [0])
        return kept[0] + 1

    with pytest.raises(ValueError, match="loop variable"):
        f(al.constant(3))


def test_a_shape_that_only_shows_at_run_time_is_checked_then():
    for executor in EXECUTORS:

        @al.function(executor=executor, input_signature=[al.TensorSpec([None], al.float32)])
        def f(x):
            def body(i, y):
                y = al.concat([y, y], 0)
                y.set_shape([3])
                return i + 1, y

            return al.while_loop(lambda i, y: i < 1, body, (0, x), shape_invariants=([], [None]))[1]

        with pytest.raises(ValueError, match=r"\(4,\)"):
            f(np.ones(2, np.float32))


def test_public_functions_are_documented():
    for f in (control_flow.while_loop, control_flow.cond, control_flow.switch_case, control_flow.case):
        assert f.__doc__ and "Parameters" in f.__doc__


@each(product(EXECUTORS, [lambda v: v + 1, lambda v: [v + 1]]))
def test_a_python_function_with_a_list_of_one_promised_result(executor, give):
    f = al.function(lambda x: al.py_function(give, [x], [al.float32]), autograph=False, executor=executor)
    (result,) = f(al.constant(1.0))
    assert result.shape == () and result.numpy() == 2.0
