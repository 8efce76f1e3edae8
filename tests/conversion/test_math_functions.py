"""Functions of ``math``, and what Python's numbers have under a dot, of numbers that a graph computes."""

from __future__ import annotations

import math

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, INTERPRETED
from left_to_python import refused_or_plain

LEAST = -(2**63)


def of_floats(x, n):
    f, k = float(x[0]), int(n)
    roots = math.sqrt(f), math.cbrt(f), math.exp(f), math.exp2(f), math.expm1(f), math.hypot(f, k), math.pow(f, k)
    logarithms = math.log(f), math.log(f, 2), math.log(f, k), math.log2(k), math.log10(f), math.log1p(f)
    angles = math.sin(f), math.cos(f), math.tan(f), math.asin(f / 4), math.acos(f / 4), math.atan(f), math.atan2(f, k)
    hyperbolic = math.sinh(f), math.cosh(f), math.tanh(f), math.asinh(f), math.acosh(f), math.atanh(f / 4)
    whole = math.floor(f), math.ceil(f), math.trunc(-f), math.floor(k), int(-f), math.trunc(k > 2)
    others = math.fabs(-f), math.fabs(k), math.copysign(f, -k), math.erf(f), math.isnan(f), math.isinf(f)
    scalars = math.sqrt(x[0]), math.floor(x[0]), math.isfinite(x[0]), math.exp(n)
    return roots, logarithms, angles, hyperbolic, whole, others, scalars


def of_numbers(x, n):
    f, k = float(x[0]), int(n)
    bits = k.bit_length(), k.bit_count(), k.numerator, k.denominator, k.as_integer_ratio(), f.as_integer_ratio()
    whole = math.gcd(k, 4), math.lcm(k, 4), math.factorial(k), math.comb(k, 2), math.perm(k, 2), math.isqrt(k)
    sums = math.fsum([f, k, 0.1]), math.fsum(x), math.prod([k, 2]), math.prod([f, 2]), math.dist([f, 1.0], [1.0, k])
    pieces = math.modf(f), math.frexp(f), math.ldexp(f, k), math.fmod(f, 0.4), math.remainder(f, 0.4)
    near = math.ulp(f), math.nextafter(f, 2.0), math.isclose(f, k, abs_tol=9.0), math.degrees(f), math.radians(f)
    special = math.gamma(f), math.lgamma(f), math.erfc(f), pow(k, 3, 5), pow(k, -1, 11), math.gcd(n, 4)
    tens = round(k, -1), round(f * 1234.5, -2)
    return bits, whole, sums, pieces, near, special, tens


def of_dots(x, n):
    f, k = float(x[0]), int(n)
    halves = f * 0.15 / f, f * 2.675 / f, f / f / 8, f * 1e-7
    rounded = round(f, 2), [round(half, 1) for half in halves], [round(half, 2) for half in halves], round(-f, 22)
    parts = f.real, f.imag, f.conjugate(), k.real, k.imag, k.conjugate(), (k > 2).real, (k > 2).imag
    return rounded, parts, f.is_integer(), (f * 0).is_integer(), round(k), round(k, 2), round(f)


def leaves(value):
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, (list, tuple)) else [value]


#: Python's own functions have no machine code
@pytest.mark.parametrize(
    ("program", "executor"), [(p, e) for p in (of_floats, of_dots) for e in EXECUTORS]
    + [(of_numbers, executor) for executor in INTERPRETED],
)  # fmt: skip
def test_values_are_of_pythons_types(program, executor):
    given = np.array([1.7, 2.5]), np.int64(7)
    wanted, got = leaves(program(*given)), leaves(al.function(program, executor=executor)(*given))
    assert [type(one) for one in got] == [type(one) for one in wanted]
    for one, other in zip(got, wanted):
        assert one == other or (type(one) is float and math.isclose(one, other, rel_tol=1e-15)), (one, other)


#: of a float of 1.7 and an int of 7
RAISING = [
    lambda f, k: math.sqrt(f - 5), lambda f, k: math.log(f - f), lambda f, k: math.log(f, 0.0),
    lambda f, k: math.log(f, f / f), lambda f, k: math.log2(-k), lambda f, k: math.log10(-f),
    lambda f, k: math.log1p(-f / f), lambda f, k: math.exp(f * 1000), lambda f, k: math.expm1(f * 1000),
    lambda f, k: math.cosh(f * 1000), lambda f, k: math.sinh(-f * 1000), lambda f, k: math.pow(0.0 * f, -1),
    lambda f, k: math.pow(-f, 0.5), lambda f, k: math.acos(f), lambda f, k: math.atanh(f / f),
    lambda f, k: math.acosh(f - 1), lambda f, k: math.sin(f * 1e308 * 10), lambda f, k: math.fmod(f, f - f),
    lambda f, k: math.floor(f * 1e308 * 10), lambda f, k: math.ceil((f - f) * math.inf),
    lambda f, k: math.factorial(-k), lambda f, k: math.isqrt(-k), lambda f, k: math.comb(k, -1),
    lambda f, k: math.gamma(f - f), lambda f, k: pow(k, -1, 7), lambda f, k: math.trunc(f * 1e308 * 10),
    lambda f, k: f ** (10000 * k), lambda f, k: (f - f) ** -1, lambda f, k: (k - k) ** -1,
    lambda f, k: f % (f - f), lambda f, k: f // (f - f), lambda f, k: f / (k - k), lambda f, k: divmod(k, k - k),
    lambda f, k: round((f - f) * math.inf), lambda f, k: int(f * 1e308 * 10), lambda f, k: math.gcd(k, f),
    lambda f, k: k.sum(), lambda f, k: f.T, lambda f, k: f.bit_length(), lambda f, k: k.hex(),
]  # fmt: skip


