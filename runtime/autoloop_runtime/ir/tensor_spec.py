"""What is said of a value before there is one: shape and dtype of a tensor, or of what is several tensors."""

from __future__ import annotations

from typing import Any

from ..base import dtypes, nest
from ..base.dataclass import reduced
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

    Examples
    --------
    >>> al.TensorSpec([None, 2], al.float32).is_compatible_with(al.ones((3, 2)))
    True
    """

    __slots__ = ("dtype", "name", "shape")
    __reduce__ = reduced

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


class CompositeSpec:
    """Shape and dtype of a value of several tensors that is yet to come.

    Attributes
    ----------
    shape : TensorShape
        Of the whole tensor.
    dtype : numpy.dtype
        Of its entries.
    name : str or None

    Examples
    --------
    >>> issubclass(al.SparseTensorSpec, al.sparse.CompositeSpec)
    True
    """

    __slots__ = ("dtype", "name", "shape")
    __reduce__ = reduced
    #: what it describes
    value_type: type

    def __init__(self, shape: ShapeLike = None, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name

    @property
    def components(self) -> tuple[TensorSpec, ...]:
        """The specs of its parts."""
        raise NotImplementedError

    @property
    def invariant(self) -> TensorShape:
        """The shape invariant that it states of a loop variable."""
        raise NotImplementedError

    def is_compatible_with(self, value: Any) -> bool:
        """Return whether a value (or spec) has as many parts and fits in dtype and shape."""
        ours = isinstance(value, self.value_type) or type(value) is type(self)
        if not ours or not self.shape.is_compatible_with(value.shape):
            return False
        mine, parts = self.components, nest.flatten(value, expand_composites=True)
        return len(parts) == len(mine) and all(spec.is_compatible_with(part) for spec, part in zip(mine, parts))

    @classmethod
    def from_value(cls, value: Any) -> CompositeSpec:
        """Return the spec of a value."""
        raise NotImplementedError

    def check(self, value: Any, function: str) -> None:
        """Refuse an argument of ``function`` that does not fit: ``TypeError``, or ``ValueError`` for a shape."""
        if self.is_compatible_with(value):
            return
        ours = isinstance(value, self.value_type)
        given = repr(self.from_value(value)) if ours else f"of type {type(value).__name__}"
        raise (ValueError if ours and value.dtype == self.dtype else TypeError)(
            f"{function}: an argument {given} does not fit its entry {self} in input_signature"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompositeSpec) or type(other) is not type(self):
            return False
        return self.shape == other.shape and self.components == other.components

    def __hash__(self) -> int:
        return hash((type(self), self.shape, self.components))

    def __repr__(self) -> str:
        parts = ", ".join(str(part.shape) for part in self.components)
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype}, parts={parts})"
