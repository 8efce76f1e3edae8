"""Two stacked layers in one loop: while the second is at one step the first may be at the next.

With a window of one iteration nothing can overlap.
"""

import numpy as np

TITLE, UNIT = "two stacked layers, 256×256 each, 60 steps, 2 threads", "ms"
CASES = {
    "a window of 1": {"threads": 2, "window": 1, "size": 256, "n": 60},
    "a window of 32": {"threads": 2, "window": 32, "size": 256, "n": 60},
}
QUICK = {"n": 3}
RTOL = ATOL = 1e-3


def given(size):
    rng = np.random.default_rng(9)
    scale = np.float32(0.7 / size**0.5)
    return [scale * m for m in rng.standard_normal((4, size, size), np.float32)]


def staged(al, window, size, n):
    def run(A, B, C, x):
        def body(i, low, high):
            low_next = al.tanh(low @ A + x)
            return i + 1, low_next, al.tanh(high @ B + low @ C)

        zero = al.zeros((size, size))
        return al.while_loop(lambda i, *_: i < n, body, (al.constant(0), zero, zero), parallel_iterations=window)[1:]

    return run


def autoloop_(al, threads, window, size, n, variant):
    al.config.set_num_threads(threads)
    run = al.function(staged(al, window, size, n), executor=variant)
    arrays = [al.constant(a) for a in given(size)]
    return lambda: run(*arrays)


def tensorflow_(tf, threads, window, size, n, variant):
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    run = tf.function(staged(tf, window, size, n), jit_compile=variant == "XLA")
    arrays = [tf.constant(a) for a in given(size)]
    return lambda: run(*arrays)


def one_step(xp, A, B, C, x, low, high):
    return xp.tanh(low @ A + x), xp.tanh(high @ B + low @ C)


def numpy_(_, threads, window, size, n):
    arrays = given(size)

    def run():
        low = high = np.zeros((size, size), np.float32)
        for _ in range(n):
            low, high = one_step(np, *arrays, low, high)
        return low, high

    return run


def jax_(jax, threads, window, size, n):
    arrays = [jax.numpy.asarray(a) for a in given(size)]

    @jax.jit
    def run(*arrays):
        zero = jax.numpy.zeros((size, size))
        return jax.lax.fori_loop(0, n, lambda _, s: one_step(jax.numpy, *arrays, *s), (zero, zero))

    return lambda: run(*arrays)
