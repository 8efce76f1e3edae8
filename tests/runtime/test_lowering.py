"""The flat graph: what is kept, what is pruned, how it is wired."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from api import SCALAR, Executable, Graph, Kind, Lowered, Op, TensorShape, dtypes, lower
from each_case import each
from flow import ADD, GROW, LESS, MUL, branch, call, const, counted, failing, loop, probe, scalar


def kinds(lowered: Lowered) -> Counter[Kind]:
    return Counter(node.kind for node in lowered.nodes)


def names(lowered: Lowered, kind: Kind = Kind.KERNEL) -> set[str]:
    return {node.name for node in lowered.nodes if node.kind is kind}


def kernels(lowered: Lowered) -> list[str]:
    return [node.op.name for node in lowered.nodes if node.kind is Kind.KERNEL]


def vector(graph: Graph, size=None, name: str = "v"):
    return graph.parameter(np.dtype("float64"), TensorShape([size]), name)


# -- the picture in the books -----------------------------------------------------------------------------


def book_example():
    graph = Graph()
    i, n = scalar(graph, "i"), scalar(graph, "n")
    loop_vars = loop(graph, lambda g, a, n: call(LESS, a, n), lambda g, a, n: [call(ADD, a, const(g, 2)), n], [i, n])
    fetches = [call(ADD, loop_vars[0], const(graph, 3)), call(ADD, loop_vars[1], const(graph, 4))]
    return graph, fetches, [i, n]


def test_a_loop_is_drawn_as_in_the_books():
    lowered = lower(*book_example(), keep_variables=True)
    assert kinds(lowered) == {
        Kind.FEED: 2, Kind.CONST: 3, Kind.KERNEL: 4, Kind.LOOP_COND: 1,
        Kind.ENTER: 2, Kind.MERGE: 2, Kind.SWITCH: 2, Kind.NEXT_ITERATION: 2, Kind.EXIT: 2,
    }  # fmt: skip
    assert {"while/Enter", "while/Merge", "while/LoopCond", "while/Switch", "while/NextIteration", "while/Exit",
            "while/Enter_1", "while/Merge_1"} <= {n.name for n in lowered.nodes}  # fmt: skip
    merge = next(n for n in lowered.nodes if n.name == "while/Merge")
    assert [lowered.nodes[i].kind for i, _ in merge.inputs] == [Kind.ENTER, Kind.NEXT_ITERATION]
    assert lowered.frames[1].parent == 0 and lowered.frames[1].parallel_iterations == 10


def test_a_variable_that_never_changes_is_an_invariant():
    lowered = lower(*book_example())
    assert kinds(lowered)[Kind.NEXT_ITERATION] == 1
    assert [n.constant for n in lowered.nodes if n.kind is Kind.ENTER] == [False, True]


@each([True, False])
def test_both_pictures_compute_the_same(keep):
    graph, fetches, feeds = book_example()
    assert Executable(lower(graph, fetches, feeds, keep_variables=keep)).run([1, 10]) == [14, 14]


def test_a_loop_whose_variables_never_change_still_asks_its_condition():
    graph = Graph()
    x = scalar(graph)
    out = loop(graph, lambda g, x: call(LESS, x, const(g, 0)), lambda g, x: [x], [x])
    lowered = lower(graph, out, [x])
    assert Executable(lowered).run([5]) == [5]


def test_the_record_is_frozen():
    lowered = lower(*book_example())
    with pytest.raises(AttributeError):
        lowered.nodes[0].name = "other"


# -- pruning ----------------------------------------------------------------------------------------------


def test_only_what_is_fetched_is_lowered():
    graph = Graph()
    x = scalar(graph)
    a = call(ADD, x, x)
    call(failing("not needed"), x)
    assert kernels(lower(graph, [a], [x])) == ["add"]


def test_a_fetched_counter_leaves_the_heavy_chain_out():
    graph = Graph()
    x = vector(graph, 3)
    i, y = counted(graph, 5, lambda g, i, y: [call(failing("heavy"), y)], [x])
    lowered = lower(graph, [i], [x])
    assert "failing" not in kernels(lowered)
    assert Executable(lowered).run([np.ones(3)]) == [5]


def test_a_variable_is_kept_if_another_that_is_needed_depends_on_it():
    graph = Graph()
    # a <- b <- c, d alone
    out = counted(
        graph, 4,
        lambda g, i, a, b, c, d: [call(ADD, a, b), call(ADD, b, c), call(ADD, c, const(g, 1)), call(failing("d"), d)],
        [const(graph, 0)] * 4,
    )  # fmt: skip
    lowered = lower(graph, [out[1]])
    assert kinds(lowered)[Kind.MERGE] == 4
    assert kinds(lowered)[Kind.EXIT] == 1
    a = b = c = 0
    for _ in range(4):
        a, b, c = a + b, b + c, c + 1
    assert Executable(lowered).run([]) == [a]


def test_pruning_goes_through_nested_loops_and_branches():
    graph = Graph()

    def body(g, i, x, y):
        inner = counted(g, 3, lambda h, j, a, b: [call(ADD, a, h.capture(i)), call(failing("b"), b)], [x, y])
        return [inner[1], inner[2]]

    i, x, y = counted(graph, 3, body, [const(graph, 0), const(graph, 0)])
    lowered = lower(graph, [x])
    assert "failing" not in kernels(lowered)
    assert Executable(lowered).run([]) == [9]


def test_a_branch_output_that_is_not_needed_is_not_computed():
    graph = Graph()
    p, x = graph.parameter(dtypes.bool_, SCALAR), scalar(graph)
    good, _ = branch(
        graph, p,
        lambda g: [call(ADD, g.capture(x), const(g, 1)), call(failing("then"), g.capture(x))],
        lambda g: [g.capture(x), call(failing("else"), g.capture(x))],
    )  # fmt: skip
    lowered = lower(graph, [good], [p, x])
    run = Executable(lowered).run
    assert run([np.True_, 5]) == [6] and run([np.False_, 5]) == [5]


def test_a_feed_cuts_what_computes_it():
    graph = Graph()
    x = scalar(graph)
    middle = call(failing("fed"), x)
    out = call(ADD, middle, const(graph, 1))
    assert Executable(lower(graph, [out, middle], [middle])).run([41]) == [42, 41]


def test_one_of_several_outputs_can_be_fed():
    graph = Graph()
    x = scalar(graph)
    pair = Op("pair", lambda x: [(x.dtype, x.shape)] * 2, lambda v: (v + 1, v + 2), several=True)
    a, b = graph.add(pair, [x]).outputs
    assert Executable(lower(graph, [a, b], [x, a])).run([1, 50]) == [50, 3]


def test_the_result_of_a_loop_can_be_fed():
    graph = Graph()
    i, y = counted(graph, 3, lambda g, i, y: [call(ADD, y, i)], [const(graph, 0)])
    out = call(ADD, i, y)
    assert Executable(lower(graph, [out, y], [i])).run([100]) == [103, 3]


def test_what_a_control_dependency_needs_is_kept():
    graph = Graph()
    seen = []
    x = scalar(graph)
    first = call(probe(lambda v: seen.append("first") or v), x)
    with graph.control_dependencies([first]):
        second = call(probe(lambda v: seen.append("second") or v, "second"), x)
    Executable(lower(graph, [second], [x])).run([1])
    assert seen == ["first", "second"]


def test_a_loop_waits_for_its_control_inputs():
    graph = Graph()
    seen = []
    x = scalar(graph)
    first = call(probe(lambda v: seen.append("first") or v), x)
    with graph.control_dependencies([first]):
        note = probe(lambda v: seen.append("body") or v)
        out = loop(
            graph, lambda g, i: call(LESS, i, const(g, 2)),
            lambda g, i: [call(ADD, call(note, i), const(g, 1))], [const(graph, 0)],
        )  # fmt: skip
    lowered = lower(graph, out, [x])
    Executable(lowered).run([1])
    assert seen == ["first", "body", "body"]


def test_a_branch_waits_for_its_control_inputs():
    graph = Graph()
    seen = []
    x, p = scalar(graph), graph.parameter(dtypes.bool_, SCALAR)
    first = call(probe(lambda v: seen.append("first") or v), x)
    with graph.control_dependencies([first]):
        (out,) = branch(graph, p, lambda g: const(g, 1), lambda g: const(g, 2))
    Executable(lower(graph, [out], [x, p])).run([1, np.True_])
    assert seen == ["first"]


# -- what cannot be lowered -------------------------------------------------------------------------------


def test_a_placeholder_that_is_needed_must_be_fed():
    graph = Graph()
    x, y = scalar(graph, "x"), scalar(graph, "y")
    with pytest.raises(ValueError, match="'y:0' needs a value"):
        lower(graph, [call(ADD, x, y)], [x])
    lower(graph, [call(ADD, x, x)], [x])


def test_tensors_of_another_graph_are_refused():
    graph, other = Graph(), Graph()
    x, y = scalar(graph), scalar(other, "y")
    with pytest.raises(ValueError, match="'y:0' does not belong"):
        lower(graph, [x], [y])


# -- constants, invariants, pivots ------------------------------------------------------------------------


def test_constants_and_feeds_can_be_fetched():
    graph = Graph()
    x, c = scalar(graph), const(graph, 7)
    assert Executable(lower(graph, [c, x, c, x], [x])).run([5]) == [7, 5, 7, 5]


def test_every_node_of_a_loop_has_a_token_to_wait_for():
    graph = Graph()
    x = scalar(graph)

    def body(g, i, y, z):
        of_constants = call(ADD, const(g, 1), const(g, 2))
        of_invariants = call(MUL, g.capture(x), g.capture(x))
        return [call(ADD, of_constants, of_invariants), g.capture(x)]

    i, y, z = counted(graph, 3, body, [const(graph, 0), const(graph, 0)])
    lowered = lower(graph, [i, y, z], [x])
    assert Executable(lowered).run([5]) == [3, 28, 5]


def test_a_loop_of_constants_inside_a_branch_runs_only_there():
    graph = Graph()
    p = graph.parameter(dtypes.bool_, SCALAR)
    seen = []

    def then(g):
        return counted(g, 3, lambda h, i: [], [])[0]

    def orelse(g):
        noted = probe(lambda v: seen.append(int(v)) or v)
        return counted(g, 2, lambda h, i, y: [call(noted, i)], [const(g, 0)])[1]

    (out,) = branch(graph, p, then, orelse)
    lowered = lower(graph, [out], [p])
    run = Executable(lowered).run
    assert run([np.True_]) == [3] and seen == []
    assert run([np.False_]) == [1] and seen == [0, 1]


def test_branches_of_constants_and_of_invariants():
    graph = Graph()
    x = scalar(graph)

    def body(g, i, y):
        outer = g.capture(x)
        (v,) = branch(g, call(LESS, i, const(g, 2)), lambda h: const(h, 100), lambda h: h.capture(outer))
        (w,) = branch(  # a predicate that is the same in every iteration
            g, call(LESS, outer, const(g, 0)), lambda h: call(failing("never"), h.capture(outer)),
            lambda h: call(ADD, h.capture(outer), const(h, 1)),
        )  # fmt: skip
        return [call(ADD, y, call(ADD, v, w))]

    _, y = counted(graph, 3, body, [const(graph, 0)])
    lowered = lower(graph, [y], [x])
    assert Executable(lowered).run([7]) == [100 + 8 + 100 + 8 + 7 + 8]


# -- checks at run time -----------------------------------------------------------------------------------


def test_a_promised_shape_is_checked():
    graph = Graph()
    x = vector(graph)
    y = call(GROW, x)
    y.set_shape([4])
    out = call(ADD, y, y)
    run = Executable(lower(graph, [out], [x])).run
    assert run([np.ones(2)])[0].shape == (4,)
    with pytest.raises(ValueError, match=r"promised shape \(4,\) for tensor 'grow:0'.*\(6,\)"):
        run([np.ones(3)])


def test_a_promise_on_a_parameter_of_the_body_is_checked():
    graph = Graph()
    x = vector(graph)

    def body(g, i, y):
        y.set_shape([2])
        return [call(ADD, y, y)]

    _, y = counted(graph, 2, body, [x])
    run = Executable(lower(graph, [y], [x])).run
    assert run([np.ones(2)])[0].tolist() == [4, 4]
    with pytest.raises(ValueError, match="promised"):
        run([np.ones(3)])


def test_the_invariant_of_a_loop_variable_is_checked_in_each_iteration():
    graph = Graph()
    x = vector(graph, 2)
    _, y = counted(graph, 3, lambda g, i, y: [call(GROW, y)], [x], invariants=[SCALAR, TensorShape([2])])
    text = r"variable 'v1' of the loop 'while' has shape \(4,\).*invariant \(2,\)"
    with pytest.raises(ValueError, match=text) as info:
        Executable(lower(graph, [y], [x])).run([np.ones(2)])
    assert "shape_invariants=" in str(info.value) and "TensorShape([None])" in str(info.value)
    assert "iteration 0" in info.value.__notes__[0]


@each([False, True])
def test_the_invariant_is_checked_on_entry(keep_variables):
    graph = Graph()
    x = vector(graph)
    _, y = counted(graph, 3, lambda g, i, y: [y], [x], invariants=[SCALAR, TensorShape([2])])
    lowered = lower(graph, [y], [x], keep_variables=keep_variables)
    assert Executable(lowered).run([np.ones(2)])[0].shape == (2,)
    with pytest.raises(ValueError, match="on entry to the loop"):
        Executable(lowered).run([np.ones(3)])


def test_no_check_where_the_static_shape_proves_it():
    graph = Graph()
    x = vector(graph, 2)
    _, y = counted(graph, 3, lambda g, i, y: [call(GROW, y)], [x], invariants=[SCALAR, TensorShape([None])])
    lowered = lower(graph, [y], [x])
    assert set(kernels(lowered)) == {"less", "add", "grow"}
    assert Executable(lowered).run([np.ones(2)])[0].shape == (16,)


@pytest.mark.parametrize("dtype, shape, value, error, text", [
    ("bool", None, np.array([True, False]), ValueError, "must be a scalar"),
    ("int64", (), np.int64(1), TypeError, "must be boolean"),
])  # fmt: skip
def test_conditions_are_boolean_scalars(dtype, shape, value, error, text):
    for build in (
        lambda g, p: branch(g, p, lambda h: const(h, 1), lambda h: const(h, 2)),
        lambda g, p: loop(g, lambda h, i: h.capture(p), lambda h, i: [call(ADD, i, const(h, 1))], [const(g, 0)]),
    ):
        graph = Graph()
        p = graph.parameter(np.dtype(dtype), TensorShape(shape), "p")
        (out,) = build(graph, p)
        with pytest.raises(error, match=text):
            Executable(lower(graph, [out], [p])).run([value])


# -- depth ------------------------------------------------------------------------------------------------


def test_a_chain_of_ten_thousand_nodes():
    graph = Graph()
    x = y = scalar(graph)
    for _ in range(10_000):
        y = call(ADD, y, const(graph, 1))
    assert Executable(lower(graph, [y], [x])).run([0]) == [10_000]


@each([400])
def test_branches_nested_deeper_than_the_interpreter_recurses(depth):
    # built from the inside out, because building (unlike lowering) descends by calling
    def nested(parent_names):
        graph = Graph()
        x = graph.parameter(np.dtype(np.int64), SCALAR, "x")
        graphs, params = [graph], [x]
        for _ in range(depth):
            then = Graph("t", graphs[-1])
            graphs.append(then)
            params.append(then.parameter(np.dtype(np.int64), SCALAR, "x"))
        out = call(ADD, params[-1], const(graphs[-1], 1))
        for level in range(depth, 0, -1):
            outer, inner = graphs[level - 1], graphs[level]
            inner.outputs = [out]
            orelse = Graph("e", outer)
            orelse.outputs = [orelse.parameter(np.dtype(np.int64), SCALAR, "x")]
            from flow import COND

            pred = call(LESS, params[level - 1], const(outer, 10))
            attrs = {"then": inner, "else": orelse, "specs": [(np.dtype(np.int64), SCALAR)]}
            out = call(ADD, outer.add(COND, [pred, params[level - 1]], attrs).outputs[0], const(outer, 1))
        return graph, x, out

    graph, x, out = nested([])
    run = Executable(lower(graph, [out], [x])).run
    assert run([0]) == [depth + 1]
    assert run([10]) == [11]


def test_loops_nested_deeper_than_the_interpreter_recurses():
    from flow import WHILE

    depth, dtype = 400, np.dtype(np.int64)
    graph = Graph()
    levels = [(graph, None, graph.parameter(dtype, SCALAR, "x"))]
    for _ in range(depth):
        cond, body = Graph("c", levels[-1][0]), Graph("b", levels[-1][0])
        limit = cond.parameter(dtype, SCALAR, "x")
        cond.outputs = [call(LESS, limit, const(cond, 1))]
        levels.append((body, cond, body.parameter(dtype, SCALAR, "x")))
    out = call(ADD, levels[-1][2], const(levels[-1][0], 1))
    for level in range(depth, 0, -1):
        body, cond, _ = levels[level]
        body.outputs = [out]
        outer, _, x = levels[level - 1]
        attrs = {"cond": cond, "body": body, "n_vars": 1, "names": ("x",), "invariants": (SCALAR,),
                 "parallel_iterations": 2, "token": None, "specs": [(dtype, SCALAR)]}  # fmt: skip
        (out,) = outer.add(WHILE, [x], attrs).outputs
    run = Executable(lower(graph, [out], [levels[0][2]])).run
    assert run([0]) == [1]
    assert run([1]) == [1]
