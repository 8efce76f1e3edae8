"""What runs compute, in what order, and what they hold: one thread or several, any window, any seed."""

from __future__ import annotations

import json
import threading
from itertools import product

import numpy as np
import pytest
from api import (
    EAGER,
    SCALAR,
    Executable,
    Graph,
    Op,
    RunState,
    SeededExecutor,
    config,
    dtypes,
    lower,
    profiler,
)
from each_case import each
from examples import examples
from flow import (
    ADD,
    EQUAL,
    LESS,
    MOD,
    MUL,
    boolean,
    branch,
    call,
    const,
    counted,
    failing,
    heavy,
    loop,
    probe,
    scalar,
)  # fmt: skip
from hypothesis import given, settings
from hypothesis import strategies as st

THREADS = [1, 2, 4]


def program():
    """A nested loop with a branch in each; returns the graph, the fetches and the feeds.

    The heavy node makes the scheduler use its threads whatever the sizes are.
    """
    graph = Graph()
    n, x = scalar(graph, "n"), scalar(graph, "x")

    def inner(g, i, x):
        def body(h, j, y):
            odd = call(EQUAL, call(MOD, call(ADD, j, h.capture(i)), const(h, 2)), const(h, 1))
            (y,) = branch(
                h, odd,
                lambda k: call(ADD, k.capture(y), k.capture(j)),
                lambda k: call(heavy(lambda a, b: a * 3 + b), k.capture(y), k.capture(i)),
            )  # fmt: skip
            return [call(ADD, j, const(h, 1)), call(MOD, y, const(h, 10007))]

        return loop(g, lambda h, j, y: call(LESS, j, h.capture(i)), body, [const(g, 0), x])[1]

    def body(g, i, x, z):
        (x,) = branch(
            g, call(EQUAL, call(MOD, i, const(g, 3)), const(g, 0)), lambda h: h.capture(x),
            lambda h: inner(h, h.capture(i), h.capture(x)),
        )  # fmt: skip
        return [call(ADD, i, const(g, 1)), x, call(heavy(lambda a, b: a * 31 + b), z, i)]

    outs = loop(graph, lambda g, i, x, z: call(LESS, i, g.capture(n)), body, [const(graph, 0), x, const(graph, 1)])
    return graph, outs, [n, x]


def expected(n, x):
    z = 1
    for i in range(n):
        if i % 3:
            for j in range(i):
                x = (x + j if (i + j) % 2 == 1 else x * 3 + i) % 10007
        z = z * 31 + i
    return [n, x, z]


# -- values -----------------------------------------------------------------------------------------------


@each(product(THREADS, [0, 1, 2, 9]))
def test_nested_loops_and_branches(threads, n):
    run = Executable(lower(*program())).run
    assert run([n, 5], threads=threads) == expected(n, 5)


def test_the_plan_is_not_used_up():
    run = Executable(lower(*program())).run
    assert [run([n, 1], threads=2) for n in (3, 0, 3)] == [expected(n, 1) for n in (3, 0, 3)]


def with_window(window, make=program):
    """``program`` with another window in every loop."""
    lowered = lower(*make())
    frames = tuple([type(f)(f.index, f.parent, f.name, f.source, window) for f in lowered.frames])
    return type(lowered)(lowered.nodes, frames, lowered.feeds, lowered.fetches)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 8), st.integers(0, 100))
def test_any_window_and_thread_count_give_the_same(window, threads, n, x):
    assert Executable(with_window(window)).run([n, x], threads=threads) == expected(n, x)


def replay(seeds):
    for window in (1, 3, 10):
        lowered = with_window(window)
        for seed in seeds:
            assert SeededExecutor(lowered, seed).run([6, 2]) == expected(6, 2)


def test_many_orders_give_one_answer():
    replay(range(40))


@pytest.mark.nightly
def test_a_thousand_orders_give_one_answer():
    replay(range(1000))


def test_a_seed_repeats_its_order_and_seeds_differ():
    lowered = lower(*program())
    orders = []
    for seed in (1, 1, 2):
        executor = SeededExecutor(lowered, seed)
        executor.run([6, 2])
        orders.append(executor.order)
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_a_very_large_window_allocates_nothing_ahead():
    graph = Graph()
    i, s = counted(graph, 1000, lambda g, i, s: [call(ADD, s, i)], [const(graph, 0)], window=10**9)
    assert Executable(lower(graph, [i, s])).run([]) == [1000, 499500]


def test_several_outputs():
    graph = Graph()
    x = scalar(graph)
    divmod_op = Op("divmod", lambda a, b: [(a.dtype, a.shape), (b.dtype, b.shape)], divmod, several=True)
    q, r = graph.add(divmod_op, [x, const(graph, 7)]).outputs
    run = Executable(lower(graph, [r, q], [x])).run
    assert run([30]) == [2, 4]
    assert run([30], threads=4) == [2, 4]


