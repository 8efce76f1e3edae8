"""Gradients of random programs of array writes are those that differences of the plain program tell."""

import random
import re
import warnings
from collections import Counter

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from random_array_programs import HEAD, arguments, program
from test_random_arrays import COUNTS, REFUSALS, at_most, compiled_world, shorter

#: a number made of what a program gives and leaves, and of its derivatives; `a` and `m` move
LOSS = """
def loss(a, m, b, i, c, flags, x, n):
    r = f(a, b, m, i, c, flags, x, n)
    total = (a * a).sum() * 0.1 + m.sum() * 0.3
    for one in r if isinstance(r, tuple) else (r,):
        total = total + np.sum(np.real(one) * 0.7)
    return total
"""
#: of what precision is too low for differences, or which grad does not take
LEFT_OUT = ("float32", "swapped", "read-only", "empty", "same", "view", "overlap")
STEP = 1e-6


def place(seed, layout, count):
    """Return new arguments of a program's loss, where no two elements are the same."""
    a, b, m, *others = arguments(layout, count)
    rng = np.random.default_rng(seed)
    for one in (a, b, m):
        one += rng.uniform(0, 0.1, one.shape)
    return [a, m, b, *others]


def along(f, given, towards):
    """Return how ``f`` changes in a direction of the first two arguments; None where it has a kink or is too large."""

    def value(step):
        own = given()
        for one, direction in zip(own, towards):
            one += step * direction
        return np.asarray(f(*own), float)

    before, here, after = value(-STEP), value(0.0), value(STEP)
    slopes = (after - here) / STEP, (here - before) / STEP
    if not np.isfinite(slopes).all() or np.abs(slopes).max() > 1e6 or np.abs(here).max() > 1e6:
        return None
    return (
        None
        if np.abs(slopes[0] - slopes[1]).max() > 1e-3 * (1 + np.abs(slopes[0]).max())
        else (after - before) / STEP / 2
    )


def verdict(text, layout, count, executor, seed=0):
    """Return "fine", "raises", "kink" or "refused", or "wrong", of a program's gradients, and why."""
    loss = compiled_world(text + LOSS, f"gradients {seed}")["loss"]
    directions = np.random.default_rng(seed)

    def given():
        return place(seed, layout, count)

    first, second = [[directions.uniform(-1, 1, one.shape) for one in given()[:2]] for _ in range(2)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = along(loss, given, first)
        except Exception as error:
            return "raises", repr(error)
        if wanted is None:
            return "kink", ""
        own, slope = given(), al.grad(al.function(loss, executor=executor), argnums=(0, 1))
        try:
            found = slope(*own)
        except REFUSALS as error:
            return "refused", f"{type(error).__name__}: {error}"
        if not all(map(np.array_equal, own[:2], given()[:2])):
            return "wrong", f"leaves {own[:2]}"
        ours = sum([(one * towards).sum() for one, towards in zip(found, first)])
        if not np.isclose(ours, wanted, rtol=1e-5, atol=1e-5):
            return "wrong", f"grows by {ours}, not {wanted}"

        def summed(*values):
            return sum([(one * towards).sum() for one, towards in zip(slope(*values), first)])

        try:
            wanted = along(summed, given, second)
            if wanted is None:
                return "kink", ""
            found = al.grad(al.function(summed, executor=executor), argnums=(0, 1))(*given())
        except REFUSALS as error:
            return "refused", f"{type(error).__name__}: {error}"
        ours = sum([(one * towards).sum() for one, towards in zip(found, second)])
    if not np.isclose(ours, wanted, rtol=1e-4, atol=1e-4):
        return "wrong", f"the second derivative is {ours}, not {wanted}"
    return "fine", ""


def checked(seed, executors):
    """Check one program; return the reason of a refusal, or what else became of it."""
    choices = random.Random(seed)
    text, layout = program(choices)
    if layout in LEFT_OUT or "float32" in text:
        return "left out"
    count, executor = choices.choice(COUNTS), choices.choice(executors)
    what, why = verdict(text, layout, count, executor, seed)
    if what == "wrong":
        with at_most(300):
            text = shorter(text, lambda t: verdict(t, layout, count, executor, seed)[0] == "wrong")
        why = verdict(text, layout, count, executor, seed)[1]
        pytest.fail(f"{seed} {layout} {count!r} {executor}\n{text[text.index(HEAD) :]}{why}")
    return re.sub(r"'[^']*'|\d+", "_", why)[:100] if what == "refused" else what


def test_gradients_of_random_programs():
    found = Counter(checked(seed, ("sequential", "sequential", "dataflow")) for seed in range(3_000_000, 3_000_012))
    assert found["fine"] > (found.total() - found["left out"]) * 0.7, found.most_common()


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(8))
def test_gradients_of_many_random_programs(chunk):
    found = Counter(checked(seed, EXECUTORS) for seed in range(250 * chunk, 250 * chunk + 250))
    assert found["fine"] > (found.total() - found["left out"]) * 0.7, found.most_common()
