"""Sunspots foretold: the forward pass of a recurrent network over 309 years of observations.

An echo state network: the recurrent weights are random and stay so; only the linear readout is fitted, by least
squares. The work is the forward pass, a ``for`` over the rows of a tensor that collects its states in a list.
"""

import time
from pathlib import Path

import autoloop
import numpy as np

DATA = Path(__file__).parent / "data" / "sunspots.csv"
UNITS, TRAINED_UNTIL = 200, 1908


@autoloop.function
def forward(series, w_in, w, bias):
    state = np.zeros_like(bias)
    states = []
    for value in series:
        state = np.tanh(w @ state + w_in * value + bias)
        states.append(state)
    return autoloop.stack(states)


def weights(units, seed=1):
    """Random weights; ``w`` is scaled so that old states fade."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(units, units))
    w *= 0.8 / np.max(np.abs(np.linalg.eigvals(w)))
    return rng.normal(size=units), w, 0.2 * rng.normal(size=units)


def main():
    years, spots = np.loadtxt(DATA, delimiter=",", skiprows=1, unpack=True)
    series = spots / 100
    w_in, w, bias = weights(UNITS)
    forward(series, w_in, w, bias)
    begin = time.perf_counter()
    states = np.asarray(forward(series, w_in, w, bias))
    seconds = time.perf_counter() - begin

    # states of one year foretell the next: fit on the years up to 1908, look at the century after
    inputs = np.column_stack([states[:-1], series[:-1], np.ones(len(series) - 1)])
    target, train = series[1:], years[1:] <= TRAINED_UNTIL
    x, y = inputs[train][20:], target[train][20:]
    readout = np.linalg.solve(x.T @ x + 0.1 * np.eye(x.shape[1]), x.T @ y)
    guess = 100 * np.maximum(inputs[~train] @ readout, 0)
    truth, before = spots[1:][~train], spots[:-1][~train]
    error, naive = np.sqrt(np.mean((guess - truth) ** 2)), np.sqrt(np.mean((before - truth) ** 2))

    print(f"forward pass: {len(series)} years, {UNITS} units, {seconds * 1e3:.1f} ms")
    print("year  seen  foretold")
    for year, seen, told in list(zip(years[1:][~train], truth, guess))[-9:]:
        print(f"{year:.0f} {seen:6.1f} {told:8.1f}  {'*' * round(told / 4)}")
    print(f"error over {len(truth)} years: {error:.1f} spots; taking last year's number: {naive:.1f}")

    np.testing.assert_allclose(states, forward.python_function(series, w_in, w, bias), rtol=1e-9, atol=1e-12)
    assert error < 0.75 * naive
    print("states agree with plain NumPy")


if __name__ == "__main__":
    main()
