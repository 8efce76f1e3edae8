"""Losses at the end of loops, as people write them for NumPy, and their gradients as an expert writes them for Dask.

``PROGRAMS`` has what tests and benchmarks share. A gradient by hand persists each iteration, forwards and backwards,
and keeps what the way back needs in a list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import autoloop as al
import dask
import dask.array as da
import numpy as np


def relaxed(a, b, x, rounds):
    """How far Jacobi's rounds are from zero."""
    diagonal = np.diagonal(a)
    for _ in range(rounds):
        x = x + (b - a @ x) / diagonal
    return x @ x


def relaxed_by_hand(a, b, x, rounds):
    diagonal = da.diagonal(a)
    a, diagonal, x = dask.persist(a, diagonal, x)
    for _ in range(rounds):
        (x,) = dask.persist(x + (b - a @ x.rechunk(-1)) / diagonal)
    loss, g = dask.persist(x @ x, 2 * x)
    by_b = da.zeros_like(b)
    for _ in range(rounds):
        part = g / diagonal
        g, by_b = dask.persist(g - (a.T @ part).rechunk(g.chunks), by_b + part)
    return loss, by_b


def recurrent(xs, w, u, rounds):
    """A network that goes through time; ``rounds`` is how long that is."""
    h = np.zeros((xs.shape[1], u.shape[0]))
    for t in range(rounds):
        h = np.tanh(xs[t] @ w + h @ u)
    return (h * h).sum()


def recurrent_by_hand(xs, w, u, rounds):
    (xs,) = dask.persist(xs)
    h = da.zeros((xs.shape[1], u.shape[0]), chunks=(xs.chunks[1], -1))
    saved = [h]
    for t in range(rounds):
        (h,) = dask.persist(da.tanh(xs[t] @ w + h @ u))
        saved.append(h)
    loss, g = dask.persist((h * h).sum(), 2 * h)
    by_u = da.zeros(u.shape, chunks=-1)
    for t in reversed(range(rounds)):
        inner = g * (1 - saved.pop() ** 2)
        g, by_u = dask.persist(inner @ u.T, by_u + saved[t].T @ inner)
    return loss, by_u


def waves(x, rounds):
    """Element by element, so that only what is saved matters."""
    for _ in range(rounds):
        x = 1.01 * np.sin(x)
    return (x * x).sum()


def waves_by_hand(x, rounds):
    (x,) = dask.persist(x)
    saved = []
    for _ in range(rounds):
        saved.append(x)
        (x,) = dask.persist(1.01 * da.sin(x))
    loss, g = dask.persist((x * x).sum(), 2 * x)
    for _ in range(rounds):
        (g,) = dask.persist(g * 1.01 * da.cos(saved.pop()))
    return loss, g


def loss_of(w, x, y):
    z = x @ w
    return np.log1p(np.exp(-np.abs(z))).mean() + np.maximum(z, 0).mean() - (y * z).mean()


def trained(x, y, w, rounds):
    """Logistic regression that asks for the gradient of its loss in each step."""
    for _ in range(rounds):
        w = w - 0.5 * al.grad(loss_of)(w, x, y)
    return loss_of(w, x, y), w


def trained_by_hand(x, y, w, rounds):
    x, y = dask.persist(x, y)
    for _ in range(rounds):
        z = x @ w
        (w,) = dask.compute(w - 0.5 * (x.T @ (1 / (1 + da.exp(-z)) - y)) / len(y))
    return dask.persist(loss_of(w, x, y))[0], w


@dataclass(frozen=True)
class Program:
    """A loss, by which argument its gradient is (None: it is what the function gives itself), and both by hand.

    ``make(size)`` gives the arguments but for ``rounds``; ``axes`` says along which axis each is cut if it is Dask's.
    """

    function: Callable[..., Any]
    by: int | None
    by_hand: Callable[..., Any]
    make: Callable[[int], list[Any]]
    axes: tuple[int | None, ...]
    size: int  # of tests

    def both(self, **options: Any) -> Callable[..., Any]:
        """What gives the loss and its gradient."""
        f = al.function(self.function, **options)
        return f if self.by is None else al.value_and_grad(f, argnums=self.by)

    def cut(self, arguments: list[Any], chunks: int) -> list[Any]:
        """The arguments, as Dask's in so many chunks where they are cut."""
        made = []
        for one, axis in zip(arguments, self.axes, strict=True):
            if axis is None:
                made.append(one)
                continue
            sizes = tuple(-(-n // chunks) if k == axis else n for k, n in enumerate(one.shape))
            made.append(da.from_array(one, chunks=sizes))
        return made


def _system(size):
    random = np.random.default_rng(size)
    return [random.random((size, size)) / size + 2 * np.eye(size), random.random(size), np.zeros(size)]


def _series(size):
    random = np.random.default_rng(size)
    return [random.standard_normal((40, size, 16)), random.standard_normal((16, 32)) / 4,
            random.standard_normal((32, 32)) / 6]  # fmt: skip


def _labelled(size):
    random = np.random.default_rng(size)
    x = random.standard_normal((size, 16))
    return [x, (x @ random.standard_normal(16) > 0) * 1.0, np.zeros(16)]


PROGRAMS = {
    "Jacobi": Program(relaxed, 1, relaxed_by_hand, _system, (0, 0, 0), 200),
    "recurrent network": Program(recurrent, 2, recurrent_by_hand, _series, (1, None, None), 64),
    "element by element": Program(
        waves, 0, waves_by_hand, lambda size: [np.linspace(0.1, 1.0, size)], (0,), 400
    ),
    "logistic regression": Program(trained, None, trained_by_hand, _labelled, (0, 0, None), 400),
}  # fmt: skip
