"""Tokens in memory that no object of Python's stands for: what machine code takes and gives between steps.

A token is one piece of memory, also if it is a bundle: its values lie one behind the other, each where its dtype may
lie, and arrays in C order.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .packed_bundles import NUMBERS, Form, unpacked

#: a value begins at a multiple of the bytes of an element, and of no more than this
ALIGNMENT = 16
#: any memory: to make a type for each size takes longer than to read what is there
_MEMORY: Any = ctypes.c_char * (1 << 48 if ctypes.sizeof(ctypes.c_void_p) == 8 else 1 << 30)


class TokenForm:
    """What the values of a token are, and where they lie in its memory.

    Parameters
    ----------
    values : sequence of (dtype, tuple of int)
    is_bundle : bool
        Whether as an object it is a tuple of them, not the only one.

    Attributes
    ----------
    values : tuple
    is_bundle : bool
    offsets : list of int
        The byte at which each value begins.
    bytes : int
    """

    __slots__ = ("bytes", "is_bundle", "offsets", "values")

    def __init__(self, values: tuple[Form, ...], is_bundle: bool = False) -> None:
        self.values, self.is_bundle = values, is_bundle
        self.offsets, end = list[int](), 0
        for dtype, shape in values:
            start = -(-end // (unit := min(dtype.itemsize, ALIGNMENT))) * unit
            self.offsets.append(start)
            end = start + dtype.itemsize * math.prod(shape)
        self.bytes = end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TokenForm) and (self.is_bundle, self.values) == (other.is_bundle, other.values)

    def __hash__(self) -> int:
        return hash((self.values, self.is_bundle))

    @property
    def is_array(self) -> bool:
        """Whether it is one array with axes, all of its memory."""
        return not self.is_bundle and bool(self.values[0][1])

    def windows(self, address: int) -> list[Any]:
        """Return its values at an address, as arrays on that memory, which they do not hold."""
        return [window(address + start, *form) for form, start in zip(self.values, self.offsets)]

    def read(self, address: int) -> Any:
        """Return the object that a token is, which has memory of its own."""
        values = [one.copy() if one.ndim else one[()] for one in self.windows(address)]
        return tuple(values) if self.is_bundle else values[0]

    def write(self, token: Any, address: int) -> bool:
        """Put the object that a token is into memory; False if it is not what was said, which may then be half done."""
        return self.put(token, self.windows(address))

    def put(self, token: Any, windows: Sequence[Any]) -> bool:
        """Do so where its values go, see ``windows``."""
        token = unpacked(token) if self.is_bundle else (token,)
        if type(token) is not tuple or len(token) != len(windows):
            return False
        for value, there in zip(token, windows):
            if getattr(value, "dtype", None) != there.dtype or getattr(value, "shape", None) != there.shape:
                return False
            there[...] = value
        return True


def form_of(dtype: Any, shape: tuple[int, ...]) -> TokenForm | None:
    """Return the form of a token that is one value; None if machine code has none like it."""
    return TokenForm(((dtype, shape),)) if is_plain((dtype, shape)) else None


def is_plain(form: Form) -> bool:
    """Return whether a value is of numbers as machines have them."""
    return form[0].kind in NUMBERS and form[0].isnative and form[0].itemsize <= ALIGNMENT


def window(address: int, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Return an array on memory, which it does not hold."""
    return np.ndarray(shape, dtype, _MEMORY.from_address(address))
