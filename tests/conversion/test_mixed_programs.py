"""Random functions in which Python values and tensors decide side by side: Python's answer, or a refusal."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, spread
from mixed_functions import mixed_program

INPUTS = [
    (np.float64(1.5), np.float64(-0.5), 2.0, True, np.array([2.25, 0.75, 1.25])),
    (np.float64(-2.0), np.float64(3.0), -1.0, False, np.array([-1.0, 0.5, 4.0])),
]
# Refusals: of dtypes that branches bring together, of what has no machine code, and of what would be lost.
REFUSALS = (
    "must return the same dtypes", "executor='native' cannot take", "loop variable", "TensorArray of dtype",
    "does in `finally` would not be done", "that a tensor decides on changes",
)  # fmt: skip


def outcome(program, args):
    try:
        return [float(one) for one in program(*args)]
    except NameError:
        return NameError


def compare(seed: int, executors=EXECUTORS) -> None:
    program, text = mixed_program(seed)
    for args in INPUTS:
        expected = outcome(program, args)
        for executor in executors:
            try:
                result = outcome(al.function(program, executor=executor), args)
            except (TypeError, NotImplementedError) as error:
                assert any(words in str(error) for words in REFUSALS), (executor, args, text)
                continue
            if NameError in (result, expected):
                assert result is expected, (executor, args, text)
            else:
                np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9, err_msg=f"{executor} {args} {text}")


@each(range(5), one_in=2)
def test_mixed_program(seed):
    compare(seed, EXECUTORS if seed % 5 == 0 else ("auto", "sequential"))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [*range(5, 10), *range(1000, 2000)])
def test_many_mixed_programs(seed):
    compare(seed)


# -- what such programs have found ---------------------------------------------------------------------------


def endless_with_a_break_in_a_branch(x, p):
    if p > 1:
        c = 0
        while True:
            c += 1
            if c > 4:
                break
            x = x + c
    return x


def both_sides_raise(x, p):
    if x > p:
        if p > 1 and x > 3:
            x = nowhere  # noqa: F821
        elif x > 2:
            x = nowhere + 1  # noqa: F821
        else:
            x = x + 1
    return x


def unset_and_captured(x, p):
    def get():
        return late

    if x > p:
        return get()
    if x < -50:
        late = x
    return x


def missing_global(x, p):
    if x > p:
        return x + nowhere  # noqa: F821
    return x


def missing_item(x, p):
    if x > p:
        return x + {"a": 1}["b"]
    return x


def index_out_of_range(x, p):
    v = np.array([1.0, 2.0]) * x
    if x > p:
        return v[7]
    return v[1]


def divided_by_zero(x, p):
    while x > p:
        x = x - 1 // (len("") * 2)
    return x


def caught_around_a_branch(x, p):
    try:
        if x > p:
            y = x + {"a": 1}["b"]
        else:
            y = x
    except ArithmeticError:
        y = x * 100
    return y


def loop_that_only_raises(x, p):
    if x > p:
        while True:
            raise KeyError("always")
    return x


def named_by_the_condition_beside_a_side_that_raises(x, p):
    if x > 2 and (z := x):
        if x > 3:
            return nowhere  # noqa: F821
    else:
        x = nowhere  # noqa: F821
    p += 1
    return x + z


FOUND = [
    endless_with_a_break_in_a_branch, both_sides_raise, unset_and_captured, missing_global, missing_item,
    index_out_of_range, divided_by_zero, caught_around_a_branch, loop_that_only_raises,
    named_by_the_condition_beside_a_side_that_raises,
]  # fmt: skip


@spread("f", [(f,) for f in FOUND], [f.__name__ for f in FOUND])
def test_what_is_raised_is_raised_where_python_raises_it(f, executor):
    decorated = al.function(f, executor=executor)
    for x in (0.5, 2.5, 4.0):
        for p in (1.0, 2.0, 3.0):
            made = []
            for one in (f, decorated):
                try:
                    made.append(float(one(np.float64(x), p)))
                except (LookupError, ArithmeticError, NameError) as error:
                    kind = NameError if isinstance(error, NameError) else type(error)
                    made.append((kind, str(error) if kind is not NameError else ""))
            assert made[0] == made[1], (x, p)


def test_no_handler_around_a_branch_hears_what_tracing_it_raised():
    def f(x):
        try:
            if x > 0:
                y = x + int("no number")
            else:
                y = x
        except ValueError:
            y = x * 100
        return y

    with pytest.raises(NotImplementedError, match="cannot be caught by an `except`"):
        al.function(f)(al.constant(-1.0))
    with pytest.warns(UserWarning, match="cannot be caught by an `except`"):
        assert al.function(f)(np.float64(-1)) == -1


def without_a_value_after_a_loop_that_shares_it(x, k):
    if k > 1:
        late = 0.0
    try:
        while x > 0:
            if k > 5:
                late = x
            return x
    finally:
        x = x * 1
    if x < -3:
        return late
    late = x
    return late


@each(product([1.0, -2.0, -5.0], EXECUTORS))
def test_a_shared_variable_without_a_value_has_none_behind_a_loop(x, executor):
    def outcome(f):
        try:
            return float(f(np.float64(x), 1))
        except UnboundLocalError as error:
            return error.args[0].split("'")[1]

    wanted = outcome(without_a_value_after_a_loop_that_shares_it)
    assert wanted == {1.0: 1.0, -2.0: -2.0, -5.0: "late"}[x]
    assert outcome(al.function(without_a_value_after_a_loop_that_shares_it, executor=executor)) == wanted
