"""The memory of calls of machine code."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from .native_function import ALIGNMENT, Function
from .typing.facts import Shape


class Memory:
    """The memory of one call: words, see ``function``, and scratch memory behind them."""

    __slots__ = ("_array", "address", "offset", "view")

    def __init__(self, function: Function, table: int) -> None:
        room = -(-function.words // ALIGNMENT) * ALIGNMENT
        self._array = np.empty(room + function.scratch + ALIGNMENT, np.uint8)
        self.address = -(-self._array.ctypes.data // ALIGNMENT) * ALIGNMENT
        self.view = memoryview(self._array)  # type: ignore[arg-type]
        start = self.address - self._array.ctypes.data
        struct.pack_into("=QQ", self.view, start, table, self.address + room)
        #: where in ``view`` the scalar outputs are
        self.offset = start + 8 * function.scalars_start


def copied(address: int | None, dtype: Any, shape: Shape) -> Any:
    """Return a copy of an array at an address."""
    made = np.zeros(shape, dtype)
    if address and made.size:
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
    return made
