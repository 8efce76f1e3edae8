"""The passes: each keeps what a graph means, does what it says, and does nothing the second time."""

from __future__ import annotations

import random

import numpy as np
import pytest
from api import (
    PASSES,
    SCALAR,
    Graph,
    TensorShape,
    apply_several,
    call,
    can_fail,
    choose,
    config,
    control_flow,
    cost,
    dtypes,
    eliminate_common,
    estimate,
    gathered,
    graph_can_fail,
    hoist_invariants,
    optimize,
    prune,
)
from each_case import each
from examples import examples
from graphs import traced
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import NOTE, Program, assert_same, interpret, outcome


def described(graph, indent=""):
    """Everything a pass may change, as text; tensors are numbered in order, names do not count."""
    numbers = {}
    lines = []

    def number(tensor):
        return numbers.setdefault(tensor, len(numbers))

    for node in graph.nodes:
        value = node.attrs.get("value")
        attrs = "" if value is None else repr(value)
        inputs, outputs = [number(t) for t in node.inputs], [number(t) for t in node.outputs]
        lines.append(f"{indent}{node.op.name} {inputs} -> {outputs} {attrs}")
        lines += [described(g, indent + "    ") for g in node.subgraphs]
    lines.append(f"{indent}{[number(t) for t in graph.inputs]} -> {[number(t) for t in graph.outputs]}")
    return "\n".join(lines)


def ops(graph):
    """The names of the ops in ``graph`` itself, constants and parameters aside."""
    return [n.op.name for n in graph.nodes if n.op.name not in ("Const", "Placeholder")]


def loop_of(graph):
    (node,) = [n for n in graph.nodes if n.op.name == "While"]
    return node


def values_of(graph, *values):
    return interpret(graph, list(values))


N = ("n", dtypes.int32, [])
F = ("f", dtypes.float32, [])
X = ("x", dtypes.float32, [3])
RANDOM = settings(max_examples=examples(50), deadline=None, suppress_health_check=list(HealthCheck))


# -- all of them ------------------------------------------------------------------------------------------


@RANDOM
@given(st.integers(0, 1 << 30), st.booleans())
def test_every_pass_keeps_the_meaning_and_is_idempotent(seed, effects):
    program = Program(random.Random(seed), effects)
    expected = outcome(lambda values: interpret(program.graph, values), program.values)
    graph = program.graph
    for transform in PASSES:
        before = described(graph)
        after = transform(graph)
        assert described(graph) == before
        assert_same(outcome(lambda values: interpret(after, values), program.values), expected)
        assert described(prune(transform(after))) == described(prune(after))
        graph = after


def test_names_places_and_promises_survive():
    def build(x):
        y = call("tanh", x)
        y.set_shape([3])
        return y * 2.0

    graph = traced(build, ("x", dtypes.float32, [None]))
    for transform in PASSES:
        made = transform(graph)
        assert [n.name for n in made.nodes if n.op.name == "tanh"] == ["tanh"]
        (node,) = [n for n in made.nodes if n.op.name == "tanh"]
        (source,) = [n for n in graph.nodes if n.op.name == "tanh"]
        assert node.location == source.location and node.declared == {0: TensorShape([3])}


def nodes_inside(graph):
    """All nodes of ``graph`` and of the graphs inside it."""
    return [n for node in graph.nodes for n in (node, *[m for g in node.subgraphs for m in nodes_inside(g)])]


def nested(n, x):
    return control_flow.while_loop(
        lambda i, x: i < n,
        lambda i, x: (i + 1, control_flow.cond(i > 3, lambda: x * 2.0, lambda: call("tanh", x))),
        (0, x),
    )


@each(PASSES)
def test_what_a_pass_does_not_change_is_not_copied(transform):
    graph = optimize(traced(nested, N, X))
    assert transform(graph) is graph


