"""What a TensorArray is at run time: a version of a buffer that is written once per element.

To the graph a TensorArray is one tensor of dtype ``variant``; its value is an ``ArrayValue``, a buffer and a
version number. Values never change for those who hold them: writing to the newest version stores in place and
gives the next version, and an older version does not see what was stored after it, because each element remembers the
version that wrote it. Writing to an older version copies the buffer first. So a loop that hands its array on
writes in constant time, and a loop that runs out of order is still right.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dataclass import dataclass
from ..base.dtypes import DType
from ..base.forks import Kind
from ..base.shapes import TensorShape

_KIND = Kind("_Buffer.lock", "an element has its stamp before it is there: a version not yet handed out is never seen")


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


def _unwritten(count: int) -> array[int]:
    return array("q", bytes(8 * count))


class _Buffer:
    """The elements; shared by all versions that were made by writing in place.

    ``lock`` guards every field. ``rows`` holds the elements in one array when they have one known shape, else
    ``items`` holds them one by one. ``stamps[i]`` is the version that wrote element ``i``, 0 if none did.
    """

    __slots__ = ("cleared", "exported", "items", "lock", "newest", "rows", "spec", "stamps")

    def __init__(self, spec: ArraySpec, size: int) -> None:
        self.lock = _KIND.lock()
        self.spec = spec
        self.newest = 1
        self.stamps = _unwritten(size)
        self.cleared: set[int] = set()
        self.rows: Any = None
        #: somebody holds ``rows`` itself, so that it must not change any more
        self.exported = False
        self.items: list[Any] = []
        if spec.element_shape.is_fully_defined():
            self.rows = np.zeros((size, *spec.element_shape.as_tuple()), spec.dtype)
        elif not spec.infer_shape:
            self.items = [None] * size

    def fork(self, version: int, size: int) -> _Buffer:
        """Return a buffer of its own with what ``version`` sees."""
        made = _Buffer.__new__(_Buffer)
        made.lock = _KIND.lock()
        made.spec, made.newest, made.exported = self.spec, 1, False
        stamps = self.stamps_of(size)
        seen = (stamps > 0) & (stamps <= version)
        if not seen.any():
            made = _Buffer(self.spec, size)
            made.cleared = set(self.cleared)
            return made
        made.stamps = array("q", seen.astype(np.int64).tobytes())
        made.cleared = set(self.cleared)
        made.rows = None if self.rows is None else self.visible(version, size, True)
        made.items = [item if seen else None for item, seen in zip(self.items, made.stamps)]
        return made

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
        if size <= len(self.stamps):
            return
        self.stamps.extend(_unwritten(size - len(self.stamps)))
        if self.rows is None:
            if not self.spec.infer_shape:
                self.items.extend([None] * (size - len(self.items)))
        elif size > len(self.rows):
            grown = np.zeros((max(size, 2 * len(self.rows)), *self.rows.shape[1:]), self.rows.dtype)
            grown[: len(self.rows)] = self.rows
            self.rows = grown

    def put(self, index: int, item: Any) -> None:
        """Store an element, which must have passed the checks."""
        if self.rows is None and self.spec.infer_shape:
            self.rows = np.zeros((len(self.stamps), *item.shape), self.spec.dtype)
        if self.rows is None:
            self.items[index] = item
        else:
            if type(item) is np.str_ and item.dtype.itemsize > self.rows.dtype.itemsize:
                self.rows = self.rows.astype(item.dtype)
            self.rows[index] = item


class ArrayValue:
    """One version of a TensorArray; immutable to those who hold it.

    Attributes
    ----------
    size : int
        The number of elements.
    """

    __slots__ = ("_buffer", "_version", "size")
    dtype = dtypes.variant
    shape = ()
    ndim = 0

    def __init__(self, buffer: _Buffer, version: int, size: int) -> None:
        self._buffer = buffer
        self._version = version
        self.size = size

    @classmethod
    def empty(cls, spec: ArraySpec, size: int) -> ArrayValue:
        """Return an array of ``size`` elements, none of them written."""
        if size < 0:
            raise ValueError(f"TensorArray: the size cannot be negative, got {size}")
        return cls(_Buffer(spec, size), 1, size)

    @property
    def spec(self) -> ArraySpec:
        """What was declared."""
        return self._buffer.spec

    def _check_index(self, index: int, grows: bool) -> None:
        if self.spec.collects and not 0 <= index < self.size and not grows:
            raise IndexError("list index out of range")
        if index < 0:
            raise IndexError(f"TensorArray: index {index} is negative")
        if index >= self.size and not grows:
            hint = "" if self.spec.dynamic_size else "; dynamic_size=True would let it grow"
            raise IndexError(f"TensorArray: index {index} is out of range for size {self.size}{hint}")

    def _check_item(self, index: int, item: Any, rows: Any) -> None:
        spec = self.spec
        if item.dtype != spec.dtype and item.dtype.kind != "U":
            raise TypeError(f"TensorArray of dtype {spec.dtype}: the value for index {index} has dtype {item.dtype}")
        expected = spec.element_shape if rows is None else TensorShape(rows.shape[1:])
        if not expected.matches(item.shape) and spec.collects and spec.dynamic_size:
            raise ValueError(
                f"the elements of a list that grows in a loop must have one shape: element {index} has shape "
                f"{TensorShape(item.shape)}, those before it {expected}; write them into a larger array, or fill what "
                f"is left of each"
            )
        if not expected.matches(item.shape):
            raise ValueError(
                f"TensorArray: the value for index {index} has shape {TensorShape(item.shape)}, the elements have "
                f"shape {expected}" + ("" if rows is None else " (infer_shape=False would let them differ)")
            )

    def write(self, index: int, item: Any) -> ArrayValue:
        """Return the version with ``item`` written at ``index``."""
        buffer = self._buffer
        with buffer.lock:
            rows = buffer.rows
            # what a loop does: the newest version, an element that is not there yet, a dtype and shape that fit
            if (
                rows is not None
                and self._version == buffer.newest
                and not buffer.exported
                and 0 <= index < self.size
                and not buffer.stamps[index]
                and item.dtype == rows.dtype
                and item.shape == rows.shape[1:]
            ):
                buffer.newest = buffer.stamps[index] = version = self._version + 1
                rows[index] = item
                return ArrayValue(buffer, version, self.size)
        return self.write_all((index,), (item,))

    def write_all(self, indices: Sequence[int], items: Sequence[Any]) -> ArrayValue:
        """Return the version with each of ``items`` written at its index."""
        buffer = self._buffer
        with buffer.lock:
            for index in indices:
                self._check_index(index, buffer.spec.dynamic_size)
                if index < len(buffer.stamps) and 0 < buffer.stamps[index] <= self._version:
                    raise ValueError(f"TensorArray: index {index} was written before; each element is written once")
            if len(set(indices)) < len(indices):
                raise ValueError(f"TensorArray: an index appears twice in {list(indices)}")
            rows = buffer.rows
            for index, item in zip(indices, items):
                self._check_item(index, item, rows)
                if rows is None and buffer.spec.infer_shape:
                    rows = np.asarray(item)[None]  # the first one says what shape all have
            if self._version != buffer.newest or buffer.exported:
                buffer = buffer.fork(self._version, self.size)
            # at once: whoever comes in between on this thread, a signal handler, finds that there is a newer version
            buffer.newest = version = buffer.newest + 1
            size = max([self.size, *[i + 1 for i in indices]])
            buffer.grow(size)
            for index, item in zip(indices, items):
                buffer.stamps[index] = version
                buffer.put(index, item)
        return ArrayValue(buffer, version, size)

    def read(self, index: int, shape: TensorShape) -> Any:
        """Return the element at ``index``; ``shape`` is what the graph knows of it."""
        buffer = self._buffer
        with buffer.lock:
            self._check_index(index, False)
            self._use(index)
            item = self._get(index, shape)
        if not shape.matches(item.shape):
            self._mistaken(shape, item.shape)
        return item

    def peek(self, index: int, shape: TensorShape) -> Any:
        """Return the element at ``index``, not counted as a read (gradients look again at what was read)."""
        with self._buffer.lock:
            return self._get(index, shape)

    def _mistaken(self, shape: TensorShape, actual: tuple[int, ...]) -> None:
        # branches of a conditional may have written elements of different shapes
        raise ValueError(
            f"TensorArray: the elements were declared to have shape {shape}, but have shape {TensorShape(actual)}"
        )

    def _use(self, index: int) -> None:
        buffer = self._buffer
        if not buffer.spec.clear_after_read:
            return
        if index in buffer.cleared:
            raise ValueError(
                f"TensorArray: index {index} was read before and is cleared; clear_after_read=False keeps elements"
            )
        buffer.cleared.add(index)

    def _get(self, index: int, shape: TensorShape) -> Any:
        """Return an element, zeros if it was not written; the caller holds the lock."""
        buffer = self._buffer
        if 0 < buffer.stamps[index] <= self._version:
            return (buffer.items if buffer.rows is None else buffer.rows)[index]
        known = self._known_shape(shape)
        if known is None:
            raise ValueError(
                f"TensorArray: index {index} was not written, and the shape of the elements is not known "
                f"(give element_shape for zeros)"
            )
        return np.zeros(known, buffer.spec.dtype)[()]

    def _known_shape(self, shape: TensorShape) -> tuple[int, ...] | None:
        """Return the shape of elements that were not written, from what this version can know."""
        shape = shape.merge_with(self.spec.element_shape)
        if shape.is_fully_defined():
            return shape.as_tuple()
        buffer = self._buffer
        if buffer.rows is not None and any(0 < s <= self._version for s in buffer.stamps):
            written: tuple[int, ...] = buffer.rows.shape[1:]
            return written
        return None

    def stack(self, shape: TensorShape) -> Any:
        """Return all elements as the rows of one array."""
        buffer = self._buffer
        with buffer.lock:
            for index in range(self.size if buffer.spec.clear_after_read else 0):
                self._use(index)
            if buffer.rows is not None:
                buffer.exported = True
                if not shape.matches(buffer.rows.shape[1:]):
                    self._mistaken(shape, buffer.rows.shape[1:])
                return buffer.visible(self._version, self.size)
            if not self.size:
                return self._none(shape)
            return self._stacked(range(self.size), shape)

    def gather(self, places: Sequence[int], shape: TensorShape) -> Any:
        """Return the elements at ``places`` as the rows of one array."""
        buffer, indices = self._buffer, np.asarray(places, np.int64)
        with buffer.lock:
            is_within = not len(indices) or (indices.min() >= 0 and indices.max() < self.size)
            if buffer.spec.clear_after_read or not is_within:
                for index in indices.tolist():
                    self._check_index(index, False)
                    self._use(index)
            if buffer.rows is not None:
                return buffer.visible(self._version, self.size)[indices]
            if not len(indices):
                return self._none(shape)
            return self._stacked(indices.tolist(), shape)

    def _none(self, shape: TensorShape) -> Any:
        """Return no elements, as the rows of an array; the caller holds the lock."""
        known = self._known_shape(shape)
        return np.zeros((0, *(self.extents(shape) if known is None else known)), self.spec.dtype)

    def extents(self, shape: TensorShape, first: int = 0) -> tuple[int, ...]:
        """Return the extents, from the axis ``first`` on, of elements of which there are none."""
        dims = shape.merge_with(self.spec.element_shape)
        known = None if dims.rank is None else dims.known[first:]
        if known is None or (None in known and not self.spec.collects):
            raise ValueError(
                f"TensorArray: there are no elements, and their shape {dims} is not known (give element_shape)"
            )
        return tuple([d or 0 for d in known])

    def _stacked(self, indices: Sequence[int], shape: TensorShape) -> Any:
        items = [self._get(i, shape) for i in indices]
        for i, item in zip(indices, items):
            if item.shape != items[0].shape:
                raise ValueError(
                    f"TensorArray: elements of different shapes cannot be stacked: {TensorShape(items[0].shape)} "
                    f"and, at index {i}, {TensorShape(item.shape)}; use concat"
                )
        return np.stack(items)

    def items(self, shape: TensorShape) -> list[Any]:
        """Return the elements one by one."""
        buffer = self._buffer
        with buffer.lock:
            for index in range(self.size):
                self._use(index)
            return [self._get(i, shape) for i in range(self.size)]

    def lengths(self) -> list[int]:
        """Return the first extents of the elements."""
        buffer = self._buffer
        with buffer.lock:
            return [len(self._get(i, self.spec.element_shape)) for i in range(self.size)]

    def unstack(self, rows: Any) -> ArrayValue:
        """Return the version whose elements are the rows of an array; nothing is copied if none was written before."""
        buffer = self._buffer
        count = len(rows)
        if count != self.size and not self.spec.dynamic_size:
            raise ValueError(f"TensorArray of size {self.size}: {count} rows do not fit (dynamic_size=True would)")
        with buffer.lock:
            untouched = count >= self.size and not any(0 < s <= self._version for s in buffer.stamps)
        if not untouched or not count:
            return self.write_all(range(count), rows)
        self._check_item(0, rows[0], None)
        made = _Buffer(self.spec, 0)
        made.stamps = array("q", [1]) * count
        if self.spec.infer_shape or self.spec.element_shape.is_fully_defined():
            made.rows, made.exported = rows, True
        else:
            made.items = list(rows)
        return ArrayValue(made, 1, count)

    def __repr__(self) -> str:
        return f"<array of {self.size} elements of {self.spec.dtype}, version {self._version}>"


def array_of_rows(spec: ArraySpec, rows: Any) -> ArrayValue:
    """Return a TensorArray whose elements are ``rows``, which nobody else holds."""
    if not len(rows):
        return ArrayValue.empty(spec, 0)
    buffer = _Buffer(spec, 0)
    buffer.stamps = array("q", [1]) * len(rows)
    if spec.infer_shape:
        buffer.rows = rows
    else:
        buffer.items = [row[()] for row in rows]
    return ArrayValue(buffer, 1, len(rows))
