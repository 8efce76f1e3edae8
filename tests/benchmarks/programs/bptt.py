"""The gradient through 1,000 steps of a recurrent network."""

import numpy as np

from .rnn import weights

TITLE, UNIT = "gradient through an RNN of 1,000 steps (batch 32, hidden 64)", "ms"
CASES = {"": {"steps": 1000, "batch": 32, "hidden": 64}}
QUICK = {"steps": 20}
GRADIENT = MEMORY = True
RTOL = ATOL = 1e-2


def loop(tf, steps, batch, hidden):
    x, *params = weights(steps, batch, hidden)

    def loss(W, U, b, x):
        h, total = tf.zeros((batch, hidden)), tf.constant(0.0)
        for t in tf.range(steps):
            h = tf.tanh(h @ W + x[t] @ U + b)
            total += tf.reduce_mean(h * h)
        return total

    return loss, params, [x]


def numpy_(_, steps, batch, hidden):
    x, W, U, b = weights(steps, batch, hidden)
    scale = np.float32(2 / (batch * hidden))

    def run():
        states, total = [np.zeros_like(x[0])], 0.0
        for step in x:
            states.append(np.tanh(states[-1] @ W + step @ U + b))
            total += np.mean(states[-1] * states[-1])
        g, gW, gU, gb = np.zeros_like(x[0]), np.zeros_like(W), np.zeros_like(U), np.zeros_like(b)
        for t in range(steps - 1, -1, -1):
            h = states[t + 1]
            g = (g + scale * h) * (1 - h * h)
            gW += states[t].T @ g
            gU += x[t].T @ g
            gb += g.sum(0)
            g = g @ W.T
        return np.float32(total), gW, gU, gb

    return run


def jax_(jax, steps, batch, hidden):
    np_ = jax.numpy
    x, *params = map(np_.asarray, weights(steps, batch, hidden))

    def loss(params, x):
        W, U, b = params

        def step(carry, row):
            h = np_.tanh(carry[0] @ W + row @ U + b)
            return (h, carry[1] + np_.mean(h * h)), None

        return jax.lax.scan(step, (np_.zeros((batch, hidden)), np_.float32(0)), x)[0][1]

    both = jax.jit(jax.value_and_grad(loss))
    return lambda: both(params, x)


def torch_(torch, steps, batch, hidden):
    x, *params = map(torch.from_numpy, weights(steps, batch, hidden))
    W, U, b = (p.requires_grad_() for p in params)

    def run():
        h, total = torch.zeros(batch, hidden), torch.zeros(())
        for row in x:
            h = torch.tanh(h @ W + row @ U + b)
            total = total + torch.mean(h * h)
        return total, torch.autograd.grad(total, (W, U, b))

    return run
