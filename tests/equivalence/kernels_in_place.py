"""Numeric kernels as people write them for NumPy: loops over rows and elements, that write into their arguments.

``KERNELS`` has each kernel, and what makes its arguments.
"""

import numpy as np

#: (kernel, what its arguments are made by)
KERNELS = []


def noting(kernels):
    """Return a decorator that notes a kernel; what it is given makes an argument of a random generator, or is one."""

    def kernel(*make):
        def note(function):
            kernels.append((function, make))
            return function

        return note

    return kernel


kernel = noting(KERNELS)


def array(*shape):
    return lambda rng: rng.random(shape)


def definite(n):
    def make(rng):
        m = rng.random((n, n))
        return m @ m.T + n * np.eye(n)

    return make


T = np.int64(2)


@kernel(T, 5, array(5, 5))
def adi(turns, size, u):
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    a, b, c = -0.3, 1.6, -0.3
    for _ in range(turns):
        v[0, 1 : size - 1] = 1.0
        p[1 : size - 1, 0] = 0.0
        q[1 : size - 1, 0] = v[0, 1 : size - 1]
        for j in range(1, size - 1):
            p[1 : size - 1, j] = -c / (a * p[1 : size - 1, j - 1] + b)
            q[1 : size - 1, j] = (
                -a * u[j, 0 : size - 2] + (1 + 2 * a) * u[j, 1 : size - 1] - c * u[j, 2:size]
                - a * q[1 : size - 1, j - 1]
            ) / (a * p[1 : size - 1, j - 1] + b)  # fmt: skip
        v[size - 1, 1 : size - 1] = 1.0
        for j in range(size - 2, 0, -1):
            v[j, 1 : size - 1] = p[1 : size - 1, j] * v[j + 1, 1 : size - 1] + q[1 : size - 1, j]
        u[1 : size - 1, 1:-1] = v.T[1:-1, 1:-1]


@kernel(array(4, 3), array(3))
def atax(matrix, x):
    return (matrix @ x) @ matrix


@kernel(array(3, 4), array(3), array(4), array(3), array(4))
def bicg(matrix, p, r, out_p, out_r):
    out_p[:] = matrix @ r
    for i in range(matrix.shape[0]):
        out_r += p[i] * matrix[i]


@kernel(definite(5))
def cholesky(m):
    m[0, 0] = np.sqrt(m[0, 0])
    for i in range(1, m.shape[0]):
        for j in range(i):
            m[i, j] -= np.dot(m[i, :j], m[j, :j])
            m[i, j] /= m[j, j]
        m[i, i] -= np.dot(m[i, :i], m[i, :i])
        m[i, i] = np.sqrt(m[i, i])


@kernel(array(1, 5, 5, 2), array(2, 2, 2, 3))
def conv2d(images, weights):
    k, count, high, wide = weights.shape[0], images.shape[0], images.shape[1] - 1, images.shape[2] - 1
    out = np.empty((count, high, wide, weights.shape[3]))
    for i in range(high):
        for j in range(wide):
            out[:, i, j, :] = np.sum(images[:, i : i + k, j : j + k, :, np.newaxis] * weights, axis=(1, 2, 3))
    return out


@kernel(array(6, 4))
def correlation(data):
    mean, deviation = np.mean(data, axis=0), np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(data.shape[0]) * deviation
    corr = np.eye(data.shape[1], dtype=data.dtype)
    for i in range(data.shape[1] - 1):
        corr[i + 1 :, i] = corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    return corr


@kernel(array(6, 4), np.float64(6))
def covariance(data, count):
    data -= np.mean(data, axis=0)
    cov = np.zeros((data.shape[1], data.shape[1]), dtype=data.dtype)
    for i in range(data.shape[1]):
        cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:] / (count - 1.0)
    return cov


@kernel(lambda rng: rng.integers(0, 256, 6, dtype=np.uint8))
def crc16(data):
    crc = 0xFFFF
    for byte in data:
        value = 0xFF & byte
        for _ in range(8):
            if (crc & 1) ^ (value & 1):
                crc = (crc >> 1) ^ 0x8408
            else:
                crc >>= 1
            value >>= 1
    crc = ~crc & 0xFFFF
    return (crc << 8) | ((crc >> 8) & 0xFF)


