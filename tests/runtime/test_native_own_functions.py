"""Functions of the C library of which there is code of our own: as exact as is said, on all kinds of floats."""

from __future__ import annotations

import numpy as np
from api import tanh
from native_checks import compile_native, graph_of

#: units in the last place that a result may be off
ULP = 3.0
#: floats of all sizes, each of another mantissa, and what is at the borders of the code
BORDERS = [0.0, 1e-45, 1e-40, 1.1754944e-38, 2.0**-12, 0.0624237, 0.1732868, 0.5199, 9.0109, 9.011, 10.0, 10.5, 3.4e38]
SAMPLE = np.arange(1, 0x7F800000, 21_347, dtype=np.uint32).view(np.float32)


def test_tanh_of_floats_of_all_sizes():
    x = np.concatenate([SAMPLE, np.array(BORDERS, np.float32)])
    (got,) = compile_native(graph_of(tanh, x))([x])
    want = np.tanh(x.astype(np.float64))
    off = np.abs(got - want) / np.spacing(want.astype(np.float32))
    assert got.dtype == np.float32 and off.max() <= ULP, x[off.argmax()]
    assert (got <= 1).all() and (got[x > 9.1] == 1).all() and (got == x)[x < 1e-8].all()


def test_tanh_is_odd_and_keeps_what_is_no_number():
    x = np.array([*BORDERS, np.inf, np.nan, 0.3], np.float32)
    run = compile_native(graph_of(tanh, x))
    (got,), (negative,) = run([x]), run([-x])
    np.testing.assert_array_equal(got, -negative)
    assert np.signbit(negative[~np.isnan(x)]).all() and not np.signbit(got[~np.isnan(x)]).any()
    assert np.isnan(got[np.isnan(x)]).all() and got[x == np.inf] == 1


def test_tanh_of_an_element_is_the_same_wherever_it_stands():
    x = np.float32(0.7) * np.ones(37, np.float32)
    (got,) = compile_native(graph_of(tanh, x))([x])
    (alone,) = compile_native(graph_of(tanh, x[0]))([x[0]])
    assert (got == alone).all()
