"""Running a function over blocks of arrays, on several threads: what generated code calls for its chains."""

from __future__ import annotations

import contextvars
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import config
from ..base.forks import Kind
from ..base.threads import call_workers, forget_work

#: of the widest array: a few of them fit into the cache of one processor, and a call of NumPy for one takes much longer
#: than threads take to hand the interpreter's lock to each other
BLOCK_BYTES = 1 << 18
#: a thread is called for only if there are as many blocks for it
BLOCKS_PER_THREAD = 2


class Between:
    """Blocks for what lies between the operations of a chain: a set for each thread, used again in the next call.

    Parameters
    ----------
    *dtypes
        Of the blocks of a set.
    """

    def __init__(self, *dtypes: Any) -> None:
        self.dtypes = dtypes
        #: sets that no thread uses; appending and popping need no lock
        self.free: list[list[Any]] = []

    def take(self, length: int) -> list[Any]:
        """Return a set of blocks of at least ``length`` elements, in a row."""
        try:
            found = self.free.pop()
        except IndexError:
            found = []
        if not found or len(found[0]) < length:
            found = [np.empty(length, dtype) for dtype in self.dtypes]
        return found

    def give_back(self, blocks: list[Any]) -> None:
        """Give back ``blocks``: the thread that took them is done."""
        self.free.append(blocks)


def in_blocks(
    function: Callable[..., Any],
    arrays: Sequence[Any],
    scalars: Sequence[Any],
    results: Sequence[Any],
    between: Between,
) -> Any:
    """Call ``function(*arrays, *scalars, *results, *between)`` for each block of the arrays.

    Parameters
    ----------
    function : callable
        Computes the results from the arrays, element by element.
    arrays : sequence of array
        All of one shape.
    scalars : sequence of numbers
        Handed over as they are.
    results : sequence of array
        Of the same shape, written to; one that is among ``arrays`` is written after it was read, element by element.
    between : Between
        Gives further arrays that the function writes to, each of the shape of a block.

    Returns
    -------
    array, or tuple of them
        ``results``; the bare array if there is one.
    """
    places = [r if r.flags.c_contiguous or _is_once(r) else np.empty(r.shape, r.dtype) for r in results]
    every = [*arrays, *places]
    if all(a.flags.c_contiguous for a in every):
        every = [a.reshape(-1) for a in every]  # of others that would be a copy
    most = max(1, BLOCK_BYTES // max(a.itemsize for a in every))
    blocks = _Blocks(function, every[: len(arrays)], scalars, every[len(arrays) :], between, most)
    threads = min(config.get_num_threads(), len(blocks.parts) // BLOCKS_PER_THREAD)
    if threads < 2:
        blocks.work()
    else:
        blocks.share(threads)
    for result, place in zip(results, places):
        if place is not result:
            result[...] = place
    return results[0] if len(results) == 1 else tuple(results)


def _is_once(array: np.ndarray[Any, Any]) -> bool:
    """Return whether it can be told at once that no two elements of a part of an array lie in one place."""
    end = array.itemsize
    for stride, extent in sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1):
        if stride < end:
            return False
        end = stride * extent
    return True


class _Parts:
    """The indices of the blocks of an array: rows of as many axes as a block holds, of each index before them.

    Parameters
    ----------
    shape : tuple of int
        It has an axis.
    most : int
        How many elements a block may have.
    """

    def __init__(self, shape: tuple[int, ...], most: int) -> None:
        axis, inner = len(shape) - 1, 1
        while axis and inner * shape[axis] <= most:
            inner *= shape[axis]
            axis -= 1
        self.before, self.rows = shape[:axis], max(1, most // max(1, inner))
        self.slices = -(-shape[axis] // self.rows)

    def __len__(self) -> int:
        return math.prod(self.before) * self.slices

    def __iter__(self) -> Iterator[tuple[int | slice, ...]]:
        for place in itertools.product(*map(range, self.before)):
            for start in range(self.slices):
                yield *place, slice(start * self.rows, (start + 1) * self.rows)


_NONE: tuple[tuple[int | slice, ...], ...] = ()
_KIND = Kind("_Blocks.lock", "who works on blocks in a child is alone there, see ``left_alone``")


class _Blocks:
    """One call of ``in_blocks``, on which several threads may work."""

    def __init__(
        self, function: Callable[..., Any], arrays: Sequence[Any], scalars: Sequence[Any], results: Sequence[Any],
        between: Between, most: int,
    ) -> None:  # fmt: skip
        self.function = function  # not changed while there is work, like all up to ``parts``
        self.arrays = arrays
        self.scalars = scalars
        self.results = results
        self.between = between
        self.most_elements = most
        self.parts = _Parts(results[0].shape, most)
        #: guards every field below
        self.lock = _KIND.lock()
        self.next = iter(self.parts)
        #: what the function raised first; no block is begun after it
        self.error: BaseException | None = None
        #: workers that are in ``work``
        self.present = 0
        #: no worker may join any more
        self.closed = False
        #: held until the last worker has left after ``closed`` was set
        self.left = _KIND.gate()
        #: how many workers may help, see ``threads.Pool``
        self.most = 0  # set before any worker knows of this
        self.context: contextvars.Context | None = None  # likewise

    def share(self, threads: int) -> None:
        """Work with the help of up to ``threads - 1`` others; the caller never waits for one that has not begun."""
        self.most, self.context = threads - 1, contextvars.copy_context()
        self.left.acquire()
        call_workers(self, self.most)
        try:
            self.work()
        finally:
            forget_work(self)
            with self.lock:
                self.closed = True
                self.next = iter(_NONE)
                wait = self.present > 0
            if wait:
                self.left.acquire()
            self.arrays = self.results = ()  # a worker that has left may hold on to this for a while
        if self.error is not None:
            raise self.error

    def assist(self) -> None:
        """Help, as a worker."""
        with self.lock:
            if self.closed:
                return
            self.present += 1
        try:
            assert self.context is not None
            self.context.copy().run(self.work)
        except BaseException as error:
            with self.lock:
                self.error = self.error or error
                self.next = iter(_NONE)
        finally:
            with self.lock:
                self.present -= 1
                if self.closed and not self.present:
                    self.left.release()

    def left_alone(self) -> None:
        """In a forked child: blocks that other threads had begun will never be there."""
        if self.present:
            self.error = RuntimeError(
                "this process was forked while other threads were computing blocks of an array [AL606]"
            )
            self.next = iter(_NONE)
            self.present = 0
        if self.closed and self.left.locked():
            self.left.release()

    def work(self) -> None:
        """Compute blocks until there are no more."""
        scalars, between = self.scalars, self.between.take(self.most_elements)
        while True:
            with self.lock:
                part = next(self.next, None)
            if part is None:
                break
            arrays, results = [a[part] for a in self.arrays], [r[part] for r in self.results]
            size, shape = results[0].size, results[0].shape
            self.function(*arrays, *scalars, *results, *[b[:size].reshape(shape) for b in between])
        self.between.give_back(between)
