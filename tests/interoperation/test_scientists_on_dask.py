"""Programs as scientists write them, over Dask's arrays: the numbers that NumPy gives, in arrays of Dask's."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

da = pytest.importorskip("dask.array")
pytest.importorskip("array_api_compat")

R = np.random.default_rng(0)


def lanczos(a, v, m):
    beta, before = 0.0, np.zeros_like(v)
    betas = []
    for _ in range(m):
        w = a @ v - beta * before
        beta = np.sqrt(w @ w)
        betas.append(beta)
        if beta < 1e-12:
            break
        before, v = v, w / beta
    return np.stack(betas)


def test_a_condition_on_what_a_step_only_checks():
    """What is handed on as it is, is no task: it had no name where a task graph was written."""
    a, v = np.diag(np.arange(1.0, 9.0)), np.arange(1.0, 9.0)
    found = al.function(lanczos)(da.from_array(a, chunks=3), da.from_array(v, chunks=3), 6)
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), lanczos(a, v, 6), rtol=1e-12)


def fitted(w, x, y, tolerance):
    k = 0
    while True:
        g = x.T @ (x @ w - y) / len(y)
        if g @ g < tolerance:
            break
        k += 1
        if k > 3:
            break
        w = w - 0.1 * g
    return ((x @ w - y) ** 2).mean()


@pytest.mark.parametrize("memory", [None, "checkpoint"])
def test_a_gradient_through_a_loop_that_is_left(memory):
    """Its way back asks for conditions that were computed on the way forward."""
    w, x, y = np.zeros(3), R.normal(size=(40, 3)), R.normal(size=40)
    both = al.value_and_grad(al.function(fitted, gradient_memory=memory), argnums=(0, 1))
    value, slopes = both(w, da.from_array(x, chunks=(17, 3)), da.from_array(y, chunks=17), 1e-4)
    expected, wanted = both(w, x, y, 1e-4)
    assert isinstance(slopes[1], da.Array) and slopes[1].chunks == ((17, 17, 6), (3,))
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for one, other in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-14)
