"""Random loop bodies: the gradient through the loop is that of the loop unrolled, which a tape records step by step."""

from __future__ import annotations

import autoloop as al
import numpy as np
from autoloop.differentiation import GradientTape, gradients, jvp
from examples import examples
from gradient_checks import F64, tape_gradients, unrolled, zeros_for_none
from hypothesis import given, settings
from hypothesis import strategies as st

N = 3
UNARY = {
    "sin": al.sin,
    "tanh": al.tanh,
    "negative": al.negative,
    "square": lambda x: al.square(al.tanh(x)),
    "exp": lambda x: al.exp(al.tanh(x)),
    "flip": lambda x: x[::-1],
    "total": lambda x: al.sum(x) * 0.3 + x,
    "matmul": lambda x: al.reshape(al.reshape(x, [1, N]) @ al.constant(np.eye(N) * 0.5 + 0.1), [N]),
    "cumsum": lambda x: al.cumsum(x) * 0.4,
    "row": lambda x: x[1] * 0.5 + x,
    "stop": lambda x: al.stop_gradient(x) * x,
}
BINARY = {
    "add": al.add,
    "subtract": al.subtract,
    "multiply": al.multiply,
    "maximum": al.maximum,
    "gather": lambda x, y: al.gather(x, [2, 0, 0]) * y,
}


class Staged:
    """Loops and branches as the graph has them."""

    while_loop = staticmethod(al.while_loop)

    @staticmethod
    def cond(pred, then, otherwise):
        return al.cond(pred, then, otherwise)


class Plain:
    """Loops and branches as Python has them."""

    while_loop = staticmethod(unrolled)

    @staticmethod
    def cond(pred, then, otherwise):
        return then() if bool(pred) else otherwise()


def evaluate(tree, env, lib):
    """The value of an expression: a name, or ``(kind, ...)``."""
    if isinstance(tree, str):
        return env[tree]
    kind, *rest = tree
    if kind in UNARY:
        return UNARY[kind](evaluate(rest[0], env, lib))
    if kind in BINARY:
        return BINARY[kind](*[evaluate(r, env, lib) for r in rest])
    if kind == "count":
        return evaluate(rest[0], env, lib) * (al.cast(env["i"], F64) * 0.2 + 0.5)
    if kind == "pick":
        return evaluate(rest[0], env, lib) * env["a"][env["i"] % N]
    if kind == "cond":
        test, then, otherwise = rest
        pred = al.sum(evaluate(test, env, lib)) > 0.2
        return lib.cond(pred, lambda: evaluate(then, env, lib), lambda: evaluate(otherwise, env, lib))
    return loop(tree, env, lib)[1]


def loop(tree, env, lib):
    """A loop: ``("while", trips, next u, next v)`` over the variables ``i``, ``u``, ``v``."""
    _, trips, *bodies = tree

    def body(i, u, v):
        inner = {**env, "i": i, "u": u, "v": v}
        return i + 1, *[evaluate(b, inner, lib) for b in bodies]

    i, u, v = lib.while_loop(lambda i, u, v: i < trips, body, (0, env["u"], env["v"]))
    return i, u, v


def expressions(depth):
    names = st.sampled_from(["u", "v", "a", "x"])
    if depth == 0:
        return names
    inner = expressions(depth - 1)
    return st.one_of(
        names,
        st.tuples(st.sampled_from(sorted(UNARY)), inner),
        st.tuples(st.sampled_from(sorted(BINARY)), inner, inner),
        st.tuples(st.sampled_from(["count", "pick"]), inner),
        st.tuples(st.just("cond"), inner, inner, inner),
        st.tuples(st.just("while"), st.integers(0, 2), inner, inner),
    )


PROGRAMS = st.tuples(st.just("while"), st.integers(0, 4), expressions(3), expressions(2))


def run(tree, lib, x, a):
    _, u, v = loop(tree, {"i": al.constant(0), "u": x, "v": a, "x": x, "a": a}, lib)
    return al.sum(al.tanh(u)) + al.sum(al.sin(v) * a)


@given(PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_through_the_loop_as_unrolled(tree):
    arrays = [np.linspace(-0.6, 0.9, N), np.linspace(0.4, 1.1, N)]
    value, expected = tape_gradients(lambda x, a: run(tree, Plain, x, a), arrays)

    @al.function(autograph=False, executor="sequential")
    def staged(x, a):
        y = run(tree, Staged, x, a)
        return y, gradients(y, [x, a])

    y, found = staged(*arrays)
    np.testing.assert_allclose(np.asarray(y), value, rtol=1e-10)
    for g, e in zip(zeros_for_none(found, arrays), expected):
        np.testing.assert_allclose(g, e, rtol=1e-8, atol=1e-10)


def slope(found):
    """A number that depends on the gradients found."""
    total = al.constant(0.0, dtype=F64)
    for k, g in enumerate(found):
        if g is not None:
            total = total + al.sum(al.sin(g * (k + 0.5)))
    return total


@given(PROGRAMS)
@settings(max_examples=examples(25), deadline=None)
def test_second_order_and_forward_mode_as_unrolled(tree):
    arrays = [np.linspace(-0.6, 0.9, N), np.linspace(0.4, 1.1, N)]
    xs = [al.constant(a) for a in arrays]
    with GradientTape() as outer:
        outer.watch(xs)
        with GradientTape() as inner:
            inner.watch(xs)
            y = run(tree, Plain, *xs)
        total = slope(inner.gradient(y, xs))
    expected = zeros_for_none(outer.gradient(total, xs), arrays)

    @al.function(autograph=False, executor="sequential")
    def staged(x, a):
        found = gradients(run(tree, Staged, x, a), [x, a])
        return found, gradients(slope(found), [x, a])

    first, second = staged(*arrays)
    for g, e in zip(zeros_for_none(second, arrays), expected):
        np.testing.assert_allclose(g, e, rtol=1e-7, atol=1e-9)
    directions = [np.ones(N), np.arange(N, dtype=float)]
    _, moved = jvp(lambda x, a: run(tree, Staged, x, a), arrays, directions)
    along = sum((g * v).sum() for g, v in zip(zeros_for_none(first, arrays), directions))
    np.testing.assert_allclose(np.asarray(moved), along, rtol=1e-7, atol=1e-9)
