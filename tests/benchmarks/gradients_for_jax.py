"""The kernels as one writes them for JAX: arrays that do not change, ``at[...].set``, ``fori_loop`` and ``scan``.

``made(jax)`` gives each kernel as a function of the same arguments; its results are those of the kernel, then the
arguments that the kernel writes to. Counts of turns and sizes are Python's numbers, or arrays could not be made.
"""

from __future__ import annotations


def stencils(jax):
    """Stencils."""
    jnp = jax.numpy
    loop = jax.lax.fori_loop

    def heat_3d(turns, a, b):
        def turn(_, state):
            a, b = state
            b = b.at[1:-1, 1:-1, 1:-1].set(
                0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
                + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
                + a[1:-1, 1:-1, 1:-1]
            )
            return a.at[1:-1, 1:-1, 1:-1].set(b[1:-1, 1:-1, 1:-1] * 1.01), b

        return loop(1, turns, turn, (a, b))

    def jacobi_1d(turns, a, b):
        def turn(_, state):
            a, b = state
            b = b.at[1:-1].set(0.33333 * (a[:-2] + a[1:-1] + a[2:]))
            return a.at[1:-1].set(0.33333 * (b[:-2] + b[1:-1] + b[2:])), b

        return loop(1, turns, turn, (a, b))

    def jacobi_2d(turns, a, b):
        def mean(a):
            return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

        def turn(_, state):
            a, b = state
            b = b.at[1:-1, 1:-1].set(mean(a))
            return a.at[1:-1, 1:-1].set(mean(b)), b

        return loop(1, turns, turn, (a, b))

    def hdiff(field, out, weight):
        lap = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
        res = lap[1:, 1:-1] - lap[:-1, 1:-1]
        flux = jnp.where(res * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, res)
        return field[2:-2, 2:-2] - weight * (flux[1:] - flux[:-1])

    return heat_3d, jacobi_1d, jacobi_2d, hdiff


def networks(jax):
    """Layers of networks."""
    jnp = jax.numpy

    def conv2d(images, weights):
        return jax.lax.conv_general_dilated(
            images, weights, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def softmax(x):
        e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
        return e / jnp.sum(e, axis=-1, keepdims=True)

    def mlp(x, w1, b1, w2, b2):
        return softmax(jnp.maximum(x @ w1 + b1, 0) @ w2 + b2)

    return conv2d, softmax, mlp


def products(jax):
    """Products of matrices, and statistics."""
    jnp = jax.numpy

    def gemm(alpha, beta, c, a, b):
        return alpha * a @ b + beta * c

    def atax(matrix, x):
        return (matrix @ x) @ matrix

    def mvt(x1, x2, y1, y2, a):
        return x1 + a @ y1, x2 + y2 @ a

    def k2mm(alpha, beta, a, b, c, d):
        return alpha * a @ b @ c + beta * d

    def doitgen(rows, columns, a, c4):
        return a @ c4

    def covariance(data, count):
        data = data - jnp.mean(data, axis=0)
        return data.T @ data / (count - 1.0), data

    def correlation(data):
        mean, deviation = jnp.mean(data, axis=0), jnp.std(data, axis=0)
        deviation = jnp.where(deviation <= 0.1, 1.0, deviation)
        data = (data - mean) / (jnp.sqrt(data.shape[0]) * deviation)
        product = data.T @ data
        return jnp.where(jnp.eye(data.shape[1], dtype=bool), 1.0, product), data

    def spmv(rows, columns, values, x):
        number = jnp.repeat(jnp.arange(rows.size - 1), rows[1:] - rows[:-1], total_repeat_length=values.size)
        return jax.ops.segment_sum(values * x[columns], number, rows.size - 1)

    return gemm, atax, mvt, k2mm, doitgen, covariance, correlation, spmv


def scans(jax):
    """Filters along rows."""
    jnp = jax.numpy

    def deriche(alpha, image):
        k = (1 - jnp.exp(-alpha)) * (1 - jnp.exp(-alpha)) / (1 + alpha * jnp.exp(-alpha) - jnp.exp(2 * alpha))
        b1, b2 = 2.0 ** (-alpha), -jnp.exp(-2 * alpha)
        rows = image.T

        def forth(carry, given):
            new = k * given[0] + k * alpha * given[1] + b1 * carry[0] + b2 * carry[1]
            return (new, carry[0]), new

        def back(carry, given):
            new = k * (given[0] + given[1]) + b1 * carry[0] + b2 * carry[1]
            return (new, carry[0]), new

        one = k * rows[0]
        two = k * rows[1] + b1 * one
        first = jax.lax.scan(forth, (two, one), (rows[2:], rows[1:-1]))[1]
        last, before = jnp.zeros_like(rows[0]), k * rows[-1]
        second = jax.lax.scan(back, (before, last), (rows[1:-1], rows[2:]), reverse=True)[1]
        ends = jnp.stack([one, two]), jnp.stack([before, last])
        return (jnp.concatenate([ends[0], first]) + jnp.concatenate([second, ends[1]])).T

    return (deriche,)


def steps(jax):
    """Steps in time."""
    jnp = jax.numpy
    loop = jax.lax.fori_loop

    def acceleration(pos, mass):
        x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        inv = (dx**2 + dy**2 + dz**2 + 0.01) ** (-1.5)
        return jnp.hstack(((dx * inv) @ mass, (dy * inv) @ mass, (dz * inv) @ mass))

    def nbody(mass, pos, vel, turns, dt):
        vel = vel - jnp.mean(mass * vel, axis=0) / jnp.mean(mass)

        def turn(state, _):
            pos, vel, acc = state
            vel = vel + acc * dt / 2.0
            pos = pos + vel * dt
            acc = acceleration(pos, mass)
            vel = vel + acc * dt / 2.0
            return (pos, vel, acc), 0.5 * jnp.sum(mass * vel**2)

        start = 0.5 * jnp.sum(mass * vel**2)
        (pos, vel, _), kinetic = jax.lax.scan(turn, (pos, vel, acceleration(pos, mass)), length=int(turns))
        return jnp.append(kinetic, start), pos, vel

    def adi(turns, size, u):
        a, b, c = -0.3, 1.6, -0.3

        def turn(_, u):
            def forth(carry, rows):
                p, q = carry
                below, here, above = rows
                down = a * p + b
                q = (-a * below + (1 + 2 * a) * here - c * above - a * q) / down
                return (-c / down, q), (-c / down, q)

            def back(v, given):
                v = given[0] * v + given[1]
                return v, v

            rows = u[1:-1, :-2], u[1:-1, 1:-1], u[1:-1, 2:]
            ones = jnp.ones(size - 2)
            _, kept = jax.lax.scan(forth, (jnp.zeros(size - 2), ones), rows)
            _, v = jax.lax.scan(back, ones, kept, reverse=True)
            return u.at[1:-1, 1:-1].set(v.T)

        return loop(0, turns, turn, u)

    return nbody, adi


def made(jax):
    """The kernels by name."""
    groups = stencils, networks, products, scans, steps
    return {kernel.__name__: kernel for group in groups for kernel in group(jax)}
