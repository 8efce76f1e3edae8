"""A long ``while`` that counts by a Python int is a loop of the graph, with the result that it has written out."""

import linecache
import math
import zlib

import autoloop as al
import numpy as np
import pytest
from autoloop import left_to_python
from autoloop.operators.constructs import long_ranges, while_statement
from hypothesis import given, settings, strategies
from test_long_ranges import outcome, same


def while_counting(a):
    i, n = 0, 40
    while i < n:
        a[i % 9] = a[i % 9] * 0.9 + i
        i += 1
    return a[0], i


def while_through_a_length(a):
    i, x = 3, a[0]
    while i <= len(a) * 25 - 1:
        i += 2
        if i % 3 == 0:
            continue
        x = x * 0.9 + a[i % 9] * i
    else:
        x = x + 1.0
    return x, i


def while_down(a):
    i, x = 150, a[0]
    while i > a.shape[0] - 9:
        x, i = x * 0.5 + a[i % 9], i - 2
    return x, i


def while_unequal(a):
    i, x = -60, 0.0
    while i != 30:
        x = x * 0.5 + a[i % 9, i % 7] * i
        i += 3
    return x, i, type(i)


def while_inside(a):
    i, x = 0, a[0]
    while i < 40:
        j = 0
        while j < i % 3 + 2:
            x = x * 0.9 + a[j] * i
            j += 1
        i += 1
    return x, i, j


def while_with_another(a):
    i, x = 0, a[0]
    while i < 40:
        j = 0
        while j < 30:
            x = x * 0.9 + a[j % 9] * i
            j += 1
        i += 1
    return x, i, j


def while_even(a):
    i, x = 0, a[0]
    while i < 40:
        x = x * 0.9 + a[i % 9]
        i += 1 if i < 20 else 2
    return x, i


def while_left(a):
    i, x = 0, a[0]
    while i < 40:
        x = x * 0.9 + a[i % 9]
        if i == 33:
            break
        i += 1
    return x, i


def while_limit_moves(a):
    i, n, x = 0, 40, a[0]
    while i < n:
        x = x * 0.9 + a[i % 9]
        if i == 30:
            n = 35
        i += 1
    return x, i, n


def while_with_sum(a):
    i, s, x = 0, 0, a[0]
    while i < 40:
        i, s = i + 1, s + i
        x = x * 0.9 + a[s % 9]
    return x, i, s


def while_beyond_64_bits(a):
    i, x = (1 << 63) - 50, a[0]
    while i < 1 << 63:
        x = x * 0.9 + a[i % 9]
        i += 1
    return x, i


ASKED = []


def noted(i):
    ASKED.append(i)
    return i


def while_asking(a):
    i, x = 0, a[0]
    ASKED.clear()
    while noted(i) < 40:
        x, i = x * 0.9 + a[i % 9], i + 1
    return x, i, np.array(ASKED)


def while_kept(a):
    i, x, every = 0, a[0], []
    while i < 40:
        i += 1
        x = x * 0.9 + a[i % 9]
        every.append(i)
    return x, np.array(every)


def while_raising(a):
    i = 0
    while i < 40:
        a[0] *= 0.9
        if i == 31:
            raise ValueError(i)
        i += 1
    return a


#: those of which the rest is a loop of the graph, by themselves
COUNTED = (while_counting, while_through_a_length, while_down, while_unequal, while_raising, while_with_another)
WHILES = (
    *COUNTED, while_inside, while_even, while_left, while_limit_moves, while_with_sum, while_beyond_64_bits,
    while_asking, while_kept,
)  # fmt: skip


def decide(patch, most):
    """Let loops be of the graph if they would be written out as more nodes than these; if less than 0, all that can."""
    patch.setattr(long_ranges, "MOST", most)
    patch.setattr(left_to_python, "MOST_TRACED", 10**6)
    if most < 0:
        patch.setattr(long_ranges, "LEAST", 1)
        patch.setattr(while_statement, "FIRST_LOOK", 1)
        patch.setattr(while_statement, "GROWN", 0)


@pytest.mark.parametrize("most", [-1, long_ranges.MOST, 10**6])
@pytest.mark.parametrize("f", WHILES, ids=[f.__name__ for f in WHILES])
def test_the_result_does_not_depend_on_what_is_decided(f, most, monkeypatch):
    decide(monkeypatch, most)
    a = np.random.default_rng(3).random((9, 9))
    assert same(outcome(f, a), outcome(al.function(f, executor="sequential"), a))


