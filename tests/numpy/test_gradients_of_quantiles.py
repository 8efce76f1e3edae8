"""Gradients of quantiles by each of NumPy's methods, with nan and without, against differences."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from samples_statistics import METHODS

_rng = np.random.default_rng(4)
X = _rng.normal(0, 1, (2, 5))
GAPS = np.where(X == X[0, 1], np.nan, X)
Q = np.array([0.21, 0.55])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("f", "x"), [(np.quantile, X), (np.nanquantile, GAPS)], ids=["all", "without nan"])
def test_by_each_method(f, x, method):
    def loss(x, q):
        return np.sum(np.sin(f(x, q, axis=1, method=method)))

    to_x, to_q = al.grad(loss, (0, 1))(al.constant(x), al.constant(Q))
    step, along = 1e-6, _rng.normal(0, 1, x.shape)
    by_x = (loss(x + step * along, Q) - loss(x - step * along, Q)) / (2 * step)
    by_q = (loss(x, Q + step) - loss(x, Q - step)) / (2 * step)
    np.testing.assert_allclose(np.nansum(to_x.numpy() * along), by_x, rtol=1e-6)
    np.testing.assert_allclose(np.sum(to_q.numpy()), by_q, rtol=1e-6, atol=1e-8)
