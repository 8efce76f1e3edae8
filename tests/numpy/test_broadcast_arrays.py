"""What ``np.broadcast_arrays`` gives warns where its flag is asked by name: a decorated function does not ask so."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each


class _Holder:
    pass


def _made(x, o, b, c):
    first, second = np.broadcast_arrays(x, np.ones((2, 3)))
    o.kept = first
    return second, first.sum(), first[0]


def _in_a_loop(x, o, b, c):
    for row in b:
        x = x + row
    return x, b, c[0], o.given * 2


@each([_made, _in_a_loop])
@pytest.mark.filterwarnings("error")
def test_nobody_is_warned(program):
    b, c = np.broadcast_arrays(np.arange(3.0), np.ones((2, 3)))
    for executor in ("auto", "sequential", "dataflow"):
        decorated = al.function(program, executor=executor)
        for f in (program, decorated, decorated):
            o = _Holder()
            o.given = b
            found = f(np.arange(3.0), o, b, c)
            if f is program:
                wanted = found
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(one, other)


def test_shapes_that_do_not_fit_are_said_of_the_function() -> None:
    for f in (al.broadcast_arrays, al.function(lambda *arrays: al.broadcast_arrays(*arrays))):
        with pytest.raises(ValueError, match=r"broadcast_arrays: shapes \(2, 3\) and \(4,\) cannot be broadcast"):
            f(al.ones([2, 3]), al.ones([4]))