@pytest.mark.parametrize("f", WHILES, ids=[f.__name__ for f in WHILES])
def test_a_while_that_counts_is_a_loop_of_the_graph(f):
    """And one that only looks like that is not: how far it goes is known to its turns alone."""
    said = str(al.explain(f, np.random.default_rng(3).random((9, 9))))
    assert ("counts through a long Python range" in said) == (f in COUNTED)


def written(source):
    """Return the function ``f`` of a source."""
    namespace = {"math": math}
    name = f"<while {zlib.crc32(source.encode())}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


COMPARISONS = ["i < n", "i <= n", "n > i", "i > n", "i >= n", "i != n", "i < n and x.sum() < 1e9", "i", "not i > n"]
STEPS = ["i += s", "i = s + i", "i -= s", "i = i + s if x.size else 0", "i, k = i + s, i"]
BODIES = ["x = x * 0.9 + i", "x[i % 3] += i * 0.5", "x = x + (i if i % 2 else k)", "k = i"]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    strategies.sampled_from(COMPARISONS), strategies.sampled_from(STEPS), strategies.sampled_from(BODIES),
    strategies.booleans(), strategies.integers(-9, 9), strategies.integers(-60, 60),
    strategies.sampled_from([1, 2, 3, -1, -2]),
)  # fmt: skip
def test_any_while_over_numbers(test, step, body, is_first, start, n, s):
    lines = [step, body] if is_first else [body, step]
    source = (
        f"def f(x):\n    i, n, s, k, turns = {start}, {n}, {s}, 0, 0\n    while {test}:\n"
        + "".join(f"        {line}\n" for line in lines)
        + "        if abs(i) > 200:\n            return 'far', i, k, x\n    return i, k, x\n"
    )
    f, a = written(source), np.array([1.0, 2.0, 3.0])
    wanted = outcome(f, a)
    for most in (-1, 10**6):
        with pytest.MonkeyPatch.context() as patch:
            decide(patch, most)
            assert same(wanted, outcome(al.function(f, executor="sequential"), a)), source


#: what is made of a number that counts from 0 to 98, and whether an int of 64 bits holds all of it
MADE_OF_COUNTS = [
    ("i**12", False), ("i*i*i*i*i*i*i*i*i*i*i", False), ("i*10**17*7", False), ("2**i", False), ("1 << i", False),
    ("2**-i", False), ("(-i)**11", False), ("((i - 50.0)**0.5).real", False), ("(i**12 if i > 50 else 1)", False),
    ("float(i**11)", False), ("int(i * 1e18)", False), ("math.comb(99, i)", False), ("max(i, 3)**10", False),
    ("i**3", True), ("(i + 1)*(i + 2)", True), ("(-1)**i", True), ("0.5**i", True), ("(i * 0.1)**0.5", True),
    ("(i % 5)**9", True), ("2**(i // 2)", True), ("10**15 * i", True),
]  # fmt: skip


@pytest.mark.parametrize(("made", "holds"), MADE_OF_COUNTS, ids=[made for made, _ in MADE_OF_COUNTS])
def test_what_an_int_of_a_graph_does_not_hold_is_written_out(made, holds):
    a = np.linspace(1.0, 2.0, 99)
    for head, step in (("for i in range(99):", "pass"), ("i = 0\n    while i != 99:", "i += 1")):
        f = written(
            f"def f(a):\n    x = a[0]\n    {head}\n        x = x * 0.5 + a[i] * ({made})\n        {step}\n"
            "    return x\n"
        )
        decorated = al.function(f, executor="sequential")
        assert same(f(a), decorated(a))
        assert ("long Python range" in str(al.explain(f, a))) == holds


def test_derivatives_of_it():
    def mean(x):
        k = 0
        while k < 2_000:
            x = x * 0.999 + 0.001 * k
            k += 1
        return x.sum()

    np.testing.assert_allclose(al.grad(mean)(np.ones(2)), np.full(2, 0.999**2_000))


def test_the_user_decides():
    def scaled(x):
        k = 0
        while k < 200:
            al.set_loop_options(unroll=True)
            x = x * 0.5 + k
            k += 1
        return x

    x = np.array([1.0, 2.0])
    assert "unrolled" in str(al.explain(scaled, x)) and np.array_equal(al.function(scaled)(x), scaled(x))
