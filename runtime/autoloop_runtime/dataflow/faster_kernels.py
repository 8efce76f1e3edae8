"""Kernels that take the place of NumPy's in a graph that has run for long.

Where they come from this room does not know: whoever makes an ``Executable`` may hand it a source of them. A run has
the kernels with which it began to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..analysis.aliasing import is_fresh
from ..analysis.observable import is_pure
from ..analysis.ownership import overwritten
from ..analysis.sizes import bytes_of
from ..analysis.weight import is_bulky
from ..base.dataclass import dataclass, replace
from ..ir.graph import Node
from ..ir.prices import Price
from .execution_plan import kernel_of
from .flat_graph import FlatNode, Kind, Lowered

Kernel = Callable[..., Any]

#: bytes from which on a result rather takes over the memory of an argument
IN_PLACE = 1 << 22


@dataclass(frozen=True, slots=True)
class Faster:
    """A kernel, and which of the node's inputs it takes: the others are constants that it has."""

    kernel: Kernel
    inputs: tuple[int, ...]


class Source(Protocol):
    """Where faster kernels come from.

    Attributes
    ----------
    due : float
        How many seconds runs must have taken before it is asked the next time.
    """

    due: float

    def kernels(self, plain: Mapping[Node, Kernel], spent: float) -> Mapping[Node, Faster] | None:
        """Return those that there are for these nodes, whose kernels are given; None as long as they are made."""


def replaceable(lowered: Lowered) -> dict[Node, Kernel]:
    """Return the nodes for whose kernels others may stand, and these.

    Each gives one array that is its own, of a shape that is known, and does more than go through memory. What writes to
    its inputs stays as it is, and so does what may be given the memory of one, unless it gains more by another kernel.
    """
    found: dict[Node, Kernel] = {}
    for flat in lowered.nodes:
        node = flat.source
        if flat.kind is Kind.KERNEL and node is not None and node.op is flat.op and _is_replaceable(node):
            kernel = kernel_of(flat)
            assert kernel is not None
            found[node] = kernel
    return found


def _is_replaceable(node: Node) -> bool:
    op = node.op
    if not is_pure(node) or op.several or op.taking is not None or not all(map(is_fresh, node.outputs)):
        return False
    if is_bulky(node) or not all(t.shape.is_fully_defined() for t in (*node.inputs, *node.outputs)):
        return False
    size = bytes_of(node.outputs[0])
    return not overwritten(node) or (op.traits.price is Price.FUNCTION and size is not None and size < IN_PLACE)


def with_kernels(lowered: Lowered, kernels: Mapping[Node, Faster]) -> Lowered:
    """Return ``lowered`` with these kernels in place of others."""
    return replace(lowered, nodes=tuple([_with(flat, kernels) for flat in lowered.nodes]))


def _with(flat: FlatNode, kernels: Mapping[Node, Faster]) -> FlatNode:
    node = flat.source
    if flat.kind is not Kind.KERNEL or node is None or node.op is not flat.op or node not in kernels:
        return flat
    found = kernels[node]
    return replace(flat, value=found.kernel, inputs=tuple([flat.inputs[k] for k in found.inputs]))
