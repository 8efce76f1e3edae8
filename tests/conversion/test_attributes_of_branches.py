"""Asking for an attribute that only one branch of a condition sets: ``hasattr`` and ``getattr`` answer as Python's."""

from __future__ import annotations

import autoloop as al
import numpy as np
from each_case import each


class Thing:
    pass


def there(x):
    p = Thing()
    if x[0] > 1:
        p.w = 1
    return hasattr(p, "w"), not hasattr(p, "w"), hasattr(p, "v")


def chosen(x):
    p = Thing()
    if x[0] > 1:
        p.w = 1
    if hasattr(p, "w"):
        return p.w
    return 2


def set_in_a_loop(x):
    p, k = Thing(), 0
    while k < x[1]:
        if k == 1:
            p.w = k
        k += 1
    return hasattr(p, "w"), 5 if hasattr(p, "w") else 6


def beside_another_test(x):
    p = Thing()
    if x[0] > 1:
        p.w = 1
    return x if hasattr(p, "w") and p.w == 1 else -x


def none_by_default(x):
    p = Thing()
    if x[0] > 1:
        p.w = 1
    return getattr(p, "w", None) is None, getattr(p, "w", None) is not None, getattr(p, "v", None) is None


def a_branch_of_the_default(x):
    p = Thing()
    if x[0] > 1:
        p.w = 1
    if getattr(p, "w", None) is not None:
        return 5
    return 3


@each([there, chosen, set_in_a_loop, beside_another_test, none_by_default, a_branch_of_the_default])
def test_as_python_answers(f):
    decorated = al.function(f)
    for x in ([0.0, 2.0], [2.0, 1.0], [3.0, 0.0]):
        assert repr(decorated(np.array(x))) == repr(f(np.array(x)))
