"""What may be written where a function asks for a tensor, a dtype, axes, a shape or an index: types for checkers."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from ..base.dataclass import Protocol
from ..base.shapes import TensorShape
from .tensor import Tensor


class StandsForTensor(Protocol):
    """What becomes a tensor where one is needed, as variables do."""

    def __autoloop_tensor__(self) -> Tensor:
        """Return the tensor."""


#: what becomes a tensor: NumPy's arrays and scalars, Python's numbers, and (nested) sequences of them and of tensors
ArrayLike: TypeAlias = (
    Tensor | StandsForTensor | np.ndarray[Any, Any] | np.generic | bool | int | float | complex | str
    | Sequence["ArrayLike"]
)  # fmt: skip
#: one axis, and one or several; negative ones count from the end
Axis: TypeAlias = SupportsIndex
Axes: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
#: a dtype, or what NumPy makes one of
DTypeLike: TypeAlias = np.dtype[Any] | type[Any] | str
#: a shape whose extents may be tensors: one extent, all of them, or a vector
DimsLike: TypeAlias = TensorShape | ArrayLike
#: what stands in brackets
_Entry: TypeAlias = ArrayLike | slice | EllipsisType | None
IndexLike: TypeAlias = _Entry | tuple[_Entry, ...]
