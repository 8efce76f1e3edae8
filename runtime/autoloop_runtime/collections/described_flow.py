"""What a TensorArray is: its flow, what is known of its elements, and what may become one of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..base.dataclass import not_pickled, replace
from ..base.dtypes import DType
from ..base.shapes import UNKNOWN, TensorShape
from ..ir.convert import convert_to_tensor, is_number
from ..ir.op import ShownInNotebooks
from ..ir.tensor import Tensor
from ..ops.extents import known_int
from .array_buffer import ArraySpec


class DescribedFlow(ShownInNotebooks):
    """A flow and the description of its elements."""

    __slots__ = ("_count", "_spec", "flow", "name")
    __reduce__ = not_pickled("a TensorArray is not pickled; send the tensor of its elements, array.stack() [AL706]")

    #: the value, a tensor of dtype ``variant``
    flow: Tensor
    name: str
    _spec: ArraySpec
    #: the number of elements, where it is known and cannot change
    _count: int | None

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._spec.dtype

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._spec.element_shape

    @property
    def dynamic_size(self) -> bool:
        """Whether writing behind the end makes the array longer."""
        return self._spec.dynamic_size

    @property
    def count(self) -> int | None:
        """The number of elements, where it is known and cannot change."""
        return self._count

    @property
    def graph(self) -> Any:
        """The graph of the value, ``None`` for a concrete one."""
        return self.flow.graph

    @property
    def handle(self) -> None:
        """Always ``None``."""
        return None

    def __autoloop_tensor__(self) -> Tensor:
        raise TypeError("a TensorArray is no tensor; use .stack() or .concat() for one of all its elements [AL306]")

    def __repr__(self) -> str:
        return f"<TensorArray {self.name!r} dtype={self.dtype} element_shape={self.element_shape}>"

    def __copy__(self) -> Self:
        return self  # which does not change

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    # -- elements -----------------------------------------------------------------------------------------

    def _after(self, flow: Tensor, element: TensorShape | None = None) -> Self:
        """Return this array with another value, and its elements known to have the shape ``element``."""
        made = object.__new__(type(self))
        spec = self._spec
        if element is not None and spec.infer_shape:
            spec = replace(spec, element_shape=spec.element_shape.merge_with(element))
        made._spec, made._count, made.name, made.flow = spec, self._count, self.name, flow
        return made

    def _tensor(self, value: Any, what: str) -> Tensor:
        """Return ``value`` in the array's dtype; Python numbers take it, anything else must have it."""
        plain = value.item() if isinstance(value, np.generic) else value
        if is_number(plain) or isinstance(plain, (list, tuple)):
            try:
                tensor = convert_to_tensor(plain, self.dtype)
            except TypeError as error:
                raise TypeError(f"TensorArray of dtype {self.dtype}: {what}: {error} [AL302]") from None
        else:
            tensor = convert_to_tensor(value)
        if tensor.dtype != self.dtype and not tensor.dtype.kind == self.dtype.kind == "U":
            raise TypeError(
                f"TensorArray of dtype {self.dtype}: {what} has dtype {tensor.dtype}; use cast(value, {self.dtype})"
                " [AL302]"
            )
        return tensor

    def _check_shape(self, shape: TensorShape, what: str) -> None:
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(
                f"TensorArray: {what} has shape {shape}, the elements have shape {self.element_shape} [AL302]"
            )

    def _check_rows(self, value: Any, method: str, check: bool = True) -> tuple[Tensor, TensorShape]:
        rows = self._tensor(value, f"the value for {method}")
        if rows.shape.rank == 0:
            raise ValueError(f"TensorArray.{method}: the value needs rows, got a scalar [AL302]")
        element = UNKNOWN if rows.shape.rank is None else TensorShape(rows.shape.known[1:])
        if check:
            self._check_shape(element, f"a row of the value for {method}")
        return rows, element


def index_of(value: Any, method: str) -> Tensor:
    tensor = convert_to_tensor(value)
    if tensor.dtype.kind not in "iu":
        raise TypeError(f"TensorArray.{method}: the index must be an integer, got dtype {tensor.dtype} [AL301]")
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"TensorArray.{method}: the index must be a scalar, got shape {tensor.shape} [AL301]")
    return tensor


def indices_of(value: Any, method: str) -> Tensor:
    empty = isinstance(value, (list, tuple)) and not value
    tensor = convert_to_tensor(np.zeros(0, np.int32) if empty else value)
    if tensor.dtype.kind not in "iu" or tensor.shape.rank not in (1, None):
        raise TypeError(
            f"TensorArray.{method}: a vector of integers is needed, got dtype {tensor.dtype}, shape {tensor.shape}"
            " [AL301]"
        )
    return tensor


def named(index: Tensor) -> str:
    known = known_int(index)
    return index.name if known is None else str(known)
