"""Generated Python: what it looks like, that it computes what the graph means, and how it fails.

One file: what is written, and that it computes that, is said of the same loops.
"""

from __future__ import annotations

import gc
import random
import threading
import tracemalloc
import unittest.mock

import numpy as np
import pytest
from api import (
    SCALAR,
    Executable,
    Graph,
    Names,
    Op,
    ReusedArrays,
    RunState,
    apply,
    apply_several,
    call,
    compile_graph,
    config,
    control_flow,
    dtypes,
    emit,
    identifier,
    lower,
    optimize,
    profiler,
    sizes,
    templates,
)
from examples import examples
from graphs import run, traced
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import LOG, NOTE, Program, assert_same, interpret, outcome


def code(graph):
    """The generated source without the comments and the blank lines in front."""
    return "\n".join(line for line in emit(graph).source.splitlines() if not line.startswith("#")).strip()


N = ("n", dtypes.int32, [])
X = ("x", dtypes.float32, [None])


# -- what it looks like -----------------------------------------------------------------------------------


def test_a_scalar_loop_is_the_loop_one_would_write():
    graph = traced(lambda n: control_flow.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i * i), (0, 0))[1], N)
    assert emit(graph).source == (
        "# int32_0: np.int32(0)\n"
        "# int32_1: np.int32(1)\n"
        "\n"
        "def run(n):\n"
        "    i = int32_0\n"
        "    s = int32_0\n"
        "    while i < n:\n"
        "        s = s + i * i\n"
        "        i = i + int32_1\n"
        "    return [s]\n"
    )
    assert run(graph, np.int32(5)) == [30]


def test_branches_and_loops_share_the_users_variables():
    def body(i, x):
        total = control_flow.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + x[j]), (0, 0.0))[1]
        return i + 1, control_flow.cond(
            total > 1.0, lambda: x * 2.0, lambda: control_flow.cond(total > 0.5, lambda: x + 1.0, lambda: x)
        )

    graph = traced(lambda x: control_flow.while_loop(lambda i, x: i < 3, body, (0, x))[1], X)
    assert code(optimize(graph)) == "\n".join([
        "def run(x):",
        "    for i in range(3):",
        "        t = float32_0",
        "        for j in range(i):",
        "            t = t + x[j]",
        "        if t > float32_1:",
        "            x = x * float32_2",
        "        elif t > float32_0_5:",
        "            x = x + float32_1",
        "    return [x]",
    ])  # fmt: skip


def test_a_swap_is_one_statement():
    graph = traced(
        lambda n: control_flow.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + b), (0, 0, 1))[1:], N
    )
    assert "a, b = b, a + b" in code(graph)
    assert run(graph, np.int32(10)) == [55, 89]


def test_conditions_are_written_with_and_or_not():
    def cond(i, s):
        return call("logical_and", i < 10, call("logical_not", call("logical_or", s > 20, s == 7)))

    graph = traced(lambda n: control_flow.while_loop(cond, lambda i, s: (i + 1, s + i), (n, 0)), N)
    assert "while i < int32_10 and not (s > int32_20 or s == int32_7):" in code(graph)
    assert run(graph, np.int32(0)) == [7, 21]


def test_a_failing_operand_is_evaluated_even_if_the_other_one_decides():
    def cond(i, s):
        return call("logical_and", i < 2, call("getitem", call("stack", [s, s]), i) > 0)

    graph = traced(lambda: control_flow.while_loop(cond, lambda i, s: (i + 1, s), (0, 1.0)))
    with pytest.raises(IndexError):
        run(graph)


def test_small_choices_are_expressions():
    graph = traced(lambda n: control_flow.cond(n > 0, lambda: n * 2, lambda: -n), N)
    assert code(graph) == ("def run(n):\n    multiply = n * int32_2 if n > int32_0 else -n\n    return [multiply]")
    graph = traced(lambda n: control_flow.cond(n > 0, lambda: n, lambda: -n), N)
    assert code(graph) == "def run(n):\n    if not n > int32_0:\n        n = -n\n    return [n]"


