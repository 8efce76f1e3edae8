"""A counter beside a big matrix; what is not asked for need not be computed."""

import numpy as np

TITLE, UNIT = "counter beside a 500×300 int32 matrix, per iteration", "µs"
CASES = {"both asked for": {"n": 1000, "both": True}, "the counter asked for": {"n": 1000, "both": False}}
QUICK = {"n": 50}


def count(n, both):
    return n


def loop(tf, n, both):
    def run(n):
        i, x = tf.constant(0), tf.zeros([500, 300], tf.int32)
        while i < n:
            i += 1
            x += i
        return (i, x) if both else i

    return run, [n], []


def numpy_(_, n, both):
    def run():
        i, x = np.int32(0), np.zeros((500, 300), np.int32)
        while i < n:
            i = i + np.int32(1)
            x = x + i
        return (i, x) if both else i

    return run


def numba_(numba, n, both):
    @numba.njit
    def run(n):
        i, x = np.int32(0), np.zeros((500, 300), np.int32)
        while i < n:
            i = np.int32(i + 1)
            x += i
        return i, x

    return lambda: run(n) if both else run(n)[0]


def jax_(jax, n, both):
    integer = jax.numpy.int32

    @jax.jit
    def run(n):
        start = integer(0), jax.numpy.zeros((500, 300), integer)
        i, x = jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] + s[0] + 1), start)
        return (i, x) if both else i

    return lambda: run(n)


def torch_(torch, n, both):
    def run():
        i, x = 0, torch.zeros(500, 300, dtype=torch.int32)
        while i < n:
            i += 1
            x = x + i
        return (torch.tensor(i), x) if both else torch.tensor(i)

    return run
