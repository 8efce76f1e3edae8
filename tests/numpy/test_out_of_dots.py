"""``out=...`` asks a ufunc for arrays, also without axes, where it would give scalars; NumPy tells nobody of it."""

import functools

import autoloop as al
import numpy as np
import pytest
from each_case import each

pytestmark = pytest.mark.filterwarnings("ignore:.*runs as plain Python:UserWarning")

rounded = functools.partial(np.floor, out=...)


def named(x, **names):
    return np.floor(x, **names)


def written(x):
    y = np.multiply(x, 2, out=...)
    y[...] += 1
    return y


def in_a_loop(x):
    k = 0
    while k < x[0]:
        y = np.add(x[1], k, out=...)
        y[x[1:2].sum() > 1] = -1
        k += 1
    return y


ASKED = {
    "floor": (lambda x: np.floor(x, out=...), 1.5), "reduce": (lambda x: np.add.reduce(x, out=...), [1.0, 2.0]),
    "divmod": (lambda x: np.divmod(x, 2, out=...), 5.5), "names": (lambda x: named(x, out=...), 1.5),
    "partial": (lambda x: rounded(x), 1.5), "written": (written, 1.5), "matmul": (
        lambda x: np.matmul(x, x, out=...), [1.0, 2.0]), "list": (lambda x: np.sin([x, x], out=...), 1.5),
    "default": (lambda x, out=...: np.add(x, 1, out=out), 1.5), "none": (lambda x: np.add(x, 1, out=None), 1.5),
    "loop": (in_a_loop, [3.0, 2.0]), "method": (lambda x: np.sum(x, out=...), [1.0, 2.0]),
}  # fmt: skip


def outcome(function, given):
    found = []
    for one in (np.array(given), np.array(given)[()]):
        try:
            made = function(one)
        except TypeError as error:
            made = str(error)
        found.append(repr([(type(part), part) for part in (made if isinstance(made, tuple) else (made,))]))
    return found


@each(["auto", "sequential", "dataflow"])
def test_dots_ask_for_arrays(executor):
    for name, (f, given) in ASKED.items():
        decorated = al.function(f, executor=executor)
        assert [outcome(decorated, given), outcome(decorated, given)] == [outcome(f, given)] * 2, name
