"""Values of a model that is being written: a name and a dtype, with the operators that write nodes.

Arithmetic is written in the dtypes that runtimes have kernels for, 32 and 64 bits wide: narrower integers wrap in them
as they do in their own, once the result is narrow again, and half floats are rounded after each operation, as NumPy
rounds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.base.dtypes import DType

if TYPE_CHECKING:
    from .onnx_writer import Writer

BOOL, INT32, INT64, UINT64 = map(np.dtype, (np.bool_, np.int32, np.int64, np.uint64))
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
#: the dtypes arithmetic is written in
_COMPUTED = (INT32, INT64, FLOAT32, FLOAT64)
#: the least of 64 bits, which exchanges the halves of the unsigned integers
_LEAST = np.int64(-(2**63))


def computed(dtype: DType) -> DType:
    """Return the dtype that arithmetic of ``dtype`` is written in; unsigned 64 bits are those of signed ones."""
    if dtype in _COMPUTED:
        return dtype
    if dtype == UINT64:
        return INT64
    return next(wide for wide in _COMPUTED if np.can_cast(dtype, wide) and (dtype.kind == "f") == (wide.kind == "f"))


class Value:
    """A value of a model that is being written.

    Attributes
    ----------
    known : ndarray or None
        Its elements, if it is a constant.
    """

    __slots__ = ("dtype", "known", "name", "writer")

    def __init__(self, writer: Writer, name: str, dtype: DType) -> None:
        self.writer, self.name, self.dtype = writer, name, dtype
        self.known: np.ndarray[Any, Any] | None = None

    def to(self, dtype: Any) -> Value:
        """Return it in another dtype."""
        return self.writer.cast(self, np.dtype(dtype))

    def _with(self, op: str, other: Any) -> Value:
        return self.writer.arithmetic(op, self, self.lift(other))

    def lift(self, other: Any) -> Value:
        """Return an operand as a value: a number has the dtype of this one."""
        if isinstance(other, Value):
            return other
        made: Value = self.writer.const(self.dtype.type(other))
        return made

    def __add__(self, other: Any) -> Value:
        return self._with("Add", other)

    def __sub__(self, other: Any) -> Value:
        return self._with("Sub", other)

    def __rsub__(self, other: Any) -> Value:
        return self.lift(other) - self

    def __mul__(self, other: Any) -> Value:
        return self._with("Mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Value:
        return self._with("Div", other)

    def __rtruediv__(self, other: Any) -> Value:
        return self.lift(other) / self

    def __neg__(self) -> Value:
        return self.writer.arithmetic("Neg", self)

    def __lt__(self, other: Any) -> Value:
        return self.writer.compare("Less", self, self.lift(other))

    def __gt__(self, other: Any) -> Value:
        return self.writer.compare("Greater", self, self.lift(other))

    def __le__(self, other: Any) -> Value:
        return self.writer.compare("LessOrEqual", self, self.lift(other))

    def __ge__(self, other: Any) -> Value:
        return self.writer.compare("GreaterOrEqual", self, self.lift(other))

    def equals(self, other: Any) -> Value:
        """Return where both are equal."""
        return self.writer.compare("Equal", self, self.lift(other))

    def __and__(self, other: Value) -> Value:
        return self.writer("And", self, other)

    def __or__(self, other: Value) -> Value:
        return self.writer("Or", self, other)

    def __invert__(self) -> Value:
        return self.writer("Not", self)

    def where(self, yes: Any, no: Any) -> Value:
        """Return ``yes`` where this boolean is true, else ``no``; one of them may be a number."""
        one: Value = yes if isinstance(yes, Value) else no.lift(yes)
        other = one.lift(no)
        if one.dtype == BOOL:
            return (self & one) | (~self & other)
        return self.writer.arithmetic("Where", self, one, other)

    def is_nan(self) -> Value:
        """Return where it is no number."""
        return self.writer("IsNaN", self.to(computed(self.dtype)), dtype=BOOL)

    def reshape(self, *dims: int) -> Value:
        """Return it in another shape of known extents; one may be -1."""
        return self.writer("Reshape", self, self.writer.ints(dims), allowzero=int(-1 not in dims))

    def reshape_to(self, dims: Value) -> Value:
        """Return it in a shape that a vector holds."""
        return self.writer("Reshape", self, dims, allowzero=1)

    def expand(self, dims: Value) -> Value:
        """Return it broadcast to a shape that a vector holds."""
        return self.writer("Expand", self, dims)

    def unsqueeze(self, *axes: int) -> Value:
        """Return it with new axes of extent 1."""
        return self.writer("Unsqueeze", self, self.writer.ints(axes)) if axes else self

    def squeeze(self, *axes: int) -> Value:
        """Return it without axes of extent 1."""
        return self.writer("Squeeze", self, self.writer.ints(axes)) if axes else self

    def transpose(self, order: Any) -> Value:
        """Return it with its axes in another order."""
        order = list(order)
        return self if order == sorted(order) else self.writer("Transpose", self, perm=order)

    def gather(self, places: Value, axis: int = 0) -> Value:
        """Return what is at ``places`` along an axis."""
        return self.writer("Gather", self, places, axis=axis)

    def shape(self) -> Value:
        """Return its shape, as a vector of int64."""
        return self.writer("Shape", self, dtype=INT64)

    def extent(self, axis: int) -> Value:
        """Return one extent, as a scalar of int64."""
        return self.shape().gather(self.writer.const(np.int64(axis)))

    def size(self) -> Value:
        """Return how many elements it has, as a scalar of int64."""
        return self.writer("Size", self, dtype=INT64)

    def slice(self, starts: Any, ends: Any, axes: Any, steps: Any = None) -> Value:
        """Return a part; each argument is a list of ints, or a vector."""
        writer = self.writer
        lists = [starts, ends, axes, [1] * len(axes) if steps is None else steps]
        return writer("Slice", self, *[one if isinstance(one, Value) else writer.ints(one) for one in lists])

    def sum(self, axes: list[int] | None, keepdims: bool = False) -> Value:
        """Return the sum over axes."""
        given = [] if axes is None else [self.writer.ints(axes)]
        return self.writer.arithmetic("ReduceSum", self, *given, keepdims=int(keepdims))

    def halves(self) -> Value:
        """Return unsigned integers of 64 bits as signed ones in the same order."""
        return self.to(INT64) + _LEAST
