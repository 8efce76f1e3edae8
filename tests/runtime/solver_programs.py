"""Solvers as scientists write them for NumPy; arrays of Dask's can be given to each just as well.

One file: a table of programs.
"""

from __future__ import annotations

import numpy as np


def jacobi(a, b, tolerance):
    d = np.diag(a)
    r = a - np.diag(d)
    x = np.zeros_like(b)
    for k in range(200):
        new = (b - r @ x) / d
        if np.linalg.norm(new - x) < tolerance * np.linalg.norm(new):
            x = new
            break
        x = new
    return x, k


def red_black_sor(u, f, h, omega, tolerance):
    u = u.copy()
    rounds = 0
    while True:
        before = u.copy()
        for start in (0, 1):
            i = slice(1 + start, -1, 2)
            left, right = u[start:-2:2], u[start + 2 :: 2]
            u[i] = (1 - omega) * u[i] + omega * 0.5 * (left + right - h * h * f[i])
        rounds += 1
        if np.max(np.abs(u - before)) < tolerance:
            return u, rounds


def conjugate_gradient(a, b, tolerance):
    x = np.zeros(len(b))
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for i in range(len(b)):
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        rs_new = r @ r
        if np.sqrt(rs_new) < tolerance:
            break
        p = r + (rs_new / rs) * p
        rs = rs_new
    return x


def bicgstab(a, b, tolerance):
    x = np.zeros_like(b)
    r = b - a @ x
    r0 = r
    rho = alpha = omega = 1.0
    v = p = np.zeros_like(b)
    history = []
    for k in range(50):
        rho_new = np.dot(r0, r)
        beta = (rho_new / rho) * (alpha / omega)
        rho = rho_new
        p = r + beta * (p - omega * v)
        v = a @ p
        alpha = rho / np.dot(r0, v)
        s = r - alpha * v
        if np.linalg.norm(s) < tolerance:
            x = x + alpha * p
            break
        t = a @ s
        omega = np.dot(t, s) / np.dot(t, t)
        x = x + alpha * p + omega * s
        r = s - omega * t
        history.append(np.linalg.norm(r))
        if history[-1] < tolerance:
            break
    return x, history


def gmres(a, b, restart, tolerance):
    x = np.zeros_like(b)
    total = 0
    for cycle in range(10):
        r = b - a @ x
        beta = np.linalg.norm(r)
        if beta < tolerance:
            break
        basis = [r / beta]
        h = np.zeros((restart + 1, restart))
        for j in range(restart):
            w = a @ basis[j]
            for i in range(j + 1):
                h[i, j] = float(basis[i] @ w)
                w = w - h[i, j] * basis[i]
            h[j + 1, j] = float(np.linalg.norm(w))
            basis.append(w / h[j + 1, j])
            total += 1
        e = np.zeros(restart + 1)
        e[0] = float(beta)
        y = np.linalg.lstsq(h, e, rcond=None)[0]
        for j in range(restart):
            x = x + y[j] * basis[j]
    return x, total


def inverse_iteration(a, x, shift, tolerance):
    shifted = a - shift * np.eye(len(x))
    eigenvalue = 0.0
    for rounds in range(1, 100):
        y = np.linalg.solve(shifted, x)
        x = y / np.linalg.norm(y)
        new = x @ a @ x
        if abs(new - eigenvalue) < tolerance:
            return new, x, rounds
        eigenvalue = new
    raise RuntimeError("no convergence")


def qr_iteration(a, tolerance):
    q_all = np.eye(a.shape[0])
    for k in range(200):
        q, r = np.linalg.qr(a)
        a = r @ q
        q_all = q_all @ q
        if np.sum(np.abs(np.tril(a, -1))) < tolerance:
            break
    return np.diag(a), q_all


