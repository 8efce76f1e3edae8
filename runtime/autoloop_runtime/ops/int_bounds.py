"""How many bits a Python int that a graph computes can have, as far as its making tells."""

from __future__ import annotations

from ..base.dataclass import dataclass, field
from ..ir.graph import CONST
from ..ir.op import OPS, Op
from ..ir.structured import COND
from ..ir.tensor import Tensor
from .arithmetic import ABS, ADD, FLOOR_DIVIDE, MOD, MULTIPLY, NEGATIVE, SUBTRACT
from .operands import CAST

#: of what a loop counts, which adds small numbers to a small one: it would take years to be more
COUNTED = 42
#: of what a counter may be added in one step
_SMALL = 32
#: of what nothing is known
UNKNOWN = 64
#: how far back it is looked: what is longer has had more than one step on its way
_DEPTH = 24


@dataclass(eq=False)
class _Counters:
    """The parameters and results of loops that only count."""

    of: set[Tensor] = field(default_factory=set)

    def copy(self) -> _Counters:
        return _Counters(set(self.of))


def counts(tensor: Tensor) -> None:
    """Note that ``tensor``, a parameter or result of a loop, is only ever added small numbers to."""
    assert tensor.node is not None
    tensor.node.graph.root.record(_Counters).of.add(tensor.plain)


def _is_extreme(op: Op, name: str) -> bool:
    """Return whether ``op`` gives the larger, or the smaller, of two; their rows come late."""
    return op is OPS.get(name)


def is_step(tensor: Tensor, depth: int = _DEPTH) -> bool:
    """Return whether an int is a counter, one with small numbers added, or small: what a counter may be next."""
    if bits(tensor) <= _SMALL:
        return True
    tensor = tensor.source
    node = tensor.node
    if node is None or not depth:
        return False
    if tensor in node.graph.root.record(_Counters).of:
        return True
    op, inputs = node.op, node.inputs
    if op is COND:
        return all(is_step(node.attrs[name].outputs[tensor.index], depth - 1) for name in op.graphs)
    if op in (ADD, SUBTRACT):
        x, y = inputs
        return (bits(y) <= _SMALL and is_step(x, depth - 1)) or (bits(x) <= _SMALL and is_step(y, depth - 1))
    keeps = op in (NEGATIVE, ABS, FLOOR_DIVIDE) or _is_extreme(op, "maximum") or _is_extreme(op, "minimum")
    return keeps and all(is_step(x, depth - 1) for x in inputs)


def bits(tensor: Tensor, depth: int = _DEPTH) -> int:
    """Return the most bits, but for the sign, that the absolute value of an int can have."""
    known = tensor.constant_value()
    if known is not None:
        return int(known).bit_length()
    tensor = tensor.source
    node = tensor.node
    if node is None or not depth:
        return UNKNOWN
    if tensor.dtype.kind == "b" or tensor.dtype.itemsize <= 4:
        return 1 if tensor.dtype.kind == "b" else 8 * tensor.dtype.itemsize
    if tensor in node.graph.root.record(_Counters).of:
        return COUNTED
    op, inputs = node.op, node.inputs
    if op is COND:
        sides = [node.attrs[name].outputs[tensor.index] for name in op.graphs]
        return max([bits(side, depth - 1) for side in sides])
    if op in (ADD, SUBTRACT):
        return max(bits(inputs[0], depth - 1), bits(inputs[1], depth - 1)) + 1
    if _is_extreme(op, "maximum") or _is_extreme(op, "minimum"):
        return max(bits(inputs[0], depth - 1), bits(inputs[1], depth - 1))
    if op is MULTIPLY:
        return bits(inputs[0], depth - 1) + bits(inputs[1], depth - 1)
    if op in (NEGATIVE, ABS, FLOOR_DIVIDE):
        return bits(inputs[0], depth - 1)
    if op is MOD:
        return bits(inputs[1], depth - 1)
    if op is CAST and inputs[0].dtype.kind in "biu":
        return bits(inputs[0], depth - 1)
    return UNKNOWN if op is not CONST else bits(tensor)
