"""Gradients that begin with something: stacked results of loops, and what their rows' gradients are given as."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
from autoloop.differentiation import GradientTape, gradients, vjp
from each_case import each
from executors import EXECUTORS

X = np.array([0.5, 1.0, 2.0])
SEED = np.array([1.0, -2.0, 3.0])


def mapped(x):
    return al.map_fn(lambda v: v * v * x[0], x)


def scanned(x):
    return al.scan(lambda a, v: a * v, x)


def written(x):
    def body(i, a, out):
        return i + 1, a * x[i], out.write(i, a)

    first = (0, al.constant(1.0, dtype=al.float64), al.TensorArray(al.float64, size=3))
    return al.while_loop(lambda i, *_: i < 3, body, first)[2].stack()


def grown(x):
    def body(i, a, out):
        return i + 1, a * x[i], out.write(i, a)

    first = (0, x[1], al.TensorArray(al.float64, size=0, dynamic_size=True))
    return al.while_loop(lambda i, *_: i < al.size(x), body, first)[2].stack()


#: name -> (program, the gradient of its result by x)
PROGRAMS = {
    "map": (mapped, SEED * 2 * X * X[0] + np.sum(SEED * X * X) * np.eye(3)[0]),
    "scan": (scanned, [SEED[0] + SEED[1] * X[1] + SEED[2] * X[1] * X[2], X[0] * (SEED[1] + SEED[2] * X[2]),
                       SEED[2] * X[0] * X[1]]),
    "written": (written, [SEED[1] + SEED[2] * X[1], SEED[2] * X[0], 0]),
    "grown": (grown, [SEED[1] * X[1] + SEED[2] * X[1] ** 2, SEED[0] + X[0] * SEED[1] + 2 * X[0] * X[1] * SEED[2], 0]),
}  # fmt: skip
#: how the gradient of the result is given
SEEDS = {
    "array": lambda x: SEED,
    "list": lambda x: SEED.tolist(),
    "constant": lambda x: al.constant(SEED),
    "computed": lambda x: x * (SEED / X),
}


@each(product(PROGRAMS, EXECUTORS))
def test_the_gradient_of_stacked_rows_may_be_given_as_anything(name, executor):
    f, expected = PROGRAMS[name]

    @al.function(executor=executor, autograph=False)
    def all_of_them(x):
        ys = f(x)
        return [gradients(ys, x, grad_ys=[seed(x)])[0] for seed in SEEDS.values()]

    for found in all_of_them(X):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@each(product(PROGRAMS, ["checkpoint", 2]))
def test_so_it_may_where_the_loop_runs_again(name, memory):
    f, expected = PROGRAMS[name]

    @al.function(autograph=False, gradient_memory=memory)
    def again(x):
        return gradients(f(x), x, grad_ys=[SEED])[0]

    np.testing.assert_allclose(again(X), expected, rtol=1e-12)


@each(PROGRAMS)
def test_so_it_may_with_the_other_ways_to_ask(name):
    f, expected = PROGRAMS[name]
    x = al.constant(X)
    with GradientTape() as tape:
        tape.watch(x)
        ys = f(x)
    np.testing.assert_allclose(tape.gradient(ys, x, [SEED]), expected, rtol=1e-12)
    np.testing.assert_allclose(al.function(lambda x: vjp(f, x)[1](al.constant(SEED))[0])(x), expected, rtol=1e-12)


@each(PROGRAMS)
def test_and_the_gradient_is_differentiated_again(name):
    f = PROGRAMS[name][0]

    @al.function(autograph=False)
    def slope(x):
        return al.sum(al.sin(gradients(f(x), x, grad_ys=[SEED])[0]))

    step = 1e-6 * np.eye(3)
    expected = [(float(slope(X + d)) - float(slope(X - d))) / 2e-6 for d in step]
    found = al.function(lambda x: gradients(slope(x), x)[0])(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
