"""Regions: what becomes one node, and that nothing else changes."""

from __future__ import annotations

import random
import threading
import unittest.mock

import autoloop as al
import numpy as np
import pytest
from api import (
    Executable,
    Op,
    Price,
    apply,
    call,
    compile_region,
    config,
    control_flow,
    dtypes,
    estimate,
    form_regions,
    lower,
    optimize,
    regions_pass,
)
from examples import examples
from flow import priced
from graphs import traced
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import Program, assert_same, interpret, outcome

#: takes long, as far as anybody knows
HEAVY = Op("heavy", lambda x: (x.dtype, x.shape), lambda x: x + 1, traits=priced(1e6))
N = ("n", dtypes.int32, [])
X = ("x", dtypes.float32, [])


def optimized(build, *inputs):
    return optimize(traced(build, *inputs))


def ops(graph):
    """Op names of the nodes that compute, those of loops and branches in lists; regions as what is in them."""
    names = []
    for node in graph.nodes:
        if node.op.culprit is not None:  # a region
            names.append("{" + node.op.doc + "}")
        elif node.subgraphs:
            names.append([name for sub in node.subgraphs for name in ops(sub)])
        elif node.inputs:
            names.append(node.op.name)
    return names


def formed(graph):
    return form_regions(graph, compile_region)


def run_on_threads(graph, values, threads=1):
    return Executable(lower(graph, graph.outputs, graph.inputs)).run(values, threads=threads)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 30), st.booleans(), st.sampled_from([1, 2]))
def test_random_programs_mean_the_same_with_regions(seed, effects, threads):
    program = Program(random.Random(seed), effects)
    heavy = lambda node: 1e9 if random.Random(f"{seed} {node.name}").random() < 0.3 else estimate(node)
    expected = outcome(lambda values: interpret(program.graph, values), program.values)
    with unittest.mock.patch.object(regions_pass, "estimate", heavy):
        regions = formed(optimize(program.graph))
    assert_same(outcome(lambda values: run_on_threads(regions, values, threads), program.values), expected)


def test_cheap_nodes_that_are_ready_together_are_one():
    graph = formed(optimized(lambda x, n: [call("tanh", x * 2.0 + 1.0), n * n + 1], X, N))
    (name,) = ops(graph)
    assert name.startswith("{") and name.count("multiply") == 2
    assert [v.item() for v in run_on_threads(graph, [np.float32(0), np.int32(3)])] == [pytest.approx(np.tanh(1)), 10]


def test_a_cheap_loop_is_one():
    def build(x, n):
        _, s = control_flow.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + x), (0, 0.0))
        return apply(HEAVY, [s])

    graph = formed(optimized(build, X, N))
    assert ops(graph) == ["{While}", "heavy"]
    assert run_on_threads(graph, [np.float32(2), np.int32(5)]) == [11]


def test_one_writes_to_what_nobody_else_sees():
    def build(x, n):
        return call("set_item", call("set_item", x, n, x[n + 1] * 2.0), n + 2, 5.0)

    graph = formed(optimized(build, ("x", dtypes.float64, [2000]), N))
    assert len(ops(graph)) == 1
    given, expected = np.arange(2000.0), np.arange(2000.0)
    expected[3], expected[5] = 8.0, 5.0
    (made,) = run_on_threads(graph, [given, np.int32(3)])  # the caller sees it
    assert np.array_equal(made, expected) and given[3] == 3.0
    lent = Executable(lower(graph, graph.outputs, graph.inputs), [0])
    assert lent.run([given, np.int32(3)])[0] is given and np.array_equal(given, expected)


def test_a_heavy_node_is_never_inside_one():
    def build(x):
        y = apply(HEAVY, [x * 2.0 + 1.0])
        return y * 3.0 - x, x - 1.0

    assert ops(formed(optimized(build, X))) == ["{multiply, add}", "heavy", "{multiply, subtract}", "subtract"] or ops(
        formed(optimized(build, X))
    ) == ["{multiply, add, subtract}", "heavy", "{multiply, subtract}"]


