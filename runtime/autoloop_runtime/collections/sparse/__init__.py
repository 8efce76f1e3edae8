"""Tensors of which only some entries are stored: ``SparseTensor``, ``IndexedSlices``, and functions of them.

Both are composites: to their users values, to loops, branches and functions structures of two or three tensors, so
that everything that holds for tensors there (invariants, windows, gradients) holds for them.
"""

from __future__ import annotations

from ...base.doors import listing
from ...ir.tensor_spec import CompositeSpec
from .functions import (
    add,
    from_dense,
    map_values,
    matmul,
    multiply,
    reduce_sum,
    reorder,
    retain,
    row,
    to_dense,
    transpose,
)
from .functions import (
    slice as slice,
)
from .indexed_slices import IndexedSlices
from .sparse_tensor import SparseTensor
from .specs import IndexedSlicesSpec, SparseTensorSpec

sparse_dense_matmul = matmul

__all__ = [
    "CompositeSpec", "IndexedSlices", "IndexedSlicesSpec", "SparseTensor", "SparseTensorSpec", "add", "from_dense",
    "map_values", "matmul", "multiply", "reduce_sum", "reorder", "retain", "row", "sparse_dense_matmul",
    "to_dense", "transpose",
]  # fmt: skip
__dir__ = listing(globals(), "slice")
