"""Loops over PyTorch's tensors: as graphs where both libraries agree, as plain Python where they do not."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("array_api_compat")


def agrees(f, *arrays, is_graph=True):
    """Check that the decorated function gives what the undecorated one gives."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = al.function(f)(*[torch.tensor(one) for one in arrays])
        expected = f(*[torch.tensor(one) for one in arrays])
    assert any("runs as plain Python" in str(one.message) for one in said) != is_graph
    for one, other in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, expected)]):
        assert type(one) is type(other)
        assert not isinstance(one, torch.Tensor) or (one.dtype == other.dtype and torch.allclose(one, other))


def test_dtypes_are_theirs():
    agrees(lambda x: (x * 2 + 1) / 3 - x, np.ones(3, np.float32))
    for f in (lambda x: x / 2, lambda x: x + 1.5):
        agrees(f, np.arange(3), is_graph=False)
    agrees(lambda x: x * np.float64(2), np.ones(3, np.float32), is_graph=False)
    agrees(lambda x, y: x + y, np.ones(3, np.float32), np.arange(3), is_graph=False)


def test_dtypes_that_are_said_and_places_are_no_promotion():
    compat = pytest.importorskip("array_api_compat")

    def said(k):
        xp = compat.array_namespace(k)
        return xp.astype(k, xp.float64) / 2, xp.sum(k, dtype=xp.float64)

    agrees(said, np.arange(3))
    agrees(lambda x, k: compat.array_namespace(x).take(x, k), np.ones(3, np.float32), np.array([2, 0]))


def test_methods_of_another_meaning_are_theirs():
    for f in (lambda x: x.std(), lambda x: x.transpose(0, 1), lambda x: x.repeat(2, 1), lambda x: x.max(0)[0]):
        agrees(f, np.arange(4.0).reshape(2, 2), is_graph=False)
    agrees(lambda x: (x.sum(), x.mean(0), x.T @ x, x.max(), x[1:]), np.arange(4.0).reshape(2, 2))


def test_loops():
    def settled(x):
        turns = 0
        while abs(x).max() > 1:
            x = x / 2
            turns += 1
        return x, turns

    agrees(settled, np.array([10.0, 3.0]))
    slope = al.grad(lambda x: np.sum(settled(x)[0] ** 2))(torch.tensor([10.0, 3.0]))
    assert type(slope) is torch.Tensor and torch.allclose(slope, torch.tensor([20.0, 6.0]) / 256)
