"""The functions of the array API give what NumPy's of the same meaning give: values, dtypes, shapes, forms of results.

NumPy is a namespace of the standard itself. What depends on default dtypes is in ``test_standard_names``.
"""

from __future__ import annotations

import operator
from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

BOOL, SIGNED, UNSIGNED = ["bool"], ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
REAL, COMPLEX = ["float32", "float64"], ["complex64", "complex128"]
INTEGERS, FLOATS = SIGNED + UNSIGNED, REAL + COMPLEX
NUMBERS = INTEGERS + FLOATS
ALL = BOOL + NUMBERS
SHAPES = [(), (3,), (0,), (2, 3), (2, 0, 3)]


def sample(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) > 0.5
    if dtype[0] in "iu":
        return rng.integers(-5 if dtype[0] == "i" else 0, 6, shape).astype(dtype)
    parts = rng.standard_normal((2, *shape)) * 2
    return (parts[0] + 1j * parts[1] if dtype[0] == "c" else parts[0]).astype(dtype)


def same(ours, theirs):
    """Assert that two results have the same form, dtypes, shapes and values."""
    if isinstance(theirs, (tuple, list)):
        assert isinstance(ours, tuple if isinstance(theirs, tuple) else list) and len(ours) == len(theirs)
        assert getattr(ours, "_fields", None) == getattr(theirs, "_fields", None)
        for one, other in zip(ours, theirs):
            same(one, other)
        return
    theirs = np.asarray(theirs)
    assert isinstance(ours, al.Tensor) and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    rtol = 1e-5 if theirs.dtype in ("float32", "complex64") else 1e-12
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=rtol, atol=rtol)


def check(f, *values, theirs=None):
    """Assert that ``f(namespace, *values)`` is the same for ours as for NumPy, whichever refuses."""
    with np.errstate(all="ignore"):
        same(f(al, *map(al.asarray, values)), (theirs or f)(np, *values))


UNARY = {
    "abs": NUMBERS, "acos": FLOATS, "acosh": FLOATS, "asin": FLOATS, "asinh": FLOATS, "atan": FLOATS,
    "atanh": FLOATS, "bitwise_invert": BOOL + INTEGERS, "ceil": INTEGERS + REAL, "conj": NUMBERS, "cos": FLOATS,
    "cosh": FLOATS, "exp": FLOATS, "expm1": FLOATS, "floor": INTEGERS + REAL, "imag": COMPLEX, "isfinite": NUMBERS,
    "isinf": NUMBERS, "isnan": NUMBERS, "log": FLOATS, "log1p": FLOATS, "log2": FLOATS, "log10": FLOATS,
    "logical_not": BOOL, "negative": NUMBERS, "positive": NUMBERS, "real": NUMBERS, "reciprocal": FLOATS,
    "round": NUMBERS, "sign": NUMBERS, "signbit": REAL, "sin": FLOATS, "sinh": FLOATS, "square": NUMBERS,
    "sqrt": FLOATS, "tan": FLOATS, "tanh": FLOATS, "trunc": INTEGERS + REAL,
}  # fmt: skip
BINARY = {
    "add": NUMBERS, "atan2": REAL, "bitwise_and": BOOL + INTEGERS, "bitwise_left_shift": INTEGERS,
    "bitwise_or": BOOL + INTEGERS, "bitwise_right_shift": INTEGERS, "bitwise_xor": BOOL + INTEGERS, "copysign": REAL,
    "divide": FLOATS, "equal": ALL, "floor_divide": INTEGERS + REAL, "greater": INTEGERS + REAL,
    "greater_equal": INTEGERS + REAL, "hypot": REAL, "less": INTEGERS + REAL, "less_equal": INTEGERS + REAL,
    "logaddexp": REAL, "logical_and": BOOL, "logical_or": BOOL, "logical_xor": BOOL, "maximum": INTEGERS + REAL,
    "minimum": INTEGERS + REAL, "multiply": NUMBERS, "nextafter": REAL, "not_equal": ALL, "pow": NUMBERS,
    "remainder": INTEGERS + REAL, "subtract": NUMBERS,
}  # fmt: skip


@each(UNARY)
def test_functions_of_one_array(name):
    for dtype in UNARY[name]:
        for shape in SHAPES:
            check(lambda xp, x: getattr(xp, name)(x), sample(dtype, shape))


