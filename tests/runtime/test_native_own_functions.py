"""Functions of the C library of which there is code of our own: as exact as is said, on all kinds of floats."""

from __future__ import annotations

import math

import numpy as np
from api import tanh
from each_case import each
from native_checks import compile_native, graph_of

#: units in the last place that a result may be off
ULP = 3.0
#: floats of all sizes, each of another mantissa, and what is at the borders of the code
BORDERS = [0.0, 1e-45, 1e-40, 1.1754944e-38, 2.0**-12, 0.0624237, 0.1732868, 0.5199, 9.0109, 9.011, 10.0, 10.5, 3.4e38]
SAMPLE = np.arange(1, 0x7F800000, 21_347, dtype=np.uint32).view(np.float32)


def test_tanh_of_doubles_of_all_sizes():
    x = np.concatenate([np.geomspace(1e-300, 30, 5000), np.linspace(0, 21, 5000), [5e-324, 1e-310, 1.7e308]])
    (got,) = compile_native(graph_of(tanh, x))([x])
    assert (np.abs(got - np.tanh(x)) <= ULP * np.spacing(np.tanh(x))).all()  # of NumPy's, within an ulp itself
    far = (x > 3) & (x < 30)
    rest = 2 / (np.exp(2 * x[far]) + 1)  # 1 - tanh(x)
    assert (np.abs(1 - got[far] - rest) <= 1.5 * 2.0**-53 + 1e-15 * rest).all()
    assert (got <= 1).all() and (got[x > 19.1] == 1).all() and (got == x)[x < 1e-17].all()


def test_tanh_of_floats_of_all_sizes():
    x = np.concatenate([SAMPLE, np.array(BORDERS, np.float32)])
    (got,) = compile_native(graph_of(tanh, x))([x])
    want = np.tanh(x.astype(np.float64))
    off = np.abs(got - want) / np.spacing(want.astype(np.float32))
    assert got.dtype == np.float32 and off.max() <= ULP, x[off.argmax()]
    assert (got <= 1).all() and (got[x > 9.1] == 1).all() and (got == x)[x < 1e-8].all()


@each([np.float32, np.float64])
def test_tanh_is_odd_and_keeps_what_is_no_number(dtype):
    x = np.array([*BORDERS, np.inf, np.nan, 0.3], dtype)
    run = compile_native(graph_of(tanh, x))
    (got,), (negative,) = run([x]), run([-x])
    np.testing.assert_array_equal(got, -negative)
    assert np.signbit(negative[~np.isnan(x)]).all() and not np.signbit(got[~np.isnan(x)]).any()
    assert np.isnan(got[np.isnan(x)]).all() and got[x == np.inf] == 1


@each([np.float32, np.float64])
def test_tanh_of_an_element_is_the_same_wherever_it_stands(dtype):
    x = np.full(37, 0.7, dtype)
    (got,) = compile_native(graph_of(tanh, x))([x])
    assert (got == got[0]).all()


def test_tanh_of_a_number_is_that_of_maths():
    for x in (0.7, -0.21970, 3.3e-5, 11.0):
        (got,) = compile_native(graph_of(tanh, np.float64(x)))([np.float64(x)])
        assert got == math.tanh(x)
