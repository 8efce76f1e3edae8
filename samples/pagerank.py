"""PageRank of the characters of *Les Misérables*: power iteration until the ranks settle."""

import csv
from pathlib import Path

import autoloop
import numpy as np

DATA = Path(__file__).parent / "data" / "les_miserables.csv"


@autoloop.function
def pagerank(links, damping, tolerance):
    n = len(links)
    walk = links / np.sum(links, axis=0)  # walk[i, j]: the chance to go from j to i
    rank = np.ones_like(links[0]) / n
    rounds = 0
    change = 2 * tolerance
    while change > tolerance:
        better = damping * (walk @ rank) + (1 - damping) / n
        change = np.sum(np.abs(better - rank))
        rank = better
        rounds += 1
    return rank, rounds


def read_graph(path):
    """Names, and the symmetric matrix of shared scenes."""
    with path.open() as file:
        edges = [(a, b, float(scenes)) for a, b, scenes in list(csv.reader(file))[1:]]
    names = sorted({name for a, b, _ in edges for name in (a, b)})
    number = {name: i for i, name in enumerate(names)}
    links = np.zeros((len(names), len(names)))
    for a, b, scenes in edges:
        links[number[a], number[b]] = links[number[b], number[a]] = scenes
    return names, links


def main():
    names, links = read_graph(DATA)
    damping, tolerance = np.float64(0.85), np.float64(1e-10)
    rank, rounds = pagerank(links, damping, tolerance)

    print(f"PageRank of {len(names)} characters of Les Misérables, settled after {int(rounds)} rounds")
    order = np.argsort(-rank)
    for place, i in enumerate(order[:8], 1):
        bar = "#" * round(400 * float(rank[i]))
        print(f"{place:3d}  {names[i]:<12} {float(rank[i]):.4f}  {bar}")

    # the ranks are also the solution of a linear system
    n = len(names)
    walk = links / links.sum(axis=0)
    exact = np.linalg.solve(np.eye(n) - damping * walk, np.full(n, (1 - damping) / n))
    np.testing.assert_allclose(rank, exact, atol=1e-9)
    print("agrees with the direct solution of the linear system")


if __name__ == "__main__":
    main()
