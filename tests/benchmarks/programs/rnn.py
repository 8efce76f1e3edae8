"""A recurrent network run over a sequence; all its states are kept."""

import numpy as np

TITLE, UNIT = "RNN forward, per step", "µs"
CASES = {
    "batch 32, hidden 64": {"steps": 1000, "batch": 32, "hidden": 64},
    "batch 64, hidden 256": {"steps": 1000, "batch": 64, "hidden": 256},
}
QUICK = {"steps": 20}
RTOL = ATOL = 1e-3


def count(steps, **_):
    return steps


def weights(steps, batch, hidden):
    """The sequence, then the weights of the states, of the inputs, and the bias."""
    rng = np.random.default_rng(7)
    shapes = (steps, batch, hidden), (hidden, hidden), (hidden, hidden), (hidden,)
    scales = 0.5, 0.8 / hidden**0.5, 1 / hidden**0.5, 0.1
    return [np.float32(scale) * rng.standard_normal(shape, np.float32) for scale, shape in zip(scales, shapes)]


def loop(tf, steps, batch, hidden):
    def run(x, W, U, b):
        h, states, t = tf.zeros((batch, hidden)), tf.TensorArray(tf.float32, steps), tf.constant(0)
        while t < steps:
            h = tf.tanh(h @ W + x[t] @ U + b)
            states = states.write(t, h)
            t += 1
        return states.stack()

    return run, weights(steps, batch, hidden), []


def numpy_(_, **sizes):
    x, W, U, b = weights(**sizes)

    def run():
        h, states = np.zeros_like(x[0]), np.empty_like(x)
        for t in range(len(x)):
            states[t] = h = np.tanh(h @ W + x[t] @ U + b)
        return states

    return run


def numba_(numba, **sizes):
    given = weights(**sizes)

    @numba.njit
    def run(x, W, U, b):
        h, states = np.zeros(x.shape[1:], np.float32), np.empty_like(x)
        for t in range(len(x)):
            h = np.tanh(np.dot(h, W) + np.dot(x[t], U) + b)
            states[t] = h
        return states

    return lambda: run(*given)


def jax_(jax, **sizes):
    given = [jax.numpy.asarray(a) for a in weights(**sizes)]

    @jax.jit
    def run(x, W, U, b):
        def step(h, row):
            h = jax.numpy.tanh(h @ W + row @ U + b)
            return h, h

        return jax.lax.scan(step, jax.numpy.zeros_like(x[0]), x)[1]

    return lambda: run(*given)


def torch_(torch, **sizes):
    x, W, U, b = map(torch.from_numpy, weights(**sizes))

    @torch.no_grad()
    def run():
        h, states = torch.zeros_like(x[0]), []
        for row in x:
            h = torch.tanh(h @ W + row @ U + b)
            states.append(h)
        return torch.stack(states)

    return run