def newton(x, y, w, tolerance):
    """Logistic regression by Newton's steps, halved until they help."""

    def loss(w):
        z = x @ w
        return np.mean(np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0) - y * z) + 0.005 * w @ w

    value = loss(w)
    steps = 0
    while steps < 50:
        p = 1 / (1 + np.exp(-(x @ w)))
        g = x.T @ (p - y) / len(y) + 0.01 * w
        if np.linalg.norm(g) < tolerance:
            break
        hessian = (x * (p * (1 - p))[:, None]).T @ x / len(y) + 0.01 * np.eye(len(w))
        direction = np.linalg.solve(hessian, g)
        t = 1.0
        while loss(w - t * direction) > value - 1e-4 * t * (g @ direction):
            t *= 0.5
        w = w - t * direction
        value = loss(w)
        steps += 1
    return w, value, steps


def gradient_descent(a, b, x, tolerance):
    """Least squares with an Armijo line search."""
    losses = []
    for it in range(60):
        r = a @ x - b
        f = 0.5 * (r @ r)
        g = a.T @ r
        losses.append(f)
        gg = g @ g
        if gg < tolerance**2:
            break
        step = 1.0
        while True:
            trial = a @ (x - step * g) - b
            if 0.5 * (trial @ trial) <= f - 0.5 * step * gg or step < 1e-8:
                break
            step /= 2
        x = x - step * g
    return x, np.array(losses)


def lbfgs(a, b, x, memory, tolerance):
    """The two-loop recursion, with the last pairs in lists."""
    s_list, y_list = [], []
    g = a.T @ (a @ x - b)
    for it in range(30):
        if np.sqrt(g @ g) < tolerance:
            break
        q = g
        alphas = []
        for s, y in zip(reversed(s_list), reversed(y_list)):
            alpha = (s @ q) / (y @ s)
            alphas.append(alpha)
            q = q - alpha * y
        if s_list:
            q = q * ((s_list[-1] @ y_list[-1]) / (y_list[-1] @ y_list[-1]))
        else:
            q = q * 1e-2
        for s, y, alpha in zip(s_list, y_list, reversed(alphas)):
            q = q + s * (alpha - (y @ q) / (y @ s))
        image = a @ q
        step = (g @ q) / (image @ image)
        new = x - step * q
        g_new = a.T @ (a @ new - b)
        s_list.append(new - x)
        y_list.append(g_new - g)
        if len(s_list) > memory:
            s_list.pop(0)
            y_list.pop(0)
        x, g = new, g_new
    return x, it


def gaussian_mixture(x, means, rounds, tolerance):
    n, d = x.shape
    k = len(means)
    weights = np.full(k, 1.0 / k)
    variances = np.ones((k, d))
    before = -np.inf
    for it in range(rounds):
        logs = np.stack(
            [
                np.log(weights[j])
                - 0.5 * np.sum((x - means[j]) ** 2 / variances[j] + np.log(2 * np.pi * variances[j]), axis=1)
                for j in range(k)
            ],
            axis=1,
        )
        top = logs.max(axis=1, keepdims=True)
        total = top[:, 0] + np.log(np.exp(logs - top).sum(axis=1))
        likelihood = total.mean()
        resp = np.exp(logs - total[:, None])
        nk = resp.sum(axis=0)
        weights = nk / n
        means = (resp.T @ x) / nk[:, None]
        variances = (resp.T @ x**2) / nk[:, None] - means**2 + 1e-6
        if likelihood - before < tolerance:
            break
        before = likelihood
    return weights, means, variances, it


def kmeans_plus_plus(x, draws, rounds):
    """Centres drawn one after the other by how far points are, then Lloyd's rounds."""
    centres = [x[0]]
    nearest = np.sum((x - centres[0]) ** 2, axis=1)
    for u in draws:
        cumulative = np.cumsum(nearest)
        chosen = int(np.sum(cumulative < u * cumulative[-1]))
        centres.append(x[chosen])
        nearest = np.minimum(nearest, np.sum((x - x[chosen]) ** 2, axis=1))
    c = np.stack(centres)
    labels = None
    for _ in range(rounds):
        distances = ((x[:, None, :] - c[None, :, :]) ** 2).sum(axis=2)
        new = distances.argmin(axis=1)
        if labels is not None and (new == labels).all():
            break
        labels = new
        c = np.stack([x[labels == j].mean(axis=0) for j in range(len(c))])
    return c, labels


