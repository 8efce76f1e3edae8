"""The loops of ``distributed_programs`` as an expert writes them for Dask: what ours are measured against.

Each iteration is persisted, so that its graph does not grow into the next one's; what decides whether there is another
is all that is fetched, and it is submitted together with the rest. Where the state is a few numbers (centres, weights)
it is fetched as a whole, and the next iteration has it as a constant: that is shorter, and is what Dask's own libraries
do. A vector that a matrix is multiplied by is put together first: Dask would cut the matrix to its chunks, each time.
"""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np


def kmeans(points, centres, tolerance):
    points = points.persist()
    rounds, moved = 0, np.inf
    while moved > tolerance:
        distances = np.sum(centres**2, axis=1) - 2 * points @ centres.T
        nearest = da.argmin(distances, axis=1)
        member = da.where(nearest[:, None] == np.arange(len(centres)), 1.0, 0.0)
        sums, counts = dask.compute(member.T @ points, da.sum(member, axis=0))
        means = sums / counts[:, None]
        moved = np.max(np.abs(means - centres))
        centres = means
        rounds += 1
    return centres, rounds


def pagerank(links, rank, damping, tolerance):
    walk, rank = dask.persist(links / da.sum(links, axis=0), rank)
    rounds, change = 0, np.inf
    while change > tolerance:
        better = damping * (walk @ rank.rechunk(-1)) + (1 - damping) / len(links)
        rank, change = dask.persist(better, da.sum(da.abs(better - rank)))
        change = change.compute()
        rounds += 1
    return rank, rounds


def power_iteration(a, x, tolerance):
    a, x = dask.persist(a, x)
    rounds, value, change = 0, 0.0, np.inf
    while change > tolerance:
        y = a @ x.rechunk(-1)
        size = da.sqrt(y @ y)
        x, size = dask.persist(y / size, size)
        size = size.compute()
        change, value = abs(size - value), size
        rounds += 1
    return x, value, rounds


def conjugate_gradients(a, b, tolerance):
    a, b = dask.persist(a, b)
    x, residual, direction = da.zeros_like(b), b, b
    size = b @ b
    x, size = dask.persist(x, size)
    norm = np.sqrt(size.compute())
    rounds = 0
    while norm > tolerance:
        image = a @ direction.rechunk(-1)
        step = size / (direction @ image)
        x = x + step * direction
        residual = residual - step * image
        smaller = residual @ residual
        direction = residual + (smaller / size) * direction
        x, residual, direction, size = dask.persist(x, residual, direction, smaller)
        norm = np.sqrt(size.compute())
        rounds += 1
    return x, rounds


def jacobi(a, b, tolerance):
    a, b = dask.persist(a, b)
    diagonal = da.diagonal(a)
    diagonal, x = dask.persist(diagonal, b / diagonal)
    rounds, change = 0, np.inf
    while change > tolerance:
        step = (b - a @ x.rechunk(-1)) / diagonal
        x, change = dask.persist(x + step, da.max(da.abs(step)))
        change = change.compute()
        rounds += 1
    return x, rounds


def logistic_regression(x, y, w, rate, steps):
    x, y = dask.persist(x, y)
    for _ in range(steps):
        chance = 1 / (1 + da.exp(-(x @ w)))
        w = w - rate * (x.T @ (chance - y)).compute() / len(x)
    return w


BY_HAND = {
    "k-means": kmeans,
    "PageRank": pagerank,
    "power iteration": power_iteration,
    "conjugate gradients": conjugate_gradients,
    "Jacobi": jacobi,
    "logistic regression": logistic_regression,
}
