"""Two heavy chains in one loop that do not need each other."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

TITLE, UNIT = "two independent chains of tanh(a @ A), 320×320, 40 iterations", "ms"
CASES = {"1 thread": {"threads": 1, "size": 320, "n": 40}, "2 threads": {"threads": 2, "size": 320, "n": 40}}
QUICK = {"n": 3}
RTOL = ATOL = 1e-3


def given(size):
    rng = np.random.default_rng(5)
    a, b, A, B = rng.standard_normal((4, size, size), np.float32)
    scale = np.float32(0.9 / size**0.5)
    return a, b, scale * A, scale * B


def staged(al, n):
    def run(a, b, A, B):
        return al.while_loop(
            lambda i, a, b: i < n, lambda i, a, b: (i + 1, al.tanh(a @ A), al.tanh(b @ B)), (al.constant(0), a, b),
            parallel_iterations=32,
        )[1:]  # fmt: skip

    return run


def autoloop_(al, threads, size, n, variant):
    al.config.set_num_threads(threads)
    run, arrays = al.function(staged(al, n), executor=variant), [al.constant(a) for a in given(size)]
    return lambda: run(*arrays)


def tensorflow_(tf, threads, size, n, variant):
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    run, arrays = tf.function(staged(tf, n), jit_compile=variant == "XLA"), [tf.constant(a) for a in given(size)]
    return lambda: run(*arrays)


def numpy_(_, threads, size, n):
    a, b, A, B = given(size)
    pool = ThreadPoolExecutor(threads)

    def chain(x, M):
        for _ in range(n):
            x = np.tanh(x @ M)
        return x

    return lambda: list(pool.map(chain, (a, b), (A, B)))


def jax_(jax, threads, size, n):
    arrays = [jax.numpy.asarray(a) for a in given(size)]
    tanh = jax.numpy.tanh

    @jax.jit
    def run(a, b, A, B):
        return jax.lax.fori_loop(0, n, lambda _, s: (tanh(s[0] @ A), tanh(s[1] @ B)), (a, b))

    return lambda: run(*arrays)


def torch_(torch, threads, size, n):
    a0, b0, A, B = map(torch.from_numpy, given(size))
    torch.set_num_threads(threads)

    def run():
        a, b = a0, b0
        for _ in range(n):
            a, b = torch.tanh(a @ A), torch.tanh(b @ B)
        return a, b

    return run