def test_an_element_assignment_writes_in_place_to_an_array_of_the_loops_own():
    def build(x, n):
        body = lambda i, v: (i + 1, call("set_item", v, i, v[i] + 1.0))
        return control_flow.while_loop(lambda i, v: i < n, body, (0, x))[1]

    graph = optimize(traced(build, X, N))
    assert "v = np.array(x)" in code(graph) and "v[i] = v[i] + float32_1" in code(graph)
    given = np.zeros(4, np.float32)
    given.flags.writeable = False
    np.testing.assert_array_equal(run(graph, given, np.int32(3))[0], [1, 1, 1, 0])
    np.testing.assert_array_equal(given, 0)


def test_the_second_assignment_to_a_copy_needs_no_copy():
    def swapped(x):
        first, second = x[0], x[1]
        return call("set_item", call("set_item", x, 0, second), 1, first)

    graph = traced(swapped, X)
    assert code(graph) == "\n".join([
        "def run(x):",
        "    getitem = x[0]",
        "    set_item_1 = set_item(x, x[1], index=index)",
        "    set_item_1[1] = getitem",
        "    return [set_item_1]",
    ]) or code(graph).count("set_item(") == 1  # fmt: skip
    given = np.array([1, 2, 3], np.float32)
    assert run(graph, given)[0].tolist() == [2, 1, 3] and given.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "body",
    [
        lambda i, v, w: (i + 1, call("set_item", v, i, 1.0), v),  # the old value lives on in w
        lambda i, v, w: (i + 1, call("set_item", v, i, 1.0), call("reshape", v, [4])),  # a view of it does
        lambda i, v, w: (i + 1, call("set_item", w, i, 1.0), call("set_item", v, i, 2.0)),  # they change places
        lambda i, v, w: (i + 1, call("set_item", v, slice(1, 3), v[0:2]), w + v[i]),
    ],
)
def test_element_assignments_never_change_a_value_that_is_still_read(body):
    graph = traced(
        lambda x, y: control_flow.while_loop(lambda i, *_: i < 4, body, (0, x, y)),
        ("x", dtypes.float32, [4]), ("y", dtypes.float32, [4]),
    )  # fmt: skip
    values = [np.arange(4, dtype=np.float32), np.ones(4, np.float32)]
    for actual, expected in zip(run(optimize(graph), *values), interpret(graph, values)):
        np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(values[0], np.arange(4))


def test_rows_that_are_computed_from_rows_are_written_in_place():
    def build(x, n):
        body = lambda i, v: (i + 1, call("set_item", v, i, call("tanh", v[i - 1]) + v[0]))
        return control_flow.while_loop(lambda i, v: i < n, body, (1, x))[1]

    graph = optimize(traced(build, ("x", dtypes.float32, [4, 3]), N))
    assert "v[i] = np.tanh(v[i - int32_1]) + " in code(graph) and "set_item(" not in code(graph)
    values = [np.arange(12, dtype=np.float32).reshape(4, 3), np.int32(4)]
    np.testing.assert_array_equal(run(graph, *values)[0], interpret(graph, values)[0])
    assert values[0][1, 0] == 3