def test_the_optimised_graph_shares_no_node_with_the_traced_one():
    graph = traced(nested, N, X)
    made = optimize(graph)
    assert not {*nodes_inside(graph)} & {*nodes_inside(made)}
    assert all(n.graph is made for n in made.nodes)
    assert all(m.graph is g and g.parent is made for n in made.nodes for g in n.subgraphs for m in g.nodes)


def test_deep_graphs_need_no_recursion():
    def build(n):
        for _ in range(2000):
            n = n * 2 + 1
        return n

    graph = traced(build, N)
    assert len(optimize(graph).nodes) >= 4000


# -- prune ------------------------------------------------------------------------------------------------


def test_only_the_needed_loop_variables_stay():
    def body(i, heavy, light, j):
        return i + 1, call("tanh", heavy), light + 1, j + i

    build = lambda n, x: control_flow.while_loop(lambda i, *_: i < n, body, (0, x, 0, 0))[3]
    loop = loop_of(prune(traced(build, N, X)))
    assert loop.attrs["names"] == ("i", "j") and loop.attrs["n_vars"] == 2
    assert "tanh" not in ops(loop.attrs["body"])
    assert len(loop.inputs) == len(loop.attrs["body"].inputs) == len(loop.attrs["cond"].inputs) == 3


def test_effects_stay_with_what_they_need():
    def body(i, a, b):
        apply_several(NOTE, [a])
        return i + 1, a * 2, b * 3

    build = lambda n: control_flow.while_loop(lambda i, *_: i < n, body, (0, 1, 1))[0]
    loop = loop_of(prune(traced(build, N)))
    assert loop.attrs["names"] == ("i", "a", "token") and loop.attrs["token"] == 2


def test_dead_branch_results_and_captures_go():
    def build(n, x):
        a, _ = control_flow.cond(n > 0, lambda: (n * 2, call("tanh", x)), lambda: (n, x))
        return a

    graph = prune(traced(build, N, X))
    (node,) = [n for n in graph.nodes if n.op.name == "Cond"]
    assert len(node.outputs) == 1 and len(node.inputs) == 2 and len(graph.inputs) == 2


def test_a_variable_that_never_changes_becomes_a_capture():
    build = lambda n, x: control_flow.while_loop(lambda i, *_: i < n, lambda i, x, y: (i + 1, x, y + x), (0, x, x))[1:]
    graph = prune(traced(build, N, X))
    assert loop_of(graph).attrs["names"] == ("i", "y")
    assert graph.outputs[0] is graph.inputs[1]


def test_nested_loops_are_pruned_as_deep_as_they_go():
    def body(i, a, b):
        inner = control_flow.while_loop(lambda j, *_: j < i, lambda j, a, b: (j + 1, a + 1, b * 2), (0, a, b))
        return i + 1, inner[1], inner[2]

    loop = loop_of(prune(traced(lambda n: control_flow.while_loop(lambda i, *_: i < n, body, (0, 0, 1))[1], N)))
    assert loop.attrs["names"] == ("i", "a")
    assert loop_of(loop.attrs["body"]).attrs["names"] == ("j", "a")


# -- common sub-expressions -------------------------------------------------------------------------------


def test_equal_nodes_are_merged():
    graph = traced(lambda x: call("tanh", x * 2.0) + call("tanh", x * 2.0), X)
    assert ops(prune(eliminate_common(graph))) == ["multiply", "tanh", "add"]


def test_constants_that_only_compare_equal_are_not_merged():
    def build(f):
        return [call("copysign", f, 0.0), call("copysign", f, -0.0), call("cast", f, dtypes.int32) + 1]

    graph = eliminate_common(traced(build, F))
    a, b, _ = values_of(graph, np.float32(2))
    assert (a, b) == (2, -2)


def test_effects_are_never_merged():
    def build(n):
        apply_several(NOTE, [n])
        apply_several(NOTE, [n])
        return n

    assert ops(eliminate_common(traced(build, N))).count("note") == 2


# -- loop-invariant motion --------------------------------------------------------------------------------


