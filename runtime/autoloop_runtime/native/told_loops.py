"""How far the loops of a run of machine code are, read from its memory while it runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ..base.odometers import Reading, board_here, reading
from .call_memory import Memory
from .native_function import Function
from .writer.interrupts import BEFORE_REPORT


class _Told:
    """The words that the code of ``function`` writes, before its report at ``start`` in memory of ``owner``."""

    def __init__(self, function: Function, owner: object, start: int, done: int) -> None:
        self._loops, self._owner, self._done = function.told, owner, done
        addresses = [start + 8 * (BEFORE_REPORT - k) for k in range(len(function.told))]
        self._words = list(map(ctypes.c_int64.from_address, addresses))
        for word in self._words:
            word.value = 0

    def readings(self) -> list[Reading]:
        """See ``Odometer``; loops follow each other."""
        found = [(loop, word.value, trips) for (loop, trips), word in zip(self._loops, self._words) if word.value]
        last = len(found) - 1
        return [
            reading(loop, count + (0 if k else self._done), k < last, trips)
            for k, (loop, count, trips) in enumerate(found)
        ]  # fmt: skip


def watched(
    call: Callable[[Any, int], int], function: Function, memory: Memory, done: int, packed: Any, address: int
) -> int:  # fmt: skip
    """Call machine code with an odometer on the board of the run; ``done``: iterations that there were before."""
    board = board_here()
    if board is None or not function.told:
        return call(packed, address)
    told = _Told(function, memory, address + 8 * function.report_start, done)
    board.begin(told)
    code = call(packed, address)
    board.end(told)
    return code
