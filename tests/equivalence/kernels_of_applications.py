"""Kernels of simulations and networks: flows in boxes, histograms, self-energies, layers; in place where NumPy is."""

import numpy as np
from kernels_in_place import T, array, noting

#: (kernel, what its arguments are made by)
KERNELS = []
kernel = noting(KERNELS)


def source_term(b, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx * dt) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy * dt)


def pressure(turns, p, dx, dy, b):
    old = np.empty_like(p)
    old[:] = p[:]
    for _ in range(turns):
        old[:] = p[:]
        p[1:-1, 1:-1] = (
            (old[1:-1, 2:] + old[1:-1, :-2]) * dy**2 + (old[2:, 1:-1] + old[:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - b[1:-1, 1:-1] * 0.01  # fmt: skip
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


@kernel(T, T, array(5, 5), array(5, 5), np.float64(0.01), 0.5, 0.5, array(5, 5))
def cavity_flow(turns, inner, u, v, dt, dx, dy, p):
    b = np.zeros(u.shape)
    for _ in range(turns):
        un, vn = u.copy(), v.copy()
        source_term(b, dt, u, v, dx, dy)
        pressure(inner, p, dx, dy, b)
        u[1:-1, 1:-1] = un[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
        v[1:-1, 1:-1] = vn[1:-1, 1:-1] - dt / (2 * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        u[0, :] = u[:, 0] = u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = v[-1, :] = 0


@kernel(array(4, 5), array(4, 5), np.float64(0.01))
def channel_flow(u, v, dt):
    change, steps = 1.0, 0
    while change > 0.05:
        un, vn = u.copy(), v.copy()
        u[1:-1, 1:-1] = un[1:-1, 1:-1] * 0.5 + dt * vn[1:-1, 1:-1]
        u[1:-1, -1] = un[1:-1, -1] * 0.5 + dt * un[1:-1, 0]
        u[0, :] = 0
        u[-1, :] = 0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        change = abs(change)
        steps += 1
    return steps


@kernel(array(9), array(9), 4)
def azimuthal_integration(data, radius, bins):
    smallest, largest = radius.min(), radius.max()
    out = np.zeros(bins)
    for i in range(bins):
        low = smallest + (largest - smallest) * i / bins
        high = smallest + (largest - smallest) * (i + 1) / bins
        inside = np.logical_and(low <= radius, radius <= high)
        if inside.any():
            out[i] = data[inside].mean()
    return out


@kernel(array(9), np.zeros(4), np.int64(4))
def histogram(data, counts, bins):
    for value in data:
        k = int(value * bins)
        if k == bins:
            k -= 1
        counts[k] += 1


NEAR = np.array([[0, 2], [1, 1]])


@kernel(NEAR, array(2, 2, 2, 2), array(2, 2, 2, 2), array(2, 2, 2, 2), np.zeros((2, 2, 2, 2)))
def scattering_self_energies(near, dh, g, d, sigma):
    for k in range(g.shape[0]):
        for e in range(g.shape[1]):
            for q in range(d.shape[0]):
                for a in range(2):
                    if e - q >= 0:
                        dhg = g[k, e - q] @ dh[a, near[a, q] % 2]
                        sigma[k, e] += dhg @ d[q, a]


@kernel(2, array(2, 3, 3), lambda rng: np.array([0.5 + 1j, 2.0 + 0.5j, 0.1 + 0.2j]), array(3, 2))
def contour_integral(slabs, parts, points, y):
    size = y.shape[0]
    p0, p1 = np.zeros(y.shape, dtype=np.complex128), np.zeros(y.shape, dtype=np.complex128)
    for z in points:
        total = np.zeros((size, size), dtype=np.complex128)
        for n in range(slabs):
            zz = np.power(z, slabs / 2 - n)
            total += zz * parts[n]
        x = np.linalg.inv(total + 5 * np.eye(size)) @ y
        if abs(z) < 1.0:
            x = -x
        p0 += x
        p1 += z * x
    return p0, p1


def relu(x):
    return np.maximum(x, 0)


def normed(x):
    return (x - np.mean(x, axis=0, keepdims=True)) / np.sqrt(np.std(x, axis=0, keepdims=True) + 1e-5)


@kernel(array(2, 4), array(4, 5), array(5), array(5, 3), array(3))
def mlp(x, w1, b1, w2, b2):
    x = relu(x @ w1 + b1)
    x = x @ w2 + b2
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def convolved(images, weights):
    k = weights.shape[0]
    high, wide = images.shape[1] - k + 1, images.shape[2] - k + 1
    out = np.empty((images.shape[0], high, wide, weights.shape[3]), dtype=np.float32)
    for i in range(high):
        for j in range(wide):
            part = images[:, i : i + k, j : j + k, :, np.newaxis]
            out[:, i, j, :] = np.sum(part * weights[np.newaxis], axis=(1, 2, 3))
    return out


@kernel(array(1, 4, 4, 2), array(1, 1, 2, 2), array(2, 2, 2, 2), array(1, 1, 2, 2))
def resnet(images, w1, w2, w3):
    count, high, wide, _ = images.shape
    padded = np.zeros((count, high + 1, wide + 1, w1.shape[3]), dtype=np.float32)
    padded[:, :high, :wide, :] = convolved(images, w1)
    x = relu(normed(padded))
    x = relu(normed(convolved(x, w2)))
    return relu(normed(convolved(x, w3)) + images)


def pooled(x):
    out = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


@kernel(array(1, 7, 7, 1), array(2, 2, 1, 2), array(2), array(18, 3))
def lenet(images, weights, bias, dense):
    x = relu(convolved(images, weights) + bias)
    x = pooled(x)
    x = np.reshape(x, (x.shape[0], -1))
    return x @ dense
