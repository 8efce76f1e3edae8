"""Sums that grow in place: how a backward loop collects the gradient of a captured tensor.

To the graph an accumulator is an ordinary tensor and ``accumulate`` an ordinary addition. At run time the first
addition allocates a buffer and the following ones write to it. That is safe because each value is used once:

* ``accumulate`` consumes its first input, and ``settle`` hands the buffer out as an array when no addition follows;
* who builds derivatives of these nodes asks for no value of theirs: the reverse rules take only the gradient, and the
  tangent of a sum is a sum of its own (``tangent``), which follows it step by step;
* an addition to a sum that another one has consumed is an error (``Accumulator.consumed``), never a wrong number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from ..base.shapes import SCALAR
from ..ir.apply import apply
from ..ir.convert import as_constant
from ..ir.graph import Node
from ..ir.op import Op, register, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import BOOKKEEPING, OPAQUE
from ..ops.arithmetic import ADD
from ..ops.broadcasting import unbroadcast
from ..ops.identities import IDENTITY
from ..ops.index import Index
from ..ops.indexing import GETITEM, INDEX_ADD, of_part
from .variables import Variable


class Accumulator:
    """The buffer behind a sum that is still growing; looks like its array to shape checks.

    Attributes
    ----------
    array : ndarray or None
        The buffer; ``None`` once it belongs to the next sum.
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def consumed(self) -> Any:
        """Return the buffer, for the sum that takes the place of this one."""
        array, self.array = self.array, None
        if array is None:
            raise AssertionError("a sum that grows in place was used twice")
        return array

    @property
    def dtype(self) -> Any:
        """Of the sum."""
        return self.array.dtype

    @property
    def shape(self) -> Any:
        """Of the sum."""
        return self.array.shape


def _accumulate(total: Any, part: Any, state: Any = None) -> Any:
    if type(total) is Accumulator:
        array = total.consumed()
        np.add(array, part, out=array)
        return Accumulator(array)
    made = np.add(total, part)
    return Accumulator(made) if isinstance(made, np.ndarray) else made


def _accumulate_at(total: Any, part: Any, *inputs: Any, index: Index, state: Any = None) -> Any:
    array = total.consumed() if type(total) is Accumulator else np.array(total)
    where = index.resolve(inputs)
    if isinstance(where, (int, np.integer, slice)):
        array[where] += part
    else:
        np.add.at(array, where, part)
    return Accumulator(array)


def _settle(total: Any) -> Any:
    return total.consumed()[()] if type(total) is Accumulator else total


def _accumulate_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [g, unbroadcast(g, inputs[1])]


def _accumulate_at_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, part, *rest = inputs
    picked: Tensor = apply(GETITEM, [g, *rest], {"index": attrs["index"]})
    return [g, of_part(picked, part, inputs, attrs), *[None] * len(rest)]


def _like_first(total: Tensor, *_: Tensor, **__: Any) -> Any:
    return total.dtype, total.shape


# "stateful" keeps the passes from folding, merging or moving what writes to its input
ACCUMULATE = register(
    Op(
        "Accumulate",
        _like_first,
        _accumulate,
        _accumulate_vjp,
        stateful=True,
        llvm=ADD.llvm,
        doc="x + y, into the buffer of x",
        traits=BOOKKEEPING,
    )
)
ACCUMULATE_AT = register(
    Op("AccumulateAt", _like_first, _accumulate_at, _accumulate_at_vjp, stateful=True,
       doc="x with y added at an index, into the buffer of x", positions=slice(2, None),
       traits=OPAQUE.but(overwrites=True))
)  # fmt: skip
SETTLE = register(
    Op(
        "Settle",
        _like_first,
        _settle,
        lambda g, outputs, inputs, attrs: [g],
        llvm=IDENTITY.llvm,
        doc="the array of a finished sum",
        traits=BOOKKEEPING,
    )
)


def accumulate(total: Tensor, part: Tensor) -> Tensor:
    """Return ``total + part``; ``total`` must not be used again."""
    made: Tensor
    node = part.node
    if total.shape == SCALAR:
        made = ops.add(total, part)
    elif node is not None and node.op is INDEX_ADD:
        # the gradient of x[i]: add the slice, rather than zeros of the shape of x with the slice in them
        _, values, *rest = node.inputs
        made = apply(ACCUMULATE_AT, [total, values, *rest], {"index": node.attrs["index"]})
    else:
        made = apply(ACCUMULATE, [total, part])
    return made


def settle(total: Tensor) -> Tensor:
    """Return the finished sum as a plain array."""
    if total.shape == SCALAR:
        return total
    made: Tensor = apply(SETTLE, [total])
    return made


def is_sum(node: Node) -> bool:
    """Return true for the nodes that ``accumulate`` and ``settle`` make."""
    return node.op in (ACCUMULATE, ACCUMULATE_AT, SETTLE)


def tangent(node: Node, tangents: Sequence[Tensor | None]) -> Tensor | None:
    """Return the tangent of the sum that ``node`` makes, from those of its inputs; it is a sum that grows in place,
    too."""
    total, *rest = tangents
    if node.op is SETTLE:
        return None if total is None else settle(total)
    assert total is not None  # a sum begins as a loop variable, which has a tangent if any part of the sum has one
    if rest[0] is None:
        return total
    made: Tensor = apply(node.op, [total, rest[0], *node.inputs[2:]], node.attrs)
    return made


def constant_zeros(like: Tensor | Variable) -> Tensor:
    """Return a constant of zeros in the static shape of ``like``, unknown dimensions 0."""
    dims = [d or 0 for d in like.shape.known] if like.shape.rank is not None else []
    zero = like.dtype.type(0)
    return as_constant(np.broadcast_to(zero, dims) if dims else zero)


ruled_in("scatter", ACCUMULATE_AT)
