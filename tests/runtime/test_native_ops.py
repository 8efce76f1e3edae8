"""Machine code of single operations against their NumPy kernels, on the values where they are easy to get wrong."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from api import call, native
from each_case import each
from native_checks import compile_native, graph_of, kernels
from optimisation import translated

#: zeros, subnormals, huge numbers, where functions are not defined, where rounding is undecided
FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 1e-8, -1e-8, 1e8, -1e8, 100.0, -100.0, 88.0, -88.0, 700.0,
    -700.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3.4e38, 0.1, -0.1, 1.5, 2.5, -2.5, 0.9999, 7.3, -7.3,
]  # fmt: skip
DTYPES = ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
#: of these arrays are optimised by day, too, and of the first two scalars: the others are as wide, or wider, integers
OPTIMISED = ("f8", "i8", "bool", "u1", "f2", "f4")
UNARY = (
    "negative sign square abs sqrt length rsqrt reciprocal cbrt exp expm1 exp2 log log1p log2 log10 sin cos tan arcsin "
    "arccos arctan sinh cosh tanh arcsinh arccosh arctanh sigmoid relu softplus erf floor ceil trunc rint isnan "
    "isinf isfinite logical_not invert"
).split()
BINARY = (
    "add subtract multiply divide floor_divide mod maximum minimum arctan2 hypot logaddexp copysign equal not_equal "
    "less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor "
    "left_shift right_shift"
).split()


def edge_values(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.array(FLOATS).astype(dtype)
    info = np.iinfo(dtype)
    some = {info.min, info.max, info.max - 1, info.max // 2, 0, 1, 2, 3, 5, 7, 100}
    return np.array(sorted(some | ({-1, -2, -3, -7, info.min + 1} if info.min else set())), dtype)


def takes(op, dtype, count):
    if op == "reciprocal" and np.dtype(dtype).kind in "biu":
        return False  # NumPy's 1 / 0 of integers is whatever the conversion of infinity gives
    try:
        call(op, *[edge_values(dtype)] * count)
    except TypeError:
        return False
    return True


def assert_close(got, want, what):
    """Equal integers and booleans; floats within 4 ulp, and nan where nan is."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, what
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want), err_msg=what)
    with np.errstate(all="ignore"):
        near = np.abs(got - want) <= 4 * np.spacing(np.maximum(np.abs(got), np.abs(want)))
    assert (near | (got == want) | np.isnan(want)).all(), f"{what}: {got} is not {want}"


def compare(build, names, *arrays):
    """All of ``build``'s results for arrays, and for each of their elements as scalars."""
    graph, dtype = graph_of(build, *arrays), arrays[0].dtype
    with translated(dtype not in OPTIMISED):
        found = compile_native(graph)(arrays)
    for name, got, want in zip(names, found, kernels(graph, arrays)):
        assert_close(got, want, name)
    graph = graph_of(build, *[a[0] for a in arrays])
    with translated(dtype not in OPTIMISED[:2]):
        run = compile_native(graph)
    for scalars in list(zip(*arrays))[:: 1 if len(arrays) == 1 else 3]:
        for name, got, want in zip(names, run(scalars), kernels(graph, scalars)):
            assert_close(got, want, f"{name} of {scalars}")


@each(DTYPES)
def test_functions_of_one_argument(dtype):
    names = [op for op in UNARY if takes(op, dtype, 1)]
    compare(lambda x: [call(op, x) for op in names], names, edge_values(dtype))


@each(DTYPES)
def test_functions_of_two_arguments(dtype):
    names = [op for op in BINARY if takes(op, dtype, 2)]
    pairs = np.meshgrid(edge_values(dtype), edge_values(dtype))
    compare(lambda x, y: [call(op, x, y) for op in names], names, *[np.ascontiguousarray(p.ravel()) for p in pairs])


