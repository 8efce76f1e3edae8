"""``np.arange`` counts in the dtypes of NumPy's scalars: differences of unsigned ones wrap, halves are rounded."""

from __future__ import annotations

import itertools
import linecache
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED

DTYPES = ["?", "u1", "i1", "u2", "i4", "u8", "i8", "f2", "f4", "f8"]
CALLS = """
np.arange(a, b); np.arange(b, a); np.arange(a); np.arange(a, b, c); np.arange(b, a, -2); np.arange(a, 7)
np.arange(k, b); np.arange(b, k - 1); np.arange(a, b, dtype=float); np.arange(0, b, k); np.arange(a, k, 0.25)
np.arange(a > 1, b, True); np.arange(1, 4, k - 3); np.arange(a, b, a - a); np.arange(1.0, b, 0); np.arange(False, a > 1)
"""


def compiled(call):
    source = (
        "def program(x, n):\n    a, b, c = x[0], x[1], x[2]\n    k = 0\n"
        f"    for _ in range(n):\n        k += 1\n    return {call}\n"
    )
    filename = f"<range of {call}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace = {"np": np}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["program"]


def outcome(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = f(x, np.int64(3))
        except (ArithmeticError, TypeError, ValueError) as error:
            return type(error), str(error)
        return made.dtype, made.shape, made.tobytes() if made.size < 1000 else None


@each([call.strip() for call in CALLS.replace("\n", ";").split(";") if call.strip()], one_in=2)
def test_as_numpy_counts(call):
    program = compiled(call)
    for dtype, executor in zip(DTYPES, itertools.cycle(INTERPRETED)):
        x = np.array([2, 5, 3]).astype(dtype)
        plain, ours = outcome(program, x), outcome(al.function(program, executor=executor), x)
        assert plain == ours or (plain[0] is ours[0] and plain[1] in ours[1]), (dtype, plain, ours)


def test_the_slope_of_a_range_whose_step_the_run_computes():
    def total(x):
        return np.sum(np.arange(x[0], 4.0, x[1]) ** 2)

    x = np.array([0.5, 1.0])
    step = np.array([(total(x + e) - total(x - e)) / 2e-6 for e in np.eye(2) * 1e-6])
    assert al.grad(al.function(total))(x) == pytest.approx(step, rel=1e-6)
