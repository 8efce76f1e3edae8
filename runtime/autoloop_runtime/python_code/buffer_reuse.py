"""Arrays that generated code uses again and again, so that a loop allocates none once it is under way."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from ..base.dtypes import DType

#: as many arrays are kept; whoever holds on to more than these gets others
MOST = 4


class ReusedArrays:
    """Gives arrays of one shape and dtype: one that it gave before, if nobody holds that any more, else a new one.

    Every holder counts: a variable, a view, a list, a TensorArray, the caller. So what it gives can never be
    seen under another name. One run of generated code has its own, used by one thread.
    """

    __slots__ = ("arrays", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: DType) -> None:
        self.shape = shape
        self.dtype = dtype
        self.arrays: list[Any] = []

    def __call__(self) -> Any:
        """Return an array whose contents mean nothing."""
        array = _unused(self.arrays, _ALONE)
        if array is None:
            array = np.empty(self.shape, self.dtype)
            if len(self.arrays) < MOST:
                self.arrays.append(array)
        return array


def _unused(arrays: Sequence[Any], alone: int) -> Any:
    """Return the first of ``arrays`` with no more than ``alone`` references."""
    for array in arrays:
        if getrefcount(array) <= alone:
            return array
    return None


#: what ``getrefcount`` says in ``_unused`` of an array that only the list holds; differs between versions of Python
_ALONE = next(count for count in range(1, 9) if _unused([np.empty(0)], count) is not None)
