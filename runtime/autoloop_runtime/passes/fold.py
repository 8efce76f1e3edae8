"""Computing now what will not change: constants, conditionals whose predicate is known, neutral operands.

Nothing here changes a value, not even the sign of a zero: ``x + 0.0`` stays (it turns -0.0 into 0.0), ``x - 0.0`` is
``x``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..analysis.cost import estimate
from ..analysis.failure import tells_extents
from ..analysis.observable import is_pure
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.op import Op
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.array import RESHAPE, TRANSPOSE
from ..ops.broadcasting import BROADCAST_TO
from ..ops.identities import ENSURE_SHAPE, IDENTITY, STOP_GRADIENT
from ..ops.later_rows import is_where
from ..ops.operands import CAST
from .rewrite import Copy, constant_of, rewrite
from .strictness import may_raise

#: larger results are not worth keeping
MAX_ELEMENTS = 4096
#: nor is anything that takes longer than this many nanoseconds now
MAX_COST = 1e6
_FOLDED_KINDS = "biufc"


def fold(graph: Graph) -> Graph:
    """Return ``graph`` with constants computed, decided branches in line, and operations that do nothing left out."""
    return rewrite(graph, _Folder("ignore").visit)


def fold_without_errors(graph: Graph) -> Graph:
    """Return the same, in which what has floating-point errors is left to the run."""
    folder = _Folder("raise")
    return rewrite(graph, folder.visit)


class _Folder:
    """One run of the pass. ``known``: the constants that parameters of sub-graphs hold, ``None`` for no constant."""

    def __init__(self, errors: Literal["ignore", "raise"]) -> None:
        self.errors = errors
        self.known: dict[Tensor, Any] = {}

    def visit(self, copy: Copy, node: Node) -> None:
        if node.op is PARAMETER:
            copy.keep(node)
            value = self.known.get(node.outputs[0])
            if value is not None:
                copy.constant(node, value)
        elif node.op is WHILE:
            self._while(copy, node)
        elif node.op is COND:
            self._cond(copy, node)
        elif node.op is CONST or not is_pure(node) or not self._simplified(copy, node):
            copy.keep(node)

    def _simplified(self, copy: Copy, node: Node) -> bool:
        inputs = copy.inputs(node)
        rule = _rule_of(node.op)
        same = rule(node, inputs) if rule is not None else None
        if same is not None and same.dtype == node.outputs[0].dtype:
            copy.replace(node, [same])
            return True
        value = _computed(node, inputs, self.errors)
        if value is not None:
            copy.constant(node, value)
        return value is not None

    def _cond(self, copy: Copy, node: Node) -> None:
        predicate, *captured = copy.inputs(node)
        value = constant_of(predicate)
        then, other = node.attrs["then"], node.attrs["else"]
        if value is not None and value.shape == () and not node.declared and not node.control_inputs:
            copy.replace(node, copy.inline(then if value else other, captured))
            return
        self._note_constants((then, other), captured, 0)
        copy.keep(node, [predicate, *captured])

    def _while(self, copy: Copy, node: Node) -> None:
        inputs, n = copy.inputs(node), node.attrs["n_vars"]
        self._note_constants((node.attrs["cond"], node.attrs["body"]), inputs[n:], n)
        made = copy.keep(node, inputs)
        cond = made.attrs["cond"]
        never = len(cond.outputs) == 1 and constant_of(cond.outputs[0])
        fits = all(t.shape.is_subsumed_by(s) for t, s in zip(inputs, node.attrs["invariants"]))
        if isinstance(never, np.bool_) and not never and fits and not node.declared and not node.control_inputs:
            copy.graph.nodes.pop()
            copy.replace(node, inputs[:n])

    def _note_constants(self, graphs: tuple[Graph, ...], captured: list[Tensor], start: int) -> None:
        for i, outer in enumerate(captured):
            value = constant_of(outer)
            for graph in graphs:
                self.known[graph.inputs[start + i]] = value


def _computed(node: Node, inputs: list[Tensor], errors: Literal["ignore", "raise"]) -> Any:
    """Return the value of ``node`` if all inputs are constants and it is small, fast and does not fail."""
    values = []
    for tensor in inputs:
        value = constant_of(tensor)
        if value is None:  # at the first of most nodes
            return None
        values.append(value)
    output = node.outputs[0]
    size = output.shape.num_elements()
    if len(node.outputs) != 1 or size is None or size > MAX_ELEMENTS or output.dtype.kind not in _FOLDED_KINDS:
        return None
    if estimate(node) > MAX_COST:
        return None
    try:
        with np.errstate(all=errors):
            result = node.op.kernel(*values, **node.attrs)
    except Exception:
        return None  # it fails when it runs, with the iteration it runs in
    (value,) = node.op.results(result, 1)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False  # as every constant: who hands it out makes a copy
    return value if value.dtype == output.dtype and output.shape.matches(value.shape) else None


# -- operations that do nothing ---------------------------------------------------------------------------

Rule = Callable[[Node, list[Tensor]], Tensor | None]


def _all(tensor: Tensor, value: float, negative_zero: bool | None = None) -> bool:
    """Return whether ``tensor`` is a constant with all elements ``value``; a zero of a float with the given sign."""
    array = constant_of(tensor)
    if array is None or array.dtype.kind not in "biuf" or array.size > MAX_ELEMENTS:
        return False
    if not (array == value if array.ndim == 0 else np.all(array == value)):
        return False
    return negative_zero is None or array.dtype.kind != "f" or bool(np.all(np.signbit(array) == negative_zero))


def _keeps_shape(node: Node, x: Tensor, other: Tensor) -> bool:
    """Return whether broadcasting ``x`` with ``other`` gives the shape of ``x``."""
    shape = node.outputs[0].shape
    return other.shape.rank == 0 or (shape.is_fully_defined() and x.shape == shape)


def _without_neutral(node: Node, inputs: list[Tensor]) -> Tensor | None:
    """Return the operand that an operation gives if the other is neutral all over."""
    neutral = node.op.neutral
    assert neutral is not None
    x, y = inputs
    for kept, other in ((x, y), (y, x)) if neutral.swaps else ((x, y),):
        fits = kept.dtype.kind in neutral.kinds and _all(other, neutral.value, neutral.negative_zero)
        if fits and _keeps_shape(node, kept, other):
            return kept
    return None


def _twice(node: Node, inputs: list[Tensor]) -> Tensor | None:
    """Return an operation that undoes itself."""
    source = inputs[0].op
    return source.inputs[0] if source.op is node.op and is_pure(source) else None


def _same_shape(node: Node, inputs: list[Tensor]) -> Tensor | None:
    shape = node.outputs[0].shape
    if not tells_extents(node):  # the run has to see whether what it is asked for fits
        return None
    return inputs[0] if shape.is_fully_defined() and inputs[0].shape == shape else None


def _transpose(node: Node, inputs: list[Tensor]) -> Tensor | None:
    """Return a transpose that changes nothing, alone or together with the one before it."""
    source, order = inputs[0], _order(node)
    if order is None or order == sorted(order):
        return None if order is None else source
    before = _order(source.op) if source.op.op is node.op and is_pure(source.op) else None
    undone = before is not None and [before[k] for k in order] == sorted(order)
    return source.op.inputs[0] if undone else None


def _order(node: Node) -> list[int] | None:
    """Return where the axes of a transpose come from, if that is known."""
    axes, rank = node.attrs.get("axes"), node.outputs[0].shape.rank
    if rank is None:
        return None
    return list(range(rank))[::-1] if axes is None else [int(k) % rank for k in axes]


def _ensured(node: Node, inputs: list[Tensor]) -> Tensor | None:
    return inputs[0] if inputs[0].shape.is_subsumed_by(node.attrs["shape"]) else None


def _where(node: Node, inputs: list[Tensor]) -> Tensor | None:
    condition, x, y = inputs
    if x is y and _keeps_shape(node, x, condition) and not may_raise(node.inputs[0]):
        return x  # either way the same; what stops a gradient is gone by now
    value = constant_of(condition)
    if value is None or not (np.all(value) or not np.any(value)):
        return None
    chosen, other = (x, y) if np.all(value) else (y, x)
    shapes_fit = _keeps_shape(node, chosen, other) and _keeps_shape(node, chosen, condition)
    return chosen if shapes_fit and not may_raise(node.inputs[2 if chosen is x else 1]) else None


def _nothing(node: Node, inputs: list[Tensor]) -> Tensor | None:
    return inputs[0]


def _cast(node: Node, inputs: list[Tensor]) -> Tensor | None:
    return inputs[0] if inputs[0].dtype == node.attrs["dtype"] else None


def _rule_of(op: Op) -> Rule | None:
    """Return the rule by which an operation of this kind may do nothing."""
    if op.neutral is not None:
        return _without_neutral
    if op.undoes_itself:
        return _twice
    return _where if is_where(op) else RULES.get(op)


#: rules of single ops; the others follow from what an op states of itself
RULES: dict[Op, Rule] = {
    IDENTITY: _nothing,
    STOP_GRADIENT: _nothing,
    CAST: _cast,
    RESHAPE: _same_shape,
    BROADCAST_TO: _same_shape,
    TRANSPOSE: _transpose,
    ENSURE_SHAPE: _ensured,
}
