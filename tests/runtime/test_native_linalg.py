"""Machine code that solves, inverts and factors matrices: small ones itself, large ones by LAPACK."""

from __future__ import annotations

import ctypes
import sys
import types

import numpy as np
import pytest
from api import NativeRefusal, call, lapack_calls, linalg_rules, shared_libraries, write_function
from children import run_python
from native_checks import check, compile_native, graph_of
from optimisation import translated

pytestmark = pytest.mark.usefixtures("code_is_kept")
RNG = np.random.default_rng(0)
LARGE = linalg_rules.LARGE
OPS = ("inv", "det", "cholesky")


def good(*shape):
    """Matrices that are easy to invert, with pivots that are not on the diagonal."""
    return RNG.standard_normal(shape) + 3 * np.eye(shape[-1])[::-1]


def positive(*shape):
    a = RNG.standard_normal(shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 4, 4), (0, 2, 2), (0, 0)], ids=str)
def test_inverses_and_determinants(shape):
    with translated(shape != (2, 3, 4, 4)):  # one by one as in a stack
        check(lambda a: [call("inv", a), call("det", a)], good(*shape))


def test_single_precision():
    check(lambda a: [call("inv", a), call("det", a), call("cholesky", a)], positive(4, 4).astype(np.float32), rtol=1e-4)


@pytest.mark.parametrize(
    ("a", "b"), [((5, 5), (5,)), ((5, 5), (5, 3)), ((2, 4, 4), (4, 3)), ((4, 4), (3, 4, 2)), ((3, 0, 0), (3, 0, 2))],
    ids=str,
)  # fmt: skip
def test_systems(a, b):
    with translated(len(a) == len(b) == 2):
        check(lambda a, b: call("solve", a, b), good(*a), RNG.standard_normal(b))


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (3, 3, 3)], ids=str)
def test_cholesky_factors(shape):
    with translated(shape != (3, 3, 3)):
        check(lambda a: call("cholesky", a), positive(*shape))


def test_transposed_operands_and_operands_that_stay():
    check(lambda a: call("matmul", call("inv", call("transpose", a)), a), good(4, 4))


@pytest.mark.parametrize("op, n", [("inv", 2), ("inv", 200), ("cholesky", 2), ("cholesky", 40)])
def test_a_singular_matrix_is_the_kernels_error(op, n):
    with translated(n > 2):  # LAPACK finds it, or the loops of a smaller one
        run = compile_native(graph_of(lambda a: call(op, a), np.ones((n, n))))
    with pytest.raises(np.linalg.LinAlgError):
        run([np.ones((n, n))])


@pytest.mark.parametrize("n", [3, 200])
def test_the_determinant_of_a_singular_matrix(n):
    check(lambda a: call("det", a), np.ones((n, n)))


@pytest.mark.parametrize("pivots", [(1e200, 1e200, 1e-300), (1e-200, 1e-200, -1e300), (1e200, -1e200, 2.0)], ids=str)
def test_a_determinant_whose_products_leave_the_numbers(pivots):
    check(lambda a: call("det", a), np.diag(pivots))


@pytest.mark.parametrize("n", [3, 200])
def test_what_is_no_number_goes_through(n):
    a = np.eye(n)
    a[1, 1] = np.nan
    check(lambda a: [call("det", a), call("cholesky", a)], a)


def test_single_precision_is_computed_in_double():
    hilbert = (1 / (np.arange(6)[:, None] + np.arange(6) + 1)).astype(np.float32)
    with translated():  # as in test_single_precision
        check(lambda a: [call(op, a) for op in OPS], hilbert, rtol=1e-6)


def test_half_precision_is_refused_as_by_numpy():
    with pytest.raises(NativeRefusal, match="inv.*half precision"):
        compile_native(graph_of(lambda a: call("inv", a), np.eye(2, dtype=np.float16)))


# -- large ones ---------------------------------------------------------------------------------------------


def systems(n, dtype, columns=2):
    """Well-conditioned operands, all of one size."""
    matrix = (RNG.standard_normal((n, n)) / n**0.5 / 3 + np.eye(n)[::-1]).astype(dtype)
    return matrix, positive(n, n).astype(dtype), RNG.standard_normal((n, columns)).astype(dtype)


def all_of_them(a, p, b):
    return [
        call("solve", a, b), call("solve", a, b[:, 0]), call("inv", a), call("det", a), call("cholesky", p),
        call("solve", call("transpose", a), b),
    ]  # fmt: skip


def assert_as_numpy(values, rtol):
    run = compile_native(graph_of(all_of_them, *values))
    a, p, b = values
    want = [
        np.linalg.solve(a, b), np.linalg.solve(a, b[:, 0]), np.linalg.inv(a), np.linalg.det(a), np.linalg.cholesky(p),
        np.linalg.solve(a.T, b),
    ]  # fmt: skip
    for got, expected in zip(run(list(values)), want):
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


#: rows, and what they are: of single precision, whose copies are doubles, one by itself and one by LAPACK
EDGES = [
    (linalg_rules.LARGE_CHOLESKY, np.float64), (LARGE - 1, np.float32), (LARGE - 1, np.float64), (LARGE, np.float64),
    (LARGE + 1, np.float32), (LARGE + 1, np.float64),
]  # fmt: skip


