"""The gradient of a long recurrence; what must be kept is one state per step."""

import numpy as np

TITLE, UNIT = "gradient of x = a sin(x), 1,000 float32, per step", "µs"
CASES = {
    "20,000 steps": {"steps": 20_000, "kept": "save"},
    "20,000 steps, checkpoints": {"steps": 20_000, "kept": "checkpoint"},
}
QUICK = {"steps": 500}
GRADIENT = MEMORY = True
RTOL = 2e-2


def count(steps, **_):
    return steps


def given():
    """``x`` at first, and ``a``, near 1 so that gradients neither vanish nor grow."""
    rng = np.random.default_rng(11)
    x, a = rng.uniform(0.5, 1.0, 1000), 1 + rng.uniform(-1e-5, 1e-5, 1000)
    return x.astype(np.float32), a.astype(np.float32)


def loop(tf, steps, kept):
    def loss(a, x):
        for _ in tf.range(steps):
            x = tf.sin(x) * a
        return tf.reduce_sum(x)

    x, a = given()
    return loss, [a], [x]


def autoloop_(al, steps, kept, variant):
    loss, [a], [x] = loop(al, steps, kept)
    both = al.function(al.value_and_grad(loss), executor=variant, gradient_memory=kept)
    a, x = al.constant(a), al.constant(x)
    return lambda: both(a, x)


def numpy_(_, steps, kept):
    first, a = given()
    between = 1 if kept == "save" else int(steps**0.5)

    def sweep(x, number):
        states = np.empty((number, len(x)), np.float32)
        for t in range(number):
            states[t] = x
            x = np.sin(x) * a
        return states, x

    def run():
        if between == 1:
            blocks, x = [], first
            states, x = sweep(x, steps)
        else:
            blocks, x = [], first
            for start in range(0, steps, between):
                blocks.append((x, min(between, steps - start)))
                for _ in range(blocks[-1][1]):
                    x = np.sin(x) * a
        g, ga = np.ones_like(x), np.zeros_like(x)
        parts = [states] if between == 1 else (sweep(*block)[0] for block in reversed(blocks))
        for states in parts:
            for state in states[::-1]:
                ga += g * np.sin(state)
                g = g * a * np.cos(state)
        return np.sum(x), ga

    return run


def jax_(jax, steps, kept):
    np_ = jax.numpy
    x, a = map(np_.asarray, given())
    inner = 1 if kept == "save" else int(steps**0.5)

    def loss(a, x):
        def step(x, _):
            return np_.sin(x) * a, None

        if inner == 1:
            return np_.sum(jax.lax.scan(step, x, length=steps)[0])
        block = jax.checkpoint(lambda x: jax.lax.scan(step, x, length=inner)[0])
        x = jax.lax.scan(lambda x, _: (block(x), None), x, length=steps // inner)[0]
        return np_.sum(jax.lax.scan(step, x, length=steps % inner)[0])

    both = jax.jit(jax.value_and_grad(loss))
    return lambda: both(a, x)


def tensorflow_(tf, steps, kept, variant):
    if kept != "save":
        raise NotImplementedError("TensorFlow saves")
    loss, [a], [x] = loop(tf, steps, kept)
    a, x = tf.constant(a), tf.constant(x)

    @tf.function(jit_compile=variant == "XLA")
    def both(a, x):
        with tf.GradientTape() as tape:
            tape.watch(a)
            value = loss(a, x)
        return value, tape.gradient(value, a)

    return lambda: both(a, x)


def torch_(torch, steps, kept):
    x, a = map(torch.from_numpy, given())
    a.requires_grad_()
    inner = 1 if kept == "save" else int(steps**0.5)

    def several(x, number):
        for _ in range(number):
            x = torch.sin(x) * a
        return x

    def run():
        if inner == 1:
            end = several(x, steps)
        else:
            end = x
            for start in range(0, steps, inner):
                number = min(inner, steps - start)
                end = torch.utils.checkpoint.checkpoint(several, end, number, use_reentrant=False)
        value = torch.sum(end)
        return value, torch.autograd.grad(value, a)[0]

    return run
