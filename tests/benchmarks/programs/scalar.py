"""A scalar loop with a branch on 32-bit integers: a pseudo-random walk that counts its turns."""

import numpy as np

TITLE, UNIT = "scalar `while` with an `if`, int32, per iteration", "ns"
CASES = {"": {"n": 300_000}}
QUICK = {"n": 3_000}


def count(n):
    return n


def loop(tf, n):
    def run(n):
        i = tf.constant(0)
        x = tf.constant(1)
        turns = tf.constant(0)
        while i < n:
            x = x * 1103515245 + 12345
            if x < 0:
                turns += 1
            i += 1
        return x, turns

    return run, [n], []


def by_hand(zero, one, factor, term):
    def run(n):
        i, x, turns = zero, one, zero
        while i < n:
            x = x * factor + term
            if x < zero:
                turns = turns + one
            i = i + one
        return x, turns

    return run


def numpy_(_, n):
    run = by_hand(*map(np.int32, (0, 1, 1103515245, 12345)))

    def quietly():
        with np.errstate(over="ignore"):
            return run(np.int32(n))

    return quietly


def numba_(numba, n):
    @numba.njit
    def run(n):
        i, x, turns = np.int32(0), np.int32(1), np.int32(0)
        while i < n:
            x = np.int32(x * np.int32(1103515245) + np.int32(12345))
            if x < 0:
                turns = np.int32(turns + 1)
            i = np.int32(i + 1)
        return x, turns

    return lambda: run(np.int32(n))


def jax_(jax, n):
    integer = jax.numpy.int32

    def body(state):
        i, x, turns = state
        x = x * integer(1103515245) + integer(12345)
        return i + 1, x, jax.lax.cond(x < 0, lambda: turns + 1, lambda: turns)

    @jax.jit
    def run(n):
        return jax.lax.while_loop(lambda s: s[0] < n, body, (integer(0), integer(1), integer(0)))[1:]

    return lambda: run(n)
