"""What the forward loop saves for the backward loop, and how much memory that is."""

from __future__ import annotations

import tracemalloc
from unittest import mock

import autoloop as al
import numpy as np
import pytest
from api import Graph, background, cheapest_cut, emit
from autoloop.differentiation import gradients, jvp, value_and_grad
from hypothesis import given, settings
from hypothesis import strategies as st

F32 = al.float32
X = np.linspace(0.5, 1.0, 4, dtype=np.float32)
W = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)


def pushes(graph: Graph):
    """The nodes that save something, in ``graph`` and the graphs inside it."""
    for node in graph.nodes:
        if node.op.name == "StackPush":
            yield node
        for below in node.subgraphs:
            yield from pushes(below)


def saved(f, *arrays, wrt=None):
    """``(op, shape)`` of everything that is saved, once per loop; the gradients are run, too."""

    @al.function(autograph=False)
    def g(*xs):
        return gradients(f(*xs), list(xs[:wrt]))

    g(*arrays)
    graph = g.get_concrete_function(*arrays).runner.graph
    values = [n.inputs[2] for n in pushes(graph) if n.graph is not graph]
    return sorted((v.op.op.name, tuple(v.shape)) for v in values)


def loop(body, *variables, n=5):
    return al.while_loop(lambda i, *_: i < n, lambda i, *v: (i + 1, *body(i, *v)), (0, *variables))[1:]


def test_a_recurrence_saves_its_variable_and_computes_the_rest_again():
    assert saved(lambda x, a: al.sum(loop(lambda i, x: [al.sin(x) * a], x)[0]), X, X) == [("Placeholder", (4,))]


def test_a_recurrent_network_saves_one_array_a_step():
    def f(w, u, b, h, x):
        def body(t, h, total):
            h = al.tanh(h @ w + x[t] @ u + b)
            return h, total + al.reduce_mean(h * h)

        return loop(body, h, al.constant(0.0))[1]

    arrays = (W, W, X, np.ones((2, 4), np.float32), np.ones((5, 2, 4), np.float32))
    assert saved(f, *arrays, wrt=3) == [("Placeholder", (2, 4))]


def test_a_linear_loop_saves_nothing():
    assert saved(lambda x: al.sum(loop(lambda i, x: [x * 2.0 + 1.0], x)[0]), X) == []


def test_captured_values_and_counters_are_not_saved():
    f = lambda x, a: al.sum(loop(lambda i, x: [x * al.sin(a) * al.cast(i, F32)], x)[0])
    assert saved(f, X, X, wrt=1) == []


def test_products_of_captured_values_are_computed_once_outside():
    assert saved(lambda x, w: al.sum(loop(lambda i, x: [x @ (w @ w)], x)[0]), W, W, wrt=1) == []


def test_the_smaller_of_two_possible_values_is_saved():
    # the gradient wants tanh(s), s = sum(x @ w): the scalar is saved, not the vector
    f = lambda x, w: al.sum(loop(lambda i, x: [x * al.tanh(al.sum(x @ w))], x)[0])
    assert saved(f, X, W, wrt=1) == [("Placeholder", (4,)), ("tanh", ())]


def test_only_the_shape_is_saved_where_only_the_shape_is_needed():
    def f(x):
        shapes = (al.TensorShape([]), al.TensorShape([None]))
        body = lambda i, y: (i + 1, al.concat([y, y * 2.0], 0))
        return al.sum(al.while_loop(lambda i, y: i < 3, body, (0, x), shape_invariants=shapes)[1])

    assert {op for op, _ in saved(f, X)} == {"shape"}


def test_elements_of_arrays_are_read_again():
    def f(x):
        rows = al.TensorArray(F32, 4).unstack(x)
        return loop(lambda i, s: [s * rows.read(i)], al.constant(1.0), n=4)[0]

    assert saved(f, X) == [("Placeholder", ())]


def test_branches_compute_again_what_they_can():
    f = lambda x, a: al.sum(loop(lambda i, x: [al.cond(al.sum(x) > 1.0, lambda: al.sin(x) * a, lambda: x * x)], x)[0])
    names = [op for op, _ in saved(f, X, X, wrt=1)]
    assert "Cond" not in names
    assert names.count("Placeholder") == 1


def test_a_second_gradient_shares_the_stacks_of_the_first():
    def both(x, a):
        y = al.sum(loop(lambda i, x: [al.sin(x) * a], x)[0])
        return al.sum(gradients(y, [x])[0]) + al.sum(gradients(y, [a])[0])

    g = al.function(both, autograph=False)
    g(X, X)
    assert len(list(pushes(g.get_concrete_function(X, X).runner.graph))) == 1


# -- bytes --------------------------------------------------------------------------------------------------


def peak(f, *args):
    """Bytes in use at the worst moment of a second call: its own, and not those of a compiler that waits for it."""
    with mock.patch.object(background, "submit", lambda job: False):
        f(*args)
        tracemalloc.start()
        try:
            f(*args)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def recurrence(n):
    def f(a, x):
        for _ in al.range(n):
            x = al.sin(x) * a
        return al.reduce_sum(x)

    return f


