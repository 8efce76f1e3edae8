"""What is known beforehand of a SparseTensor or IndexedSlices: entries of ``input_signature``.

A spec is a composite whose components are the ``TensorSpec`` of the parts, in the order of the parts of a value. Put
together again, of tensors, they are a value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ...base import dtypes
from ...base.shapes import ShapeLike, TensorShape
from ...ir.composite import Composite, register
from ...ir.tensor_spec import CompositeSpec, TensorSpec
from .indexed_slices import IndexedSlices
from .sparse_tensor import SparseTensor


class SparseTensorSpec(CompositeSpec):
    """Dense shape and dtype of a ``SparseTensor`` yet to come, with any number of entries.

    Parameters
    ----------
    shape : shape-like
        Of the whole tensor; may have ``None`` dimensions, or be ``None`` for unknown rank.
    dtype : dtype-like
    name : str, optional

    Examples
    --------
    >>> al.SparseTensorSpec((2, 2), al.int32).shape
    TensorShape([2, 2])
    """

    __slots__ = ()
    value_type = SparseTensor

    @classmethod
    def from_value(cls, value: SparseTensor) -> SparseTensorSpec:
        """Return the spec of a value."""
        return cls(value.shape, value.dtype)

    @property
    def invariant(self) -> TensorShape:
        """That of the dense shape, for any number of entries."""
        return TensorShape([self.shape.rank])

    @property
    def components(self) -> tuple[TensorSpec, ...]:
        """The specs of indices, values and dense shape."""
        rank = self.shape.rank
        return (
            TensorSpec([None, rank], dtypes.int64), TensorSpec([None], self.dtype), TensorSpec([rank], dtypes.int64)
        )  # fmt: skip


class IndexedSlicesSpec(CompositeSpec):
    """Shape and dtype of ``IndexedSlices`` yet to come.

    Parameters
    ----------
    shape : shape-like
        Of the whole tensor; may have ``None`` dimensions, or be ``None`` for unknown rank.
    dtype : dtype-like
    indices_dtype : dtype-like
        Accepted for compatibility: places are int64.
    dense_shape_dtype : dtype-like, optional
        An integer dtype if the values have a dense shape.
    indices_shape : shape-like
        ``[n]`` for a known number of rows.
    name : str, optional

    Examples
    --------
    >>> al.IndexedSlicesSpec((10, 2), al.float32).shape
    TensorShape([10, 2])
    """

    __slots__ = ("has_shape", "rows")
    value_type = IndexedSlices

    def __init__(
        self, shape: ShapeLike = None, dtype: Any = dtypes.float32, indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None, indices_shape: ShapeLike = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(shape, dtype, name)
        self.rows = TensorShape([None]).merge_with(indices_shape)
        self.has_shape = dense_shape_dtype is not None

    @classmethod
    def from_value(cls, value: IndexedSlices) -> IndexedSlicesSpec:
        """Return the spec of a value."""
        extents = None if value.dense_shape is None else dtypes.int64
        return cls(value.shape, value.dtype, dtypes.int64, extents, value.indices.shape)

    @property
    def invariant(self) -> TensorShape:
        """That of the rows, of which there may be another number in each iteration."""
        return self.components[0].shape

    @property
    def components(self) -> tuple[TensorSpec, ...]:
        """The specs of values, indices and, if there is one, dense shape."""
        shape = self.rows.concatenate(self.shape[1:]) if self.shape.rank is not None else TensorShape(None)
        parts = (TensorSpec(shape, self.dtype), TensorSpec(self.rows, dtypes.int64))
        return (*parts, TensorSpec([self.shape.rank], dtypes.int64)) if self.has_shape else parts


class _AsComposite(Composite[CompositeSpec]):
    """The specs of the parts; put together again, of tensors, they are a value."""

    def __init__(self, of: Callable[..., Any]) -> None:
        self.of = of

    def components(self, value: CompositeSpec) -> Sequence[TensorSpec]:
        return value.components

    def spec(self, value: CompositeSpec) -> Hashable:
        return None

    def from_components(self, spec: Any, components: Sequence[Any]) -> Any:
        return self.of(*components)


register(SparseTensorSpec, _AsComposite(SparseTensor.of))
register(IndexedSlicesSpec, _AsComposite(IndexedSlices.of))
