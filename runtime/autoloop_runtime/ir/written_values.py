"""What NumPy makes of a value that is no number, nor an array of such, where it is written to an array of numbers."""

from __future__ import annotations

import array
from typing import Any

import numpy as np

from ..base.dtypes import DType
from ..base.stand_ins import UnknownWhileTracing
from .op import call
from .tensor import Tensor

#: what is an array of numbers to NumPy, and none of its own
BUFFERS = frozenset((bytearray, memoryview, array.array))


def stored_element(dtype: DType, value: Any, is_flat: bool = False) -> Any:
    """Return what an array of a dtype holds where a value is written to one element; or NumPy raises what it does."""
    found = np.empty(1, dtype)
    (found.flat if is_flat else found)[0] = value
    return found[0]


def of_no_numbers(dtype: DType, value: Any, is_element: bool, is_flat: bool = False) -> Any:
    """Return what is written in place of a value.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the array.
    value : object
    is_element : bool
        Whether one element is written, of which NumPy asks what is no number for its truth, int or float.
    is_flat : bool, optional
        Whether it is one of ``x.flat``, of which NumPy raises another error.

    Raises
    ------
    UnknownWhileTracing
        If it is a date, a record or such an array, or an array of texts.
    """
    own = type(value)
    if own in BUFFERS:
        return stored_element(dtype, value, is_flat) if is_element else np.asarray(value)
    if is_element and dtype.kind == "b" and own in (list, tuple, range):
        return dtype.type(len(value) > 0)
    if isinstance(value, (np.ndarray, np.generic)):
        kinds = "mMVO" if isinstance(value, np.generic) else "SUmMVO"
        if value.dtype.kind in kinds and dtype.kind in "biufc":
            raise UnknownWhileTracing(
                f"what NumPy writes of dtype {value.dtype} to an array of {dtype}, it says itself"
            )
    return value


def as_element(dtype: DType, value: Any, is_of_flat: bool = False) -> Any:
    """Return what is written to elements: NumPy asks a scalar for its int, which nan and what is too large has not."""
    if is_of_flat and isinstance(value, Tensor):
        value = call("element_of_flat", value, dtype)
    if value is None:  # nan, or what NumPy raises
        return stored_element(dtype, value)
    if isinstance(value, np.generic):
        return stored_element(dtype, value) if dtype.kind == "i" and value.dtype.kind in "iuf" else value
    is_scalar = isinstance(value, Tensor) and value.node is not None and getattr(value, "is_scalar", False)
    if not is_scalar or value.dtype.kind not in "iuf" or dtype.kind != "i":
        return value
    if np.can_cast(value.dtype, dtype):
        return value
    number = call("python_int", value.plain)
    return number if dtype == number.dtype else call("fitted", number, dtype, is_of_flat)
