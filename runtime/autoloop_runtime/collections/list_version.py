"""What is done to TensorArrays that stand for lists: elements are replaced and taken off."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..base import dtypes
from ..base.shapes import TensorShape
from ..base.stand_ins import OfAnotherShape
from .array_buffer import ArraySpec, Buffer


class ListVersion:
    """One version of a buffer, see ``versioned_array.ArrayValue``."""

    __slots__ = ("_buffer", "_version", "size")
    dtype = dtypes.variant
    shape = ()
    ndim = 0

    def __init__(self, buffer: Buffer, version: int, size: int) -> None:
        self._buffer = buffer
        self._version = version
        self.size = size

    def _next(self, buffer: Buffer, version: int, size: int) -> Self:
        """Return a version of the same kind."""
        return type(self)(buffer, version, size)

    def _shape_of(self, item: Any) -> tuple[int, ...]:
        """Return the shape of an element."""
        shape: tuple[int, ...] = item.shape
        return shape

    @property
    def spec(self) -> ArraySpec:
        """What was declared."""
        return self._buffer.spec

    def _check_item(self, index: int, item: Any, form: tuple[int, ...] | None) -> None:
        spec = self.spec
        if item.dtype != spec.dtype and item.dtype.kind != "U":
            raise TypeError(
                f"TensorArray of dtype {spec.dtype}: the value for index {index} has dtype {item.dtype} [AL302]"
            )
        expected = spec.element_shape if form is None else TensorShape(form)
        if not expected.matches(item.shape) and spec.collects and spec.dynamic_size:
            raise OfAnotherShape(
                f"the elements of a list that grows in a loop must have one shape: element {index} has shape "
                f"{TensorShape(item.shape)}, those before it {expected}; write them into a larger array, or fill what "
                f"is left of each [AL019]"
            )
        if not expected.matches(item.shape):
            advice = "" if form is None else " (infer_shape=False would let them differ)"
            raise ValueError(
                f"TensorArray: the value for index {index} has shape {TensorShape(item.shape)}, the elements have "
                f"shape {expected}{advice} [AL302]"
            )

    def replaced(self, index: int, item: Any) -> Self:
        """Return the version with ``item`` in the place of the element at ``index``."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            if buffer.rows is None or item.dtype != buffer.rows.dtype or item.shape != buffer.rows.shape[1:]:
                self._check_item(index, item, buffer.form)
            made = buffer.overwritable(self._version, self.size)
            buffer.gives(made, index)
            made.newest = made.stamps[index] = made.newest + 1
            made.put(index, item)
        return self._next(made, made.newest, self.size)

    def inserted(self, index: int, item: Any) -> Self:
        """Return the version with ``item`` before the element at ``index``, which is there."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            self._check_item(index, item, buffer.form)
            made = buffer.fork(self._version, self.size)
            made.stamps.insert(index, 1)
            if made.rows is None:
                made.items.insert(index, item)
            else:
                wide = item.dtype if item.dtype.itemsize > made.rows.dtype.itemsize else made.rows.dtype  # of texts
                made.rows = np.insert(made.rows.astype(wide, copy=False), index, item, 0)
        return self._next(made, made.newest, self.size + 1)

    def dropped(self, index: int) -> Self:
        """Return the version without the last element, whose index is given."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            made = buffer.overwritable(self._version, self.size)
            buffer.gives(made, index)
            made.stamps[index] = 0
            if made.rows is None and made.items:
                made.items[index] = None
        return self._next(made, made.newest, index)

    def removed(self, index: int) -> Self:
        """Return the version without an element, those behind it one place further in front."""
        if index == self.size - 1:
            return self.dropped(index)
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            made = buffer.fork(self._version, self.size)
            del made.stamps[index], made.items[index : index + 1]
            if made.rows is not None:
                made.rows = np.delete(made.rows, index, 0)
        return self._next(made, made.newest, self.size - 1)

    def forked(self) -> Buffer:
        """Return a buffer of its own with what this version sees."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            return buffer.fork(self._version, self.size)

    def column(self) -> Any:
        """Return all elements as one array of the caller's own, where they are scalars and all were written; else
        None."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            if buffer.rows is None or buffer.rows.ndim != 1 or buffer.spec.clear_after_read:
                return None
            stamps = buffer.stamps_of(self.size)
            return buffer.rows[: self.size].copy() if ((stamps > 0) & (stamps <= self._version)).all() else None

    def memory_of_elements(self) -> list[Any]:
        """Return the arrays in whose memory the elements lie that have axes."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            if buffer.rows is not None:
                return [buffer.rows] if buffer.rows.ndim > 1 else []
            return [item for item in buffer.items[: self.size] if type(item) is np.ndarray and item.ndim]
