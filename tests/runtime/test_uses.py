"""Who reads what, what shares memory, what may be noticed: the facts that passes and executors ask for."""

from __future__ import annotations

import random

import autoloop as al
import numpy as np
import pytest
from api import (
    CONTROL,
    END,
    Graph,
    Origins,
    Readers,
    Storage,
    TensorShape,
    call,
    cond,
    control_flow,
    count_nodes,
    effects,
    float64,
    graphs_inside,
    has_effect,
    is_barrier,
    is_fixed,
    is_fresh,
    is_pure,
    looked_at,
    loops_inside,
    may_repeat,
    nodes_inside,
    only_computes,
    only_looks,
    place_of,
    places,
    readers,
    set_outputs,
    with_views,
)


@pytest.fixture
def graph():
    graph = Graph(ordered=True)
    with graph.as_default():
        yield graph


def parameter(graph, shape=(4,)):
    return graph.parameter(np.dtype(float64), TensorShape(shape), "x")


def test_who_reads_what(graph):
    x = parameter(graph)
    y = x * x
    z = y + x
    set_outputs(graph, [z, y, z])
    found = readers(graph)
    multiply, add = y.op, z.op
    assert list(found.of(x)) == [(multiply, 0), (multiply, 1), (add, 1)]
    assert list(found.of(y)) == [(add, 0), (None, 1)] and list(found.of(z)) == [(None, 0), (None, 2)]
    assert [found.count(t) for t in (x, y, z)] == [3, 2, 2]
    assert found.nodes(y) == {add, None} and found.only(y) is None
    assert set(found) == {x, y, z} and x in found
    assert found.last(x) == graph.nodes.index(add) and found.last(y) == found.last(z) == END
    assert found.last(x, {multiply: 7, add: 5}) == 7
    alone = Readers([add])
    assert alone.only(y) == (add, 0) and alone.last(z) == -1 and z not in alone and alone.of(z) == ()


def test_where_a_tensor_is_among_others(graph):
    x, y, z = (parameter(graph) for _ in range(3))
    assert place_of([y, x, y, x], x) == 1 and place_of([y], x) is None
    assert places([y, x, y, x], x) == [1, 3] and places([x, y], z) == []


def test_to_wait_is_to_read(graph):
    x = parameter(graph)
    other = Graph()
    with other.as_default():
        a = parameter(other)
        b = a + 1.0
        with other.control_dependencies([b]):
            c = a * a
    assert list(readers(other).of(b)) == [(c.op, CONTROL)]
    assert b not in Readers(other.nodes, control=False)
    assert x not in readers(other)


def test_what_shares_memory(graph):
    x = parameter(graph)
    row, turned, made = x[1:], call("reshape", x, [2, 2]), x + 1.0
    element = x[0]
    of_row = call("reshape", row, [3, 1])
    set_outputs(graph, [row, turned, made, element, of_row])
    assert is_fresh(made) and not any(map(is_fresh, (row, turned)))
    assert with_views(graph, [row]) == {row, of_row}
    assert {row, turned, of_row} <= with_views(graph, [x]) and made not in with_views(graph, [x])
    assert with_views(graph, []) == set()
    assert only_looks(made.op, 0) and only_looks(element.op, 0) and only_looks(made.op, CONTROL)
    assert not only_looks(row.op, 0) and not only_looks(turned.op, 0)


def test_who_keeps_hold_of_an_array(graph):
    x, y = parameter(graph), parameter(graph)
    looks = call("sum", x[1:]) + call("sum", x)
    kept = call("reshape", y, [2, 2])
    set_outputs(graph, [looks, kept])
    found = readers(graph)
    assert looked_at(found, x) and not looked_at(found, y)
    assert not looked_at(found, x, found.place[looks.op] - 3)


def test_who_keeps_hold_of_an_array_in_loops_and_branches(graph):
    x, y = parameter(graph), parameter(graph)
    total = control_flow.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + call("sum", x)), (0, np.float64(0)))[1]
    last = control_flow.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, y), (0, x + 1.0))[1]
    chosen = cond(total > 1.0, lambda: call("sum", x), lambda: total)
    same = cond(total > 1.0, lambda: y, lambda: y + 1.0)
    set_outputs(graph, [total, last, chosen, same])
    nodes = [t.op for t in (total, last, chosen, same)]
    captured = [next(i for i, t in enumerate(n.inputs) if t is x or t is y) for n in nodes]
    assert [only_looks(n, i) for n, i in zip(nodes, captured)] == [True, False, True, False]
    assert not only_looks(nodes[0], 1) and not only_looks(nodes[2], 0)


