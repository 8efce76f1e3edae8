"""Small programs whose light kernels are run as batches, turns and loops as one, beside what takes long."""

from __future__ import annotations

import autoloop as al
import numpy as np
from api import Fails, Ownership, Plan, with_joined_steps
from flow import call, heavy, priced, probe
from test_batches import lowered_of

SLOW = heavy(lambda x: x + 1, "slow")
#: worth another thread, and never fails
LONG = probe(lambda x: x * 0.5 + 1, "long", traits=priced(1e9).but(fails=Fails.NEVER))


def slow(x):
    return call(SLOW, x)


def turn(n, window):
    """A counter that takes a variable along, beside two that take long, one of which light ones need."""

    def body(i, x, y, s, t, u):
        x, y = slow(x % 7), slow(y)
        return i + 1, x, y, s * 3 + i, t * 2 + x, u - x

    start = [al.constant(0), n, n + 1, n + 2, n + 3, n + 4]
    return al.while_loop(lambda i, *_: i < n, body, start, parallel_iterations=window)


def turns_in_turns(n, window):
    """A loop in a loop, each with a turn of its own; variables start as what does not change outside."""

    def inner(j, s, t, v):
        return j + 1, s * 2 + j, t + s + n, slow(v)

    def body(i, x, y, s, t):
        start = [al.constant(0), s * 1, al.constant(2), x]
        _, s, t, v = al.while_loop(lambda j, *_: j < 2, inner, start, parallel_iterations=window)
        return i + 1, v, slow(y), s % 91, t % 83

    start = [al.constant(0), n, n + 1, n + 2, n + 3]
    return al.while_loop(lambda i, *_: i < n - 1, body, start, parallel_iterations=window)


def untaken(n, window):
    """A loop in a branch that is taken in one iteration of three, beside what takes long."""

    def looped(x, y):
        def body(j, x, y, s, t):
            return j + 1, slow(x), slow(y), s * 2 + j, t + s

        start = [al.constant(0), x, y, x * 2, y + 1]
        return al.while_loop(lambda j, *_: j < 2, body, start, parallel_iterations=window)[1:]

    def body(i, x, y, s):
        a, b, c, d = al.cond(al.equal(i, 1), lambda: looped(x, y), lambda: [x, y, x, y])
        return i + 1, a, b, (s * 3 + i + c - d) % 101

    start = [al.constant(0), n, n + 1, n + 2]
    return al.while_loop(lambda i, *_: i < n, body, start, parallel_iterations=window)


def as_one(n, window):
    """A light loop, which is one step, beside what takes long."""

    def light(s):
        return al.while_loop(lambda j, s: j < 3, lambda j, s: (j + 1, s * 2 + j), [al.constant(0), s])[1]

    body = lambda i, x, y, s, t, u: (i + 1, slow(x), slow(y), light(s) % 97 + x, t * 2 + y, u + y - t)
    start = [al.constant(0), n, n, n + 1, n + 2, n + 3]
    return al.while_loop(lambda i, *_: i < n, body, start, parallel_iterations=window)


def late(n, window):
    """What is ready early and wanted late, by one batch."""

    def body(i, x, y, *rest):
        x, y = slow(x), slow(y)
        return i + 1, x, y, *[v * 3 % 97 + x for v in rest]

    start = [al.constant(0), n, n + 1, n + 2, n + 3]
    return al.while_loop(lambda i, *_: i < n, body, start, parallel_iterations=window)


def condition_late(n, window):
    """The condition needs what takes long: nothing goes ahead."""
    body = lambda i, x, y, s, t: (i + 1, slow(x), slow(y), s + x * 2, t + s * 3)
    start = [al.constant(0), n - 2, n, n, n + 1]
    return al.while_loop(lambda i, x, *_: x < n + 1, body, start, parallel_iterations=window)