def kalman(rows, f, h, q, r):
    x, p = np.zeros(2), np.eye(2)
    estimates = []
    for z in rows:
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ (z - h @ x)
        p = (np.eye(2) - gain @ h) @ p
        estimates.append(x)
    return np.array(estimates), p


def pagerank(adjacency, damping, tolerance):
    n = adjacency.shape[0]
    out = adjacency.sum(axis=1)
    dangling = out == 0
    scale = np.where(dangling, 0.0, 1.0 / np.maximum(out, 1))
    rank = np.ones(n) / n
    for rounds in range(1, 101):
        lost = rank[dangling].sum()
        new = damping * (adjacency.T @ (rank * scale) + lost / n) + (1 - damping) / n
        delta = np.abs(new - rank).sum()
        rank = new
        if delta < tolerance:
            break
    return rank, rounds


def heat(u, alpha, dt, dx, steps, every):
    history = [u.copy()]
    for step in range(1, steps + 1):
        laplacian = np.zeros_like(u)
        laplacian[1:-1] = (u[2:] - 2 * u[1:-1] + u[:-2]) / dx**2
        u = u + alpha * dt * laplacian
        u[0] = u[-1] = 0.0
        if step % every == 0:
            history.append(u.copy())
    return np.stack(history)


def wave(u, c, dt, dx, steps):
    before, now = u, u
    energies = []
    for _ in range(steps):
        inner = 2 * now[1:-1] - before[1:-1] + (c * dt / dx) ** 2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        new = np.concatenate([np.zeros(1), inner, np.zeros(1)])
        energies.append(np.sum((new - now) ** 2) / dt**2)
        before, now = now, new
    return now, np.array(energies)


def runge_kutta_45(y, rates, t_end, tolerance):
    def f(y):
        return rates * y * (1 - y)

    t, h = 0.0, 0.1
    ts = [t]
    rejected = 0
    while t < t_end:
        h = min(h, t_end - t)
        k1 = f(y)
        k2 = f(y + h * k1 / 4)
        k3 = f(y + h * (3 * k1 + 9 * k2) / 32)
        k4 = f(y + h * (1932 * k1 - 7200 * k2 + 7296 * k3) / 2197)
        k5 = f(y + h * (439 / 216 * k1 - 8 * k2 + 3680 / 513 * k3 - 845 / 4104 * k4))
        k6 = f(y + h * (-8 / 27 * k1 + 2 * k2 - 3544 / 2565 * k3 + 1859 / 4104 * k4 - 11 / 40 * k5))
        fifth = y + h * (16 / 135 * k1 + 6656 / 12825 * k3 + 28561 / 56430 * k4 - 9 / 50 * k5 + 2 / 55 * k6)
        fourth = y + h * (25 / 216 * k1 + 1408 / 2565 * k3 + 2197 / 4104 * k4 - k5 / 5)
        error = np.abs(fifth - fourth).max()
        if error <= tolerance:
            t += h
            y = fifth
            ts.append(t)
        else:
            rejected += 1
        h *= min(2.0, max(0.2, 0.9 * (tolerance / (error + 1e-30)) ** 0.2))
    return y, np.array(ts), rejected


def label_propagation(w, labels, known, tolerance):
    t = w / w.sum(axis=1, keepdims=True)
    y = labels
    for k in range(200):
        new = t @ y
        new = np.where(known[:, None], labels, new)
        if np.abs(new - y).max() < tolerance:
            break
        y = new
    return np.argmax(new, axis=1), k


def nmf(v, w, h, rounds, tolerance):
    eps = 1e-9
    error = np.inf
    for i in range(rounds):
        h *= (w.T @ v) / (w.T @ w @ h + eps)
        w *= (v @ h.T) / (w @ h @ h.T + eps)
        new = np.linalg.norm(v - w @ h)
        if error - new < tolerance * error:
            break
        error = new
    return w, h, new


