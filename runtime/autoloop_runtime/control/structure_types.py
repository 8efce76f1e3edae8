"""Structures of values, as checkers know them: what loops and branches take and give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from ..collections.sparse import IndexedSlices, SparseTensor
    from ..collections.tensor_array import TensorArray
    from ..collections.variables import Variable
    from ..ir.tensor import Tensor

#: what is one tensor in a loop
Value: TypeAlias = "Tensor | Variable | np.ndarray[Any, Any] | np.generic | bool | int | float | complex"
#: what comes out of a loop as it went in: tensors, and what holds them
Tensors: TypeAlias = (
    "Tensor | np.ndarray[Any, Any] | TensorArray | SparseTensor | IndexedSlices | Sequence[Any] | Mapping[str, Any]"
)
T1 = TypeVar("T1", bound="Tensors")
T2 = TypeVar("T2", bound="Tensors")
T3 = TypeVar("T3", bound="Tensors")
T4 = TypeVar("T4", bound="Tensors")
#: whatever a branch gives
R = TypeVar("R")


class LoopArguments(TypedDict, total=False):
    """What ``while_loop`` takes besides, by name."""

    shape_invariants: Any
    parallel_iterations: int
    back_prop: bool
    swap_memory: bool
    maximum_iterations: Value | None
    name: str | None
    gradient_memory: str | int | None


class MapArguments(TypedDict, total=False):
    """What ``foldl`` and ``foldr`` take besides, by name."""

    parallel_iterations: int
    back_prop: bool
    swap_memory: bool
    name: str | None


class ScanArguments(MapArguments, total=False):
    """What ``scan`` takes besides, by name."""

    infer_shape: bool
    reverse: bool
