"""Saying the same with less: cheaper operations that give the same bits, for every operand.

What is not exact is left alone: ``x / 3`` is no product, ``x - x`` is no zero (of nan it is nan), ``x ** 2`` of a
float is no square (the library's power rounds in its own way).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..analysis.cost import SCALAR_CALL, estimate
from ..analysis.failure import can_fail
from ..analysis.inside import nodes_inside
from ..analysis.observable import is_pure
from ..base.dtypes import DType
from ..base.shapes import SCALAR
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.op import Op
from ..ir.structured import COND
from ..ir.tensor import Tensor
from ..ops.arithmetic import ADD, DIVIDE, FLOOR_DIVIDE, MOD, MULTIPLY, NEGATIVE, SUBTRACT
from ..ops.array import RESHAPE
from ..ops.logic import BITWISE_AND, LOGICAL_AND, LOGICAL_OR, RIGHT_SHIFT
from ..ops.operands import CAST
from .rewrite import Copy, constant_of, rewrite
from .strictness import may_raise

#: a rule gives what stands for the node's only output, or nothing
Rule = Callable[[Copy, Node, Sequence[Tensor]], Tensor | None]


def reduce_strength(graph: Graph) -> Graph:
    """Return ``graph`` with dear operations in the words of cheaper ones."""
    if not any(node.op in RULES or node.op.idempotent or node.op is COND for node in nodes_inside(graph)):
        return graph
    return rewrite(graph, _visit)


def _visit(copy: Copy, node: Node) -> None:
    if node.op is COND:
        if not _as_logic(copy, node):
            copy.keep(node)
        return
    rule = RULES.get(node.op, _same if node.op.idempotent else None)
    made = rule(copy, node, copy.inputs(node)) if rule is not None and is_pure(node) else None
    if made is None:
        copy.keep(node)
    else:
        copy.replace(node, [made])


def _make(copy: Copy, node: Node, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any] | None = None) -> Tensor:
    """Return the result of ``op`` in place of ``node``, under its name."""
    output = node.outputs[0]
    specs = [(output.dtype, output.shape)]
    made = Node(copy.graph, op, tuple(inputs), attrs or {}, specs, node.name, node.location)
    copy.graph.nodes.append(made)
    return made.outputs[0]


def _constant(copy: Copy, node: Node, value: Any, what: str) -> Tensor:
    """Return a scalar constant for what stands in place of ``node``."""
    made = Node(copy.graph, CONST, (), {"value": value}, [(value.dtype, SCALAR)], f"{node.name}/{what}", node.location)
    copy.graph.nodes.append(made)
    return made.outputs[0]


# -- arithmetic -------------------------------------------------------------------------------------------


def _scalar(tensor: Tensor) -> Any:
    """Return the value of a constant without dimensions."""
    value = constant_of(tensor)
    return value if value is not None and np.ndim(value) == 0 else None


def _power_of_two(value: Any) -> int | None:
    """Return ``k`` if ``value`` is the integer ``2 ** k``."""
    number = int(value)
    return number.bit_length() - 1 if number > 0 and number & (number - 1) == 0 else None


def _divide(copy: Copy, node: Node, inputs: Sequence[Tensor]) -> Tensor | None:
    """Return ``x / 4.0`` is ``x * 0.25``: both are the same number, rounded once."""
    x, y = inputs
    value = _scalar(y)
    if value is None or value.dtype.kind != "f" or x.dtype != value.dtype:
        return None
    fraction, exponent = np.frexp(value)
    info = np.finfo(value.dtype)
    if abs(fraction) != 0.5 or not info.minexp + 1 < exponent < info.maxexp:
        return None
    factor = _constant(copy, node, value.dtype.type(1) / value, "reciprocal")
    return _make(copy, node, MULTIPLY, [x, factor])


def _floor_divide(copy: Copy, node: Node, inputs: Sequence[Tensor]) -> Tensor | None:
    """Return ``x // 8`` of integer arrays is ``x >> 3``."""
    x, y = inputs
    shift = _exponent_for_array(x, y)
    if shift is None:
        return None
    return _make(copy, node, RIGHT_SHIFT, [x, _constant(copy, node, x.dtype.type(shift), "shift")])


def _mod(copy: Copy, node: Node, inputs: Sequence[Tensor]) -> Tensor | None:
    """Return ``x % 8`` of integer arrays is ``x & 7``."""
    x, y = inputs
    shift = _exponent_for_array(x, y)
    if shift is None:
        return None
    return _make(copy, node, BITWISE_AND, [x, _constant(copy, node, x.dtype.type((1 << shift) - 1), "mask")])


def _exponent_for_array(x: Tensor, y: Tensor) -> int | None:
    """Return ``k`` if ``x`` is an array of integers and ``y`` the constant ``2 ** k``; of scalars both take as long."""
    value = _scalar(y)
    if value is None or value.dtype.kind not in "iu" or x.dtype != value.dtype or x.shape.rank in (0, None):
        return None
    return _power_of_two(value)


