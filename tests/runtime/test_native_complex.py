"""Machine code of complex numbers against NumPy: pairs of floats in registers, in memory, and between functions."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import call, cond, native, shared_libraries, while_loop
from each_case import each
from native_checks import check, compile_native, graph_of, kernels

PARTS = [0.0, -0.0, 1.0, -2.5, 3.0, 1e-8, -1e8, np.inf, -np.inf, np.nan, 0.1]
UNARY = "negative square abs conj real imag identity isnan".split()
BINARY = "add subtract multiply divide equal not_equal".split()


def pairs(dtype):
    z = np.array([complex(a, b) for a in PARTS for b in PARTS]).astype(dtype)
    return z, np.resize(z[5::7], z.shape)


def results(x, y):
    return [*[call(name, x) for name in UNARY], *[call(name, x, y) for name in BINARY], x**2, x**3, x + 2, 1j * x]


def parts_of(value):
    return np.concatenate([np.ravel(value.real), np.ravel(value.imag)])


@each(["complex64", "complex128"])
def test_scalars_to_the_bit_and_arrays_to_a_few_ulp_of_the_number(dtype):
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        run = compile_native(scalars := graph_of(results, x[0], y[0]))
        for one in list(zip(x, y))[::3]:
            for k, (got, want) in enumerate(zip(run(one), kernels(scalars, one))):
                assert got.dtype == want.dtype and np.shape(got) == ()
                np.testing.assert_array_equal(parts_of(got), parts_of(want), err_msg=f"{k} of {one}")
        finite = np.isfinite(x) & np.isfinite(y)
        graph = graph_of(results, x, y)
        for got, want in zip(compile_native(graph)((x, y)), kernels(graph, (x, y))):
            assert got.dtype == want.dtype and got.shape == want.shape
            if want.dtype.kind == "b":
                np.testing.assert_array_equal(got, want)
            else:  # NumPy adds products of arrays without rounding them where the processor can
                near = np.abs(got - want) <= 4 * np.finfo(want.dtype).eps * np.abs(want)
                assert (near | (got == want))[finite & np.isfinite(want)].all()


@each(["complex64", "complex128"])
def test_products_of_arrays_to_the_bit(dtype):
    """NumPy's loops leave one product of each sum unrounded where the processor can and the elements lie together."""

    def products(x, y, single, turns):
        z = x * y
        for _ in range(turns):
            z = z**2 + y * single
        return z, x * x, np.square(y), x.real * y, single * single, np.multiply(single, single), np.array(single) * y[0]

    rng = np.random.default_rng(3)
    x, y = (rng.normal(size=(2, 999)) + 1j * rng.normal(size=(2, 999))).astype(dtype) * np.dtype(dtype).type(0.5)
    for turns in (3, np.int64(3)):
        given = (x, y, x[5], turns)
        for got, want in zip(al.function(products, executor="native")(*given), products(*given)):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


@each(["complex64", "complex128"])
def test_the_length_of_elements_at_the_ends_of_the_range(dtype):
    ends = [0.0, np.finfo(dtype).smallest_subnormal, np.finfo(dtype).tiny, 1.0, np.finfo(dtype).max, np.inf, np.nan]
    z = np.array([complex(a, -b) for a in ends for b in ends]).astype(dtype)
    with np.errstate(all="ignore"):
        found, wanted = al.function(abs, executor="native")(z), abs(z)
    np.testing.assert_array_max_ulp(found[np.isfinite(wanted)], wanted[np.isfinite(wanted)], 4)
    np.testing.assert_array_equal(found[~np.isfinite(wanted)], wanted[~np.isfinite(wanted)])


@each(["complex64", "complex128"])
def test_casts_to_and_from(dtype):
    z, x = pairs(dtype)[0][:40], np.array([0.5, -2.0, 3.0])
    with np.errstate(all="ignore"):
        check(lambda z: [call("cast", z, d) for d in ("bool", "complex64", "complex128", "float32", "float64")], z)
        for one in (z[3], np.float64(2.5)):
            check(lambda z: [call("cast", z, "complex64"), call("cast", z, "complex128")], one)
    check(lambda x: [call("complex", x, x * x), call("cast", x > 0, dtype), call("cast", x, dtype)], x)


def moved(z, k):
    w = call("set_item", z, (slice(1, 3),), z[k])
    stacked = call("stack", [z[0], z[k], w[1]])
    return [
        call("set_real", z, call("imag", w)), call("set_imag", z[::-1], call("real", z) * 2),
        call("set_imag", z[k], z[0].real),
        z[k], w, stacked, call("concat", [z, w], 0), z[::-2], call("where", call("real", z) > 0, z, w), call("sum", z),
        call("sum", call("reshape", z, [2, -1]), 0), call("mean", z), call("tril", call("reshape", z, [2, -1])),
        call("take", z, np.array([3, 0, -1])), call("tile", stacked, [2]),
        call("transpose", call("reshape", z, [2, -1])),
    ]  # fmt: skip


