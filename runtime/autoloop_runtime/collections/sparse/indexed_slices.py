"""``IndexedSlices``: some rows of a large tensor, as the gradient of ``gather`` gives them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ... import ops
from ...base.dataclass import reduced
from ...base.dtypes import DType
from ...base.shapes import TensorShape
from ...ir.composite import Composite, register
from ...ir.convert import convert_to_tensor
from ...ir.tensor import Tensor
from .sparse_tensor import as_places


class IndexedSlices:
    """Rows of a tensor; the rows that are not there are zero, those that are there twice add up.

    Parameters
    ----------
    values : tensor-like
        The rows.
    indices : integer vector
        Which row each of them is.
    dense_shape : integer vector, optional
        The shape of the whole tensor. Without it there is no way to a dense tensor.

    Raises
    ------
    TypeError
        If ``indices`` or ``dense_shape`` are not integers.
    ValueError
        If the parts do not fit each other.

    Notes
    -----
    Where a tensor is needed it becomes one: ``convert_to_tensor(slices)``. As a loop variable its shape invariant is
    that of ``values``.

    Examples
    --------
    >>> al.IndexedSlices(values=al.ones((1, 2)), indices=[3], dense_shape=(10, 2)).values.shape
    TensorShape([1, 2])
    """

    __slots__ = ("dense_shape", "indices", "values")
    __reduce__ = reduced
    __array_ufunc__ = None

    values: Tensor
    indices: Tensor
    dense_shape: Tensor | None

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values = convert_to_tensor(values)
        self.indices = as_places(convert_to_tensor(indices), "IndexedSlices", "indices")
        known = self.values.shape
        if known.rank == 0:
            raise ValueError("IndexedSlices: values must be rows, got a scalar [AL314]")
        rows = TensorShape([known[0] if known.rank is not None else None])
        if not self.indices.shape.is_compatible_with(rows):
            raise ValueError(
                f"IndexedSlices: values of shape {known} need indices of shape {rows}, got {self.indices.shape} [AL314]"
            )
        self.dense_shape = None
        if dense_shape is None:
            return
        if isinstance(dense_shape, TensorShape):
            dense_shape = list(dense_shape.as_tuple())
        self.dense_shape = as_places(convert_to_tensor(dense_shape), "IndexedSlices", "dense_shape")
        if not self.dense_shape.shape.is_compatible_with([known.rank]):
            raise ValueError(
                f"IndexedSlices: values of rank {known.rank} need a dense_shape of as many entries, got shape "
                f"{self.dense_shape.shape} [AL314]"
            )
        inner = self.shape[1:]
        if known.rank is not None and not inner.is_compatible_with(known[1:]):
            raise ValueError(
                f"IndexedSlices: rows of shape {known[1:]} do not fit into dense_shape {self.shape} [AL314]"
            )

    @classmethod
    def of(cls, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> IndexedSlices:
        """Return slices of parts that are known to fit (no checks)."""
        made = object.__new__(cls)
        made.values, made.indices, made.dense_shape = values, indices, dense_shape
        return made

    @property
    def dtype(self) -> DType:
        """The dtype of the rows."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape of the whole tensor."""
        known = None if self.dense_shape is None else self.dense_shape.settled_value("the dense_shape of IndexedSlices")
        if known is not None:
            return TensorShape(known.tolist())
        rows = self.values.shape
        return rows if rows.rank is None else TensorShape([None, *rows.known[1:]])

    def get_shape(self) -> TensorShape:
        """Return the same as ``shape``."""
        return self.shape

    @property
    def graph(self) -> Any:
        """The graph of the rows, ``None`` for a concrete value."""
        return self.values.graph

    def __autoloop_tensor__(self) -> Tensor:
        """Return the whole tensor."""
        if self.dense_shape is None:
            raise ValueError(
                "these IndexedSlices have no dense_shape, so the tensor they are rows of is not known [AL314]"
            )
        shape: Any = self.shape.as_tuple() if self.shape.is_fully_defined() else self.dense_shape
        made: Tensor = ops.scatter(ops.expand_dims(self.indices, 1), self.values, shape)
        return made

    def numpy(self) -> Any:
        """Return the whole tensor as an array."""
        return self.__autoloop_tensor__().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.__autoloop_tensor__().__array__(dtype, copy)

    def __getitem__(self, index: Any) -> Any:
        return ops.getitem(convert_to_tensor(self), index)

    def __sub__(self, other: Any) -> Any:
        return self + -other if isinstance(other, IndexedSlices) else ops.subtract(convert_to_tensor(self), other)

    def __rsub__(self, other: Any) -> Any:
        return ops.subtract(other, convert_to_tensor(self))

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / other)

    def __pow__(self, other: Any) -> Any:
        return ops.pow(convert_to_tensor(self), other)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices.of(-self.values, self.indices, self.dense_shape)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, IndexedSlices):
            return ops.add(convert_to_tensor(self), other)
        if not self.shape.is_compatible_with(other.shape):
            raise ValueError(f"IndexedSlices of shapes {self.shape} and {other.shape} cannot be added [AL314]")
        shape = self.dense_shape if self.dense_shape is not None else other.dense_shape
        return IndexedSlices.of(
            ops.concat([self.values, other.values], 0), ops.concat([self.indices, other.indices], 0), shape
        )

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        factor = convert_to_tensor(other) if not isinstance(other, (int, float, complex)) else other
        if isinstance(factor, Tensor) and factor.shape.rank != 0:
            return ops.multiply(convert_to_tensor(self), factor)
        return IndexedSlices.of(self.values * factor, self.indices, self.dense_shape)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"IndexedSlices(values={self.values!r}, indices={self.indices!r}, dense_shape={self.dense_shape!r})"


class _AsComposite(Composite[IndexedSlices]):
    """Values, indices and, if there is one, dense shape."""

    rule = (
        "IndexedSlices is the shape of its values; allow it with shape_invariants={{{name!r}: {relaxed!r}}} (in a "
        "converted loop: set_loop_options(shape_invariants=[({name}, {relaxed!r})]))"
    )

    def components(self, value: IndexedSlices) -> Sequence[Tensor]:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def spec(self, value: IndexedSlices) -> Hashable:
        return None

    def from_components(self, spec: Any, components: Sequence[Any]) -> IndexedSlices:
        return IndexedSlices.of(*components)

    def names(self, value: IndexedSlices) -> Sequence[str]:
        return ("values", "indices") if value.dense_shape is None else ("values", "indices", "dense_shape")

    def invariants(self, value: IndexedSlices, given: TensorShape | None) -> list[TensorShape]:
        """Return the invariants of the parts: rule (b) of the reference."""
        if given is None:
            return [part.shape for part in self.components(value)]
        if given.rank is None:
            shapes = [given, TensorShape([None]), TensorShape([None])]
        elif given.rank == 0:
            raise ValueError(
                "the shape invariant of IndexedSlices is that of its values, which are rows; got () [AL314]"
            )
        else:
            shapes = [given, TensorShape([given[0]]), TensorShape([given.rank])]
        return shapes if value.dense_shape is not None else shapes[:2]


register(IndexedSlices, _AsComposite())