def test_what_python_raises_is_raised():
    for number, program in enumerate(RAISING):
        executor = INTERPRETED[number % len(INTERPRETED)]
        with pytest.raises(Exception) as plain:  # noqa: PT011, B017
            program(1.7, 7)
        with pytest.raises(type(plain.value)) as staged:
            al.function(lambda x, n, f=program: f(float(x), int(n)), executor=executor)(np.float64(1.7), np.int64(7))
        words = str(plain.value).replace("float divmod()", "zero")
        assert words in str(staged.value).replace("NumberTracer", "int"), number


@each(EXECUTORS)
def test_a_domain_error_names_the_function_in_a_loop(executor):
    def summed(x):
        total = 0.0
        for one in x:
            total += math.log(float(one))
        return total

    f = al.function(summed, executor=executor)
    assert math.isclose(f(np.arange(1.0, 40.0)), math.lgamma(40.0), rel_tol=1e-13)
    with pytest.raises(ValueError, match="math domain error"):
        f(np.arange(39.0))


@each(EXECUTORS)
def test_the_least_int_has_no_opposite_of_64_bits(executor):
    for program in (lambda k: -k, lambda k: abs(k), lambda k: k // -1, lambda k: divmod(k, k // k * -1)[0]):
        f = al.function(lambda n, program=program: program(int(n)), executor=executor)
        assert f(np.int64(LEAST + 1)) == program(LEAST + 1)
        assert f(np.int64(7)) == program(7)
        if executor == "native":
            with pytest.raises(OverflowError, match="9223372036854775808 has more than the 64 bits"):
                f(np.int64(LEAST))
        else:
            assert f(np.int64(LEAST)) == 2**63


#: parts of which a product with 1j would be no number, or lose its sign
PARTS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5])


def of_parts(x, n):
    zero_dim, made = x[5, ...], []
    for i in range(n):
        k = float(x[i])
        made += [complex(x[i], x[n - 1 - i]), complex(k, -k), complex(imag=k), complex(-0.0, k), complex(k, True)]
        made += [complex(x[i], 1j), complex(1j, k), complex(zero_dim, k), complex(k, zero_dim), complex(real=k)]
    return made


@each(EXECUTORS)
def test_the_parts_of_a_complex_number_are_what_is_given(executor):
    for count in (6, np.int64(6)):
        assert repr(al.function(of_parts, executor=executor)(PARTS, count)) == repr(of_parts(PARTS, count))


def test_the_imaginary_part_of_a_complex64_is_its_real_part():
    words = "a real number is needed, not NumPy's complex one: write z.real"
    with pytest.warns(np.exceptions.ComplexWarning):
        refused_or_plain(lambda z: complex(2, z[0]), words, np.array([1 + 2j], np.complex64))


def test_gradients_pass_through_math():
    def f(x):
        return math.sqrt(x) * math.log(x, 3) + math.atan2(x, 2.0) + math.pow(x, 1.5)

    x = 1.3
    step = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert math.isclose(al.grad(al.function(lambda x: f(float(x))))(np.float64(x)), step, rel_tol=1e-8)


def test_refusals_say_what_to_write():
    words = "math.prod of what is computed by a graph takes a list of numbers"
    refused_or_plain(lambda x: math.prod(x), words, np.arange(3.0) + 2)
    with pytest.raises(TypeError, match="must be real number, not complex"):
        al.function(lambda x: math.sin(x))(1j)
    with pytest.raises(TypeError, match="only arrays of one element can be made a Python float"):
        al.function(lambda x: float(x))(al.ones([3]))
    with pytest.raises(TypeError, match="only 0-dimensional arrays|only arrays of one element"):  # as NumPy has it
        al.function(lambda x: math.sin(x))(np.ones(3))
    for f, name in ((hash, "hash"), (bin, "bin")):
        with pytest.raises(TypeError, match=rf"{name}\(\) takes no tensor, of which only a run has the value"):
            al.function(lambda x, f=f: f(x))(al.constant(1))
