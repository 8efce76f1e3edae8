"""Ctrl-C in the middle of one long operation of machine code."""

from __future__ import annotations

import ctypes
import os
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
    linked_code,
    matmul,
    native_call,
    products,
    quick_sort,
    searchsorted,
    shared_libraries,
    solve,
    sort,
    while_loop,
)
from api import sorting_rules as sorting
from native_checks import compile_native, graph_of
from optimisation import translated

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a C library that all share")

RANDOM = np.random.default_rng(3)


@cache
def line(size=300_000):
    return RANDOM.standard_normal(size)


@cache
def square(size=1000):
    return RANDOM.standard_normal((size, size)).astype(np.float32)


@cache
def stack():
    return RANDOM.standard_normal((32, 300, 300))


def integers(*shape):
    return RANDOM.integers(-9, 9, shape)


def exact_product(x, y):
    """Small integers are exact as doubles, whose product is soon done."""
    return (x.astype(float) @ y.astype(float)).astype(x.dtype)


def quickly(x):
    return np.sort(x)


#: what is done, what makes its arguments, and what NumPy makes of them
CASES = {
    "sort": (sort, lambda: [line()], np.sort),
    "sort in place": (quickly, lambda: [line()], np.sort),
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
        lambda: [integers(60, 1000), integers(1000, 2500)],
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


class Questions:
    """What machine code calls in place of ``PyErr_CheckSignals``: counts, has a look at the clock and passes it on.

    A Python function could not: it would hear of the interrupt itself.
    """

    MOST = 10_000
    CODE = """
        declare i32 @PyErr_CheckSignals()
        declare void @PyErr_SetInterrupt()
        declare i64 @clock()
        define i32 @{name}() {
          %counts = inttoptr i64 COUNTS to ptr
          %before = load i64, ptr %counts
          %count = add i64 %before, 1
          store i64 %count, ptr %counts
          %time = call i64 @clock()
          %place = call i64 @llvm.umin.i64(i64 %count, i64 LAST)
          %times = getelementptr i64, ptr %counts, i64 2
          %here = getelementptr i64, ptr %times, i64 %place
          store i64 %time, ptr %here
          %wanted_at = getelementptr i64, ptr %counts, i64 1
          %wanted = load i64, ptr %wanted_at
          %is_now = icmp eq i64 %count, %wanted
          br i1 %is_now, label %interrupt, label %ask
        interrupt:
          call void @PyErr_SetInterrupt()
          br label %ask
        ask:
          %answer = call i32 @PyErr_CheckSignals()
          ret i32 %answer
        }
        declare i64 @llvm.umin.i64(i64, i64)
        """

    def __init__(self, compile_ir):
        self.counts = np.zeros(self.MOST + 2, np.int64)
        ir = self.CODE.replace("COUNTS", str(self.counts.ctypes.data)).replace("LAST", str(self.MOST - 1))
        self._code = compile_ir(ir, self._addresses("PyErr_CheckSignals", "PyErr_SetInterrupt", "clock"), None)

    @staticmethod
    def _addresses(*names):
        return {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in names}

    @property
    def address(self):
        return self._code.address

    @property
    def count(self):
        return int(self.counts[0])

    @property
    def interrupted_at(self):
        return int(self.counts[1])

    def begin(self, interrupted_at=0):
        """Count from zero; at this question the user has pressed Ctrl-C."""
        self.counts[:2] = 0, interrupted_at
        self.counts[2] = self._clock()

    def stretches(self):
        """The processor's time between two questions, from the beginning until now."""
        times = self.counts[2:][: self.count + 1]
        assert self.count < self.MOST
        return np.diff(times, append=self._clock())

    @staticmethod
    def _clock():
        clock = ctypes.pythonapi.clock
        clock.restype = ctypes.c_long
        return clock()


@pytest.fixture
def questions(monkeypatch):
    make = native_call.compile_ir
    made = Questions(make)
    for room in (native_call, linked_code):
        monkeypatch.setattr(
            room, "compile_ir",
            lambda ir, addresses, cache: make(ir, addresses | {"PyErr_CheckSignals": made.address}, None),
        )  # fmt: skip
    return made


def assert_same(got, want, is_exact):
    assert got.dtype == want.dtype
    if is_exact:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-3 if want.dtype == np.float32 else 1e-9, atol=1e-3)


cases = pytest.mark.parametrize("build, made, numpy", CASES.values(), ids=CASES)