@each(["complex64", "complex128"])
def test_elements_are_moved_also_where_memory_is_aligned_for_their_parts_only(dtype):
    z = (np.arange(6) - 1j * np.arange(6, 0, -1)).astype(dtype)
    raw = np.zeros(z.nbytes + 16, np.uint8)
    apart = raw[z.itemsize // 2 :][: z.nbytes].view(dtype)
    apart[:] = z
    for values in (z, apart):
        check(moved, values, 4)


def test_numbers_travel_between_other_arguments_and_through_loops():
    def build(n, z, x, w):
        i, total, last = while_loop(lambda i, *_: i < n, lambda i, t, v: (i + 1, t * w + x[i], t), (0, z, w))
        return [w, i, total, last, cond(n > 2, lambda: total, lambda: z), x, n]

    for dtype in (np.complex64, np.complex128):
        check(build, np.int64(5), dtype(0.25 - 1j), np.arange(6).astype(dtype), dtype(0.5j))


def test_long_arrays_are_shared_by_threads_with_the_numbers_they_need():
    z = np.exp(1j * np.linspace(0, 40, 200_000))
    graph = graph_of(lambda z, w: [z * w + w / (z - 3), call("sum", z * w)], z, np.complex128(0.5 - 2j))
    got, want = (f([z, np.complex128(0.5 - 2j)]) for f in (compile_native(graph), lambda v: kernels(graph, v)))
    np.testing.assert_allclose(got[0], want[0], rtol=1e-13)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-11)


def test_what_has_no_machine_code_for_them_is_refused_by_its_name():
    z = np.array([1 + 2j, 3j])
    for name in ("expm1", "cumprod", "prod", "sign"):
        with pytest.raises(native.NativeRefusal, match=f"'{name}'.*complex"):
            compile_native(graph_of(lambda z: call(name, z), z))([z])
    for dtype, exponent in (("complex64", z[:1]), ("complex128", z[0])):  # a number may say that it is a square root
        with pytest.raises(native.NativeRefusal, match="'pow'.*complex"):
            compile_native(graph_of(lambda z, w: z**w, z.astype(dtype), exponent.astype(dtype)))


def numbers(dtype, *shape):
    rng = np.random.default_rng(5)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def close(got, want, dtype):
    assert got.dtype == want.dtype == dtype and got.shape == want.shape
    return np.allclose(got, want, 0, 100 * np.finfo(dtype).eps * max(1.0, np.abs(want).max(initial=0.0)))


PRODUCTS = [
    ((3, 4), (4, 5)), ((7, 1), (1, 7)), ((4,), (4, 3)), ((3, 4), (4,)), ((5,), (5,)), ((2, 3, 4), (4, 2)),
    ((3, 0), (0, 2)), ((12, 20), (20, 11)), ((1, 200), (200, 100)), ((100, 200), (200,)), ((200,), (200, 100)),
]  # fmt: skip


@each([(d, *shapes) for shapes in PRODUCTS for d in ("complex64", "complex128")])
def test_products_of_matrices_as_they_lie_and_turned(dtype, left, right):
    a, b = numbers(dtype, *left), numbers(dtype, *right)
    product = al.function(lambda a, b: a @ b, executor="native")
    turned = al.function(lambda a, b: a.swapaxes(-1, -2) @ b.swapaxes(-1, -2), executor="native")
    assert close(product(a, b), a @ b, dtype)
    if len(left) == len(right) == 2:
        x, y = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
        assert close(turned(x, y), a @ b, dtype)


@each(["complex64", "complex128"])
def test_systems_of_equations_and_inverses(dtype):
    pytest.importorskip("scipy")

    def solved(a, b):
        return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.solve(a, b[..., 0]), np.linalg.solve(a.real, b)

    for n in (1, 4, 30):
        a, b = numbers(dtype, n, n) + 2 * n * np.eye(n, dtype=dtype), numbers(dtype, n, 3)
        for got, want in zip(al.function(solved, executor="native")(a, b), solved(a, b)):
            assert close(got, want, dtype)
    with pytest.raises(np.linalg.LinAlgError):
        al.function(np.linalg.inv, executor="native")(np.zeros((3, 3), dtype))


def test_powers_to_the_bit():
    bases = [0, 1, -1, 2.5 - 1j, 1e200, 1e-200j, np.inf, complex(np.nan, 1), complex(-np.inf, 2), -0.3 + 0.7j]
    exponents = [
        *range(-3, 5),
        7,
        99,
        100,
        -99,
        0.5,
        1j,
        -1.5 + 0.2j,
        np.inf,
        complex(np.nan, 0),
        1e9,
        complex(2, -0.0),
    ]
    x, y = (np.array(z, complex).ravel() for z in np.meshgrid(bases, exponents))
    power = al.function(lambda x, y: x**y, executor="native")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(parts_of(power(x, y)), parts_of(x**y))
        for one in list(zip(x, y))[::7]:
            np.testing.assert_array_equal(parts_of(power(*one)), parts_of(one[0] ** one[1]))


@each(["float64", "float32", "complex128"])
def test_sums_of_one_value_begin_with_zero(dtype):
    def sums(x):
        return np.sum(-x), np.mean(-x), np.nansum(-x)

    zero = np.array(0, dtype)
    ours, plain = al.function(sums, executor="native")(zero), sums(zero)
    assert [one.tobytes() for one in ours] == [one.tobytes() for one in plain]


@pytest.mark.skipif(not shared_libraries.has_complex_function("cexp"), reason="NumPy's functions are its own here")
@each(["complex64", "complex128"])
def test_functions_of_the_c_library(dtype):
    def f(z, w):
        return (
            np.exp(z), np.log(z), np.sqrt(z), np.sin(z), np.cos(z), np.tan(z), np.sinh(z), np.cosh(z), np.tanh(z),
            np.arcsin(z), np.arccos(z), np.arctan(z), np.arcsinh(z), np.arccosh(z), np.arctanh(z), np.exp(w),
            np.sqrt(w) + np.log(w),
        )  # fmt: skip

    ends = [complex(a, b) for a in (*PARTS, 0.3, -700.0) for b in (*PARTS, 0.3, -700.0)]
    z = np.concatenate([numbers(dtype, 40), np.array(ends, dtype)])
    with np.errstate(all="ignore"):
        for got, want in zip(al.function(f, executor="native")(z, z[3]), f(z, z[3]), strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
