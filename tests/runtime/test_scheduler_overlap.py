"""Which graphs are worth several threads."""

from __future__ import annotations

import numpy as np
from api import OPAQUE, SCALAR, VERY_MANY, VIEWING, Graph, Op, Plan, Price, TensorShape, dtypes, lower, overlapping
from each_case import each
from flow import ADD, LESS, branch, call, const, counted, heavy, priced, same

F = heavy(lambda x, *_: x, "f")
G = heavy(lambda x, *_: x, "g")


def graph_with_x():
    graph = Graph()
    return graph, graph.parameter(np.dtype(np.int64), SCALAR, "x")


def found(build) -> set[str]:
    """The names of the ops that may overlap in what ``build(graph, x)`` gives."""
    graph, x = graph_with_x()
    outs = build(graph, x)
    lowered = lower(graph, list(outs) if isinstance(outs, (list, tuple)) else [outs], [x])
    indices = {n.index for n in lowered.nodes if n.op in (F, G)}
    plan = Plan(lowered)
    overlap = overlapping(lowered, indices)
    assert plan.parallel == bool(overlap)
    return {lowered.nodes[i].op.name for i in overlap}


def in_body(body, count=1):
    return lambda graph, x: counted(graph, 3, body, [x] * count)[1:]


def other_or_next(graph, x):
    """``x`` or ``x + 1``, by a branch."""
    small = call(LESS, x, const(graph, 2))
    (out,) = branch(graph, small, lambda h: h.capture(x), lambda h: call(ADD, h.capture(x), const(h, 1)))
    return out


CHAINS = {
    "a row of kernels": lambda graph, x: call(F, call(ADD, y := call(G, x), call(F, y))),
    "a recurrence": in_body(lambda g, i, y: [call(F, y)]),
    "two in a row in a recurrence": in_body(lambda g, i, y: [call(G, call(F, y))]),
    "through two variables": in_body(lambda g, i, y, z: [call(ADD, z, y), call(F, call(ADD, y, z))], 2),
    "opposite branches": in_body(
        lambda g, i, y: list(
            branch(g, call(LESS, i, const(g, 2)), lambda h: call(F, h.capture(y)), lambda h: call(G, h.capture(y)))
        )
    ),
    "a recurrence in a recurrence": in_body(
        lambda g, i, y: [counted(g, 2, lambda h, j, z: [call(F, z)], [call(G, y)])[1]]
    ),
    "a loop after a kernel": lambda graph, x: counted(graph, 3, lambda g, i, y: [call(F, y)], [call(G, x)])[1],
    "a loop before a kernel": lambda graph, x: call(G, counted(graph, 3, lambda g, i, y: [call(F, y)], [x])[1]),
}  # fmt: skip

OVERLAPS = {
    "two kernels of one value": (lambda graph, x: [call(F, x), call(G, x)], {"f", "g"}),
    "iterations without a recurrence": (in_body(lambda g, i, y: [call(ADD, y, call(F, i))]), {"f"}),
    "two recurrences": (in_body(lambda g, i, y, z: [call(F, y), call(G, z)], 2), {"f", "g"}),
    "a recurrence and what it feeds": (
        in_body(lambda g, i, y, z: [call(F, y), call(ADD, z, call(G, y))], 2), {"f", "g"},
    ),
    "a pipeline": (in_body(lambda g, i, y, z: [call(F, y), call(G, call(ADD, z, call(F, y)))], 2), {"f", "g"}),
    "a value of two iterations ago": (in_body(lambda g, i, y, z: [call(F, z), y], 2), {"f"}),
    "an inner loop that starts afresh": (
        in_body(lambda g, i, y: [call(ADD, y, counted(g, 2, lambda h, j, z: [call(F, z)], [i])[1])]), {"f"},
    ),
    "after opposite branches": (
        lambda graph, x: [call(F, other_or_next(graph, x)), call(G, x)], {"f", "g"},
    ),
    "branches of two conditions": (
        lambda graph, x: [
            *branch(graph, call(LESS, x, const(graph, 2)), lambda h: call(F, h.capture(x)), lambda h: h.capture(x)),
            *branch(graph, call(LESS, x, const(graph, 3)), lambda h: h.capture(x), lambda h: call(G, h.capture(x))),
        ],
        {"f", "g"},
    ),
}  # fmt: skip


@each(CHAINS)
def test_chains_stay_on_one_thread(name):
    assert found(CHAINS[name]) == set()


@each(OVERLAPS)
def test_what_can_overlap_is_found(name):
    build, names = OVERLAPS[name]
    assert found(build) == names


def test_effects_in_program_order_do_not_overlap():
    act = Op("act", lambda x: (x.dtype, x.shape), lambda x: x, effect=True, traits=priced(1e9))
    ordered = Graph(ordered=True)
    outs = [ordered.add(act, [const(ordered, k)]).outputs[0] for k in range(3)]
    assert not Plan(lower(ordered, outs)).parallel
    unordered = Graph()
    outs = [unordered.add(act, [const(unordered, k)]).outputs[0] for k in range(3)]
    assert Plan(lower(unordered, outs)).parallel


def test_a_very_large_graph_is_assumed_to_overlap():
    graph, x = graph_with_x()
    y = x
    for _ in range(VERY_MANY + 1):
        y = call(F, y)
    assert Plan(lower(graph, [y], [x])).parallel


def test_weights():
    graph = Graph()
    sizes = {"small": [10], "large": [10**6], "unknown": [None]}
    plain, cheap = Op("plain", same, None), Op("cheap", same, None, traits=priced(1.0))
    sure, view = Op("sure", same, None, traits=priced(1e9)), Op("view", same, None, traits=VIEWING)
    users = Op("users", same, None, traits=OPAQUE.but(price=Price.FOREIGN))
    weights = {}
    for size, dims in sizes.items():
        x = graph.parameter(np.dtype(np.float32), TensorShape(dims), size)
        for op in (plain, cheap, sure, view, users):
            weights[size, op.name] = Plan(lower(graph, [call(op, x)], [x])).root.steps[0].weight.name
    x = graph.parameter(dtypes.variant, SCALAR, "array")
    weights["variant"] = Plan(lower(graph, [call(plain, x)], [x])).root.steps[0].weight.name
    assert weights == {
        ("small", "plain"): "LIGHT", ("small", "cheap"): "LIGHT", ("small", "sure"): "HEAVY",
        ("large", "plain"): "HEAVY", ("large", "cheap"): "LIGHT", ("large", "sure"): "HEAVY",
        **{(size, "view"): "LIGHT" for size in sizes}, **{(size, "users"): "HEAVY" for size in sizes},
        ("unknown", "plain"): "UNKNOWN", ("unknown", "cheap"): "UNKNOWN", ("unknown", "sure"): "UNKNOWN",
        "variant": "LIGHT",
    }  # fmt: skip