@kernel(np.float64(0.25), array(4, 5))
def deriche(alpha, image):
    k = (1 - np.exp(-alpha)) * (1 - np.exp(-alpha)) / (1 + alpha * np.exp(-alpha) - np.exp(2 * alpha))
    b1, b2 = 2.0 ** (-alpha), -np.exp(-2 * alpha)
    first, second = np.empty_like(image), np.empty_like(image)
    first[:, 0] = k * image[:, 0]
    first[:, 1] = k * image[:, 1] + b1 * first[:, 0]
    for j in range(2, image.shape[1]):
        first[:, j] = k * image[:, j] + k * alpha * image[:, j - 1] + b1 * first[:, j - 1] + b2 * first[:, j - 2]
    second[:, -1] = 0.0
    second[:, -2] = k * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        second[:, j] = k * (image[:, j + 1] + image[:, j + 2]) + b1 * second[:, j + 1] + b2 * second[:, j + 2]
    return first + second


@kernel(2, 3, array(2, 3, 4), array(4, 4))
def doitgen(rows, columns, a, c4):
    for r in range(rows):
        for q in range(columns):
            total = a[r, q, :] @ c4
            a[r, q, :] = total


@kernel(array(5))
def durbin(r):
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@kernel(T, array(4, 5), array(4, 5), array(4, 5), array(2))
def fdtd_2d(turns, ex, ey, hz, source):
    for t in range(turns):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@kernel(lambda rng: rng.integers(1, 50, (5, 5), dtype=np.int32))
def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


@kernel(np.float64(1.5), np.float64(1.2), array(3, 4), array(3, 2), array(2, 4))
def gemm(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c


@kernel(np.float64(1.5), array(4, 4), array(4), array(4), array(4), array(4), array(4), array(4))
def gemver(alpha, a, u1, v1, u2, v2, w, x):
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += 1.2 * v1 @ a
    w += alpha * a @ x


@kernel(array(5, 4))
def gramschmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


@kernel(array(5, 5, 2), array(1, 1, 2), array(1, 1, 2))
def hdiff(field, out, weight):
    lap = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    res = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flux = np.where(res * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, res)
    out[:] = field[2:-2, 2:-2] - weight * (flux[1:] - flux[:-1])


@kernel(T, array(4, 4, 4), array(4, 4, 4))
def heat_3d(turns, a, b):
    for _ in range(1, turns):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + a[1:-1, 1:-1, 1:-1]
        )
        a[1:-1, 1:-1, 1:-1] = b[1:-1, 1:-1, 1:-1] * 1.01


@kernel(T, array(6), array(6))
def jacobi_1d(turns, a, b):
    for _ in range(1, turns):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


@kernel(T, array(5, 5), array(5, 5))
def jacobi_2d(turns, a, b):
    for _ in range(1, turns):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


@kernel(definite(5))
def lu(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]