def test_invariants_leave_all_loops_they_are_invariant_in():
    def outer(i, y, x):
        def inner(j, y):
            return j + 1, y + call("tanh", x) * call("cast", i, dtypes.float32)

        _, y = control_flow.while_loop(lambda j, y: j < 3, inner, (0, y))
        return i + 1, y, x

    graph = optimize(traced(lambda n, x: control_flow.while_loop(lambda i, *_: i < n, outer, (0, x, x))[1], N, X))
    assert ops(graph) == ["tanh", "While"]
    body = loop_of(graph).attrs["body"]
    assert ops(body) == ["cast", "multiply", "While", "add"] or set(ops(body)) == {"cast", "multiply", "While", "add"}
    assert ops(loop_of(body).attrs["body"]).count("add") == 2


def test_what_can_fail_stays():
    def build(n, y):
        return control_flow.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + y[7]), (0, 0.0))[1]

    graph = traced(build, N, ("y", dtypes.float32, [None]))
    hoisted = hoist_invariants(graph)
    assert "getitem" in ops(loop_of(hoisted).attrs["body"])
    assert values_of(hoisted, np.int32(0), np.zeros(2, np.float32)) == [0.0]


def test_what_is_expensive_stays_unless_the_condition_needs_it():
    big = ("x", dtypes.float32, [1000, 1000])

    def in_body(n, x):
        return control_flow.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + call("sum", x @ x)), (0, 0.0))[1]

    def in_cond(n, x):
        return control_flow.while_loop(lambda s: s < call("sum", x @ x), lambda s: s + 1.0, [0.0])

    assert "matmul" not in ops(hoist_invariants(traced(in_body, N, big)))
    assert "matmul" in ops(hoist_invariants(traced(in_cond, N, big)))


def test_effects_stay():
    def body(i, n):
        apply_several(NOTE, [n])
        return i + 1, n

    graph = hoist_invariants(traced(lambda n: control_flow.while_loop(lambda i, n: i < 3, body, (0, n)), N))
    assert "note" in ops(loop_of(graph).attrs["body"])


def test_what_can_fail():
    def node(build, *inputs):
        return traced(build, *inputs).outputs[0].op

    vectors = [("x", dtypes.float32, [None]), ("y", dtypes.float32, [None])]
    assert not can_fail(node(lambda x: x + 1.0, vectors[0]))
    assert can_fail(node(lambda x, y: x + y, *vectors)) and not can_fail(node(lambda x, y: x + y, X, X))
    assert can_fail(node(lambda x: x[9], vectors[0]))
    assert can_fail(node(lambda n: n**n, N)) and not can_fail(node(lambda f: f**f, F))
    assert graph_can_fail(traced(lambda n: control_flow.cond(n > 0, lambda: n**n, lambda: n), N))


# -- parts of graphs ----------------------------------------------------------------------------------------


def test_nodes_gathered_into_a_graph():
    graph = Graph()
    with graph.as_default():
        a, b = (graph.parameter(dtypes.int32, SCALAR, name) for name in "ab")
        middle = a * 2
        out = middle + b * 2
    part = gathered(graph, [n for n in graph.nodes if n.op.name in ("add", "multiply")][1:], [middle, b], [out])
    assert ops(part) == ["multiply", "add"] and not {*part.nodes} & {*graph.nodes}
    assert values_of(part, np.int32(5), np.int32(6)) == [17]


# -- cost -------------------------------------------------------------------------------------------------


@pytest.fixture
def two_threads(two_threads, monkeypatch):
    monkeypatch.setattr(cost, "blas_threads", lambda most: 1)


W = ("w", dtypes.float32, [400, 400])


def test_cheap_loops_run_one_node_after_the_other(two_threads):
    graph = traced(lambda n: control_flow.while_loop(lambda i: i < n, lambda i: i + 1, [0]), N)
    choice = choose(graph)
    assert choice.executor == "sequential" and "too cheap" in choice.reason


