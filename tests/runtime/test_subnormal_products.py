"""Products of numbers that are nearly too small: what comes out, and that it does not take a hundred times as long."""

from __future__ import annotations

from time import thread_time

import numpy as np
import pytest
from api import matmul, subnormal_products
from executors import needs_native
from native_checks import compile_native, graph_of

pytestmark = needs_native

SIZES = [(32, 64, 64), (16, 48, 32)]
#: powers of two of the left and of the right matrix
POWERS = [(0, 0), (-120, 0), (-146, 0), (0, -140), (-70, -70), (-149, 3), (10, -140), (100, -145), (-130, 120)]


def drawn(*shape, power=0):
    return np.ldexp(np.random.default_rng(sum(shape)).standard_normal(shape), power).astype(np.float32)


#: which matrices are given transposed
TURNED = {
    "": matmul,
    "left": lambda a, b: matmul(a.T, b),
    "right": lambda a, b: matmul(a, b.T),
    "both": lambda a, b: matmul(a.T, b.T),
}


def compiled(turned, *values):
    run = compile_native(graph_of(lambda a, b: [TURNED[turned](a, b)], *values))
    return lambda *given: run(given)[0]


@pytest.mark.parametrize("turned", TURNED)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_products_are_right_whatever_is_small_in_them(size, turned):
    m, k, n = size
    whole, run = drawn(m, k), None
    for first, second in POWERS:
        a, b = drawn(m, k, power=first), drawn(k, n, power=second)
        a[::3], a[1] = whole[::3], 0.0  # rows are as different as they may be
        given = [
            np.ascontiguousarray(x.T) if turned in (side, "both") else x for side, x in (("left", a), ("right", b))
        ]
        run = run or compiled(turned, *given)
        wide = a.astype(np.float64), b.astype(np.float64)
        error = np.abs(run(*given) - wide[0] @ wide[1])
        assert (error <= k * (3e-7 * (np.abs(wide[0]) @ np.abs(wide[1])) + 2.0**-150)).all()


def test_what_is_no_number_stays_so():
    a, b = drawn(16, 16, power=-140), drawn(16, 16)
    a[3, 2], a[5, 1], b[2, 7], b[4] = np.inf, np.nan, np.inf, 0.0
    with np.errstate(all="ignore"):
        got, want = compiled("", a, b)(a, b), a @ b
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(got) * np.sign(got), np.isinf(want) * np.sign(want))


def test_numbers_that_are_not_small_are_multiplied_as_ever(monkeypatch):
    a, b = drawn(48, 96), drawn(96, 32)
    with_question = compiled("", a, b)(a, b)
    monkeypatch.setattr(subnormal_products, "fits", lambda *_: False)
    np.testing.assert_array_equal(with_question, compiled("", a, b)(a, b))


def test_small_numbers_take_about_as_long_as_others():
    a, b = drawn(32, 64), drawn(64, 64)
    small, run = np.ldexp(a, -140), compiled("", a, b)

    def taken(x):
        run(x, b)
        times = []
        for _ in range(20):
            begin = thread_time()
            for _ in range(20):
                run(x, b)
            times.append(thread_time() - begin)
        return min(times)

    assert taken(small) < 10 * taken(a)  # some eight hundred times as long, one by one