@each(BINARY)
def test_functions_of_two_arrays(name):
    for dtype in BINARY[name]:
        for other in BINARY[name]:
            for shapes in (((2, 3), (3,)), ((), ()), ((0,), (1,))):
                x, y = (sample(d, s, seed) for d, s, seed in zip((dtype, other), shapes, (0, 1)))
                y = np.abs(y).astype(other) if name == "pow" or "shift" in name else y
                try:
                    with np.errstate(all="ignore"):
                        getattr(np, name)(x, y)
                except TypeError:  # uint64 and signed integers have no bits in common
                    continue
                check(lambda xp, x, y: getattr(xp, name)(x, y), x, y)
        for number in (True, 2, 1.5, 1j):
            kinds = {bool: "b", int: "iufc", float: "fc", complex: "c"}[type(number)]
            if np.dtype(dtype).kind in kinds and dtype != "bool":
                check(lambda xp, x: getattr(xp, name)(x, number), sample(dtype, (3,)))
                check(lambda xp, x: getattr(xp, name)(number, x), np.abs(sample(dtype, (3,))).astype(dtype))


#: infinities, signed zeros, nan and their neighbours: the standard states the result for each
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, np.inf, -np.inf, np.nan, 1e30, 5e-324, np.pi / 2, 2.5]


def same_special(ours, theirs):
    ours = np.asarray(ours)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, equal_nan=True)
    for part in ("real", "imag"):
        one, other = getattr(ours, part), getattr(theirs, part)
        assert np.all((np.signbit(one) == np.signbit(other)) | np.isnan(one)) or ours.dtype.kind not in "fc"


@each(product([n for n in UNARY if set(UNARY[n]) & {*REAL}], REAL))
def test_special_values_of_one_array(name, dtype):
    values = np.array(SPECIAL, dtype)
    with np.errstate(all="ignore"):
        same_special(getattr(al, name)(al.asarray(values)), getattr(np, name)(values))
        for value in values:
            same_special(getattr(al, name)(al.asarray(value)), getattr(np, name)(np.array([value]))[0])


@each([n for n in UNARY if set(UNARY[n]) & {*COMPLEX}])
def test_special_values_of_one_complex_array(name):
    values = np.array([complex(a, b) for a in SPECIAL for b in SPECIAL])
    with np.errstate(all="ignore"):
        same_special(getattr(al, name)(al.asarray(values)), getattr(np, name)(values))


@each(product([n for n in BINARY if set(BINARY[n]) & {*REAL}], REAL))
def test_special_values_of_two_arrays(name, dtype):
    x, y = np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL, dtype))
    with np.errstate(all="ignore"):
        theirs = getattr(np, name)(x, y)
        same_special(getattr(al, name)(al.asarray(x), al.asarray(y)), theirs)
        for place in range(0, x.size, 5):
            ours = getattr(al, name)(al.asarray(x.flat[place]), al.asarray(y.flat[place]))
            same_special(ours, theirs.flat[place])


OPERATORS = {
    "add": NUMBERS, "sub": NUMBERS, "mul": NUMBERS, "truediv": FLOATS, "floordiv": INTEGERS + REAL,
    "mod": INTEGERS + REAL, "pow": NUMBERS, "and_": BOOL + INTEGERS, "or_": BOOL + INTEGERS, "xor": BOOL + INTEGERS,
    "lshift": INTEGERS, "rshift": INTEGERS, "lt": INTEGERS + REAL, "le": INTEGERS + REAL, "gt": INTEGERS + REAL,
    "ge": INTEGERS + REAL, "eq": ALL, "ne": ALL, "iadd": NUMBERS, "isub": NUMBERS, "imul": NUMBERS,
    "itruediv": FLOATS, "ifloordiv": INTEGERS + REAL, "imod": INTEGERS + REAL, "ipow": NUMBERS,
    "iand": BOOL + INTEGERS, "ior": BOOL + INTEGERS, "ixor": BOOL + INTEGERS, "ilshift": INTEGERS,
    "irshift": INTEGERS,
}  # fmt: skip