def _add(copy: Copy, node: Node, inputs: Sequence[Tensor]) -> Tensor | None:
    """Return ``x + -y`` is ``x - y``."""
    x, y = inputs
    for kept, other in ((x, y), (y, x)):
        if other.op.op is NEGATIVE and other.dtype.kind in "iuf":
            return _make(copy, node, SUBTRACT, [kept, other.op.inputs[0]])
    return None


def _subtract(copy: Copy, node: Node, inputs: Sequence[Tensor]) -> Tensor | None:
    """Return ``x - -y`` is ``x + y``."""
    x, y = inputs
    if y.op.op is NEGATIVE and y.dtype.kind in "iuf":
        return _make(copy, node, ADD, [x, y.op.inputs[0]])
    return None


# -- forms ------------------------------------------------------------------------------------------------


def _cast(copy: Copy, node: Node, inputs: Sequence[Tensor]) -> Tensor | None:
    """Return a cast to a dtype that holds every value, and back."""
    (x,) = inputs
    if x.op.op is not CAST:
        return None
    source = x.op.inputs[0]
    there_and_back = source.dtype == node.outputs[0].dtype and _holds(x.dtype, source.dtype)
    return source if there_and_back and source.dtype.kind in "biuf" else None


def _holds(wide: DType, narrow: DType) -> bool:
    """Return whether ``wide`` has every value of ``narrow``; for NumPy a cast of int64 to float64 is "safe", but it
    rounds."""
    if narrow.kind in "iu" and wide.kind in "fc" and 8 * narrow.itemsize > np.finfo(wide).nmant + 1:
        return False
    return bool(np.can_cast(narrow, wide, "safe"))


def _reshape(copy: Copy, node: Node, inputs: Sequence[Tensor]) -> Tensor | None:
    """Return of two reshapes the last one counts, if it says all of the shape, and the first one surely fits."""
    x, *rest = inputs
    if x.op.op is not RESHAPE or rest or not node.outputs[0].shape.is_fully_defined() or can_fail(x.op):
        return None
    return _make(copy, node, RESHAPE, [x.op.inputs[0]], dict(node.attrs))


def _same(copy: Copy, node: Node, inputs: Sequence[Tensor]) -> Tensor | None:
    """Return ``where(c, x, x)``, ``x & x``, ``maximum(x, x)`` is ``x``."""
    *condition, x, y = inputs
    same_shape = all(t.shape.rank == 0 for t in condition) or node.outputs[0].shape == x.shape
    if x is not y or not same_shape or not x.shape.is_fully_defined() or any(map(may_raise, node.inputs[:-2])):
        return None
    return x


RULES: dict[Op, Rule] = {
    DIVIDE: _divide, FLOOR_DIVIDE: _floor_divide, MOD: _mod, ADD: _add, SUBTRACT: _subtract, CAST: _cast,
    RESHAPE: _reshape,
}  # fmt: skip


# -- branches ---------------------------------------------------------------------------------------------


def _as_logic(copy: Copy, node: Node) -> bool:
    """Return ``q if p else False`` is ``p and q``, ``True if p else q`` is ``p or q``: no branch, for a cheap ``q``."""
    predicate = copy.stands(node.inputs[0])
    then, other = node.attrs["then"], node.attrs["else"]
    if node.declared or node.control_inputs or len(node.outputs) != 1 or not _is_truth(node.outputs[0]):
        return False
    if not _is_truth(predicate) or not all(map(_is_truth, (then.outputs[0], other.outputs[0]))):
        return False
    for side, computed, op, known in ((other, then, LOGICAL_AND, False), (then, other, LOGICAL_OR, True)):
        if _decided(node, side) is known and _is_light(computed):
            value = copy.inline(computed, [copy.stands(t) for t in node.inputs[1:]])[0]
            copy.replace(node, [_make(copy, node, op, [predicate, value])])
            return True
    return False


def _is_truth(tensor: Tensor) -> bool:
    return tensor.dtype.kind == "b" and tensor.shape.rank == 0


def _decided(node: Node, side: Graph) -> bool | None:
    """Return what the branch ``side`` gives, if it is a constant or the predicate itself."""
    output = side.outputs[0]
    if output.op.op is PARAMETER:
        outer = next(t for t, p in zip(node.inputs[1:], side.inputs) if p is output)
        return side is node.attrs["then"] if outer is node.inputs[0] else None
    value = _scalar(output)
    return None if value is None or len(side.nodes) > len(side.inputs) + 1 else bool(value)


def _is_light(graph: Graph) -> bool:
    """Return whether computing all of ``graph``, also in vain, takes next to nothing and cannot fail."""
    nodes = [node for node in graph.nodes if node.op not in (PARAMETER, CONST)]
    pure = all(is_pure(node) and not can_fail(node) for node in nodes)
    return pure and sum(map(estimate, nodes)) <= 5 * SCALAR_CALL
