"""Shapes and sizes as arguments: Python ints, tensors, or lists that mix both.

What is known while the graph is built becomes a static attribute; only what is not becomes an input, and what a
session may be given another value for.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dataclass import dataclass
from ..base.shapes import Dim, TensorShape
from ..base.stand_ins import UnknownWhileTracing
from ..ir.convert import convert_to_tensor
from ..ir.graph import current_graph
from ..ir.op import call
from ..ir.tensor import Tensor
from .operands import cast, is_tensor

#: how far back the computation of a shape is followed
_DEPTH = 8


@dataclass(frozen=True)
class Extents:
    """A shape argument.

    Attributes
    ----------
    known : tuple of (int or None), or None
        The entries, ``None`` where one is not known yet; ``None`` for an unknown number of entries. Entries
        may be negative where the op gives that a meaning (``reshape``).
    inputs : tuple of Tensor
        The entries as one integer vector, unless all are known for good: then there is no input.
    """

    known: tuple[Dim, ...] | None
    inputs: tuple[Tensor, ...] = ()

    @property
    def static(self) -> TensorShape:
        """The shape they describe, negative entries unknown."""
        if self.known is None:
            return TensorShape(None)
        return TensorShape([None if d is None or d < 0 else d for d in self.known])


def extents(value: Any, name: str) -> Extents:
    """Read a shape argument of the op ``name``.

    Raises
    ------
    TypeError
        If an entry is no integer.
    ValueError
        If it is a tensor of the wrong rank.
    """
    if isinstance(value, TensorShape):
        return Extents(value.as_tuple())
    if is_tensor(value):
        return _of_tensor(convert_to_tensor(value), name)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        value = [value]
    entries = [_entry(v, name) for v in value]
    if all(isinstance(e, int) for e in entries):
        return Extents(tuple(entries))
    tensors = [e for e in entries if isinstance(e, Tensor)]
    dtype = dtypes.int64 if any(t.dtype.itemsize > 4 for t in tensors) else dtypes.int32
    parts = [cast(e, dtype) for e in entries]
    known = tuple([known_int(e) if isinstance(e, Tensor) else e for e in entries])
    return Extents(known, (call("stack", parts),))


def _entry(value: Any, name: str) -> Any:
    """Return an int where it is known now, else a scalar tensor."""
    if is_tensor(value):
        value = convert_to_tensor(value)
        if value.dtype.kind not in "iu":
            raise TypeError(f"{name}: a shape needs integers, got a tensor of dtype {value.dtype} [AL208]")
        if value.shape.rank not in (0, None):
            raise ValueError(f"{name}: an entry of a shape must be a scalar, got shape {value.shape} [AL208]")
        found = known_int(value)
        return value if found is None or value.is_feedable else found
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: a shape needs integers, got {value!r} [AL208]") from None


def _of_tensor(tensor: Tensor, name: str) -> Extents:
    if tensor.dtype.kind not in "iu":
        raise TypeError(f"{name}: a shape needs integers, got a tensor of dtype {tensor.dtype} [AL208]")
    if tensor.shape.rank in (0, None):
        tensor = call("reshape", tensor, [-1])
    if tensor.shape.rank not in (1, None):
        raise ValueError(f"{name}: a shape must be a vector, got a tensor of shape {tensor.shape} [AL208]")
    known = known_entries(tensor)
    if known is not None and None not in known and not tensor.is_feedable:
        return Extents(known)
    return Extents(known, (tensor,))


def known_int(tensor: Tensor) -> int | None:
    """Return the value of a scalar integer tensor, if it can be known now."""
    known = known_entries(tensor)
    return None if known is None else known[0]


def known_entries(tensor: Tensor, depth: int = _DEPTH) -> tuple[Dim, ...] | None:
    """Return what is known now of the elements of an integer vector or scalar (a scalar gives one entry).

    Follows the computation through the ops whose rows say how (``Op.entries``); ``None`` if not even the number of
    elements is known.
    """
    value = tensor.constant_value()
    if value is not None:
        return tuple(value.reshape(-1).tolist()) if value.ndim <= 1 else None
    length = 1 if tensor.shape.rank == 0 else tensor.shape.num_elements()
    unknown = None if length is None or tensor.shape.rank not in (0, 1) else (None,) * length
    node = tensor.node
    if node is None or depth == 0 or node.op.entries is None:
        return unknown

    def ask(source: Tensor) -> tuple[Dim, ...] | None:
        return known_entries(source, depth - 1) if source.dtype.kind in "iu" else None

    found: tuple[Dim, ...] | None = node.op.entries(node, ask)
    return unknown if found is None else found


def axes_of(axis: Any, rank: int | None, name: str, *, repeated: bool = False) -> tuple[int, ...] | None:
    """Return an ``axis`` argument as a tuple, ``None`` for all; not negative where the rank is known.

    Raises
    ------
    ValueError
        If an axis is out of range, or repeated where it may not be.
    """
    if axis is None:
        return None if rank is None else tuple(range(rank))
    if isinstance(axis, Tensor):
        axis = _known_axis(axis, name).tolist()
    if not isinstance(axis, (tuple, list)):
        axis = (axis,)
    out = tuple([axis_of(a, rank, name) for a in axis])
    if not repeated and len(set(out)) != len(out):
        raise ValueError(f"{name}: an axis appears twice in {tuple(axis)} [AL207]")
    return out


def _known_axis(axis: Tensor, name: str) -> np.ndarray[Any, Any]:
    """Return the value of a tensor that is used as an axis, which goes into the graph as a number.

    Nothing is left of the tensor then, so the operation must wait by itself for what the tensor waits for.
    """
    value = axis.settled_value(f"an axis of {name!r}")
    if value is None:
        raise UnknownWhileTracing(f"{name}: axis must be known while the graph is built, got tensor {axis.name!r}")
    graph = current_graph()
    if not axis.awaited <= (frozenset() if graph is None else graph.awaited):
        raise TypeError(
            f"{name}: the axis {axis.name!r} has control dependencies, and an axis becomes a number while the graph is "
            f"built: use the number, and the control dependencies around {name!r} [AL207]"
        )
    return value


def axis_of(axis: Any, rank: int | None, name: str) -> int:
    """Return one axis as an int, not negative where the rank is known.

    Raises
    ------
    numpy.exceptions.AxisError
        If it is out of range: a ``ValueError`` and an ``IndexError``.
    """
    if isinstance(axis, Tensor):
        axis = _known_axis(axis, name)[()]
    try:
        axis = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name}: axis must be an integer, got {axis!r} [AL207]") from None
    if rank is None:
        return int(axis)
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(f"{name}: axis {axis} is out of range for a tensor of rank {rank} [AL207]")
    return int(axis % rank)


def product(dims: Sequence[Dim]) -> Dim:
    """Return the product of dimensions, ``None`` if any is unknown (0 if any is 0)."""
    if 0 in dims:
        return 0
    total = 1
    for d in dims:
        if d is None:
            return None
        total *= d
    return total