@each(DTYPES)
def test_casts(dtype):
    by_place = "u4" if dtype in ("f4", "f8") else ""  # see below
    targets = [d for d in DTYPES if d not in (dtype, by_place)]
    x = edge_values(dtype)
    graph = graph_of(lambda x: [call("cast", x, d) for d in targets], x)
    with translated(dtype not in OPTIMISED):
        found = compile_native(graph)([x])
    for name, got, want in zip(targets, found, kernels(graph, [x])):
        assert_close(got, want, f"{dtype} to {name}")


#: beyond and at the bounds of the integers
FAR = [np.nan, -np.nan, np.inf, -np.inf, *(s * (2.0**n + d) for n in (7, 8, 15, 16, 31, 32, 62, 63, 64)
       for s in (1, -1) for d in (-1, -0.5, 0, 0.5, 1, 2.0 ** (n - 20))), 3e9, -3e9, 1e30, -1e30]  # fmt: skip
INTEGERS = [d for d in DTYPES if d[0] in "iu"]


@each(["f2", "f4", "f8", "c8", "c16"])
def test_casts_of_what_does_not_fit_an_integer(dtype):
    with np.errstate(all="ignore"):
        values = np.array(FAR).astype(dtype)
    with translated():
        scalar = compile_native(graph_of(lambda x: [call("cast", x, d) for d in INTEGERS], values[0]))
        three = compile_native(graph_of(lambda x: [call("cast", x, d) for d in INTEGERS], values[:3]))
        many = compile_native(graph_of(lambda x: [call("cast", x, d) for d in INTEGERS if d != "u4"], values))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the imaginary parts, which are dropped
        for one in values:
            assert [x.item() for x in scalar([one])] == [one.astype(d).item() for d in INTEGERS], one
        for k in range(0, len(values) - 3, 3):
            part = values[k : k + 3]
            assert [x.tolist() for x in three([part])] == [part.astype(d).tolist() for d in INTEGERS], part
        want = [values.astype(d).tolist() for d in INTEGERS if d != "u4"]
    assert [x.tolist() for x in many([values])] == want


@each(["f4", "f8", "c8"])
def test_where_the_place_decides_what_becomes_of_a_float_machine_code_refuses_it(dtype):
    run = compile_native(graph_of(lambda x: call("cast", x, "u4"), np.zeros(5, dtype)))
    fits = np.array([0.5, -(2.0**31), 2.0**32 - 2**9, -1, 3e9], dtype)
    assert run([fits])[0].tolist() == fits.real.astype("u4").tolist()
    for far in (np.nan, -np.inf, 2.0**32 + 2**13, -3e9):
        with np.errstate(all="ignore"):
            by_place = len(set(np.full(67, far, fits.real.dtype).astype("u4"))) > 1
        fits[1] = far
        with pytest.raises(native.NativeRefusal, match="depends on where it stands") if by_place else nullcontext():
            run([fits])


@each(["i4", "i8", "u1", "f4", "f8"])
def test_powers(dtype):
    x = edge_values(dtype)
    exponents = [0, 1, 2, 3, 5] + ([0.5, -1, -2, 1.7] if np.dtype(dtype).kind == "f" else [])
    compare(lambda x: [x**e for e in exponents], [str(e) for e in exponents], x)
    y = np.abs(x) % 5 if np.dtype(dtype).kind != "f" else x[::-1].copy()
    compare(lambda x, y: [x**y], ["x ** y"], x, y.astype(dtype))


@each(["i4", "f4"])
def test_where(dtype):
    x, y = edge_values(dtype), edge_values(dtype)[::-1].copy()
    compare(lambda x, y: [call("where", x > y, x, y), call("where", x > 0, x, 7)], ["where", "where const"], x, y)


def test_a_long_vector_takes_the_simd_forms():
    x = np.linspace(-20, 20, 1003, dtype=np.float32)
    names = ["exp", "sin", "cos", "tanh", "sigmoid", "arctan", "cbrt"]
    graph = graph_of(lambda x: [call(op, x) for op in names], x)
    for name, got, want in zip(names, compile_native(graph)([x]), kernels(graph, [x])):
        assert_close(got, want, name)