@each(OPERATORS)
def test_operators(name):
    f = getattr(operator, name)
    for dtype in OPERATORS[name]:
        x, y = sample(dtype, (2, 3)), sample(dtype, (2, 3), 1)
        y = np.abs(y).astype(dtype) if "pow" in name or "shift" in name else y
        check(lambda xp, x, y: f(x, y), x, y, theirs=lambda xp, x, y: f(x.copy(), y))
        number = {"b": True, "f": 1.5, "c": 2j}.get(np.dtype(dtype).kind, 2)
        check(lambda xp, x: f(x, number), x, theirs=lambda xp, x: f(x.copy(), number))
        if name[0] != "i":
            check(lambda xp, x: f(number, x), np.abs(x).astype(dtype))


REDUCTIONS = ("any", "all", "count_nonzero", "max", "min", "mean", "std", "var")


@each(product([*REDUCTIONS, "sum", "prod", "argmax", "argmin"], [(), (3,), (2, 3)]))
def test_reductions(name, shape):
    for dtype in REAL + (ALL if name in ("any", "all", "count_nonzero") else ["int64", "uint64"]):
        if name == "mean" and dtype not in REAL:
            continue
        x = sample(dtype, shape)
        several = [] if name.startswith("arg") else [tuple(range(len(shape)))]
        for axis in [None, *range(-len(shape), len(shape)), *several]:
            for keepdims in (False, True):
                check(lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=keepdims), x)
            if name in ("std", "var") and dtype in REAL and shape:
                check(lambda xp, x: getattr(xp, name)(x, axis=axis, correction=0.5), x)
            if name in ("sum", "prod"):
                check(lambda xp, x: getattr(xp, name)(x, axis=axis, dtype=xp.complex128), x)


def test_reductions_of_nothing():
    x = np.ones((2, 0, 3), np.float32)
    for name in ("any", "all", "count_nonzero", "sum", "prod"):
        for axis in (None, 0, 1, (0, 1)):
            check(lambda xp, x: getattr(xp, name)(x, axis=axis), x)


@each(["cumulative_sum", "cumulative_prod"])
def test_running_totals(name):
    ours = getattr(al, name)
    of_numpy = {"cumulative_sum": np.cumsum, "cumulative_prod": np.cumprod}[name]
    for dtype in ("int64", "float32", "complex128"):
        for shape, axes in (((3,), (None, 0, -1)), ((2, 3), (0, 1, -1)), ((2, 0), (0, 1))):
            x = sample(dtype, shape)
            for axis in axes:
                plain = of_numpy(x, axis=axis)
                same(ours(al.asarray(x), axis=axis), plain)
                lead = list(plain.shape)
                lead[axis or 0] = 1
                first = np.full(lead, int(name == "cumulative_prod"), dtype)
                initial = np.concatenate([first, plain], axis or 0)
                same(ours(al.asarray(x), axis=axis, include_initial=True), initial)
    with pytest.raises(ValueError, match=r"tensor of shape \(2, 3\) needs an axis"):
        ours(al.ones((2, 3)))


ANY_ARRAY = {
    "flip": lambda xp, x, axis: xp.flip(x, axis=axis),
    "roll": lambda xp, x, axis: xp.roll(x, 2, axis=axis),
    "concat": lambda xp, x, axis: xp.concat([x, x], axis=axis),
    "repeat": lambda xp, x, axis: xp.repeat(x, 2, axis=axis),
    "take": lambda xp, x, axis: xp.take(x, xp.asarray([0, 1, 0]), axis=axis),
    "take none": lambda xp, x, axis: xp.take(x, xp.asarray(np.zeros(0, int)), axis=axis),
}
ONE_AXIS = {
    "sort": lambda xp, x, axis: xp.sort(x, axis=axis, stable=True),
    "argsort": lambda xp, x, axis: xp.argsort(x, axis=axis, stable=True),
    "diff": lambda xp, x, axis: xp.diff(x, axis=axis, n=2, prepend=x, append=x),
    "stack": lambda xp, x, axis: xp.stack([x, x], axis=axis),
    "unstack": lambda xp, x, axis: xp.unstack(x, axis=axis),
    "expand and squeeze": lambda xp, x, axis: xp.squeeze(xp.expand_dims(x, axis=axis), axis=axis),
    "take_along_axis": lambda xp, x, axis: xp.take_along_axis(x, xp.argsort(x, axis=axis), axis=axis),
    "take one": lambda xp, x, axis: xp.take_along_axis(x, xp.zeros((1,) * x.ndim, dtype=xp.int64), axis=axis),
    "repeat each": lambda xp, x, axis: xp.repeat(x, xp.asarray(np.arange(x.shape[axis])), axis=axis),
    "moveaxis": lambda xp, x, axis: xp.moveaxis(x, axis, 0),
}  # fmt: skip


