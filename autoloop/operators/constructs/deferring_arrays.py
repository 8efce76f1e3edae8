"""Whom NumPy asks first: of ``x + o``, where ``o`` is an object of the user's with an ``__radd__``, its own ufunc.

Its arrays and scalars let go first what says so, by ``__array_ufunc__ = None`` or a higher ``__array_priority__``. Of
what has an ``__array_ufunc__`` they ask that, of what is an array they make one, and of any other object they ask each
element, a Python number, what it and the object give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime.ir.number_operators import as_number, number_type, widest
from autoloop_runtime.ir.tracers import ArrayTracer, TextTracer

#: of NumPy's scalars, and of objects that say none
_LEAST = -1_000_000.0
#: what NumPy makes arrays of
_OF_ARRAYS = ("__array__", "__array_interface__", "__array_struct__", "__buffer__", "__dlpack__")
#: Python's operators -> NumPy's
UFUNCS = {
    "__add__": np.add, "__sub__": np.subtract, "__mul__": np.multiply, "__truediv__": np.true_divide,
    "__floordiv__": np.floor_divide, "__mod__": np.remainder, "__pow__": np.power, "__matmul__": np.matmul,
    "__and__": np.bitwise_and, "__or__": np.bitwise_or, "__xor__": np.bitwise_xor, "__lshift__": np.left_shift,
    "__rshift__": np.right_shift, "__lt__": np.less, "__le__": np.less_equal, "__gt__": np.greater,
    "__ge__": np.greater_equal, "__eq__": np.equal, "__ne__": np.not_equal,
}  # fmt: skip


def asks_numpy_first(left: Any, right: Any, name: str) -> bool:
    """Return whether *left* is of NumPy's and says what an operator gives, though *right* has a method for that."""
    if name == "__matmul__" and isinstance(left, ArrayTracer | np.generic) and _is_scalar(left):
        return False  # of which there are no products
    if not isinstance(left, (ArrayTracer, np.ndarray, np.generic)) or isinstance(left, TextTracer):
        return False
    kind = type(right)
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is not None
    own = _LEAST if _is_scalar(left) else 0.0
    return not own < getattr(right, "__array_priority__", _LEAST)


def says_itself(number: Any, right: Any, name: str) -> bool:
    """Return whether a number of Python's knows what it gives with *right*, and does not ask that.

    A float knows what it gives with an int of whatever class, and asks a float of a class of the user's first.
    """
    theirs, mine = number_type(right), number_type(number)
    if theirs is None or mine is None or name == "__matmul__" or issubclass(type(right), mine):
        return False
    return widest(mine, theirs) in (mine, widest(mine, int))


def as_objects_see(left: Any, right: Any) -> Any:
    """Return what an object is asked with in place of a scalar of NumPy's: a number of Python's; else *left* itself.

    An array's elements are asked one by one, which no graph does.
    """
    if not _is_scalar(left) or isinstance(right, (int, float, complex, str, bytes, list, tuple)):
        return left
    if any(hasattr(type(right), one) for one in _OF_ARRAYS) or _is_sequence(type(right)):
        return left
    is_wide = left.dtype.itemsize > (16 if left.dtype.kind == "c" else 8)  # of which Python has no numbers
    return left if is_wide or left.dtype.kind not in "biufc" else as_number(left)


def _is_scalar(value: Any) -> bool:
    return value.is_scalar if isinstance(value, ArrayTracer) else isinstance(value, np.generic)


def _is_sequence(kind: type) -> bool:
    return hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