def test_peak_memory_of_a_long_recurrence():
    n, x = 2_000, np.linspace(0.5, 1.0, 1000, dtype=np.float32)
    args = [al.constant(np.ones_like(x)), al.constant(x)]
    g = al.function(value_and_grad(recurrence(n)))
    assert peak(g, *args) <= 1.15 * n * x.nbytes


@pytest.mark.auto
def test_forward_mode_keeps_nothing():
    n, x = 500, np.linspace(0.5, 1.0, 1000, dtype=np.float32)
    a = np.ones_like(x)
    g = al.function(lambda a, x: jvp(recurrence(n), [a, x], [a, x]))
    assert peak(g, al.constant(a), al.constant(x)) < 20 * x.nbytes


def test_slices_of_a_captured_tensor_do_not_make_dense_gradients_per_step():
    x = np.ones((500, 100), np.float32)

    def f(x):
        total = al.constant(0.0)
        for i in al.range(500):
            total += al.sum(x[i] * x[i])
        return total

    g = al.function(value_and_grad(f))
    _, slope = g(x)
    np.testing.assert_allclose(slope, 2 * x)
    assert peak(g, al.constant(x)) < 3 * x.nbytes
    ops = {n.op.name for w in g.get_concrete_function(x).runner.graph.nodes for s in w.subgraphs for n in s.nodes}
    assert "AccumulateAt" in ops
    assert "index_add" not in ops


# -- the cut ------------------------------------------------------------------------------------------------


def computable(saved, inputs):
    """The vertices that can be computed from ``saved``."""
    known = set(saved)
    while True:
        more = {v for v, sources in inputs.items() if v not in known and all(u in known for u in sources)}
        if not more:
            return known
        known |= more


@st.composite
def networks(draw):
    count = draw(st.integers(2, 7))
    roots = set(range(draw(st.integers(1, count - 1))))
    inputs = {v: draw(st.lists(st.integers(0, v - 1), max_size=3)) for v in range(count) if v not in roots}
    cost = {v: draw(st.integers(1, 9)) for v in range(count)}
    targets = set(draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=3)))
    return roots, targets, inputs, cost


@given(networks())
@settings(max_examples=200, deadline=None)
def test_no_cheaper_set_of_values_would_do(network):
    roots, targets, inputs, cost = network
    cut = cheapest_cut(roots, targets, inputs, cost)
    assert targets <= computable(cut, inputs)
    best = min(
        sum(cost[v] for v in choice)
        for choice in ({v for v in cost if bits >> v & 1} for bits in range(1 << len(cost)))
        if targets <= computable(choice, inputs)
    )
    assert sum(cost[v] for v in cut) == best


def test_of_equal_cuts_the_one_that_computes_least_again():
    assert cheapest_cut(["x"], ["z"], {"y": ["x"], "z": ["y"]}, {"x": 4, "y": 4, "z": 4}) == {"z"}


def test_frozen_graphs_are_not_changed():
    with Graph() as graph:
        x = al.placeholder(F32, [4])
        y = loop(lambda i, x: [al.sin(x)], x)[0]
    graph.finalize()
    with pytest.raises(RuntimeError, match="finished"):
        gradients(y, [x])


def test_loops_of_a_gradient_count_nothing_for_messages():
    # nothing that a gradient saves, reads and adds up can fail
    def f(x):
        return al.while_loop(lambda i, x: i < 9, lambda i, x: (i + 1, al.sin(x)), (0, x))[1]

    traced = al.function(value_and_grad(f), autograph=False).get_concrete_function(np.float64(1))
    assert "count()" not in emit(traced.runner.graph).source


# -- what takes a while to compute again ------------------------------------------------------------------


def covariance(F, P, H):
    """The covariance in a Kalman filter, whose states are many and whose measurements are few."""

    def body(i, P):
        P = F @ P @ al.transpose(F) + 0.1
        PH = P @ al.transpose(H)
        return [P - PH @ al.inv(H @ PH + al.eye(2, dtype=al.float64)) @ al.transpose(PH)]

    return al.sum(loop(body, P)[0])


def test_a_kalman_filter_saves_little_more_than_its_state():
    n = 16
    rng = np.random.default_rng(0)
    F, P, H = 0.9 * np.linalg.qr(rng.normal(size=(n, n)))[0], np.eye(n), rng.normal(size=(2, n))
    shapes = [shape for _, shape in saved(covariance, F, P, H, wrt=2)]
    assert shapes.count((n, n)) == 1
    assert sum(map(np.prod, shapes)) <= 1.5 * n * n
    got = value_and_grad(covariance, (0, 1))(F, P, H)[1]
    for k, along in enumerate(got):
        ahead, behind = (covariance(*[a + s * 1e-6 * (j == k) for j, a in enumerate((F, P))], H) for s in (1, -1))
        np.testing.assert_allclose(np.sum(along), (ahead - behind) / 2e-6, rtol=1e-6)


def test_a_product_that_is_most_of_the_work_is_saved():
    f = lambda w, v, x: al.sum(loop(lambda i, x: [al.tanh(al.square(x @ w) @ v)], x)[0])
    arrays = (W, W, np.ones((3, 4), np.float32))
    assert [op for op, _ in saved(f, *arrays, wrt=2)].count("matmul") == 1
