"""Saved values that do not stay in memory: stacks of loops with ``swap_memory=True``.

Past a budget the oldest values, which a backward loop needs last, go to a temporary file in blocks. The file has no
name as soon as it is open, so nobody else can read it and nothing is left of it, even after a kill. It is written and
read explicitly rather than mapped: a full disk is then an exception and not a signal, and what was written does not
count as memory of the process. The kernel writes behind the forward loop by itself; on the way back the block before
the one that is being read is announced to it.
"""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from collections import deque
from typing import Any

import numpy as np

from .. import config, dtypes

#: bytes that are written and read at once
BLOCK = 4 << 20
#: smaller values, and those that are no arrays of numbers, stay in memory
SMALLEST = 256


class _File:
    """The temporary file; ``lock`` guards all fields and the position in the file.

    ``size`` is the end of the file; ``blocks`` counts what is in it that somebody may still read. With the last of
    them the file goes.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._handle: Any = None
        self.size = 0
        self.blocks = 0

    def write(self, parts: list[Any]) -> int:
        """Append arrays; gives the place of the first."""
        with self.lock:
            if self._handle is None:
                self._handle = tempfile.TemporaryFile(prefix="autoloop-swap-", buffering=0)  # noqa: SIM115
            place = self.size
            try:
                self._handle.seek(place)
                for part in parts:
                    self._write(np.ascontiguousarray(part).reshape(-1).view(np.uint8))
            except OSError as error:
                raise OSError(
                    error.errno,
                    f"swap_memory: {os.strerror(error.errno or 0)} while saving values of a loop in "
                    f"{tempfile.gettempdir()} ({self.size >> 20} MiB are there); set TMPDIR to a larger disk, or raise "
                    f"config.set_swap_budget",
                ) from None
            self.size = self._handle.tell()
            self.blocks += 1
            return place

    def _write(self, data: Any) -> None:
        done = 0
        while done < len(data):
            done += self._handle.write(data[done:].data)

    def read(self, place: int, count: int) -> bytearray:
        """``count`` bytes from ``place`` on."""
        out = bytearray(count)
        view, done = memoryview(out), 0
        with self.lock:
            self._handle.seek(place)
            while done < count:
                done += self._handle.readinto(view[done:])
        return out

    def announce(self, place: int, count: int) -> None:
        """These bytes will be read soon."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._handle.fileno(), place, count, os.POSIX_FADV_WILLNEED)

    def forget(self, blocks: int) -> None:
        """So many blocks are not needed any more."""
        with self.lock:
            self.blocks -= blocks
            if self.blocks == 0 and self._handle is not None:
                self._handle.close()
                self._handle, self.size = None, 0


