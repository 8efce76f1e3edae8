"""What the caller of a function gets of a value of its run, an array of its own, a NumPy scalar or a Python number; and
what an array of the caller's has of a value that is written to it."""

from __future__ import annotations

import array
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.dtypes import DType
from ..base.stand_ins import UnknownWhileTracing
from .array_layouts import is_writeable
from .op import call
from .tensor import Tensor

#: what is an array of numbers to NumPy, and none of its own
BUFFERS = frozenset((bytearray, memoryview, array.array))


#: what is no array of another library
_OWN = (np.ndarray, np.generic, int, float, complex, str, bytes)


def is_foreign(value: Any) -> bool:
    """Return whether a value of a run is an array of another library."""
    return not isinstance(value, _OWN) and hasattr(value, "dtype")


def plain_array(value: Any) -> Any:
    """Return a value of a run as an array that is its owner's to change; a NumPy scalar where it has no dimensions, and
    another library's array as it is."""
    if type(value) is not np.ndarray or not value.ndim:
        if is_foreign(value):
            return value
        scalar = np.asarray(value)[()] if not isinstance(value, np.generic) else value
        return str(scalar) if isinstance(scalar, np.str_) else scalar  # what an f-string has made
    return value if is_writeable(value) else value.copy()


def plain_zero_dim(value: Any) -> Any:
    """Return a value of a run as an array of its own, also if it has no axes."""
    return plain_array(value) if is_foreign(value) or np.ndim(value) else np.array(value)


def plain_read_only(value: Any) -> Any:
    """Return a value of a run as an array of its own that nobody can write to."""
    made = np.array(value)
    made.flags.writeable = False
    return made


def plain_lying(strides: tuple[int, ...], plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what makes of a value of a run what ``plain`` does, with its elements in the order of these strides."""
    axes = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    back = np.argsort(axes)

    def given(value: Any) -> Any:
        made = plain(value)
        return made if made.strides == strides else made.transpose(axes).copy().transpose(back)

    return given


def plain_number(value: Any) -> Any:
    """Return a value of a run as a Python number."""
    return value.item() if hasattr(value, "item") else value


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


def check_casts(ufunc: Any, inputs: Sequence[Any], out: Sequence[Any], **options: Any) -> None:
    """Raise what NumPy raises for the dtypes of a call, of which it asks before it looks at shapes."""
    if options.get("casting") != "unsafe" and all(isinstance(x, (Tensor, np.ndarray, np.generic)) for x in inputs):
        with np.errstate(all="ignore"), contextlib.suppress(ValueError):
            places = tuple([None if one is None else np.empty((1,) * one.ndim, one.dtype) for one in out])
            ufunc(*[np.ones((1,) * x.ndim, x.dtype) for x in inputs], out=places, **options)


def as_element(dtype: DType, value: Any, is_of_flat: bool = False) -> Any:
    """Return what is written to elements: NumPy asks a scalar for its int, which nan and what is too large has not."""
    if is_of_flat and isinstance(value, Tensor):
        value = call("element_of_flat", value, dtype)
    if value is None:  # nan, or what NumPy raises
        return stored_element(dtype, value, is_of_flat)
    if isinstance(value, np.generic):
        return stored_element(dtype, value) if dtype.kind == "i" and value.dtype.kind in "iuf" else value
    is_scalar = isinstance(value, Tensor) and value.node is not None and getattr(value, "is_scalar", False)
    if not is_scalar or value.dtype.kind not in "iuf" or dtype.kind != "i":
        return value
    if np.can_cast(value.dtype, dtype):
        return value
    number = call("python_int", value.plain)
    return number if dtype == number.dtype else call("fitted", number, dtype, is_of_flat)