@kernel(definite(4), array(4))
def ludcmp(a, b):
    x, y = np.zeros_like(b), np.zeros_like(b)
    lu(a)
    for i in range(a.shape[0]):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(a.shape[0] - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


@kernel(6, 5, np.int64(12))
def mandelbrot(wide, high, most):
    c = np.linspace(-2.0, 0.5, wide) + np.linspace(-1.25, 1.25, high)[:, None] * 1j
    count = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for n in range(most):
        inside = np.less(abs(z), 2.0)
        count[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    count[count == most - 1] = 0
    return z, count


@kernel(array(4), array(4), array(4), array(4), array(4, 4))
def mvt(x1, x2, y1, y2, a):
    x1 += a @ y1
    x2 += y2 @ a


def acceleration(pos, mass, gravity, softening):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv = dx**2 + dy**2 + dz**2 + softening**2
    inv[inv > 0] = inv[inv > 0] ** (-1.5)
    return np.hstack((gravity * (dx * inv) @ mass, gravity * (dy * inv) @ mass, gravity * (dz * inv) @ mass))


@kernel(array(4, 1), array(4, 3), array(4, 3), T, np.float64(0.01))
def nbody(mass, pos, vel, turns, dt):
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, 1.0, 0.1)
    kinetic = np.ndarray(turns + 1, dtype=np.float64)
    kinetic[0] = 0.5 * np.sum(mass * vel**2)
    for i in range(turns):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc[:] = acceleration(pos, mass, 1.0, 0.1)
        vel += acc * dt / 2.0
        kinetic[i + 1] = 0.5 * np.sum(mass * vel**2)
    return kinetic


@kernel(5, lambda rng: rng.integers(0, 4, 5))
def nussinov(size, seq):
    table = np.zeros((size, size), np.int32)
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < size:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < size:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


@kernel(T, 4, array(4, 4))
def seidel_2d(turns, size, a):
    for _ in range(turns - 1):
        for i in range(1, size - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2]
            for j in range(1, size - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


@kernel(array(2, 3, 4))
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    e /= np.sum(e, axis=-1, keepdims=True)
    return e


@kernel(np.array([0, 2, 3, 5]), np.array([0, 2, 1, 0, 2]), array(5), array(3))
def spmv(rows, columns, values, x):
    y = np.empty(rows.size - 1, values.dtype)
    for i in range(rows.size - 1):
        y[i] = values[rows[i] : rows[i + 1]] @ x[columns[rows[i] : rows[i + 1]]]
    return y


@kernel(2, 3, lambda rng: rng.random(8) + 1j, lambda rng: np.zeros(8, complex))
def stockham(radix, stages, x, y):
    size = radix**stages
    i, j = np.mgrid[0:radix, 0:radix]
    matrix = np.exp(-2.0j * np.pi * i * j / radix)
    y[:] = x[:]
    for i in range(stages):
        grid = np.reshape(y, (radix**i, radix, radix ** (stages - i - 1)))
        mixed = np.transpose(grid, axes=(1, 0, 2))
        p, q = np.mgrid[0 : radix**i, 0:radix]
        turn = np.exp(-2.0j * np.pi * p[:, :, np.newaxis] * q[:, :, np.newaxis] / radix ** (i + 1))
        turned = mixed * np.transpose(turn, (1, 0, 2))
        y[:] = np.reshape(matrix @ np.reshape(turned, (radix, radix ** (stages - 1))), (size,))


@kernel(np.float64(1.5), np.float64(1.2), array(4, 3), array(4, 4), array(4, 3))
def symm(alpha, beta, c, a, b):
    tmp = np.empty((c.shape[1],), dtype=c.dtype)
    c *= beta
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            tmp[j] = b[:i, j] @ a[i, :i]
        c[i, :] += alpha * b[i, :] * a[i, i] + alpha * tmp


@kernel(np.float64(1.5), np.float64(1.2), array(4, 4), array(4, 3), array(4, 3))
def syr2k(alpha, beta, c, a, b):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]


@kernel(np.float64(1.5), np.float64(1.2), array(4, 4), array(4, 3))
def syrk(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


@kernel(definite(5), array(5), array(5))
def trisolv(low, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]


@kernel(np.float64(1.5), array(4, 4), array(4, 3))
def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha


@kernel(array(3, 2, 5), array(3, 2, 5), array(4, 2, 5), 0.3)
def vadv(stage, u, w, weight):
    count = u.shape[2]
    ccol, dcol = np.ndarray(u.shape, dtype=u.dtype), np.ndarray(u.shape, dtype=u.dtype)
    for k in range(1):
        gcv = 0.25 * (w[1:, :, k + 1] + w[:-1, :, k + 1])
        bcol = weight - gcv * 0.5
        ccol[:, :, k] = gcv * 0.5 / bcol
        dcol[:, :, k] = (weight * u[:, :, k] + stage[:, :, k]) / bcol
    for k in range(1, count):
        gav = -0.25 * (w[1:, :, k] + w[:-1, :, k])
        divided = 1.0 / (weight - gav - ccol[:, :, k - 1] * gav)
        ccol[:, :, k] = gav * divided
        dcol[:, :, k] = (stage[:, :, k] - dcol[:, :, k - 1] * gav) * divided
    for k in range(count - 1, count - 2, -1):
        data = dcol[:, :, k]
        stage[:, :, k] = weight * (data - u[:, :, k])
    for k in range(count - 2, -1, -1):
        data = dcol[:, :, k] - ccol[:, :, k] * data
        stage[:, :, k] = weight * (data - u[:, :, k])


@kernel(0.7, 1.3, array(4, 4), array(4, 4), array(4))
def gesummv(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x


@kernel(0.7, 1.3, array(3, 4), array(4, 5), array(5, 2), array(3, 2))
def k2mm(alpha, beta, a, b, c, d):
    d[:] = alpha * a @ b @ c + beta * d


@kernel(array(3, 4), array(4, 5), array(5, 2), array(2, 3))
def k3mm(a, b, c, d):
    return a @ b @ c @ d
