"""Arrays that are more than numbers in a grid: masked, labelled, structured, of dates, text and objects.

What makes them more would get lost, so they are refused by name, with what to give instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.callbacks import origin_of

#: kinds of dtypes that tensors have
NUMBERS = frozenset("biufc")
_BY_KIND = {
    "M": "an array of dates (dtype {0}), which tensors do not hold; give numbers, x.astype('int64')",
    "m": "an array of time differences (dtype {0}), which tensors do not hold; give numbers, x.astype('int64')",
    "O": "an array of Python objects, which tensors do not hold; give one of numbers, x.astype(float)",
    "S": "an array of bytes (dtype {0}), which tensors do not hold; give numbers, x.view('uint8')",
    "T": "an array of text (dtype {0}), which tensors do not hold; give numbers",
    "U": "an array of text (dtype {0}), which tensors do not hold; give numbers",
    "V": "an array of raw bytes (dtype {0}), which tensors do not hold; give numbers, x.view('uint8')",
}
#: libraries whose arrays have labels, by which their operators align them
_LABELLED = frozenset(("pandas", "xarray", "polars"))


def is_plain(value: np.ndarray[Any, Any]) -> bool:
    """Return whether an array is nothing but numbers in a grid."""
    return type(value) is np.ndarray and value.dtype.kind in NUMBERS


def strangeness(value: Any) -> str | None:
    """Return what an array is that tensors cannot stand for, and what to give instead; None for all other values."""
    if issubclass(type(value), np.ndarray):
        return None if is_plain(value) else _of_array(value)
    if issubclass(type(value), np.generic):
        kind = value.dtype.kind
        return None if kind in NUMBERS or kind in "SU" else _of_dtype(value.dtype)
    if is_labelled(value):
        name = f"{origin_of(type(value))}.{type(value).__name__}"
        if not hasattr(value, "to_numpy"):  # as a Dataset of xarray's
            return f"a {name}, which holds several arrays with labels; give those that are needed, x['name'].to_numpy()"
        return f"a {name}, whose labels would be lost; give its values, x.to_numpy()"
    return None


def is_labelled(value: Any) -> bool:
    """Return whether something is an array or table with labels, by which its operators align it."""
    return origin_of(type(value)) in _LABELLED and hasattr(value, "__array__")


def _of_array(value: np.ndarray[Any, Any]) -> str | None:
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array, whose mask would be lost; give x.filled(value), or x.data and x.mask as two arrays"
    if isinstance(value, np.matrix):
        return "a numpy.matrix, whose operators mean other things; give numpy.asarray(x)"
    if value.dtype.kind not in NUMBERS:
        return _of_dtype(value.dtype)
    if isinstance(value, np.memmap):
        return None  # only its memory is special
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    return f"a {name}, which is a subclass of numpy.ndarray with a meaning of its own; give numpy.asarray(x)"


def _of_dtype(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None:
        return (
            f"a structured array (fields {', '.join(dtype.names)}); give its fields one by one, x[{dtype.names[0]!r}]"
        )
    return _BY_KIND[dtype.kind].format(dtype)
