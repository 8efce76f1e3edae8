"""k-means on Fisher's irises: a ``while`` that ends when the centres stop moving."""

from pathlib import Path

import autoloop
import numpy as np

DATA = Path(__file__).parent / "data" / "iris.csv"


@autoloop.function
def kmeans(points, centres, tolerance):
    rounds = 0
    moved = 2 * tolerance
    while moved > tolerance:
        distances = np.sum((points[:, None, :] - centres) ** 2, axis=2)
        nearest = np.argmin(distances, axis=1)
        member = np.where(nearest[:, None] == np.arange(len(centres)), 1.0, 0.0)
        means = (member.T @ points) / np.sum(member, axis=0)[:, None]
        moved = np.max(np.abs(means - centres))
        centres = means
        rounds += 1
    return centres, nearest, rounds


def spread_out(points, k):
    """The first point, then k - 1 times the point farthest from those chosen."""
    chosen = points[:1]
    for _ in range(k - 1):
        gaps = np.min(np.sum((points[:, None] - chosen) ** 2, axis=2), axis=1)
        chosen = np.vstack([chosen, points[np.argmax(gaps)]])
    return chosen


def main():
    table = np.loadtxt(DATA, delimiter=",", skiprows=1, dtype=str)
    points, species = table[:, :4].astype(float), table[:, 4]
    start, tolerance = spread_out(points, 3), np.float64(1e-9)
    centres, nearest, rounds = kmeans(points, start, tolerance)

    names = np.unique(species)
    print(f"k-means on {len(points)} irises, 3 clusters: the centres stood still after {int(rounds)} rounds")
    print("cluster  sepal length, width  petal length, width  " + "".join(f"{n:>11}" for n in names))
    for k, centre in enumerate(centres):
        counts = [np.sum(species[nearest == k] == n) for n in names]
        numbers = "".join(f"{c:10.2f}" for c in centre)
        print(f"{k + 1:7d}{numbers}   " + "".join(f"{c:11d}" for c in counts))

    plain_centres, plain_nearest, _ = kmeans.python_function(points, start, tolerance)
    np.testing.assert_allclose(centres, plain_centres, rtol=1e-12)
    np.testing.assert_array_equal(nearest, plain_nearest)
    print("results agree with plain NumPy")


if __name__ == "__main__":
    main()
