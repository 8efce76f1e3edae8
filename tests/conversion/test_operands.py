"""What an operand of ``and`` and ``or`` raises, it raises where Python evaluates it, and nowhere else."""

from __future__ import annotations

import autoloop as al
import numpy as np
from executors import spread


def a_name_without_a_value(x, k):
    if k > 1:
        late = 0.0
    if x < 0 and late > x:
        return x
    return x + 1


def of_an_or(x, k):
    if k > 1:
        late = 0.0
    return x if x > 0 or late > x else x + 1


def of_a_loop(x, k):
    while x < 0 and late > x:  # noqa: F821, F841
        x = x + 1
        late = 1.0  # noqa: F841
    return x


def a_missing_key(x, k):
    return x < 0 and {}[k] > 1


def a_division_by_zero(x, k):
    return (x < 0 or x > 5) and 1 // (k - 1) > 0


def the_last_of_three(x, k):
    return x > 5 and x < 8 and [][k] > x


def of_a_chain(x, k):
    return 0 < x < 0.5 < 1 // (k - 1)


def in_a_membership(x, k):
    return x < 0 and x in [[][k]]


def in_an_operand(x, k):
    return x < 0 and (x > -1 or [][k] > x)


PROGRAMS = [
    a_name_without_a_value, of_an_or, of_a_loop, a_missing_key, a_division_by_zero, the_last_of_three, of_a_chain,
    in_a_membership, in_an_operand,
]  # fmt: skip


def outcome(f, x):
    try:
        return float(f(np.float64(x), 1))
    except Exception as error:
        return type(error)


@spread("f", [(f,) for f in PROGRAMS], [f.__name__ for f in PROGRAMS])
def test_operands_raise_where_they_are_evaluated(f, executor):
    points = (1.0, -0.5, -1.0, 6.0, 0.25)
    wanted = [outcome(f, x) for x in points]
    assert any(isinstance(one, float) for one in wanted) and any(isinstance(one, type) for one in wanted)
    decorated = al.function(f, executor=executor)
    assert [outcome(decorated, x) for x in points] == wanted
