"""When did the Nile run low? Viterbi decoding of a hundred years of its flow.

A hidden Markov model with a wet and a dry regime. The decoder goes forward over the rows of a tensor, keeping for
each year and state the best predecessor, and then back along them. Around it a ``while`` re-estimates the mean flow
of each regime from the decoded path until the path settles.
"""

from pathlib import Path

import autoloop
import numpy as np

DATA = Path(__file__).parent / "data" / "nile.csv"
STAY = 0.95  # the chance to stay in a regime from one year to the next
LOG_TRANSITION = np.log([[STAY, 1 - STAY], [1 - STAY, STAY]])


def decode(log_likelihood):
    """The most likely sequence of states: one per row of ``log_likelihood``."""
    score = log_likelihood[0]
    best = []
    for row in log_likelihood[1:]:
        candidates = score[:, None] + LOG_TRANSITION
        best.append(np.argmax(candidates, axis=0))
        score = np.max(candidates, axis=0) + row
    state = np.argmax(score)
    path = []
    for choices in np.flip(autoloop.stack(best), axis=0):
        path.append(state)
        state = choices[state]
    path.append(state)
    return np.flip(autoloop.stack(path))


@autoloop.function
def fit(flow, means, deviation):
    path = np.argmin(np.abs(flow[:, None] - means), axis=1)
    changed = True
    rounds = 0
    while changed:
        log_likelihood = -0.5 * ((flow[:, None] - means) / deviation) ** 2
        decoded = decode(log_likelihood)
        changed = np.any(decoded != path)
        path = decoded
        dry = np.where(path == 1, 1.0, 0.0)
        wet = 1.0 - dry
        means = np.stack([np.sum(flow * wet) / np.sum(wet), np.sum(flow * dry) / np.sum(dry)])
        rounds += 1
    return path, means, rounds


def main():
    years, flow = np.loadtxt(DATA, delimiter=",", skiprows=1, unpack=True)
    start = np.array([np.max(flow), np.min(flow)])
    path, means, rounds = fit(flow, start, np.float64(np.std(flow) * 0.8))
    path = path

    print(f"flow of the Nile, {years[0]:.0f}-{years[-1]:.0f}, two regimes; the path settled after {int(rounds)} rounds")
    edges = [0, *np.flatnonzero(np.diff(path)) + 1, len(path)]
    for first, last in zip(edges, edges[1:]):
        name = ("wet", "dry")[path[first]]
        print(f"{years[first]:.0f}-{years[last - 1]:.0f}  {name}  mean flow {float(means[path[first]]):.0f}")

    plain_path, plain_means, _ = fit.python_function(flow, start, np.std(flow) * 0.8)
    np.testing.assert_array_equal(path, plain_path)
    np.testing.assert_allclose(means, plain_means, rtol=1e-12)
    print("results agree with plain NumPy")


if __name__ == "__main__":
    main()
