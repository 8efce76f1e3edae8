"""What is computed together: one answer, of which generated Python and machine code ask for what they can take."""

from __future__ import annotations

import unittest.mock

import autoloop as al
import numpy as np
import pytest
from api import (
    LARGE,
    Graph,
    TensorShape,
    block_chains,
    call,
    compile_graph,
    compile_native,
    control_flow,
    float64,
    infer,
    make_plan,
    set_outputs,
    storage_plan,
)
from executors import NATIVE

WIDE, LONG = (2, LARGE // 8), (LARGE // 8,)


def one_after_the_other(x, y):
    a = x + 1.0
    b = a * y
    return {"a": a, "b": b, "c": call("tanh", b)}


def two_shapes_in_turns(x, y):
    row = x[0]
    a = x + 1.0
    b = row * 2.0
    c = a * y
    return {"a": a, "b": b, "c": c, "d": b - 3.0}


def a_small_vector_between(x, y):
    small = y[0, :3]
    a = x + 1.0
    s = small * 2.0
    return {"a": a, "s": s, "c": a * y}


def a_scalar_between(x, y):
    a = x + 1.0
    n = y[0, 0] * 2.0
    return {"a": a, "n": n, "c": a * n}


def an_element_between(x, y):
    a = x + 1.0
    b = y * 2.0
    first = a[0, 0]
    return {"a": a, "b": b, "first": first, "c": b * first}


def a_row_between(x, y):
    a = x + 1.0
    b = y * 2.0
    row = a[0]
    return {"a": a, "b": b, "row": row, "c": b * 3.0}


def a_sum_of_something_else_between(x, y):
    a = x + 1.0
    total = call("sum", y)
    return {"a": a, "total": total, "c": a * y}


def a_sum_between(x, y):
    a = x + 1.0
    total = call("sum", a)
    return {"a": a, "total": total, "c": a * total}


def a_product_of_something_else_between(x, y):
    small = y[:, :2]
    a = x + 1.0
    product = small @ small
    return {"a": a, "product": product, "c": a * y}


def an_assignment_between(x, y):
    a = x + 1.0
    written = call("set_item", y, (0, 0), 1.0)
    return {"a": a, "written": written, "c": a * x}


def a_check_between(x, y):
    a = x + 1.0
    al.Assert(y[0, 0] < 1e9, ["too large"])
    return {"a": a, "c": a * x}


def a_loop_between(x, y):
    a = x + 1.0
    count = control_flow.while_loop(lambda i: i < 3, lambda i: i + 1, (0,))[0]
    return {"a": a, "count": count, "c": a * x}


def a_row_that_is_broadcast(x, y):
    row = y[0]
    b = row * 2.0
    a = x + b
    c = a * y
    return {"b": b, "a": a, "c": c, "d": b + 1.0}


def a_large_one_of_two_shapes(x, y):
    row = x[0]
    a = x + 1.0
    b = a + row
    return {"a": a, "b": b, "c": a * y}


#: what Python computes together, and what machine code does
TABLE = {
    one_after_the_other: ("a b c", "a b c"),
    two_shapes_in_turns: ("a c, b d", "a c, b d"),
    a_small_vector_between: ("a c, s", "a c, s"),
    a_scalar_between: ("a c", "a c"),
    # for an element of what is made, all that is made beside it is computed with it
    an_element_between: ("a b, c", "a b, c"),
    a_row_between: ("a b, c", "a b, c"),
    # machine code stores all that is pending before what is not computed element by element
    a_sum_of_something_else_between: ("a c", "a, c"),
    a_sum_between: ("a, c", "a, c"),
    a_product_of_something_else_between: ("a c", "a, c"),
    # Python may write to the array itself
    an_assignment_between: ("a, c", "a, c"),
    a_check_between: ("a, c", "a, c"),
    a_loop_between: ("a, c", "a, c"),
    # Python's blocks are of arrays of one shape; what takes others may write to them
    a_row_that_is_broadcast: ("b, c, d", "a c, b d"),
    a_large_one_of_two_shapes: ("a, c", "a b c"),
}


def traced_values(build):
    graph = Graph(ordered=True)
    with graph.as_default():
        x, y = (graph.parameter(np.dtype(float64), TensorShape(WIDE), name) for name in "xy")
        values = build(x, y)
    set_outputs(graph, list(values.values()))
    return graph, {t.op: name for name, t in values.items()}


def told(groups, names):
    """The groups as the table tells them, of the values that have a name."""
    words = [" ".join(names[node] for node in nodes if node in names) for nodes in groups]
    return ", ".join(sorted(filter(None, words)))


@pytest.mark.parametrize("build", TABLE, ids=lambda f: f.__name__)
def test_what_is_computed_together(build):
    graph, names = traced_values(build)
    with unittest.mock.patch.multiple(block_chains, MIN_ELEMENTS=1, MIN_COST=0):
        chains = {id(c): c.nodes for c in block_chains.find_chains(graph).values()}
    types = infer(graph, [WIDE, WIDE])
    loops = storage_plan.loops_of(graph, types, make_plan(graph, types))
    nests = {id(group): group.nodes for group in loops.values()}
    assert (told(chains.values(), names), told(nests.values(), names)) == TABLE[build]


@pytest.mark.parametrize("build", TABLE, ids=lambda f: f.__name__)
def test_what_is_computed_together_is_right(build):
    graph, _ = traced_values(build)
    rng = np.random.default_rng(3)
    values = [rng.normal(size=WIDE) for _ in range(2)]
    expected = compile_graph(graph)([v.copy() for v in values])
    with unittest.mock.patch.multiple(block_chains, MIN_ELEMENTS=1, MIN_COST=0):
        together = compile_graph(graph)([v.copy() for v in values])
    for found, known in zip(together, expected, strict=True):
        np.testing.assert_array_equal(found, known)
    if NATIVE:
        native = compile_native(graph)([v.copy() for v in values])
        for found, known in zip(native, expected, strict=True):
            np.testing.assert_allclose(found, known, rtol=1e-12)
