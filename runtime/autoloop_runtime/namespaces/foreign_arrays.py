"""TensorArrays and lists whose elements are arrays of another library: they lie one by one, none is copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ..base.shapes import TensorShape
from ..collections.array_buffer import Buffer
from ..collections.versioned_array import ArrayValue
from .array_namespace import Namespace


class Seen:
    """The dtype and the shape of an array, as NumPy has them, for those who look at nothing else."""

    __slots__ = ("dtype", "ndim", "shape")

    def __init__(self, namespace: Namespace, value: Any) -> None:
        self.shape: Any = value.shape
        self.dtype = value.dtype
        if namespace.holds(value):
            self.dtype, shape = namespace.spec(value)
            self.shape = TensorShape(shape) if None in shape else shape
        self.ndim = len(self.shape)


class ForeignArray(ArrayValue):
    """One version of a TensorArray some elements of which are arrays of another library."""

    __slots__ = ("_namespace",)
    _namespace: Namespace

    @property
    def namespace(self) -> Namespace:
        """The library."""
        return self._namespace

    @classmethod
    def over(cls, array: ArrayValue, namespace: Namespace, form: tuple[int, ...] | None) -> ForeignArray:
        """Return the same elements one by one; ``form`` is the shape of one that is to come."""
        if isinstance(array, ForeignArray):
            return array
        made = array.forked()
        if made.rows is not None:
            made.shape, made.items, made.rows = made.rows.shape[1:], list(made.rows), None
        elif made.spec.infer_shape and made.shape is None:
            made.shape, made.items = form, [None] * len(made.stamps)
        return cls._made(made, made.newest, array.size, namespace)

    @classmethod
    def _made(cls, buffer: Buffer, version: int, size: int, namespace: Namespace) -> Self:
        made = cls(buffer, version, size)
        made._namespace = namespace
        return made

    def _next(self, buffer: Buffer, version: int, size: int) -> Self:
        return self._made(buffer, version, size, self._namespace)

    def _shape_of(self, item: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = Seen(self._namespace, item).shape
        return shape

    def _check_item(self, index: int, item: Any, form: tuple[int, ...] | None) -> None:
        super()._check_item(index, Seen(self._namespace, item), form)

    def _get(self, index: int, shape: TensorShape) -> Any:
        # what was not written has the shape that is known, as ever
        return self._namespace.of(super()._get(index, shape))

    def _none(self, shape: TensorShape) -> Any:
        return self._namespace.asarray(super()._none(shape))

    def _stacked(self, indices: Sequence[int], shape: TensorShape) -> Any:
        items = [self._get(i, shape) for i in indices]
        first = self._shape_of(items[0])
        for i, item in zip(indices, items):
            if self._shape_of(item) != first:
                raise ValueError(
                    f"TensorArray: elements of different shapes cannot be stacked: {TensorShape(first)} "
                    f"and, at index {i}, {TensorShape(self._shape_of(item))}; use concat [AL302]"
                )
        return self._namespace.xp.stack(items, axis=0)

    def elements(self) -> dict[int, Any]:
        """Return the elements that were written, by their indices."""
        buffer = self._buffer
        with buffer.lock:
            buffer.own()
            pairs = enumerate(zip(buffer.items[: self.size], buffer.stamps))
            return {k: item for k, (item, stamp) in pairs if 0 < stamp <= self._version}

    def exchange(self, index: int, item: Any) -> None:
        """Put an array of the same value in the place of an element; all versions that have it have that, too."""
        with self._buffer.lock:
            self._buffer.own()
            self._buffer.items[index] = item

    def unstack(self, rows: Any) -> Self:
        """Return the version whose elements are the rows of an array."""
        count = rows.shape[0]
        if count != self.size and not self.spec.dynamic_size:
            raise ValueError(
                f"TensorArray of size {self.size}: {count} rows do not fit (dynamic_size=True would) [AL303]"
            )
        return self.write_all(range(count), [rows[(k, ...)] for k in range(count)])
