"""Saved values that do not stay in memory: stacks of loops with ``swap_memory=True``.

Past a budget the oldest values, which a backward loop needs last, go to a temporary file in blocks. The file has no
name as soon as it is open, so nobody else can read it and nothing is left of it, even after a kill. It is written and
read explicitly rather than mapped: a full disk is then an exception and not a signal, and what was written does not
count as memory of the process. The kernel writes behind the forward loop by itself; on the way back the block before
the one that is being read is announced to it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import weakref
from collections import Counter, deque
from typing import Any

import numpy as np

from .. import config, dtypes
from ..forks import Kind, in_child, undivided

#: bytes that are written and read at once
BLOCK = 4 << 20
#: smaller values, and those that are no arrays of numbers, stay in memory
SMALLEST = 256


_KIND = Kind("swap", "blocks in a file are complete when their place is known; a child counts again what it has")


class _File:
    """A temporary file of one process; ``lock`` guards all fields but those of what is never changed in it.

    What is in it stays as it is until nobody may read it any more, so a process that was forked reads from its copy of
    the descriptor what its parent had written, and writes to a file of its own.

    ``size`` is the end of the file; ``blocks`` counts what is in it that somebody may still read. With the last of
    them the file goes.
    """

    def __init__(self) -> None:
        self.lock = _KIND.lock()
        #: -1 while there is no file
        self._descriptor = -1
        #: device and number of the file: whoever closes all descriptors, as daemons do, may open others instead
        self._identity: tuple[int, int] | None = None
        self.size = 0
        self.blocks = 0

    def write(self, parts: list[Any]) -> int:
        """Append arrays as a block; gives the place of the first."""
        with self.lock:
            place = self.size
            # at once, for a signal handler or the collector may come here in between
            self.size += sum(part.nbytes for part in parts)
            self.blocks += 1
            try:
                if self._descriptor < 0:
                    self._open()
                self._check()
                at = place
                for part in parts:
                    at = self._write(np.ascontiguousarray(part).reshape(-1).view(np.uint8), at)
            except BaseException as error:
                self.forget(1)
                if not isinstance(error, OSError):
                    raise
                raise OSError(
                    error.errno,
                    f"swap_memory: {os.strerror(error.errno or 0)} while saving values of a loop in "
                    f"{tempfile.gettempdir()} ({place >> 20} MiB are there); set TMPDIR to a larger disk, or raise "
                    f"config.set_swap_budget",
                ) from None
            return place

    def _open(self) -> None:
        with undivided():  # ``tempfile`` has a lock of its own
            file = tempfile.TemporaryFile(prefix="autoloop-swap-", buffering=0)  # noqa: SIM115
        with file:
            self._descriptor = os.dup(file.fileno())  # which a program started from here does not get
        self._identity = _identity(self._descriptor)

    def _check(self) -> None:
        """Raise unless the descriptor is still that of the file."""
        if _identity(self._descriptor) != self._identity:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def _write(self, data: Any, at: int) -> int:
        """Write bytes; gives their end."""
        done = 0
        while done < len(data):
            done += _pwrite(self._descriptor, data[done:].data, at + done)
        return at + done

    def read(self, place: int, count: int) -> bytearray:
        """``count`` bytes from ``place`` on."""
        out = bytearray(count)
        view, done = memoryview(out), 0
        with self.lock:
            try:
                self._check()
                while done < count:
                    got = _pread(self._descriptor, view[done:], place + done)
                    if not got:
                        raise OSError(errno.EIO, f"the file ends at byte {place + done} of {place + count}")
                    done += got
            except OSError as error:
                raise OSError(
                    error.errno, f"swap_memory: {error.strerror} while reading saved values of a loop back"
                ) from None
        return out

    def announce(self, place: int, count: int) -> None:
        """These bytes will be read soon."""
        if hasattr(os, "posix_fadvise"):
            with self.lock, contextlib.suppress(OSError):
                os.posix_fadvise(self._descriptor, place, count, os.POSIX_FADV_WILLNEED)

    def forget(self, blocks: int) -> None:
        """So many blocks are not needed any more."""
        with self.lock:
            self.blocks -= blocks
            if self.blocks == 0:
                self.close()

    def close(self) -> None:
        """Give the file up; a descriptor that is not its own any more is left alone."""
        with self.lock:
            descriptor, self._descriptor, self.size = self._descriptor, -1, 0
            if descriptor >= 0 and _identity(descriptor) == self._identity:
                os.close(descriptor)


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


if hasattr(os, "pread"):

    def _pread(descriptor: int, view: memoryview, place: int) -> int:
        return os.preadv(descriptor, [view], place)

    def _pwrite(descriptor: int, data: Any, place: int) -> int:
        return os.pwrite(descriptor, data, place)

else:  # nobody forks there, so a lock guards the position too

    def _pread(descriptor: int, view: memoryview, place: int) -> int:
        os.lseek(descriptor, place, os.SEEK_SET)
        data = os.read(descriptor, len(view))
        view[: len(data)] = data
        return len(data)

    def _pwrite(descriptor: int, data: Any, place: int) -> int:
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.write(descriptor, data)


class _Space:
    """All swapping stacks of the process and the memory they take; ``lock`` guards all fields but ``gone``.

    ``waiting`` holds the blocks in memory, oldest first, as ``(weak reference to the stack, its block's number)``.
    ``gone`` holds what stacks had that were collected. The collector may run anywhere, also where this very thread
    holds the lock; so it only appends there, and tries to settle accounts if no other thread does.
    """

    def __init__(self) -> None:
        self.lock = _KIND.lock()
        #: where blocks are written to
        self.file = _File()
        self.resident = 0
        self.waiting: deque[tuple[weakref.ref[SwapStack], int]] = deque()
        self.gone: deque[_Owned] = deque()

    def grown(self, stack: SwapStack, number: int, count: int) -> None:
        """A block of ``stack`` is complete; write the oldest blocks while there are too many."""
        with self.lock:
            self._settle()
            self.resident += count
            self.waiting.append((weakref.ref(stack), number))
            budget = config.get_swap_budget()
            while self.resident > budget and self.waiting:
                oldest = self.waiting[0]
                owner = oldest[0]()
                written = 0 if owner is None else owner.write_out(oldest[1], self.file)
                self.resident -= written
                if self.waiting and self.waiting[0] is oldest:
                    self.waiting.popleft()
        self.settle()

    def settle(self) -> None:
        """Give back what collected stacks had, unless another thread is at it."""
        while self.gone and self.lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self.lock.release()

    def _settle(self) -> None:
        while self.gone:
            owned = self.gone.popleft()
            self.resident -= owned.resident
            for file, blocks in owned.written.items():
                file.forget(blocks)

    def after_fork_in_child(self) -> None:
        """Write to a file of one's own, and count what there is: another thread may have been in the middle."""
        self.file = _File()
        for owner in {owner for owner in [reference() for reference, _ in self.waiting] if owner is not None}:
            owner.count_again()
        blocks = [(reference(), number) for reference, number in self.waiting]
        self.resident = sum(owner.in_memory(number) for owner, number in blocks if owner is not None)
        self.resident += sum(owned.resident for owned in self.gone)


_space = _Space()
in_child(_space.after_fork_in_child)


class _Block:
    """Consecutive elements of a stack.

    Attributes
    ----------
    first : int
        The position of the first.
    items : list or None
        The elements, if they are in memory.
    file, place : _File or None, int
        Where they are otherwise; ``place`` is -1 until they are there.
    layout : list
        ``(shape, dtype)`` of each element.
    count : int
        Bytes in all.
    """

    __slots__ = ("count", "file", "first", "items", "layout", "place")

    def __init__(self, first: int) -> None:
        self.first = first
        self.items: list[Any] | None = []
        self.file: _File | None = None
        self.place = -1
        self.layout: list[tuple[tuple[int, ...], Any]] = []
        self.count = 0


class _Owned:
    """What of a stack outlives it for a moment: the memory and the file space to be given back."""

    __slots__ = ("resident", "written")

    def __init__(self) -> None:
        self.resident = 0
        self.written: Counter[_File] = Counter()

    def release(self) -> None:
        """The stack is gone."""
        _space.gone.append(self)
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
        self.lock = _KIND.lock()
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

    def write_out(self, number: int, file: _File) -> int:
        """Move a complete block to ``file``; gives the bytes that left memory."""
        with self.lock:
            block = self._blocks[number]
            if block.place >= 0:
                return 0
            assert block.items is not None
            swapped = [_swappable(x) for x in block.items]
            place = file.write([x for x, s in zip(block.items, swapped) if s])
            block.file, block.place = file, place
            block.items = [None if s else x for x, s in zip(block.items, swapped)]
            self._owned.resident -= block.count
            self._owned.written[file] += 1
            return block.count

    def in_memory(self, number: int) -> int:
        """The bytes of a complete block, 0 if they are in a file."""
        block = self._blocks[number]
        return block.count if block.place < 0 else 0

    def count_again(self) -> None:
        """Whoever was moving a block, say what is where."""
        complete = self._blocks[:-1]
        self._owned.resident = sum(self.in_memory(number) for number in range(len(complete)))
        self._owned.written = Counter(block.file for block in complete if block.file is not None and block.place >= 0)

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
        if before is not None and before.file is not None and before.place >= 0:
            before.file.announce(before.place, before.count)
        assert block.items is not None and block.file is not None
        data = block.file.read(block.place, block.count)
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