@cases
def test_a_long_operation_stops_in_its_middle(often, questions, build, made, numpy):
    """At the question at which the interrupt is there; and no stretch between two questions is half of the whole."""
    values = made()
    run = compile_native(graph_of(build, *values))
    for left in range(4, -1, -1):  # the processor's time, which also depends on who else is at work
        questions.begin()
        expected = run(values)[0]
        stretches = questions.stretches()
        if stretches.max() < stretches.sum() / 2:
            break
        assert left
    questions.begin(interrupted_at=questions.count // 2)
    with pytest.raises(KeyboardInterrupt):
        run(values)
    assert questions.count == questions.interrupted_at > 1
    questions.begin()
    np.testing.assert_array_equal(run(values)[0], expected)
    assert_same(expected, numpy(*values), expected.dtype.kind == "i" or build in (sort, quickly))


@pytest.mark.nightly
@cases
def test_what_never_asks_gives_the_same(often, monkeypatch, build, made, numpy):
    values = made()
    expected = compile_native(graph_of(build, *values))(values)[0]
    for module, name in PACES:
        monkeypatch.setattr(module, name, 1 << 60)
    quiet = compile_native(graph_of(build, *values))(values)[0]
    assert_same(expected, quiet, expected.dtype.kind == "i" or build in (sort, quickly))


@pytest.mark.parametrize(
    "size", [0, 8, 9, 65, *[pytest.param(n, marks=pytest.mark.nightly) for n in (1, 7, 63, 64, 1000, 4097)]]
)
def test_a_long_sort_at_every_edge(monkeypatch, size):
    """With questions in the middle of every merge."""
    monkeypatch.setattr(sorting, "STEPS", 5)
    with translated(size != 65):  # that many have all there is
        run = compile_native(graph_of(lambda x: [sort(x), argsort(x), np.sort(x)], np.ones(size)))
    numbers = np.arange(size) * 1.0
    for x in (
        RANDOM.integers(0, 50, size).astype(float), np.ones(size), numbers, -numbers,
        np.where(RANDOM.random(size) < 0.3, np.nan, RANDOM.random(size)),
    ):  # fmt: skip
        values, places, in_place = run([x])
        np.testing.assert_array_equal(values, np.sort(x))
        np.testing.assert_array_equal(in_place, np.sort(x))
        np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


@pytest.mark.parametrize("op", [sort, argsort])
def test_no_stretch_of_a_sort_goes_unasked(monkeypatch, questions, op):
    """Not what is only copied, either: on the way in, at the end of a merge, on the way out."""
    n, most = 1 << 15, 1 << 10
    monkeypatch.setattr(sorting, "STEPS", most)
    run = compile_native(graph_of(op, line(n)))
    passes = (n // 8).bit_length() - 1  # merges of runs of 8
    copies = 2 if op is sort else 3  # to the keys (with their places), and to the result
    work = n * (2 + passes + copies)
    for kind, values in {"random": line(n), "sorted": np.arange(n) * 1.0, "backwards": np.arange(n) * -1.0}.items():
        questions.begin()
        result = run([values])[0]
        np.testing.assert_array_equal(result, np.sort(values) if op is sort else np.argsort(values, kind="stable"))
        assert work / (2 * most) < questions.count, kind
        assert questions.count < 2 * work / most, kind  # asking takes time, too


@pytest.mark.parametrize("by_vectors", [False, True])
def test_no_stretch_of_a_sort_in_place_goes_unasked(monkeypatch, questions, by_vectors):
    n, most = 1 << 15, 1 << 10
    if not by_vectors:
        monkeypatch.setattr(shared_libraries.Libraries, "vector_sort", lambda self, t: None)
    monkeypatch.setattr(sorting, "STEPS", most)
    values = {"random": line(n), "sorted": np.arange(n) * 1.0, "few": np.arange(n) % 2.0}
    run = compile_native(graph_of(quickly, values["random"]))
    least = 3 if by_vectors else 8  # where there are vectors
    for kind, divisions in {"random": (least, 24), "sorted": (least, 24), "few": (1, 5)}.items():
        questions.begin()
        np.testing.assert_array_equal(run([values[kind]])[0], np.sort(values[kind]))
        fewest, most_of_them = (n * (2 + k) // most for k in divisions)  # nan, the copy
        assert fewest / 2 < questions.count < 2 * most_of_them, kind
    monkeypatch.setattr(quick_sort, "_DEEPEST", 0)
    questions.begin()
    compile_native(graph_of(quickly, values["few"]))([values["few"]])
    assert questions.count > n * 32 / most  # one heap


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
def test_factors_ask_between_their_pieces(monkeypatch, questions, build, made, least):
    pytest.importorskip("scipy")
    monkeypatch.setattr(lapack_calls, "FLOATS", 1)
    monkeypatch.setattr(lapack_calls, "LEAST", 32)
    monkeypatch.setattr(linalg_rules, "INTEGERS", 1 << 14)
    monkeypatch.setattr(linalg_rules, "LARGE_WITH_MANY", 100)
    values = made()
    with translated():  # their code is optimised where its numbers are compared, in test_native_linalg.py
        run = compile_native(graph_of(build, values))
    questions.begin()
    run([values])
    assert questions.count >= least


def test_a_loop_of_sorts_stops_too(questions):
    """It knows how long a sort takes."""
    run = compile_native(
        graph_of(
            lambda x, n: while_loop(lambda i, x: i < n, lambda i, x: (i + 1, sort(x[::-1] * 1.5)), (0, x))[1],
            line(100_000), np.int32(1),
        )
    )  # fmt: skip
    questions.begin()
    run([line(100_000), np.int32(20)])
    assert questions.count >= 2
    questions.begin(interrupted_at=questions.count)
    with pytest.raises(KeyboardInterrupt):
        run([line(100_000), np.int32(10_000)])
    assert questions.count == questions.interrupted_at
