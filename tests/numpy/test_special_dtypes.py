"""Functions of ``scipy.special`` that SciPy writes in Python have its dtypes, also of integers and Python numbers."""

import autoloop as al
import numpy as np
import pytest

sp = pytest.importorskip("scipy.special")

FUNCTIONS = {
    "softmax": lambda x: sp.softmax(x),
    "log_softmax": lambda x: sp.log_softmax(x, axis=0),
    "weak_weights": lambda x: sp.logsumexp(x, b=2),
    "weights": lambda x: sp.logsumexp(x, b=x, axis=0, keepdims=True),
    "weak_second": lambda x: sp.zeta(x, 2),
    "weak_first": lambda x: sp.zeta(2, x),
    "digamma": lambda x: sp.polygamma(0, x),
    "trigamma": lambda x: sp.polygamma(1, x),
    "repeated": lambda x: sp.comb(x, 2, repetition=True),
    "repeated_of_fractions": lambda x: sp.comb(x * 0.25 - 1, 2, repetition=True),
    "none_repeated": lambda x: sp.comb(x, 0, repetition=True),
}
DTYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int64, bool, np.complex64]


def outcome(f, x):
    try:
        return f(x)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_dtypes_and_values_are_scipys(name):
    for dtype in DTYPES:
        x = np.array([2, 1, 3, 3]).astype(dtype)
        wanted, found = outcome(FUNCTIONS[name], x), outcome(al.function(FUNCTIONS[name]), x)
        if isinstance(wanted, type):
            assert found is wanted, dtype
        else:
            assert found.dtype == wanted.dtype, dtype
            np.testing.assert_allclose(found, wanted, rtol=20 * np.finfo(wanted.dtype).eps)
