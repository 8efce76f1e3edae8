"""Concrete tensors whose value stays where it is: computed later by its library, or on another device.

What computes at once goes on with them by their library, and gives such tensors. Who asks for the value has it fetched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dtypes import DType
from ..base.shapes import TensorShape
from .array_kinds import LATER
from .op import call
from .tensor import Tensor


class LaterTensor(Tensor):
    """A concrete tensor of an array that is computed later, or lies on another device.

    Parameters
    ----------
    value : object
        The array, or the value of a TensorArray that has such elements.
    dtype : numpy.dtype
        NumPy's name for its dtype.
    shape : TensorShape
    """

    __slots__ = ()

    #: what it makes together with others
    __autoloop_kind__ = Tensor

    def __init__(self, value: Any, dtype: DType, shape: TensorShape) -> None:
        super().__init__(np.empty((), dtype))
        self._value, self._shape = value, shape
        LATER.add(LaterTensor)

    @property
    def held(self) -> Any:
        """The array as it is."""
        return self._value

    @property
    def value(self) -> Any:
        """The elements as NumPy's, fetched."""
        return call("fetched", self._value)

    def numpy(self) -> Any:
        """Return the elements as a read-only ndarray, or as a NumPy scalar when it has no dimensions; fetched."""
        return Tensor(self.value).numpy()

    def constant_value(self) -> None:
        """Return None: what is computed later is nobody's to look at while a graph is built."""
        return None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return Tensor(self.value).__array__(dtype, copy)

    def __repr__(self) -> str:
        return f"<Tensor: shape={self.shape}, dtype={self.dtype}, of {type(self._value).__module__}>"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[Tensor], tuple[Any, ...]]:
        return Tensor(self.value).__reduce__()