def admm_lasso(a, b, lam, rho, tolerance):
    n = a.shape[1]
    atb = a.T @ b
    inverse = np.linalg.inv(a.T @ a + rho * np.eye(n))
    z = u = np.zeros(n)
    for k in range(500):
        x = inverse @ (atb + rho * (z - u))
        z_old = z
        z = np.sign(x + u) * np.maximum(np.abs(x + u) - lam / rho, 0)
        u = u + x - z
        primal, dual = np.linalg.norm(x - z), np.linalg.norm(rho * (z - z_old))
        if primal < tolerance and dual < tolerance:
            break
    return z, k


def pegasos(x, y, order, lam):
    w = np.zeros(x.shape[1])
    mistakes = 0
    for t, i in enumerate(order, start=1):
        eta = 1 / (lam * t)
        if y[i] * (w @ x[i]) < 1:
            w = (1 - eta * lam) * w + eta * y[i] * x[i]
            mistakes += 1
        else:
            w = (1 - eta * lam) * w
        size = np.linalg.norm(w)
        if size > 1 / np.sqrt(lam):
            w = w / (size * np.sqrt(lam))
    return w, mistakes


def perceptron(x, y, epochs):
    w, b = np.zeros(x.shape[1]), 0.0
    for epoch in range(epochs):
        errors = 0
        for xi, yi in zip(x, y):
            if yi * (xi @ w + b) <= 0:
                w = w + yi * xi
                b += yi
                errors += 1
        if errors == 0:
            break
    return w, b, epoch


def ista(a, b, lam, tolerance):
    step = 1 / np.linalg.norm(a.T @ a)
    x = np.zeros(a.shape[1])
    momentum, t = x, 1.0
    for k in range(300):
        g = momentum - step * a.T @ (a @ momentum - b)
        new = np.sign(g) * np.clip(np.abs(g) - lam * step, 0, None)
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        momentum = new + (t - 1) / t_new * (new - x)
        done = np.linalg.norm(new - x) < tolerance
        x, t = new, t_new
        if done:
            break
    return x, k


def lanczos(a, v, m):
    n = len(v)
    basis = np.zeros((m, n))
    alphas, betas = np.zeros(m), np.zeros(m)
    v = v / np.linalg.norm(v)
    for j in range(m):
        basis[j] = v
        w = a @ v
        alphas[j] = w @ v
        w = w - basis[: j + 1].T @ (basis[: j + 1] @ w)
        betas[j] = np.linalg.norm(w)
        if betas[j] < 1e-12:
            break
        v = w / betas[j]
    return alphas, betas, basis


def gram_schmidt(a):
    q = np.zeros(a.shape)
    r = np.zeros((a.shape[1], a.shape[1]))
    for j in range(a.shape[1]):
        v = a[:, j]
        for i in range(j):
            r[i, j] = q[:, i] @ a[:, j]
            v = v - r[i, j] * q[:, i]
        r[j, j] = np.linalg.norm(v)
        q[:, j] = v / r[j, j]
    return q, r


def sinkhorn(cost, p, q, eps, tolerance):
    k = np.exp(-cost / eps)
    u = np.ones(len(p))
    for it in range(500):
        v = q / (k.T @ u)
        u = p / (k @ v)
        plan = u[:, None] * k * v
        if np.abs(plan.sum(axis=0) - q).max() < tolerance:
            break
    return plan, (plan * cost).sum(), it


def adam(x, y, w, batch, epochs):
    m = v = np.zeros_like(w)
    t = 0
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for start in range(0, len(x), batch):
            xb, yb = x[start : start + batch], y[start : start + batch]
            residual = xb @ w - yb
            g = 2 * xb.T @ residual / len(xb)
            t += 1
            m = 0.9 * m + 0.1 * g
            v = 0.999 * v + 0.001 * g**2
            w = w - 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            total += (residual**2).sum()
        losses.append(total / len(x))
    return w, losses


def game_of_life(board, generations):
    seen = 0
    for g in range(generations):
        neighbours = sum(
            np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
        )
        new = (neighbours == 3) | (board & (neighbours == 2))
        if (new == board).all():
            break
        board = new.astype(board.dtype)
        seen += board.sum()
    return board, seen


