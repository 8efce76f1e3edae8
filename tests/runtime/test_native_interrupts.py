"""Ctrl-C in the middle of one long operation of machine code."""

from __future__ import annotations

import ctypes
import signal
import time
from functools import cache

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
    native_call,
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


@cache
def line(size=300_000):
    return RANDOM.standard_normal(size)


@cache
def square(size=1100):
    return RANDOM.standard_normal((size, size)).astype(np.float32)


@cache
def stack():
    return RANDOM.standard_normal((48, 300, 300))


def integers(*shape):
    return RANDOM.integers(-9, 9, shape)


def exact_product(x, y):
    """Small integers are exact as doubles, whose product is soon done."""
    return (x.astype(float) @ y.astype(float)).astype(x.dtype)


#: what is done, what makes its arguments, and what NumPy makes of them
CASES = {
    "sort": (sort, lambda: [line()], np.sort),
    "argsort": (argsort, lambda: [line()], lambda x: np.argsort(x, kind="stable")),
    "sort of rows": (lambda x: sort(x, -1), lambda: [RANDOM.standard_normal((150, 5000))], np.sort),
    "descending sort of columns": (
        lambda x: argsort(x, 0, descending=True),
        lambda: [RANDOM.standard_normal((150, 5000))],
        lambda x: np.argsort(-x, 0),
    ),
    "search": (
        lambda x, y: searchsorted(x, y, side="right"),
        lambda: [np.sort(line()), line(80_000).reshape(5, -1)],
        lambda x, y: np.searchsorted(x, y, "right"),
    ),
    "product": (lambda x: matmul(x, x), lambda: [square()], lambda x: x @ x),
    "product of integers": (lambda x: matmul(x, x), lambda: [integers(700, 700)], lambda x: exact_product(x, x)),
    "product of few rows": (
        matmul,
        lambda: [integers(60, 1000), integers(1000, 5000)],
        lambda x, y: exact_product(x, y),
    ),
    "products": (lambda x: matmul(x, x), lambda: [stack()], lambda x: x @ x),
    "einsum": (lambda x: einsum("ij,jk,ki->ik", x, x, x), lambda: [square(500)], lambda x: (x @ x) * x.T),
}
#: the modules' measures of how much is done between two questions
PACES = [
    (sorting, "STEPS"), (sorting, "SEARCHES"), (products, "FLOATS"), (products, "INTEGERS"),
]  # fmt: skip


@pytest.fixture
def often(monkeypatch):
    """As if these operations took a hundred times as long."""
    monkeypatch.setattr(sorting, "STEPS", 1 << 16)
    monkeypatch.setattr(sorting, "SEARCHES", 1 << 16)
    monkeypatch.setattr(products, "FLOATS", 1 << 27)
    monkeypatch.setattr(products, "INTEGERS", 1 << 21)


def seconds(run, values, interrupt=0.0):
    """The processor's time that it takes, and what comes of it: nothing if it is interrupted after so many seconds."""
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    begin = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, interrupt)  # of the processor's time: whatever else runs is not counted
        result = run(values)[0]
    except KeyboardInterrupt:
        result = None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.process_time() - begin, result


def assert_same(got, want, is_exact):
    assert got.dtype == want.dtype
    if is_exact:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-3 if want.dtype == np.float32 else 1e-9, atol=1e-3)


cases = pytest.mark.parametrize("build, made, numpy", CASES.values(), ids=CASES)


@cases
def test_a_long_operation_stops_in_its_middle(often, build, made, numpy):
    values = made()
    run = compile_native(graph_of(build, *values))
    whole, expected = seconds(run, values)
    for left in range(4, -1, -1):  # threads that wait for a processor are at work, too, so one try tells little
        stopped, result = seconds(run, values, whole / 10)
        assert result is None
        if stopped < whole / 2:
            break
        assert left
    np.testing.assert_array_equal(run(values)[0], expected)
    assert_same(expected, numpy(*values), expected.dtype.kind == "i" or build is sort)


