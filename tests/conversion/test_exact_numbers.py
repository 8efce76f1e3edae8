"""Python numbers in staged loops behave as Python's: exact or an error, never another value."""

from __future__ import annotations

import operator

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS

TOP = 2**63 - 1


def factorial(n):
    product = 1
    for i in range(1, n + 1):
        product *= i
    return product


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def powers(n):
    total, k = 0, int(n)
    for i in range(n):
        total += 3**i + k**3 + (1 << i)
    return total


def at_the_top(n):
    k = int(n) + (TOP - 5)
    for _ in range(2):
        k += 1
    return k


def doubled(n):
    k, i = 1, 0
    while i < n:
        k = k + k
        i += 1
    return k


def counted(n):
    k = 0
    for i in range(n):
        if i % 3:
            k += 2
        else:
            k -= 1
    return k, k * 4 + 1


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("program", "fits", "does_not"),
    [
        (factorial, 20, 21),
        (fibonacci, 90, 95),
        (powers, 30, 50),
        (at_the_top, 3, 4),
        (doubled, 62, 63),
        (counted, 9, None),
    ],  # fmt: skip
)
def test_an_int_is_exact_or_left_to_python(program, fits, does_not, executor):
    f = al.function(program, executor=executor)
    assert f(np.int64(fits)) == program(fits)
    if does_not is not None:
        assert not -(2**63) <= program(does_not) < 2**63
        if executor == "native":
            with pytest.raises(OverflowError, match="has more than the 64 bits"):
                f(np.int64(does_not))
        else:
            assert f(np.int64(does_not)) == program(does_not)
        assert f(np.int64(fits)) == program(fits)


def quotient(n):
    total = 0.0
    for i in range(3):
        total += 12 / (int(n) - i)
    return total


def floors(n):
    total = 0
    for i in range(3):
        total += 12 // (int(n) - i)
    return total


def remainders(n):
    total = 0
    for i in range(3):
        total += 12 % (int(n) - i)
    return total


def float_quotient(n):
    total = 0.0
    for i in range(3):
        total += 1.5 / (float(n) - i)
    return total


def no_loop(n):
    return divmod(7, int(n) - 2)


def large_power(n):
    k = float(n)
    for _ in range(3):
        k = k**9.5
    return k


def of_infinity(n):
    return int(float(n) * 1e308 * 10)


def of_none(n):
    return round(float(n) * 1e308 * 10 - float(n) * 1e308 * 10)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "program", [quotient, floors, remainders, float_quotient, no_loop, large_power, of_infinity, of_none]
)
def test_numbers_raise_what_python_raises(program, executor):
    f = al.function(program, executor=executor)
    if program not in (of_infinity, of_none, large_power):
        assert f(np.int64(5)) == program(5)
    with pytest.raises((ArithmeticError, ValueError)) as plain:
        program(2 if program is not large_power else 20)
    with pytest.raises(type(plain.value)) as staged:
        f(np.int64(2 if program is not large_power else 20))
    assert str(plain.value) in str(staged.value)


def test_arrays_divide_as_numpy_does():
    f = al.function(lambda x, y: (x // y, x % y))
    assert [one.tolist() for one in f(np.array([1, 2]), np.array([0, 2]))] == [[0, 1], [0, 0]]


def test_a_power_of_another_type_is_for_plain_python():
    one, other = lambda n: 2 ** int(n), lambda x: float(x) ** 0.5
    assert al.function(one)(np.int64(-1)) == 0.5
    assert al.function(other)(np.float64(-2.0)) == other(-2.0)
    with pytest.raises(ValueError, match=r"2 \*\* -1 is a float, and an int in other iterations"):
        al.function(one).get_concrete_function(np.int64(1))(np.int64(-1))
    with pytest.raises(ValueError, match="is complex: make the base complex before"):
        al.grad(al.function(other))(np.float64(-2.0))


def test_a_run_that_others_notice_refuses_an_int_of_more_than_64_bits():
    def f(x, n):
        made = 1
        for i in range(n[0]):
            made *= i + 1
        x[0] = made % 7
        return made

    x = np.zeros(2)
    with pytest.raises(OverflowError, match="more than the 64 bits"):
        al.function(f)(x, np.array([25]))
    assert x[0] == 0


@pytest.mark.parametrize("executor", EXECUTORS)
def test_where_tensors_take_part_an_int_of_more_than_64_bits_is_refused(executor):
    """Plain Python gives an int where ``1 if t > 0 else 2`` is a tensor in all other calls."""

    def several(t, n):
        return t * 2, int(n[0]) * 2, 1 if t > 0 else 2

    f = al.function(several, executor=executor)
    assert type(f(al.constant(3), np.array([5]))[2]) is al.Tensor
    with pytest.raises(OverflowError, match="more than the 64 bits"):
        f(al.constant(3), np.array([2**62]))
    top = al.constant(np.uint64(2**63))
    for one in (lambda t: int(t) + 1, lambda t: operator.index(t) + 1, lambda t: round(t * 1.0) + 1):
        with pytest.raises(OverflowError, match="more than the 64 bits"):
            al.function(one, executor=executor)(top)


def last_below(x, n):
    found = 0
    for k in range(n):
        if x[k] > 12:
            break
        if x[k] > 1:
            found = k
    return found + 1, x[found + 2]


def test_how_long_an_int_may_be_is_not_asked_once_for_each_way_through_the_branches(monkeypatch):
    asked = []
    constant_value = al.Tensor.constant_value
    monkeypatch.setattr(al.Tensor, "constant_value", lambda self: asked.append(self) or constant_value(self))
    counts = []
    for n in (6, 12):
        assert al.function(last_below)(np.arange(15.0), n) == (n, n + 1)
        counts.append(len(asked))
        asked.clear()
    assert counts[1] < 8 * counts[0]


def of_complex_numbers(z, x):
    c = complex(z[0])
    return [c**2, c**3, c**-1, c**0.5, c**c, 2.5**c, c ** x[0], c * c, c / (c + 1), c / x[0], c**150]


def test_complex_numbers_are_pythons_to_the_bit():
    """Python computes powers and quotients of them in other ways than NumPy, with other last bits."""
    z = np.random.default_rng(0).normal(size=(20, 2)).view(complex)
    decorated = al.function(of_complex_numbers, executor="sequential")
    for one in z:
        given = one, np.array([one[0].real])
        assert decorated(*given) == of_complex_numbers(*given)


def hashed(x):
    i, s = 0, 7
    while i < x[0]:
        s = (s * 6364136223846793005 + 1) % 2**64
        i += 1
    return s


def beyond_in_a_branch(x):
    b = 2**64
    if x[0] > 1:
        b = b + int(x[0])
    return b


@pytest.mark.parametrize("f", [hashed, beyond_in_a_branch])
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_ints_past_64_bits_that_loops_and_branches_name_are_exact(f):
    """The run raised OverflowError, where each number of it is one of Python's."""
    for executor in EXECUTORS[:3]:
        decorated = al.function(f, executor=executor)
        assert [decorated(np.array([k])) for k in (3.0, 1.0, 4.0)] == [f(np.array([k])) for k in (3.0, 1.0, 4.0)]
    with pytest.raises(OverflowError):
        al.function(f)(al.constant([3.0]))
