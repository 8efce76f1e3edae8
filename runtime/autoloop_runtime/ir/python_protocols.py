"""A tensor as Python's own values: truth, numbers, length, iteration and text, for those that have a value.

A symbolic tensor has none while the graph is built, and says what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from .asked_for_text import value_is_asked
from .followers import refuse_leaving
from .op import ShownInNotebooks, call

if TYPE_CHECKING:
    from ..base.dtypes import DType
    from ..base.shapes import TensorShape

#: what to write where a derivative would get lost
INSTEAD = "Use autoloop's functions and operators on the tensor itself (autoloop.exp(x), x < 1, w[i])"


def refuse_symbolic(tensor: Any, wanted: str) -> NoReturn:
    """Raise ``TypeError``: a symbolic tensor cannot be used as what is ``wanted`` by who calls the calling method."""
    value_is_asked(tensor, 2)
    node = tensor.node
    line = f" (made at {node.location[-1]})" if node.location else ""
    raise TypeError(
        f"tensor {tensor.name!r} of shape {tensor.shape} and dtype {tensor.dtype} is symbolic: it has no value "
        f"while the graph is built{line}, so it cannot be used as {wanted}. Decorate the code with "
        f"@autoloop.function so that if/while/for on tensors are converted, or use autoloop.cond, "
        f"autoloop.while_loop or autoloop.where; to get its value return it from the function or run a Session [AL005]"
    )


def _refuse_complex(tensor: Any, wanted: str) -> None:
    if tensor.dtype.kind == "c":
        raise TypeError(
            f"a tensor of dtype {tensor.dtype} is no Python {wanted}; use autoloop.real(x) or complex(x) [AL007]"
        )


class PythonProtocols(ShownInNotebooks):
    """What Python asks of a value by a function or statement of its own."""

    __slots__ = ()

    if TYPE_CHECKING:
        _value: Any
        node: Any
        dtype: DType

        @property
        def name(self) -> str: ...
        @property
        def shape(self) -> TensorShape: ...
        def numpy(self) -> Any: ...

    def __bool__(self) -> bool:
        if self.node is not None:
            refuse_symbolic(self, "a Python bool")
        if self._value.size != 1:
            raise ValueError(
                f"the truth value of a tensor of shape {self.shape} is ambiguous; use autoloop.any or autoloop.all"
                " [AL006]"
            )
        return bool(self._value)

    def __int__(self) -> int:
        if self.node is not None:
            refuse_symbolic(self, "a Python int")
        _refuse_complex(self, "int")
        return int(self._value)

    def __float__(self) -> float:
        if self.node is not None:
            refuse_symbolic(self, "a Python float")
        _refuse_complex(self, "float")
        refuse_leaving(self, "a Python float", INSTEAD)
        return float(self._value)

    def __complex__(self) -> complex:
        if self.node is not None:
            refuse_symbolic(self, "a Python complex")
        refuse_leaving(self, "a Python complex", INSTEAD)
        return complex(self._value)

    def __index__(self) -> int:
        if self.node is not None:
            refuse_symbolic(self, "a Python int (an index)")
        if self.dtype.kind not in "iu" or self._value.size != 1:
            raise TypeError(f"a tensor of dtype {self.dtype} and shape {self.shape} is no index [AL007]")
        return int(self._value)

    def __len__(self) -> int:
        if self.node is not None:
            refuse_symbolic(self, "something with a len()")
        if self._value.ndim == 0:
            raise TypeError("a tensor without dimensions has no len() [AL007]")
        return int(self._value.shape[0])

    def __iter__(self) -> Iterator[Self]:
        if self.node is not None:
            refuse_symbolic(self, "an iterable (autoloop.unstack gives the rows where their number is known)")
        if self._value.ndim == 0:
            raise TypeError("a tensor without dimensions is not iterable [AL007]")
        return iter(call("unstack", self))

    def __contains__(self, item: Any) -> bool:
        return bool(call("any", call("equal", self, item)))

    def __repr__(self) -> str:
        if self.node is not None:
            return f"<Tensor {self.name!r} shape={self.shape} dtype={self.dtype}>"
        text = np.array2string(np.asarray(self._value), separator=", ")
        array = text if np.ndim(self._value) == 0 else repr(np.asarray(self._value))
        return f"<Tensor: shape={self.shape}, dtype={self.dtype}, numpy={array}>"

    def __str__(self) -> str:
        if self.node is not None:
            return f"Tensor({self.name!r}, shape={self.shape}, dtype={self.dtype})"
        return f"Tensor({np.asarray(self._value)!s}, shape={self.shape}, dtype={self.dtype})"

    def __format__(self, spec: str) -> str:
        if self.node is None and np.ndim(self._value) == 0:
            return format(self.numpy(), spec)
        if self.node is not None and spec:
            refuse_symbolic(self, f"text in the format {spec!r} (autoloop.print shows values when they are there)")
        return format(str(self), spec)
