"""Ctrl-C in the middle of one long operation of machine code."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from api import (
    argsort,
    cholesky,
    einsum,
    inv,
    lapack_calls,
    linalg_rules,
    matmul,
    products,
    searchsorted,
    solve,
    sort,
    while_loop,
)
from api import sorting_rules as sorting
from native_checks import compile_native, graph_of

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")

RANDOM = np.random.default_rng(3)
LINE = RANDOM.standard_normal(1_000_000)
ROWS = RANDOM.standard_normal((300, 5000))
SQUARE = RANDOM.standard_normal((1300, 1300)).astype(np.float32)
INTEGERS = RANDOM.integers(-9, 9, (700, 700))
STACK = RANDOM.standard_normal((100, 300, 300))
WIDE = RANDOM.integers(-9, 9, (60, 1000)), RANDOM.integers(-9, 9, (1000, 5000))
CASES = {
    "sort": (sort, [LINE]),
    "argsort": (argsort, [LINE]),
    "sort of rows": (lambda x: sort(x, -1), [ROWS]),
    "descending sort of columns": (lambda x: argsort(x, 0, descending=True), [ROWS]),
    "search": (lambda x, y: searchsorted(x, y, side="right"), [np.sort(LINE), LINE[:200_000].reshape(5, -1)]),
    "product": (lambda x: matmul(x, x), [SQUARE]),
    "product of integers": (lambda x: matmul(x, x), [INTEGERS]),
    "product of few rows": (matmul, list(WIDE)),
    "products": (lambda x: matmul(x, x), [STACK]),
    "factors": (lambda x: solve(x, x[0]), [SQUARE]),
    "Cholesky factor": (cholesky, [np.cov(SQUARE) + np.eye(1300)]),
    "right sides": (lambda x: inv(x), [SQUARE]),
    "systems": (lambda x: inv(x), [STACK[:, :60, :60].repeat(4, 0)]),
    "einsum": (lambda x: einsum("ij,jk,ki->ik", x, x, x), [SQUARE[:500, :500]]),
}


@pytest.fixture
def often(monkeypatch):
    """As if these operations took a hundred times as long."""
    monkeypatch.setattr(sorting, "STEPS", 1 << 16)
    monkeypatch.setattr(sorting, "SEARCHES", 1 << 16)
    monkeypatch.setattr(products, "FLOATS", 1 << 28)
    monkeypatch.setattr(products, "INTEGERS", 1 << 21)
    monkeypatch.setattr(lapack_calls, "FLOATS", 1 << 25)
    monkeypatch.setattr(linalg_rules, "INTEGERS", 1 << 21)


def seconds(run, values):
    """The processor's time that it takes, and what comes of it."""
    begin = time.process_time()
    try:
        result = run(values)[0]
    except KeyboardInterrupt:
        result = None
    return time.process_time() - begin, result


@pytest.mark.parametrize("build, values", CASES.values(), ids=CASES)
def test_a_long_operation_stops_in_its_middle(often, build, values):
    run = compile_native(graph_of(build, *values))
    whole, expected = seconds(run, values)
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, whole / 10)  # of the processor's time: whatever else runs is not counted
        stopped, result = seconds(run, values)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert result is None and stopped < whole / 2
    np.testing.assert_array_equal(run(values)[0], expected)


@pytest.mark.parametrize("build, values", CASES.values(), ids=CASES)
def test_what_asks_gives_what_does_not(often, monkeypatch, build, values):
    asking = compile_native(graph_of(build, *values))(values)[0]
    for module, name in [
        (sorting, "STEPS"), (sorting, "SEARCHES"), (products, "FLOATS"), (products, "INTEGERS"),
        (lapack_calls, "FLOATS"), (linalg_rules, "INTEGERS"),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, 1 << 60)
    quiet = compile_native(graph_of(build, *values))(values)[0]
    if quiet.dtype.kind == "f" and build is not sort:
        np.testing.assert_allclose(asking, quiet, rtol=1e-3 if quiet.dtype == np.float32 else 1e-9, atol=1e-3)
    else:
        np.testing.assert_array_equal(asking, quiet)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 63, 64, 65, 1000, 4097])
def test_a_long_sort_at_every_edge(monkeypatch, size):
    """With questions in the middle of every merge."""
    monkeypatch.setattr(sorting, "STEPS", 5)
    run = compile_native(graph_of(lambda x: [sort(x), argsort(x)], np.ones(size)))
    numbers = np.arange(size) * 1.0
    for x in (
        RANDOM.integers(0, 50, size).astype(float), np.ones(size), numbers, -numbers,
        np.where(RANDOM.random(size) < 0.3, np.nan, RANDOM.random(size)),
    ):  # fmt: skip
        values, places = run([x])
        np.testing.assert_array_equal(values, np.sort(x))
        np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


def test_a_loop_of_sorts_stops_too():
    """It knows how long a sort takes."""
    run = compile_native(
        graph_of(
            lambda x, n: while_loop(lambda i, x: i < n, lambda i, x: (i + 1, sort(x[::-1] * 1.5)), (0, x))[1],
            LINE[:100_000], np.int32(1),
        )
    )  # fmt: skip
    once, _ = seconds(run, [LINE[:100_000], np.int32(10)])
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, once / 10)
        stopped, result = seconds(run, [LINE[:100_000], np.int32(10_000)])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert result is None and stopped < 20 * once  # of a thousand
