"""NumPy code as people write it, that does not write into its arguments; each function with the arguments to try.

Loops over arrays and numbers, helpers, recursion, classes, closures, comprehensions, local tables that are filled in,
and functions of NumPy's in between. Nothing here was written with the decorator in mind.

One file: one table, of programs that are all called in the same way.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from typing import Any

import numpy as np
from cases import Cases

PROGRAMS = Cases()
tried_on = PROGRAMS.on

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(30, 2)) + np.repeat([[0, 0], [5, 5], [0, 6]], 10, axis=0)
SYMMETRIC = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
SIGNAL = np.sin(np.linspace(0, 6, 40)) + 0.1 * RNG.normal(size=40)
IMAGE = RNG.integers(0, 256, (8, 9)).astype(np.uint8)
GRAPH = np.array([[0, 4, 1, 0], [4, 0, 2, 5], [1, 2, 0, 8], [0, 5, 8, 0]], dtype=float)
LINKS = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 1, 0]])


# -- solvers ---------------------------------------------------------------------------------------------------


@tried_on((2.0, 1e-12), (1e6, 1e-9), (0.5, 1e-3))
def newton_root(a, tolerance):
    x = a if a > 1 else 1.0
    for step in range(30):
        new = 0.5 * (x + a / x)
        if abs(new - x) < tolerance:
            return new, step
        x = new
    raise ValueError("no convergence")


@tried_on((0.0, 3.0, 1e-8), (0.0, 1.0, 1e-8))
def bisection(low, high, tolerance):
    def f(x):
        return x * x * x - x - 2

    if f(low) * f(high) > 0:
        raise ValueError(f"no sign change in [{low}, {high}]")
    count = 0
    while high - low > tolerance:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
        count += 1
    return (low + high) / 2, count


@tried_on((SYMMETRIC, np.array([1.0, 2.0, 3.0])), (SYMMETRIC * 2 + 1, np.array([0.5, -1.0, 4.0])))
def conjugate_gradients(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    for _ in range(len(b) * 2):
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return x, np.linalg.norm(r)


@tried_on((SYMMETRIC, np.array([1.0, 2.0, 3.0]), 1e-6), (SYMMETRIC, np.array([-1.0, 0.0, 3.0]), 1e-2))
def jacobi(a, b, tolerance):
    d = np.diag(a)
    rest = a - np.diagflat(d)
    x = np.zeros(len(b))
    history = []
    for _ in range(20):
        new = (b - rest @ x) / d
        error = np.max(np.abs(new - x))
        history.append(error)
        x = new
        if error < tolerance:
            break
    return x, len(history), history[-1]


@tried_on((SYMMETRIC, 50), (SYMMETRIC - 1, 3))
def power_iteration(a, steps):
    v = np.ones(a.shape[0]) / np.sqrt(a.shape[0])
    value = 0.0
    for i in range(steps):
        w = a @ v
        value = v @ w
        v = w / np.linalg.norm(w)
    return value, v


@tried_on((SYMMETRIC, np.array([3.0, 1.0, 2.0])), (SYMMETRIC + 2, np.array([1.0, 1.0, 2.0])))
def gaussian_elimination(a, b):
    n = len(b)
    m = np.hstack([a, b.reshape(-1, 1)]).astype(float)
    for k in range(n):
        pivot = k + np.argmax(np.abs(m[k:, k]))
        if m[pivot, k] == 0:
            raise np.linalg.LinAlgError("singular")
        if pivot != k:
            m[[k, pivot]] = m[[pivot, k]]
        for i in range(k + 1, n):
            m[i] -= m[i, k] / m[k, k] * m[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (m[i, -1] - m[i, i + 1 : n] @ x[i + 1 :]) / m[i, i]
    return x


@tried_on((SYMMETRIC,), (SYMMETRIC * 3,), (-SYMMETRIC,))
def cholesky_by_hand(a):
    n = a.shape[0]
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = sum(lower[i, k] * lower[j, k] for k in range(j))
            if i == j:
                rest = a[i, i] - s
                if rest <= 0:
                    raise ValueError("not positive definite")
                lower[i, j] = math.sqrt(rest)
            else:
                lower[i, j] = (a[i, j] - s) / lower[j, j]
    return lower


@tried_on((np.array([1.0, 0.0]), 0.1, 50), (np.array([0.3, -2.0]), 0.05, 7))
def runge_kutta(y0, h, steps):
    def f(t, y):
        return np.array([y[1], -y[0] - 0.1 * y[1] + np.cos(t)])

    t, y = 0.0, y0
    trajectory = [y0]
    for _ in range(steps):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
        trajectory.append(y)
    return t, np.array(trajectory)


@tried_on((0.0, 1.0, 1e-6), (0.0, 3.0, 1e-3))
def adaptive_simpson(a, b, tolerance):
    def f(x):
        return math.exp(-x * x)

    def simpson(low, high):
        middle = (low + high) / 2
        return (high - low) / 6 * (f(low) + 4 * f(middle) + f(high))

    def refined(low, high, eps, depth):
        middle = (low + high) / 2
        left, right, whole = simpson(low, middle), simpson(middle, high), simpson(low, high)
        if depth == 0 or abs(left + right - whole) < 15 * eps:
            return left + right
        return refined(low, middle, eps / 2, depth - 1) + refined(middle, high, eps / 2, depth - 1)

    return refined(a, b, tolerance, 4)


@tried_on((np.array([3.0, -4.0]), 0.1), (np.array([0.5, 0.25]), 0.02))
def gradient_descent(start, rate):
    x, velocity = start, np.zeros_like(start)
    best, best_x = np.inf, start
    for i in range(12):
        gradient = np.array([2 * (x[0] - 1), 8 * (x[1] + 2)])
        velocity = 0.9 * velocity - rate * gradient
        x = x + velocity
        loss = (x[0] - 1) ** 2 + 4 * (x[1] + 2) ** 2
        if loss < best:
            best, best_x = loss, x
        if not np.isfinite(loss):
            break
    return best, best_x, i


# -- filters and signals ---------------------------------------------------------------------------------------


@tried_on((SIGNAL, 5), (SIGNAL[:11], 3))
def moving_average(x, width):
    padded = np.pad(x, (width // 2, width - 1 - width // 2), mode="edge")
    return np.convolve(padded, np.ones(width) / width, mode="valid")


@tried_on((SIGNAL, 0.3), (SIGNAL[::2], 0.9))
def exponential_smoothing(x, alpha):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


@tried_on((SIGNAL, 3), (SIGNAL[::3], 5))
def median_filter(x, width):
    half = width // 2
    return np.array([np.median(x[max(0, i - half) : i + half + 1]) for i in range(len(x))])


@tried_on((SIGNAL, 4), (SIGNAL * 3 + 1, 1))
def low_pass(x, cutoff):
    spectrum = np.fft.rfft(x)
    frequencies = np.fft.rfftfreq(len(x), d=1 / len(x))
    spectrum = np.where(frequencies > cutoff, 0, spectrum)
    return np.fft.irfft(spectrum, n=len(x))


@tried_on((SIGNAL,), (np.round(SIGNAL * 2),))
def peaks(x):
    found = []
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] >= x[i + 1]:
            found.append(i)
    return found, [x[i] for i in found]


@tried_on((SIGNAL, 0.01, 0.1), (SIGNAL[:5], 0.5, 0.5))
def kalman_filter(measured, q, r):
    state, variance = 0.0, 1.0
    states, gains = [], []
    for z in measured:
        variance = variance + q
        gain = variance / (variance + r)
        state = state + gain * (z - state)
        variance = (1 - gain) * variance
        states.append(state)
        gains.append(gain)
    return np.array(states), np.array(gains), variance


@tried_on((SIGNAL, 0.0), (SIGNAL, 0.5))
def zero_crossings(x, level):
    signs = np.sign(x - level)
    signs[signs == 0] = 1
    crossings = np.where(np.diff(signs))[0]
    return crossings, len(crossings)


@tried_on((SIGNAL[:16],), (np.arange(8.0),))
def recursive_fft(x):
    n = len(x)
    if n <= 1:
        return x.astype(complex)
    even, odd = recursive_fft(x[::2]), recursive_fft(x[1::2])
    turn = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turn, even - turn])


@tried_on((np.array([0.5, 0.25]), np.array([1.0, -0.3]), SIGNAL[:12]), (np.ones(3), np.array([1.0]), SIGNAL[:5]))
def difference_equation(b, a, x):
    y = np.zeros(len(x))
    for n in range(len(x)):
        acc = 0.0
        for k, coefficient in enumerate(b):
            if n - k >= 0:
                acc += coefficient * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                acc -= a[k] * y[n - k]
        y[n] = acc / a[0]
    return y


# -- statistics ------------------------------------------------------------------------------------------------


@tried_on((POINTS[:, 0],), (np.array([1, 5, 2, 8]),), (np.array([3.0]),))
def running_moments(x):
    n, mean, m2 = 0, 0.0, 0.0
    for value in x:
        n += 1
        delta = value - mean
        mean += delta / n
        m2 += delta * (value - mean)
    return mean, m2 / max(n - 1, 1)


@tried_on((POINTS, 200, 3), (POINTS[:7], 50, 4))
def bootstrap(data, repeats, seed):
    rng = np.random.default_rng(seed)
    n = data.shape[0]
    means = np.empty(repeats)
    for i in range(repeats):
        sample = data[rng.integers(0, n, n)]
        means[i] = sample[:, 0].mean()
    low, high = np.percentile(means, [2.5, 97.5])
    return low, high, means.std(ddof=1)


@tried_on((POINTS[:, 0], POINTS[:, 1]), (np.arange(5.0), np.array([1, 3, 2, 5, 4])))
def line_fit(x, y):
    slope, intercept = np.polyfit(x, y, 1)
    predicted = slope * x + intercept
    residual = ((y - predicted) ** 2).sum()
    total = ((y - y.mean()) ** 2).sum()
    return slope, intercept, 1 - residual / total


@tried_on((POINTS, POINTS[:, 0] * 2 - 1, 0.5), (POINTS[:5], np.arange(5), 0))
def ridge_regression(x, y, penalty):
    design = np.column_stack([np.ones(len(x)), x])
    gram = design.T @ design + penalty * np.eye(design.shape[1])
    weights = np.linalg.solve(gram, design.T @ y)
    return weights, np.sqrt(np.mean((design @ weights - y) ** 2))


@tried_on((POINTS, 2), (POINTS[:, ::-1] ** 2, 1))
def principal_components(x, count):
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centred, rowvar=False))
    order = np.argsort(values)[::-1][:count]
    return values[order], np.abs(vectors[:, order]), values[order] / values.sum()


@tried_on((POINTS, 3, 10), (POINTS[::2], 2, 4))
def k_means(x, k, rounds):
    centres = x[:: len(x) // k][:k]
    for _ in range(rounds):
        distances = np.linalg.norm(x[:, None, :] - centres[None, :, :], axis=2)
        labels = distances.argmin(axis=1)
        new = np.array([x[labels == j].mean(axis=0) for j in range(k)])
        if np.allclose(new, centres):
            break
        centres = new
    return labels, centres


@tried_on((POINTS, np.array([1.0, 1.0]), 3), (POINTS, np.array([4.0, 5.0]), 5))
def nearest_neighbours(x, query, k):
    distances = np.sqrt(np.sum((x - query) ** 2, axis=1))
    nearest = np.argsort(distances, kind="stable")[:k]
    votes = {}
    for i in nearest:
        label = int(i) // 10
        votes[label] = votes.get(label, 0) + 1
    return nearest, distances[nearest]


@tried_on((np.array([1, 0, 1, 1, 0]), np.array([0.9, 0.2, 0.8, 0.4, 0.4])), (np.array([0, 1]), np.array([0.5, 0.5])))
def classifier_scores(truth, probability):
    rows = []
    for threshold in (0.25, 0.5, 0.75):
        predicted = (probability >= threshold).astype(int)
        tp = np.sum((predicted == 1) & (truth == 1))
        fp = np.sum((predicted == 1) & (truth == 0))
        fn = np.sum((predicted == 0) & (truth == 1))
        precision = tp / (tp + fp) if tp + fp > 0 else np.float64(0)
        recall = tp / (tp + fn) if tp + fn else np.float64(0)
        rows.append((threshold, precision, recall))
    return rows


@tried_on((np.array([3, 1, 2, 3, 1, 3]),), (np.array([5, 5]),))
def mode_and_entropy(x):
    values, counts = np.unique(x, return_counts=True)
    p = counts / counts.sum()
    return values[counts.argmax()], -np.sum(p * np.log2(p)), counts.max()


@tried_on((POINTS,), (np.arange(12.0).reshape(4, 3),))
def correlation_by_hand(x):
    n, d = x.shape
    z = (x - x.mean(0)) / x.std(0, ddof=1)
    c = np.eye(d)
    for i in range(d):
        for j in range(i + 1, d):
            c[i, j] = c[j, i] = (z[:, i] * z[:, j]).sum() / (n - 1)
    return c


@tried_on((POINTS[:, 0], 4), (np.array([1, 1, 2, 9]), 2))
def histogram_by_hand(x, bins):
    low, high = x.min(), x.max()
    counts = [0] * bins
    for value in x:
        index = min(int((value - low) / (high - low) * bins), bins - 1)
        counts = [c + (i == index) for i, c in enumerate(counts)]
    return counts


# -- Monte Carlo and simulation --------------------------------------------------------------------------------


@tried_on((500, 1), (20, 9))
def monte_carlo_pi(n, seed):
    rng = np.random.RandomState(seed)
    inside = 0
    for _ in range(n):
        x, y = rng.rand(2)
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n


@tried_on((100.0, 0.05, 0.2, 50, 7), (90.0, 0.0, 0.4, 3, 8))
def option_price(spot, rate, volatility, steps, seed):
    rng = np.random.default_rng(seed)
    dt = 1 / steps
    prices = np.full(64, spot)
    for _ in range(steps):
        shock = rng.standard_normal(64)
        prices = prices * np.exp((rate - volatility**2 / 2) * dt + volatility * np.sqrt(dt) * shock)
    payoff = np.maximum(prices - 100, 0)
    return np.exp(-rate) * payoff.mean(), payoff.std() / np.sqrt(payoff.size)


@tried_on((60, 2), (5, 3))
def metropolis(steps, seed):
    rng = np.random.default_rng(seed)
    x, accepted = 0.0, 0
    chain = np.zeros(steps)
    for i in range(steps):
        candidate = x + rng.normal(0, 1)
        if np.log(rng.uniform()) < (x**2 - candidate**2) / 2:
            x = candidate
            accepted += 1
        chain[i] = x
    return chain.mean(), accepted / steps


@tried_on((np.array([[0, 1, 0], [0, 1, 0], [0, 1, 0]]), 3), ((RNG.random((6, 5)) > 0.5).astype(int), 4))
def game_of_life(board, generations):
    for _ in range(generations):
        neighbours = sum(
            np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
        )
        board = ((neighbours == 3) | ((board == 1) & (neighbours == 2))).astype(int)
    return board, board.sum()


@tried_on((9, 20), (4, 50))
def mandelbrot(size, most):
    counts = np.zeros((size, size), dtype=int)
    for i, y in enumerate(np.linspace(-1.2, 1.2, size)):
        for j, x in enumerate(np.linspace(-2, 0.6, size)):
            c = complex(x, y)
            z = 0j
            n = 0
            while abs(z) <= 2 and n < most:
                z = z * z + c
                n += 1
            counts[i, j] = n
    return counts


@tried_on((np.linspace(0, 1, 12), 0.4, 15), (np.ones(5), 0.25, 2))
def heat_equation(u, r, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u, u.max()


@tried_on((np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), 5), (POINTS[:4], 2))
def n_bodies(positions, steps):
    velocities = np.zeros_like(positions)
    masses = np.arange(1, len(positions) + 1)
    for _ in range(steps):
        delta = positions[None, :, :] - positions[:, None, :]
        distance = np.sqrt((delta**2).sum(-1) + 0.01)
        forces = (delta * (masses[None, :] / distance**3)[..., None]).sum(axis=1)
        velocities = velocities + 0.01 * forces
        positions = positions + 0.01 * velocities
    energy = 0.5 * np.sum(masses * (velocities**2).sum(axis=1))
    return positions, energy


@tried_on((100, 5.0, 0.1), (3, 50.0, 2.0))
def bouncing_ball(steps, height, dt):
    y, v, bounces = height, 0.0, 0
    highest = []
    for _ in range(steps):
        v -= 9.81 * dt
        y += v * dt
        if y < 0:
            y, v = -y, -v * 0.8
            bounces += 1
            highest.append(y)
    return y, bounces, len(highest)


@tried_on((0.1, 1000, 2), (0.5, 10, 1))
def epidemic(rate, population, infected):
    susceptible, recovered, day, peak = population - infected, 0, 0, infected
    while infected > 0.5 and day < 100:
        new = rate * 3 * susceptible * infected / population
        healed = 0.1 * infected
        susceptible, infected, recovered = susceptible - new, infected + new - healed, recovered + healed
        peak = max(peak, infected)
        day += 1
    return day, peak, recovered


# -- images ----------------------------------------------------------------------------------------------------


@tried_on((IMAGE,), (IMAGE // 16,))
def histogram_equalisation(image):
    histogram = np.bincount(image.ravel(), minlength=256)
    cdf = histogram.cumsum()
    smallest = cdf[cdf > 0].min()
    table = np.round((cdf - smallest) / (image.size - smallest) * 255).clip(0, 255).astype(np.uint8)
    return table[image]


@tried_on((IMAGE, np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])), (IMAGE[:4, :4], np.ones((2, 2))))
def convolve_image(image, kernel):
    h, w = kernel.shape
    rows, columns = image.shape[0] - h + 1, image.shape[1] - w + 1
    out = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = (image[i : i + h, j : j + w] * kernel).sum()
    return out


@tried_on((IMAGE, 128), (IMAGE, 250))
def threshold_and_box(image, level):
    mask = image > level
    if not mask.any():
        return None
    rows = np.where(mask.any(axis=1))[0]
    columns = np.where(mask.any(axis=0))[0]
    return rows[0], rows[-1], columns[0], columns[-1], mask.mean()


@tried_on((IMAGE,), (IMAGE[:3],))
def otsu_threshold(image):
    histogram, _ = np.histogram(image, bins=6, range=(0, 258))
    total, best, threshold = image.size, -1.0, 0
    for t in range(1, 6):
        w0 = histogram[:t].sum() / total
        w1 = 1 - w0
        if w0 == 0 or w1 == 0:
            continue
        m0 = (np.arange(t) * histogram[:t]).sum() / (w0 * total)
        m1 = (np.arange(t, 6) * histogram[t:]).sum() / (w1 * total)
        between = w0 * w1 * (m0 - m1) ** 2
        if between > best:
            best, threshold = between, t
    return threshold * 43, best


@tried_on((IMAGE.astype(float), 2), (IMAGE[:8, :8].astype(float), 4))
def downsample(image, factor):
    h, w = (n // factor * factor for n in image.shape)
    return image[:h, :w].reshape(h // factor, factor, w // factor, factor).mean(axis=(1, 3))


@tried_on((np.dstack([IMAGE, IMAGE[::-1], IMAGE]),), (np.full((2, 2, 3), 200, np.uint8),))
def to_grey(image):
    grey = image @ np.array([0.299, 0.587, 0.114])
    return grey.astype(np.uint8), grey.mean()


@tried_on((np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1]]),), (np.ones((2, 2), int),))
def flood_labels(grid):
    labels = np.zeros_like(grid)
    current = 0
    for i, j in itertools.product(range(grid.shape[0]), range(grid.shape[1])):
        if grid[i, j] and not labels[i, j]:
            current += 1
            labels[i, j] = current
            for _ in range(grid.size):
                grown = labels == current
                wide = grown.copy()
                wide[1:] |= grown[:-1]
                wide[:-1] |= grown[1:]
                wide[:, 1:] |= grown[:, :-1]
                wide[:, :-1] |= grown[:, 1:]
                labels[wide & (grid == 1)] = current
    return labels, current


# -- dynamic programming and graphs ----------------------------------------------------------------------------


@tried_on((np.array([1, 3, 4, 5]), np.array([1, 4, 5, 7]), 7), (np.array([2, 2]), np.array([3, 4]), 3))
def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=int)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[capacity], best


@tried_on((np.array([1, 2, 3, 4, 1]), np.array([3, 4, 1, 2, 1, 3])), (np.array([1]), np.array([2])))
def longest_common_subsequence(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            if x == y:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table[-1, -1]


@tried_on((np.array([1, 2, 3]), np.array([1, 3, 3, 4])), (np.array([5]), np.array([5])))
def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a):
        current = [i + 1]
        for j, y in enumerate(b):
            cost = 0 if x == y else 1
            current.append(min(previous[j] + cost, previous[j + 1] + 1, current[j] + 1))
        previous = current
    return previous[-1]


@tried_on((np.array([1, 5, 10]), 18), (np.array([4, 5]), 7))
def coin_change(coins, amount):
    table = np.full(amount + 1, np.inf)
    table[0] = 0
    for i in range(1, amount + 1):
        for coin in coins:
            if coin <= i and table[i - coin] + 1 < table[i]:
                table[i] = table[i - coin] + 1
    return int(table[amount]) if np.isfinite(table[amount]) else -1


@tried_on((GRAPH, 0), (GRAPH[:3, :3], 1))
def dijkstra(graph, source):
    n = len(graph)
    distance = np.full(n, np.inf)
    distance[source] = 0
    done = np.zeros(n, dtype=bool)
    for _ in range(n):
        u = np.argmin(np.where(done, np.inf, distance))
        done[u] = True
        for v in range(n):
            if graph[u, v] > 0 and distance[u] + graph[u, v] < distance[v]:
                distance[v] = distance[u] + graph[u, v]
    return distance


@tried_on((GRAPH,), (GRAPH[1:, 1:],))
def floyd_warshall(graph):
    d = np.where(graph > 0, graph, np.inf)
    d[np.diag_indices(len(d))] = 0
    for k in range(len(d)):
        d = np.minimum(d, d[:, k : k + 1] + d[k])
    return d


@tried_on((LINKS, 0.85), (LINKS.T, 0.5))
def page_rank(links, damping):
    n = links.shape[0]
    out = links.sum(axis=1)
    transition = np.where(out[:, None] > 0, links / np.maximum(out, 1)[:, None], 1 / n)
    rank = np.ones(n) / n
    change = 1.0
    rounds = 0
    while change > 1e-8 and rounds < 200:
        new = (1 - damping) / n + damping * rank @ transition
        change = np.abs(new - rank).sum()
        rank = new
        rounds += 1
    return rank, rounds


@tried_on(
    (np.array([0, 1, 0]), np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([0.6, 0.4])),
    (np.array([1, 1, 1, 0]), np.eye(2) * 0.8 + 0.1, np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.5, 0.5])),
)
def viterbi(observed, transition, emission, start):
    states = len(start)
    score = np.log(start) + np.log(emission[:, observed[0]])
    back = []
    for o in observed[1:]:
        candidates = score[:, None] + np.log(transition)
        back.append(candidates.argmax(axis=0))
        score = candidates.max(axis=0) + np.log(emission[:, o])
    best = int(score.argmax())
    path = [best]
    for pointers in reversed(back):
        best = int(pointers[best])
        path.append(best)
    return path[::-1], score.max(), states


@tried_on((np.log(np.array([[0.6, 0.4], [0.3, 0.7], [0.5, 0.5]])), 2), (np.log(np.full((2, 3), 1 / 3)), 1))
def beam_search(scores, width):
    beams = [((), 0.0)]
    for row in scores:
        candidates = [(tokens + (k,), score + s) for tokens, score in beams for k, s in enumerate(row)]
        totals = np.array([score for _, score in candidates])
        order = np.argsort(-totals, kind="stable")[:width]
        beams = [((), totals[i]) for i in order]
    return [score for _, score in beams]


@tried_on((np.array([5, 2, 9, 1, 7]),), (np.array([1.5, -2.0]),), (np.array([3]),))
def insertion_sort(x):
    a = x.copy()
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@tried_on((np.array([5, 2, 9, 1, 7]), 2), (np.array([1.5, -2.0, 0.5]), 0))
def quick_select(x, k):
    while True:
        pivot = x[len(x) // 2]
        smaller, equal = x[x < pivot], x[x == pivot]
        if k < len(smaller):
            x = smaller
        elif k < len(smaller) + len(equal):
            return pivot
        else:
            k -= len(smaller) + len(equal)
            x = x[x > pivot]


@tried_on((np.array([1, 3, 5, 7, 9]), 7), (np.array([1, 3, 5]), 4), (np.array([2.5]), 2.5))
def binary_search(x, wanted):
    low, high = 0, len(x) - 1
    while low <= high:
        middle = (low + high) // 2
        if x[middle] == wanted:
            return middle
        if x[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@tried_on((30,), (2,), (1,))
def sieve(n):
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return np.nonzero(is_prime)[0]


@tried_on((27,), (1,), (97,))
def collatz(n):
    steps, highest = 0, n
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        highest = max(highest, n)
        steps += 1
    return steps, highest


@tried_on((1071, 462), (17, 5), (0, 3))
def extended_gcd(a, b):
    old_r, r, old_s, s = a, b, 1, 0
    while r:
        q = old_r // r
        old_r, r = r, old_r - q * r
        old_s, s = s, old_s - q * s
    return old_r, old_s


@tried_on((10,), (0,))
def fibonacci_by_matrix(n):
    def power(m, k):
        if k == 0:
            return np.eye(2, dtype=int)
        half = power(m, k // 2)
        return half @ half @ m if k % 2 else half @ half

    return power(np.array([[1, 1], [1, 0]]), n)[0, 1]


# -- classes, closures, other styles ---------------------------------------------------------------------------


@dataclasses.dataclass
class Layer:
    """Weights, a bias and what follows them."""

    weights: Any
    bias: Any
    activation: str = "relu"

    def __call__(self, x):
        z = x @ self.weights + self.bias
        return np.maximum(z, 0) if self.activation == "relu" else 1 / (1 + np.exp(-z))


NETWORK = [Layer(RNG.normal(size=(2, 4)), np.zeros(4)), Layer(RNG.normal(size=(4, 1)), np.ones(1), "sigmoid")]


@tried_on((POINTS,), (POINTS[0],))
def network_forward(x):
    for layer in NETWORK:
        x = layer(x)
    return x, x.shape


@tried_on((POINTS[:12], (POINTS[:12, 0] > 0).astype(float), 20), (POINTS[5:15], np.arange(10) % 2, 3))
def logistic_regression(x, y, rounds):
    w, b = np.zeros(x.shape[1]), 0.0
    losses = []
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-(x @ w + b)))
        gradient = x.T @ (p - y) / len(y)
        w = w - 0.5 * gradient
        b -= 0.5 * (p - y).mean()
        losses.append(-np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12)))
    return w, b, losses[0] > losses[-1]


class Tank:
    """A tank with a leak."""

    area = 2.0

    def __init__(self, level, leak=0.1):
        self.level, self.leak = level, leak

    @property
    def pressure(self):
        return 9.81 * self.level

    def after(self, inflow, dt):
        return Tank(self.level + dt * (inflow - self.leak * np.sqrt(self.pressure)) / self.area, self.leak)


@tried_on((np.array([1.0, 0.5, 0.0]), 1.0), (np.zeros(4), 0.2))
def tank_levels(inflows, level):
    tank = Tank(level)
    levels = []
    for inflow in inflows:
        tank = tank.after(inflow, 0.5)
        levels.append(tank.level)
    return levels, tank.pressure


@tried_on((np.array([1.0, -3.0, 2.0]), 3.0), (np.array([2.0]), np.array([1.0, 2.0])))
def horner(coefficients, x):
    return functools.reduce(lambda total, c: total * x + c, coefficients, 0)


@tried_on((np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0]), 1.5), (np.arange(4.0), np.arange(4.0) ** 2, 0.5))
def lagrange(xs, ys, x):
    total = 0.0
    for i, (xi, yi) in enumerate(zip(xs, ys)):
        term = yi
        for j, xj in enumerate(xs):
            if i != j:
                term = term * (x - xj) / (xi - xj)
        total += term
    return total


@tried_on((POINTS[:6],), (np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),))
def polygon(points):
    x, y = points.T
    area = 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    perimeter = sum(np.hypot(*(b - a)) for a, b in zip(points, np.roll(points, -1, axis=0)))
    return area, perimeter, (x.min(), y.max())


@tried_on((np.array([[1.0, 2.0], [3.0, 4.0]]), 3), (np.eye(3), 2))
def compose(matrix, count):
    def make(m):
        return lambda v: m @ v + 1

    step = make(matrix)
    v = np.ones(len(matrix))
    values = [v := step(v) for _ in range(count)]
    return values[-1], sum(values)


@tried_on((np.array([49, 50, 46, 53]),), (np.array([55]),))
def parse_number(codes):
    value, scale, seen_point = 0, 1, False
    for c in codes:
        if c == 46:
            seen_point = True
        elif 48 <= c <= 57:
            value = value * 10 + (c - 48)
            if seen_point:
                scale *= 10
        else:
            raise ValueError("not a digit")
    return value / scale


@tried_on((np.array([1, 1, 2, 2, 2, 3]),), (np.array([4]),))
def run_lengths(x):
    changes = np.flatnonzero(np.diff(x)) + 1
    starts = np.concatenate(([0], changes))
    ends = np.append(changes, len(x))
    return x[starts], ends - starts


@tried_on((np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), 2, 30), (np.ones((3, 3)), 1, 5))
def matrix_factorisation(v, rank, rounds):
    w, h = np.full((v.shape[0], rank), 0.5), np.linspace(0.1, 1, rank * v.shape[1]).reshape(rank, -1)
    for _ in range(rounds):
        h = h * (w.T @ v) / (w.T @ w @ h + 1e-9)
        w = w * (v @ h.T) / (w @ h @ h.T + 1e-9)
    return w @ h, np.linalg.norm(v - w @ h)


@tried_on((np.array([2.0, 1.0, 0.1]), True), (np.array([1000.0, 1001.0]), False))
def softmax(logits, stable):
    shifted = logits - logits.max() if stable else logits
    exps = np.exp(shifted)
    p = exps / exps.sum()
    return p, int(p.argmax()), np.isnan(p).any()


@tried_on((SIGNAL[:8], 3), (np.arange(5), 2))
def windows(x, width):
    rows = [x[i : i + width] for i in range(len(x) - width + 1)]
    stacked = np.vstack(rows)
    return stacked.mean(axis=1), stacked.shape, max(r.max() for r in rows)