def test_static_arguments_are_passed():
    graph = Graph()
    x = scalar(graph)
    power = Op("power", lambda x, exponent: (x.dtype, x.shape), lambda x, exponent: x**exponent)
    out = call(power, x, exponent=3)
    assert Executable(lower(graph, [out], [x])).run([2]) == [8]


def test_stateful_kernels_get_the_state():
    graph = Graph()
    states = []
    read = Op("read", lambda: (np.dtype(np.int64), SCALAR), lambda state: states.append(state) or np.int64(7),
              stateful=True)  # fmt: skip
    out = graph.add(read, []).outputs[0]
    run = Executable(lower(graph, [out])).run
    mine = RunState()
    assert run([]) == [7] and run([], mine) == [7]
    assert states == [EAGER, mine]


def test_floating_point_warnings_are_off():
    graph = Graph()
    x = graph.parameter(np.dtype(np.float64), SCALAR, "x")
    out = call(probe(lambda v: np.float64(1) / v), x)
    for threads in THREADS:
        assert Executable(lower(graph, [out], [x])).run([np.float64(0)], threads=threads) == [np.inf]


def test_the_number_of_feeds_is_checked():
    graph, outs, feeds = program()
    with pytest.raises(ValueError, match="2 feeds are needed, got 1"):
        Executable(lower(graph, outs, feeds)).run([1])


# -- what runs and what does not --------------------------------------------------------------------------


def test_a_loop_in_an_untaken_branch_never_runs_and_never_hangs():
    graph = Graph()
    p, x = graph.parameter(dtypes.bool_, SCALAR, "p"), scalar(graph)

    def body(g, i, y):
        outer = g.capture(y)
        (out,) = branch(
            g, call(EQUAL, i, const(g, 2)),
            lambda h: counted(h, 3, lambda k, j, z: [call(ADD, z, j)], [h.capture(outer)])[1],
            lambda h: h.capture(outer),
        )  # fmt: skip
        return [out]

    (out,) = branch(
        graph, p, lambda g: counted(g, 4, body, [g.capture(x)])[1],
        lambda g: counted(g, 4, lambda h, i, y: [call(failing("untaken"), y)], [g.capture(x)])[1],
    )  # fmt: skip
    lowered = lower(graph, [out], [p, x])
    for threads in THREADS:
        assert Executable(lowered).run([np.True_, 10], threads=threads) == [13]
        with pytest.raises(ZeroDivisionError):
            Executable(lowered).run([np.False_, 10], threads=threads)


def test_the_merge_takes_the_live_side_in_every_iteration():
    graph = Graph()
    x = scalar(graph)
    taken = []

    def body(g, i, y):
        def arm(name):
            return lambda h: call(probe(lambda v: taken.append(name) or v, name), h.capture(y))

        return list(branch(g, call(EQUAL, call(MOD, i, const(g, 2)), const(g, 0)), arm("even"), arm("odd")))

    _, y = counted(graph, 5, body, [x])
    assert SeededExecutor(lower(graph, [y], [x])).run([3]) == [3]
    assert taken == ["even", "odd", "even", "odd", "even"]


def test_effects_follow_the_token_in_any_order_of_execution():
    graph = Graph(ordered=True)
    said = []
    say = Op("say", lambda x: [], lambda x: said.append(int(x)) or (), effect=True, several=True)

    def body(g, i, token):
        first = g.add(say, [i, token])  # the builder appends its own token
        return [call(ADD, i, const(g, 1)), first.outputs[-1]]

    def cond(g, i, token):
        node = g.add(say, [call(MUL, i, const(g, 100))])
        return [call(LESS, i, const(g, 3)), node.outputs[-1]]

    def build():
        start = graph.effect_token()
        subs = []
        for name, make in (("cond", cond), ("body", body)):
            sub = Graph(name, graph)
            i = sub.parameter(np.dtype(np.int64), SCALAR, "i")
            token = sub.effect_token()
            if name == "cond":
                sub.outputs = cond(sub, i, token)
            else:
                node = sub.add(say, [i])
                sub.outputs = [call(ADD, i, const(sub, 1)), node.outputs[-1]]
            sub.inputs = [i, token]
            subs.append(sub)
        attrs = {
            "cond": subs[0], "body": subs[1], "n_vars": 2, "names": ("i", "token"), "invariants": (SCALAR, SCALAR),
            "parallel_iterations": 10, "token": 1, "specs": [(np.dtype(np.int64), SCALAR), (dtypes.bool_, SCALAR)],
        }  # fmt: skip
        from flow import WHILE

        return graph.add(WHILE, [const(graph, 0), start], attrs).outputs

    i, token = build()
    lowered = lower(graph, [i, token])
    for seed in range(20):
        said.clear()
        assert SeededExecutor(lowered, seed).run([]) == [3, True]
        assert said == [0, 0, 100, 1, 200, 2, 300]
    said.clear()
    Executable(lower(graph, [i])).run([])
    assert said == []