def chains(*weights):
    def body(i, *states):
        return (i + 1, *[call("tanh", s @ w) for s, w in zip(states, weights)])

    return control_flow.while_loop(lambda i, *_: i < 20, body, (0, *weights))[1:]


def test_one_heavy_chain_cannot_overlap_two_can(two_threads):
    one = choose(traced(lambda w: chains(w), W))
    assert one.executor == "sequential" and "wait for each other" in one.reason and one.node.op.name == "matmul"
    two = choose(traced(lambda w, v: chains(w, v), W, ("v", *W[1:])))
    assert two.executor == "dataflow" and two.node.op.name == "While" and "times as fast" in two.reason


def layers(parallel_iterations):
    """Two layers, each on its own state and on what the layer before made: iterations can overlap."""

    def build(w):
        def body(i, a, b):
            a = call("tanh", a @ w)
            return i + 1, a, call("tanh", (b + a) @ w)

        return control_flow.while_loop(lambda i, *_: i < 50, body, (0, w, w), parallel_iterations=parallel_iterations)[
            2
        ]

    return traced(build, W)


def test_stacked_layers_overlap_when_the_window_allows(two_threads):
    assert choose(layers(10)).executor == "dataflow"
    assert choose(layers(1)).executor == "sequential"


def test_independent_iterations_overlap(two_threads):
    def body(i, total, x):
        return i + 1, total + call("sum", call("tanh", x * call("cast", i, dtypes.float32))), x

    build = lambda x: control_flow.while_loop(lambda i, *_: i < 50, body, (0, 0.0, x))[1]
    assert choose(traced(build, ("x", dtypes.float32, [1_000_000]))).executor == "dataflow"


def test_products_that_are_parallel_by_themselves_gain_less(two_threads, monkeypatch):
    graph = traced(lambda w, v: chains(w, v), W, ("v", *W[1:]))
    monkeypatch.setattr(cost, "blas_threads", lambda most: 2)
    monkeypatch.setattr(cost, "BLAS_GAIN", 1.0)
    choice = choose(graph)
    assert choice.executor == "sequential" and "too little" in choice.reason


def test_one_thread_never_overlaps():
    config.set_num_threads(1)
    try:
        choice = choose(traced(lambda w, v: chains(w, v), W, ("v", *W[1:])))
    finally:
        config.set_num_threads(None)
    assert choice.executor == "sequential" and "one thread" in choice.reason


def test_costs_grow_with_size_and_kind():
    def time(build, *inputs):
        return estimate(traced(build, *inputs).outputs[0].op)

    big = ("x", dtypes.float32, [1000, 1000])
    assert time(lambda n: n + 1, N) < 1e3 < time(lambda x: x + 1.0, big) < time(lambda x: call("tanh", x), big)
    assert time(lambda x: x[0], big) < 1e3 and time(lambda x: call("reshape", x, [-1]), big) < 1e3
    assert 1e3 < time(lambda x: x[x[0] > 0.0], big) and 1e6 < time(lambda x: x @ x, big)
    as_sum = lambda x: call("einsum", "ij,jk->ik", x, x)  # noqa: E731
    assert time(as_sum, big) == time(lambda x: x @ x, big) < time(lambda x: x @ x, ("x", dtypes.float64, [1000, 1000]))
    assert time(lambda x: call("inv", x), big) == time(lambda x: call("solve", x, x[0]), big) > 1e6


def test_a_number_is_written_after_the_part_has_been_read():
    def cleared(g, h):
        part = call("getitem", g, slice(1, -1))
        left = call("set_item", g, slice(1, -1), 0.0)
        twice = call("multiply", part, h)
        return call("add_at", left, slice(2, None), twice)

    graph = traced(cleared, ("g", np.dtype(float), (300,)), ("h", np.dtype(float), (298,)))
    names = [node.op.name for node in optimize(graph).nodes]
    assert names.index("multiply") < names.index("set_item") < names.index("add_at") and "copied" not in names
