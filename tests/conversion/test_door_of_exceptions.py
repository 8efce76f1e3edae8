"""What exceptions hold that leave converted code, the line of a `raise`, and numbers without a known shape."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED


def raises_a_list(n):
    out = []
    for i in range(n):
        out.append(np.float64(2) * i)
    raise ValueError(out)


def raises_none_or_not(x):
    best = None
    while x > 0:
        best = x
        x = x - 1
    raise ValueError(best, "best")


def raises_unset(x):
    while x > 0:
        y = x
        x = x - 1
    raise KeyError(y)


def raises_a_number(x):
    print("before", x)
    raise KeyError("x", x + 1) from OSError("cause")


RAISES = [
    *[(raises_a_list, np.int64(one)) for one in (0, 2)],
    *[(raises_none_or_not, np.float64(one)) for one in (2.0, -1.0)],
    *[(raises_unset, np.float64(one)) for one in (2.0, -1.0)],
    (raises_a_number, np.float64(2)),
]


@pytest.mark.parametrize("executor", INTERPRETED)
@pytest.mark.parametrize("f, value", RAISES, ids=[f"{f.__name__}-{i}" for i, (f, _) in enumerate(RAISES)])
def test_exceptions_hold_what_pythons_hold(f, value, executor, capsys):
    with pytest.raises(Exception) as expected:  # noqa: PT011  whatever it raises
        f(value)
    printed = capsys.readouterr().out
    decorated = al.function(f, executor=executor)
    for _ in range(2):  # the second call does not trace
        with pytest.raises(expected.type) as caught:
            decorated(value)
        assert caught.value.args == expected.value.args
        assert type(caught.value.__cause__) is type(expected.value.__cause__)
        assert capsys.readouterr().out == printed
        assert caught.traceback[-1].lineno == expected.traceback[-1].lineno


# -- the line of a `raise` ----------------------------------------------------------------------------------------


def raise_in_a_branch(x):
    if x > 3:
        y = x * 2
        raise ValueError(f"bad {y}")
    return x


def raise_in_a_loop(x):
    while x > 0:
        x = x - 1
        if x == 2:
            raise KeyError("two")
    return x


def raise_below_another_raise(x):
    if x > 10:
        raise KeyError("ten")
    elif x > 3:
        raise ValueError("three")
    return x


def raise_in_a_helper(x):
    return raise_in_a_loop(x) + 1


def unset_in_a_branch(x):
    if x > 100:
        z = x
    if x > 3:
        return z + 1
    return x


@pytest.mark.parametrize("executor", INTERPRETED)
@pytest.mark.parametrize(
    "f", [raise_in_a_branch, raise_in_a_loop, raise_below_another_raise, raise_in_a_helper, unset_in_a_branch]
)
def test_the_last_line_is_that_of_the_raise(f, executor):
    with pytest.raises(Exception) as expected:  # noqa: PT011
        f(np.float64(5))
    with pytest.raises(expected.type) as caught:
        al.function(f, executor=executor)(np.float64(5))
    mine, pythons = ([(one.name, one.lineno) for one in info.traceback[1:]] for info in (caught, expected))
    assert mine[-1] == pythons[-1]
    assert set(pythons) <= set(mine)


# -- numbers that meet what has no known shape -------------------------------------------------------------------


def sum_of_py_function(x):
    s = 0
    while x > 0:
        s += al.py_function(lambda v: v * 2, [x], al.float64)
        x = x - 1
    return s


def sum_of_rows(x):
    s = 0
    while x > 0:
        s += al.py_function(lambda v: np.asarray([v, 2 * v]), [x], al.float64)
        x = x - 1
    return s


def sum_of_failures(x):
    s = 0
    while x > 0:
        s += al.py_function(fails, [x], al.float64)
        x = x - 1
    return s


def fails(value):
    raise KeyError("the user's own")


@each(INTERPRETED)
def test_a_number_takes_the_shape_of_a_py_function(executor):
    x = np.float64(3)
    assert float(al.function(sum_of_py_function, executor=executor)(x)) == 12
    np.testing.assert_array_equal(al.function(sum_of_rows, executor=executor)(x), [6, 12])
    with pytest.raises(KeyError, match="the user's own"):
        al.function(sum_of_failures, executor=executor)(x)
