"""The functions of the array API give what NumPy's of the same meaning give: values, dtypes, shapes, forms of results.

NumPy is a namespace of the standard itself. What depends on default dtypes is in ``test_standard_names``.
"""

from __future__ import annotations

import math
import operator
from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each

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
    "diff none": lambda xp, x, axis: xp.diff(x, axis=axis, n=0, prepend=x),
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
    for bounds in ((2.5,), (0.5, 3), (0.5, 2.1), (2.0, 5.0, 2.0)):  # as many as there are floats
        if dtype in INTEGERS:
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
        (lambda: al.arange(0, 2, 0.5, dtype=al.int32), "steps of 0.5 give no integers"),
        (lambda: al.arange(math.nan, dtype=al.int32), "there are no integers from 0 to nan"),
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