@each([*ANY_ARRAY, *ONE_AXIS])
def test_manipulation_along_an_axis(name):
    f = ANY_ARRAY.get(name) or ONE_AXIS[name]
    for dtype in ("bool", "int8", "uint64", "float32"):
        for shape in ((3,), (2, 3), (2, 2, 3)):
            for axis in [*([None] if name in ANY_ARRAY else []), *range(-len(shape), len(shape))]:
                check(lambda xp, x: f(xp, x, axis), sample(dtype, shape))


MANIPULATION = {
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, *x.shape)),
    "broadcast_arrays": lambda xp, x: list(xp.broadcast_arrays(x, xp.expand_dims(x, axis=0))),
    "permute_dims": lambda xp, x: xp.permute_dims(x, tuple(range(x.ndim))[::-1]),
    "reshape": lambda xp, x: xp.reshape(x, x.shape[::-1], copy=True),
    "tile": lambda xp, x: xp.tile(x, (2, 1, 2)),
    "roll": lambda xp, x: xp.roll(x, tuple(range(x.ndim)), axis=tuple(range(x.ndim))) if x.ndim else x,
    "meshgrid": lambda xp, x: list(xp.meshgrid(xp.reshape(x, (-1,)), xp.reshape(x, (-1,)), indexing="ij")),
    "nonzero": lambda xp, x: xp.nonzero(x) if x.ndim else (),
    "where": lambda xp, x: xp.where(x == x, x, x),
    "clip": lambda xp, x: xp.clip(x, max=x) if x.dtype != bool else x,
    "zeros_like": lambda xp, x: xp.zeros_like(x),
    "ones_like": lambda xp, x: xp.ones_like(x, dtype=xp.float32),
    "full_like": lambda xp, x: xp.full_like(x, 1),
    "tril": lambda xp, x: xp.tril(x, k=1) if x.ndim > 1 else x,
    "triu": lambda xp, x: xp.triu(x, k=-1) if x.ndim > 1 else x,
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x) if x.ndim > 1 else x,
    "astype": lambda xp, x: [xp.astype(x == x, getattr(xp, dtype)) for dtype in ALL],
    "positions": lambda xp, x: [x[...], x[None, ...], x[..., :0] if x.ndim else x, x[x == x]],
    "unique_all": lambda xp, x: xp.unique_all(x),
    "unique_counts": lambda xp, x: xp.unique_counts(x),
    "unique_inverse": lambda xp, x: xp.unique_inverse(x),
    "unique_values": lambda xp, x: xp.unique_values(x) if xp is al else xp.unique_counts(x).values,  # not in order
}


@each(MANIPULATION)
def test_manipulation(name):
    for dtype in ALL:
        for shape in SHAPES:
            check(lambda xp, x: MANIPULATION[name](xp, x), sample(dtype, shape))


def test_every_nan_is_an_element_of_its_own():
    found = al.unique_all(al.asarray([np.nan, 1.0, np.nan, -0.0, 0.0]))
    same(list(found), list(np.unique_all(np.array([np.nan, 1.0, np.nan, -0.0, 0.0], np.float32))))
    assert found.counts.numpy().tolist() == [2, 1, 1, 1] and al.unique_values(al.full((3,), al.nan)).shape == (3,)


def test_counts_may_be_weighted():
    x, w = np.array([0, 2, 2]), np.array([0.5, 1.0, 2.0])
    same(al.bincount(al.asarray(x), weights=al.asarray(w), minlength=5), np.bincount(x, w, 5))


def test_sorting_downwards_keeps_equal_elements_in_order():
    x = al.asarray([2, 1, 2, 1, 3])
    assert al.argsort(x, descending=True, stable=True).numpy().tolist() == [4, 0, 2, 1, 3]
    assert al.sort(x, descending=True, stable=False).numpy().tolist() == [3, 2, 2, 1, 1]
    for side in ("left", "right"):
        theirs = np.searchsorted(x.numpy(), x.numpy(), side, np.argsort(x.numpy(), stable=True))
        same(al.searchsorted(x, x, side=side, sorter=al.argsort(x)), theirs)