def made(seed=0):
    """Return for each program its arguments, and how those that are Dask's are cut."""
    g = np.random.default_rng(seed)
    n = 24
    dominant = g.normal(size=(n, n)) + 4 * n**0.5 * np.eye(n)
    b = g.normal(size=n)
    spd = np.cov(g.normal(size=(n, 3 * n))) + np.eye(n)
    tall, target = g.normal(size=(40, 6)), g.normal(size=40)
    points = np.concatenate([g.normal(size=(20, 2)) * 0.5 + c for c in ([0, 0], [4, 1], [1, 5])])
    adjacency = (g.random((n, n)) < 0.15).astype(float)
    adjacency[3] = 0
    weights = np.exp(-((points[:, None] - points[None]) ** 2).sum(2))
    labels, known = np.zeros((60, 3)), np.zeros(60, bool)
    known[::20] = True
    labels[0, 0] = labels[20, 1] = labels[40, 2] = 1
    sides = np.where(tall @ g.normal(size=6) > 0, 1.0, -1.0)
    x = np.linspace(0, 1, 33)
    board = (g.random((12, 12)) < 0.4).astype(np.int64)
    cost = (np.linspace(0, 1, 12)[:, None] - np.linspace(0, 1, 12)) ** 2
    whole, rows = -1, (14, -1)
    return {
        jacobi: ((dominant, rows), (b, 14), 1e-3),
        red_black_sor: ((np.zeros(33), 18), (np.sin(x * 7), 18), 1 / 32, 1.8, 2e-3),
        conjugate_gradient: ((spd, rows), (b, 14), 1e-2),
        bicgstab: ((dominant, rows), (b, 14), 1e-2),
        gmres: ((dominant, rows), (b, 14), 3, 1e-1),
        inverse_iteration: ((spd, (8, 8)), (b, 8), 0.5, 1e-2),
        qr_iteration: ((spd[:5, :5], (5, 5)), 1.0),
        newton: ((tall, rows), (sides * 0.5 + 0.5, 14), np.zeros(6), 1e-2),
        gradient_descent: ((tall, rows), (target, 14), np.zeros(6), 3.0),
        lbfgs: ((tall, rows), (target, 14), np.zeros(6), 3, 1e-1),
        gaussian_mixture: ((points, (30, -1)), points[[0, 20, 40]], 20, 1e-1),
        kmeans_plus_plus: ((points, (30, -1)), np.array([0.3, 0.7]), 10),
        kalman: (
            (np.stack([x * 3, x * 0 + 3], 1)[:, :1] + 0.01, (8, -1)), np.array([[1.0, 0.1], [0.0, 1.0]]),
            np.array([[1.0, 0.0]]), np.eye(2) * 0.01, np.eye(1) * 0.1,
        ),
        pagerank: ((adjacency, rows), 0.85, 1e-2),
        heat: ((np.sin(np.pi * x), 18), 1.0, 2e-4, 1 / 32, 6, 2),
        wave: ((np.sin(np.pi * x), 18), 1.0, 0.02, 1 / 32, 4),
        runge_kutta_45: ((np.full(20, 0.1), 12), (np.linspace(0.5, 3, 20), 12), 1.0, 1e-4),
        label_propagation: ((weights, (30, -1)), (labels, (30, -1)), (known, 30), 5e-2),
        nmf: ((g.random((20, 12)), (6, -1)), (g.random((20, 3)), (6, -1)), (g.random((3, 12)), whole), 5, 1e-2),
        admm_lasso: ((tall, rows), (target, 14), 2.0, 1.0, 3e-1),
        pegasos: ((tall, rows), (sides, 14), [3, 17, 30, 3], 0.1),
        perceptron: ((tall[:12], (5, -1)), (sides[:12], 5), 6),
        ista: ((tall, rows), (target, 14), 2.0, 3e-2),
        lanczos: ((spd, rows), (b, 14), 4),
        gram_schmidt: ((tall, rows),),
        sinkhorn: ((cost, (5, -1)), (np.full(12, 1 / 12), 5), np.full(12, 1 / 12), 0.5, 1e-3),
        adam: ((tall, (10, -1)), (target, 10), np.zeros(6), 10, 4),
        game_of_life: ((board, (6, -1)), 3),
    }  # fmt: skip