def test_a_counter_is_never_in_one_with_the_chain_beside_it():
    def body(i, x):
        return i + 1, apply(HEAVY, [x + 1.0]) * 2.0 + call("cast", i * 2, dtypes.float32)

    graph = formed(optimized(lambda x, n: control_flow.while_loop(lambda i, x: i < n, body, (0, x)), X, N))
    (loop,) = ops(graph)
    # the test of the loop, the counter's step, what is done to x before and after
    assert sorted(loop) == sorted(["less", "add", "add", "heavy", "{multiply, multiply, cast, add}"])
    i, x = run_on_threads(graph, [np.float32(1), np.int32(3)])
    assert (i, x) == (3, interpret(graph_of_body(body), [np.float32(1), np.int32(3)])[1])


def graph_of_body(body):
    return optimized(lambda x, n: control_flow.while_loop(lambda i, x: i < n, body, (0, x)), X, N)


def test_a_loop_some_of_whose_variables_are_ready_earlier_stays_a_loop():
    def build(x, n):
        y = apply(HEAVY, [x])
        return control_flow.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + 1.0), (0, y))

    ((loop,),) = [[n for n in ops(formed(optimized(build, X, N))) if isinstance(n, list)]]
    assert sorted(loop) == ["add", "add", "less"]


def test_a_counter_runs_ahead_of_a_chain_that_is_blocked():
    """The chain waits for the counter's last value, which another run of the loop's counter must reach first."""
    reached, seen = threading.Event(), []

    def slow(x):
        assert reached.wait(10)
        return x + 1

    def note(i):
        seen.append(int(i))
        if i == 4:
            reached.set()
        return i

    blocked = Op("blocked", lambda x: (x.dtype, x.shape), slow, traits=priced(1e6).but(price=Price.FOREIGN))
    noted = Op("noted", lambda x: (x.dtype, x.shape), note)

    def body(i, x):
        return apply(noted, [i * 2 - i + 1]), apply(blocked, [x * 2.0 - x])

    graph = formed(optimized(lambda x: control_flow.while_loop(lambda i, x: i < 5, body, (0, x)), X))
    assert run_on_threads(graph, [np.float32(0)], threads=2) == [5, 5] and seen == [1, 2, 3, 4, 5]


def test_a_failure_in_one_names_operation_and_all_iterations():
    def inner(j, s, x):
        return j + 1, s + x[j] * 2.0

    def body(i, x):
        _, s = control_flow.while_loop(lambda j, s: j < i, lambda j, s: inner(j, s, x), (0, 0.0), name="inner")
        return i + 1, x + s

    graph = optimized(
        lambda x: control_flow.while_loop(lambda i, x: i < 9, body, (0, apply(HEAVY, [x])), name="outer")[1],
        ("x", dtypes.float32, [4]),
    )
    graph = formed(graph)
    with pytest.raises(IndexError) as caught:
        run_on_threads(graph, [np.ones(4, np.float32)])
    (note,) = caught.value.__notes__
    assert "(getitem)" in note and note.index("iteration 4 of the loop 'outer/body/inner'") < note.index(
        "iteration 5 of the loop 'outer'"
    )


@pytest.mark.auto
def test_auto_uses_them_where_it_takes_the_scheduler(monkeypatch):
    monkeypatch.setattr(config, "get_num_threads", lambda: 2)

    def chains(a, b, A):
        def body(i, j, a, b):
            j = j * 3 % 7 + 1
            scale = al.cast(j, al.float32) * 0.125
            return i + 1, j, al.tanh(a @ A * scale), al.tanh(b @ A * scale)

        return al.while_loop(lambda i, *_: i < 3, body, (0, 1, a, b))[2:]

    rng = np.random.default_rng(0)
    values = [rng.standard_normal((300, 300)).astype(np.float32) / 10 for _ in range(3)]
    made = {executor: al.function(chains, executor=executor) for executor in ("auto", "dataflow", "sequential")}
    results = {executor: [t.numpy() for t in f(*values)] for executor, f in made.items()}
    assert made["auto"].get_concrete_function(*values).runner.executor == "dataflow"
    for executor in ("dataflow", "sequential"):
        for got, expected in zip(results["auto"], results[executor]):
            np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-5)  # BLAS on one or two threads
