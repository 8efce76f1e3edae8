"""Slices that begin where a tensor says and have an extent that is known: ``x[i:i + 3]``, ``x[:, 2 * k:2 * k + 2]``.

Their ends are compared as sums of tensors and numbers. NumPy cuts a slice short where the array ends; that it does
not is checked when it runs.
"""

from __future__ import annotations

from typing import Any

from ...ir.graph import Node
from ...ir.tensor import Tensor
from ...ops.arithmetic import ADD, MULTIPLY, SUBTRACT
from ...ops.identities import IDENTITY
from ...ops.index import Index, Input, Slice
from ...ops.operands import CAST
from .facts import Types

#: how deep sums are looked into
_DEPTH = 16
#: tensor -> how often it is in a sum, and ``None`` -> the number in it
_Sum = dict[Tensor | None, int]


def takes_index(node: Node) -> bool:
    """Return whether ``node`` takes an index."""
    return "index" in node.attrs


def with_known_extents(node: Node, types: Types) -> Index:
    """Return the index of ``node`` with slices ``0:extent`` in the place of those whose extent is known only."""
    assert node.op.positions is not None
    first, index = node.op.positions.start, node.attrs["index"]
    return Index([_static(e, node, first, types) if isinstance(e, Slice) else e for e in index.entries])


def _static(entry: Slice, node: Node, first: int, types: Types) -> Slice:
    extent = extent_of(entry, node, first, types)
    return entry if extent is None else Slice(0, extent, None)


def extent_of(entry: Slice, node: Node, first: int, types: Types) -> int | None:
    """Return how many elements ``entry`` takes if it is not cut short; ``None`` if that depends on values."""
    span, step = span_of(entry, node, first, types), step_of(entry, node, first, types)
    return -(-span // step) if span and step else None


def step_of(entry: Slice, node: Node, first: int, types: Types) -> int | None:
    """Return the step if it is known and positive."""
    step = 1 if entry.step is None else number_of(entry.step, node, first, types)
    return step if step is not None and step > 0 else None


def span_of(entry: Slice, node: Node, first: int, types: Types) -> int | None:
    """Return how far the ends of a slice that starts at a tensor are apart, if that is known and positive; none is
    where the run is to cut slices short."""
    if types.cuts or not isinstance(entry.start, Input) or not isinstance(entry.stop, Input):
        return None
    if number_of(entry.start, node, first, types) is not None:
        return None
    found = _sum(node.inputs[first + entry.stop.position], types, _DEPTH)
    for term, count in _sum(node.inputs[first + entry.start.position], types, _DEPTH).items():
        found[term] = found.get(term, 0) - count
    span = found.pop(None, 0)
    return span if span > 0 and not any(found.values()) else None


def number_of(part: Any, node: Node, first: int, types: Types) -> int | None:
    """Return the value of a part of a slice if it is given and known."""
    if not isinstance(part, Input):
        return None if part is None else int(part)
    value = types.constants.get(node.inputs[first + part.position])
    return None if value is None else int(value)


def _sum(tensor: Tensor, types: Types, depth: int) -> _Sum:
    """Return ``tensor`` as a sum; wrong only where integers overflow."""
    while tensor in types.outside:
        tensor = types.outside[tensor]
    if tensor in types.constants:
        return {None: int(types.constants[tensor])}
    node = tensor.op
    if depth and node.op in (ADD, SUBTRACT):
        left, right = (_sum(t, types, depth - 1) for t in node.inputs)
        sign = 1 if node.op is ADD else -1
        for term, count in right.items():
            left[term] = left.get(term, 0) + sign * count
        return left
    if depth and node.op in (IDENTITY, CAST) and node.inputs[0].dtype.kind in "iu":
        return _sum(node.inputs[0], types, depth - 1)
    if depth and node.op is MULTIPLY:
        for factor, other in (node.inputs, node.inputs[::-1]):
            if factor in types.constants:
                times = int(types.constants[factor])
                return {term: times * count for term, count in _sum(other, types, depth - 1).items()}
    return {tensor: 1}
