"""The scratch memory of one function: places for arrays, used again when what was there is no longer needed."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.writer import Writer
from .values import Buffer

#: buffers start where a cache line does
ALIGNMENT = 64


class Arena:
    """Hands out places; it knows no lifetimes, only what is occupied when a place is asked for.

    Attributes
    ----------
    size : int
        How many bytes the function needs.
    """

    def __init__(self) -> None:
        self.size = 0

    def place(self, size: int, occupied: Iterable[Buffer]) -> int:
        """Return the lowest offset where ``size`` bytes do not touch what is occupied."""
        taken = sorted((b.offset, b.offset + b.size) for b in occupied if b.offset is not None)
        offset = 0
        for start, end in taken:
            if offset + size <= start:
                break
            offset = max(offset, _aligned(end))
        self.size = max(self.size, _aligned(offset + size))
        return offset

    def buffer(self, writer: Writer, size: int, occupied: Iterable[Buffer]) -> Buffer:
        """Return a buffer at such a place."""
        offset = self.place(size, occupied)
        pointer = writer.let(f"getelementptr i8, ptr %scratch, i64 {offset}", "b")
        return Buffer(pointer, size, offset)


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