@each(INTEGERS + REAL)
def test_counting(dtype):
    for bounds in ((5,), (1, 5), (1, 9, 2), (0,), (3, 1)):
        check(lambda xp: xp.arange(*bounds, dtype=getattr(xp, dtype)))
    for num in (0, 1, 5):
        for endpoint in (True, False):
            check(lambda xp: xp.linspace(0, 7, num, dtype=getattr(xp, dtype), endpoint=endpoint))


@each(ALL)
def test_filling(dtype):
    check(lambda xp: xp.eye(3, 4, k=1, dtype=getattr(xp, dtype)))
    check(lambda xp: xp.eye(0, 2, dtype=getattr(xp, dtype)))
    for shape in ((), 3, (2, 0)):
        check(lambda xp: xp.zeros(shape, dtype=getattr(xp, dtype)))
        check(lambda xp: xp.ones(shape, dtype=getattr(xp, dtype)))
        check(lambda xp: xp.full(shape, 1, dtype=getattr(xp, dtype)))


# -- extensions -------------------------------------------------------------------------------------------

MATRICES = {
    "cholesky": lambda xp, x: xp.linalg.cholesky(x),
    "upper cholesky": lambda xp, x: xp.linalg.cholesky(x, upper=True),
    "det": lambda xp, x: xp.linalg.det(x),
    "diagonal": lambda xp, x: xp.linalg.diagonal(x, offset=1),
    "eigh": lambda xp, x: xp.linalg.eigh(x).eigenvalues,
    "eigvalsh": lambda xp, x: xp.linalg.eigvalsh(x),
    "inv": lambda xp, x: xp.linalg.inv(x),
    "matrix_rank": lambda xp, x: xp.linalg.matrix_rank(x),
    "matrix_power": lambda xp, x: [xp.linalg.matrix_power(x, n) for n in (0, 1, 3, -1)],
    "pinv": lambda xp, x: xp.linalg.pinv(x),
    "qr": lambda xp, x: xp.matmul(*xp.linalg.qr(x)),
    "slogdet": lambda xp, x: list(xp.linalg.slogdet(x)),
    "solve": lambda xp, x: [xp.linalg.solve(x, x[0, 0]), xp.linalg.solve(x, x[0]), xp.linalg.solve(x, x)],
    "svd": lambda xp, x: xp.linalg.svd(x).S,
    "svdvals": lambda xp, x: xp.linalg.svdvals(x),
    "trace": lambda xp, x: xp.linalg.trace(x, offset=1, dtype=xp.complex128),
    "norms": lambda xp, x: [
        xp.linalg.matrix_norm(x, ord=ord, keepdims=keepdims)
        for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
        for keepdims in (False, True)
    ],
    "vector norms": lambda xp, x: [
        xp.linalg.vector_norm(x, ord=ord, axis=axis, keepdims=axis == 0)
        for ord in (0, 1, 2, 3, 0.5, -1, np.inf, -np.inf)
        for axis in (None, 0, -1)
    ],
}


@each(product(MATRICES, FLOATS))
def test_linear_algebra(name, dtype):
    x = sample(dtype, (2, 3, 3))
    x = (x @ np.conj(np.swapaxes(x, -1, -2)) + 3 * np.eye(3)).astype(dtype)
    ours, theirs = MATRICES[name](al, al.asarray(x)), MATRICES[name](np, x)
    for one, other in zip(ours, theirs) if isinstance(theirs, list) else [(ours, theirs)]:
        other = np.asarray(other)
        assert one.dtype == other.dtype and one.shape == other.shape
        wide = 2e-3 if dtype in ("float32", "complex64") else 1e-9
        np.testing.assert_allclose(one.numpy(), other, rtol=wide, atol=wide * np.abs(other).max())