class _Space:
    """All swapping stacks of the process and the memory they take; ``lock`` guards all fields but ``gone``.

    ``waiting`` holds the blocks in memory, oldest first, as ``(weak reference to the stack, its block's number)``.
    ``gone`` holds ``(bytes, blocks in the file)`` of stacks that were collected. The collector may run anywhere, also
    where this very thread holds a lock; so it only appends there, and tries to settle accounts if nobody else does.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.resident = 0
        self.waiting: deque[tuple[weakref.ref[SwapStack], int]] = deque()
        self.gone: deque[tuple[int, int]] = deque()

    def grown(self, stack: SwapStack, number: int, count: int) -> None:
        """A block of ``stack`` is complete; write the oldest blocks while there are too many."""
        with self.lock:
            self._settle()
            self.resident += count
            self.waiting.append((weakref.ref(stack), number))
            budget = config.get_swap_budget()
            while self.resident > budget and self.waiting:
                oldest, which = self.waiting.popleft()
                owner = oldest()
                if owner is not None:
                    self.resident -= owner.write_out(which)
        self.settle()

    def settle(self) -> None:
        """Give back what collected stacks had, unless somebody is at it."""
        while self.gone and self.lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self.lock.release()

    def _settle(self) -> None:
        while self.gone:
            resident, written = self.gone.popleft()
            self.resident -= resident
            if written:
                _file.forget(written)


_file = _File()
_space = _Space()


class _Block:
    """Consecutive elements of a stack.

    Attributes
    ----------
    first : int
        The position of the first.
    items : list or None
        The elements, if they are in memory.
    place : int
        Where they are in the file otherwise.
    layout : list
        ``(shape, dtype)`` of each element.
    count : int
        Bytes in all.
    """

    __slots__ = ("count", "first", "items", "layout", "place")

    def __init__(self, first: int) -> None:
        self.first = first
        self.items: list[Any] | None = []
        self.place = -1
        self.layout: list[tuple[tuple[int, ...], Any]] = []
        self.count = 0


class _Owned:
    """What of a stack outlives it for a moment: the memory and the file space to be given back."""

    __slots__ = ("resident", "written")

    def __init__(self) -> None:
        self.resident = 0
        self.written = 0

    def release(self) -> None:
        """The stack is gone."""
        _space.gone.append((self.resident, self.written))
        _space.settle()


class SwapStack:
    """A stack whose oldest elements may be in a file; has what ``stacks`` uses of a list.

    A stack is pushed to by one thread at a time; ``lock`` guards the blocks against the thread that writes the
    oldest ones out, and against readers.
    """

    __slots__ = ("__weakref__", "_blocks", "_cached", "_length", "_owned", "lock")
    dtype = dtypes.variant
    shape = ()

    def __init__(self, items: Any = ()) -> None:
        self.lock = threading.Lock()
        self._blocks: list[_Block] = [_Block(0)]
        self._length = 0
        #: the elements of the block that was read last: (its number, elements)
        self._cached: tuple[int, list[Any]] | None = None
        self._owned = _Owned()
        weakref.finalize(self, self._owned.release).atexit = False
        for item in items:
            self.append(item)

    def __len__(self) -> int:
        return self._length

    def append(self, item: Any) -> None:
        """Push an element."""
        full = None
        with self.lock:
            block = self._blocks[-1]
            assert block.items is not None
            block.items.append(item)
            block.layout.append((item.shape, item.dtype))
            if _swappable(item):
                block.count += item.nbytes
            self._length += 1
            if block.count >= BLOCK:
                full = len(self._blocks) - 1
                self._owned.resident += block.count
                self._blocks.append(_Block(self._length))
        if full is not None:
            _space.grown(self, full, self._blocks[full].count)

    def write_out(self, number: int) -> int:
        """Move a complete block to the file; gives the bytes that left memory."""
        with self.lock:
            block = self._blocks[number]
            assert block.items is not None
            swapped = [_swappable(x) for x in block.items]
            block.place = _file.write([x for x, s in zip(block.items, swapped) if s])
            block.items = [None if s else x for x, s in zip(block.items, swapped)]
            self._owned.resident -= block.count
            self._owned.written += 1
            return block.count

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(self._length))]
        position = int(position)
        with self.lock:
            number = self._number(position)
            block = self._blocks[number]
            assert block.items is not None
            at = position - block.first
            if block.place < 0:
                return block.items[at]
            cached = self._cached
            if cached is None or cached[0] != number:
                cached = self._cached = (number, self._loaded(number))
            return cached[1][at]

    def _number(self, position: int) -> int:
        """The number of the block that holds ``position``."""
        low, high = 0, len(self._blocks) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._blocks[middle].first <= position else (low, middle - 1)
        return low

    def _loaded(self, number: int) -> list[Any]:
        """The elements of a block, from the file."""
        block = self._blocks[number]
        before = self._blocks[number - 1] if number else None
        if before is not None and before.place >= 0:
            _file.announce(before.place, before.count)
        data = _file.read(block.place, block.count)
        assert block.items is not None
        items, offset = [], 0
        for item, (shape, dtype) in zip(block.items, block.layout):
            if item is None:
                count = int(np.prod(shape, dtype=np.int64))
                item = np.frombuffer(data, dtype, count, offset).reshape(shape)
                offset += item.nbytes
            items.append(item)
        return items


def _swappable(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype.kind in "biufc" and item.nbytes >= SMALLEST
