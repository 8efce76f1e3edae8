"""A chain of element-wise operations on a million numbers, again and again."""

import numpy as np

TITLE, UNIT = "x = 0.98 x + 0.02 cos(x) exp(-x²) on 10⁶ float32, per iteration", "ms"
CASES = {"": {"size": 1_000_000, "n": 30}}
QUICK = {"size": 10_000, "n": 3}
PINNED = False


def count(size, n):
    return n


def given(size):
    return np.linspace(-2, 2, size, dtype=np.float32)


def step(xp, x):
    return x * 0.98 + xp.cos(x) * xp.exp(-x * x) * 0.02


def loop(tf, size, n):
    def run(x):
        i = tf.constant(0)
        while i < n:
            x = step(tf, x)
            i += 1
        return x

    return run, [given(size)], []


def repeated(xp, start, n):
    def run():
        x = start
        for _ in range(n):
            x = step(xp, x)
        return x

    return run


def numpy_(_, size, n):
    return repeated(np, given(size), n)


def torch_(torch, size, n):
    return torch.no_grad()(repeated(torch, torch.from_numpy(given(size)), n))


def numba_(numba, size, n):
    a, b = np.float32(0.98), np.float32(0.02)

    @numba.njit(fastmath=True, parallel=True)
    def run(x):
        for _ in range(n):
            x = x * a + np.cos(x) * np.exp(-x * x) * b
        return x

    return lambda: run(given(size))


def jax_(jax, size, n):
    x = jax.numpy.asarray(given(size))
    run = jax.jit(lambda x: jax.lax.fori_loop(0, n, lambda _, x: step(jax.numpy, x), x))
    return lambda: run(x)