def test_factors_have_the_standard_s_names_and_make_the_matrix():
    x = al.asarray(sample("float64", (2, 4, 3)))
    q, r = al.linalg.qr(x, mode="complete")
    assert (q.shape, r.shape) == ((2, 4, 4), (2, 4, 3)) and al.linalg.qr(x)._fields == ("Q", "R")
    u, s, vh = al.linalg.svd(x, full_matrices=False)
    assert al.linalg.svd(x)._fields == ("U", "S", "Vh") and al.linalg.svd(x).U.shape == (2, 4, 4)
    np.testing.assert_allclose((u * s[:, None, :]) @ vh, x.numpy(), atol=1e-12)
    np.testing.assert_allclose(q @ r, x.numpy(), atol=1e-12)
    square = al.linalg.matmul(al.matrix_transpose(x), x)
    values, vectors = al.linalg.eigh(square)
    assert al.linalg.eigh(square)._fields == al.linalg.eig(square)._fields == ("eigenvalues", "eigenvectors")
    np.testing.assert_allclose(square @ vectors, vectors * values[:, None, :], atol=1e-9)
    values, vectors = al.linalg.eig(square)
    assert values.dtype == vectors.dtype == al.linalg.eigvals(square).dtype == al.complex128
    np.testing.assert_allclose(al.cast(square, al.complex128) @ vectors, vectors * values[:, None, :], atol=1e-9)
    assert al.linalg.slogdet(square)._fields == ("sign", "logabsdet")
    assert int(al.linalg.matrix_rank(x[0], rtol=al.asarray(0.999))) == 1
    np.testing.assert_allclose(al.linalg.pinv(x, rtol=0.5), np.linalg.pinv(x.numpy(), rtol=0.5), atol=1e-12)


def test_matrices_without_elements():
    x = al.zeros((2, 0, 3))
    assert al.linalg.matrix_norm(x, ord=2).numpy().tolist() == [0, 0]
    assert float(al.linalg.vector_norm(x, ord=al.inf)) == 0 and al.linalg.svdvals(x).shape == (2, 0)
    assert al.linalg.inv(al.zeros((0, 3, 3))).shape == (0, 3, 3)


@each(NUMBERS)
def test_products(dtype):
    for a, b in (((3,), (3,)), ((2, 3), (3,)), ((2, 1, 2, 3), (4, 3, 5)), ((0, 3), (3, 0))):
        check(lambda xp, x, y: xp.matmul(x, y), sample(dtype, a), sample(dtype, b))
    for axes in (0, 1, 2, ((0,), (1,)), ((1, 0), (0, 1))):
        check(lambda xp, x: xp.tensordot(x, x, axes=axes), sample(dtype, (3, 3)))
    for a, b, axis in (((2, 3), (3,), -1), ((3, 2), (2, 3, 1), -2), ((2, 0), (0,), -1)):
        check(lambda xp, x, y: xp.vecdot(x, y, axis=axis), sample(dtype, a), sample(dtype, b))
    check(lambda xp, x, y: xp.linalg.cross(x, y), sample(dtype, (2, 3)), sample(dtype, (2, 3), 1))
    check(lambda xp, x: xp.linalg.cross(x, x[::-1], axis=-2), sample(dtype, (3, 2)))
    check(lambda xp, x: xp.linalg.outer(x, x), sample(dtype, (3,)))


@each(["fft", "ifft", "hfft", "ihfft", "rfft", "irfft"])
def test_transforms_along_an_axis(name):
    for dtype in REAL if name in ("rfft", "ihfft") else COMPLEX:
        for n in (None, 3, 6):
            for norm in ("backward", "ortho", "forward"):
                check(lambda xp, x: getattr(xp.fft, name)(x, n=n, axis=0, norm=norm), sample(dtype, (4, 5)))


