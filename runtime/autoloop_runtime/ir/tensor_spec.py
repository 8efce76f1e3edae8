"""What is said of a tensor before there is one: its shape and dtype."""

from __future__ import annotations

from typing import Any

from ..base import dtypes
from ..base.shapes import ShapeLike, TensorShape
from .tensor import Tensor


class TensorSpec:
    """Shape and dtype of a tensor yet to come: an entry of ``input_signature``.

    Parameters
    ----------
    shape : shape-like
        May have ``None`` dimensions, or be ``None`` for unknown rank.
    dtype : dtype-like
    name : str, optional
    """

    __slots__ = ("dtype", "name", "shape")

    def __init__(self, shape: ShapeLike = None, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, value: Any) -> bool:
        """Return whether a tensor (or spec) of that dtype and shape fits."""
        return bool(self.dtype == value.dtype and self.shape.is_compatible_with(value.shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype}, name={self.name!r})"
