"""What NumPy makes of a ``dtype`` that an array has not: of reductions that compute in it, and of values of any kind
that are written to arrays, also where a number of the run stands beside them."""

from __future__ import annotations

import linecache
import math
import re
import warnings

import autoloop as al
import numpy as np
from each_case import each

#: of a matrix ``x`` of each dtype and another dtype ``d``
REDUCED = """
np.var(x, dtype=d), x.std(dtype=d), np.std(x, axis=0, dtype=d, ddof=1), np.var(x, axis=1, dtype=d, mean=x[0, 0]),
np.mean(x, dtype=d), x.mean(0, d), np.sum(x, dtype=d, initial=1), np.prod(x[0], dtype=d), np.cumsum(x[1], dtype=d),
np.nanvar(x, dtype=d), np.nanmean(x, axis=0, dtype=d), np.nanstd(x, axis=1, dtype=d), np.std(x, where=x != 1, dtype=d),
np.average(x), np.linalg.norm(x), np.var(x), np.std(x, axis=1)
"""
OF_SCALARS = """
math.sin(x); math.erfc(x); math.floor(x); math.modf(x); math.hypot(x, 3); math.isnan(x); sum(x); sum(x, n); round(x, n)
"""
RAISING = "np.nanmean(x, dtype=int); np.nanvar(x, dtype=int); np.cov(x, dtype=int); np.std(x, dtype=int)"
#: values that are written to a vector ``x``, by one of ``WAYS``
VALUES = """
1j; 300; 300.5; np.float64(300.5); np.complex64(1j); n * 1j; n * 300; '7'; b'7'; bytearray(b'7'); bytearray(b'12');
memoryview(b'12'); None; np.str_('7'); np.bytes_(b'7'); np.array(['1', '2']); np.datetime64(3, 's'); [1, n]; range(2);
[True]; np.array(1j)
"""
WAYS = """
x.__setitem__(0, v); x.fill(v); x.__setitem__(slice(0, 2), v); x.flat.__setitem__(1, v); x.flat.__setitem__(slice(1), v)
np.full(2, v, x.dtype); np.full_like(x, v); np.sum(x, initial=v); x == v; x.put(0, v); np.putmask(x, x > 1, v)
np.copyto(x, v); np.where(x > 1, v, x); np.pad(x, 1, constant_values=v); x.take(v); np.clip(x, 1, v); x + v
"""


def listed(text):
    return [one.strip() for one in text.replace("\n", ";").split(";") if one.strip()]


def of_source(body, parameters):
    text = f"def f({parameters}):\n    return {body}\n"
    linecache.cache[text] = (len(text), None, text.splitlines(True), text)
    names = {"np": np, "math": math}
    exec(compile(text, text, "exec"), names)
    return names["f"]


def outcome(f, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*given), given[0]
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            kinds = ArithmeticError, IndexError, TypeError, ValueError
            return next(kind for kind in kinds if isinstance(error, kind)), given[0]


def same(one, other):
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if not (isinstance(one, np.ndarray | np.generic) and isinstance(other, np.ndarray | np.generic)):
        return type(one) is type(other) and one == other
    if (type(one), one.dtype, one.shape) != (type(other), other.dtype, other.shape):
        return False
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    near = 4 * float(np.finfo(one.dtype).eps)
    return np.allclose(
        one.astype("D"), other.astype("D"), near, near * float(np.nanmax(np.abs(one), initial=0)), equal_nan=True
    )


MATRIX = np.array([[1.25, 2.5, -3.0, 0.75], [4.5, 1.0, 2.25, -1.5], [0.5, 3.75, 2.0, 6.0]])


@each([(x, d) for x in "lefFD" for d in "efF"])
def test_reductions_compute_in_the_dtype_they_are_given(x, d):
    matrix = (MATRIX + (1j * MATRIX[::-1] if x in "FD" else 0)).astype(x)
    f = of_source(f"({' '.join(REDUCED.split())})", "x, d")
    with np.errstate(all="ignore"):
        plain, found = outcome(f, matrix, np.dtype(d)), outcome(al.function(f), matrix, np.dtype(d))
    differs = [i for i, (a, b) in enumerate(zip(plain[0], found[0], strict=True)) if not same(a, b)]
    assert not differs, [(REDUCED.split(", n")[0], plain[0][i], found[0][i]) for i in differs]


@each(listed(RAISING))
def test_reductions_raise_for_the_dtypes_that_numpys_raise_for(body):
    f = of_source(body, "x")
    assert same(outcome(al.function(f), MATRIX), outcome(f, MATRIX))


@each([(way, dtype) for way in listed(WAYS) for dtype in "bdF?"], one_in=3)
def test_what_is_no_number_of_an_array_is_written_as_numpy_does(way, dtype):
    values = listed(VALUES)
    for place in range((listed(WAYS).index(way) + ord(dtype)) % 4, len(values), 4):
        f = of_source(re.sub(r"\bv\b", values[place], way), "x, n")
        plain, found = (outcome(one, np.arange(3).astype(dtype), 2) for one in (f, al.function(f)))
        assert same(found, plain), (values[place], found, plain)


@each(listed(OF_SCALARS))
def test_numbers_of_pythons_are_made_of_scalars_as_python_makes_them(body):
    f = of_source(body, "x, n")
    for x in (np.complex64(1 + 2j), np.array(1j), np.array([1j, 2]).astype(np.complex64)[0], np.float32(2.5), 1j, True):
        plain, found = outcome(f, x, np.int64(1)), outcome(al.function(f), x, np.int64(1))
        assert same(found[0], plain[0]), (x, found, plain)


def returned_zip(x, n):
    return zip(x, x * n)


def returned_enumeration(x, n):
    return enumerate(x, n)


def returned_list_or_array(x, n):
    made = []
    for i in range(n):
        made.append(i)
    return made or x


@each([returned_zip, returned_enumeration, returned_list_or_array])
def test_iterators_that_only_a_run_can_make_are_pythons(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (np.int64(3), np.int64(0)):
            made, plain = al.function(f)(np.arange(3.0), n), f(np.arange(3.0), n)
            assert type(made) is type(plain) and repr(list(made)) == repr(list(plain))


@each([(np.bool_(1), 1, np.uint8(1)), (np.uint8(2), 0.5, np.float32(2)), (True, 1, np.float16(2)), (3, 1, np.uint8(2))])
def test_a_number_between_bounds_has_the_dtype_of_all_three(x, low, high):
    made = al.function(np.clip)(x, low, high)
    assert same(made, np.clip(x, low, high))


def test_covariances_are_rounded_where_numpy_rounds_them():
    # in place, what float64 numbers are taken from and multiplied by: and with weights the result has their dtype
    x, w = np.random.default_rng(0).normal(size=(7, 4)), np.arange(4) + 1
    for f in (
        lambda x: np.corrcoef(x, dtype="f"),
        lambda x: np.corrcoef(x, x * 2, dtype="f"),
        lambda x: np.cov(x, dtype="f", ddof=2),
        lambda x: np.cov(x, dtype="f2"),
        lambda x: np.cov(x, aweights=w, dtype="f"),
        lambda x: np.cov(x, fweights=w, dtype="f"),
        lambda x: np.cov(x, dtype="c8", fweights=w, aweights=w),
    ):
        plain, ours = f(x), al.function(f, executor="sequential")(x)
        assert plain.dtype == ours.dtype
        assert plain.tobytes() == ours.tobytes()
