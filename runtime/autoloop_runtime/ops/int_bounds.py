"""How many bits a Python int that a graph computes can have, as far as its making tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..base.dataclass import dataclass, field
from ..ir.op import OPS, Op
from ..ir.structured import COND
from ..ir.tensor import Tensor
from .arithmetic import ABS, ADD, FLOOR_DIVIDE, MOD, MULTIPLY, NEGATIVE, SUBTRACT
from .operands import CAST

R = TypeVar("R")
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


@dataclass(eq=False)
class _Ranges:
    """The elements of loops over ranges that are known, in their bodies, and these."""

    of: dict[Tensor, range] = field(default_factory=dict)

    def copy(self) -> _Ranges:
        return _Ranges(dict(self.of))


def runs_through(tensor: Tensor, numbers: range) -> None:
    """Note that ``tensor``, of the body of a loop, is one of these numbers."""
    assert tensor.node is not None
    tensor.node.graph.root.record(_Ranges).of[tensor.plain] = numbers


def ends_of(tensor: Tensor) -> tuple[int, int] | None:
    """Return the least and the most that a tensor is, if it is an element of a range that is known."""
    node = tensor.node
    numbers = None if node is None else node.graph.root.record(_Ranges).of.get(tensor.plain)
    return None if not numbers else (min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1]))


def _is_extreme(op: Op, name: str) -> bool:
    """Return whether ``op`` gives the larger, or the smaller, of two; their rows come late."""
    return op is OPS.get(name)


def _asked_once(rule: Callable[[Tensor, int, Callable[[Tensor, int], R]], R], tensor: Tensor) -> R:
    """Return what a rule says of a tensor, asked once of each: branches inside branches come by the same again."""
    seen: dict[tuple[Tensor, int], R] = {}

    def found(tensor: Tensor, depth: int) -> R:
        if (tensor, depth) not in seen:
            seen[tensor, depth] = rule(tensor, depth, found)
        return seen[tensor, depth]

    return found(tensor.plain, _DEPTH)


def is_step(tensor: Tensor) -> bool:
    """Return whether an int is a counter, one with small numbers added, or small: what a counter may be next."""
    return _asked_once(_is_step, tensor)


def _is_step(tensor: Tensor, depth: int, found: Callable[[Tensor, int], bool]) -> bool:
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
        return all(found(node.attrs[name].outputs[tensor.index], depth - 1) for name in op.graphs)
    if op in (ADD, SUBTRACT):
        x, y = inputs
        return (bits(y) <= _SMALL and found(x, depth - 1)) or (bits(x) <= _SMALL and found(y, depth - 1))
    keeps = op in (NEGATIVE, ABS, FLOOR_DIVIDE) or _is_extreme(op, "maximum") or _is_extreme(op, "minimum")
    return keeps and all(found(x, depth - 1) for x in inputs)


def bits(tensor: Tensor) -> int:
    """Return the most bits, but for the sign, that the absolute value of an int can have."""
    return _asked_once(_bits, tensor)


def _bits(tensor: Tensor, depth: int, found: Callable[[Tensor, int], int]) -> int:
    known = tensor.constant_value()
    if known is not None:
        return int(known).bit_length()
    tensor = tensor.source
    node = tensor.node
    if node is None or not depth:
        return UNKNOWN
    if tensor.dtype.kind == "b" or tensor.dtype.itemsize <= 4:
        return 1 if tensor.dtype.kind == "b" else 8 * tensor.dtype.itemsize
    if (ends := ends_of(tensor)) is not None:
        return max(abs(end) for end in ends).bit_length()
    if tensor in node.graph.root.record(_Counters).of:
        return COUNTED
    op, inputs = node.op, node.inputs
    if op is COND:
        return max([found(node.attrs[name].outputs[tensor.index], depth - 1) for name in op.graphs])
    if op in (ADD, SUBTRACT):
        return max(found(inputs[0], depth - 1), found(inputs[1], depth - 1)) + 1
    if _is_extreme(op, "maximum") or _is_extreme(op, "minimum"):
        return max(found(inputs[0], depth - 1), found(inputs[1], depth - 1))
    if op is MULTIPLY:
        return found(inputs[0], depth - 1) + found(inputs[1], depth - 1)
    if op in (NEGATIVE, ABS, FLOOR_DIVIDE):
        return found(inputs[0], depth - 1)
    if op is MOD:
        return found(inputs[1], depth - 1)
    if op is CAST and inputs[0].dtype.kind in "biu":
        return found(inputs[0], depth - 1)
    return UNKNOWN
