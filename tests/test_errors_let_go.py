"""Who lets go of an error lets go of what was computed: no cycle of ours holds it until Python looks for cycles."""

from __future__ import annotations

import gc

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS


def there():
    """How many such errors there are, without a look for cycles."""
    return sum(type(one) is IndexError for one in gc.get_objects())


def summed(table, n):
    total = 0.0
    for i in range(n):
        total += table[i]
    return total


def refused(table, n):
    def checked(x, i):
        if i == 4:
            raise IndexError
        return x

    for i in range(n):
        table = al.py_function(checked, [table + 1.0, i], al.float64)
        table.set_shape((4,))
    return table


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("function", [summed, refused])
def test_an_error_of_a_loop_is_let_go_of_by_who_has_caught_it(function, executor):
    if function is refused and executor == "native":
        pytest.skip("it has no functions of Python's")
    f = al.function(function, executor=executor)

    def call(table):
        try:
            f(table, al.constant(9))
        except IndexError as error:
            assert any("iteration 4" in note for note in error.__notes__)
        else:
            raise AssertionError

    gc.collect()
    was_enabled, before = gc.isenabled(), there()
    gc.disable()
    try:
        call(np.arange(4.0))
        assert there() == before
    finally:
        if was_enabled:
            gc.enable()
