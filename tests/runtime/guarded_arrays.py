"""A library of arrays as CuPy's is one: eager, of the array API standard, and not to be taken for NumPy's.

Each array lies in one of NumPy's, which nobody can get at but its own functions: to ask for it raises.
"""

from __future__ import annotations

from collections import Counter

import numpy as np


class Array:
    """An array of the library."""

    def __init__(self, inside):
        self._inside = np.asarray(inside)

    @property
    def dtype(self):
        return self._inside.dtype

    @property
    def shape(self):
        return self._inside.shape

    @property
    def device(self):
        return "device 0"

    def __array_namespace__(self, api_version=None):
        return library

    def __array__(self, dtype=None, copy=None):
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        raise TypeError(f"{ufunc.__name__} of NumPy's over an array of another library")

    def __array_function__(self, function, types, args, kwargs):
        raise TypeError(f"{function.__name__} of NumPy's over an array of another library")

    def __getitem__(self, index):
        return Array(self._inside[_inside(index)])

    def __setitem__(self, index, value):
        self._inside[_inside(index)] = _inside(value)

    def __bool__(self):
        return bool(self._inside)

    def __int__(self):
        return int(self._inside)

    def __float__(self):
        return float(self._inside)

    def __complex__(self):
        return complex(self._inside)

    def get(self):
        """A copy as an array of NumPy's, as CuPy's method of that name gives."""
        return self._inside.copy()


def _inside(value):
    if isinstance(value, Array):
        return value._inside
    if isinstance(value, (tuple, list)):
        return type(value)(_inside(one) for one in value)
    return value


def _outside(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return Array(value)
    return tuple(map(_outside, value)) if isinstance(value, (tuple, list)) else value


class Library:
    """Functions of NumPy's, by the names of the standard, over arrays of this library; ``calls`` counts them."""

    __name__ = "guarded"

    def __init__(self, functions, calls):
        self._functions, self.calls = functions, calls

    def __getattr__(self, name):
        if self._functions is np and name in ("complex", "add_at", "erf"):
            raise AttributeError(name)
        found = getattr(self._functions, name)
        if isinstance(found, type) or not callable(found):
            return Library(found, self.calls) if name == "linalg" else found

        def call(*args, device=None, **kwargs):
            self.calls[name] += 1
            descending = kwargs.pop("descending", False)
            given = [_inside(one) for one in args]
            if any(isinstance(one, np.ndarray) for one in args) and name not in ("asarray",):
                raise TypeError(f"{name} was given an array of NumPy's")
            made = found(*given, **{key: _inside(one) for key, one in kwargs.items()})
            return _outside(np.flip(made, kwargs.get("axis", -1)) if descending else made)

        return call


library = Library(np, Counter())
OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "eq": "equal", "ne": "not_equal", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "neg": "negative",
    "abs": "abs", "invert": "bitwise_invert",
}  # fmt: skip
for _name, _function in OPERATORS.items():
    setattr(Array, f"__{_name}__", lambda *arrays, f=_function: getattr(library, f)(*arrays))