# -- errors and time --------------------------------------------------------------------------------------


@each(THREADS)
def test_an_error_names_the_node_and_its_iterations(threads):
    graph = Graph()

    def fail_at_two(i, j):
        if i == 1 and j == 2:
            raise KeyError("the user's")
        return j

    def body(g, i, y):
        return [counted(g, 4, lambda h, j, z: [call(heavy(fail_at_two), h.capture(i), j)], [y])[1]]

    _, y = counted(graph, 3, body, [const(graph, 0)])
    with pytest.raises(KeyError, match="the user's") as info:
        Executable(lower(graph, [y])).run([], threads=threads)
    (note,) = info.value.__notes__
    assert "(heavy)" in note and "iteration 2 of the loop 'while/body/while'" in note
    assert note.index("iteration 2") < note.index("iteration 1 of the loop 'while'")
    assert "flow.py" in note


def endless(graph):
    return loop(
        graph, lambda g, i: call(Op("always", boolean, lambda i: np.True_), i),
        lambda g, i: [call(heavy(lambda i: i + 1), i)], [const(graph, 0)],
    )  # fmt: skip


@each(THREADS)
def test_an_endless_loop_stops_when_the_time_is_over(threads):
    graph = Graph()
    run = Executable(lower(graph, endless(graph))).run
    with pytest.raises(TimeoutError, match="longer than 0.02 s"):
        run([], threads=threads, timeout=0.02)


def test_an_endless_loop_that_computes_nothing_stops_when_the_time_is_over():
    graph = Graph()
    outs = loop(graph, lambda g, i: const(g, True), lambda g, i: [const(g, 1)], [const(graph, 0)])
    with pytest.raises(TimeoutError):
        Executable(lower(graph, outs)).run([], timeout=0.02)


def test_a_run_that_is_over_in_time_is_not_disturbed():
    graph, outs, feeds = program()
    for threads in THREADS:
        assert Executable(lower(graph, outs, feeds)).run([5, 1], threads=threads, timeout=60.0) == expected(5, 1)


@each([1, 2])
def test_a_run_that_cannot_go_on_says_what_waits(threads):
    # no structured graph can get stuck, so break a flat one: the Merge loses its Enter
    lowered = lower(*program())
    nodes = list(lowered.nodes)
    at = next(n.index for n in nodes if n.name == "while/Merge_1")
    fields = {s: getattr(nodes[at], s) for s in nodes[at].__slots__}
    nodes[at] = type(nodes[at])(**{**fields, "inputs": nodes[at].inputs[1:]})
    broken = type(lowered)(tuple(nodes), lowered.frames, lowered.feeds, lowered.fetches)
    with pytest.raises(RuntimeError, match="cannot go on") as info:
        Executable(broken).run([3, 1], threads=threads)
    assert "'while/Switch_1' (iteration 1 of 'while') waits for" in str(info.value)


# -- settings ---------------------------------------------------------------------------------------------


def test_the_number_of_threads():
    assert 1 <= config.get_num_threads() <= 8
    config.set_num_threads(3)
    try:
        assert config.get_num_threads() == 3
    finally:
        config.set_num_threads(None)
    for bad, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="positive integer"):
            config.set_num_threads(bad)


# -- timelines --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_a_trace_has_a_slice_per_kernel_with_frame_and_iteration(tmp_path, threads):
    graph, outs, feeds = program()
    executable = Executable(lower(graph, outs, feeds))
    path = tmp_path / "trace.json"
    with profiler.trace(path):
        executable.run([5, 1], threads=threads)
    executable.run([5, 1], threads=threads)
    events = json.loads(path.read_text())["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    assert {e["tid"] for e in slices} <= set(rows)
    assert threading.current_thread().name in rows.values()
    tests = [e for e in slices if e["name"] == "while/cond/less"]
    assert sorted(e["args"]["iteration"] for e in tests) == list(range(6))
    assert {e["args"]["frame"] for e in tests} == {"while"}
    assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in slices)
    deep = next(e for e in slices if e["args"].get("frame", "").startswith("while/body"))
    assert deep["args"]["loops"].endswith(("while:1", "while:2", "while:4"))


def test_a_trace_is_written_when_the_run_fails(tmp_path):
    graph = Graph()
    out = call(failing("x"), const(graph, 1))
    with pytest.raises(ZeroDivisionError), profiler.trace(tmp_path / "t.json"):
        Executable(lower(graph, [out])).run([])
    assert "failing" in (tmp_path / "t.json").read_text()
