"""Constant folding and what is simplified with it: the same, to the bit, said with less."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from api import (
    call,
    control_flow,
    dtypes,
    fold,
    optimize,
    prune,
    reduce_strength,
)
from each_case import each
from graphs import traced
from random_programs import interpret
from test_passes import F, N, X, loop_of, ops, values_of


def words(build, *inputs):
    """The ops that compute the outputs of what ``build`` makes, after the pass."""
    graph = prune(reduce_strength(traced(build, *inputs)))
    return [n.op.name for n in graph.nodes if n.inputs], graph


INTS = ("v", dtypes.int32, [4])
LONGS = ("w", dtypes.int64, [2])
TRUTHS = ("p", dtypes.bool_, []), ("q", dtypes.bool_, [])


@pytest.mark.parametrize(
    ("build", "inputs", "expected"),
    [
        (lambda x: x / 4.0, [X], ["multiply"]),
        (lambda x: x / 3.0, [X], ["divide"]),
        (lambda x: x / 2.0**-126, [X], ["divide"]),
        (lambda v: v // 8, [INTS], ["right_shift"]),
        (lambda v: v % 8, [INTS], ["bitwise_and"]),
        (lambda v: v % 6, [INTS], ["mod"]),
        (lambda n: n // 8, [N], ["floor_divide"]),
        (lambda x: x + -call("tanh", x), [X], ["tanh", "subtract"]),
        (lambda x: x - -call("tanh", x), [X], ["tanh", "add"]),
        (lambda v: call("cast", call("cast", v, dtypes.float64), dtypes.int32) + v, [INTS], ["add"]),
        (lambda v: call("cast", call("cast", v, dtypes.float32), dtypes.int32) + v, [INTS], ["cast", "cast", "add"]),
        (lambda w: call("cast", call("cast", w, dtypes.float64), dtypes.int64) + w, [LONGS], ["cast", "cast", "add"]),
        (lambda v: call("reshape", call("reshape", v, [2, 2]), [4, 1]), [INTS], ["reshape"]),
        (lambda v: call("maximum", v, v) + 1, [INTS], ["add"]),
        (lambda p, q: control_flow.cond(p, lambda: q, lambda: False), TRUTHS, ["logical_and"]),
        (lambda p, q: control_flow.cond(p, lambda: q, lambda: p), TRUTHS, ["logical_and"]),
        (lambda p, q: control_flow.cond(p, lambda: True, lambda: call("logical_not", q)), TRUTHS,
         ["logical_not", "logical_or"]),
        (lambda p, q: control_flow.cond(p, lambda: q, lambda: True), TRUTHS, ["Cond"]),
    ],
)  # fmt: skip
def test_the_same_is_said_with_less_to_the_bit(build, inputs, expected):
    names, graph = words(build, *inputs)
    assert names == expected
    samples = {
        "x": [np.array(v, np.float32) for v in (0.0, -0.0, 1.1, np.inf, -np.inf, np.nan, 1e-45, 3.4e38, -1e-38)],
        "v": [np.array([-(2**31), -9, 7, 2**31 - 1], np.int32), np.arange(-2, 2, dtype=np.int32)],
        "w": [np.array([2**53 + 1, -(2**53) - 1])],
        "n": [np.int32(-9), np.int32(9)], "p": [np.True_, np.False_], "q": [np.True_, np.False_],
    }  # fmt: skip
    traced_graph = traced(build, *inputs)
    for values in itertools.product(*[samples[name] for name, _, _ in inputs]):
        (got, *_), (wanted, *_) = interpret(graph, list(values)), interpret(traced_graph, list(values))
        assert np.asarray(got).dtype == np.asarray(wanted).dtype
        assert np.asarray(got).tobytes() == np.asarray(wanted).tobytes()


def test_a_branch_that_can_fail_stays_one():
    def build(v, n):
        return control_flow.cond(n > 0, lambda: v[n] > 0, lambda: False)

    assert words(build, INTS, N)[0] == ["greater", "Cond"]


def test_constants_are_computed():
    graph = fold(traced(lambda n: n + call("multiply", call("exp", 0.0 * n.graph.constant(np.float32(1))), 1.0), F))
    assert ops(prune(graph)) == ["add"]


@each([0.0, -0.0, 1.5, np.nan, np.inf])
def test_what_is_left_out_never_changes_a_value(value):
    builds = [
        lambda x: x * 1.0, lambda x: x - 0.0, lambda x: x + 0.0, lambda x: x + -0.0, lambda x: 0.0 + x,
        lambda x: x / 1.0, lambda x: x ** 1.0, lambda x: -(-x), lambda x: x * 0.0, lambda x: x - x,
        lambda x: call("identity", x), lambda x: call("stop_gradient", x),
    ]  # fmt: skip
    for build in builds:
        graph = traced(build, F)
        before, after = (values_of(g, np.float32(value))[0] for g in (graph, fold(graph)))
        np.testing.assert_array_equal(before, after)
        assert np.signbit(before) == np.signbit(after) and before.dtype == after.dtype


def test_what_does_nothing_is_left_out():
    kept = [lambda x: x + 0.0, lambda x: x * 0.0, lambda x: x - x]
    gone = [
        lambda x: x * 1.0, lambda x: x - 0.0, lambda x: x + -0.0, lambda x: x / 1.0, lambda x: -(-x),
        lambda x: call("identity", x), lambda x: call("reshape", x, []),
        lambda x: call("where", x > 1, x, call("stop_gradient", x)),
    ]  # fmt: skip
    assert [ops(fold(traced(b, F))) == [] for b in kept] == [False] * 3
    assert [ops(prune(fold(traced(b, F)))) for b in gone] == [[]] * len(gone)


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        (None, None, []),
        (None, (2, 1, 0), []),
        ((1, 2, 0), (2, 0, 1), []),
        ((1, 2, 0), (-1, 0, 1), []),
        ((1, 2, 0), (1, 2, 0), ["transpose", "transpose"]),
        ((0, 1, 2), (1, 0, 2), ["transpose"]),
    ],
)
def test_axes_that_come_back_to_their_places(first, second, left):
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    build = lambda x: call("transpose", call("transpose", x, first), second)
    graph = traced(build, ("x", dtypes.float32, [2, 3, 4]))
    assert ops(prune(fold(graph))) == left
    np.testing.assert_array_equal(values_of(fold(graph), x)[0], values_of(graph, x)[0])


def test_broadcasting_is_something():
    graph = fold(traced(lambda f: f * np.ones(3, np.float32), F))
    assert ops(graph) == ["multiply"]


def test_a_decided_conditional_is_its_branch():
    def build(n):
        flag = n.graph.constant(np.True_)
        return control_flow.cond(flag, lambda: n + 1, lambda: n * 2)

    assert ops(fold(traced(build, N))) == ["add"]


def test_a_loop_that_never_runs_is_its_initial_values():
    def build(n):
        return control_flow.while_loop(lambda n: call("logical_and", n > 0, False), lambda n: n + 1, [n])

    graph = fold(traced(build, N))
    # the conjunction is not folded (its other operand may be anything); a constant condition is
    assert ops(graph) == ["While"]

    def never(n):
        return control_flow.while_loop(lambda n: n.graph.constant(np.False_), lambda n: n + 1, [n])

    graph = fold(traced(never, N))
    assert ops(graph) == [] and graph.outputs[0] is graph.inputs[0]


def test_constants_flow_into_loops_and_branches():
    def build(n):
        k = n.graph.constant(np.int32(2)) + 3
        return control_flow.while_loop(lambda i: i < n, lambda i: i + k * 2, [0])

    loop = loop_of(optimize(traced(build, N)))
    assert ops(loop.attrs["body"]) == ["add"] and len(loop.inputs) == 2


def test_a_constant_flows_only_into_the_loop_that_takes_it():
    def build(n):
        five = n.graph.constant(np.int32(2)) + 3
        (first,) = control_flow.while_loop(lambda i: i < 2, lambda i: i + five * 2, [0])
        loop = loop_of(n.graph)
        second = n.graph.add(loop.op, [loop.inputs[0], n], loop.attrs)  # with the same sub-graphs
        return [first, second.outputs[0]]

    assert values_of(fold(traced(build, N)), np.int32(1)) == [10, 2]


def test_what_fails_is_left_to_fail_when_it_runs():
    def build(n):
        return call("getitem", n.graph.constant(np.zeros(2, np.float32)), n.graph.constant(np.int32(1)) + 4)

    graph = traced(build, N)
    assert "getitem" in ops(fold(graph))
