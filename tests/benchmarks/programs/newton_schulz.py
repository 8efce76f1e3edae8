"""The gradient through an iteration that stops when it is there: the inverse of a matrix by products alone.

G. Schulz, "Iterative Berechnung der reziproken Matrix", ZAMM 13(1), 1933. JAX cannot go back through a ``while``; its
loop has a bound, and what comes after the end is masked.
"""

import numpy as np

TITLE, UNIT = "gradient of a Newton–Schulz inverse, stopped by its error (96×96)", "ms"
CASES = {"": {"size": 96}}
QUICK = {"size": 16}
GRADIENT = MEMORY = True
RTOL = ATOL = 1e-3
TOLERANCE, BOUND = 1e-4, 40


def given(size):
    """A matrix, and the weights of the elements of its inverse in the loss."""
    rng = np.random.default_rng(3)
    noise, weights = rng.standard_normal((2, size, size), np.float32)
    return np.eye(size, dtype=np.float32) + np.float32(0.4 / size**0.5) * noise, weights / np.float32(size)


def loop(tf, size):
    def loss(A, weights):
        one = tf.eye(size)
        X = tf.transpose(A) / (tf.reduce_max(tf.reduce_sum(abs(A), 0)) * tf.reduce_max(tf.reduce_sum(abs(A), 1)))
        R = one - A @ X
        while tf.reduce_max(abs(R)) > TOLERANCE:
            X = X + X @ R
            R = one - A @ X
        return tf.reduce_sum(weights * X)

    A, weights = given(size)
    return loss, [A], [weights]


def numpy_(_, size):
    A, weights = given(size)
    one = np.eye(size, dtype=np.float32)

    def run():
        columns, rows = np.abs(A).sum(0), np.abs(A).sum(1)
        scale = columns.max() * rows.max()
        X = A.T / scale
        R = one - A @ X
        before = []
        while np.max(np.abs(R)) > TOLERANCE:
            before.append((X, R))
            X = X + X @ R
            R = one - A @ X
        gX, gA = weights, np.zeros_like(A)
        for X0, R0 in reversed(before):
            gR = X0.T @ gX
            gX = gX + gX @ R0.T - A.T @ gR
            gA -= gR @ X0.T
        g = -np.sum(gX * A.T) / scale**2
        gA += gX.T / scale
        gA[:, columns.argmax()] += g * rows.max() * np.sign(A[:, columns.argmax()])
        gA[rows.argmax()] += g * columns.max() * np.sign(A[rows.argmax()])
        return np.sum(weights * X), gA

    return run


def jax_(jax, size):
    np_ = jax.numpy
    A, weights = map(np_.asarray, given(size))

    def loss(A, weights):
        one = np_.eye(size)
        X = A.T / (np_.max(np_.sum(abs(A), 0)) * np_.max(np_.sum(abs(A), 1)))

        def step(state, _):
            X, R = state
            again = np_.max(abs(R)) > TOLERANCE
            X = np_.where(again, X + X @ R, X)
            return (X, np_.where(again, one - A @ X, R)), None

        (X, _), _ = jax.lax.scan(step, (X, one - A @ X), length=BOUND)
        return np_.sum(weights * X)

    both = jax.jit(jax.value_and_grad(loss))
    return lambda: both(A, weights)


def torch_(torch, size):
    A, weights = map(torch.from_numpy, given(size))
    A.requires_grad_()
    one = torch.eye(size)

    def run():
        X = A.T / (A.abs().sum(0).max() * A.abs().sum(1).max())
        R = one - A @ X
        while R.abs().max() > TOLERANCE:
            X = X + X @ R
            R = one - A @ X
        value = torch.sum(weights * X)
        return value, torch.autograd.grad(value, A)[0]

    return run
