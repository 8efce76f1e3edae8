"""Memory that begins where a line of the cache begins.

Arithmetic in an array that stays in the cache takes up to 1.5 times as long where its vectors cross lines of the cache,
and NumPy's memory begins anywhere. Smaller arrays cost more to align than that, larger ones wait for memory anyway.
"""

from __future__ import annotations

import math

import numpy as np

from .dtypes import DType

#: bytes of a line of the cache
LINE = 64
#: the fewest and most bytes that are aligned
FEWEST, MOST = 1 << 16, 1 << 22


class Block(np.ndarray[tuple[int], np.dtype[np.uint8]]):
    """Memory that one array has: of another class than that, so that views of the array hold the array, not this."""


def aligned_empty(shape: tuple[int, ...], dtype: DType) -> np.ndarray[tuple[int, ...], DType]:
    """Return ``np.empty``, as a part of a larger array where that is worth it: for what nobody asks who owns it."""
    size = math.prod(shape) * dtype.itemsize
    if not FEWEST <= size <= MOST:
        return np.empty(shape, dtype)
    block = Block((size + LINE,), np.uint8)
    return np.ndarray(shape, dtype, block, -block.__array_interface__["data"][0] % LINE)
