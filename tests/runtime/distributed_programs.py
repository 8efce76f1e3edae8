"""Loops as people write them for NumPy, which a Dask array can be given to just as well; no word of Dask is in them.

``PROGRAMS`` has the six with the arrays they are called with; which of those are cut into chunks stands beside each.
What an expert writes for Dask instead is in ``loops_by_hand``. Tests and benchmarks share them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def kmeans(points, centres, tolerance):
    """Lloyd's rounds until no centre moves by more than ``tolerance``."""
    rounds, moved = 0, np.inf
    while moved > tolerance:
        distances = np.sum(centres**2, axis=1) - 2 * points @ centres.T
        nearest = np.argmin(distances, axis=1)
        member = np.where(nearest[:, None] == np.arange(len(centres)), 1.0, 0.0)
        means = (member.T @ points) / np.sum(member, axis=0)[:, None]
        moved = np.max(np.abs(means - centres))
        centres = means
        rounds += 1
    return centres, rounds


def pagerank(links, rank, damping, tolerance):
    """Ranks of pages: ``links[i, j]`` leads from j to i."""
    walk = links / np.sum(links, axis=0)
    rounds, change = 0, np.inf
    while change > tolerance:
        better = damping * (walk @ rank) + (1 - damping) / len(links)
        change = np.sum(np.abs(better - rank))
        rank = better
        rounds += 1
    return rank, rounds


def power_iteration(a, x, tolerance):
    """The largest eigenvalue of a matrix, and its vector."""
    rounds, value, change = 0, 0.0, np.inf
    while change > tolerance:
        y = a @ x
        size = np.sqrt(y @ y)
        change = np.abs(size - value)
        x, value = y / size, size
        rounds += 1
    return x, value, rounds


def conjugate_gradients(a, b, tolerance):
    """``x`` of ``a @ x = b``; ``a`` is symmetric and positive definite."""
    x, residual, direction = np.zeros_like(b), b, b
    size = b @ b
    rounds = 0
    while np.sqrt(size) > tolerance:
        image = a @ direction
        step = size / (direction @ image)
        x = x + step * direction
        residual = residual - step * image
        smaller = residual @ residual
        direction = residual + (smaller / size) * direction
        size = smaller
        rounds += 1
    return x, rounds


def jacobi(a, b, tolerance):
    """``x`` of ``a @ x = b``; in each row of ``a`` the diagonal outweighs the rest."""
    diagonal = np.diagonal(a)
    x, rounds, change = b / diagonal, 0, np.inf
    while change > tolerance:
        step = (b - a @ x) / diagonal
        x = x + step
        change = np.max(np.abs(step))
        rounds += 1
    return x, rounds


def logistic_regression(x, y, w, rate, steps):
    """Weights after so many steps of gradient descent: nothing that is computed decides how long the loop runs."""
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-(x @ w)))
        w = w - rate * (x.T @ (chance - y)) / len(x)
    return w


@dataclass(frozen=True)
class Program:
    """A function, what it is called with, and which of that is large.

    ``make(size)`` gives the arguments, where ``size`` is the length of the first axis of what is large; the arguments
    at the places ``chunked`` are cut along that axis when they are Dask's. ``rounds(result)`` says how often the loop
    ran.
    """

    function: Callable[..., Any]
    make: Callable[[int], list[Any]]
    chunked: tuple[int, ...]
    rounds: Callable[[Any], int]
    size: int  # of tests

    def arguments(self, size: int | None = None) -> list[Any]:
        return self.make(self.size if size is None else size)


def _blobs(size):
    random = np.random.default_rng(size)
    centres = 6 * random.standard_normal((8, 16))
    points = centres[random.integers(0, 8, size)] + 2 * random.standard_normal((size, 16))
    return [points, points[:8].copy(), 1e-2]


def _web(size):
    random = np.random.default_rng(size)
    links = (random.random((size, size)) < 8 / size) + np.eye(size, k=1) + np.eye(size, k=1 - size)
    return [links, np.full(size, 1 / size), 0.85, 1e-9]


def _symmetric(size):
    a = np.random.default_rng(size).standard_normal((size, size)) / (10 * size**0.5)
    return [(a + a.T) / 2 + np.diag(1 / (1 + 0.2 * np.arange(size))), np.ones(size), 1e-6]


def _definite(size):
    a = np.random.default_rng(size).standard_normal((size, size)) / size**0.5
    return [a @ a.T + 0.5 * np.eye(size), np.ones(size), 1e-6]


def _dominant(size):
    a = np.random.default_rng(size).random((size, size))
    return [a + 2 * np.diag(a.sum(axis=1)), np.ones(size), 1e-9]


def _classes(size):
    random = np.random.default_rng(size)
    x = random.standard_normal((size, 16))
    y = (x @ random.standard_normal(16) + random.standard_normal(size) > 0).astype(float)
    return [x, y, np.zeros(16), 0.5, 20]


PROGRAMS = {
    "k-means": Program(kmeans, _blobs, (0,), lambda result: int(result[1]), 2000),
    "PageRank": Program(pagerank, _web, (0, 1), lambda result: int(result[1]), 200),
    "power iteration": Program(power_iteration, _symmetric, (0, 1), lambda result: int(result[2]), 200),
    "conjugate gradients": Program(conjugate_gradients, _definite, (0, 1), lambda result: int(result[1]), 200),
    "Jacobi": Program(jacobi, _dominant, (0, 1), lambda result: int(result[1]), 200),
    "logistic regression": Program(logistic_regression, _classes, (0, 1), lambda result: 20, 2000),
}


def cut(program: Program, arguments: list[Any], chunks: int, from_array: Callable[..., Any]) -> list[Any]:
    """The arguments with what is large in so many chunks of rows: ``from_array`` is ``dask.array.from_array``."""
    size = len(arguments[program.chunked[0]])
    rows = -(-size // chunks)
    return [
        from_array(value, chunks=(rows, *value.shape[1:])) if place in program.chunked else value
        for place, value in enumerate(arguments)
    ]
