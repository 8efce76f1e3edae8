"""Whether a graph does with its inputs in wider dtypes what it does with them as they are.

The body of a loop is traced for the dtypes on entry, and again where it leaves arrays of wider ones: to start with
those gives what NumPy gives if the first turn does the same steps. Each value of the first trace is looked for in the
second: the same, or the same in a wider dtype. What is the same is what is computed likewise of the same, and what a
cast makes of a value that the second trace has in the dtype of the cast.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..ir.graph import CONST, Graph, Node
from ..ir.op import PARAMETER, Op
from ..ir.tensor import Tensor
from ..ops.operands import CAST, FITTED
from .aliasing import gives_view
from .observable import is_pure

#: larger constants are compared by identity
_MAX_BYTES = 4096


def frozen(value: Any) -> Hashable:
    """Return a hashable stand-in that is equal only for values that mean the same: ``1``,
    ``True`` and ``1.0`` differ."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.nbytes > _MAX_BYTES or value.dtype.kind == "O":
            return ("array", id(value))
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (tuple, list)) and not isinstance(value, TensorShape):
        return (type(value), tuple([frozen(v) for v in value]))
    if isinstance(value, float):
        return (float, value.hex())
    if isinstance(value, complex):
        return (complex, value.real.hex(), value.imag.hex())
    return (type(value), value)


def same_steps(
    graph: Graph, gives: Sequence[Tensor], wider: Graph, wanted: Sequence[Tensor], fits: bool = False
) -> bool:
    """Return whether two graphs surely give the same, in the same dtypes, where the inputs of one are cast to the
    dtypes of the other's.

    Parameters
    ----------
    graph, wider : Graph
    gives, wanted : sequence of Tensor
        What each gives.
    fits : bool
        Whether the second graph's dtypes hold the inputs that are Python's numbers in the first.
    """
    if len(gives) != len(wanted) or not all(map(_only_computes, graph.nodes)):
        return False
    steps = _Steps(graph, wider, (CAST, FITTED) if fits else (CAST,))
    for node in graph.nodes:
        steps.follow(node)
    return all(map(steps.are_same, gives, wanted))


def _only_computes(node: Node) -> bool:
    return node.op in (PARAMETER, CONST) or is_pure(node)


class _Steps:
    """What the values of a graph are in another one."""

    def __init__(self, graph: Graph, wider: Graph, casts: tuple[Op, ...]) -> None:
        self._casts = casts
        self._known: dict[Hashable, Node] = {}
        for node in wider.nodes:
            if (key := _key(node, [id(one) for one in node.inputs])) is not None:
                self._known.setdefault(key, node)
        there = {outer: inner for inner, outer in wider.captured_from.items()}
        #: tensor -> what it is in the other graph: of a wider dtype, or an array all of whose elements are that number
        self._of: dict[Tensor, Tensor] = {
            inner: there[outer] for inner, outer in graph.captured_from.items() if outer in there
        }
        own, others = ([t for t in one.inputs if t not in one.captured_from] for one in (graph, wider))
        self._of |= zip(own, others, strict=False)

    def are_same(self, one: Tensor, other: Tensor) -> bool:
        """Return whether two values, one of each graph, are surely the same."""
        one, other = one.plain, other.plain
        return one is other or (self._of.get(one) is other and one.dtype == other.dtype and one.shape == other.shape)

    def follow(self, node: Node) -> None:
        """Look for what a node gives."""
        found = [self._of.get(one) for one in node.inputs]
        if node.op is PARAMETER or any(one is None for one in found):
            return
        inputs: list[Tensor] = [one for one in found if one is not None]
        is_same = [one.dtype == other.dtype for one, other in zip(node.inputs, inputs, strict=True)]
        if node.op in self._casts and not is_same[0]:
            if inputs[0].dtype == node.outputs[0].dtype:
                self._of[node.outputs[0]] = inputs[0]
            return
        is_spread = any(one.shape != other.shape for one, other in zip(node.inputs, inputs, strict=True))
        if is_spread and not node.op.traits.elementwise:
            return
        other = self._known.get(_key(node, [id(one) for one in inputs]))
        if other is None or not (all(is_same) or node.op.traits.describes or _moves_first(node, is_same)):
            return
        self._of |= zip(node.outputs, other.outputs, strict=True)


def _moves_first(node: Node, is_same: list[bool]) -> bool:
    """Return whether a node gives its first input, or a part of it, and only that is in another dtype."""
    return gives_view(node) and node.outputs[0].dtype == node.inputs[0].dtype and all(is_same[1:])


def _key(node: Node, inputs: list[int]) -> Hashable:
    """Return what makes nodes equal; None for one of which that is not known."""
    if node.op is PARAMETER:
        return None
    try:
        key = (node.op, *inputs, *[(name, frozen(value)) for name, value in sorted(node.attrs.items())])
        hash(key)
    except TypeError:
        return None
    return key
