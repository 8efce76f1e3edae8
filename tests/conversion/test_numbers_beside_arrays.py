"""Python numbers that a graph computes, beside arrays: they fit or are an error, as the plain function has it."""

from __future__ import annotations

import warnings
from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, needs_native, spread
from left_to_python import refused_or_plain


def counted(n):
    i = 0
    while i < n:
        i += 1
    return i


def added(x, n):
    return x + counted(n)


def larger(x, n):
    return np.maximum(counted(n), x)


def compared(x, n):
    i = counted(n)
    return x < i, x >= i, x == i, -i < x, x != -i


def stored(x, n):
    x[0] = counted(n)
    return x


def stored_at(x, n):
    x[1:] = -counted(n)
    return x


def limited(x, n):
    return np.clip(x, -counted(n), counted(n))


def filled(x, n):
    return np.full_like(x, counted(n))


def listed(x, n):
    i = counted(n)
    return x + [i, 1.5], np.where(x > 1, i, 0), np.array([i, 2])


def halves(x, n):
    s = 0.5
    while s < n:
        s += 1
    x[0] = -s
    return x


def endless(x, n):
    s = 1e300
    while s < n:
        s = s * 10
    x[0] = s
    return x


def nothing(x, n):
    s = 1e308
    while s > n:
        s = s * 10 - s * 10
    x[0] = s
    return x


def outcome(f, x, *n):
    try:
        with np.errstate(all="ignore"):
            return f(x.copy(), *n)
    except (OverflowError, ValueError, TypeError) as refused:
        return type(refused), str(refused).splitlines()[0]


PROGRAMS = [added, larger, compared, stored, stored_at, limited, filled, listed, halves]


@spread("f", [(f,) for f in PROGRAMS], [f.__name__ for f in PROGRAMS])
def test_as_the_plain_function(f, executor):
    for dtype in ("int8", "uint8", "int64", "uint64", "float32", "bool"):
        compiled = al.function(f, executor=executor)
        for n in (5, 126, 127, 128, 300):
            x, n = np.array([1, 2]).astype(dtype), np.int64(n)
            wanted, found = outcome(f, x, n), outcome(compiled, x, n)
            if isinstance(wanted, tuple) and isinstance(wanted[0], type):
                assert found == wanted, (dtype, n)
                continue
            assert al.nest.map_structure(np.shape, found) == al.nest.map_structure(np.shape, wanted), (found, wanted)
            for one, other in zip(al.nest.flatten(found), al.nest.flatten(wanted), strict=True):
                assert one.dtype == other.dtype, (dtype, n)
                np.testing.assert_array_equal(one, other, err_msg=f"{dtype} {n}")


@each(product(["int8", "int64", "uint64"], EXECUTORS))
def test_what_no_integer_is_near(dtype, executor):
    x = np.array([1, 2], dtype)
    for f, n in ((endless, np.float64(1e400)), (nothing, np.float64(-1.0)), (endless, np.float64(1e301))):
        assert outcome(al.function(f, executor=executor), x, n) == outcome(f, x, n)
        assert outcome(f, x, n)[0] in (OverflowError, ValueError)


def test_a_derivative_ends_where_a_float_is_stored_among_integers():
    def f(x):
        s = 1.0
        while s < 5:
            s = s * 2
        a = np.zeros(2, np.int32)
        a[0] = s
        return x * a[0] + x

    assert al.grad(al.function(f))(np.float64(2.0)) == 9.0


def test_a_number_in_one_branch_and_an_array_in_the_other():
    def used(x, n):
        y = 0
        if n > 0:
            y = x * 2
        return y + x, (x if n > 0 else 1) * x, y * np.ones(2)

    def given(x, n):
        return x * 1 if n > 0 else 0

    def given_by_return(x, n):
        if n > 0:
            return 0.5
        return x * 1

    def given_after_another(x, n):
        y = 0 if n > 0 else x * 1
        if n > 1:
            y = x + 1
        return [y]

    def of_arrays(x, n):
        return x if n > 0 else np.zeros_like(x)

    x = np.array([1.0, 2.0], np.float32)
    for n in np.int64(1), np.int64(-1):
        for f in used, of_arrays:
            expected, found = f(x, n), al.function(f)(x, n)
            for one, other in zip(expected, found):
                np.testing.assert_array_equal(other, one)
                assert other.dtype == one.dtype
        for f in given, given_by_return, given_after_another:
            expected, found = al.nest.flatten(f(x, n))[0], al.nest.flatten(al.function(f)(x, n))[0]
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)