@pytest.mark.parametrize(
    "body",
    [
        lambda i, v, w: (i + 1, call("set_item", v, i, 1.0), w + v[0:4]),  # a view that is read, here before ...
        lambda i, v, w: (i + 1, call("set_item", v, i, w[1]), call("set_item", w, i, v[1:3][0])),  # ... and there
        lambda i, v, w: (i + 1, call("set_item", v, slice(1, 3), v[0:2] * 2.0), w + call("sum", v[1:])),
        lambda i, v, w: (i + 1, call("set_item", v, slice(1, 4), call("flip", v[0:3])), w),
        lambda i, v, w: (i + 1, call("set_item", v, i, 1.0), v[::-1]),  # a view that lives on
        lambda i, v, w: (
            i + 1,
            control_flow.while_loop(lambda j, u: j < 3, lambda j, u: (j + 1, call("set_item", u, j, v[j:][0] + 1)),
                                    (0, v))[1],
            w,
        ),
    ],
)  # fmt: skip
def test_views_of_an_array_see_it_as_it_was(body):
    graph = traced(
        lambda x, y: control_flow.while_loop(lambda i, *_: i < 4, body, (0, x, y)),
        ("x", dtypes.float32, [4]), ("y", dtypes.float32, [4]),
    )  # fmt: skip
    values = [np.arange(4, dtype=np.float32), np.ones(4, np.float32)]
    for made in (graph, optimize(graph)):
        for actual, expected in zip(run(made, *values), interpret(graph, values)):
            np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(values[0], np.arange(4))


def test_names_are_valid_and_not_taken():
    assert identifier("loop_vars[0]") == "loop_vars_0" and identifier("2x") == "v2x" and identifier("é") == "value"
    names = Names()
    assert [names.new_local(n) for n in ("x", "x", "while", "np", "print")] == ["x", "x_1", "while_", "np_", "print_"]
    names.release({"x"})
    assert names.new_global("x") != "x" and names.new_local("x") == "x"


@pytest.mark.parametrize(
    ("template", "args", "text"),
    [
        ("{0} * {1}", ["a + b", "c"], "(a + b) * c"),
        ("{0} - {1}", ["a - b", "c - d"], "a - b - (c - d)"),
        ("-{0}", ["a ** b"], "-a ** b"),
        ("{0} ** {1}", ["-a", "-b"], "(-a) ** -b"),
        ("{0} < {1}", ["a < b", "c"], "(a < b) < c"),
        ("np.tanh({0})", ["a + b"], "np.tanh(a + b)"),
        ("{0}.real", ["a + b"], "(a + b).real"),
        ("{0}[{1}]", ["-a", "b + c"], "(-a)[b + c]"),
    ],
)
def test_parentheses_are_where_they_are_needed(template, args, text):
    node = traced(lambda n: n + 1, N).nodes[-1]

    def expr(source):
        parsed = templates.parse(source)
        return templates.Expr.make(parsed.parts, parsed.precedence, node, [])

    made, _ = templates.render([templates.parse(template).fill([expr(a) for a in args], node)])
    assert made == text


@pytest.mark.parametrize(
    ("build", "written"),
    [
        (lambda n: call("cast", n, dtypes.float32), "np.float32(n)"),
        (lambda n: call("where", n > 0, n, -n), "n if n > int32_0 else -n"),
        (lambda n: call("maximum", n, 5), "max(n, int32_5)"),
        (lambda n: call("cast", call("stack", [n, n]), dtypes.bool_), "stack_1.astype(np.bool_)"),
    ],
)
def test_scalars_are_computed_in_the_fewest_words(build, written):
    graph = traced(build, N)
    assert written in code(graph).replace("stack(n, n, axis=0)", "stack_1")
    for value in (-7, 0, 9):
        (made,), (expected,) = run(graph, np.int32(value)), interpret(graph, [np.int32(value)])
        np.testing.assert_array_equal(made, expected)
        assert made.dtype == expected.dtype and isinstance(made, type(expected))


# -- what it computes -------------------------------------------------------------------------------------


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 30), st.booleans())
def test_random_programs_mean_the_same_everywhere(seed, effects):
    program = Program(random.Random(seed), effects)
    expected = outcome(lambda values: interpret(program.graph, values), program.values)
    optimized = optimize(program.graph)
    assert_same(outcome(compile_graph(program.graph), program.values), expected)
    assert_same(outcome(compile_graph(optimized), program.values), expected)
    executable = Executable(lower(optimized, optimized.outputs, optimized.inputs))
    assert_same(outcome(lambda values: executable.run(values, threads=1), program.values), expected)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 30))
