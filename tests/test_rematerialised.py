"""remat: the values, kinds and derivatives of the function itself, and nothing kept but what goes in and comes out."""

from __future__ import annotations

import copy
import pickle

import autoloop as al
import numpy as np
import pytest
from api import compiled_calls
from executors import EXECUTORS

X = np.linspace(0.1, 1.0, 4)
W = np.linspace(-1.0, 1.0, 4)


def layer(x, *, k=1.5):
    y = np.tanh(np.sin(x * W) * k)
    return {"y": y, "s": (y.sum(), k * 2, None)}


def network(mark):
    f = mark(layer)
    return lambda x: (f(f(x)["y"], k=0.5)["s"][0] * f(x)["s"][1], f(x))


def looped(mark):
    @mark
    def f(x):
        while np.sum(x * x) > 0.3:
            x = np.sin(x) * 0.9
        return x * x if x[0] > 0.01 else x

    def g(x):
        total = 0.0
        for _ in range(5):
            x = f(x) + 0.3
            total = total + x[0]
        return np.sum(x * total), total

    return g


def written(mark):
    @mark
    def f(x, names):
        x[1:] = np.tanh(x[1:] * 2)
        names.append(np.sin(x).sum())
        y = np.cos(np.exp(x))
        return y[1:], y, names, x

    def g(x):
        x, names = x * 2, []
        part, y, same, z = f(x, names)
        part[0] = 3.0 * x[1]
        return np.sum(y * x) * names[0], same is names, z is x, y

    return g


def nested(mark):
    inner = mark(lambda x: np.tanh(x) * np.sin(x))
    outer = mark(lambda x: inner(np.tanh(inner(x))))
    return lambda x: (np.sum(outer(outer(x))), al.grad(lambda x: np.sum(outer(x)))(x))


PROGRAMS = {f.__name__: f for f in (network, looped, written, nested)}
WAYS = [*EXECUTORS, "undecorated"]
#: by day each program in one way, at night in all
CASES = [(name, way) for name in PROGRAMS for way in WAYS]
BY_DAY = dict(zip(PROGRAMS, ("undecorated", "auto", EXECUTORS[-1], "dataflow")))


@pytest.mark.parametrize(
    ("name", "executor"),
    [pytest.param(*case, marks=() if BY_DAY[case[0]] == case[1] else pytest.mark.nightly) for case in CASES],
)
def test_values_kinds_and_derivatives_are_those_of_the_function(name, executor):
    plain, marked = PROGRAMS[name](lambda f: f), PROGRAMS[name](al.remat)
    is_decorated = executor != "undecorated"
    program = al.function(marked, executor=executor) if is_decorated else marked
    found = program(copy.deepcopy(X))
    wanted = plain(copy.deepcopy(X))
    al.nest.assert_same_structure(found, wanted)
    for one, other in zip(al.nest.flatten(found), al.nest.flatten(wanted)):
        assert type(one) is type(other)
        if other is not None:
            np.testing.assert_allclose(one, other, rtol=1e-12)
    slopes = [al.grad(lambda x, f=f: f(x)[0])(X) for f in (plain, program)]
    np.testing.assert_allclose(*slopes, rtol=1e-10)


@pytest.mark.parametrize(
    "executor", [pytest.param(e, marks=() if e in ("sequential", "native") else pytest.mark.nightly) for e in EXECUTORS]
)
def test_second_derivatives_and_forward_mode(executor):
    f, g = (al.function(lambda x, h=network(mark): h(x)[0], executor=executor) for mark in (lambda f: f, al.remat))
    np.testing.assert_allclose(al.grad(g)(X), al.grad(f)(X), rtol=1e-12)
    np.testing.assert_allclose(al.jvp(g, [X], [W]), al.jvp(f, [X], [W]), rtol=1e-12)
    products = [al.hessian_vector_product(h, X, W) for h in (f, g)]
    np.testing.assert_allclose(*products, rtol=1e-10)


def kept(mark, turns, *args):
    """How many values the way back of a call of some layers, or of a turn of a loop of them, is given."""

    @mark
    def block(x, w):
        for _ in range(5):
            x = np.tanh(x @ w)
        return x

    def f(x, w, n=turns):
        for _ in range(n):
            x = block(x, w)
        return np.sum(x)

    graph = al.function(f).get_concrete_function(np.ones(4), np.eye(4), *args).graph
    split, _ = compiled_calls._halves(graph, graph.outputs, graph.inputs[:2])
    return len(split.saved)


def test_only_what_goes_in_and_comes_out_is_kept():
    assert kept(lambda f: f, 4) == 2 + 4 * 5
    assert kept(al.remat, 4) == 2 + 3
    # of a loop: a stack of each value that is kept of a turn, the number of turns, and w
    assert kept(al.remat, None, np.int64(300)) <= kept(lambda f: f, None, np.int64(300)) - 4


def test_a_tape_has_the_gradients_of_what_is_found_outside():
    v, c, x = al.Variable(2.0), al.constant([1.0, 2.0]), al.constant([0.1, 0.2])

    def f(x):
        return al.sum(al.tanh(x * v) * c)

    found = []
    for one in (f, al.checkpoint(f)):
        with al.GradientTape() as tape:
            tape.watch([c, x])
            y = one(x)
        found.append(tape.gradient(y, [v, c, x]))
    assert all(one is not None for one in found[1])
    for one, other in zip(*found):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_effects_happen_once(capsys):
    @al.remat
    def f(x, generator):
        print("once")
        return np.sum(np.tanh(x * generator.normal(size=4)))

    for _ in range(2):
        slope = al.grad(al.function(f))(X, np.random.default_rng(3))
        by_hand = np.random.default_rng(3).normal(size=4)
        np.testing.assert_allclose(slope, by_hand / np.cosh(X * by_hand) ** 2)
        assert capsys.readouterr().out == "once\n"


def test_an_effect_in_a_loop_is_refused_for_a_gradient(capsys):
    @al.function
    @al.remat
    def f(x):
        while np.sum(x) > 1:
            print(x[0])
            x = np.sin(x) / 2
        return np.sum(x)

    assert f(X) < 1
    with pytest.raises(ValueError, match=r"remat runs a loop or branch again, which has an effect.*AL413"):
        al.grad(f)(X)


class Model:
    def __init__(self):
        self.w = 2 * np.eye(4)

    @al.remat
    def layer(self, x):
        return np.tanh(np.sin(x @ self.w))


top = al.remat(layer)


def test_methods_graphs_and_what_is_no_function():
    m = Model()
    found = al.grad(lambda x: np.sum(m.layer(x)))(X)
    np.testing.assert_allclose(found, al.grad(lambda x: np.sum(np.tanh(np.sin(2 * x))))(X))
    assert pickle.loads(pickle.dumps(top))(X)["s"][1:] == layer(X)["s"][1:] and repr(top) == "<autoloop.remat of layer>"
    assert al.grad(al.remat(np.tanh))(1.0) == al.grad(np.tanh)(1.0)
    rows = al.vmap(al.remat(lambda x: np.tanh(np.sin(x)).sum()))(np.ones((3, 2)))
    np.testing.assert_allclose(rows, [2 * np.tanh(np.sin(1))] * 3)
    with al.Graph():
        x = al.placeholder(al.float64, [4])
        slope = al.gradients(m.layer(x), x)
        with al.Session() as session:
            np.testing.assert_allclose(session.run(slope, {x: X})[0], found)
    with pytest.raises(TypeError, match="remat: a function is needed, got 3 of type int"):
        al.remat(3)