def no_trip(n, window):
    """A loop that never runs, and one behind it."""
    body = lambda i, x, y, s, t: (i + 1, slow(x), slow(y), s + i, t + s)
    first = al.while_loop(lambda i, *_: i < 0, body, [al.constant(0), n, n, n, n + 1], parallel_iterations=window)
    rest = [first[1], first[2], first[3], first[4]]
    return al.while_loop(lambda i, *_: i < 2, body, [first[0], *rest], parallel_iterations=window)


BUILDS = [turn, late, condition_late, no_trip]
#: of which there are tens of thousands of states where iterations overlap
LARGE = [as_one, turns_in_turns, untaken]


def made(build, window, *inputs):
    return lowered_of(lambda *given: build(*given, window), *(inputs or ["int32"]))


def joined(lowered):
    """The plan of runs that nobody watches."""
    return Plan(with_joined_steps(lowered, Ownership())[0], None, None, lowered)


# -- failures ---------------------------------------------------------------------------------------------


def raising_at(value):
    def kernel(x):
        if x == value:
            raise ZeroDivisionError("what takes long")
        return x + 1

    return heavy(kernel, "raises")


def fails_in_a_turn(n, window, light, long):
    """In iteration ``light`` of a light kernel in the middle of a turn, in ``long`` of one that takes long."""
    x = al.constant(np.arange(3, dtype=np.int32))

    def body(i, s, t, y, z):
        return i + 1, s * 2 + x[i + 3 - light], t + s, call(raising_at(3 + long), y), slow(z) + s

    start = [al.constant(0), n, n + 1, n, n]
    return al.while_loop(lambda i, *_: i < 3, body, start, parallel_iterations=window)


def fails_in_what_waits(n, window, light, long):
    """The light one stands first, in a batch that waits for what takes long."""

    def kernel(x):
        if not light:
            raise IndexError("out of bounds")
        return x

    m = slow(n)
    early = call(probe(kernel, "early", traits=priced(500.0)), m)
    return call(raising_at(3 + long), m) + early, slow(n)


def fails_before_a_loop(n, window, light, long):
    """A loop that is one step stands behind what fails, and does not need it."""
    x = al.constant(np.arange(3, dtype=np.int32))

    def body(i, s, t, y, z):
        y, z = call(raising_at(3 + long), y), slow(z)
        t = t + x[i + 3 - light]
        inner = al.while_loop(lambda j, t: j < 5, lambda j, t: (j + 1, t * 2 + j), [al.constant(0), s])[1]
        return i + 1, inner % 97, t, y, z

    return al.while_loop(lambda i, *_: i < 3, body, [al.constant(0), n, n, n, n], parallel_iterations=window)


# -- machine code -----------------------------------------------------------------------------------------


def numbers(n, window):
    """Numbers beside two that take long, which travel packed."""

    def body(i, x, y, a, b, c, d):
        x, y = call(LONG, x), call(LONG, y)
        a, b = b * 0.5 + al.cast(i, al.float64), a - 1.0
        return i + 1, x, y, a, b, c * 0.25 + x, d * 0.5 + x * b

    start = [al.constant(0), *[al.cast(n, al.float64) + k for k in range(6)]]
    return al.while_loop(lambda i, *_: i < n, body, start, parallel_iterations=window)


def loop_of_batches(n, window):
    """A loop of batches and what takes long, which is one step, beside a light kernel that may fail."""
    before = al.constant(np.arange(4.0))[n] * 2.0

    def body(i, y, *rest):
        y = call(LONG, y)
        return i + 1, y, *[v * 0.5 + y * k for k, v in enumerate(rest)]

    start = [al.constant(0), *[al.constant(k * 0.5) for k in range(13)]]
    made = al.while_loop(lambda i, *_: i < n, body, start, parallel_iterations=window)
    return [before, *made, made[1] + before]


def untaken_loop_of_batches(n, window):
    return al.cond(n > 7, lambda: loop_of_batches(n, window), lambda: loop_of_batches(n - 1, window))
