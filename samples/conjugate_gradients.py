"""A smooth curve through the CO2 record of Mauna Loa, gaps filled, by conjugate gradients.

The curve ``x`` minimises ``sum(w (x - y)^2) + s sum((second difference of x)^2)`` where ``w`` is 0 for a missing
week and 1 else. That is a linear system of 2,284 unknowns whose matrix is never written down: ``apply`` multiplies
by it, and is converted along with the loop that calls it.
"""

import csv
from pathlib import Path

import autoloop
import numpy as np

DATA = Path(__file__).parent / "data" / "co2.csv"


def apply(x, w, smoothness):
    bend = x[2:] - 2 * x[1:-1] + x[:-2]
    return w * x + smoothness * (np.pad(bend, (0, 2)) - 2 * np.pad(bend, (1, 1)) + np.pad(bend, (2, 0)))


@autoloop.function
def conjugate_gradients(x, y, w, smoothness, tolerance):
    residual = w * y - apply(x, w, smoothness)
    direction = residual
    size = residual @ residual
    rounds = 0
    while np.sqrt(size) > tolerance:
        image = apply(direction, w, smoothness)
        step = size / (direction @ image)
        x = x + step * direction
        residual = residual - step * image
        smaller = residual @ residual
        direction = residual + (smaller / size) * direction
        size = smaller
        rounds += 1
    return x, rounds


def main():
    with DATA.open() as file:
        rows = list(csv.reader(file))[1:]
    week, co2 = np.array([r[0] for r in rows]), np.array([float(r[1] or "nan") for r in rows])
    missing = np.isnan(co2)
    w = np.where(missing, 0.0, 1.0)
    y = np.where(missing, np.mean(co2[~missing]), co2)
    smoothness, tolerance = np.float64(10.0), np.float64(1e-6)
    curve, rounds = conjugate_gradients(y, y, w, smoothness, tolerance)

    print(f"{len(y):,d} weeks of CO2, {missing.sum()} missing: solved in {int(rounds)} rounds")
    print("week         measured   curve (ppm)")
    for i in range(298, 320, 2):
        seen = "      -" if missing[i] else f"{co2[i]:7.1f}"
        print(f"{week[i]}  {seen}  {float(curve[i]):8.2f}")

    # against the system written out and solved directly
    bend = np.diff(np.eye(len(y)), n=2, axis=0)
    exact = np.linalg.solve(np.diag(w) + smoothness * bend.T @ bend, w * y)
    np.testing.assert_allclose(curve, exact, atol=1e-4)
    print(f"rms distance from the measurements: {np.sqrt(np.mean((curve - y)[~missing] ** 2)):.2f} ppm")
    print("agrees with the direct solution of the linear system")


if __name__ == "__main__":
    main()
