"""What lists do with TensorArrays besides appending: elements are read, replaced, taken off, and handed out at once."""

from __future__ import annotations

from typing import Any, Self

from ..ir.apply import apply
from ..ir.array_kinds import LATER
from ..ir.recorders import recorders
from ..ir.tensor import Tensor
from .described_flow import DescribedFlow, index_of, named
from .tensor_array_ops import DROP, INSERT, READ_LISTED, REMOVE, REPLACE


class ListFlow(DescribedFlow):
    """The TensorArray of a list."""

    __slots__ = ()

    def replaced(self, index: Tensor, value: Tensor) -> Self:
        """Return the array of a list with ``value`` in the place of the element at ``index``."""
        what = f"the value for index {named(index)}"
        tensor = self._tensor(value, what)
        self._check_shape(tensor.shape, what)
        return self._after(apply(REPLACE, [self.flow, index_of(index, "write"), tensor]), tensor.shape)

    def inserted(self, index: Tensor, value: Tensor) -> Self:
        """Return the array of a list with ``value`` before the element at ``index``, or behind the last one."""
        what = f"the value for index {named(index)}"
        tensor = self._tensor(value, what)
        self._check_shape(tensor.shape, what)
        return self._after(apply(INSERT, [self.flow, index_of(index, "write"), tensor]), tensor.shape)

    def without(self, index: Tensor, is_last: bool, words: str) -> Self:
        """Return the array of a list without the element at ``index``, which is the last one or any."""
        return self._after(apply(DROP if is_last else REMOVE, [self.flow, index], {"words": words}))

    def listed(self, index: Tensor, words: str) -> Tensor:
        """Return the element of a list at ``index``; outside ``words`` are those of the error."""
        attrs = {"words": words, "dtype": self.dtype, "shape": self.element_shape}
        return apply(READ_LISTED, [self.flow, index_of(index, "read")], attrs)

    def values(self) -> list[Any] | None:
        """Return the values of all elements; None if each has to be read: in a graph, where somebody records, where it
        is cleared then, or has another shape than it should."""
        if self._is_read_apart() or self._spec.clear_after_read:
            return None
        array, shape = self.flow.value, self.element_shape
        every = [array.peek(index, shape) for index in range(array.size)]
        return every if all(map(shape.matches, {one.shape for one in every})) else None

    def column(self) -> Any:
        """Return the values of all elements, scalars, as one array; None where ``values`` is None, or they are not."""
        if self._is_read_apart():
            return None
        return self.flow.value.column() if self.element_shape.rank == 0 else None

    def _is_read_apart(self) -> bool:
        """Return whether each element has to be read by itself."""
        return self.flow.node is not None or bool(recorders()) or type(self.flow) in LATER
