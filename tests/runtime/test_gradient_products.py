"""Products in loops that go back for a gradient: what vanishes takes no longer, and all ways to run give the same."""

from __future__ import annotations

from time import thread_time

import autoloop as al
import numpy as np
import pytest
from api import Graph, gradient_products, lower

N = np.int32(80)
RNG = np.random.default_rng(4)
X, W = RNG.standard_normal((16, 32)).astype(np.float32), (RNG.standard_normal((32, 32)) * 0.05).astype(np.float32)
PRODUCTS = [gradient_products.product, gradient_products.product_by_weights]


def gradient(n, w, x):
    """That of a recurrent network, in a graph; it vanishes after some thirty steps back."""
    body = lambda i, h: (i + 1, al.tanh(al.matmul(h, w) + x))
    h = al.while_loop(lambda i, h: i < n, body, [al.constant(0), x])[1]
    return al.gradients(al.sum(h * h), [w, x])


def by_hand(n, w, x):
    w, x = w.astype(np.float64), x.astype(np.float64)
    states = [x]
    for _ in range(n):
        states.append(np.tanh(states[-1] @ w + x))
    g, gw, gx = 2 * states[-1], np.zeros_like(w), np.zeros_like(x)
    for before, after in zip(states[-2::-1], states[:0:-1]):
        g = g * (1 - after * after)
        gw, gx, g = gw + before.T @ g, gx + g, g @ w.T
    return gw, gx + g


def drawn(*shape, power=0):
    return np.ldexp(np.random.default_rng(sum(shape)).standard_normal(shape), power).astype(np.float32)


def lowered():
    graph = Graph()
    with graph.as_default():
        feeds = [al.compat.v1.placeholder(v.dtype, v.shape) for v in (N, W, X)]
        return lower(graph, gradient(*feeds), feeds)


def test_a_gradient_that_vanishes_is_right():
    f = al.function(gradient, autograph=False, executor="dataflow")
    for one, other in zip(f(N, W, X), by_hand(N, W, X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_only_products_of_loops_that_go_back_are_others():
    before = lowered()
    after = gradient_products.with_gradient_products(before)
    others = [one for one, old in zip(after.nodes, before.nodes, strict=True) if one is not old]
    assert [one.value in PRODUCTS for one in others] == [True, True]
    forward = next(one for one in before.nodes if one.op is not None and one.op.name == "tanh").frame
    assert all(one.frame != forward and one.op.name == "matmul" for one in others)
    assert gradient_products.with_gradient_products(after) is after


def test_weights_are_made_ready_once_in_a_loop(monkeypatch):
    """They were made doubles in each iteration: the loop has them by another name than the product in it."""
    made, doubles = [], gradient_products.Weights.doubles
    monkeypatch.setattr(gradient_products.Weights, "doubles", lambda own: (made.append(own), doubles(own))[1])
    al.function(gradient, autograph=False, executor="dataflow")(N, W, X)
    assert len(made) > 20 and len(set(map(id, made))) == 1


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("powers", [(0, 0), (-140, 0), (-147, 2), (-110, 10), (0, -140), (-70, -70)], ids=str)
def test_products_are_right_whatever_is_small_in_them(product, powers):
    a, b = drawn(16, 32, power=powers[0]), drawn(24, 32, power=powers[1]).T
    for first in (a[0], 0.0, drawn(32)):
        a[0] = first
        wide = a.astype(np.float64), b.astype(np.float64)
        error = np.abs(product(a, b) - wide[0] @ wide[1])
        assert (error <= 32 * (3e-7 * (np.abs(wide[0]) @ np.abs(wide[1])) + 2.0**-149)).all()
        assert product(a, b).dtype == np.float32


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda f: f.__name__)
def test_what_is_no_number_stays_so(product):
    a, b = drawn(16, 32, power=-140), drawn(32, 24)
    a[3, 2], a[5, 1], b[2, 7], b[4] = np.inf, np.nan, np.inf, 0.0
    with np.errstate(all="ignore"):
        for first in (a[0, 0], 0.0, np.nan, np.inf):
            a[0, 0] = first
            got, want = product(a, b), a @ b
            np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
            np.testing.assert_array_equal(np.isinf(got) * np.sign(got), np.isinf(want) * np.sign(want))


def test_all_ways_to_run_it_give_the_same():
    graph = Graph()
    with graph.as_default():
        feeds = [al.compat.v1.placeholder(v.dtype, v.shape) for v in (N, W, X)]
        fetches = gradient(*feeds)
    given = dict(zip(feeds, (N, W, X)))
    with al.compat.v1.Session(graph=graph) as session:
        want = session.run(fetches, given)
        for options in ({"timeout": 100.0}, {"timeout": None}):
            for one, other in zip(session.run(fetches, given, **options), want, strict=True):
                np.testing.assert_array_equal(one, other)
    with al.compat.v1.Session(graph=graph, memory_limit=1 << 24) as session:
        for one, other in zip(session.run(fetches, given), want, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("first", ["small", "zero"])
def test_small_numbers_take_about_as_long_as_others(first):
    a, b = drawn(32, 64), drawn(64, 64)
    small = np.ldexp(a, -140)
    small[0] = 0.0 if first == "zero" else small[0]

    def taken(x):
        times = []
        for _ in range(20):
            begin = thread_time()
            for _ in range(20):
                gradient_products.product_by_weights(x, b)
            times.append(thread_time() - begin)
        return min(times)

    assert taken(small) < 12 * taken(a)  # some hundred times as long, as they are
