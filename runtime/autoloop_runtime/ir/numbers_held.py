"""Bad numbers, nan and inf, in the values of a graph, and values in a few words."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ..base.dataclass import dataclass

#: elements up to which BLAS works on one thread
_SMALL = 1 << 13


@dataclass(frozen=True, slots=True)
class BadNumber:
    """The first number of a value that is not finite; nan before inf.

    Attributes
    ----------
    value : Any
        A NumPy scalar, or a number of Python's.
    place : tuple of int
        Its index; empty if the value is that number.
    """

    value: Any
    place: tuple[int, ...]

    @property
    def is_nan(self) -> bool:
        """Whether it is nan, or has a part that is."""
        return bool(np.isnan(self.value))


def bad_number(value: Any) -> BadNumber | None:
    """Return the first number of an array, scalar or number of Python's that is not finite; None of others."""
    if isinstance(value, (float, complex)):
        return None if np.isfinite(value) else BadNumber(value, ())
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fc" or _is_finite(value):
        return None
    for is_bad in (np.isnan, np.logical_not):
        places = is_bad(value if is_bad is np.isnan else np.isfinite(value))
        if places.any():
            place = tuple(map(int, np.unravel_index(int(np.argmax(places)), places.shape)))
            return BadNumber(np.asarray(value)[place], place)
    return None


def _is_finite(value: Any) -> bool:
    """Return whether all elements are finite; a sum tells that of most arrays, in one pass that writes nothing.

    BLAS sums the squares of small ones in a third of the time; for large ones it would call threads of its own.
    """
    is_small = value.dtype.char in "fd" and value.size <= _SMALL and value.flags.c_contiguous
    if is_small and isfinite(np.vdot(value, value) if value.ndim else value):
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.add.reduce(value, axis=None))) or bool(np.isfinite(value).all())


def is_numeric(value: Any) -> bool:
    """Return whether a value is a number or an array."""
    return isinstance(value, (np.ndarray, np.generic, int, float, complex))


def shown(value: Any) -> str:
    """Return a value in a few words: a number as it is printed, an array by its dtype and shape."""
    if isinstance(value, np.ndarray) and value.shape:
        return f"{value.dtype}{list(value.shape)}"
    return str(value)
