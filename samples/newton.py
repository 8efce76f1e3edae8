"""Where was Halley's comet? Kepler's equation ``E - e sin E = M``, solved in two ways.

M grows evenly with time; E gives the place on the ellipse. Fixed-point iteration and Newton's method are both a
``while`` with a tolerance. Written in plain NumPy: the decorator is all that is added.
"""

import autoloop
import numpy as np

# orbit of 1P/Halley: eccentricity, half of the long axis (astronomical units), perihelion and period (years)
ECCENTRICITY, HALF_AXIS, PERIHELION, PERIOD = np.float64(0.96714), 17.834, 1986.11, 75.32


@autoloop.function
def fixed_point(E, M, e, tolerance):
    steps = 0
    change = 2 * tolerance
    while change > tolerance:
        better = M + e * np.sin(E)
        change = np.abs(better - E)
        E = better
        steps += 1
    return E, steps


@autoloop.function
def newton(E, M, e, tolerance):
    steps = 0
    change = 2 * tolerance
    while np.abs(change) > tolerance:
        change = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E -= change
        steps += 1
    return E, steps


def main():
    print("Halley's comet, from Kepler's equation")
    print("year   distance from the Sun   steps: fixed point   Newton")
    start, tolerance = np.float64(np.pi), np.float64(1e-12)
    for year in (1986.11, 1987, 1990, 2000, 2010, 2023.77):
        M = np.float64(2 * np.pi * (year - PERIHELION) / PERIOD)
        slow, slow_steps = fixed_point(start, M, ECCENTRICITY, tolerance)
        E, steps = newton(start, M, ECCENTRICITY, tolerance)
        distance = HALF_AXIS * (1 - ECCENTRICITY * np.cos(E))
        print(f"{year:7.2f} {distance:15.3f} AU {int(slow_steps):18d} {int(steps):13d}")

        np.testing.assert_allclose(slow, E, atol=1e-9)
        np.testing.assert_allclose(E, newton.python_function(start, M, ECCENTRICITY, tolerance)[0], rtol=1e-12)
    print(f"each function was traced {newton.tracing_count} time; results agree with plain NumPy")


if __name__ == "__main__":
    main()
