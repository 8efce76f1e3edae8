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
from collections import deque
from typing import Any

import numpy as np

from ..analysis.sizes import bytes_of
from ..base import config, dtypes
from ..base.forks import Kind, file_of, in_child, is_mine, undivided
from ..ir.tensor import Tensor

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
        #: device and number of the file, and how many names it has, none: whoever closes all descriptors, as daemons
        #: do, may open others instead, and a file system gives the number of a file that is gone to the next one
        self._identity: tuple[int, int, int] | None = None
        self.size = 0
        self.blocks = 0

    def write(self, block: _Block) -> None:
        """Append the arrays of a block, which is told its place when all of it is there."""
        assert block.items is not None
        parts = [np.ascontiguousarray(item).reshape(-1).view(np.uint8) for item in block.items if _swappable(item)]
        count = sum([len(part) for part in parts])
        with self.lock:
            # a signal handler or the collector may come here too, but not between these lines
            place = self.size
            self.size = place + count
            self.blocks += 1
            try:
                if self._descriptor < 0:
                    self._open()
                self._check()
                at = place
                for part in parts:
                    at = self._write(part, at)
                if block.place < 0:
                    block.file, block.place = self, place
                else:  # a signal handler, whose own stacks grew, was quicker
                    self.blocks -= 1
            except BaseException as error:
                self.blocks -= 1
                if not isinstance(error, OSError):
                    raise
                raise OSError(
                    error.errno,
                    f"swap_memory: {os.strerror(error.errno or 0)} while saving values of a loop in "
                    f"{tempfile.gettempdir()} ({place >> 20} MiB are there); set TMPDIR to a larger disk, or raise "
                    f"config.set_swap_budget [AL605]",
                ) from None

    def _open(self) -> None:
        with undivided():  # ``tempfile`` has a lock of its own
            file = tempfile.TemporaryFile(prefix="autoloop-swap-", buffering=0)  # noqa: SIM115
        with file:
            descriptor = os.dup(file.fileno())  # which a program started from here does not get
        identity = file_of(descriptor)
        if self._descriptor < 0:
            self._descriptor, self._identity = descriptor, identity
        else:  # a signal handler was quicker
            os.close(descriptor)

    def _check(self) -> None:
        """Raise unless the descriptor is still that of the file."""
        if file_of(self._descriptor) != self._identity:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def _write(self, data: Any, at: int) -> int:
        """Write bytes; gives their end."""
        done = 0
        while done < len(data):
            done += _pwrite(self._descriptor, data[done:].data, at + done)
        return at + done

    def _fill(self, view: memoryview, place: int) -> None:
        """Read; not where the lock is taken: Ctrl-C between turns would leave it held since Python 3.12."""
        done, count = 0, len(view)
        while done < count:
            got = _pread(self._descriptor, view[done:], place + done)
            if not got:
                raise OSError(errno.EIO, f"the file ends at byte {place + done} of {place + count}")
            done += got

    def read(self, place: int, count: int) -> bytearray:
        """Return ``count`` bytes from ``place`` on."""
        out = bytearray(count)
        view = memoryview(out)
        with self.lock:
            try:
                self._check()
                self._fill(view, place)
            except OSError as error:
                raise OSError(
                    error.errno, f"swap_memory: {error.strerror} while reading saved values of a loop back [AL605]"
                ) from None
        return out

    def announce(self, place: int, count: int) -> None:
        """Tell that these bytes will be read soon."""
        if hasattr(os, "posix_fadvise"):
            with self.lock, contextlib.suppress(OSError):
                os.posix_fadvise(self._descriptor, place, count, os.POSIX_FADV_WILLNEED)

    def forget(self, block: _Block) -> None:
        """Forget a block that is not needed any more, here or anywhere."""
        with self.lock:
            if block.file is self:
                block.file = None
                self.blocks -= 1
            self.close_unused()

    def close_unused(self) -> None:
        """Give the file up if nobody may read in it; a descriptor that is not its own any more is left alone."""
        with self.lock:
            if self.blocks:
                return
            descriptor, identity = self._descriptor, self._identity
            self._descriptor, self.size = -1, 0
            if descriptor >= 0 and file_of(descriptor) == identity:
                os.close(descriptor)


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

    ``waiting`` holds the blocks in memory, oldest first, with their stacks. ``gone`` holds stacks that were collected.
    The collector may run anywhere, also where this very thread holds the lock; so it only appends there, and tries to
    settle accounts if no other thread does.

    A block is ``counted`` in ``resident`` or not, and both change in lines that nothing can come between; so Ctrl-C or
    a fork at any point leaves accounts that are right, and work that is done when somebody comes by again.
    """

    def __init__(self) -> None:
        self.lock = _KIND.lock()
        #: where blocks are written to
        self.file = _File()
        self.resident = 0
        self.waiting: deque[tuple[_Reference, _Block]] = deque()
        self.gone: deque[Any] = deque()
        #: all there are
        self.stacks: set[_Reference] = set()

    def enter(self, stack: SwapStack, blocks: list[_Block]) -> _Reference:
        """Return a new stack."""
        weakref.finalize(stack, self.settle).atexit = False
        reference = _Reference(stack, self.gone.append)  # which Ctrl-C cannot divide, and comes before ``settle``
        reference.blocks = blocks
        self.stacks.add(reference)
        return reference

    def grown(self, stack: SwapStack, block: _Block) -> None:
        """Note that a block of ``stack`` is complete; write the oldest blocks while there are too many."""
        with self.lock:
            self._settle()
            self.waiting.append((stack.reference, block))
            self.resident += block.count
            block.counted = True
            self._write_oldest(config.get_swap_budget())
        self.settle()

    def _write_oldest(self, budget: int) -> None:
        """Write blocks; not where the lock is taken: Ctrl-C between turns would leave it held since Python 3.12."""
        while self.resident > budget and self.waiting:
            oldest = self.waiting[0]
            owner = oldest[0]()
            if owner is not None:
                owner.write_out(oldest[1], self.file)
                self._uncount(oldest[1])
            if self.waiting and self.waiting[0] is oldest:
                self.waiting.popleft()

    def _uncount(self, block: _Block) -> None:
        if block.counted:
            self.resident -= block.count
            block.counted = False

    def settle(self) -> None:
        """Give back what collected stacks had, unless another thread is at it."""
        if is_mine(self.lock):
            self._settle()
            return
        free = True
        while self.gone and free:
            try:
                free = self.lock.acquire(blocking=False)
                if free:
                    self._settle()
            finally:  # without a look at ``free``: Ctrl-C may come when the lock has just been taken
                try:  # noqa: SIM105
                    self.lock.release()
                except RuntimeError:
                    pass

    def _settle(self) -> None:
        while self.gone:
            stack: _Reference = self.gone[0]
            for block in stack.blocks:
                self._uncount(block)
                file = block.file
                if file is not None:
                    file.forget(block)
            self.stacks.discard(stack)
            if self.gone and self.gone[0] is stack:
                self.gone.popleft()
        self.file.close_unused()

    def after_fork_in_child(self) -> None:
        """Write to a file of one's own."""
        self.file = _File()


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
    counted : bool
        They are among what is in memory of complete blocks.
    layout : list
        ``(shape, dtype)`` of each element, once they are written.
    count : int
        Bytes in all.
    """

    __slots__ = ("count", "counted", "file", "first", "items", "layout", "place")

    def __init__(self, first: int) -> None:
        self.first = first
        self.items: list[Any] | None = []
        self.file: _File | None = None
        self.place = -1
        self.counted = False
        self.layout: list[tuple[tuple[int, ...], Any]] = []
        self.count = 0


class _Reference(weakref.ref[Any]):
    """A weak reference to a stack, and what outlives it for a moment: its blocks, which are to be given back."""

    __slots__ = ("blocks",)
    blocks: list[_Block]


class SwapStack:
    """A stack whose oldest elements may be in a file; has what ``stacks`` uses of a list.

    A stack is pushed to by one thread at a time; ``lock`` guards the blocks against the thread that writes the
    oldest ones out, and against readers.
    """

    __slots__ = ("__weakref__", "_blocks", "_cached", "_length", "lock", "reference")
    dtype = dtypes.variant
    shape = ()

    def __init__(self, items: Any = ()) -> None:
        self.lock = _KIND.lock()
        self._blocks: list[_Block] = [_Block(0)]
        self._length = 0
        #: the elements of the block that was read last: (the position of the first, elements)
        self._cached: tuple[int, list[Any]] = 0, []
        self.reference = _space.enter(self, self._blocks)
        for item in items:
            self.append(item)

    def __len__(self) -> int:
        return self._length

    def append(self, item: Any) -> None:
        """Push an element; nobody else looks at a block that is not complete but to read what is there."""
        block = self._blocks[-1]
        items = block.items
        assert items is not None
        items.append(item)
        self._length += 1
        if _swappable(item):
            block.count += item.nbytes
            if block.count >= BLOCK:
                with self.lock:
                    self._blocks.append(_Block(self._length))
                _space.grown(self, block)

    def write_out(self, block: _Block, file: _File) -> None:
        """Move a complete block to ``file``."""
        with self.lock:
            assert block.items is not None
            if block.place < 0:
                block.layout = [(x.shape, x.dtype) for x in block.items]
                file.write(block)
            block.items = [None if _swappable(x) else x for x in block.items]

    def __getitem__(self, position: Any) -> Any:
        if type(position) is not int:
            if isinstance(position, slice):
                return [self[i] for i in range(*position.indices(self._length))]
            position = int(position)
        first, items = self._cached
        at = position - first
        return items[at] if 0 <= at < len(items) else self._found(position)

    def _found(self, position: int) -> Any:
        """Return an element of another block than the last time."""
        with self.lock:
            number = self._number(position)
            block = self._blocks[number]
            assert block.items is not None
            items = block.items if block.place < 0 else self._loaded(number)
            self._cached = block.first, items
            return items[position - block.first]

    def _number(self, position: int) -> int:
        """Return the number of the block that holds ``position``."""
        low, high = 0, len(self._blocks) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._blocks[middle].first <= position else (low, middle - 1)
        return low

    def _loaded(self, number: int) -> list[Any]:
        """Return the elements of a block, from the file."""
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


def is_small(value: Tensor) -> bool:
    """Return true for what is known to stay in memory: it needs no stack that could leave it."""
    size = bytes_of(value)
    return value.dtype.kind in "biufc" and size is not None and size < SMALLEST


def _swappable(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype.kind in "biufc" and item.nbytes >= SMALLEST