def test_random_programs_mean_the_same_when_arrays_are_written_to_again(seed):
    program = Program(random.Random(seed))
    expected = outcome(lambda values: interpret(program.graph, values), program.values)
    with unittest.mock.patch.object(sizes, "LARGE", 1):  # as if all arrays were large
        compiled = compile_graph(optimize(program.graph))
    given_values = [np.array(v) for v in program.values]
    assert_same(outcome(compiled, program.values), expected)
    for value, before in zip(program.values, given_values):
        np.testing.assert_array_equal(value, before)


def test_zero_dimensional_arrays_become_scalars():
    graph = traced(lambda n: n + 1, N)
    (result,) = run(graph, np.array(41, np.int32))
    assert isinstance(result, np.int32) and result == 42


def test_integers_wrap_and_floats_overflow_in_silence():
    graph = traced(lambda n: [n + 2_000_000_000, call("floor_divide", n, 0), 1.0 / (n * 0.0)], N)
    with np.errstate(all="raise"):
        wrapped, quotient, infinite = run(graph, np.int32(2_000_000_000))
    assert (wrapped, quotient, infinite) == (-294967296, 0, np.inf)


def test_operations_with_several_outputs():
    pair = Op("pair", lambda x: [(x.dtype, x.shape), (x.dtype, x.shape)], lambda x: (x, -x), several=True)
    graph = traced(lambda n: [apply_several(pair, [n])[1], apply_several(pair, [n])[0]], N)
    assert run(graph, np.int32(3)) == [-3, 3]


def test_stateful_operations_get_the_state():
    ask = Op("ask", lambda: (dtypes.int32, SCALAR), lambda state: np.int32(state.answer), effect=True, stateful=True)

    class State(RunState):
        answer = 42

    def build(n):
        return control_flow.cond(n > 0, lambda: apply(ask, []), lambda: n)

    graph = traced(build, N)
    assert compile_graph(graph)([np.int32(1)], State())[0] == 42


def test_user_functions_compute_even_while_a_graph_is_built():
    graph = traced(lambda n: call("py_function", lambda a: call("add", a, 1).numpy(), [n], dtypes.int32), N)
    with Graph().as_default():
        assert run(graph, np.int32(1))[0] == 2


def test_code_nested_deeper_than_python_allows():
    def nest(depth, s):
        if depth == 0:
            return s + 1
        return control_flow.while_loop(lambda i, s: i < 1, lambda i, s: (i + 1, nest(depth - 1, s)), (0, s))[1]

    def choose(depth, n):
        if depth == 0:
            return n
        return control_flow.cond(n > depth, lambda: n * 0 + depth, lambda: choose(depth - 1, n) + 1)

    assert run(traced(lambda n: nest(25, n), N), np.int32(1)) == [2]
    assert run(traced(lambda n: choose(70, n), N), np.int32(0)) == [70]


def test_failures_in_outlined_code_know_all_the_loops_around_them():
    def nest(depth, s):
        if depth == 0:
            return s + call("getitem", call("stack", [s, s]), s)
        return control_flow.while_loop(lambda i, s: i < 1, lambda i, s: (i + 1, nest(depth - 1, s)), (0, s))[1]

    with pytest.raises(IndexError) as caught:
        run(traced(lambda n: nest(20, n), N), np.int32(7))
    assert caught.value.__notes__[0].count("iteration 0 of the loop") == 20


def test_long_chains():
    def build(n):
        for _ in range(3000):
            n = n + 1
        return n

    assert run(traced(build, N), np.int32(0)) == [3000]


def test_effects_keep_their_order_across_inlined_reads():
    LOG.clear()

    def build(x):
        late = x[5]
        apply_several(NOTE, [x])
        return late + 1.0

    graph = traced(build, X)
    with pytest.raises(IndexError):
        run(graph, np.ones(2, np.float32))
    assert LOG == []


