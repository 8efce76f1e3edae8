"""Values of a call that decide shapes, ``n`` in ``np.zeros(n + 1)``: code is made for each of them, as for each shape.

Only numbers count that are computed of arguments without axes before any loop, with operations that only compute: they
are computed once more before the code runs, and are constants in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis.inside import nodes_inside
from ...analysis.observable import is_pure
from ...base.dataclass import dataclass
from ...collections import tensor_array_ops as array_ops
from ...ir.graph import CONST, PARAMETER, Graph, Node
from ...ir.structured import COND, WHILE
from ...ir.tensor import Tensor
from ...ops.creation import RANGE
from ...ops.repeating import REPEAT
from .refusal import refuse
from .static_slices import takes_index

#: numbers of this many elements are computed
_FEW = 8


@dataclass(frozen=True)
class Deciding:
    """What decides shapes in a graph.

    Attributes
    ----------
    tensors : tuple of Tensor
        The values.
    nodes : tuple of Node
        What computes them, in order.
    inputs : tuple of (int, Tensor)
        What of the graph's inputs that needs.
    """

    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    inputs: tuple[tuple[int, Tensor], ...]

    def values(self, arguments: Sequence[Any] | Mapping[int, Any]) -> tuple[Any, ...]:
        """Return the values for the arguments of a call, which can be compared."""
        known: dict[Tensor, Any] = {tensor: arguments[k] for k, tensor in self.inputs}
        for node in self.nodes:
            try:
                with np.errstate(all="ignore"):
                    made = node.op.kernel(*[known[t] for t in node.inputs], **node.attrs)
            except Exception as error:
                refuse(node, f"it decides a shape, and fails: {type(error).__name__}: {error}")
            known.update(zip(node.outputs, node.op.results(made, len(node.outputs))))
        return tuple([tuple(np.ravel(known[t]).tolist()) for t in self.tensors])

    def samples(self, first: int, step: int) -> dict[int, Any]:
        """Return numbers for the arguments that are needed, each of them another one."""
        numbers = (first + step * n for n in range(len(self.inputs)))
        return {k: t.dtype.type(n) for n, (k, t) in zip(numbers, self.inputs)}

    def known(self, values: Sequence[Any]) -> dict[Tensor, Any]:
        """Return the value of each tensor that ``values`` told."""
        return {t: np.array(value, t.dtype).reshape(t.shape.as_tuple())[()] for t, value in zip(self.tensors, values)}


def deciding(graph: Graph) -> list[Deciding]:
    """Return what decides shapes in ``graph``: of arrays that are made, and of these and of parts of arrays."""
    computed = _computed(graph)
    outer = dict(_captured(graph))
    found: list[Deciding] = []
    for all_parts in (False, True):
        wanted: dict[Tensor, None] = {}
        for node in nodes_inside(graph):
            for tensor in _sizes(node, all_parts):
                while tensor in outer:
                    tensor = outer[tensor]
                if tensor in computed and tensor.op.op is not CONST:
                    wanted[tensor] = None
        if wanted and (not found or len(wanted) > len(found[-1].tensors)):
            found.append(_with_nodes(graph, tuple(wanted), computed))
    return found


def _sizes(node: Node, all_parts: bool) -> Iterator[Tensor]:
    """Yield the operands of ``node`` that say how large its result is."""
    if node.op.extents is not None:
        yield from node.inputs[node.op.extents[1] :]
    elif node.op is array_ops.NEW:
        yield from node.inputs
    elif node.op is RANGE or any(not t.shape.is_fully_defined() for t in node.results):
        yield from (t for t in node.inputs if t.shape.rank == 0 and (node.op is RANGE or t.dtype.kind in "iu"))
    elif all_parts and takes_index(node) and node.op.positions is not None:
        yield from node.inputs[node.op.positions]
    elif all_parts and node.op is REPEAT:
        yield node.inputs[1]
    elif all_parts and node.op is WHILE:
        yield from node.inputs[node.attrs["n_vars"] :]


def _captured(graph: Graph) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield what the graphs inside see of those around them."""
    for node in nodes_inside(graph):
        if node.op is WHILE:
            first = node.attrs["n_vars"]
            for sub in (node.attrs["cond"], node.attrs["body"]):
                yield from zip(sub.inputs[first:], node.inputs[first:])
        elif node.op is COND:
            for sub in (node.attrs["then"], node.attrs["else"]):
                yield from zip(sub.inputs, node.inputs[1:])


def _computed(graph: Graph) -> set[Tensor]:
    """Return the numbers that are computed of the arguments alone, before any loop."""
    found = {t for t in graph.inputs if t.shape.rank == 0 and is_few(t)}
    for node in graph.nodes:
        if node.op is PARAMETER or node.subgraphs:
            continue
        plain = is_pure(node) and not node.control_inputs and all(map(is_few, node.outputs))
        if plain and all(t in found for t in node.inputs):
            found.update(node.outputs)
    return found


def is_few(tensor: Tensor) -> bool:
    """Return whether ``tensor`` has so few numbers that they are computed beforehand."""
    count = tensor.shape.num_elements()
    return tensor.dtype.kind in "biuf" and tensor.shape.rank in (0, 1) and count is not None and count <= _FEW


def _with_nodes(graph: Graph, tensors: tuple[Tensor, ...], computed: set[Tensor]) -> Deciding:
    needed, left = set[Tensor](), [*tensors]
    while left:
        tensor = left.pop()
        if tensor not in needed:
            needed.add(tensor)
            left += tensor.op.inputs
    nodes = [n for n in graph.nodes if n.op is not PARAMETER and any(t in needed for t in n.outputs)]
    return Deciding(tensors, tuple(nodes), tuple([(k, t) for k, t in enumerate(graph.inputs) if t in needed]))
