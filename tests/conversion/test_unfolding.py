"""``:=`` in a part of an expression that may be left out."""

from __future__ import annotations

import autoloop as al
import numpy as np
from each_case import each
from executors import spread

LOG: list = []


def noted(value):
    LOG.append(float(value))
    return value


def in_and(x):
    if x > 1 and (y := x * 2) > 3:
        return y
    return x


def in_or(x):
    y = 0.0
    if x > 3 or (y := x * 2) > 3 or (z := y + 1) > 2:
        return y
    return y + z


def as_a_value(x):
    y = 1.0
    return (x > 1 and (y := x * 2) > 3), y


def number_as_a_value(x):
    y = 1.0
    z = x and (y := x * 2)
    return z, y


def in_a_while(x):
    while x < 10 and (y := x + 1) < 8:
        x = y
    return x


def in_a_while_with_else(x):
    n = 0
    while x < 10 and ((y := x + 1) < 8 or (y := x + 3) < 9):
        x = y
        n += 1
        if x > 7.5:
            break
    else:
        n += 100
    return x, n


def in_a_ternary(x):
    y = 0.0
    z = x if x > 1 else (y := x * 3)
    return z, y


def in_a_chain(x):
    if 0 < x < (y := x * 2) < 5:
        return y
    return -x


def in_a_longer_chain(x):
    y = z = 0.0
    t = 0 < (y := x - 1) < (z := y * 2) < 4
    return t, y, z


def under_not(x):
    if not (x > 1 and (y := x * 2) > 3):
        return x
    return y


def in_arithmetic(x):
    y = 1.0
    return noted(x) + (x * 2 if x > 1 else (y := x)) * 2 + y


def in_a_call(x):
    y = 0.5
    return max(x, (x if x > 1 else (y := x + 7))) + y


def in_a_method_call(x):
    y, out = 0.0, []
    out.append(x if x > 1 else (y := x + 7))
    out.insert(0, (x * 2 if x > 2 else (y := out[0])))
    return out[0], out[1], y


def in_a_keyword(x):
    y = 0.5
    return helper(noted(x), b=(x if x > 1 else (y := x + 7)), c=y)


def helper(a, b, c):
    return a + 10 * b + 100 * c


def in_a_for(x):
    s = y = 0.0
    for one in (x, x if x > 1 else (y := x + 7)):
        s += one
    return s + y


def in_an_assert(x):
    assert x > 1 or (y := x + 7) > 0
    return x if x > 1 else y


def in_an_elif(x):
    if x > 3:
        return x
    elif x > 1 and (y := x - 1) > 0.25:
        return y
    else:
        return -x


def then_unset(x):
    if x > 1 and (y := x * 2) > 3:
        x = x + 1
    return y


FUNCTIONS = [
    in_and, in_or, as_a_value, number_as_a_value, in_a_while, in_a_while_with_else, in_a_ternary, in_a_chain,
    in_a_longer_chain, under_not, in_arithmetic, in_a_call, in_a_method_call, in_a_keyword, in_a_for, in_an_assert,
    in_an_elif, then_unset,
]  # fmt: skip
VALUES = (-2.0, 0.0, 0.5, 1.2, 1.75, 2.0, 2.5, 6.75, 9.0)


def outcome(f, x):
    try:
        made = f(np.float64(x))
    except Exception as error:
        return type(error)
    return [float(one) for one in (made if isinstance(made, tuple) else (made,))]


@spread("f", [(f,) for f in FUNCTIONS], [f.__name__ for f in FUNCTIONS])
def test_it_is_pythons_answer(f, executor):
    decorated = al.function(f, executor=executor)
    assert [outcome(decorated, x) for x in VALUES] == [outcome(f, x) for x in VALUES]


@each(FUNCTIONS)
def test_not_staged_it_is_python(f):
    LOG.clear()
    expected = [outcome(f, x) for x in VALUES], LOG.copy()
    LOG.clear()
    assert ([outcome(al.convert(f), x) for x in VALUES], LOG) == expected