def test_a_timeline_has_a_slice_per_line_with_loop_and_iteration():
    def body(i, x):
        return i + 1, call("tanh", x + 1.0)

    graph = traced(lambda x: control_flow.while_loop(lambda i, x: i < 3, body, (0, x))[1], X)
    with profiler.trace() as recorder:
        run(graph, np.ones(2, np.float32))
    tanh = [e["args"] for e in recorder.as_events() if e["name"] == "while/body/tanh"]
    assert [a["iteration"] for a in tanh] == [0, 1, 2] and {a["frame"] for a in tanh} == {"while"}


def test_one_function_in_many_threads():
    graph = traced(lambda n: control_flow.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))[1], N)
    compiled, results = compile_graph(graph), {}
    threads = [threading.Thread(target=lambda k=k: results.update({k: compiled([np.int32(k)])[0]})) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: k * (k - 1) // 2 for k in range(8)}


def test_memory_stays_flat_over_a_long_loop():
    def body(i, x):
        y = x * 2.0
        z = y + x
        return i + 1, call("tanh", z - y) * z

    graph = traced(
        lambda x: control_flow.while_loop(lambda i, x: i < 200, body, (0, x))[1], ("x", dtypes.float32, [100_000])
    )
    compiled = compile_graph(optimize(graph))
    values = [np.ones(100_000, np.float32)]
    gc.collect()
    tracemalloc.start()
    compiled(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * 400_000


MEGABYTE = ("x", dtypes.float32, [512, 512])


def repeated(step, turns=12):
    """A loop over an array of a megabyte, traced; ``step(x, *others)`` gives the next values."""

    def build(x):
        return control_flow.while_loop(
            lambda i, *_: i < turns, lambda i, *xs: (i + 1, *step(*xs)), (0, x, x * 0.5), parallel_iterations=1
        )[1:]

    return optimize(traced(build, MEGABYTE))


@pytest.mark.parametrize(
    "step",
    [
        lambda x, y: (x * 0.5 + y, y),
        lambda x, y: (call("tanh", x @ y + 0.5), call("sigmoid", y) - x),
        lambda x, y: (y, call("sin", x) * 0.5 + call("tanh", x) * y),
        lambda x, y: control_flow.cond(x[0, 0] > 0, lambda: (x * 0.5, y - x), lambda: (x + y, y)),
    ],
)
def test_a_loop_over_large_arrays_allocates_none_once_it_is_under_way(step, monkeypatch):
    monkeypatch.setattr(config, "get_num_threads", lambda: 1)  # each thread has blocks of its own
    seen = []

    def watch(i):
        if i == 5:
            tracemalloc.reset_peak()
            seen.append(tracemalloc.get_traced_memory()[0])

    turns = []
    counted = Op(
        "counted", lambda x: [], lambda x: watch(turns.append(0) or len(turns)) or (), effect=True, several=True
    )

    def stepping(x, y):
        apply_several(counted, [x[0, 0]])
        return step(x, y)

    compiled = compile_graph(repeated(stepping))
    value = np.random.default_rng(0).standard_normal((512, 512)).astype(np.float32)
    before = value.copy()
    tracemalloc.start()
    results = compiled([value])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - seen[0] < 100_000
    np.testing.assert_array_equal(value, before)
    arrays = [value, *results[:2]]
    assert not any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])


def test_an_array_that_somebody_holds_is_not_given_again():
    pool = ReusedArrays((4,), np.dtype(np.float32))
    first = pool()
    view = first[1:]
    del first
    assert not np.shares_memory(pool(), view)
    held = [pool() for _ in range(9)]
    assert len({a.ctypes.data for a in held}) == 9 and not any(np.shares_memory(a, view) for a in held)
    place = held[0].ctypes.data
    del held
    assert pool().ctypes.data == place and len(pool.arrays) == 4