@pytest.mark.parametrize("n, dtype", EDGES, ids=str)
def test_either_side_of_where_lapack_begins(monkeypatch, n, dtype):
    """All that LAPACK may do it does one row after it has begun."""
    monkeypatch.setattr(linalg_rules, "LARGE_WITH_MANY", LARGE + 1)
    with translated((n, dtype) not in ((LARGE - 1, np.float32), (LARGE, np.float64))):
        assert_as_numpy(systems(n, dtype), 1e-6 if dtype == np.float32 else 1e-11)


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=str)
@pytest.mark.parametrize(
    "n", sorted({linalg_rules.LARGE_CHOLESKY, LARGE - 1, LARGE, LARGE + 1, linalg_rules.LARGE_WITH_MANY, 512})
)
def test_either_side_of_where_each_begins(n, dtype):
    assert_as_numpy(systems(n, dtype), 1e-6 if dtype == np.float32 else 1e-11)


def test_many_right_sides(monkeypatch):
    monkeypatch.setattr(linalg_rules, "LARGE_WITH_MANY", 16)
    assert_as_numpy(systems(20, np.float64, 25), 1e-12)


def test_stacks_of_large_matrices():
    n = LARGE
    stack = np.stack([positive(n, n) for _ in range(6)]).reshape(2, 3, n, n)
    b = RNG.standard_normal((3, n, 2))
    check(lambda a, b: call("solve", a, b), stack, b)
    with translated():  # LAPACK computes, and the loop around it is the same
        check(lambda a: [call(op, a) for op in OPS], stack / n)
        check(lambda a, b: call("solve", a, b), stack, b[0, :, 0])


def calls_lapack(n, op="det"):
    x = np.ones((n, n))
    function = write_function(graph_of(lambda a: call(op, a), x), [x.shape], frozenset())
    return any(name.endswith(("getrf", "potrf")) for name in function.addresses)


def test_large_ones_are_lapacks_and_small_ones_are_not():
    pytest.importorskip("scipy")
    assert calls_lapack(LARGE) and not calls_lapack(LARGE - 1)
    assert calls_lapack(linalg_rules.LARGE_CHOLESKY, "cholesky")
    assert calls_lapack(linalg_rules.LARGE_WITH_MANY, "inv") and not calls_lapack(LARGE, "inv")


@pytest.fixture
def looked_up_again():
    for one in (shared_libraries._fortran, shared_libraries._exported):
        one.cache_clear()
    yield
    for one in (shared_libraries._fortran, shared_libraries._exported):
        one.cache_clear()


def test_without_scipy_it_is_done_without(looked_up_again, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.linalg.cython_lapack", None)
    assert not calls_lapack(LARGE)
    with translated():  # as a smaller one
        assert_as_numpy(systems(LARGE, np.float64), 1e-11)


ROUTINES = """
import sys
import numpy as np
from autoloop_runtime.native.toolchain import shared_libraries
names = ["zgemm", "dpotrf", "no_such_routine"]
found = [shared_libraries._fortran(name) for name in names]
print(found[0] is not None, found[1] is not None, found[2], "scipy.linalg" in sys.modules)
import scipy.linalg.cython_blas, scipy.linalg.cython_lapack
print(scipy.linalg.cython_blas.__name__, scipy.linalg.cython_lapack.__name__, scipy.linalg.inv(np.eye(2))[0, 0])
for one in (shared_libraries._fortran, shared_libraries._exported):
    one.cache_clear()
print(found == [shared_libraries._fortran(name) for name in names])
"""


def test_routines_are_found_without_the_package_around_them():
    pytest.importorskip("scipy")
    told = "True True None False scipy.linalg.cython_blas scipy.linalg.cython_lapack 1.0 True"
    assert run_python(ROUTINES).split() == told.split()


def capsule(signature):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(1, signature, None)


def test_routines_that_count_otherwise_are_left_alone(looked_up_again, monkeypatch):
    """Their integers may be of 64 bits."""
    names = [b"void (int *, __pyx_t_5scipy_6linalg_13cython_lapack_d *)", b"void (int64_t *)", b"void (long *)"]
    routines = {f"d{k}": capsule(name) for k, name in enumerate(names)}
    for library in ("blas", "lapack"):
        made = types.SimpleNamespace(__pyx_capi__=routines)
        monkeypatch.setitem(sys.modules, f"scipy.linalg.cython_{library}", made)
    assert [shared_libraries._fortran(name) for name in routines] == [1, None, None]


# a column at a time; some, and the rest; as many rows as that work allows, and the rest
@pytest.mark.parametrize("most", [pytest.param(1, marks=pytest.mark.nightly), 1 << 16, 380_000], ids=str)
def test_factors_in_pieces_between_which_it_may_be_stopped(monkeypatch, most):
    monkeypatch.setattr(lapack_calls, "FLOATS", most)
    monkeypatch.setattr(lapack_calls, "LEAST", 32)
    monkeypatch.setattr(linalg_rules, "LARGE_WITH_MANY", LARGE)
    with translated(most != 1 << 16):  # another number of pieces
        assert_as_numpy(systems(LARGE + 9, np.float64), 1e-11)


def test_a_singular_matrix_is_found_in_pieces(monkeypatch):
    monkeypatch.setattr(lapack_calls, "FLOATS", 1)
    monkeypatch.setattr(lapack_calls, "LEAST", 32)
    test_a_singular_matrix_is_the_kernels_error("cholesky", LARGE + 1)
    test_the_determinant_of_a_singular_matrix(LARGE + 1)
