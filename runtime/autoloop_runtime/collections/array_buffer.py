"""The memory of TensorArrays: buffers that versions share, see ``versioned_array``."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..base.dtypes import DType
from ..base.forks import Kind
from ..base.shapes import TensorShape

_KIND = Kind("Buffer.lock", "an element has its stamp before it is there: a version not yet handed out is never seen")


@dataclass(frozen=True)
class ArraySpec:
    """What was declared of a TensorArray.

    Attributes
    ----------
    dtype : dtype
    element_shape : TensorShape
        Of every element, as far as it is known.
    dynamic_size : bool
        Writing behind the end makes the array longer.
    clear_after_read : bool
        An element may be read once.
    infer_shape : bool
        All elements have one shape.
    collects : bool
        The array of a construct that collects what a function gives: where there is nothing, an extent that is not
        known is 0.
    """

    dtype: DType
    element_shape: TensorShape
    dynamic_size: bool
    clear_after_read: bool
    infer_shape: bool
    collects: bool = False


def unwritten(count: int) -> array[int]:
    return array("q", bytes(8 * count))


class Buffer:
    """The elements; shared by all versions that were made by writing in place.

    ``lock`` guards every field, and those of the buffers that have taken its memory over. ``rows`` holds the elements
    in one array when they have one known shape, else ``items`` holds them one by one. ``stamps[i]`` is the version that
    wrote element ``i``, 0 if none did.
    """

    __slots__ = ("cleared", "exported", "items", "lock", "newer", "newest", "rows", "shape", "since", "spec", "stamps")

    def __init__(self, spec: ArraySpec, size: int) -> None:
        self.lock = _KIND.lock()
        self.spec = spec
        self.newest = 1
        self.stamps = unwritten(size)
        self.cleared: set[int] = set()
        self.rows: Any = None
        #: somebody holds ``rows`` itself, so that it must not change any more
        self.exported = False
        #: of elements that lie one by one, as views of them may be held when others take their places
        self.shape: tuple[int, ...] | None = None
        #: how many buffers have taken the memory over from one another since it was copied
        self.since = 0
        #: the buffer that has the memory now, what is changed there, and what was there: its stamp, the element
        self.newer: tuple[Buffer, int, int, Any] | None = None
        self.items: list[Any] = []
        if spec.element_shape.is_fully_defined():
            self.rows = np.zeros((size, *spec.element_shape.as_tuple()), spec.dtype)
        elif not spec.infer_shape:
            self.items = [None] * size

    @property
    def form(self) -> tuple[int, ...] | None:
        """The shape of the elements, if one that was written has told it."""
        return self.shape if self.rows is None else self.rows.shape[1:]

    def fork(self, version: int, size: int) -> Buffer:
        """Return a buffer of its own with what ``version`` sees."""
        made = Buffer.__new__(Buffer)
        made.lock = _KIND.lock()
        made.spec, made.newest, made.exported = self.spec, 1, False
        made.shape, made.since, made.newer = self.shape, 0, None
        stamps = self.stamps_of(size)
        seen = (stamps > 0) & (stamps <= version)
        if not seen.any():
            made = Buffer(self.spec, size)
            made.cleared = set(self.cleared)
            if self.shape is not None:
                made.shape, made.rows, made.items = self.shape, None, [None] * size
            return made
        made.stamps = array("q", seen.astype(np.int64).tobytes())
        made.cleared = set(self.cleared)
        made.rows = None if self.rows is None else self.visible(version, size, True)
        made.items = [item if seen else None for item, seen in zip(self.items, made.stamps)]
        return made

    def overwritable(self, version: int, size: int) -> Buffer:
        """Return a buffer with what ``version`` sees in which an element may be overwritten, after ``takes``: one that
        is to take over this one's memory, if that is nobody else's, or one with a copy."""
        if version != self.newest or self.exported or self.since > max(size, 64):
            # what an old version holds, to be undone by it, is never much more than a copy
            made = self.fork(version, size)
        else:
            made = Buffer.__new__(Buffer)
            made.lock, made.spec, made.cleared = self.lock, self.spec, self.cleared
            made.newest, made.exported = version + 1, False
            made.shape, made.since, made.newer = self.shape, self.since + 1, None
            made.stamps, made.rows, made.items = self.stamps, self.rows, self.items
        if made.rows is not None and made.rows.ndim > 1:
            made.shape, made.items, made.rows = made.rows.shape[1:], list(made.rows), None
            made.stamps = made.stamps[:]
        return made

    def gives(self, made: Buffer, index: int) -> None:
        """Let go of the memory that ``made`` takes over, to overwrite an element."""
        if made.stamps is self.stamps:
            # at once: whoever comes in between on this thread finds either what is there, or how it is undone
            stamp = self.stamps[index]
            item = None if not stamp else self.items[index] if self.rows is None else self.rows[index]
            self.newer = (made, index, stamp, item)

    def own(self) -> None:
        """Have memory of its own again, if a newer buffer has taken that over."""
        newest, changes = self, []
        while newest.newer is not None:
            changes.append(newest.newer)
            newest = newest.newer[0]
        if not changes:
            return
        stamps, items = newest.stamps[:], newest.items[:]
        rows = None if newest.rows is None else newest.rows.copy()
        for _, index, stamp, item in reversed(changes):
            stamps[index] = stamp
            if stamp:
                (items if rows is None else rows)[index] = item
        self.stamps, self.rows, self.items, self.since, self.newer = stamps, rows, items, 0, None

    def visible(self, version: int, size: int, copy: bool = False) -> Any:
        """Return ``rows`` as ``version`` sees them: what was written later is still zero."""
        rows = self.rows[:size]
        if version == self.newest:
            return rows.copy() if copy else rows
        rows = rows.copy()
        rows[self.stamps_of(size) > version] = 0
        return rows

    def stamps_of(self, size: int) -> Any:
        """Return a copy of the first stamps, to compare all of them at once."""
        return np.frombuffer(self.stamps[:size], np.int64)

    def grow(self, size: int) -> None:
        """Make room for ``size`` elements, with as much again to spare where that costs no more."""
        room = len(self.stamps)
        if size <= room:
            return
        room = max(size, 2 * room)
        self.stamps.extend(unwritten(room - len(self.stamps)))
        if self.rows is None:
            if not self.spec.infer_shape or self.shape is not None:
                self.items.extend([None] * (room - len(self.items)))
        elif size > len(self.rows):
            grown = np.zeros((room, *self.rows.shape[1:]), self.rows.dtype)
            grown[: len(self.rows)] = self.rows
            self.rows = grown

    def put(self, index: int, item: Any) -> None:
        """Store an element, which must have passed the checks."""
        if self.rows is None and self.spec.infer_shape and self.shape is None:
            self.rows = np.zeros((len(self.stamps), *item.shape), self.spec.dtype)
        if self.rows is None:
            self.items[index] = item
        else:
            if type(item) is np.str_ and item.dtype.itemsize > self.rows.dtype.itemsize:
                self.rows = self.rows.astype(item.dtype)
            self.rows[index] = item
