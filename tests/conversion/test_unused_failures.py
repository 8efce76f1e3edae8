"""What a computation raises is raised although nobody uses its result, in functions of NumPy's arrays."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from api import count_nodes
from each_case import each
from executors import EXECUTORS, INTERPRETED
from random_expressions import compiled

X = np.array([1.5, -0.5, 2.0])


def an_index(x, n):
    x[n]
    return n + 1


def an_index_of_several(x, n):
    last = x[[n, 0]]
    last = n
    return last


def a_range_without_end(x, n):
    np.arange(abs(x[0]) * np.inf)
    return n + 1


def a_range_to_no_number(x, n):
    np.arange(x[1] * np.nan)
    return n + 1


def no_elements(x, n):
    x[x > n].max()
    return n + 1


def a_negative_power(x, n):
    n ** (n - 8)
    return n + 1


def division_by_zero(x, n):
    1 // (int(n) - 7)
    return n


def an_infinity(x, n):
    int(x[0] / (n - 7))
    return x.sum()


def in_a_loop(x, n):
    k = 0
    while k < n:
        last = x[k]  # noqa: F841
        k = k + 1
    return k


def first_set_in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        x[k]
        total += k
    return total


def in_a_branch(x, n):
    y = n
    if n > 3:
        x[n]
        y = n * 2
    return y


def in_a_branch_in_a_loop(x, n):
    k, total = 0, 0.0
    while k < n:
        if k > 2:
            seen = x[k]  # noqa: F841
            total = total + 1
        k += 1
    return total


def in_a_test_of_a_loop_that_nobody_needs(x, n):
    k = 0
    while x[k] < n:
        k += 1
    return n


def nothing_is_returned(x, n):
    x[n]


def both_choices_are_the_same(x, n):
    return np.where(x[n] > 0, x, x)


def the_other_choice(x, n):
    return np.where(True, x, x[n])


def both_choices_are_the_same_in_a_loop(x, n):
    k, y = 0, x
    while k < n:
        y = np.where(x[k] > 0, y, y)
        k = k + 1
    return y


def both_branches_are_the_same(x, n):
    if x[n] > 0:
        y = x
    else:
        y = x
    return y


def a_branch_that_gives_nothing(x, n):
    if x[0] > 0:
        last = x[n]  # noqa: F841
    return x


def a_branch_in_a_branch_that_gives_nothing(x, n):
    for k in range(3):
        if x[k] > 0:
            if x[2] > 0:
                x[n]
    return n


def a_branch_that_gives_a_constant(x, n):
    if x[0] > 0:
        x[n]
        y = 1
    else:
        y = 2
    return y


def an_element_of_a_list(x, n):
    seen = [1.0]
    for _ in range(n):
        seen.append(x[0])
    seen[(n - 2) * 2]
    return n


PROGRAMS = [
    an_index, an_index_of_several, no_elements, a_negative_power, division_by_zero, an_infinity, in_a_loop,
    first_set_in_a_loop, in_a_branch, in_a_branch_in_a_loop, in_a_test_of_a_loop_that_nobody_needs, nothing_is_returned,
    both_choices_are_the_same, the_other_choice, both_choices_are_the_same_in_a_loop, both_branches_are_the_same,
    a_branch_that_gives_a_constant, a_branch_that_gives_nothing, a_branch_in_a_branch_that_gives_nothing,
    an_element_of_a_list,
]  # fmt: skip


def outcome(f, *args):
    try:
        with np.errstate(all="ignore"):
            return f(*args)
    except Exception as error:
        return type(error)


@each(product([f for f in PROGRAMS if f is not no_elements], EXECUTORS))
def test_it_is_raised(f, executor):
    decorated = al.function(f, executor=executor)
    wanted = [outcome(f, X, np.array(n)) for n in (7, 2, 7)]
    assert isinstance(wanted[0], type)
    np.testing.assert_equal([outcome(decorated, X, np.array(n)) for n in (7, 2, 7)], wanted)


@pytest.mark.parametrize("executor", INTERPRETED)  # extents that only the run knows have no machine code
def test_it_is_raised_of_what_is_empty(executor):
    with pytest.raises(ValueError, match="zero-size array"):
        al.function(no_elements, executor=executor)(X, np.array(7))


@each(EXECUTORS)
def test_a_body_that_can_only_raise_need_not_run(executor):
    @al.function(executor=executor)
    def f(x, n):
        for _ in range(n):
            last = x[0]  # noqa: F841
        return n + 1

    none = np.zeros(0)
    assert f(none, np.array(0)) == 1
    with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
        f(none, np.array(3))


def test_what_cannot_fail_is_left_out_as_before():
    @al.function
    def f(x, n):
        y = np.exp(x) @ np.ones((3, 3))
        for _ in range(n):
            y = np.tanh(y)
        return n + 1

    f(X, np.array(3))
    assert count_nodes(f.get_concrete_function(X, np.array(3)).runner.graph) <= 4


def test_tensors_that_nobody_needs_are_not_computed():
    @al.function
    def f(x, n):
        al.gather(x, n)
        return n + 1

    assert f(al.constant(X), al.constant(7)).numpy() == 8


@each(product([a_range_without_end, a_range_to_no_number], INTERPRETED))
def test_a_range_of_floats_that_has_no_length(f, executor):
    with pytest.raises(ValueError) as plain:
        f(X, 7)
    with pytest.raises(ValueError) as ours:
        al.function(f, executor=executor)(X, np.array(7))
    assert str(plain.value) in str(ours.value)


#: texts that nobody needs
OF_TEXTS = (
    "format(int(n), 'a')", "f'{x:a}'", "'{:a}'.format(int(n))", "'%q' % int(n)", "int(str(int(n)) + 'a')",
    "str(int(n)).index('z')", "str(int(n))[9]",
)  # fmt: skip


def test_texts_that_nobody_needs_fail_all_the_same():
    for line in OF_TEXTS:
        f = compiled(f"def program(x, n):\n    {line}\n    return n\n")
        with pytest.raises((ValueError, TypeError, IndexError)) as plain:
            f(X, np.int64(3))
        with pytest.raises(plain.type) as ours:
            al.function(f)(X, np.int64(3))
        assert str(ours.value) == str(plain.value)
