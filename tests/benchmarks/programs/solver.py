"""An iterative solver that works on slices: Poisson's equation on a square, until it changes no more."""

import numpy as np

TITLE, UNIT = "Poisson's equation by Jacobi on a 64×64 grid, float64, to a tolerance", "ms"
CASES = {"": {"size": 64, "tolerance": 1e-5}}
QUICK = {"size": 16}
RTOL = ATOL = 1e-6


def given(size):
    u = np.zeros((size, size))
    u[0] = np.sin(np.linspace(0, np.pi, size))
    return u, np.random.default_rng(2).normal(size=(size, size)) / size**2


def average(u, f):
    return (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4 + f[1:-1, 1:-1]


def loop(tf, size, tolerance):
    def run(u, f):
        change = tf.constant(1.0, tf.float64)
        while change > tolerance:
            inner = average(u, f)
            change = tf.reduce_max(abs(inner - u[1:-1, 1:-1]))
            middle = tf.concat([u[1:-1, :1], inner, u[1:-1, -1:]], axis=1)
            u = tf.concat([u[:1], middle, u[-1:]], axis=0)
        return u

    return run, given(size), []


def numpy_(_, size, tolerance):
    first, f = given(size)

    def run():
        u, change = first.copy(), 1.0
        while change > tolerance:
            inner = average(u, f)
            change = np.max(abs(inner - u[1:-1, 1:-1]))
            u[1:-1, 1:-1] = inner
        return u

    return run


def numba_(numba, size, tolerance):
    first, f = given(size)

    @numba.njit
    def run(u, f):
        change = 1.0
        while change > tolerance:
            change, new = 0.0, u.copy()
            for r in range(1, len(u) - 1):
                for c in range(1, len(u) - 1):
                    new[r, c] = (u[r - 1, c] + u[r + 1, c] + u[r, c - 1] + u[r, c + 1]) / 4 + f[r, c]
                    change = max(change, abs(new[r, c] - u[r, c]))
            u = new
        return u

    return lambda: run(first, f)


def jax_(jax, size, tolerance):
    jax.config.update("jax_enable_x64", True)
    u, f = map(jax.numpy.asarray, given(size))

    @jax.jit
    def run(u, f):
        def body(state):
            u, _ = state
            inner = average(u, f)
            change = jax.numpy.max(abs(inner - u[1:-1, 1:-1]))
            return u.at[1:-1, 1:-1].set(inner), change

        return jax.lax.while_loop(lambda s: s[1] > tolerance, body, (u, jax.numpy.float64(1)))[0]

    return lambda: run(u, f)


def torch_(torch, size, tolerance):
    first, f = map(torch.from_numpy, given(size))

    def run():
        u, change = first.clone(), 1.0
        while change > tolerance:
            inner = average(u, f)
            change = (inner - u[1:-1, 1:-1]).abs().max()
            u[1:-1, 1:-1] = inner
        return u

    return run