@pytest.mark.nightly
@cases
def test_what_never_asks_gives_the_same(often, monkeypatch, build, made, numpy):
    values = made()
    expected = compile_native(graph_of(build, *values))(values)[0]
    for module, name in PACES:
        monkeypatch.setattr(module, name, 1 << 60)
    quiet = compile_native(graph_of(build, *values))(values)[0]
    assert_same(expected, quiet, expected.dtype.kind == "i" or build is sort)


@pytest.mark.parametrize(
    "size", [0, 8, 9, 65, *[pytest.param(n, marks=pytest.mark.nightly) for n in (1, 7, 63, 64, 1000, 4097)]]
)
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


@pytest.fixture
def asked(monkeypatch):
    """How often it was asked whether the user wants to stop: a list that grows."""
    questions: list[None] = []

    @ctypes.PYFUNCTYPE(ctypes.c_int)
    def check_signals():
        questions.append(None)
        return 0

    address = ctypes.cast(check_signals, ctypes.c_void_p).value
    make = native_call.compile_ir
    monkeypatch.setattr(
        native_call, "compile_ir",
        lambda ir, addresses, cache: make(ir, addresses | {"PyErr_CheckSignals": address}, None),
    )  # fmt: skip
    yield questions  # which keeps the function


@pytest.mark.parametrize("op", [sort, argsort])
def test_no_stretch_of_a_sort_goes_unasked(monkeypatch, asked, op):
    """Not what is only copied, either: on the way in, at the end of a merge, on the way out."""
    n, most = 1 << 15, 1 << 10
    monkeypatch.setattr(sorting, "STEPS", most)
    run = compile_native(graph_of(op, line(n)))
    passes = (n // 8).bit_length() - 1  # merges of runs of 8
    copies = 2 if op is sort else 3  # to the keys (with their places), and to the result
    work = n * (2 + passes + copies)
    for kind, values in {"random": line(n), "sorted": np.arange(n) * 1.0, "backwards": np.arange(n) * -1.0}.items():
        asked.clear()
        result = run([values])[0]
        np.testing.assert_array_equal(result, np.sort(values) if op is sort else np.argsort(values, kind="stable"))
        assert work / (2 * most) < len(asked), kind
        assert len(asked) < 2 * work / most, kind  # asking takes time, too


@pytest.mark.parametrize(
    "build, made, least",
    [
        (lambda x: solve(x, x[0]), lambda: square(160), 4),
        (cholesky, lambda: np.cov(square(160)) + np.eye(160), 4),
        (inv, lambda: square(160), 4 + 160),
        (inv, lambda: stack()[:10, :30, :30], 10),
    ],
    ids=["factors", "Cholesky factor", "right sides", "systems"],
)
def test_factors_ask_between_their_pieces(monkeypatch, asked, build, made, least):
    pytest.importorskip("scipy")
    monkeypatch.setattr(lapack_calls, "FLOATS", 1)
    monkeypatch.setattr(lapack_calls, "LEAST", 32)
    monkeypatch.setattr(linalg_rules, "INTEGERS", 1 << 14)
    monkeypatch.setattr(linalg_rules, "LARGE_WITH_MANY", 100)
    values = made()
    compile_native(graph_of(build, values))([values])
    assert len(asked) >= least


def test_a_loop_of_sorts_stops_too():
    """It knows how long a sort takes."""
    run = compile_native(
        graph_of(
            lambda x, n: while_loop(lambda i, x: i < n, lambda i, x: (i + 1, sort(x[::-1] * 1.5)), (0, x))[1],
            line(100_000), np.int32(1),
        )
    )  # fmt: skip
    once, _ = seconds(run, [line(100_000), np.int32(10)])
    stopped, result = seconds(run, [line(100_000), np.int32(10_000)], once / 10)
    assert result is None and stopped < 20 * once  # of a thousand