def test_a_number_of_several_types_or_an_array():
    def f(x, n):
        y = 0 if n > 0 else x
        if n > 1:
            y = 0.5
        return y

    words = "an array after one branch and a Python number after another, of which only"
    refused_or_plain(f, words, np.ones(2), np.int64(1))


def test_an_array_without_axes_meets_what_may_be_a_number():
    def given(b, n):
        for k in range(n):
            b = np.array([k + 1.5])
        return n + b, n // b, np.add(n, b), n < b

    def begun(a, n):
        u = np.int64(3)
        for _ in range(n):
            u = np.tanh(a)
        return u

    for n in (np.array(0), np.array(2), np.int64(0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_equal(al.function(given)(3, n), given(3, n))
            found, expected = al.function(begun)(np.ones(2), n), begun(np.ones(2), n)
        assert type(found) is type(expected) and found.dtype == expected.dtype


@needs_native
def test_a_number_that_is_chosen_among_narrow_ones():
    def nearest(a, x):
        return min(range(3), key=lambda k: abs(a[k] - x))

    a = np.array([1.0, 5.0, 2.0])
    decorated = al.function(nearest, executor="native")
    for x in (1.2, 4.0, 2.4):
        assert decorated(a, np.float64(x)) == nearest(a, x)


def _chosen(a, n):
    b = -3
    if n > 0:
        b = a + 1
    return b


def _before_a_loop(a, n):
    b = -3
    for _ in range(n):
        b = np.cumsum(a)
    return b


def _after_a_loop(a, n):
    for _ in range(n):
        a = -3
    return a


def _before_one_that_reads_a_name_that_is_not_set(a, n):
    b, k = -3, 0
    while k < n:
        k += 1
        b = np.cumsum(a)
    u = u < b  # noqa: F821
    return u


@each([_chosen, _before_a_loop, _after_a_loop, _before_one_that_reads_a_name_that_is_not_set])
def test_a_number_that_an_array_beside_it_does_not_hold_is_for_plain_python(f):
    for n in 0, 2:
        refused_or_plain(
            f, "does not hold[:;] Python integer -3 out of bounds for uint", np.array([0, 5], "u4"), np.array(n)
        )


@each([(lambda n: n * 1,), (lambda n: np.ones(2) * n,), (lambda n: 7,)])
def test_a_number_of_more_than_64_bits_before_a_loop_is_for_plain_python(made):
    def program(n):
        b = 2**70
        for _ in range(n):
            b = made(n)
        return b

    for n in np.uint8(0), np.uint8(2):
        with pytest.warns(UserWarning, match=r"'b' is a number.*out of bounds for int64"):
            ours = al.function(program)(n)
        assert type(ours) is type(program(n)) and np.array_equal(ours, program(n))


def _number_or_array(x):
    b = 15
    if x[0] > 0:
        b = x * 1.25
    return b


def _scalar_or_array(x):
    return x if x[0] > 0 else x[0]


#: what Python makes of a number, and what of an array
ASKED = [
    lambda x, b: round(b(x), 1),
    lambda x, b: round(b(x)),
    lambda x, b: sum(b(x)),
    lambda x, b: max(b(x)),
    lambda x, b: any(b(x)),
    lambda x, b: sorted(b(x)),
    lambda x, b: np.shape(b(x)),
]


@each(product(ASKED, [_number_or_array, _scalar_or_array]))
def test_what_python_makes_of_numbers_or_of_arrays_only_is_for_plain_python(f, b):
    def asked(x):
        return f(x, b)

    for x in (np.array([1.0, 2.345]), np.array([-1.0, 2.345])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted, found = (outcome(g, x) for g in (asked, al.function(asked)))
        assert type(found) is type(wanted) and repr(found) == repr(wanted)


def test_the_text_of_what_may_be_a_number_is_for_plain_python():
    refused_or_plain(lambda x: f"{_number_or_array(x)}", "a text is asked", np.array([-1.0, 2.0]))
