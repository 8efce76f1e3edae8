"""Machine code that sorts and searches, against the NumPy kernels: the same bits, stable, nan last."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from api import call, quick_sort, shared_libraries, sorting_rules, while_loop
from each_case import each
from native_checks import compile_native, graph_of, kernels
from optimisation import translated

#: lines shorter and longer than a run that is sorted by insertion; merges that end at home and in the spare memory
SHAPES = [((1,), 0), ((100,), 0), ((17, 5), 0), ((3, 40, 2), 1), ((4, 0), 1)]


def some(dtype, shape):
    x = np.random.default_rng(0).integers(-9, 9, shape)
    with np.errstate(all="ignore"):
        x = (x * 0.5 if np.dtype(dtype).kind == "f" else x).astype(dtype)
    if x.dtype.kind == "f" and x.size > 9:
        x.flat[:10] = [np.nan, -0.0, 0.0, np.inf, -np.inf, np.nan, 0.0, -0.0, 1, np.nan]
    return x


def check_bits(build, *values):
    graph = graph_of(build, *values)
    for got, want in zip(compile_native(graph)(list(values)), kernels(graph, values)):
        want = np.asarray(want)
        assert got.dtype == want.dtype and np.shape(got) == want.shape and got.tobytes() == want.tobytes()


WAYS = [(op, descending) for op in ("sort", "argsort") for descending in (0, 1)]
#: optimised by day, too: numbers with nan and without, in lines and in columns
SORTED = [("u8", (17, 5)), ("f4", (100,)), ("f4", (3, 40, 2))]


@each(["bool", "i1", "u8", "f2", "f4"])
def test_sorted_in_both_directions(dtype):
    for shape, axis in SHAPES[1:3] if dtype != "f4" else SHAPES:
        x = some(dtype, shape)
        with translated((dtype, shape) not in SORTED):
            check_bits(lambda x, axis=axis: [call(op, x, axis=axis, descending=d) for op, d in WAYS], x)


#: shorter and longer than what is sorted by insertion
LENGTHS = (0, 1, 12, 13)


@each("?bHefdiL")
def test_sorted_where_equal_elements_are_alike(dtype):
    n, rng = 500, np.random.default_rng(1)
    few, numbers, some_nan = rng.integers(0, 3, n), np.arange(n), np.where(rng.random(n) < 0.3, np.nan, rng.random(n))
    with np.errstate(all="ignore"):
        lines = np.array([few, numbers, -numbers, numbers % 7, abs(numbers - 250), rng.random(n) * 1e5, some_nan])
        lines = lines.astype(dtype)

    def build(x):
        return [np.sort(x, 0), np.sort(x, 1), *[np.sort(x[:, :length], 1) for length in LENGTHS]]

    with translated(dtype not in "?d"):  # one of those that are counted, and one with nan
        run = compile_native(graph_of(build, lines))
    for got, want in zip(run([lines]), build(lines)):
        np.testing.assert_array_equal(got, want)


@each("hHiIlLfd")
def test_what_sorts_by_vectors_is_found(dtype):
    """NumPy's own function for memory, called as machine code calls it; nan last."""
    address = shared_libraries._numpy_sort(f"{np.dtype(dtype).kind}{np.dtype(dtype).itemsize}")
    if address is None:
        pytest.skip("another NumPy, or another Python")
    sort = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(address)
    for n in (1, 70, 3000):
        x = some(dtype, (n,))
        expected = np.sort(x)
        assert sort(x.ctypes.data, n, None) == 0
        np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("steps", [None, 40])
def test_a_line_that_leads_quicksort_astray_becomes_a_heap(monkeypatch, steps):
    monkeypatch.setattr(quick_sort, "_DEEPEST", 0)
    monkeypatch.setattr(shared_libraries.Libraries, "vector_sort", lambda self, t: None)  # else that takes the pieces
    if steps is not None:
        monkeypatch.setattr(sorting_rules, "STEPS", steps)
    x = np.random.default_rng(1).random(301)
    x[::5] = np.nan
    run = compile_native(graph_of(lambda x: [np.sort(x), np.sort(x[10:30])], x))
    for got, want in zip(run([x]), (np.sort(x), np.sort(x[10:30]))):
        np.testing.assert_array_equal(got, want)


@each(["bool", "u1", "i4", "f4"])
def test_searched(dtype):
    a, v = np.sort(some(dtype, (60,))), some(dtype, (4, 5))
    with translated(dtype not in ("i4", "f4")):
        check_bits(
            lambda a, v: [call("searchsorted", a, x, side=s) for x in (v, v[0, 0]) for s in ("left", "right")], a, v
        )


@each(["bool", "i4", "f4"])
def test_searched_in_what_is_not_sorted_as_numpy_does(dtype):
    """NumPy begins beside the place of the key before: there is one answer, whatever the order."""
    a, v = some(dtype, (60,)), some(dtype, (40, 5))
    order = np.random.default_rng(2).permutation(60)
    keys = (lambda v: v, lambda v: v.T, lambda v: v[::-1, ::2], lambda v: v[0], lambda v: v[1, 1])
    for side in ("left", "right"):
        with translated(dtype != "f4"):
            check_bits(lambda a, v, s: [np.searchsorted(a[::-1], f(v), side) for f in keys], a, v, order)
            check_bits(lambda a, v, s: [np.searchsorted(a, f(v), side, s[::-1]) for f in keys], a, v, order)


def test_a_sorter_is_asked_where_the_search_comes_by():
    a, fine, wrong = np.array([1.0, 2.0, 3.0]), np.array([0, 1, 7]), np.array([-1, -2, 0])
    run = compile_native(graph_of(lambda a, v, s: np.searchsorted(a, v, sorter=s), a, a, fine))
    assert run([a, np.zeros(3), fine])[0].tolist() == [0, 0, 0]
    for keys, sorter in ((a + 1, fine), (a, wrong)):
        with pytest.raises(ValueError, match="Sorter index out of range"):
            run([a, keys, sorter])


def test_whether_a_sorter_without_keys_is_looked_at_says_numpy():
    a, none, wrong = np.array([1.0, 2.0, 3.0]), np.zeros(0), np.array([7, 7, 7])
    with pytest.raises(NotImplementedError, match="where there may be no keys"):
        compile_native(graph_of(lambda a, v, s: np.searchsorted(a, v, sorter=s), a, none, wrong))


def test_the_best_few_in_a_loop():
    def build(scores, steps):
        def body(i, scores):
            best = call("top_k", call("mod", scores * 7.0 + 3.0, 11.0), 4)  # exact, with ties
            return i + 1, call("tile", call("add", best.values, call("cast", best.indices, np.float32)), (5,))

        return while_loop(lambda i, s: i < steps, body, [0, scores])[1]

    check_bits(build, some("i4", (20,)).astype(np.float32), np.int32(7))