@each(["fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_along_axes(name):
    for dtype in REAL if name == "rfftn" else COMPLEX:
        for s, axes in ((None, None), ((3, 4), (0, 1)), ((3,), (1,)), (None, (0,)), ((3, 4), None)):
            theirs = (0, 1) if s == (3, 4) else axes  # NumPy warns of axes that are not said
            check(
                lambda xp, x: getattr(xp.fft, name)(x, s=s, axes=axes if xp is al else theirs),
                sample(dtype, (4, 5)),
            )


def test_frequencies():
    check(lambda xp, x: [xp.fft.fftshift(x), xp.fft.ifftshift(x, axes=(0,))], sample("float64", (4, 5)))
    for f in ("fftfreq", "rfftfreq"):
        same(getattr(al.fft, f)(5, d=0.5, dtype=al.float64), getattr(np.fft, f)(5, d=0.5))
        with pytest.raises(ValueError, match="fftfreq: there is no device 'gpu'"):
            getattr(al.fft, f)(5, device="gpu")


# -- arrays of anything -----------------------------------------------------------------------------------


def test_arrays_of_anything():
    x = al.asarray([1.5, 2.5])
    assert al.asarray(x) is x and al.asarray(x, dtype=al.float64).dtype == al.float64
    assert al.asarray([x, x * 2]).shape == (2, 2) and al.asarray(np.float64(1)).dtype == al.float64
    assert al.asarray(memoryview(b"abc")).numpy().tolist() == [97, 98, 99]
    assert al.asarray([[1, 1j]]).dtype == al.complex64 and al.asarray([np.complex128(1j)]).dtype == al.complex128
    assert al.asarray([1, 2], dtype=al.complex128).dtype == al.complex128
    assert int(al.asarray(2**64 - 1, dtype=al.uint64)) == 2**64 - 1
    # NumPy makes floats of these unless the dtype is named
    assert np.asarray(al.asarray([[2**63, 0]], dtype=al.uint64)).tolist() == [[2**63, 0]]
    for wrong in ([2**63, 0.5], [2**63, -1]):
        with pytest.raises(TypeError, match="float64 were given where uint64 is needed"):
            al.asarray(wrong, dtype=al.uint64)
    with pytest.raises(OverflowError):
        al.asarray(2**40)
    for shared in ([1, 2], np.ones(2)):
        with pytest.raises(ValueError, match="asarray: a tensor never shares the memory of what may change"):
            al.asarray(shared, copy=False)
    assert al.asarray(x, copy=False) is x
    with pytest.raises(ValueError, match="asarray: a copy is needed, and copy=False does not allow it"):
        al.asarray(x, dtype=al.float64, copy=False)
    mine = np.ones(2)
    kept = al.asarray(mine)
    mine[0] = 5
    assert kept.numpy().tolist() == [1, 1]


def test_arrays_of_other_libraries():
    assert al.from_dlpack(np.arange(3)).numpy().tolist() == [0, 1, 2] and al.from_dlpack(al.ones(2)).shape == (2,)
    with pytest.raises(ValueError, match="from_dlpack: a tensor never shares the memory of what may change"):
        al.from_dlpack(np.ones(2), copy=False)


def test_an_axis_that_is_not_there_is_an_index_error_too():
    for wrong in (
        lambda x: al.expand_dims(x, axis=5), lambda x: al.sum(x, axis=3), lambda x: al.unstack(x, axis=2),
        lambda x: al.linalg.vector_norm(x, axis=4), lambda x: al.cumulative_sum(x, axis=2),
    ):  # fmt: skip
        with pytest.raises(IndexError, match="is out of range for a tensor of rank"):
            wrong(al.ones((2, 3)))


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: al.ones(2, device="gpu"), "full: there is no device 'gpu'"),
        (lambda: al.arange(2, device="gpu"), "arange: there is no device 'gpu'"),
        (lambda: al.linspace(0, 1, 2, device="gpu"), "linspace: there is no device 'gpu'"),
        (lambda: al.eye(2, device="gpu"), "eye: there is no device 'gpu'"),
        (lambda: al.zeros_like(al.ones(2), device="gpu"), "full: there is no device 'gpu'"),
        (lambda: al.eye(2, -1), r"eye: negative dimensions are not allowed, got \[2, -1\]"),
        (lambda: al.diff(al.ones(3), n=-1), "diff: order must be non-negative but got -1"),
        (lambda: al.nonzero(al.ones(())), "nonzero: a tensor of no dimensions has no indices"),
        (lambda: al.matrix_transpose(al.ones(3)), "matrix_transpose: a matrix or a stack of them is needed"),
        (lambda: al.vecdot(al.ones(3), al.ones(2)), "have vectors of different lengths"),
        (lambda: al.linalg.cross(al.ones((2, 2)), al.ones(2)), "cross: the vectors must have three elements"),
        (lambda: al.linalg.outer(al.ones((2, 2)), al.ones(2)), r"outer: vectors are needed, got shape \(2, 2\)"),
        (lambda: al.linalg.matrix_rank(al.ones(3)), "matrix_rank: a matrix or a stack of them is needed"),
    ],
)
def test_what_cannot_be_is_refused(wrong, words):
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=words):
        wrong()


# -- in converted code, and on any arrays -----------------------------------------------------------------