def test_what_may_be_noticed(graph):
    x = parameter(graph)
    (quiet,) = control_flow.while_loop(lambda i: i < 3, lambda i: i + 1, (0,))

    def telling(i):
        return cond(i < 1, lambda: (al.print(i), i + 1)[1], lambda: i + 1)

    (told,) = control_flow.while_loop(lambda i: i < 3, telling, (0,))
    plain = x + 1.0
    assert has_effect(told.op) and not has_effect(quiet.op) and not has_effect(plain.op)
    assert is_barrier(told.op) and is_barrier(quiet.op) and not is_barrier(plain.op)
    assert [n.op.name for n in effects(graph)] == ["print"]
    x2 = x * 2.0
    assert is_pure(x2.op) and only_computes(x2.op)
    assert not any(map(only_computes, (x.op, told.op, quiet.op)))


def test_what_may_be_done_twice():
    v = al.Variable(1.0)
    whats = {
        "quiet": (lambda: al.exp(v.dtype.type(2.0)), True), "read": (lambda: v.read_value(), True),
        "assert": (lambda: al.assert_true(v > 0.0), True), "raise": (lambda: al.raise_error(ValueError), True),
        "print": (lambda: al.print(1), False), "assign": (lambda: v.assign(2.0), False),
        "draw": (lambda: al.random.normal([2]), False),
    }  # fmt: skip
    found = {}
    for name, (make, _) in whats.items():
        graph = Graph(ordered=True)
        with graph.as_default():
            cond(parameter(graph, ()) > 1.0, lambda make=make: (make(), 1)[1], lambda: 2)
        found[name] = may_repeat(graph)
    assert found == {name: may for name, (_, may) in whats.items()}


def test_what_is_passed_on(graph):
    x, y = parameter(graph), parameter(graph)

    def body(i, kept, through, changed):
        through = cond(i < 1, lambda: through, lambda: through)
        return i + 1, kept, through, changed + 1.0

    results = control_flow.while_loop(lambda i, *_: i < 3, body, (0, x, y, x))
    set_outputs(graph, list(results))
    loop, origins = results[0].op, Origins()
    assert [is_fixed(loop, k) for k in range(4)] == [False, True, False, False]
    assert [origins.fixed(loop, k) for k in range(4)] == [False, True, True, False]
    assert [origins.origin(t) for t in results[1:3]] == [x, y] and origins.origin(results[3]) is results[3]


def test_what_is_inside(graph):
    x = parameter(graph)

    def outer(i, s):
        return i + 1, control_flow.while_loop(lambda j, s: j < 2, lambda j, s: (j + 1, s + 1.0), (0, s))[1]

    total = control_flow.while_loop(lambda i, s: i < 3, outer, (0, x))[1]
    chosen = cond(call("sum", total) > 1.0, lambda: total + 1.0, lambda: x)
    set_outputs(graph, [chosen])
    found = list(nodes_inside(graph))
    loop = total.op
    (inner,) = [n for n in loop.attrs["body"].nodes if n.subgraphs]
    assert loops_inside(graph) == [loop, inner] and loops_inside(*inner.subgraphs) == []
    graphs = list(graphs_inside(graph))
    assert graphs == [graph, *(sub for node in found for sub in node.subgraphs)] and len(graphs) == 7
    assert list(graphs_inside(*loop.subgraphs)) == graphs[1:5] and list(graphs_inside()) == []
    assert count_nodes(graph) == len(found) == sum(len(g.nodes) for g in graphs)
    assert set(found) == {node for g in graphs for node in g.nodes}
    place = {node: k for k, node in enumerate(found)}
    assert all(place[node] < place[n] for node in found for sub in node.subgraphs for n in sub.nodes)


@pytest.mark.parametrize("seed", range(20))
def test_what_an_array_may_be_is_all_that_is_linked_to_it(seed):
    rng, known = random.Random(seed), {}
    for _ in range(40):
        made = Storage(al.constant(np.zeros(2)))
        known[made] = set()
        for one in rng.sample([*known], rng.randrange(min(4, len(known)))):
            ways = [(made, one), (one, made)] if rng.random() < 0.2 else [(made, one)]
            for here, there in ways:  # the second way changes what others may be that were asked before
                here.perhaps(there)
                known[here].add(there)
        for asked in rng.sample([*known], min(5, len(known))):
            found, todo = set(), [asked]
            while todo:
                if (one := todo.pop()) not in found:
                    found.add(one)
                    todo += known[one]
            assert asked.origins()[0] is asked and len(asked.origins()) == len(found) and set(asked.origins()) == found
