"""Checks of derivatives: against central differences, and against the same loop unrolled by a tape."""

from __future__ import annotations

import autoloop as al
import numpy as np
from api import prepare
from autoloop.differentiation import GradientTape, gradients, jvp

F64 = al.float64
EXECUTORS = ("sequential", "dataflow")


def scalar(value):
    return al.constant(value, dtype=F64)


def differences(f, arrays, k, step=1e-6):
    """Central differences of the number ``f(*arrays)`` with regard to ``arrays[k]``."""
    x = arrays[k]
    out = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            values.append(float(np.asarray(f(*arrays[:k], moved, *arrays[k + 1 :]))))
        out[index] = (values[0] - values[1]) / (2 * step)
    return out


def zeros_for_none(found, arrays):
    return [np.zeros_like(x) if g is None else np.asarray(g) for g, x in zip(found, arrays)]


def check_gradients(f, *arrays, rtol=1e-5, atol=1e-6, autograph=False, executors=EXECUTORS):
    """Reverse mode through ``f``, which gives a scalar, on every one of ``executors``; gives the gradients."""
    arrays = [np.asarray(a, float) for a in arrays]
    forward = al.function(f, autograph=autograph)
    expected = [differences(forward, arrays, k) for k in range(len(arrays))]

    @al.function(executor=executors[0], autograph=False)
    def with_gradients(*xs):
        y = forward(*xs)
        return y, gradients(y, list(xs))

    concrete = with_gradients.get_concrete_function(*arrays)
    for executor in executors:
        if executor != executors[0]:
            concrete.runner = prepare(concrete.graph, executor)
        y, found = concrete(*arrays)
        np.testing.assert_allclose(np.asarray(y), np.asarray(forward(*arrays)), rtol=1e-12)
        for g, e in zip(zeros_for_none(found, arrays), expected):
            np.testing.assert_allclose(g, e, rtol=rtol, atol=atol)
    return zeros_for_none(found, arrays)


def slopes(f):
    """A scalar function of the gradients of ``f``, to be differentiated again."""

    def g(*xs):
        found = [x for x in gradients(f(*xs), list(xs)) if x is not None]
        total = scalar(0.0)
        for k, x in enumerate(found):
            total = total + al.sum(al.sin(x * (0.3 + 0.2 * k)))
        return total

    return g


def check_forward(f, *arrays, rtol=1e-5, atol=1e-6):
    """Forward mode through ``f`` along a random direction, eagerly and inside a function."""
    arrays = [np.asarray(a, float) for a in arrays]
    rng = np.random.default_rng(7)
    directions = [rng.normal(size=a.shape) for a in arrays]
    forward = al.function(f, autograph=False)
    step = 1e-6
    up, down = [float(np.asarray(forward(*[a + s * step * d for a, d in zip(arrays, directions)]))) for s in (1, -1)]
    expected = (up - down) / (2 * step)

    @al.function(autograph=False)
    def inside(xs, vs):
        return jvp(f, xs, vs)

    for value, slope in (jvp(f, arrays, directions), inside(arrays, directions)):
        np.testing.assert_allclose(np.asarray(value), np.asarray(forward(*arrays)), rtol=1e-12)
        np.testing.assert_allclose(np.asarray(slope), expected, rtol=rtol, atol=atol)


def unrolled(cond, body, loop_vars, **_):
    """``while_loop`` in plain Python, on values."""
    values = tuple(al.nest.map_structure(al.convert_to_tensor, v) for v in loop_vars)
    while bool(cond(*values)):
        values = tuple(body(*values))
    return values


def tape_gradients(f, arrays):
    """The gradients of ``f``, recorded step by step: no loop, no graph."""
    xs = [al.constant(a) for a in arrays]
    with GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return np.asarray(y), zeros_for_none(tape.gradient(y, xs), arrays)