def test_the_standard_s_functions_are_staged():
    @al.function
    def of(x, n):
        total = al.zeros(())
        while n > 0:
            found = al.unique_all(x)
            spread = al.broadcast_arrays(x, found.values[:1])[1]
            total += al.cast(al.sum(found.counts), al.float32) + al.sum(spread)
            total += al.sum(al.cumulative_sum(x, include_initial=True)) + al.vecdot(x, x) + al.linalg.vector_norm(x)
            total += al.linalg.trace(al.linalg.inv(al.linalg.outer(x, x) + al.eye(4)))
            total += al.abs(al.fft.fft(x))[0] + al.cast(al.sum(al.signbit(x)), al.float32)
            n -= 1
        return total

    x = np.array([3.0, -1.0, 3.0, 0.5], np.float32)
    one = (
        4 - 4 + np.cumsum(x).sum() + x @ x + np.linalg.norm(x) + np.trace(np.linalg.inv(np.outer(x, x) + np.eye(4)))
        + abs(x.sum()) + 1
    )  # fmt: skip
    np.testing.assert_allclose(float(of(al.asarray(x), al.asarray(3))), 3 * one, rtol=1e-5)


def test_derivatives_pass_through_them():
    def f(x):
        shaped = al.broadcast_arrays(x, al.ones((2, 1)))[0]
        norm = al.linalg.vector_norm(x) + al.vecdot(x, al.flip(x)) + al.sum(al.cumulative_prod(x, include_initial=True))
        return al.sum(shaped) + norm + al.sum(al.sort(x, descending=True)[:1]) + al.std(x, correction=1)

    x = np.array([0.5, 1.5, -2.0])
    found = al.grad(f)(al.asarray(x)).numpy()
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-6
        slope = (float(f(al.asarray(x + step))) - float(f(al.asarray(x - step)))) / 2e-6
        assert abs(found[place] - slope) < 1e-6


ARRAYS = st.sampled_from(ALL).flatmap(
    lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=4))
)


@example(np.array([1, complex(0, np.nan), complex(np.nan, 0), 2, complex(0, np.nan), 1]), np.array(False))
@settings(max_examples=25, deadline=None)
@given(ARRAYS, ARRAYS)
def test_any_arrays(x, y):
    for f in (
        lambda xp, x, y: xp.unique_counts(x), lambda xp, x, y: xp.unique_inverse(x), lambda xp, x, y: xp.sum(x != x),
        lambda xp, x, y: xp.permute_dims(x, tuple(range(x.ndim))[::-1]), lambda xp, x, y: xp.flip(x),
        lambda xp, x, y: xp.any(x), lambda xp, x, y: xp.equal(x, xp.astype(x, x.dtype)),
        lambda xp, x, y: xp.concat([xp.reshape(x, (-1,)), xp.reshape(y, (-1,))]), lambda xp, x, y: xp.count_nonzero(y),
    ):  # fmt: skip
        with np.errstate(all="ignore"):
            ours, theirs = f(al, al.asarray(x), al.asarray(y)), f(np, x, y)
        for one, other in zip(ours, theirs) if isinstance(theirs, tuple) else [(ours, theirs)]:
            np.testing.assert_array_equal(one.numpy(), other)
            assert one.dtype == np.asarray(other).dtype or one.dtype == al.int32  # a sum of booleans
    assert al.result_type(al.asarray(x), al.asarray(y)) == np.result_type(x, y)


def test_hypothesis_makes_arrays_of_the_namespace():
    from hypothesis.extra.array_api import make_strategies_namespace

    made = make_strategies_namespace(al, api_version="2024.12")

    @settings(max_examples=30, deadline=None)
    @given(made.scalar_dtypes().flatmap(lambda dtype: made.arrays(dtype, made.array_shapes())), st.data())
    def takes(x, data):
        assert isinstance(x, al.Tensor)
        index = data.draw(made.indices(x.shape))
        np.testing.assert_array_equal(x[index].numpy(), x.numpy()[index])

    takes()


def test_a_spread_of_too_few_elements_is_nan():
    x = al.asarray([1.0, 2.0, 4.0])
    for correction in (3, 4, 7.5):
        for f in (al.var, al.std, al.function(lambda v, f=al.var, c=correction: f(v, correction=c))):
            found = f(x, correction=correction) if f in (al.var, al.std) else f(x)
            assert np.isnan(found.numpy()) and found.dtype == al.float32
    assert np.isclose(al.var(x, correction=2).numpy(), np.var([1.0, 2.0, 4.0], ddof=2))
