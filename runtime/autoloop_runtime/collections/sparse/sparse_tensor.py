"""``SparseTensor``: the entries of a large tensor that are not zero, with their places."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base import dtypes
from ...base.dataclass import reduced
from ...base.dtypes import DType
from ...base.shapes import Dim, TensorShape
from ...ir.apply import apply
from ...ir.composite import Composite, register
from ...ir.convert import convert_to_tensor, has_tensor
from ...ir.op import call
from ...ir.tensor import Tensor
from .primitives import CHECK, check_parts


def _part(value: Any, rank: int, what: str, column: Any = None) -> Tensor:
    """Return one of the three tensors, checked as far as it is known; ``column`` stands in for an empty list."""
    if column is not None and isinstance(value, (list, tuple)) and not len(value):
        value = column
    if isinstance(value, TensorShape):
        value = np.asarray(value.as_tuple(), np.int64)
    if what != "values" and isinstance(value, (list, tuple)) and not has_tensor(value):
        array = np.asarray(value)
        value = array.astype(np.int64) if array.dtype.kind in "iu" else value
    tensor = convert_to_tensor(value)
    if tensor.shape.rank not in (rank, None):
        raise ValueError(f"SparseTensor: {what} must have rank {rank}, got shape {tensor.shape} [AL311]")
    return tensor


def as_places(tensor: Tensor, owner: str, what: str) -> Tensor:
    """Return ``tensor`` as int64 (``TypeError`` if it does not hold integers)."""
    if tensor.dtype.kind not in "iu":
        raise TypeError(f"{owner}: {what} must be integers, got dtype {tensor.dtype} [AL311]")
    if tensor.dtype == dtypes.int64:
        return tensor
    known = tensor.fixed_value()  # a cast would hide it
    if known is not None:
        return convert_to_tensor(known.astype(np.int64))
    made: Tensor = ops.cast(tensor, dtypes.int64)
    return made


class SparseTensor:
    """A tensor given by some of its entries; the others are zero.

    Parameters
    ----------
    indices : integer matrix
        One row per entry: its place.
    values : vector
        The entries.
    dense_shape : integer vector
        The shape of the whole tensor.

    Raises
    ------
    TypeError
        If ``indices`` or ``dense_shape`` are not integers.
    ValueError
        If the parts do not fit each other.
    IndexError
        If a place is outside of ``dense_shape``. What only the values can tell is checked at run time.

    Notes
    -----
    Entries may be in any order and share a place (they add up); ``sparse.reorder`` sorts them row by row. As a loop
    variable it may change the number of its entries and the extents of its dense shape, but not its rank; the shape
    invariant is ``TensorShape([rank])``.

    Examples
    --------
    >>> print(al.SparseTensor(indices=[[0, 1]], values=[5], dense_shape=(2, 2)).dense_shape)
    Tensor([2 2], shape=(2,), dtype=int64)
    """

    __slots__ = ("dense_shape", "indices", "values")
    __reduce__ = reduced
    #: arithmetic with arrays and tensors is decided here, not by them
    __array_ufunc__ = None

    indices: Tensor
    values: Tensor
    dense_shape: Tensor

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        extents = as_places(_part(dense_shape, 1, "dense_shape"), "SparseTensor", "dense_shape")
        rank = extents.shape.known[0] if extents.shape.rank is not None else None
        if rank == 0:
            raise ValueError("SparseTensor: dense_shape is empty; a sparse tensor has at least one dimension [AL311]")
        places = _part(indices, 2, "indices", np.zeros((0, rank or 1), np.int64))
        places = as_places(places, "SparseTensor", "indices")
        self.values = _part(values, 1, "values", np.zeros(0, np.float32))
        expected = TensorShape([self.values.shape[0] if self.values.shape.rank is not None else None, rank])
        if not places.shape.is_compatible_with(expected):
            raise ValueError(
                f"SparseTensor: indices have shape {places.shape}; values of shape {self.values.shape} and dense_shape "
                f"of shape {extents.shape} need {expected} [AL311]"
            )
        parts = [places.fixed_value(), self.values.fixed_value(), extents.fixed_value()]
        if all(p is not None for p in parts):
            check_parts(*parts)
            self.indices = places
        else:
            self.indices = apply(CHECK, [places, self.values, extents])
        self.dense_shape = extents

    @classmethod
    def of(cls, indices: Tensor, values: Tensor, dense_shape: Tensor) -> SparseTensor:
        """Return a sparse tensor of parts that are known to fit (no checks)."""
        made = object.__new__(cls)
        made.indices, made.values, made.dense_shape = indices, values, dense_shape
        return made

    @property
    def dtype(self) -> DType:
        """The dtype of the entries."""
        return self.values.dtype

    @property
    def rank(self) -> Dim:
        """The number of dimensions of the whole tensor, ``None`` when unknown."""
        shape = self.dense_shape.shape
        return shape.known[0] if shape.rank is not None else None

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape of the whole tensor."""
        known = self.dense_shape.settled_value("the dense_shape of a SparseTensor")
        if known is not None:
            return TensorShape(known.tolist())
        return TensorShape(None if self.rank is None else [None] * self.rank)

    def get_shape(self) -> TensorShape:
        """Return the same as ``shape``."""
        return self.shape

    @property
    def graph(self) -> Any:
        """The graph of the entries, ``None`` for a concrete value."""
        return self.values.graph

    def with_values(self, new_values: Any) -> SparseTensor:
        """Return the same places with other entries."""
        values = _part(new_values, 1, "values")
        if not values.shape.is_compatible_with(self.values.shape):
            raise ValueError(f"SparseTensor: {self.values.shape} values are there, {values.shape} were given [AL311]")
        return SparseTensor.of(self.indices, values, self.dense_shape)

    def __autoloop_tensor__(self) -> Tensor:
        raise TypeError("a SparseTensor is no tensor of all its entries; use sparse.to_dense(x) [AL313]")

    # -- Python's protocols -------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return call("sparse_add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return call("sparse_add", self, -other)

    def __rsub__(self, other: Any) -> Any:
        return call("sparse_add", -self, other)

    def __mul__(self, other: Any) -> Any:
        return call("sparse_multiply", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return call("sparse_divide", self, other)

    def __neg__(self) -> Any:
        return self.with_values(-self.values)

    def __matmul__(self, other: Any) -> Any:
        return call("sparse_matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return call("sparse_left_matmul", other, self)

    def __getitem__(self, index: Any) -> Any:
        return call("sparse_getitem", self, index)

    def __iter__(self) -> Any:
        raise TypeError("a SparseTensor is not iterable; x[i] gives a row, sparse.to_dense(x) all entries [AL313]")

    def __len__(self) -> int:
        count = self.shape[0] if self.shape.rank is not None else None
        if count is None:
            raise TypeError("the number of rows of this SparseTensor is not known while the graph is built [AL313]")
        return int(count)

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a SparseTensor is ambiguous; ask for one of its values [AL313]")

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"


class _AsComposite(Composite[SparseTensor]):
    """Indices, values and dense shape."""

    rule = "a SparseTensor is TensorShape([rank]): its rank cannot change in a loop"

    def components(self, value: SparseTensor) -> Sequence[Tensor]:
        return value.indices, value.values, value.dense_shape

    def spec(self, value: SparseTensor) -> Hashable:
        return None

    def from_components(self, spec: Any, components: Sequence[Any]) -> SparseTensor:
        return SparseTensor.of(*components)

    def names(self, value: SparseTensor) -> Sequence[str]:
        return "indices", "values", "dense_shape"

    def invariants(self, value: SparseTensor, given: TensorShape | None) -> list[TensorShape]:
        """Return the invariants of the three parts: rule (a) of the reference."""
        rank = value.rank
        if given is not None and given.rank is not None:
            if len(given) != 1:
                raise ValueError(
                    f"the shape invariant of a SparseTensor is TensorShape([rank]), the shape of its dense_shape; got "
                    f"{given!r} for one of rank {rank} [AL312]"
                )
            if rank is not None and given[0] not in (rank, None):
                raise ValueError(
                    f"the shape invariant {given!r} says that the SparseTensor has rank {given[0]}, but its "
                    f"dense_shape has shape {value.dense_shape.shape} (rank {rank}) [AL312]"
                )
            rank = given[0]
        return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]


register(SparseTensor, _AsComposite())
