"""A loop per pixel, masked: Mandelbrot's set, until no pixel is left or the turns are over."""

import numpy as np

TITLE, UNIT = "Mandelbrot set, 300×200 pixels, float32, at most 80 turns", "ms"
CASES = {"": {"width": 300, "height": 200, "most": 80}}
QUICK = {"width": 30, "height": 20}
#: a pixel at the border may be counted in by one and out by another
EQUAL = 0.995


def given(width, height):
    x, y = np.meshgrid(np.linspace(-2, 0.6, width), np.linspace(-1.1, 1.1, height))
    return x.astype(np.float32), y.astype(np.float32)


def turn(xp, x, y, cx, cy, alive, turns):
    x2, y2 = x * x, y * y
    alive = alive & (x2 + y2 <= 4)
    # what is out stays where it is
    return xp.where(alive, x2 - y2 + cx, x), xp.where(alive, 2 * x * y + cy, y), alive, turns + alive


def loop(tf, width, height, most):
    def run(cx, cy):
        x, y = tf.zeros_like(cx), tf.zeros_like(cy)
        alive, turns = cx < 9.0, tf.zeros_like(cx)
        i = tf.constant(0)
        while i < most and tf.reduce_any(alive):
            x2, y2 = x * x, y * y
            alive = alive & (x2 + y2 <= 4.0)
            x, y = tf.where(alive, x2 - y2 + cx, x), tf.where(alive, 2.0 * x * y + cy, y)
            turns += tf.cast(alive, tf.float32)
            i += 1
        return turns

    return run, given(width, height), []


def by_hand(xp, cx, cy, zeros, most):
    def run():
        x = y = turns = zeros
        alive, i = cx < 9, 0
        while i < most and alive.any():
            x, y, alive, turns = turn(xp, x, y, cx, cy, alive, turns)
            i += 1
        return turns

    return run


def numpy_(_, width, height, most):
    cx, cy = given(width, height)
    return by_hand(np, cx, cy, np.zeros_like(cx), most)


def torch_(torch, width, height, most):
    cx, cy = map(torch.from_numpy, given(width, height))
    return by_hand(torch, cx, cy, torch.zeros_like(cx), most)


def numba_(numba, width, height, most):
    cx, cy = given(width, height)

    @numba.njit
    def run(cx, cy):
        turns = np.zeros_like(cx)
        for r in range(cx.shape[0]):
            for c in range(cx.shape[1]):
                x = y = np.float32(0)
                for _ in range(most):
                    x2, y2 = x * x, y * y
                    if x2 + y2 > 4:
                        break
                    x, y = x2 - y2 + cx[r, c], 2 * x * y + cy[r, c]
                    turns[r, c] += 1
        return turns

    return lambda: run(cx, cy)


def jax_(jax, width, height, most):
    cx, cy = map(jax.numpy.asarray, given(width, height))

    @jax.jit
    def run(cx, cy):
        zeros = jax.numpy.zeros_like(cx)

        def again(state):
            return (state[0] < most) & state[3].any()

        def body(state):
            i, x, y, alive, turns = state
            return i + 1, *turn(jax.numpy, x, y, cx, cy, alive, turns)

        return jax.lax.while_loop(again, body, (0, zeros, zeros, cx < 9, zeros))[4]

    return lambda: run(cx, cy)
