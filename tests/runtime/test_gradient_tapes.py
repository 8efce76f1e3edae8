"""Tapes: what they watch and record, what they differentiate, and inside of what."""

from __future__ import annotations

import threading

import autoloop as al
import numpy as np
import pytest
from autoloop.differentiation import (
    GradientTape,
)
from test_gradients_api import X, powered


def test_tape():
    x, y = al.constant(3.0), al.constant(2.0)
    with GradientTape() as tape:
        tape.watch([x])
        z = x * x * y
    assert [None if g is None else float(g) for g in tape.gradient(z, [x, y])] == [12, None]
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(z, x)


def test_persistent_tape_structures_seeds_and_zeros():
    x, y = al.constant(X), al.constant(X)
    with GradientTape(persistent=True) as tape:
        tape.watch({"x": x, "y": y})
        z = {"p": x * y, "s": x}
    g = tape.gradient(z, {"x": x, "y": y}, output_gradients={"p": X, "s": np.ones(3)})
    np.testing.assert_allclose(g["x"], X * X + 1)
    np.testing.assert_allclose(g["y"], X * X)
    assert tape.gradient(z["s"], y) is None
    np.testing.assert_array_equal(tape.gradient(z["s"], y, unconnected_gradients="zero"), np.zeros(3))
    np.testing.assert_allclose(tape.jacobian(z["p"], x), np.diag(X))


def test_tape_inside_its_own_block_differentiates_again():
    x = al.constant(3.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        g = tape.gradient(x * x * x, x)
    assert float(tape.gradient(g, x)) == 18


def test_variables_are_watched():
    v, fixed = al.Variable(3.0), al.Variable(2.0, trainable=False)
    with GradientTape() as tape:
        y = v * v * fixed
    assert float(tape.gradient(y, v)) == 12
    with GradientTape() as tape:
        y = v * v * fixed
    assert tape.gradient(y, fixed) is None
    with GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    with GradientTape() as tape:
        y = v * v
        assert tape.watched_variables() == (v,)


def test_stop_recording_and_reset():
    x = al.constant(3.0)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = x * y
        w = x * z
    assert float(tape.gradient(w, x)) == 27
    tape.reset()
    assert tape.gradient(w, x) is None
    with tape, pytest.raises(ValueError, match="already"):
        tape.__enter__()
    with pytest.raises(TypeError, match="tape watches"):
        tape.watch(3)


def test_tape_over_a_function_call_with_variables_in_a_loop():
    v = al.Variable(2.0)

    @al.function
    def f(x, n):
        for _ in al.range(n):
            x = al.cond(x > 0.0, lambda: x * v, lambda: x)
        return x, n

    x = al.constant(1.5)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y, _ = f(x, al.constant(3))
        gx, gv = inner.gradient(y, [x, v])
    assert (float(y), float(gx), float(gv)) == (12, 8, 18)
    assert [float(g) for g in outer.gradient(gv, [x, v])] == [12, 18]


def test_tape_over_a_loop_outside_any_function():
    x = al.constant(1.5)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = al.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * x), (0, x))[1]
        g = inner.gradient(y, x)
    assert float(g) == 4 * 1.5**3
    assert float(outer.gradient(g, x)) == 12 * 1.5**2


def test_a_function_is_run_once_under_a_tape():
    seen = []

    @al.function
    def f(x):
        al.py_function(lambda: seen.append(1), [], [])
        return x * x

    x = al.constant(3.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 6
    assert seen == [1]


def test_tape_inside_a_function_counts_what_is_built_inside_it():
    @al.function
    def f(x):
        before = x * x
        with GradientTape() as tape:
            tape.watch([x, before])
            y = before * x
        return tape.gradient(y, [x, before])

    gx, gb = f(al.constant(3.0))
    assert (float(gx), float(gb)) == (9, 3)


def test_tape_around_a_converted_loop_inside_a_function():
    v = al.Variable(2.0)

    @al.function
    def step(x):
        with GradientTape() as tape:
            y = x
            for _ in al.range(3):
                y = y * v
        g = tape.gradient(y, v)
        v.assign_sub(0.1 * g)
        return g

    assert float(step(al.constant(1.0))) == 12
    np.testing.assert_allclose(np.asarray(v), 0.8, rtol=1e-6)


def test_threads_have_tapes_of_their_own():
    results = {}

    def work(k):
        x = al.constant(float(k))
        for _ in range(20):
            with GradientTape() as tape:
                tape.watch(x)
                y = al.function(powered)(x, 3)
            results[k] = float(tape.gradient(y, x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: 3.0 * k * k for k in range(1, 5)}
