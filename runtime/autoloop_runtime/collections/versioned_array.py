"""What a TensorArray is at run time: a version of a buffer that is written once per element.

To the graph a TensorArray is one tensor of dtype ``variant``; its value is an ``ArrayValue``, a buffer and a
version number. Values never change for those who hold them: writing to the newest version stores in place and
gives the next version, and an older version does not see what was stored after it, because each element remembers the
version that wrote it. Writing to an older version copies the buffer first. So a loop that hands its array on
writes in constant time, and a loop that runs out of order is still right.

Elements that are replaced or taken off are overwritten in place as well, by a newer buffer that takes the memory over:
the older one is reached from there by undoing, as tables of gradients are (``adjoint_table``).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..base.shapes import TensorShape
from .array_buffer import ArraySpec, Buffer
from .list_version import ListVersion


class ArrayValue(ListVersion):
    """One version of a TensorArray; immutable to those who hold it.

    Attributes
    ----------
    size : int
        The number of elements.
    """

    __slots__ = ()

    @classmethod
    def empty(cls, spec: ArraySpec, size: int) -> ArrayValue:
        """Return an array of ``size`` elements, none of them written."""
        if size < 0:
            raise ValueError(f"TensorArray: the size cannot be negative, got {size} [AL303]")
        return cls(Buffer(spec, size), 1, size)

    def _check_index(self, index: int, grows: bool) -> None:
        if self.spec.collects and not 0 <= index < self.size and not grows:
            raise IndexError("list index out of range")
        if index < 0:
            raise IndexError(f"TensorArray: index {index} is negative [AL301]")
        if index >= self.size and not grows:
            hint = "" if self.spec.dynamic_size else "; dynamic_size=True would let it grow"
            raise IndexError(f"TensorArray: index {index} is out of range for size {self.size}{hint} [AL301]")

    def write(self, index: int, item: Any) -> Self:
        """Return the version with ``item`` written at ``index``."""
        buffer = self._buffer
        with buffer.lock:
            rows = buffer.rows
            # what a loop does: the newest version, an element that is not there yet, a dtype and shape that fit
            if (
                rows is not None
                and buffer.newer is None
                and self._version == buffer.newest
                and not buffer.exported
                and (0 <= index < self.size or (index == self.size and buffer.spec.dynamic_size))
                and not (index < len(buffer.stamps) and buffer.stamps[index])
                and item.dtype == rows.dtype
                and item.shape == rows.shape[1:]
            ):
                version = self._version + 1
                if index >= len(buffer.stamps):
                    buffer.grow(index + 1)
                    rows = buffer.rows
                buffer.newest = buffer.stamps[index] = version
                rows[index] = item
                return type(self)(buffer, version, max(self.size, index + 1))
        return self.write_all((index,), (item,))

    def write_all(self, indices: Sequence[int], items: Sequence[Any]) -> Self:
        """Return the version with each of ``items`` written at its index."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            for index in indices:
                self._check_index(index, buffer.spec.dynamic_size)
                if index < len(buffer.stamps) and 0 < buffer.stamps[index] <= self._version:
                    raise ValueError(
                        f"TensorArray: index {index} was written before; each element is written once [AL304]"
                    )
            if len(set(indices)) < len(indices):
                raise ValueError(f"TensorArray: an index appears twice in {list(indices)} [AL304]")
            form = buffer.form
            for index, item in zip(indices, items):
                self._check_item(index, item, form)
                if form is None and buffer.spec.infer_shape:
                    form = np.shape(item)  # the first one says what shape all have
            if self._version != buffer.newest or buffer.exported:
                buffer = buffer.fork(self._version, self.size)
            # at once: whoever comes in between on this thread, a signal handler, finds that there is a newer version
            buffer.newest = version = buffer.newest + 1
            size = max([self.size, *[i + 1 for i in indices]])
            buffer.grow(size)
            for index, item in zip(indices, items):
                buffer.stamps[index] = version
                buffer.put(index, item)
        return self._next(buffer, version, size)

    def read(self, index: int, shape: TensorShape) -> Any:
        """Return the element at ``index``; ``shape`` is what the graph knows of it."""
        buffer = self._buffer
        with buffer.lock:
            if buffer.newer is not None:
                buffer.own()
            self._check_index(index, False)
            self._use(index)
            item = self._get(index, shape)
        if not shape.matches(actual := self._shape_of(item)):
            self._mistaken(shape, actual)
        return item

    def peek(self, index: int, shape: TensorShape) -> Any:
        """Return the element at ``index``, not counted as a read (gradients look again at what was read)."""
        with self._buffer.lock:
            self._buffer.own()
            return self._get(index, shape)

    def _mistaken(self, shape: TensorShape, actual: tuple[int, ...]) -> None:
        # branches of a conditional may have written elements of different shapes
        raise ValueError(
            f"TensorArray: the elements were declared to have shape {shape}, but have shape {TensorShape(actual)}"
            " [AL302]"
        )

    def _use(self, index: int) -> None:
        buffer = self._buffer
        if not buffer.spec.clear_after_read:
            return
        if index in buffer.cleared:
            raise ValueError(
                f"TensorArray: index {index} was read before and is cleared; clear_after_read=False keeps elements"
                " [AL304]"
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
                f"(give element_shape for zeros) [AL303]"
            )
        return np.zeros(known, buffer.spec.dtype)[()]

    def _known_shape(self, shape: TensorShape) -> tuple[int, ...] | None:
        """Return the shape of elements that were not written, from what this version can know."""
        shape = shape.merge_with(self.spec.element_shape)
        if shape.is_fully_defined():
            return shape.as_tuple()
        buffer = self._buffer
        if buffer.shape is not None:
            return buffer.shape
        if buffer.rows is not None and any(0 < s <= self._version for s in buffer.stamps):
            written: tuple[int, ...] = buffer.rows.shape[1:]
            return written
        return None

    def stack(self, shape: TensorShape) -> Any:
        """Return all elements as the rows of one array."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
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
            buffer.own()
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
                f"TensorArray: there are no elements, and their shape {dims} is not known (give element_shape) [AL303]"
            )
        return tuple([d or 0 for d in known])

    def _stacked(self, indices: Sequence[int], shape: TensorShape) -> Any:
        items = [self._get(i, shape) for i in indices]
        for i, item in zip(indices, items):
            if item.shape != items[0].shape:
                raise ValueError(
                    f"TensorArray: elements of different shapes cannot be stacked: {TensorShape(items[0].shape)} "
                    f"and, at index {i}, {TensorShape(item.shape)}; use concat [AL302]"
                )
        return np.stack(items)

    def items(self, shape: TensorShape) -> list[Any]:
        """Return the elements one by one."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            for index in range(self.size):
                self._use(index)
            return [self._get(i, shape) for i in range(self.size)]

    def lengths(self) -> list[int]:
        """Return the first extents of the elements."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            return [len(self._get(i, self.spec.element_shape)) for i in range(self.size)]

    def unstack(self, rows: Any) -> Self:
        """Return the version whose elements are the rows of an array; nothing is copied if none was written before."""
        buffer = self._buffer
        count = len(rows)
        if count != self.size and not self.spec.dynamic_size:
            raise ValueError(
                f"TensorArray of size {self.size}: {count} rows do not fit (dynamic_size=True would) [AL303]"
            )
        with buffer.lock:
            buffer.own()
            untouched = count >= self.size and not any(0 < s <= self._version for s in buffer.stamps)
        if not untouched or not count:
            return self.write_all(range(count), rows)
        self._check_item(0, rows[0], None)
        made = Buffer(self.spec, 0)
        made.stamps = array("q", [1]) * count
        if self.spec.infer_shape or self.spec.element_shape.is_fully_defined():
            made.rows, made.exported = rows, True
        else:
            made.items = list(rows)
        return self._next(made, 1, count)

    def __repr__(self) -> str:
        return f"<array of {self.size} elements of {self.spec.dtype}, version {self._version}>"


def array_of_rows(spec: ArraySpec, rows: Any) -> ArrayValue:
    """Return a TensorArray whose elements are ``rows``, which nobody else holds."""
    if not len(rows):
        return ArrayValue.empty(spec, 0)
    buffer = Buffer(spec, 0)
    buffer.stamps = array("q", [1]) * len(rows)
    if spec.infer_shape:
        buffer.rows = rows
    else:
        buffer.items = [row[()] for row in rows]
    return ArrayValue(buffer, 1, len(rows))
