"""Sequences of Python's in the place of arrays, and a third argument of ``pow``, are what they are to NumPy."""

import collections

import autoloop as al
import numpy as np
import pytest

BOUNDS = [range(3), collections.deque([1, 2, 3]), [1, 2, 3], (1.0, 2.0, 3.0), 2, 2.5, np.int8(3), None]


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_bounds_have_numpys_dtypes(dtype, bound):
    x = np.array([1, 200, 3], dtype)
    found, wanted = al.function(lambda x: np.clip(x, 0, bound))(x), np.clip(x, 0, bound)
    assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


def test_a_power_has_no_modulus():
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*\* or pow\(\): 'Tensor', 'int', 'int'"):
        pow(al.constant([1.0]), 1, 2)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*\* or pow\(\): 'numpy.ndarray'"):
        al.function(lambda x: pow(x, 1, 2))(np.ones(1))


def memory_first(x):
    return bytearray(b"abc") > x


def memory_last(x):
    return x < bytearray(b"abc"), bytearray(b"abc") == x, x != memoryview(b"abc")


@pytest.mark.parametrize("f", [memory_first, memory_last], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_what_compares_memory_does_so(f, dtype):
    x, told = np.array([97, 98, 99], dtype), "and an array are compared: make an array of it first"
    with pytest.warns(UserWarning, match=told):
        found = al.function(f)(x)
    assert repr(found) == repr(f(x))
